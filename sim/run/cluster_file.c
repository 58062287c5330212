#include "sim/run/cluster_file.h"

#include "core/base/param.h"
#include "core/cluster/gpus.h"
#include "sim/run/vc_file.h"
#include "traces/trace.h"

#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct node_spec plain_node(int32_t count, int32_t n_gpus)
{
    return (struct node_spec){
        .count = count, .n_gpus = n_gpus, .gpu_type = "", .cpu_milli = -1, .mem_mib = -1};
}

static enum status room_for(struct cluster_desc *d, int32_t n, struct error *err)
{
    d->nodes = arena_alloc(&d->arena, (size_t)n, sizeof *d->nodes);
    return d->nodes == NULL ? fail_memory(err) : ST_OK;
}

/* A whole number between min and max up to the character that ends it; NULL when there is none. */
static const char *read_count(const char *p, long min, long max, int32_t *out)
{
    char *end;
    if (*p < '0' || *p > '9')
        return NULL;
    errno = 0;
    long value = strtol(p, &end, 10);
    if (errno != 0 || value < min || value > max)
        return NULL;
    *out = (int32_t)value;
    return end;
}

static enum status parse_spec(const char *text, struct cluster_desc *d, struct error *err)
{
    int32_t n = 1;
    for (const char *p = text; *p != '\0'; p++)
        n += *p == '+';
    TRY(room_for(d, n, err));
    const char *p = text;
    for (int32_t i = 0; i < n; i++) {
        int32_t count = 0, n_gpus = 0;
        p = read_count(p, 1, 1 << 24, &count);
        p = p != NULL && *p == 'x' ? read_count(p + 1, 0, 1 << 20, &n_gpus) : NULL;
        if (p == NULL || (*p != ':' && *p != '+' && *p != '\0'))
            return fail(
                err, ST_USAGE,
                "cluster '%s': want NODESxGPUS[:TYPE], joined by +, as in 8x8:a100-40g, or a "
                "file",
                text);
        d->nodes[d->n_nodes] = plain_node(count, n_gpus);
        if (*p == ':') {
            size_t length = strcspn(p + 1, "+");
            char *type = arena_text(&d->arena, p + 1, length);
            if (type == NULL)
                return fail_memory(err);
            if (length == 0)
                return fail(err, ST_USAGE, "cluster '%s': no GPU type after ':'", text);
            d->nodes[d->n_nodes].gpu_type = type;
            d->nodes[d->n_nodes].gpu_mem_mib = gpu_type_mem_mib(type);
            p += 1 + length;
        }
        d->n_nodes++;
        p += *p == '+';
    }
    return ST_OK;
}

/* The official simulator's clusters (design: its run_simulator.py; 23.22 cores a GPU). */
static enum status parse_pai_sim(const char *text, struct cluster_desc *d, struct error *err)
{
    static const struct node_spec hetero[] = {
        {16, 0, NULL, "CPU", NULL, 96000, -1, 0, 0, 0, 0},
        {56, 8, NULL, "MISC", NULL, 96000, -1, 0, 0, 0, 0},
        {100, 2, NULL, "T4", NULL, 96000, -1, 0, 0, 0, 0},
        {160, 2, NULL, "P100", NULL, 64000, -1, 0, 0, 0, 0},
        {48, 8, NULL, "V100", NULL, 96000, -1, 0, 0, 0, 0},
    };
    const int32_t n_hetero = sizeof hetero / sizeof *hetero;
    int32_t nodes = 0, gpus = 0;
    d->share = SHARE_NODE_SUM;
    TRY(room_for(d, n_hetero, err));
    if (strcmp(text, "hetero") == 0) {
        memcpy(d->nodes, hetero, sizeof hetero);
        d->n_nodes = n_hetero;
        return ST_OK;
    }
    const char *p = read_count(text, 1, 1 << 20, &nodes);
    d->n_nodes = 1;
    if (p != NULL && *p == '\0') {
        d->nodes[0] = plain_node(1, nodes);
        d->nodes[0].name = "1";
        d->nodes[0].cpu_milli = (int64_t)nearbyint(23.22 * nodes) * 1000;
        return ST_OK;
    }
    p = p != NULL && *p == 'x' ? read_count(p + 1, 0, 1 << 20, &gpus) : NULL;
    if (p == NULL || *p != '\0')
        return fail(err, ST_USAGE,
                    "cluster 'pai-sim:%s': want a number of GPUs (one node), NODESx8, "
                    "or hetero",
                    text);
    d->nodes[0] = plain_node(nodes, gpus);
    d->nodes[0].cpu_milli = 96000;
    return ST_OK;
}

