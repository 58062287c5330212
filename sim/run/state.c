#include "sim/run/state.h"

#include "core/base/param.h"
#include "sim/run/cluster_file.h"
#include "sim/run/state_carry.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* While it is read. */
struct reader {
    struct spot_text text;
    json_t *root;
    struct state *s;
};

/* A job's keys. */
struct words {
    double attained_gpu_s, cpu, gpus, left_s, min_rate_frac, speed, start_s, submit_s, tolerance;
    int64_t gpu_max, gpu_mem_mib, gpu_min, instances, mem_mib, priority;
    bool apart;
    const char *config, *gpu_type, *group, *name, *queue, *submitted, *user, *workload;
    int kind; /* enum job_kind */
};
static const char *const kinds[] = {"unknown", "train", "infer", NULL};

#define W struct words
// clang-format off
static const struct param words_params[] = {
    PARAM_BOOL(W, apart, 0, "was seen to suffer beside others (of an earlier plan)"),
    PARAM_REAL(W, attained_gpu_s, "GPU-s", 0, 0, 1e12, "held so far"),
    PARAM_TEXT(W, config, NULL, "configuration it runs in"),
    PARAM_REAL(W, cpu, "cores", 0, 0, 2e6, "of an instance"),
    PARAM_INT(W, gpu_max, "GPUs", 0, 0, 1e6, "of an elastic job"),
    PARAM_INT(W, gpu_mem_mib, "MiB", 0, 0, 2e9, "on each card, as submitted"),
    PARAM_INT(W, gpu_min, "GPUs", 0, 0, 1e6, "of an elastic job"),
    PARAM_TEXT(W, gpu_type, NULL, "asked for"),
    PARAM_REAL(W, gpus, "GPUs", NAN, 0, 1e6, "asked for, all instances"),
    PARAM_TEXT(W, group, NULL, "recurring jobs"),
    PARAM_INT(W, instances, "1", 1, 1, 1e6, "each on one node"),
    PARAM_CHOICE(W, kind, kinds, KIND_UNKNOWN, "of job"),
    PARAM_REAL(W, left_s, "s", NAN, 1e-6, 1e12, "work left, alone, as submitted"),
    PARAM_INT(W, mem_mib, "MiB", 0, 0, 2e9, "of an instance"),
    PARAM_REAL(W, min_rate_frac, "1", NAN, 1e-9, 1, "promised part of the submitted rate"),
    PARAM_TEXT(W, name, NULL, "of the job"),
    PARAM_INT(W, priority, "1", 0, -2e9, 2e9, "higher first"),
    PARAM_TEXT(W, queue, NULL, ""),
    PARAM_REAL(W, speed, "1", NAN, 0, 1e6, "measured: work per second"),
    PARAM_REAL(W, start_s, "s", NAN, -1e12, 1e12, "first start"),
    PARAM_REAL(W, submit_s, "s", NAN, -1e12, 1e12, "submission"),
    PARAM_TEXT(W, submitted, NULL, "configuration it was submitted in"),
    PARAM_REAL(W, tolerance, "1", INFINITY, 1, 1e6, "slowdown agreed to (of an earlier plan)"),
    PARAM_TEXT(W, user, NULL, ""),
    PARAM_TEXT(W, workload, NULL, "of the catalog"),
    PARAM_END,
};
// clang-format on
#undef W

static enum status read_cluster(struct reader *in, struct error *err)
{
    const struct spot spot = {"cluster", NULL, -1};
    json_t *json = json_object_get(in->root, "cluster");
    struct cluster_desc desc = {0};
    enum status status;
    if (json_is_string(json))
        status = cluster_parse(json_string_value(json), &desc, err);
    else if (json_is_object(json))
        status = cluster_parse_object(json, &desc, err);
    else
        status = fail(err, ST_INPUT,
                      "want \"cluster\": a text such as \"8x8:a100-40g\", or an object as in a "
                      "cluster file");
    if (status == ST_OK && desc.share != SHARE_CARD)
        status =
            fail(err, ST_INPUT, "cluster: want one whose GPUs are cards, not share = node-sum");
    if (status == ST_OK)
        status = cluster_build(&desc, &in->s->cluster, err);
    cluster_desc_free(&desc);
    return status == ST_OK ? ST_OK : spot_wrong(&in->text, &spot, status, err);
}

static enum status add_name(struct job_table *t, const char *text, int32_t *id, struct error *err)
{
    *id = text == NULL ? -1 : names_add(&t->names, text, strlen(text));
    return text != NULL && *id < 0 ? fail_memory(err) : ST_OK;
}

/* Thousandths that every instance asks for: of one GPU, or whole GPUs. */
static bool is_gpus(double milli)
{
    return fabs(milli - nearbyint(milli)) < 1e-6 && (milli <= 1000 || fmod(milli, 1000) < 1e-6);
}

