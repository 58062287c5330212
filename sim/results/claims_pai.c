/* Alibaba PAI v2020: what the paper says of its tasks, groups, users and sensors. */
#include "sim/results/claims.h"

#include "traces/account.h"
#include "traces/pai.h"

#include <math.h>
#include <string.h>

enum { PART_TASKS = 1, PART_USERS = 2, PART_GROUPS = 4, PART_SENSOR = 8 };
static const char *const parts[] = {"tasks that ask for a GPU", "users (pai_job_table)",
                                    "groups (pai_group_tag_table)",
                                    "utilisation (pai_sensor_table)", NULL};

static const char tables[] =
    "CREATE TABLE task(job TEXT, name TEXT, completed INTEGER, gpu REAL, n_inst INTEGER);"
    "CREATE TABLE job(job TEXT PRIMARY KEY, inst TEXT, user INTEGER) WITHOUT ROWID;"
    "CREATE TABLE tag(inst TEXT PRIMARY KEY, user INTEGER, grp INTEGER) WITHOUT ROWID;"
    "CREATE TABLE sensor(job TEXT, name TEXT, util REAL);";

/* t: tasks that ask for GPUs, with who submitted them; gpu in GPUs of one instance. sensed: workers
 * with what each GPU asked for did. */
static const char joins[] =
    "CREATE TABLE t AS SELECT task.job AS job, gpu, n_inst, completed,"
    " coalesce(job.user, tag.user) AS user, tag.grp AS grp"
    " FROM task LEFT JOIN job USING (job) LEFT JOIN tag USING (inst) WHERE gpu > 0;"
    "CREATE INDEX task_job ON task(job, name);"
    "CREATE TABLE sensed AS SELECT name, util, util / (SELECT gpu FROM task"
    " WHERE task.job = sensor.job AND task.name = sensor.name AND gpu > 0) AS each"
    " FROM sensor WHERE util IS NOT NULL;";

/* Groups with five jobs or more, and how many values of what_ each has. */
#define GROUPED(what_)                                                                             \
    "WITH g AS (SELECT count(DISTINCT " what_ ") AS n FROM t WHERE grp IS NOT NULL"                \
    " AND grp IS NOT user GROUP BY grp HAVING count(DISTINCT job) >= 5) "
#define DIVERSE "SELECT 100.0 * sum(n >= 2) / count(*), count(*) FROM g"
/* max / min of what_ over a user's tasks. */
#define FLEXIBLE(what_, having_)                                                                   \
    "SELECT quantile(ratio, 0.5), count(*) FROM (SELECT max(" what_ ") / min(" what_ ") AS ratio"  \
    " FROM t WHERE user IS NOT NULL AND completed GROUP BY user HAVING " having_ ")"
/* Means over workers; evaluator is the one task name that is inference. */
#define SENSED(value_, where_)                                                                     \
    "SELECT avg(" value_ "), count(*) FROM sensed WHERE " value_ " IS NOT NULL AND " where_
#define TRAIN "name <> 'evaluator'"
#define INFER "name = 'evaluator'"

