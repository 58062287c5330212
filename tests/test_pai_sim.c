#include "tests/leak.h"
#include "tests/pai_run.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

TestSuite(pai_sim, .fini = abort_on_leak);

enum { MAX_JOBS = 8, NEVER = -1 };

/* A job with what must become of it; its name is its place in the list, from 1. */
struct case_job {
    int64_t submit_s, duration_s;
    int32_t n_inst, gpu_milli, cpu_milli;
    const char *type;
    int64_t hint_s[N_HINTS];
    int64_t start_s;
    int32_t node; /* of the first instance */
};

struct case_run {
    const char *what;
    struct node_spec nodes[2];
    const char *settings[3];
    struct case_job jobs[MAX_JOBS]; /* ends with a duration of 0 */
    double jobs_done, avg_jct_s, wait_s, makespan_s;
};

static void make_jobs(const struct case_job *jobs, struct job_table *t)
{
    struct error err;

    for (int i = 0; i < MAX_JOBS && jobs[i].duration_s > 0; i++) {
        const struct case_job *j = &jobs[i];
        char name[8];
        struct job_row row = job_row_empty();
        row.name = name;
        row.name_length = (size_t)snprintf(name, sizeof name, "%d", i + 1);
        row.submit_us = j->submit_s * US_PER_S;
        row.duration_us = j->duration_s * US_PER_S;
        row.n_inst = j->n_inst;
        row.gpu_milli = j->gpu_milli;
        row.cpu_milli = j->cpu_milli;
        if (j->type != NULL)
            row.gpu_type = names_add(&t->names, j->type, strlen(j->type));
        for (int h = 0; h < N_HINTS; h++)
            row.hint_us[h] = j->hint_s[h] * US_PER_S;
        cr_assert_eq(jobs_add(t, &row), i);
    }
    cr_assert_eq(jobs_close(t, &err), ST_OK);
}

static int32_t first_node(const struct run_log *log, int32_t task)
{
    for (size_t i = 0; i < log->n_spans; i++)
        if (log->span[i].task == task)
            return log->span[i].node;
    return -1;
}

static void check_job(const struct case_run *run, int32_t job, const struct job_table *t,
                      const struct run_log *log)
{
    const struct case_job *j = &run->jobs[job];

    if (j->start_s == NEVER) {
        cr_expect(t->status[job] == JOB_REJECTED || t->status[job] == JOB_UNFINISHED,
                  "%s: job %d ran", run->what, job + 1);
        return;
    }
    cr_assert_eq(t->status[job], JOB_DONE, "%s: job %d did not end", run->what, job + 1);
    cr_expect_eq(t->start_us[job], j->start_s * US_PER_S, "%s: job %d starts at %lld us", run->what,
                 job + 1, (long long)t->start_us[job]);
    cr_expect_eq(t->finish_us[job], (j->start_s + j->duration_s) * US_PER_S, "%s: job %d",
                 run->what, job + 1);
    cr_expect_eq(first_node(log, t->task_begin[job]), j->node, "%s: job %d is on node %d",
                 run->what, job + 1, first_node(log, t->task_begin[job]));
}

static void check_run(const struct case_run *run)
{
    struct job_table t = {0};
    struct cluster c;
    struct pai_outcome out;
    struct error err;
    const char *settings[] = {run->settings[0], run->settings[1], run->settings[2], NULL};

    make_jobs(run->jobs, &t);
    cr_assert_eq(
        cluster_init(&c, run->nodes, run->nodes[1].count > 0 ? 2 : 1, SHARE_NODE_SUM, &err), ST_OK);
    cr_assert_eq(pai_run(&t, &c, settings, true, &out, &err), ST_OK, "%s: %s", run->what, err.text);
    for (int32_t job = 0; job < t.n_jobs; job++)
        check_job(run, job, &t, &out.log);
    cr_expect_float_eq(out.jobs_done, run->jobs_done, 1e-9, "%s: %g done", run->what,
                       out.jobs_done);
    cr_expect_float_eq(out.avg_jct_s, run->avg_jct_s, 1e-9, "%s: JCT %g", run->what, out.avg_jct_s);
    cr_expect_float_eq(out.wait_s, run->wait_s, 1e-9, "%s: wait %g", run->what, out.wait_s);
    cr_expect_float_eq(out.makespan_s, run->makespan_s, 1e-9, "%s: makespan %g", run->what,
                       out.makespan_s);
    run_log_free(&out.log);
    cluster_free(&c);
    jobs_free(&t);
}

