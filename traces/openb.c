/* Alibaba's v2023 trace (openb): a list of pods, and the list of nodes as the cluster.
 *
 * A pod is a job of one instance: submitted at creation_time, run time deletion_time -
 * scheduled_time. Pods that were never scheduled have no run time and are dropped. A pod of one
 * GPU takes gpu_milli thousandths of it, a pod of several takes whole ones. gpu_spec stays one
 * name; where it lists types (V100M16|V100M32) any of them will do. */
#include "traces/openb.h"

#include "traces/account.h"

#include <string.h>

struct pod {
    struct job_row row;
    struct field name, phase;
    int32_t n_gpus, gpu_milli;
    int64_t create_us, delete_us, schedule_us; /* TIME_NEVER where empty */
};

struct node {
    struct field name, model;
    int32_t cpu_milli, mem_mib, n_gpus;
};

#define POD(field_)  offsetof(struct pod, field_)
#define NODE(field_) offsetof(struct node, field_)
// clang-format off
static const struct column pod_columns[] = {
    COLUMN_KEY("name", POD(name)),
    COLUMN_NUMBER("cpu_milli", COLUMN_WHOLE, POD(row.cpu_milli), 0, 0, INT32_MAX),
    COLUMN_NUMBER("memory_mib", COLUMN_WHOLE, POD(row.mem_mib), 0, 0, INT32_MAX),
    COLUMN_NEEDED("num_gpu", COLUMN_WHOLE, POD(n_gpus), 0, 0, 1000),
    COLUMN_NUMBER("gpu_milli", COLUMN_WHOLE, POD(gpu_milli), 0, 0, 1000),
    COLUMN_ID("gpu_spec", POD(row.gpu_type)),
    COLUMN_ID("qos", POD(row.queue)),
    {"pod_phase", COLUMN_TEXT, POD(phase), 0, 0, 0, false, NULL},
    COLUMN_NEEDED("creation_time", COLUMN_US, POD(create_us), 6, -1e18, 1e18),
    COLUMN_NUMBER("deletion_time", COLUMN_US, POD(delete_us), 6, -1e18, 1e18),
    COLUMN_NUMBER("scheduled_time", COLUMN_US, POD(schedule_us), 6, -1e18, 1e18),
    COLUMN_END,
};
static const struct column node_columns[] = {
    COLUMN_KEY("sn", NODE(name)),
    COLUMN_NEEDED("cpu_milli", COLUMN_WHOLE, NODE(cpu_milli), 0, 0, INT32_MAX),
    COLUMN_NEEDED("memory_mib", COLUMN_WHOLE, NODE(mem_mib), 0, 0, INT32_MAX),
    COLUMN_NEEDED("gpu", COLUMN_WHOLE, NODE(n_gpus), 0, 0, 1000),
    {"model", COLUMN_TEXT, NODE(model), 0, 0, 0, false, NULL},
    COLUMN_END,
};
// clang-format on

bool openb_is_nodes(const struct input *in)
{
    return columns_known(node_columns, in->first, in->n_first) == 5;
}

static bool is_pods(const struct input *in)
{
    return columns_known(pod_columns, in->first, in->n_first) >= 8;
}

enum status openb_read_nodes(struct importer *im, struct input *input, struct error *err)
{
    static const struct node empty = {.model = {"", 0}};
    enum status status = ST_OK;
    struct node n;
    struct table t;
    bool more;
    TRY(table_open_named(&t, im, input, node_columns, NULL, &empty, sizeof empty, err));
    t.side = t.strict = true;
    for (;;) {
        TRY_OUT(table_next(&t, &n, &more, err));
        if (!more)
            break;
        const struct node_spec node = {
            .n_gpus = n.n_gpus, .cpu_milli = n.cpu_milli, .mem_mib = n.mem_mib};
        TRY_OUT(nodes_add(&im->trace->nodes, &im->trace->n_nodes, &node, n.name, n.model, err));
    }
out:
    table_close(&t);
    return status;
}

static bool says(const struct field *f, const char *word)
{
    return f->length == strlen(word) && memcmp(f->text, word, f->length) == 0;
}

/* What is wrong with the pod, and the column that shows it; NULL for nothing. */
static const char *wrong_with(const struct pod *p, const char **column)
{
    *column = "scheduled_time";
    if (p->schedule_us == TIME_NEVER)
        return "no scheduled_time: it never ran";
    *column = "deletion_time";
    if (p->delete_us == TIME_NEVER)
        return "no deletion_time";
    if (p->delete_us < p->schedule_us)
        return "end before start";
    *column = "gpu_milli";
    if (p->n_gpus > 1 && p->gpu_milli != 1000)
        return "parts of several GPUs";
    if (p->n_gpus == 1 && p->gpu_milli == 0)
        return "one GPU of which it takes nothing";
    return NULL;
}

static enum status keep_pod(struct table *t, struct pod *p, struct error *err)
{
    const char *column, *wrong = wrong_with(p, &column);
    if (wrong != NULL)
        return table_drop(t, column, wrong, err);
    if (t->im->options->successful_only && !says(&p->phase, "Succeeded"))
        return table_leave_out(t, "pod_phase", "pod_phase is not Succeeded", err);
    p->row.name = p->name.text;
    p->row.name_length = p->name.length;
    p->row.submit_us = p->create_us;
    p->row.duration_us = p->delete_us - p->schedule_us;
    p->row.gpu_milli = p->n_gpus == 1 ? p->gpu_milli : 1000 * p->n_gpus;
    return table_keep(t, &p->row, err);
}

static enum status read_pods(struct importer *im, struct input *input, struct error *err)
{
    struct pod empty = {.row = job_row_empty(),
                        .phase = {"", 0},
                        .gpu_milli = 1000,
                        .delete_us = TIME_NEVER,
                        .schedule_us = TIME_NEVER};
    struct pod p;
    struct table t;
    enum status status = ST_OK;
    bool more;
    TRY(table_open_named(&t, im, input, pod_columns, NULL, &empty, sizeof empty, err));
    for (;;) {
        TRY_OUT(table_next(&t, &p, &more, err));
        if (!more)
            break;
        TRY_OUT(keep_pod(&t, &p, err));
    }
out:
    table_close(&t);
    return status;
}

static enum status openb_read(struct importer *im, struct error *err)
{
    struct listing skipped = {0};
    for (size_t i = 0; i < im->inputs.n; i++) {
        struct input *in = &im->inputs.input[i];
        if (openb_is_nodes(in))
            TRY(openb_read_nodes(im, in, err));
        else if (is_pods(in) || !in->found)
            TRY(read_pods(im, in, err));
        else
            listing_add(&skipped, in->base, strlen(in->base));
    }
    TRY(account_listing(&im->trace->report, "no list of pods or nodes, not read", &skipped, err));
    return account_note(&im->trace->report, err,
                        "run times are deletion_time - scheduled_time; qos stands as the queue; a "
                        "pod that was still there when the list was made ends with the list");
}

static bool openb_fits(const struct inputs *inputs)
{
    for (size_t i = 0; i < inputs->n; i++)
        if (is_pods(&inputs->input[i]))
            return true;
    return false;
}

const struct format format_openb = {
    .about = {"openb", "Alibaba v2023: pods that share GPUs; the node list is the cluster",
              "openb_pod_list_*: name, num_gpu, creation_time, deletion_time, scheduled_time; "
              "optional: gpu_milli, gpu_spec, cpu_milli, memory_mib, qos (queue), pod_phase; "
              "openb_node_list_*: sn, cpu_milli, memory_mib, gpu, model"},
    .unlabelled = true,
    .fits = openb_fits,
    .read = openb_read,
};
