#include "sim/results/report.h"

#include "tests/ask.h"
#include "tests/leak.h"
#include "tests/made_run.h"

#include <jansson.h>

TestSuite(report, .fini = abort_on_leak);

Test(report, numbers_have_about_six_digits_and_no_exponent)
{
    static const struct {
        double value;
        const char *want;
    } row[] = {
        {NAN, "-"},
        {INFINITY, "-"},
        {0, "0"},
        {-0.0, "0"},
        {-0.00001, "0"},
        {55, "55"},
        {99.1, "99.1"},
        {234.0 / 11, "21.2727"},
        {1.0 / 3, "0.3333"},
        {1234.5678, "1234.57"},
        {123456.789, "123457"},
        {12345678.9, "12345679"},
        {100, "100"},
        {1200, "1200"},
        {-3.25, "-3.25"},
    };
    char buffer[32];
    for (size_t i = 0; i < sizeof row / sizeof *row; i++)
        cr_assert_str_eq(report_number(row[i].value, buffer), row[i].want, "row %zu: %s", i,
                         buffer);
}

static struct summary made_summary(const char *name, const char *db)
{
    struct made_run m;
    struct summary s;
    made_run(&m);
    cr_assert_eq(summary_of_result(&s, &m.request, &m.result, name, db, &m.err), ST_OK);
    made_run_free(&m);
    return s;
}

static void expect_in(const char *text, const char *part)
{
    cr_assert_not_null(strstr(text, part), "no \"%s\" in\n%s", part, text);
}

Test(report, the_summary_names_who_waited_longest_how_sizes_fared_and_why_jobs_are_left)
{
    struct summary s = made_summary("base", "r.db");
    struct printing p;
    s.metric[METRIC_jct_p90_s] = 12345.678;
    report_run(printing_start(&p), &s);
    const char *text = printing_end(&p);
    expect_in(text, "base: policy made, seed 7, complete; stored in r.db\n");
    expect_in(text, "jobs: 4 completed, 1 rejected, 1 unfinished\n");
    expect_in(text, "reject (1): too wide\n");
    expect_in(text, "stall (1): nothing moves\n");
    expect_in(text, "longest wait: 9 s (b,\"2\")\n");
    expect_in(text, "percentiles: linear interpolation between order statistics");
    expect_in(text, "jct_*_s               9.9375           -     12345.7           -\n");
    expect_in(text, "<1                         2           0       5.125\n");
    expect_in(text, "1                          1           0          10\n");
    expect_in(text, "3-4                        1           9        19.5\n");
    expect_in(text, "throughput_gpus            2   reference GPU-seconds");
    expect_in(text, "made_up                  0.1\n");
    cr_assert_null(strstr(text, ">8"), "a class without completed jobs is left out");
    free(p.text);
    summary_free(&s);
}

Test(report, an_interrupted_run_says_how_far_it_came)
{
    struct summary s = made_summary("x", NULL);
    struct printing p;
    s.status = "interrupted";
    report_run(printing_start(&p), &s);
    expect_in(printing_end(&p),
              "x: policy made, seed 7, interrupted at 20.5 s of simulated time\n");
    free(p.text);
    summary_free(&s);
}

static json_t *parsed(const char *text)
{
    json_error_t problem;
    json_t *root = json_loads(text, 0, &problem);
    cr_assert_not_null(root, "%s in %s", problem.text, text);
    return root;
}

Test(report, json_has_every_metric_exactly_and_null_for_what_cannot_be_told)
{
    struct summary s = made_summary("a \"b\"\\\xff", NULL);
    struct printing p;
    s.metric[METRIC_jct_p50_s] = 0.1 + 0.2;
    report_json(printing_start(&p), &s);
    const char *text = printing_end(&p);
    cr_assert_eq(strchr(text, '\n') - text, (long)strlen(text) - 1, "one line");
    json_t *root = parsed(text), *metrics = json_object_get(root, "metrics");
    json_t *timing = json_object_get(root, "timing");
    cr_assert_str_eq(json_string_value(json_object_get(root, "run")), "a \"b\"\\\\xFF");
    cr_assert_str_eq(json_string_value(json_object_get(root, "policy")), "made");
    cr_assert_eq(json_integer_value(json_object_get(root, "seed")), 7);
    cr_assert_str_eq(json_string_value(json_object_get(root, "status")), "complete");
    cr_assert(json_is_null(json_object_get(root, "label")));
    cr_assert(json_is_null(json_object_get(root, "db")));
    cr_assert_eq(json_object_size(metrics), N_METRICS + 1);
    cr_assert_float_eq(json_number_value(json_object_get(metrics, "jct_mean_s")), 9.9375, 0);
    cr_assert_float_eq(json_number_value(json_object_get(metrics, "jct_p50_s")), 0.1 + 0.2, 0);
    cr_assert_float_eq(json_number_value(json_object_get(metrics, "made_up")), 0.1, 0);
    cr_assert(json_is_null(json_object_get(metrics, "slowdown_mean")));
    cr_assert_eq(json_object_size(timing), N_TIMINGS);
    cr_assert_float_eq(json_number_value(json_object_get(timing, "wall_s")), 0.5, 0);
    json_decref(root);
    free(p.text);
    summary_free(&s);
}