#define NODES(count_, gpus_, type_, cores_)                                                        \
    {                                                                                              \
        .count = (count_), .n_gpus = (gpus_), .gpu_type = (type_), .cpu_milli = (cores_)*1000,     \
        .mem_mib = -1                                                                              \
    }
#define ONE_GPU                                                                                    \
    {                                                                                              \
        NODES(1, 1, "", 100)                                                                       \
    }

/* Four jobs of one GPU, submitted in order, for a GPU that is busy until 10; every order of turns
 * differs. Estimates are user, group, group and GPU. */
#define FOUR(start2, start3, start4, start5)                                                       \
    {                                                                                              \
        {0, 10, 1, 1000, 0, NULL, {9, 9, 9}, 0, 0},                                                \
            {1, 4, 1, 1000, 0, NULL, {2, 7, 1}, start2, 0},                                        \
            {2, 3, 1, 1000, 0, NULL, {4, 6, 3}, start3, 0},                                        \
            {3, 2, 1, 1000, 0, NULL, {1, 8, 4}, start4, 0},                                        \
            {4, 1, 1, 1000, 0, NULL, {3, 5, 2}, start5, 0},                                        \
    }

/* One instance: submitted, runs for, milli-GPUs, (type,) starts, on node. */
#define JOB(submit, duration, gpu, start, node_) TYPED(submit, duration, gpu, NULL, start, node_)
#define TYPED(submit, duration, gpu, type_, start, node_)                                          \
    {                                                                                              \
        submit, duration, 1, gpu, 0, type_, {0}, start, node_                                      \
    }

