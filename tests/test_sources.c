#include "sim/run/sources.h"

#include "tests/leak.h"
#include "tests/temp.h"

TestSuite(sources, .fini = abort_on_leak);

static struct error err;

static struct run_request request(const char *const *pairs)
{
    struct run_request q;
    cr_assert_eq(run_request_init(&q, &err), ST_OK);
    for (; *pairs != NULL; pairs++)
        cr_assert_eq(run_set(&q, *pairs, &err), ST_OK, "%s", err.text);
    return q;
}

Test(sources, are_shared_by_what_is_read_alike)
{
    static const char *const ask[][4] = {
        {"seed=1"},                         /* the embedded trace of seed 1 */
        {"seed=1", "policy=sjf", "load=2"}, /* the same, whatever is made of it */
        {"seed=2"},                         /* another draw */
        {"seed=2", "trace.synth_seed=1"}, /* its own key, though the jobs are those of the first */
        {"seed=3", "trace.synth_seed=1"}, /* the same as the one before */
        {"seed=1", "trace=a.csv"},        /* a file */
        {"seed=9", "trace=a.csv"},        /* does not depend on the seed */
        {"trace=a.csv", "format=csv"},    /* but on how it is read */
        {"trace=a.csv", "trace.batch=session"},
    };
    static const int32_t want[] = {0, 0, 1, 2, 2, 3, 3, 4, 5};
    struct sources s = {0};
    for (size_t i = 0; i < sizeof ask / sizeof *ask; i++) {
        struct run_request q = request(ask[i]);
        int32_t id;
        cr_assert_eq(sources_add(&s, &q, &id, &err), ST_OK);
        cr_assert_eq(id, want[i], "request %zu", i);
        run_request_free(&q);
    }
    sources_free(&s);
}

Test(sources, are_read_once_and_freed_with_the_last_user)
{
    struct temp_file file =
        temp_text(".csv", "job,submit_s,duration_s,gpu\na,0,1,1\nb,0,x,1\nc,1,2,1\n");
    char pair[300];
    snprintf(pair, sizeof pair, "trace=%s", file.path);
    struct sources s = {0};
    struct run_request q = request((const char *const[]){pair, NULL});
    const struct trace *first, *second;
    int32_t id;
    cr_assert_eq(sources_add(&s, &q, &id, &err), ST_OK);
    cr_assert_eq(sources_add(&s, &q, &id, &err), ST_OK);
    cr_assert_eq(sources_take(&s, id, &q, &first, &err), ST_OK);
    temp_remove(&file); /* so the second cannot have read it again */
    cr_assert_eq(sources_take(&s, id, &q, &second, &err), ST_OK);
    cr_assert_eq(first, second);
    sources_leave(&s, id);
    cr_assert_eq(first->jobs.n_jobs, 2);
    struct trace copy;
    cr_assert_eq(trace_copy(first, &copy, &err), ST_OK);
    sources_leave(&s, id);
    cr_assert_eq(first->jobs.n_jobs, 0, "freed");
    cr_assert_eq(copy.jobs.n_jobs, 2);
    cr_assert_str_eq(names_text(&copy.jobs.job_names, 1), "c");
    cr_assert_eq(names_find(&copy.jobs.job_names, "c", 1), 1);
    cr_assert_eq(names_add(&copy.jobs.job_names, "d", 1), 2, "a copy can grow");
    cr_assert_eq(copy.jobs.submit_us[1], 1000000);
    cr_assert_eq(copy.report.n_dropped, 1);
    cr_assert_eq(copy.report.n_reasons, 1);
    cr_assert_eq(copy.report.reason[0].at[0].line, 3);
    cr_assert_str_eq(copy.report.file[0], strchr(pair, '=') + 1);
    trace_free(&copy);
    run_request_free(&q);
    sources_free(&s);
}

Test(sources, that_cannot_be_read_fail_for_every_user)
{
    struct sources s = {0};
    struct run_request q = request((const char *const[]){"trace=/no/such/file.csv", NULL});
    const struct trace *trace;
    int32_t id;
    for (int i = 0; i < 2; i++)
        cr_assert_eq(sources_add(&s, &q, &id, &err), ST_OK);
    for (int i = 0; i < 2; i++) {
        err.text[0] = '\0';
        cr_assert_eq(sources_take(&s, id, &q, &trace, &err), ST_INPUT);
        cr_assert_not_null(strstr(err.text, "/no/such/file.csv"));
        sources_leave(&s, id);
    }
    run_request_free(&q);
    sources_free(&s);
}
