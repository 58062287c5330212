/* Lucid's artifact on its September trace of Venus: start, end and queue of every job by every
 * policy, as its own logs have them. */
#include "policies/registry.h"
#include "sim/run/vc_file.h"
#include "tests/leak.h"
#include "tests/lucid_lab.h"
#include "traces/choose.h"
#include "traces/table_file.h"
#include "traces/trace.h"

#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

TestSuite(lucid_trace, .fini = abort_on_leak, .timeout = 120);

/* The profiler's nodes are one of vc8Gr and one of vcefl, and one that vcYVn lends. */
#define LUCID                                                                                      \
    "semantics=artifact rates=given forecast_from_s=13219200 profiler=vc8Gr,vcefl lender=vcYVn"
/* Without vcYVn the artifact's profiler has its third node from nowhere. */
#define LUCID_OF_FIVE                                                                              \
    "semantics=artifact rates=given forecast_from_s=13219200 profiler=vc8Gr,vcefl lender=spare"
#define EBM "Venus_Sept_ebm_weekly_updated.csv"
#define LGB "Venus_Sept_lgb.csv"

struct replay {
    const char *policy, *settings, *estimates;
    const char *expected; /* below expected/ or expected_subset5/; NULL: the mean JCT is enough */
    double jct_mean_s;
};

static const struct replay whole[] = {
    {"vc-fifo", "", NULL, "fifo", 65720.5426},
    {"vc-sjf", "", NULL, "sjf", 21095.0243},
    {"vc-srtf", "semantics=artifact", NULL, "srtf", 12609.8982},
    {"qssf", "semantics=artifact", LGB, "qssf", 18797.4710},
    {"qssf", "semantics=artifact", EBM, "qssf_sweep_ebm", 15548.8816},
    {"tiresias", "semantics=artifact", NULL, "tiresias", 14700.0392},
    {"lucid", LUCID, EBM, "lucid", 12886.1301},
    {"lucid", LUCID " sharing=off", EBM, "lucid_nosharing", 15098.9139},
};

/* One mistake put right at a time; an independent model gave the means, to a tenth. */
static const struct replay single_repairs[] = {
    {"lucid", LUCID " recovery=repaired", EBM, NULL, 12804.5},
    {"lucid", LUCID " profiling=repaired", EBM, NULL, 13058.3},
    {"lucid", LUCID " free_gpus=repaired", EBM, NULL, 13012.6},
};

static const struct replay five[] = {
    {"vc-fifo", "", NULL, "fifo", 28170.86},
    {"vc-sjf", "", NULL, "sjf", 27456.33},
    {"vc-srtf", "semantics=artifact", NULL, "srtf", 27300.67},
    {"qssf", "semantics=artifact", LGB, "qssf", 27474.97},
    {"tiresias", "semantics=artifact", NULL, "tiresias", 27334.23},
    {"lucid", LUCID_OF_FIVE, EBM, "lucid", 28201.49},
};

static bool is_of_five(const char *name)
{
    static const char *const names[] = {"vc8Gr", "vchA3", "vcefl", "vcvlY", "vcgkz"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(name, names[i]) == 0)
            return true;
    return false;
}

static void read_table(const char *file, struct table *out)
{
    char path[SHARED_PATH_MAX], name[256];
    struct error err = {{0}};
    snprintf(name, sizeof name, "data/lucid/%s", file);
    cr_assert(shared_path(path, name), "no %s", file);
    cr_assert_eq(table_read(path, out, &err), ST_OK, "%s", err.text);
}

static void read_jobs(struct lab *l, bool of_five)
{
    char path[SHARED_PATH_MAX];
    struct error err = {{0}};
    struct trace trace;
    cr_assert(shared_path(path, "data/lucid/venus_sept_trace.csv.gz"));
    const char *paths[] = {path};
    struct trace_options options = {.paths = paths, .n_paths = 1};
    cr_assert_eq(trace_read(&options, &trace, &err), ST_OK, "%s", err.text);
    cr_assert_str_eq(trace.report.format, "venus");
    cr_assert_eq(trace.report.n_kept, 23859);
    if (of_five) {
        bool *keep = calloc((size_t)trace.jobs.n_jobs, sizeof *keep);
        for (int32_t j = 0; j < trace.jobs.n_jobs; j++)
            keep[j] = is_of_five(names_text(&trace.jobs.names, trace.jobs.queue[j]));
        cr_assert_eq(jobs_copy(&trace.jobs, keep, &l->jobs, &err), ST_OK);
        free(keep);
    } else {
        l->jobs = trace.jobs;
        trace.jobs = (struct job_table){0};
    }
    trace_free(&trace);
}

