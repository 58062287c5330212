/* What a table of profiles says of each job. */
#include "policies/peers/facts.h"
#include "tests/lab.h"
#include "tests/leak.h"

#include <criterion/criterion.h>
#include <string.h>

TestSuite(facts, .fini = abort_on_leak, .timeout = 60);

static const char *names[] = {"workload", "util", "half"};
static const char *cells[] = {"x", ".25", "", "y", "0.5", "2"};
static const struct table table = {2, 3, names, cells, NULL, NULL, {0}};
static const struct fact util = {"util", .6, 0, 1, true}, half = {"half", .1, 0, 1, false};

static enum status look(const struct table *t, const struct fact *column, double *out,
                        struct error *err)
{
    struct lab l = {0};
    struct arena arena = {0}, scratch = {0};
    const double *of_job = NULL;
    lab_jobs(&l, "a 0 1 1 1 x\nb 0 1 1 1 z\nc 0 1 1 1 y\nd 0 1 1\ne 0 1 1 1 x");
    struct view v = {.jobs = &l.jobs, .scratch = &scratch};
    enum status status = facts_of_jobs(t, "it.profiles", column, &v, &arena, &of_job, err);
    for (int j = 0; status == ST_OK && j < 5; j++)
        out[j] = of_job[j];
    arena_free(&arena);
    arena_free(&scratch);
    lab_free(&l);
    return status;
}

Test(facts, a_job_has_its_workloads_number_or_the_initial_one)
{
    double of_job[5];
    struct error err = {{0}};
    cr_assert_eq(look(&table, &util, of_job, &err), ST_OK, "%s", err.text);
    const double want[] = {.25, .6, .5, .6, .25};
    for (int j = 0; j < 5; j++)
        cr_expect_float_eq(of_job[j], want[j], 1e-12, "job %d: %g", j, of_job[j]);
}

Test(facts, without_a_table_or_the_column_all_have_the_initial_one)
{
    double of_job[5];
    struct error err = {{0}};
    const struct fact other = {"other", .3, 0, 1, false};
    cr_assert_eq(look(NULL, &util, of_job, &err), ST_OK);
    cr_assert_float_eq(of_job[0], .6, 1e-12);
    cr_assert_eq(look(&table, &other, of_job, &err), ST_OK);
    cr_assert_float_eq(of_job[0], .3, 1e-12);
}

Test(facts, what_is_out_of_range_is_named)
{
    double of_job[5];
    struct error err = {{0}};
    cr_assert_eq(look(&table, &half, of_job, &err), ST_INPUT);
    cr_assert_str_eq(err.text, "it.profiles, y: half is '2', want 0 to 1", "%s", err.text);
}

Test(facts, a_table_without_workloads_is_refused)
{
    double of_job[5];
    struct error err = {{0}};
    const char *wrong[] = {"name", "util", "half"};
    const struct table nameless = {2, 3, wrong, cells, NULL, NULL, {0}};
    cr_assert_eq(look(&nameless, &util, of_job, &err), ST_INPUT);
    cr_assert_not_null(strstr(err.text, "no column workload"));
}