static const char *wrong_together(const struct words *w, bool runs, bool counts)
{
    if (w->name == NULL)
        return "want \"name\", a text";
    if (isnan(w->gpus))
        return "want \"gpus\", how many it asks for";
    if (!is_gpus(w->gpus * 1e3 / (double)w->instances))
        return "want \"gpus\" that are whole for each instance, or thousandths of one";
    if (isnan(w->left_s))
        return "want \"left_s\", seconds of work left";
    if ((w->gpu_min > 0) != (w->gpu_max > 0) || w->gpu_min > w->gpu_max)
        return "want gpu_min and gpu_max together, the first no larger";
    if (!runs && counts && isnan(w->submit_s))
        return "want \"submit_s\" of a job that waits, to tell newcomers: there are \"arrivals\"";
    if (!runs && (w->config != NULL || !isnan(w->speed)))
        return "config and speed are of running jobs; want \"submitted\" for what a waiting one "
               "asked for";
    return NULL;
}

static enum status add_row(struct reader *in, const struct words *w, struct error *err)
{
    struct state *s = in->s;
    struct job_table *t = &s->trace.jobs;
    struct job_row row = job_row_empty();
    int32_t job = t->n_jobs;
    double left_us = w->left_s * 1e6;
    row.name = w->name;
    row.name_length = strlen(w->name);
    row.submit_us = isnan(w->submit_s) ? 0 : us_of_s(w->submit_s - s->now_s);
    row.duration_us = left_us < 1 ? 1 : llround(left_us);
    row.n_inst = (int32_t)w->instances;
    row.gpu_milli = (int32_t)lround(w->gpus * 1e3 / (double)w->instances);
    row.cpu_milli = (int32_t)lround(w->cpu * 1e3);
    row.mem_mib = (int32_t)w->mem_mib;
    row.gpu_mem_mib = (int32_t)w->gpu_mem_mib;
    row.gpu_min = (int32_t)w->gpu_min;
    row.gpu_max = (int32_t)w->gpu_max;
    row.priority = (int32_t)w->priority;
    row.kind = (enum job_kind)w->kind;
    row.min_rate_frac = w->min_rate_frac;
    TRY(add_name(t, w->gpu_type, &row.gpu_type, err));
    TRY(add_name(t, w->group, &row.group, err));
    TRY(add_name(t, w->queue, &row.queue, err));
    TRY(add_name(t, w->submitted, &row.config, err));
    TRY(add_name(t, w->user, &row.user, err));
    TRY(add_name(t, w->workload, &row.workload, err));
    if (names_find(&t->job_names, row.name, row.name_length) >= 0)
        return fail(err, ST_INPUT, "job '%s' stands there twice, want each name once", w->name);
    if (jobs_add(t, &row) < 0)
        return fail_memory(err);
    s->left_s[job] = w->left_s;
    s->start_s[job] = isnan(w->start_s) ? s->now_s : w->start_s;
    s->attained_gpu_s[job] = w->attained_gpu_s;
    s->memory.tolerance[job] = w->tolerance;
    s->memory.apart[job] = w->apart;
    return ST_OK;
}

/* Number of a node of "at": by "node", by "name", or by both if they agree. */
static enum status read_node(const struct cluster *c, const json_t *at, int32_t *out,
                             struct error *err)
{
    const json_t *number = json_object_get(at, "node"), *name = json_object_get(at, "name");
    int32_t by_name = -1;
    if (json_is_string(name))
        by_name = names_find(&c->names, json_string_value(name), json_string_length(name));
    json_int_t node = json_is_integer(number) ? json_integer_value(number) : by_name;
    if (node < 0 || node >= c->n_nodes || (name != NULL && by_name != node))
        return fail(err, ST_INPUT,
                    "at: want \"node\", 0 to %d, or \"name\", that of a node of the cluster",
                    c->n_nodes - 1);
    *out = (int32_t)node;
    return ST_OK;
}

static bool is_in(const int32_t *list, int32_t n, int32_t value)
{
    for (int32_t i = 0; i < n; i++)
        if (list[i] == value)
            return true;
    return false;
}

/* The cards of one element of "at"; none stands for a node without. */
static enum status read_cards(struct reader *in, const json_t *at, struct standing *st,
                              struct error *err)
{
    const struct cluster *c = &in->s->cluster;
    const json_t *cards = json_object_get(at, "cards");
    int32_t node = -1;
    TRY(read_node(c, at, &node, err));
    int32_t n_cards = c->node_card[node + 1] - c->node_card[node];
    if (cards == NULL)
        st->where[st->n++] = ~node;
    else if (!json_is_array(cards))
        return fail(err, ST_INPUT, "at: want \"cards\", a list of cards of the node from 0 on");
    for (size_t i = 0; i < json_array_size(cards); i++) {
        const json_t *card = json_array_get(cards, i);
        json_int_t k = json_is_integer(card) ? json_integer_value(card) : -1;
        if (k < 0 || k >= n_cards)
            return fail(err, ST_INPUT, "at: want cards of node %d, 0 to %d", node, n_cards - 1);
        if (is_in(st->where, st->n, c->node_card[node] + (int32_t)k))
            return fail(err, ST_INPUT, "at: card %d of node %d stands there twice", (int)k, node);
        st->where[st->n++] = c->node_card[node] + (int32_t)k;
    }
    return ST_OK;
}