/* clang-format off */
static const struct case_run runs[] = {
    {"fifo goes by submission", ONE_GPU, {"pai-sim.order=fifo"}, FOUR(10, 14, 17, 19),
     5, 14, 10, 21},
    {"sjf goes by duration", ONE_GPU, {"pai-sim.order=sjf"}, FOUR(16, 13, 11, 10), 5, 12, 8, 21},
    {"sju goes by the user's estimate", ONE_GPU, {"pai-sim.order=sju"}, FOUR(12, 17, 10, 16),
     5, 13, 9, 21},
    {"sjg goes by the group's", ONE_GPU, {"pai-sim.order=sjg"}, FOUR(14, 11, 18, 10),
     5, 12.6, 8.6, 21},
    {"sjgg goes by the group's on that GPU", ONE_GPU, {"pai-sim.order=sjgg"}, FOUR(10, 15, 18, 14),
     5, 13.4, 9.4, 21},

    {"fifo starts what fits behind a wide job, which starves", {NODES(1, 2, "", 100)}, {NULL},
     {JOB(0, 10, 1000, 0, 0),
      JOB(1, 5, 2000, 16, 0),
      JOB(2, 14, 1000, 2, 0),
      JOB(9, 5, 1000, 10, 0)},
     4, 12.5, 4, 22},

    {"equal keys go by id as a number", ONE_GPU, {"pai-sim.order=sjf"},
     {JOB(0, 5, 1000, 0, 0), JOB(0, 5, 1000, 5, 0), JOB(0, 5, 1000, 10, 0)},
     3, 10, 5, 16},

    {"only the sum of a node counts: .6 + .6 + .8 are two GPUs", {NODES(1, 2, "", 100)}, {NULL},
     {JOB(0, 5, 600, 0, 0), JOB(0, 5, 600, 0, 0), JOB(0, 5, 800, 0, 0)},
     3, 5, 0, 6},

    {"jobs without GPU start while no GPU is idle", ONE_GPU, {NULL},
     {JOB(0, 9, 1000, 0, 0), JOB(1, 9, 1000, 9, 0), {2, 3, 1, 0, 1000, NULL, {0}, 2, 0}},
     3, 29.0 / 3, 8.0 / 3, 19},

    {"a job that asks for nothing waits while all GPUs and cores are in use",
     {NODES(1, 1, "", 4)}, {NULL},
     {{0, 7, 1, 1000, 4000, NULL, {0}, 0, 0}, JOB(1, 3, 0, 7, 0)},
     2, 8, 3, 11},

    {"the clock starts at 0", ONE_GPU, {NULL},
     {JOB(-5, 2, 1000, 2, 0), JOB(-9, 2, 1000, 0, 0)},
     2, 10, 8, 5},

    {"a gang starts whole, and its instances count one by one", {NODES(2, 2, "", 100)}, {NULL},
     {JOB(0, 4, 1000, 0, 0),
      {1, 6, 4, 1000, 0, NULL, {0}, 4, 0},
      JOB(2, 1, 2000, 2, 1)},
     6, 41.0 / 6, 2, 11},

    {"least_util spreads", {NODES(2, 2, "", 100)}, {"pai-sim.node_order=least_util"},
     {JOB(0, 9, 1000, 0, 0), JOB(1, 9, 1000, 1, 1), JOB(2, 9, 2000, 9, 0)},
     3, 34.0 / 3, 7.0 / 3, 19},
    {"id packs", {NODES(2, 2, "", 100)}, {"pai-sim.node_order=id"},
     {JOB(0, 9, 1000, 0, 0), JOB(1, 9, 1000, 1, 0), JOB(2, 9, 2000, 2, 1)},
     3, 9, 0, 12},
    {"fewest_idle packs", {NODES(2, 2, "", 100)}, {"pai-sim.node_order=fewest_idle"},
     {JOB(0, 9, 1000, 0, 0), JOB(1, 9, 1000, 1, 0), JOB(2, 9, 2000, 2, 1)},
     3, 9, 0, 12},
    {"most_idle spreads", {NODES(2, 2, "", 100)}, {"pai-sim.node_order=most_idle"},
     {JOB(0, 9, 1000, 0, 0), JOB(1, 9, 1000, 1, 1), JOB(2, 9, 2000, 9, 0)},
     3, 34.0 / 3, 7.0 / 3, 19},

    {"types are ignored", {NODES(1, 1, "T4", 100), NODES(1, 1, "V100", 100)},
     {"pai-sim.node_order=id"},
     {TYPED(0, 3, 1000, "V100", 0, 0), TYPED(0, 3, 1000, "T4", 0, 1), TYPED(0, 3, 0, "CPU", 0, 0)},
     3, 3, 0, 4},
    {"exact types; a CPU job runs anywhere; a type without nodes never",
     {NODES(1, 1, "T4", 100), NODES(1, 1, "V100", 100)},
     {"pai-sim.type_match=exact", "pai-sim.node_order=id"},
     {TYPED(0, 3, 1000, "V100", 0, 1), TYPED(0, 3, 1000, "V100", 3, 1),
      TYPED(0, 3, 1000, "CPU", 0, 0),
      TYPED(0, 3, 1000, "V100M32", NEVER, 0), JOB(1, 3, 1000, 3, 0)},
     4, 17.0 / 4, 5.0 / 4, 7},
    {"only V100 jobs are bound", {NODES(1, 1, "T4", 100), NODES(1, 1, "V100", 100)},
     {"pai-sim.type_match=v100", "pai-sim.node_order=id"},
     {TYPED(0, 3, 1000, "V100", 0, 1), TYPED(0, 3, 1000, "V100", 3, 1),
      TYPED(0, 9, 1000, "V100M32", 0, 0),
      TYPED(4, 3, 1000, "MISC", 6, 1)},
     4, 23.0 / 4, 5.0 / 4, 10},

    {"a job wider than every node never starts, the others run on", {NODES(2, 2, "", 100)}, {NULL},
     {JOB(0, 3, 3000, NEVER, 0), JOB(0, 3, 2000, 0, 0)},
     1, 3, 0, 4},
    {"on one node a request is cut to what the node has", {NODES(1, 2, "", 100)}, {NULL},
     {{0, 3, 1, 3000, 999000, NULL, {0}, 0, 0}},
     1, 3, 0, 4},
    {"arrivals come in batches on the minute", {NODES(1, 8, "", 100)}, {"pai-sim.arrival_rate=2"},
     {JOB(7, 3, 1000, 60, 0), JOB(5, 3, 1000, 0, 0), JOB(6, 3, 1000, 0, 0)},
     3, 3, 0, 64},
};
/* clang-format on */

