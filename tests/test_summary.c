#include "sim/results/summary.h"

#include "tests/leak.h"
#include "tests/made_run.h"
#include "tests/temp.h"

TestSuite(summary, .fini = abort_on_leak);

Test(summary, sizes_are_told_by_the_gpus_of_a_job)
{
    static const struct {
        int64_t milli;
        const char *class;
    } row[] = {{0, "none"},   {1, "<1"},     {999, "<1"},   {1000, "1"},
               {1001, "2"},   {2000, "2"},   {2500, "3-4"}, {4000, "3-4"},
               {5000, "5-8"}, {8000, "5-8"}, {8001, ">8"},  {1 << 30, ">8"}};
    for (size_t i = 0; i < sizeof row / sizeof *row; i++)
        cr_assert_str_eq(size_class_names[size_class_of(row[i].milli)], row[i].class, "%lld",
                         (long long)row[i].milli);
}

static const struct size_class *class_of(const struct summary *s, const char *name)
{
    for (int i = 0; i < N_SIZE_CLASSES; i++)
        if (strcmp(size_class_names[i], name) == 0)
            return &s->by_size[i];
    return NULL;
}

/* What made_run.h derives by hand. */
static void expect_made(const struct summary *s)
{
    double value = 0;
    cr_assert_str_eq(s->policy, "made");
    cr_assert_str_eq(s->truth, "contention");
    cr_assert_str_eq(s->status, "complete");
    cr_assert_str_eq(s->cluster, "2x2:A100");
    cr_assert_str_eq(s->trace_hash, "0000000000abcdef");
    cr_assert_null(s->label);
    cr_assert_eq(s->seed, 7);
    cr_assert_eq(s->end_us, 20500000);
    cr_assert_str_eq(s->longest, "b,\"2\"");
    cr_assert_float_eq(s->metric[METRIC_jct_mean_s], 9.9375, 0);
    cr_assert(isnan(s->metric[METRIC_slowdown_mean]));
    cr_assert(summary_metric(s, "made_up", &value));
    cr_assert_float_eq(value, 0.1, 0);
    cr_assert(summary_metric(s, "wait_max_s", &value));
    cr_assert_float_eq(value, 9, 0);
    cr_assert_not(summary_metric(s, "no_such_metric", &value));
    cr_assert_float_eq(s->timing[TIMING_DECIDE_MEAN_MS], 1, 1e-12);
    cr_assert_float_eq(s->timing[TIMING_DECIDE_P99_MS], 250, 1e-12);
    cr_assert_float_eq(s->timing[TIMING_WALL_S], 0.5, 0);
    cr_assert_float_eq(s->timing[TIMING_CPU_S], 0.25, 0);
    cr_assert_float_eq(s->timing[TIMING_PEAK_RSS_MIB], 12, 0);

    cr_assert_eq(class_of(s, "<1")->n_jobs, 2);
    cr_assert_float_eq(class_of(s, "<1")->wait_s_mean, 0, 0);
    cr_assert_float_eq(class_of(s, "<1")->jct_s_mean, 5.125, 1e-12);
    cr_assert_eq(class_of(s, "1")->n_jobs, 1);
    cr_assert_float_eq(class_of(s, "1")->jct_s_mean, 10, 1e-12);
    cr_assert_eq(class_of(s, "3-4")->n_jobs, 1);
    cr_assert_float_eq(class_of(s, "3-4")->wait_s_mean, 9, 1e-12);
    cr_assert_float_eq(class_of(s, "3-4")->jct_s_mean, 19.5, 1e-12);
    cr_assert_eq(class_of(s, ">8")->n_jobs, 0, "a rejected job is in no class");

    cr_assert_eq(s->n_events, 2);
    cr_assert_str_eq(s->event[0].kind, "reject");
    cr_assert_str_eq(s->event[0].text, "too wide");
    cr_assert_eq(s->event[0].n, 1);
    cr_assert_str_eq(s->event[1].kind, "stall");
}

Test(summary, of_a_run_that_just_ended)
{
    struct made_run m;
    struct summary s;
    made_run(&m);
    cr_assert_eq(summary_of_result(&s, &m.request, &m.result, NULL, NULL, &m.err), ST_OK);
    made_run_free(&m);
    expect_made(&s);
    cr_assert_str_eq(s.name, "made-7");
    cr_assert_null(s.db);
    summary_free(&s);
}

Test(summary, read_from_the_database_is_the_same)
{
    struct temp_file t = temp_text(".db", "");
    struct made_run m;
    struct summary s;
    struct store store;
    char name[128];
    made_run(&m);
    cr_assert_eq(store_open(&store, t.path, &m.err), ST_OK);
    cr_assert_eq(store_run(&store, &m.request, &m.result, name, &m.err), ST_OK);
    store_close(&store);
    cr_assert_eq(store_open_read(&store, t.path, &m.err), ST_OK);
    cr_assert_eq(summary_read(&s, &store, 1, &m.err), ST_OK, "%s", m.err.text);
    cr_assert_eq(summary_read_jobs(&s, &store, 1, &m.err), ST_OK, "%s", m.err.text);
    expect_made(&s);
    cr_assert_str_eq(s.name, "made-7");
    cr_assert_str_eq(s.db, t.path);
    cr_assert_str_eq(s.program, COLOSIM_VERSION);
    summary_free(&s);
    cr_assert_eq(summary_read(&s, &store, 2, &m.err), ST_OUTPUT, "there is no run 2");
    store_close(&store);
    made_run_free(&m);
    temp_remove(&t);
}

Test(summary, events_of_one_kind_and_text_are_counted_together)
{
    struct made_run m;
    struct summary s;
    made_run(&m);
    m.result.log.happening[1] = m.result.log.happening[0];
    cr_assert_eq(summary_of_result(&s, &m.request, &m.result, "x", "y", &m.err), ST_OK);
    cr_assert_eq(s.n_events, 1);
    cr_assert_eq(s.event[0].n, 2);
    cr_assert_str_eq(s.name, "x");
    cr_assert_str_eq(s.db, "y");
    summary_free(&s);
    made_run_free(&m);
}

Test(summary, without_a_completed_job_nobody_waited_longest)
{
    struct made_run m;
    struct summary s;
    made_run(&m);
    for (int j = 0; j < 6; j++)
        m.result.trace.jobs.status[j] = JOB_REJECTED;
    cr_assert_eq(summary_of_result(&s, &m.request, &m.result, NULL, NULL, &m.err), ST_OK);
    cr_assert_null(s.longest);
    cr_assert(isnan(class_of(&s, "1")->jct_s_mean));
    summary_free(&s);
    made_run_free(&m);
}
