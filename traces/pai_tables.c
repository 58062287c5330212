#include "traces/pai.h"

#include "core/base/units.h"

#include <string.h>

static const char *const statuses[] = {"Terminated", "Failed",      "Running",
                                       "Waiting",    "Interrupted", NULL}; /* enum pai_status */

#define TASK(field_)     offsetof(struct pai_task, field_)
#define INSTANCE(field_) offsetof(struct pai_instance, field_)
#define SENSOR(field_)   offsetof(struct pai_sensor, field_)
#define GROUP(field_)    offsetof(struct pai_group, field_)
#define MACHINE(field_)  offsetof(struct pai_machine, field_)
#define SAMPLE(field_)   offsetof(struct pai_sample, field_)
#define HINT(hint_)      (SAMPLE(row.hint_us) + (hint_) * sizeof(int64_t))
// clang-format off
static const struct column task_columns[] = {
    COLUMN_KEY("job_name", TASK(job)),
    COLUMN_ID("task_name", TASK(row.task)),
    COLUMN_NUMBER("inst_num", COLUMN_WHOLE, TASK(row.n_inst), 0, 1, PAI_INSTANCES_MAX),
    COLUMN_CHOICE("status", TASK(status), statuses),
    COLUMN_NUMBER("start_time", COLUMN_US, TASK(start_us), 6, -1e18, 1e18),
    COLUMN_NUMBER("end_time", COLUMN_US, TASK(end_us), 6, -1e18, 1e18),
    COLUMN_NUMBER("plan_cpu", COLUMN_MILLI, TASK(row.cpu_milli), 1, 0, INT32_MAX),
    COLUMN_NUMBER("plan_mem", COLUMN_GIB, TASK(row.mem_mib), 0, 0, INT32_MAX),
    COLUMN_NUMBER("plan_gpu", COLUMN_MILLI, TASK(row.gpu_milli), 1, 0, PAI_GPUS_MAX * 1e3),
    COLUMN_ID("gpu_type", TASK(row.gpu_type)),
    COLUMN_END,
};
static const struct column job_columns[] = {
    COLUMN_KEY("job_name", offsetof(struct pai_job, job)),
    COLUMN_KEY("inst_id", offsetof(struct pai_job, inst)),
    COLUMN_ID("user", offsetof(struct pai_job, user)),
    COLUMN_IGNORED("status"),
    COLUMN_IGNORED("start_time"),
    COLUMN_IGNORED("end_time"),
    COLUMN_END,
};
static const struct column instance_columns[] = {
    COLUMN_KEY("job_name", INSTANCE(job)),
    COLUMN_KEY("task_name", INSTANCE(task)),
    COLUMN_IGNORED("inst_name"),
    COLUMN_IGNORED("worker_name"),
    COLUMN_IGNORED("inst_id"),
    COLUMN_IGNORED("status"),
    COLUMN_NUMBER("start_time", COLUMN_US, INSTANCE(start_us), 6, -1e18, 1e18),
    COLUMN_NUMBER("end_time", COLUMN_US, INSTANCE(end_us), 6, -1e18, 1e18),
    COLUMN_IGNORED("machine"),
    COLUMN_END,
};
static const struct column group_columns[] = {
    COLUMN_KEY("inst_id", GROUP(inst)),
    COLUMN_ID("user", GROUP(user)),
    COLUMN_ID("gpu_type_spec", GROUP(gpu_type)),
    COLUMN_ID("group", GROUP(group)),
    COLUMN_ID("workload", GROUP(workload)),
    COLUMN_END,
};
static const struct column sensor_columns[] = {
    COLUMN_KEY("job_name", SENSOR(job)),
    COLUMN_KEY("task_name", SENSOR(task)),
    COLUMN_IGNORED("worker_name"),
    COLUMN_IGNORED("inst_id"),
    COLUMN_IGNORED("machine"),
    COLUMN_IGNORED("gpu_name"),
    COLUMN_IGNORED("cpu_usage"),
    COLUMN_NUMBER("gpu_wrk_util", COLUMN_REAL, SENSOR(gpu_util), 0, 0, 1e9),
    COLUMN_IGNORED("avg_mem"),
    COLUMN_IGNORED("max_mem"),
    COLUMN_IGNORED("avg_gpu_wrk_mem"),
    COLUMN_IGNORED("max_gpu_wrk_mem"),
    COLUMN_IGNORED("read"),
    COLUMN_IGNORED("write"),
    COLUMN_IGNORED("read_count"),
    COLUMN_IGNORED("write_count"),
    COLUMN_END,
};
static const struct column machine_columns[] = {
    COLUMN_KEY("machine", MACHINE(machine)),
    COLUMN_NUMBER("gpu_type", COLUMN_TEXT, MACHINE(gpu_type), 0, 0, 0),
    COLUMN_NEEDED("cap_cpu", COLUMN_MILLI, MACHINE(cpu_milli), 3, 0, INT32_MAX),
    COLUMN_NEEDED("cap_mem", COLUMN_GIB, MACHINE(mem_mib), 0, 0, INT32_MAX),
    COLUMN_NEEDED("cap_gpu", COLUMN_WHOLE, MACHINE(n_gpus), 0, 0, 1000),
    COLUMN_END,
};
static const struct column sample_columns[] = {
    COLUMN_KEY("job_id", SAMPLE(job)),
    COLUMN_ID("user", SAMPLE(row.user)),
    COLUMN_NUMBER("num_gpu", COLUMN_MILLI, SAMPLE(row.gpu_milli), 3, 0, PAI_GPUS_MAX * 1e3),
    COLUMN_NUMBER("num_cpu", COLUMN_MILLI, SAMPLE(row.cpu_milli), 3, 0, INT32_MAX),
    COLUMN_NUMBER("num_inst", COLUMN_WHOLE, SAMPLE(row.n_inst), 0, 1, PAI_INSTANCES_MAX),
    COLUMN_NUMBER("num_pod", COLUMN_WHOLE, SAMPLE(n_pods), 0, 0, INT32_MAX),
    COLUMN_NEEDED("duration", COLUMN_US, SAMPLE(row.duration_us), 6, 0, 1e18),
    COLUMN_NEEDED("submit_time", COLUMN_US, SAMPLE(row.submit_us), 6, -1e18, 1e18),
    COLUMN_ID("group", SAMPLE(row.group)),
    COLUMN_ID("gpu_type", SAMPLE(row.gpu_type)),
    COLUMN_NUMBER("wait_time", COLUMN_US, SAMPLE(wait_us), 6, 0, 1e18),
    COLUMN_NUMBER("user_dur", COLUMN_US, HINT(HINT_USER), 6, 0, 1e18),
    COLUMN_NUMBER("group_dur", COLUMN_US, HINT(HINT_GROUP), 6, 0, 1e18),
    COLUMN_NUMBER("group_gpu_dur", COLUMN_US, HINT(HINT_GROUP_GPU), 6, 0, 1e18),
    COLUMN_END,
};
// clang-format on