static enum status read_at(struct reader *in, const json_t *list, struct standing *st,
                           struct error *err)
{
    size_t n = json_array_size(list);
    if (n == 0)
        return fail(err, ST_INPUT, "want \"at\", a list as [{\"node\": 0, \"cards\": [0, 1]}]");
    for (size_t i = 0; i < json_array_size(list); i++)
        n += json_array_size(json_object_get(json_array_get(list, i), "cards"));
    st->where = arena_alloc(&in->s->arena, n, sizeof *st->where);
    if (st->where == NULL)
        return fail_memory(err);
    for (size_t i = 0; i < json_array_size(list); i++)
        TRY(read_cards(in, json_array_get(list, i), st, err));
    return ST_OK;
}

static enum status read_job(struct reader *in, struct spot *at, json_t *object, bool runs,
                            struct error *err)
{
    struct words w;
    struct standing *st = runs ? &in->s->standing[at->element] : NULL;
    const struct param_group group = {"", words_params, &w};
    if (!json_is_object(object))
        return fail(err, ST_INPUT, "want an object, a job");
    param_defaults(&group);
    for (void *i = json_object_iter(object); i != NULL; i = json_object_iter_next(object, i)) {
        const char *key = json_object_iter_key(i);
        at->key = key;
        if (runs && strcmp(key, "at") == 0)
            TRY(read_at(in, json_object_iter_value(i), st, err));
        else
            TRY(param_set_json(&group, 1, key, json_object_iter_value(i), &in->s->arena, err));
    }
    at->key = NULL;
    const char *fault = wrong_together(&w, runs, in->s->memory.arrivals != NULL);
    if (fault != NULL)
        return fail(err, ST_INPUT, "%s", fault);
    if (runs && st->n == 0)
        return fail(err, ST_INPUT, "want \"at\", where it runs");
    if (runs) {
        st->config = w.config;
        st->speed = w.speed;
        st->line = spot_line(&in->text, at);
    }
    return add_row(in, &w, err);
}

static enum status read_jobs(struct reader *in, const char *section, bool runs, struct error *err)
{
    struct spot at = {section, NULL, -1};
    json_t *list = json_object_get(in->root, section);
    if (list != NULL && !json_is_array(list))
        return spot_wrong(
            &in->text, &at,
            fail(err, ST_INPUT, "want \"%s\": a list of jobs, [{\"name\": …}]", section), err);
    for (size_t i = 0; i < json_array_size(list); i++) {
        at = (struct spot){section, NULL, (int64_t)i};
        enum status status = read_job(in, &at, json_array_get(list, i), runs, err);
        if (status != ST_OK)
            return spot_wrong(&in->text, &at, status, err);
    }
    return ST_OK;
}

static enum status columns_new(struct reader *in, struct error *err)
{
    struct state *s = in->s;
    size_t n_running = json_array_size(json_object_get(in->root, "running"));
    size_t n = n_running + json_array_size(json_object_get(in->root, "waiting"));
#define COLUMN(column) ((column = arena_alloc(&s->arena, n + 1, sizeof *column)) != NULL)
    bool ok = COLUMN(s->standing) && COLUMN(s->left_s) && COLUMN(s->start_s) &&
              COLUMN(s->attained_gpu_s) && COLUMN(s->memory.tolerance) && COLUMN(s->memory.apart);
#undef COLUMN
    s->n_running = (int32_t)n_running;
    return ok ? ST_OK : fail_memory(err);
}

enum status state_parse(const char *text, size_t length, const char *name, struct state *out,
                        struct error *err)
{
    json_error_t where;
    *out = (struct state){.name = name};
    errno = 0; /* jansson calls memory that ran out a syntax error */
    struct reader in = {.text = {text, name, length}, .s = out};
    in.root = json_loadb(text, length, JSON_REJECT_DUPLICATES, &where);
    if (in.root == NULL && errno == ENOMEM)
        return fail_memory(err);
    if (in.root == NULL)
        return fail(err, ST_INPUT, "%s:%d:%d: want JSON: %s", name, where.line, where.column,
                    where.text);
    enum status status = ST_OK;
    if (!json_is_object(in.root))
        TRY_OUT(fail(err, ST_INPUT, "%s:1: want an object, {\"cluster\": …}", name));
    const struct carry carry = {in.text,     in.root,      &out->arena,
                                &out->now_s, &out->memory, &out->profiled};
    TRY_OUT(carry_read(&carry, err));
    TRY_OUT(read_cluster(&in, err));
    TRY_OUT(columns_new(&in, err));
    TRY_OUT(read_jobs(&in, "running", true, err));
    TRY_OUT(read_jobs(&in, "waiting", false, err));
    TRY_OUT(jobs_close(&out->trace.jobs, err));
out:
    json_decref(in.root);
    return status;
}

void state_free(struct state *s)
{
    trace_free(&s->trace);
    cluster_free(&s->cluster);
    table_free(&s->profiled);
    arena_free(&s->arena);
    *s = (struct state){0};
}