static enum status parse_machines(const char *path, struct cluster_desc *d, struct error *err)
{
    struct node_spec *nodes = NULL;
    int32_t n = 0;
    enum status status = ST_OK;
    TRY_OUT(trace_read_machines(path, &nodes, &n, err));
    TRY_OUT(room_for(d, n, err));
    for (int32_t i = 0; i < n; i++) {
        d->nodes[i] = nodes[i];
        char *type = arena_text(&d->arena, nodes[i].gpu_type, strlen(nodes[i].gpu_type));
        char *name = nodes[i].name == NULL
                         ? NULL
                         : arena_text(&d->arena, nodes[i].name, strlen(nodes[i].name));
        if (type == NULL || (nodes[i].name != NULL && name == NULL)) {
            status = fail_memory(err);
            goto out;
        }
        d->nodes[i].gpu_type = type;
        d->nodes[i].name = name;
    }
    d->n_nodes = n;
out:
    node_specs_free(nodes, n);
    return status;
}

/* A number of the JSON object, scaled and rounded; initial where the key is missing. */
static enum status json_number_of(const json_t *object, const char *key, double scale, double max,
                                  double initial, int64_t *out, struct error *err)
{
    const json_t *value = json_object_get(object, key);
    if (value != NULL && !json_is_number(value))
        return fail(err, ST_USAGE, "%s must be a number", key);
    double number = value == NULL ? initial : json_number_value(value) * scale;
    if (value != NULL && !(number >= 0 && number <= max))
        return fail(err, ST_USAGE, "%s is %g, want 0 to %g", key, json_number_value(value),
                    max / scale);
    *out = llround(number);
    return ST_OK;
}

static enum status known_keys(json_t *object, const char *const *keys, size_t n, struct error *err)
{
    const char *key;
    json_t *value;
    json_object_foreach(object, key, value)
    {
        bool known = false;
        for (size_t i = 0; i < n; i++)
            known = known || strcmp(key, keys[i]) == 0;
        const char *near = nearest_word(key, keys, n);
        if (!known)
            return fail(err, ST_USAGE, "unknown key '%s'%s%s%s", key,
                        near ? ": did you mean '" : "", near ? near : "", near ? "'?" : "");
    }
    return ST_OK;
}

static enum status json_text(struct cluster_desc *d, const json_t *object, const char *key,
                             const char *initial, const char **out, struct error *err)
{
    const json_t *value = json_object_get(object, key);
    if (value != NULL && !json_is_string(value))
        return fail(err, ST_USAGE, "%s must be a text", key);
    *out = value == NULL
               ? initial
               : arena_text(&d->arena, json_string_value(value), json_string_length(value));
    return value != NULL && *out == NULL ? fail_memory(err) : ST_OK;
}

/* Gbit/s, more than 0 where they are said. */
static enum status json_gbps(const json_t *object, const char *key, int32_t *out, struct error *err)
{
    int64_t mbps;
    TRY(json_number_of(object, key, 1000, 1e9, 0, &mbps, err));
    if (json_object_get(object, key) != NULL && mbps == 0)
        return fail(err, ST_USAGE, "%s is 0, want more", key);
    *out = (int32_t)mbps;
    return ST_OK;
}