static struct summary compared_run(const char *name, const char *policy, double jct, double util)
{
    struct summary s = {.name = name, .policy = policy, .status = "complete"};
    for (int i = 0; i < N_METRICS; i++)
        s.metric[i] = NAN;
    s.metric[METRIC_jct_mean_s] = jct;
    s.metric[METRIC_gpu_alloc_mean] = util;
    return s;
}

Test(report, compare_averages_seeds_and_relates_to_the_first_policy)
{
    /* fifo: (100 + 300) / 2 = 200; sjf: 150, 0.75 of it; the interrupted run counts nowhere */
    struct summary run[] = {
        compared_run("f1", "fifo", 100, 0.5),
        compared_run("s1", "sjf", 150, NAN),
        compared_run("f2", "fifo", 300, 0.7),
        compared_run("s2", "sjf", 1, 1),
    };
    struct printing p;
    struct error err;
    run[3].status = "interrupted";
    run[0].configured = run[2].configured = "";
    run[1].configured = run[3].configured = "strict=true, other=2";
    run[0].others = "place=spread";
    cr_assert_eq(report_compare(printing_start(&p), run, 4, &err), ST_OK);
    const char *text = printing_end(&p);
    expect_in(text, "first row)\nfifo: as by default\nsjf: strict=true, other=2\n"
                    "all: place=spread\nleft out: ");
    expect_in(text, "\nfifo       2         200  x1.000 ");
    expect_in(text, "\nsjf        1         150  x0.750 ");
    expect_in(text, "         0.6  x1.000 ");
    expect_in(text, "left out: s2 (interrupted)\n");
    cr_assert_null(strstr(text, "nan"));
    free(p.text);
}

Test(report, compare_gives_intervals_over_seeds_and_pairs_them_for_ratios)
{
    /* Two seeds, so of the means of two draws a quarter each is at an end: the ends are the values.
     * sjf is half of fifo at either seed, and so is every drawn ratio, whatever the seeds do. */
    struct summary run[] = {
        compared_run("f1", "fifo", 100, 0.5), compared_run("f2", "fifo", 300, 0.5),
        compared_run("s1", "sjf", 50, 0.5),   compared_run("s2", "sjf", 150, 0.5),
        compared_run("l1", "las", 200, 0.5),
    };
    struct printing p;
    struct error err;
    run[1].seed = run[3].seed = 1;
    cr_assert_eq(report_compare(printing_start(&p), run, 5, &err), ST_OK);
    const char *text = printing_end(&p);
    expect_in(text, "\nfifo       2         200  x1.000 ");
    expect_in(text, "\n        from         100  x1.000 ");
    expect_in(text, "\n          to         300  x1.000 ");
    expect_in(text, "\nsjf        2         100  x0.500 ");
    expect_in(text, "\n        from          50  x0.500 ");
    expect_in(text, "\n          to         150  x0.500 ");
    expect_in(text, "\nlas        1         200  x1.000 ");
    expect_in(strstr(text, "\nlas"),
              "x1.000           -       -           -       -           -       -"
              "         0.5  x1.000           -       -           -       -           -       -\n"
              "(from, to: 95 %");
    free(p.text);
}

Test(report, the_list_has_one_line_a_run)
{
    struct summary run[] = {compared_run("a-long-name-of-a-run", "fifo", 21.2727, 1),
                            compared_run("b", "easy-backfill", NAN, 1)};
    struct printing p;
    run[0].metric[METRIC_jobs_completed] = 11;
    run[0].created = "2024-05-06T07:08:09Z";
    run[1].status = "interrupted";
    report_list(printing_start(&p), run, 2);
    cr_assert_str_eq(
        printing_end(&p),
        "run                   policy           seed  status       completed   mean JCT s  "
        "created\n"
        "a-long-name-of-a-run  fifo                0  complete            11      21.2727  "
        "2024-05-06T07:08:09Z\n"
        "b                     easy-backfill       0  interrupted          -            -  -\n");
    free(p.text);
}
