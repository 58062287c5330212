#include "sim/results/baseline.h"

#include "tests/leak.h"
#include "tests/made_run.h"
#include "tests/temp.h"

TestSuite(baseline, .fini = abort_on_leak);

static const struct baseline_metric *metric_of(const struct baseline *b, const char *name)
{
    for (size_t i = 0; i < b->n; i++)
        if (strcmp(b->metric[i].name, name) == 0)
            return &b->metric[i];
    return NULL;
}

static void expect_tolerance(const struct baseline *b, const char *name, const char *want)
{
    char text[48];
    cr_assert_str_eq(tolerance_text(&metric_of(b, name)->tolerance, text), want, "%s: %s", name,
                     text);
}

static void made_baseline(struct baseline *b, struct error *err)
{
    struct made_run m;
    struct summary s;
    made_run(&m);
    cr_assert_eq(summary_of_result(&s, &m.request, &m.result, "base", NULL, err), ST_OK);
    cr_assert_eq(baseline_of(b, &s, err), ST_OK);
    summary_free(&s);
    made_run_free(&m);
}

Test(baseline, what_is_written_is_read_back)
{
    struct temp_file t = temp_text(".json", "");
    struct baseline b, back;
    struct output out;
    struct error err;
    made_baseline(&b, &err);
    cr_assert_eq(baseline_tolerate(&b,
                                   "jct_mean_s=\xc2\xb1"
                                   "2.5%",
                                   &err),
                 ST_OK);
    cr_assert_eq(output_open(&out, t.path, &err), ST_OK);
    baseline_write(&b, out.file);
    cr_assert_eq(output_close(&out, ST_OK, &err), ST_OK);

    cr_assert_eq(baseline_load(&back, t.path, &err), ST_OK, "%s", err.text);
    cr_assert_eq(back.n, (size_t)N_METRICS + 1);
    cr_assert_str_eq(back.run, "base");
    cr_assert_str_eq(back.policy, "made");
    cr_assert_str_eq(back.trace_hash, "0000000000abcdef");
    cr_assert_eq(back.seed, 7);
    cr_assert_float_eq(metric_of(&back, "jct_mean_s")->value, 9.9375, 0);
    cr_assert_float_eq(metric_of(&back, "made_up")->value, 0.1, 0);
    cr_assert(isnan(metric_of(&back, "slowdown_mean")->value));
    expect_tolerance(&back, "jct_mean_s",
                     "\xc2\xb1"
                     "2.5%");
    expect_tolerance(&back, "wait_max_s", "5%");
    expect_tolerance(&back, "events", "");
    expect_tolerance(&back, "made_up", "");
    baseline_free(&b);
    baseline_free(&back);
    temp_remove(&t);
}

Test(baseline, tolerances_are_set_one_by_one_or_for_all_that_are_checked)
{
    struct baseline b;
    struct error err;
    made_baseline(&b, &err);
    cr_assert_eq(baseline_tolerate(&b, "1%", &err), ST_OK);
    expect_tolerance(&b, "jct_mean_s", "1%");
    expect_tolerance(&b, "throughput_gpus", "1%");
    expect_tolerance(&b, "events", "");
    cr_assert_eq(baseline_tolerate(&b, "events=0", &err), ST_OK);
    expect_tolerance(&b, "events", "0");
    expect_tolerance(&b, "jct_mean_s", "1%");

    cr_assert_eq(baseline_tolerate(&b, "jct_mean=3%", &err), ST_USAGE);
    cr_assert_str_eq(err.text, "the baseline has no metric 'jct_mean'; is 'jct_mean_s' meant?");
    cr_assert_eq(baseline_tolerate(&b, "jct_mean_s=three", &err), ST_USAGE);
    cr_assert_eq(baseline_tolerate(&b, "=3%", &err), ST_USAGE);
    expect_tolerance(&b, "jct_mean_s", "1%");
    baseline_free(&b);
}

Test(baseline, one_that_is_missing_has_its_own_message)
{
    struct baseline b;
    struct error err;
    cr_assert_eq(baseline_load(&b, "/nonexistent/base.json", &err), ST_INPUT);
    cr_assert_not_null(strstr(err.text, "/nonexistent/base.json: there is no baseline; colosim "
                                        "check --save"),
                       "%s", err.text);
}

Test(baseline, a_wrong_file_is_refused_and_the_fault_named)
{
    static const struct {
        const char *text, *want;
    } row[] = {
        {"", "'[' or '{' expected"},
        {"{\"a\": 1,\n  oops}", ":2:"},
        {"{}", "not a baseline"},
        {"[1]", "not a baseline"},
        {"{\"colosim_baseline\": 2, \"metrics\": {}}", "baseline version 2"},
        {"{\"colosim_baseline\": 1, \"metrics\": {}}", "holds no metric"},
        {"{\"colosim_baseline\": 1, \"metrics\": {\"x\": 5}}", "metric x: \"value\" must be"},
        {"{\"colosim_baseline\": 1, \"metrics\": {\"x\": {\"value\": \"5\"}}}", "metric x"},
        {"{\"colosim_baseline\": 1, \"metrics\": {\"x\": {\"value\": 5, \"tolerance\": 3}}}",
         "metric x: \"tolerance\" must be"},
        {"{\"colosim_baseline\": 1, \"metrics\": {\"x\": {\"value\": 5, \"tolerance\": \"-3%\"}}}",
         "metric x: \"tolerance\" must be"},
        {"{\"colosim_baseline\": 1, \"metrics\": {\"x\": {\"value\": 5}, \"x\": {\"value\": 6}}}",
         "duplicate"},
    };
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        struct temp_file t = temp_text(".json", row[i].text);
        struct baseline b;
        struct error err;
        cr_assert_eq(baseline_load(&b, t.path, &err), ST_INPUT, "row %zu", i);
        cr_assert(strncmp(err.text, t.path, strlen(t.path)) == 0, "row %zu: %s", i, err.text);
        cr_assert_not_null(strstr(err.text, row[i].want), "row %zu: %s", i, err.text);
        temp_remove(&t);
    }
}

Test(baseline, one_written_by_hand_needs_no_more_than_a_value)
{
    struct temp_file t =
        temp_text(".json", "{\"colosim_baseline\": 1, \"metrics\": "
                           "{\"jct_mean_s\": {\"value\": 100}, "
                           "\"wait_max_s\": {\"value\": null, \"tolerance\": null},"
                           "\"makespan_s\": {\"value\": 1, \"tolerance\": \"0.5\"}}}");
    struct baseline b;
    struct error err;
    cr_assert_eq(baseline_load(&b, t.path, &err), ST_OK, "%s", err.text);
    cr_assert_eq(b.n, 3);
    cr_assert_null(b.policy);
    expect_tolerance(&b, "jct_mean_s", "");
    expect_tolerance(&b, "makespan_s", "0.5");
    cr_assert(isnan(metric_of(&b, "wait_max_s")->value));
    baseline_free(&b);
    temp_remove(&t);
}
