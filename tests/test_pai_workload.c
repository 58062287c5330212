#include "policies/pai_workload.h"

#include "tests/leak.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

TestSuite(pai_workload, .fini = abort_on_leak);

struct fixture {
    struct job_table jobs;
    struct cluster cluster;
    struct preparation preparation;
    struct error err;
};

/* Two nodes of 4 GPUs and 10 cores. */
static void start(struct fixture *f)
{
    struct node_spec spec = {
        .count = 2, .n_gpus = 4, .gpu_type = "", .cpu_milli = 10000, .mem_mib = -1};

    memset(f, 0, sizeof *f);
    cr_assert_eq(cluster_init(&f->cluster, &spec, 1, SHARE_NODE_SUM, &f->err), ST_OK);
    f->preparation = (struct preparation){.jobs = &f->jobs, .cluster = &f->cluster};
}

static void stop(struct fixture *f)
{
    cluster_free(&f->cluster);
    jobs_free(&f->jobs);
}

static void add(struct fixture *f, const char *name, int64_t submit_us, int64_t duration_us,
                int32_t gpu_milli, int32_t cpu_milli)
{
    struct job_row row = job_row_empty();

    row.name = name;
    row.name_length = strlen(name);
    row.submit_us = submit_us;
    row.duration_us = duration_us;
    row.gpu_milli = gpu_milli;
    row.cpu_milli = cpu_milli;
    row.mem_mib = 7;
    row.hint_us[HINT_GROUP] = submit_us + 1;
    row.gpu_type = names_add(&f->jobs.names, "T4", 2);
    cr_assert(jobs_add(&f->jobs, &row) >= 0);
}

static enum status run(struct fixture *f, int64_t num_jobs, int64_t seed, int64_t rate)
{
    struct pai_sampling sampling = {num_jobs, seed, rate};

    return pai_workload(&f->preparation, &sampling, &f->err);
}

static void expect_names(const struct job_table *t, const char *const *want, int32_t n)
{
    cr_assert_eq(t->n_jobs, n, "%d jobs", t->n_jobs);
    for (int32_t i = 0; i < n; i++)
        cr_expect_str_eq(names_text(&t->job_names, i), want[i], "job %d is %s", i,
                         names_text(&t->job_names, i));
}

Test(pai_workload, times_are_whole_seconds_and_requests_hundredths_within_the_cluster)
{
    static const struct {
        int64_t submit_us, duration_us;
        int32_t gpu_milli, cpu_milli;
        int64_t want_submit_s, want_duration_s;
        int32_t want_gpu_milli, want_cpu_milli;
    } rows[] = {
        {0, 90000000, 500, 6000, 0, 90, 500, 6000},
        {2500000, 1999999, 125, 375, 2, 1, 120, 380}, /* halves: 2, 12 and 38 are even */
        {3500000, 500000, 285, 145, 4, 1, 280, 140},  /* 100 x 0.285 is 28.499999999999996 */
        {-500000, 0, 5, 15, 0, 1, 0, 20},
        {-1500000, -7000000, 1004, 1006, -2, 1, 1000, 1010},
        {1499999, 2000000, 9000, 20010, 1, 2, 8000, 20000}, /* cut to all of the cluster's */
        {1500001, 3000001, INT32_MAX, INT32_MAX, 2, 3, 8000, 20000},
    };
    enum { N = sizeof rows / sizeof *rows };
    struct fixture f;
    char name[16];

    start(&f);
    for (int i = 0; i < N; i++) {
        snprintf(name, sizeof name, "%d", i);
        add(&f, name, rows[i].submit_us, rows[i].duration_us, rows[i].gpu_milli, rows[i].cpu_milli);
    }
    cr_assert_eq(jobs_close(&f.jobs, &f.err), ST_OK);
    cr_assert_eq(run(&f, 0, 42, -1), ST_OK, "%s", f.err.text);
    cr_assert_eq(f.jobs.n_jobs, N);
    for (int i = 0; i < N; i++) {
        cr_expect_eq(f.jobs.submit_us[i], rows[i].want_submit_s * US_PER_S, "row %d", i);
        cr_expect_eq(f.jobs.duration_us[i], rows[i].want_duration_s * US_PER_S, "row %d", i);
        cr_expect_eq(f.jobs.gpu_milli[i], rows[i].want_gpu_milli, "row %d: %d", i,
                     f.jobs.gpu_milli[i]);
        cr_expect_eq(f.jobs.cpu_milli[i], rows[i].want_cpu_milli, "row %d: %d", i,
                     f.jobs.cpu_milli[i]);
        cr_expect_eq(f.jobs.mem_mib[i], 0, "row %d", i);
        cr_expect_eq(f.jobs.hint_us[i][HINT_GROUP], rows[i].submit_us + 1, "row %d", i);
        cr_expect_str_eq(names_text(&f.jobs.names, f.jobs.gpu_type[i]), "T4");
    }
    stop(&f);
}

