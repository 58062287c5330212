/* Estimates of durations: told, learned, or an oracle's. */
#include "policies/lucid/estimate.h"
#include "tests/leak.h"
#include "tests/lucid_lab.h"

#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

TestSuite(estimate, .fini = abort_on_leak, .timeout = 60);

/* Estimates and the view they look at. */
struct world {
    struct lab l;
    struct view view;
    struct arena scratch;
    struct estimate_config config;
    struct estimates e;
};

static enum status open_world(struct world *w, struct error *err)
{
    w->view = (struct view){.jobs = &w->l.jobs, .rng = w->l.rng, .scratch = &w->scratch};
    return estimates_init(&w->e, &w->config, &w->l.tables[0], &w->view, &w->l.arena, err);
}

static double of(const struct world *w, const char *job)
{
    return estimate_s(&w->e, &w->view, lab_job(&w->l, job));
}

/* The job has ended, and the estimates are told so. */
static void ends(struct world *w, const char *name)
{
    int32_t job = lab_job(&w->l, name);
    w->l.jobs.status[job] = JOB_DONE;
    w->view.finished = &job;
    w->view.n_finished = 1;
    estimates_learn(&w->e, &w->view);
    w->view.n_finished = 0;
}

static void close_world(struct world *w)
{
    arena_free(&w->scratch);
    lab_free(&w->l);
}

Test(estimate, a_table_tells_and_what_is_negative_or_missing_is_the_default)
{
    static const char *const tables[] = {"job_id,priority\na,100\nb,-7\n",
                                         "x,job,estimate_s\n0,a,100\n0,b,-7\n"};
    for (int i = 0; i < 2; i++) {
        struct world w = {.config = {.source = ESTIMATE_AUTO, .default_s = 1000}};
        lab_jobs(&w.l, "a 0 5 1\nb 0 5 1\nc 0 5 1");
        lab_table(&w.l, 0, tables[i]);
        cr_assert_eq(open_world(&w, NULL), ST_OK);
        cr_assert_float_eq(of(&w, "a"), 100, 1e-12);
        cr_assert_float_eq(of(&w, "b"), 1000, 1e-12);
        cr_assert_float_eq(of(&w, "c"), 1000, 1e-12);
        close_world(&w);
    }
}

Test(estimate, a_table_without_its_columns_is_refused)
{
    struct world w = {.config = {.source = ESTIMATE_AUTO}};
    struct error err = {{0}};
    lab_jobs(&w.l, "a 0 5 1");
    lab_table(&w.l, 0, "job_id,guess\na,100\n");
    cr_assert_eq(open_world(&w, &err), ST_INPUT);
    cr_assert_not_null(strstr(err.text, "job_id,priority"), "%s", err.text);
    close_world(&w);
}

Test(estimate, history_is_the_median_of_the_most_alike_that_have_ended)
{
    struct world w = {.config = {.source = ESTIMATE_HISTORY, .default_s = 1000}};
    lab_jobs(&w.l, "new 0 1 2 1 net\none 0 10 2 1 net\ntwo 0 30 2 1 net\nthree 0 400 2 1 net\n"
                   "wide 0 100 4 1 net\nelse 0 7 1 1 other\nodd 0 1 1 1 odd");
    cr_assert_eq(open_world(&w, NULL), ST_OK);
    cr_assert_float_eq(of(&w, "new"), 1000, 1e-12, "nothing has ended");
    ends(&w, "else");
    cr_assert_float_eq(of(&w, "new"), 7, 1e-12, "all there is");
    ends(&w, "wide");
    cr_assert_float_eq(of(&w, "new"), 100, 1e-12, "the same workload");
    cr_assert_float_eq(of(&w, "odd"), 53.5, 1e-12, "of all, the mean of the middle two");
    ends(&w, "one");
    cr_assert_float_eq(of(&w, "new"), 10, 1e-12, "the same workload and GPUs");
    ends(&w, "two");
    cr_assert_float_eq(of(&w, "new"), 20, 1e-12);
    ends(&w, "three");
    cr_assert_float_eq(of(&w, "new"), 30, 1e-12);
    w.l.jobs.hint_us[lab_job(&w.l, "odd")][HINT_USER] = 12 * US_PER_S;
    cr_assert_float_eq(of(&w, "odd"), 12, 1e-12, "the trace's own word before that of all");
    close_world(&w);
}

Test(estimate, a_job_counts_once_and_only_when_it_has_ended)
{
    struct world w = {.config = {.source = ESTIMATE_HISTORY, .default_s = 1000}};
    lab_jobs(&w.l, "a 0 10 1\nb 0 20 1\nc 0 60 1");
    cr_assert_eq(open_world(&w, NULL), ST_OK);
    int32_t job = 0;
    w.view.finished = w.view.profiled = &job;
    w.view.n_finished = w.view.n_profiled = 1;
    estimates_learn(&w.e, &w.view);
    cr_assert_float_eq(of(&w, "c"), 1000, 1e-12, "one of its tasks ended, or its profile");
    w.l.jobs.status[0] = JOB_DONE;
    estimates_learn(&w.e, &w.view);
    estimates_learn(&w.e, &w.view);
    ends(&w, "b");
    cr_assert_float_eq(of(&w, "c"), 15, 1e-12);
    close_world(&w);
}

Test(estimate, an_oracle_errs_as_much_as_it_says)
{
    enum { N = 4000 };
    struct world w = {.config = {.source = ESTIMATE_ORACLE, .error = 0.5}};
    struct job_row row = job_row_empty();
    double sum = 0, squares = 0;
    char name[16];
    row.name = name;
    row.duration_us = 100 * US_PER_S;
    row.gpu_milli = 1000;
    for (int i = 0; i < N; i++) {
        row.name_length = (size_t)snprintf(name, sizeof name, "%d", i);
        cr_assert_geq(jobs_add(&w.l.jobs, &row), 0);
    }
    cr_assert_eq(jobs_close(&w.l.jobs, NULL), ST_OK);
    w.l.rng = gsl_rng_alloc(gsl_rng_mt19937);
    cr_assert_eq(open_world(&w, NULL), ST_OK);
    for (int32_t j = 0; j < N; j++) {
        double x = log(estimate_s(&w.e, &w.view, j) / 100);
        sum += x;
        squares += x * x;
    }
    double mean = sum / N, sd = sqrt(squares / N - mean * mean);
    cr_assert_float_eq(mean, 0, 4 * 0.5 / sqrt(N));
    cr_assert_float_eq(sd, 0.5, 4 * 0.5 / sqrt(2 * N));
    gsl_rng_free(w.l.rng);
    close_world(&w);
}