// clang-format off
static const struct claim claims[] = {
    {"fractional tasks", "%", 54, PART_TASKS,
     "tasks with plan_gpu < 100 over tasks with a plan_gpu; plan_gpu is per instance",
     "SELECT 100.0 * sum(gpu < 1) / count(*), count(*) FROM t"},
    {"fractional tasks, of all", "%", 54, PART_TASKS,
     "the other reading: over all tasks, those without a plan_gpu too",
     "SELECT 100.0 * sum(gpu < 1) / count(*), count(*) FROM task"},
    {"groups with 2 GPU requests or more", "%", 12, PART_TASKS | PART_GROUPS,
     "groups of at least 5 jobs whose tasks show two or more different plan_gpu, over all groups of "
     "at least 5 jobs; an empty group (or one that is the user) is none",
     GROUPED("gpu") DIVERSE},
    {"the same by inst_num x plan_gpu", "%", 12, PART_TASKS | PART_GROUPS,
     "the other reading: different totals of a task",
     GROUPED("gpu * n_inst") DIVERSE},
    {"GPU requests in one group, most", "", 7, PART_TASKS | PART_GROUPS,
     "the largest number of different plan_gpu in a group of at least 5 jobs",
     GROUPED("gpu") "SELECT max(n), count(*) FROM g"},
    {"tasks of 4 GPUs or more", "", 12818, PART_TASKS,
     "tasks with plan_gpu >= 400, per instance; a count: a part of the trace has fewer",
     "SELECT sum(gpu >= 4), count(*) FROM t"},
    {"tasks of 4 GPUs or more, share", "%", 100 * 12818 / 1037085.0, PART_TASKS,
     "the same over tasks with a plan_gpu; the paper's count over the 1,037,085 of the full table",
     "SELECT 100.0 * sum(gpu >= 4) / count(*), count(*) FROM t"},
    {"4 GPUs or more in all, share", "%", NAN, PART_TASKS,
     "tasks that ask for 4 GPUs or more in all, over tasks with a plan_gpu",
     "SELECT 100.0 * sum(gpu * n_inst >= 4) / count(*), count(*) FROM t"},
    {"of those, whose user completed smaller", "%", 73, PART_TASKS | PART_USERS,
     "of the tasks with plan_gpu >= 400 those whose user also has a task with plan_gpu < 400 that is "
     "Terminated (or in a table without status)",
     "SELECT 100.0 * sum(user IN (SELECT user FROM t WHERE gpu < 4 AND completed)) / count(*),"
     " count(*) FROM t WHERE gpu >= 4 AND user IS NOT NULL"},
    {"max/min of a user, 5 tasks on", "x", 4, PART_TASKS | PART_USERS,
     "largest over smallest plan_gpu of a user's completed tasks, median over users with 5 tasks or "
     "more",
     FLEXIBLE("gpu", "count(*) >= 5")},
    {"max/min of a user, 2 tasks on", "x", 4, PART_TASKS | PART_USERS,
     "the same over users with 2 tasks or more",
     FLEXIBLE("gpu", "count(*) > 1")},
    {"max/min of a user, by totals", "x", 4, PART_TASKS | PART_USERS,
     "the same by a task's total, users with 2 tasks or more",
     FLEXIBLE("gpu * n_inst", "count(*) > 1")},
    {"max/min of a user, all users", "x", 4, PART_TASKS | PART_USERS, "the same by plan_gpu, all users",
     FLEXIBLE("gpu", "1")},
    {"GPU utilisation", "%", 10.5, PART_SENSOR,
     "mean of gpu_wrk_util over workers; it is summed over the worker's GPUs",
     SENSED("util", "1")},
    {"GPU utilisation, training", "%", 14.3, PART_SENSOR,
     "workers of every task name but evaluator: there is no column for it",
     SENSED("util", TRAIN)},
    {"GPU utilisation, inference", "%", 6.4, PART_SENSOR, "workers of tasks named evaluator",
     SENSED("util", INFER)},
    {"utilisation per GPU asked", "%", 10.5, PART_SENSOR | PART_TASKS,
     "the other reading: gpu_wrk_util over plan_gpu",
     SENSED("each", "1")},
    {"utilisation per GPU, training", "%", 14.3, PART_SENSOR | PART_TASKS,
     "the same, workers by task name as above",
     SENSED("each", TRAIN)},
    {"utilisation per GPU, inference", "%", 6.4, PART_SENSOR | PART_TASKS,
     "the same, workers by task name as above",
     SENSED("each", INFER)},
    {"training workers under 50 %", "%", 90, PART_SENSOR,
     "training workers with gpu_wrk_util < 50 (\"nearly 90 %\")",
     "SELECT 100.0 * sum(util < 50) / count(*), count(*) FROM sensed WHERE " TRAIN},
    {0},
};
// clang-format on

/* The statements that take rows, and what stood in them. */
struct loader {
    sqlite3_stmt *task, *job, *tag, *sensor;
    const struct names *names;
    unsigned parts;
};