static void build_pools(struct lab *l, bool of_five)
{
    char path[SHARED_PATH_MAX], text[SHARED_PATH_MAX + 16];
    struct error err = {{0}};
    struct node_spec *nodes;
    int32_t n = 0, kept = 0;
    cr_assert(shared_path(path, "data/lucid/vc_config.csv"));
    snprintf(text, sizeof text, "%s+spare:1", path);
    cr_assert_eq(vc_parse(text, &l->arena, &nodes, &n, &err), ST_OK, "%s", err.text);
    for (int32_t i = 0; i < n; i++)
        if (!of_five || is_of_five(nodes[i].pool) || strcmp(nodes[i].pool, "spare") == 0)
            nodes[kept++] = nodes[i];
    cr_assert_eq(cluster_init(&l->cluster, nodes, kept, SHARE_CARD, &err), ST_OK, "%s", err.text);
}

static double jct_mean_s(const struct lab *l)
{
    double sum = 0;
    for (int32_t j = 0; j < l->jobs.n_jobs; j++)
        sum += s_of_us(l->jobs.finish_us[j] - l->jobs.submit_us[j]);
    return sum / l->jobs.n_jobs;
}

/* Every job's start, end and queue, to the second. */
static void compare(const struct lab *l, const struct replay *r, const char *folder)
{
    char name[128];
    struct table expected = {0};
    const struct job_table *t = &l->jobs;
    double *queue_s = lab_queue_s(l);
    int n_wrong[3] = {0};
    snprintf(name, sizeof name, "%s/%s.csv.gz", folder, r->expected);
    read_table(name, &expected);
    cr_assert_eq(expected.n_rows, t->n_jobs);
    int32_t id = table_column(&expected, "job_id");
    int32_t column[3] = {table_column(&expected, "start"), table_column(&expected, "end"),
                         table_column(&expected, "queue")};
    for (int32_t j = 0; j < t->n_jobs; j++) {
        double got[3] = {s_of_us(t->start_us[j]), s_of_us(t->finish_us[j]), queue_s[j]};
        cr_assert_str_eq(names_text(&t->job_names, j), table_cell(&expected, j, id));
        for (int k = 0; k < 3; k++)
            n_wrong[k] += got[k] != table_number(&expected, j, column[k]);
    }
    cr_expect(n_wrong[0] == 0 && n_wrong[1] == 0 && n_wrong[2] == 0,
              "%s: of %d jobs %d starts, %d ends, %d queues are not the artifact's", name,
              t->n_jobs, n_wrong[0], n_wrong[1], n_wrong[2]);
    free(queue_s);
    table_free(&expected);
}

static void replay(const struct replay *r, bool of_five, double tolerance)
{
    struct lab l = {.unchecked = true};
    read_jobs(&l, of_five);
    build_pools(&l, of_five);
    if (policy_find(r->policy)->params != NULL)
        lab_settings(&l, r->policy, r->settings);
    if (r->estimates != NULL)
        read_table(r->estimates, &l.tables[LUCID_ESTIMATES]);
    if (strcmp(r->policy, "lucid") == 0) {
        read_table("Venus_throughput_pred.csv", &l.tables[LUCID_FORECAST]);
        read_table("single_data.csv", &l.tables[LUCID_LABELS]);
        read_table("colocate_info.csv", &l.tables[LUCID_RATES]);
    }
    lab_run(&l, r->policy);
    cr_expect_float_eq(jct_mean_s(&l), r->jct_mean_s, tolerance, "%s %s: mean JCT %.4f, not %.4f",
                       r->policy, r->settings, jct_mean_s(&l), r->jct_mean_s);
    if (r->expected != NULL)
        compare(&l, r, of_five ? "expected_subset5" : "expected");
    lab_free(&l);
}

static void need_data(void)
{
    char path[SHARED_PATH_MAX];
    if (!shared_path(path, "data/lucid/venus_sept_trace.csv.gz"))
        cr_skip_test("no data/lucid/venus_sept_trace.csv.gz (COLOSIM_SHARED)");
}

Test(lucid_trace, every_policy_agrees_with_the_artifact_on_each_of_23859_jobs)
{
    need_data();
    for (size_t i = 0; i < sizeof whole / sizeof *whole; i++)
        replay(&whole[i], false, 1e-4);
}

Test(lucid_trace, one_mistake_put_right_gives_the_known_means)
{
    need_data();
    for (size_t i = 0; i < sizeof single_repairs / sizeof *single_repairs; i++)
        replay(&single_repairs[i], false, 0.05);
}

Test(lucid_trace, every_policy_agrees_with_the_artifact_on_five_virtual_clusters)
{
    need_data();
    for (size_t i = 0; i < sizeof five / sizeof *five; i++)
        replay(&five[i], true, 0.01);
}