/* Tables whose columns are NULL are known, and not read. */
static const struct {
    const char *name; /* how the file's name begins */
    const struct column *columns;
    size_t n_columns; /* without a header; 0: it always has one */
    size_t status;    /* the field that holds it, from 1; 0 for none */
} kinds[N_PAI_TABLES] = {
    [PAI_TASK] = {"pai_task_table", task_columns, 10, 4},
    [PAI_JOB] = {"pai_job_table", job_columns, 6, 4},
    [PAI_INSTANCE] = {"pai_instance_table", instance_columns, 9, 6},
    [PAI_GROUP] = {"pai_group_tag_table", group_columns, 5, 0},
    [PAI_MACHINE] = {"pai_machine_spec", machine_columns, 5, 0},
    [PAI_SENSOR] = {"pai_sensor_table", sensor_columns, 16, 0},
    [PAI_METRIC] = {"pai_machine_metric", NULL, 12, 0},
    [PAI_SAMPLE] = {NULL, sample_columns, 0, 0},
};

enum pai_table pai_by_name(const char *base)
{
    for (int k = PAI_NONE + 1; k < N_PAI_TABLES; k++)
        if (kinds[k].name != NULL && strncmp(base, kinds[k].name, strlen(kinds[k].name)) == 0)
            return (enum pai_table)k;
    return PAI_NONE;
}