static int bind_field(sqlite3_stmt *insert, int column, struct field f)
{
    return sqlite3_bind_text(insert, column, f.text, (int)f.length, SQLITE_TRANSIENT);
}

static int bind_id(sqlite3_stmt *insert, int column, int32_t id)
{
    return id >= 0 ? sqlite3_bind_int(insert, column, id) : SQLITE_OK;
}

/* status -1: the table has none. */
static enum status add_task(struct loader *l, const struct job_row *row, struct field job,
                            int status, struct error *err)
{
    struct field name = {"", 0};
    if (row->task >= 0)
        name = (struct field){names_text(l->names, row->task), names_length(l->names, row->task)};
    int bound = bind_field(l->task, 1, job) | bind_field(l->task, 2, name) |
                sqlite3_bind_int(l->task, 3, status < 0 || status == PAI_TERMINATED) |
                sqlite3_bind_int(l->task, 5, row->n_inst > 0 ? row->n_inst : 1);
    if (row->gpu_milli > 0) {
        bound |= sqlite3_bind_double(l->task, 4, (double)row->gpu_milli / 1e3);
        l->parts |= PART_TASKS;
    }
    return claims_insert(l->task, bound, err);
}

static enum status add_job(struct loader *l, struct field job, struct field inst, int32_t user,
                           struct error *err)
{
    l->parts |= user >= 0 ? PART_USERS : 0;
    int bound = bind_field(l->job, 1, job) | bind_field(l->job, 2, inst) | bind_id(l->job, 3, user);
    return claims_insert(l->job, bound, err);
}

static enum status add_tag(struct loader *l, struct field inst, int32_t user, int32_t group,
                           struct error *err)
{
    l->parts |= (user >= 0 ? PART_USERS : 0) | (group >= 0 ? PART_GROUPS : 0);
    int bound = bind_field(l->tag, 1, inst) | bind_id(l->tag, 2, user) | bind_id(l->tag, 3, group);
    return claims_insert(l->tag, bound, err);
}

/* A row of the job samples is a task with its job's user and group. A row of several pods gives
 * their total. */
static enum status add_sample(struct loader *l, struct pai_sample *r, struct error *err)
{
    if (r->n_pods > 1 && r->row.n_inst == 1) {
        r->row.n_inst = r->n_pods;
        r->row.gpu_milli /= r->n_pods;
    }
    TRY(add_task(l, &r->row, r->job, -1, err));
    TRY(add_job(l, r->job, r->job, r->row.user, err));
    return add_tag(l, r->job, r->row.user, r->row.group, err);
}

static enum status add_sensor(struct loader *l, const struct pai_sensor *r, struct error *err)
{
    int bound = bind_field(l->sensor, 1, r->job) | bind_field(l->sensor, 2, r->task);
    if (isfinite(r->gpu_util)) {
        bound |= sqlite3_bind_double(l->sensor, 3, r->gpu_util);
        l->parts |= PART_SENSOR;
    }
    return claims_insert(l->sensor, bound, err);
}

/* A row of any of the tables. */
union row {
    struct pai_task task;
    struct pai_job job;
    struct pai_group group;
    struct pai_sensor sensor;
    struct pai_sample sample;
};

static union row empty_row(enum pai_table table)
{
    union row r = {0};
    if (table == PAI_TASK)
        r.task = (struct pai_task){.row = job_row_empty(), .status = -1};
    else if (table == PAI_SAMPLE)
        r.sample = (struct pai_sample){.row = job_row_empty(), .wait_us = -1};
    else if (table == PAI_JOB)
        r.job.user = -1;
    else if (table == PAI_GROUP)
        r.group = (struct pai_group){.user = -1, .gpu_type = -1, .group = -1, .workload = -1};
    else
        r.sensor.gpu_util = NAN;
    return r;
}