static enum status parse_node(json_t *object, struct cluster_desc *d, struct error *err)
{
    static const char *const keys[] = {"count",    "cpu_cores", "gpu_mem_gib", "gpu_type",
                                       "gpus",     "link_gbps", "mem_gib",     "name",
                                       "nic_gbps", "pool",      "storage_gbps"};
    if (!json_is_object(object))
        return fail(err, ST_USAGE, "want an object with %s",
                    "count, gpus, gpu_type, cpu_cores, mem_gib");
    TRY(known_keys(object, keys, sizeof keys / sizeof *keys, err));
    struct node_spec *node = &d->nodes[d->n_nodes];
    int64_t count, gpus, gpu_mem;
    if (json_object_get(object, "gpus") == NULL)
        return fail(err, ST_USAGE, "gpus is missing");
    TRY(json_number_of(object, "count", 1, 1 << 24, 1, &count, err));
    TRY(json_number_of(object, "gpus", 1, 1 << 20, 0, &gpus, err));
    *node = plain_node((int32_t)count, (int32_t)gpus);
    TRY(json_text(d, object, "gpu_type", "", &node->gpu_type, err));
    TRY(json_text(d, object, "name", NULL, &node->name, err));
    TRY(json_text(d, object, "pool", NULL, &node->pool, err));
    TRY(json_number_of(object, "cpu_cores", 1000, 2e9, -1, &node->cpu_milli, err));
    TRY(json_number_of(object, "mem_gib", 1024, 2e9, -1, &node->mem_mib, err));
    TRY(json_number_of(object, "gpu_mem_gib", 1024, 2e9, gpu_type_mem_mib(node->gpu_type), &gpu_mem,
                       err));
    node->gpu_mem_mib = (int32_t)gpu_mem;
    TRY(json_gbps(object, "link_gbps", &node->link_mbps, err));
    TRY(json_gbps(object, "nic_gbps", &node->nic_mbps, err));
    TRY(json_gbps(object, "storage_gbps", &node->storage_mbps, err));
    if (node->name != NULL && node->count != 1)
        return fail(err, ST_USAGE, "%d nodes cannot all be named %s", node->count, node->name);
    d->n_nodes++;
    return ST_OK;
}

/* The weight is checked where the queue is added to the cluster. */
static enum status parse_queue(json_t *object, struct cluster_desc *d, struct error *err)
{
    static const char *const keys[] = {"name", "weight"};
    struct queue_spec *queue = &d->queues[d->n_queues];
    if (!json_is_object(object))
        return fail(err, ST_USAGE, "want an object with name and weight");
    TRY(known_keys(object, keys, sizeof keys / sizeof *keys, err));
    TRY(json_text(d, object, "name", NULL, &queue->name, err));
    const json_t *weight = json_object_get(object, "weight");
    if (queue->name == NULL || (weight != NULL && !json_is_number(weight)))
        return fail(err, ST_USAGE, queue->name == NULL ? "name is missing" : "weight is no number");
    queue->weight = weight != NULL ? json_number_value(weight) : 1;
    d->n_queues++;
    return ST_OK;
}

static enum status parse_queues(json_t *queues, struct cluster_desc *d, struct error *err)
{
    if (queues == NULL)
        return ST_OK;
    if (!json_is_array(queues))
        return fail(err, ST_USAGE, "queues: want [{\"name\": \"a\", \"weight\": 2}, …]");
    d->queues = arena_alloc(&d->arena, json_array_size(queues), sizeof *d->queues);
    if (d->queues == NULL)
        return fail_memory(err);
    for (size_t i = 0; i < json_array_size(queues); i++) {
        enum status status = parse_queue(json_array_get(queues, i), d, err);
        if (status != ST_OK) {
            fail_in(err, "queues[%zu]", i);
            return status;
        }
    }
    return ST_OK;
}