const struct column *pai_columns(enum pai_table table) { return kinds[table].columns; }

/* How many of the table's columns the first row names; 0 without the one that comes first, the
 * row's key. */
static size_t n_named(const struct input *in, const struct column *columns)
{
    for (size_t i = 0; columns != NULL && i < in->n_first; i++)
        if (columns_find(columns, in->first[i].text, in->first[i].length) == columns)
            return columns_known(columns, in->first, in->n_first);
    return 0;
}

/* The table most of whose columns the first row names. */
static enum pai_table by_header(const struct input *in)
{
    enum pai_table best = PAI_NONE;
    size_t most = 2;
    for (int k = PAI_NONE + 1; k < N_PAI_TABLES; k++) {
        size_t n = n_named(in, kinds[k].columns);
        if (n > most) {
            best = (enum pai_table)k;
            most = n;
        }
    }
    return best;
}

static bool has_status(const struct input *in, size_t field)
{
    for (int i = 0; field > 0 && statuses[i] != NULL; i++)
        if (in->first[field - 1].length == strlen(statuses[i]) &&
            memcmp(in->first[field - 1].text, statuses[i], strlen(statuses[i])) == 0)
            return true;
    return false;
}

/* A machine table and a group table both have five columns; the capacities are numbers. */
static bool has_capacities(const struct input *in)
{
    int64_t value;
    for (size_t i = 2; i < 5; i++)
        if (!parse_scaled(in->first[i].text, in->first[i].length, 0, &value))
            return false;
    return true;
}

enum pai_table pai_by_content(const struct input *in, bool guess)
{
    enum pai_table found = by_header(in);
    for (int k = PAI_NONE + 1; k < N_PAI_TABLES && found == PAI_NONE; k++)
        if (in->n_first > 0 && in->n_first == kinds[k].n_columns &&
            (k != PAI_GROUP || !has_capacities(in)) && (!guess || has_status(in, kinds[k].status)))
            found = (enum pai_table)k;
    return found;
}

enum status pai_open(struct table *t, struct importer *im, struct input *input,
                     enum pai_table table, const void *empty, size_t size, struct error *err)
{
    const struct column *columns = kinds[table].columns;
    if (kinds[table].n_columns == 0 || n_named(input, columns) >= 3)
        return table_open_named(t, im, input, columns, NULL, empty, size, err);
    return table_open(t, im, input, columns, empty, size, err);
}

static enum status add_machine(const struct pai_machine *m, struct node_spec **nodes,
                               int32_t *n_nodes, struct error *err)
{
    const struct node_spec node = {
        .n_gpus = m->n_gpus, .cpu_milli = m->cpu_milli, .mem_mib = m->mem_mib};
    return nodes_add(nodes, n_nodes, &node, m->machine, m->gpu_type, err);
}

enum status pai_read_machines(struct importer *im, struct input *input, struct node_spec **nodes,
                              int32_t *n_nodes, struct error *err)
{
    static const struct pai_machine empty = {.gpu_type = {"", 0}};
    enum status status = ST_OK;
    struct pai_machine m;
    struct table t;
    bool more;
    TRY(pai_open(&t, im, input, PAI_MACHINE, &empty, sizeof empty, err));
    t.side = t.strict = true;
    for (;;) {
        TRY_OUT(table_next(&t, &m, &more, err));
        if (!more)
            break;
        TRY_OUT(add_machine(&m, nodes, n_nodes, err));
    }
out:
    table_close(&t);
    return status;
}