static enum status add_row(struct loader *l, enum pai_table table, union row *r, struct error *err)
{
    if (table == PAI_TASK)
        return add_task(l, &r->task.row, r->task.job, r->task.status, err);
    if (table == PAI_JOB)
        return add_job(l, r->job.job, r->job.inst, r->job.user, err);
    if (table == PAI_GROUP)
        return add_tag(l, r->group.inst, r->group.user, r->group.group, err);
    if (table == PAI_SAMPLE)
        return add_sample(l, &r->sample, err);
    return add_sensor(l, &r->sensor, err);
}

static enum status read_one(struct loader *l, struct importer *im, struct input *input,
                            enum pai_table table, struct error *err)
{
    const union row empty = empty_row(table);
    struct table t;
    union row r;
    enum status status = ST_OK;
    bool more;
    TRY(pai_open(&t, im, input, table, &empty, sizeof empty, err));
    t.side = table != PAI_TASK && table != PAI_SAMPLE;
    for (;;) {
        TRY_OUT(table_next(&t, &r, &more, err));
        if (!more)
            break;
        im->trace->report.n_kept += !t.side;
        TRY_OUT(add_row(l, table, &r, err));
    }
out:
    table_close(&t);
    return status;
}

/* The kind of a file, PAI_NONE for those that are not asked. */
static enum pai_table kind_of(const struct input *in)
{
    enum pai_table table = pai_by_name(in->base);
    if (table == PAI_NONE)
        table = pai_by_content(in, in->found);
    bool asked = table == PAI_TASK || table == PAI_JOB || table == PAI_GROUP ||
                 table == PAI_SENSOR || table == PAI_SAMPLE;
    return asked ? table : PAI_NONE;
}

static bool knows(const struct input *input) { return kind_of(input) != PAI_NONE; }

static enum status prepare(sqlite3 *db, struct loader *l, struct error *err)
{
    TRY(claims_exec(db, tables, err));
    TRY(claims_prepare(db, "INSERT INTO task VALUES (?1, ?2, ?3, ?4, ?5)", &l->task, err));
    TRY(claims_prepare(db, "INSERT OR IGNORE INTO job VALUES (?1, ?2, ?3)", &l->job, err));
    TRY(claims_prepare(db, "INSERT OR IGNORE INTO tag VALUES (?1, ?2, ?3)", &l->tag, err));
    return claims_prepare(db, "INSERT INTO sensor VALUES (?1, ?2, ?3)", &l->sensor, err);
}

static enum status load(sqlite3 *db, struct importer *im, unsigned *there, struct error *err)
{
    struct loader l = {.names = &im->trace->jobs.names};
    struct listing skipped = {0};
    enum status status = ST_OK;
    TRY_OUT(prepare(db, &l, err));
    for (size_t i = 0; i < im->inputs.n; i++) {
        struct input *in = &im->inputs.input[i];
        enum pai_table table = kind_of(in);
        if (table == PAI_NONE)
            listing_add(&skipped, in->base, strlen(in->base));
        else
            TRY_OUT(read_one(&l, im, in, table, err));
    }
    TRY_OUT(claims_exec(db, joins, err));
    *there = l.parts;
    status = account_listing(&im->trace->report, "not needed here, not read", &skipped, err);
out:
    sqlite3_finalize(l.task);
    sqlite3_finalize(l.job);
    sqlite3_finalize(l.tag);
    sqlite3_finalize(l.sensor);
    return status;
}

const struct claim_source claims_pai = {
    .format = "pai",
    .claims = claims,
    .parts = parts,
    .details = "GPU tasks by what one instance asks for",
    .details_sql = "SELECT CASE WHEN gpu < 1 THEN 'less than one' WHEN gpu = 1 THEN 'one'"
                   " WHEN gpu < 4 THEN 'more than 1, less than 4' ELSE '4 or more' END AS gpus,"
                   " count(*) AS tasks, 100.0 * count(*) / (SELECT count(*) FROM t) AS percent"
                   " FROM t GROUP BY gpus ORDER BY min(gpu)",
    .details_needs = PART_TASKS,
    .knows = knows,
    .load = load,
};