/* {"share": "card" | "node-sum", "nodes": [{"count", "gpus", "gpu_type", "cpu_cores", "mem_gib",
 * "gpu_mem_gib", "link_gbps", "nic_gbps", "storage_gbps", "name", "pool"}, …], "queues": [{"name",
 * "weight"}, …]}. What is left out is not limited; a queue's weight is 1. */
enum status cluster_parse_object(struct json_t *root, struct cluster_desc *d, struct error *err)
{
    static const char *const keys[] = {"nodes", "queues", "share"};
    const char *share = NULL;
    json_t *nodes = json_object_get(root, "nodes");
    *d = (struct cluster_desc){.share = SHARE_CARD};
    if (!json_is_object(root) || !json_is_array(nodes) || json_array_size(nodes) == 0)
        return fail(err, ST_USAGE, "want an object with \"nodes\": [{\"count\": 8, \"gpus\": 8}]");
    TRY(known_keys(root, keys, sizeof keys / sizeof *keys, err));
    TRY(json_text(d, root, "share", "card", &share, err));
    d->share = strcmp(share, "node-sum") == 0 ? SHARE_NODE_SUM : SHARE_CARD;
    if (d->share == SHARE_CARD && strcmp(share, "card") != 0)
        return fail(err, ST_USAGE, "share is '%s', want card or node-sum", share);
    TRY(room_for(d, (int32_t)json_array_size(nodes), err));
    for (size_t i = 0; i < json_array_size(nodes); i++) {
        enum status status = parse_node(json_array_get(nodes, i), d, err);
        if (status != ST_OK) {
            fail_in(err, "nodes[%zu]", i);
            return status;
        }
    }
    return parse_queues(json_object_get(root, "queues"), d, err);
}

static enum status parse_json(const char *path, struct cluster_desc *d, struct error *err)
{
    json_error_t where;
    errno = 0; /* jansson calls memory that ran out a syntax error */
    json_t *root = json_load_file(path, JSON_REJECT_DUPLICATES, &where);
    if (root == NULL && errno == ENOMEM)
        return fail_memory(err);
    if (root == NULL)
        return fail(err, ST_USAGE, "line %d column %d: %s", where.line, where.column, where.text);
    enum status status = cluster_parse_object(root, d, err);
    json_decref(root);
    return status;
}

static bool ends_with(const char *text, const char *end)
{
    size_t n = strlen(text), k = strlen(end);
    return n >= k && strcmp(text + n - k, end) == 0;
}

enum status cluster_parse(const char *text, struct cluster_desc *out, struct error *err)
{
    *out = (struct cluster_desc){.share = SHARE_CARD};
    if (strncmp(text, "pai-sim:", 8) == 0)
        return parse_pai_sim(text + 8, out, err);
    if (strncmp(text, "vc:", 3) == 0)
        return vc_parse(text + 3, &out->arena, &out->nodes, &out->n_nodes, err);
    if (ends_with(text, ".json")) {
        enum status status = parse_json(text, out, err);
        if (status != ST_OK)
            fail_in(err, "%s", text);
        return status;
    }
    if (access(text, F_OK) == 0 || ends_with(text, ".csv") || ends_with(text, ".gz"))
        return parse_machines(text, out, err);
    return parse_spec(text, out, err);
}

enum status cluster_build(const struct cluster_desc *d, struct cluster *out, struct error *err)
{
    TRY(cluster_init(out, d->nodes, d->n_nodes, d->share, err));
    enum status status = ST_OK;
    for (int32_t i = 0; i < d->n_queues && status == ST_OK; i++)
        status = cluster_add_queue(out, d->queues[i].name, d->queues[i].weight, err);
    if (status != ST_OK)
        cluster_free(out);
    return status;
}

void cluster_desc_free(struct cluster_desc *d)
{
    arena_free(&d->arena);
    *d = (struct cluster_desc){0};
}