Test(pai_workload, rows_come_in_order_of_id_numbers_by_value_then_names_by_bytes)
{
    static const char *const names[] = {"b", "10",  "9", "ab", "1234567890123456789",
                                        "a", "100", "7x"};
    static const char *const want[] = {"9",  "10", "100", "1234567890123456789",
                                       "7x", "a",  "ab",  "b"};
    struct fixture f;

    start(&f);
    for (int i = 0; i < 8; i++)
        add(&f, names[i], 0, US_PER_S, 1000, 0);
    cr_assert_eq(jobs_close(&f.jobs, &f.err), ST_OK);
    cr_assert_eq(run(&f, 0, 42, -1), ST_OK);
    expect_names(&f.jobs, want, 8);
    stop(&f);
}

Test(pai_workload, with_a_rate_jobs_arrive_in_batches_in_order_of_submission_then_id)
{
    static const struct {
        const char *name;
        int64_t submit_s, want_s;
    } rows[] = {{"12", 50, 60}, {"3", 50, 0}, {"5", 10, 0}, {"1", 900, 120}, {"2", 60, 60}};
    struct fixture f;

    start(&f);
    for (int i = 0; i < 5; i++)
        add(&f, rows[i].name, rows[i].submit_s * US_PER_S, US_PER_S, 1000, 0);
    cr_assert_eq(jobs_close(&f.jobs, &f.err), ST_OK);
    cr_assert_eq(run(&f, 0, 42, 2), ST_OK);
    for (int i = 0; i < 5; i++) {
        int32_t job = names_find(&f.jobs.job_names, rows[i].name, strlen(rows[i].name));
        cr_expect_eq(f.jobs.submit_us[job], rows[i].want_s * US_PER_S, "job %s", rows[i].name);
    }
    stop(&f);
}

static void add_numbered(struct fixture *f, int n)
{
    char name[16];

    for (int i = 0; i < n; i++) {
        snprintf(name, sizeof name, "%d", i);
        add(f, name, i * US_PER_S, US_PER_S, 1000, 0);
    }
    cr_assert_eq(jobs_close(&f->jobs, &f->err), ST_OK);
}

/* Two of random.seed(s); random.shuffle(list(range(21))): 19, 5 for 42 and 7, 19 for 7. */
Test(pai_workload, a_sample_is_the_head_of_the_shuffle_of_the_first_ten_times_as_many_rows_and_one)
{
    static const struct {
        int64_t seed;
        const char *want[2];
    } rows[] = {{42, {"5", "19"}}, {7, {"7", "19"}}};
    for (int i = 0; i < 2; i++) {
        struct fixture f;
        start(&f);
        add_numbered(&f, 25);
        cr_assert_eq(run(&f, 2, rows[i].seed, -1), ST_OK);
        expect_names(&f.jobs, rows[i].want, 2);
        cr_expect_eq(f.jobs.submit_us[1], 19 * US_PER_S);
        stop(&f);
    }
}

/* Of five rows shuffled, 3, 1, 2 come first. */
Test(pai_workload, a_file_shorter_than_the_limit_is_sampled_whole)
{
    static const char *const want[] = {"1", "2", "3"};
    struct fixture f;

    start(&f);
    add_numbered(&f, 5);
    cr_assert_eq(run(&f, 3, 42, -1), ST_OK);
    expect_names(&f.jobs, want, 3);
    stop(&f);
}

Test(pai_workload, a_sample_larger_than_the_file_is_the_file)
{
    static const char *const want[] = {"0", "1", "2"};
    struct fixture f;

    start(&f);
    add_numbered(&f, 3);
    cr_assert_eq(run(&f, 4, 42, -1), ST_OK);
    expect_names(&f.jobs, want, 3);
    stop(&f);
}

Test(pai_workload, a_rate_of_zero_is_refused_and_the_table_left_alone)
{
    struct fixture f;

    start(&f);
    add_numbered(&f, 3);
    cr_expect_eq(run(&f, 1, 42, 0), ST_USAGE);
    cr_expect_not_null(strstr(f.err.text, "arrival_rate"), "%s", f.err.text);
    cr_expect_eq(f.jobs.n_jobs, 3);
    stop(&f);
}

Test(pai_workload, a_job_of_two_tasks_is_refused_by_name)
{
    struct fixture f;

    start(&f);
    add(&f, "solo", 0, US_PER_S, 1000, 0);
    add(&f, "pair", 0, US_PER_S, 1000, 0);
    add(&f, "pair", 0, 2 * US_PER_S, 0, 1000);
    cr_assert_eq(jobs_close(&f.jobs, &f.err), ST_OK);
    cr_expect_eq(run(&f, 0, 42, -1), ST_INPUT);
    cr_expect_not_null(strstr(f.err.text, "pair has 2 tasks"), "%s", f.err.text);
    cr_expect_eq(f.jobs.n_jobs, 2);
    stop(&f);
}