Test(pai_sim, jobs_start_when_and_where_the_official_rules_say)
{
    for (size_t i = 0; i < sizeof runs / sizeof *runs; i++)
        check_run(&runs[i]);
}

static enum status run_one(const char *setting, int64_t hint_s, struct pai_outcome *out,
                           struct error *err)
{
    const struct case_job jobs[MAX_JOBS] = {
        {0, 3, 1, 1000, 0, NULL, {5, 5, 5}, 0, 0},
        {0, 3, 1, 9000, 0, NULL, {hint_s, hint_s, hint_s}, 0, 0},
    };
    const struct node_spec nodes = NODES(2, 8, "", 100);
    const char *const settings[] = {setting, NULL};
    struct job_table t = {0};
    struct cluster c;

    make_jobs(jobs, &t);
    cr_assert_eq(cluster_init(&c, &nodes, 1, SHARE_NODE_SUM, err), ST_OK);
    enum status status = pai_run(&t, &c, settings, true, out, err);
    cluster_free(&c);
    jobs_free(&t);
    return status;
}

Test(pai_sim, an_order_by_an_estimate_that_a_job_lacks_is_refused_by_name)
{
    struct pai_outcome out;
    struct error err;

    cr_expect_eq(run_one("pai-sim.order=sjg", -1, &out, &err), ST_INPUT);
    cr_expect_not_null(strstr(err.text, "job 2 has no group_dur"), "%s", err.text);
    run_log_free(&out.log);
    cr_expect_eq(run_one("pai-sim.order=sjf", -1, &out, &err), ST_OK, "%s", err.text);
    run_log_free(&out.log);
}

Test(pai_sim, a_rate_of_zero_is_refused)
{
    struct pai_outcome out;
    struct error err;

    cr_expect_eq(run_one("pai-sim.arrival_rate=0", 1, &out, &err), ST_USAGE);
    run_log_free(&out.log);
}

Test(pai_sim, the_means_of_no_job_at_all_are_not_numbers)
{
    struct case_run run = {.nodes = {NODES(1, 1, "", 100)},
                           .jobs = {{0, 3, 2, 1000, 0, NULL, {0}, NEVER, 0}}};
    struct job_table t = {0};
    struct cluster c;
    struct pai_outcome out;
    struct error err;

    make_jobs(run.jobs, &t);
    cr_assert_eq(cluster_init(&c, run.nodes, 1, SHARE_NODE_SUM, &err), ST_OK);
    cr_assert_eq(pai_run(&t, &c, run.settings, true, &out, &err), ST_OK);
    cr_expect_eq(out.jobs_done, 0);
    cr_expect(isnan(out.avg_jct_s) && isnan(out.wait_s) && isnan(out.makespan_s));
    run_log_free(&out.log);
    cluster_free(&c);
    jobs_free(&t);
}
