#include "calib/saturation.h"

#include "tests/leak.h"
#include "tests/shared.h"
#include "traces/table_file.h"

#include <criterion/criterion.h>
#include <gsl/gsl_randist.h>
#include <math.h>
#include <string.h>

TestSuite(saturation, .fini = abort_on_leak);

static const double t0_s = .01, rate_inf = 1000, speedup = 2.5, launch = 1.2, lost = .2;

/* Six batches with and without mixed precision, and one checkpointed, off by noise. */
static struct solo_rates made(struct solo_rate at[], gsl_rng *rng, double sigma)
{
    struct solo_rates r = {.at = at};
    names_add(&r.workloads, "x", 1);
    for (int i = 0; i < 13; i++) {
        bool amp = i % 2 == 1, ck = i == 12;
        double bs = ck ? 128 : 4 << (i / 2);
        double full = rate_inf * (amp ? speedup : 1) * (ck ? 1 - lost : 1);
        double step_s = t0_s * (amp ? launch : 1) + bs / full;
        double rate = bs / step_s * exp(sigma > 0 ? gsl_ran_gaussian(rng, sigma) : 0);
        at[r.n++] = (struct solo_rate){
            .bs = bs, .amp = amp, .ck = ck, .rate = rate, .step_s = bs / rate, .n_used = 1};
    }
    return r;
}

Test(saturation, what_made_the_rates_is_found_again)
{
    struct solo_rate at[13];
    struct solo_rates r = made(at, NULL, 0);
    struct saturation s;
    struct error err = {""};
    cr_assert_eq(saturation_fit(&s, &r, 0, &err), ST_OK, "%s", err.text);
    cr_assert_eq(s.n, 13);
    cr_assert_float_eq(s.t0_s.value, t0_s, 1e-7);
    cr_assert_float_eq(s.rate_inf.value, rate_inf, 1e-2);
    cr_assert_float_eq(s.amp_speedup.value, speedup, 1e-5);
    cr_assert_float_eq(s.launch_amp.value, launch, 1e-5);
    cr_assert_float_eq(s.ck_cost.value, lost, 1e-5);
    cr_assert(s.mape_pct < 1e-3);
    names_free(&r.workloads);
}

Test(saturation, standard_errors_are_the_scatter_of_repeated_measurements)
{
    enum { DRAWS = 400 };
    gsl_rng *rng = gsl_rng_alloc(gsl_rng_mt19937);
    double sum = 0, square = 0, se = 0;
    for (int i = 0; i < DRAWS; i++) {
        struct solo_rate at[13];
        struct solo_rates r = made(at, rng, .02);
        struct saturation s;
        struct error err = {""};
        cr_assert_eq(saturation_fit(&s, &r, 0, &err), ST_OK, "%s", err.text);
        sum += s.rate_inf.value;
        square += s.rate_inf.value * s.rate_inf.value;
        se += s.rate_inf.se / DRAWS;
        names_free(&r.workloads);
    }
    double sd = sqrt((square - sum * sum / DRAWS) / (DRAWS - 1));
    cr_assert_float_eq(se / sd, 1, .12, "se %g, scatter %g", se, sd);
    gsl_rng_free(rng);
}

/* Not enough to tell: what stays open, and what is not fitted at all. */
Test(saturation, what_the_measurements_cannot_tell_is_not_a_number)
{
    static const struct {
        struct solo_rate at[5];
        int32_t n, n_fitted;
        bool amp, launch_amp, rate_inf;
    } cases[] = {
        /* plain batches alone */
        {{{.bs = 1, .rate = 50}, {.bs = 10, .rate = 260}, {.bs = 100, .rate = 460}},
         3,
         3,
         false,
         false,
         true},
        /* one batch with AMP: its gain at saturation, with the same t0 */
        {{{.bs = 1, .rate = 50},
          {.bs = 10, .rate = 260},
          {.bs = 100, .rate = 460},
          {.bs = 100, .rate = 900, .amp = true}},
         4,
         4,
         true,
         false,
         true},
        /* launch-bound everywhere: no T_inf in sight */
        {{{.bs = 1, .rate = 100}, {.bs = 2, .rate = 201}, {.bs = 4, .rate = 399}},
         3,
         3,
         false,
         false,
         false},
        /* as many unknowns as measurements */
        {{{.bs = 1, .rate = 50}, {.bs = 10, .rate = 260}}, 2, 0, false, false, false},
        /* one batch */
        {{{.bs = 8, .rate = 50},
          {.bs = 8, .rate = 80, .amp = true},
          {.bs = 8, .rate = 40, .ck = true}},
         3,
         0,
         false,
         false,
         false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct solo_rate at[5];
        struct solo_rates r = {.n = cases[i].n, .at = at};
        struct saturation s;
        struct error err = {""};
        memcpy(at, cases[i].at, sizeof at);
        for (int k = 0; k < r.n; k++)
            at[k].step_s = at[k].bs / at[k].rate;
        names_add(&r.workloads, "x", 1);
        cr_assert_eq(saturation_fit(&s, &r, 0, &err), ST_OK, "%s", err.text);
        cr_assert_eq(s.n, cases[i].n_fitted, "%zu", i);
        if (s.n > 0) {
            cr_assert_eq(isfinite(s.amp_speedup.value), cases[i].amp, "%zu", i);
            cr_assert_eq(isfinite(s.launch_amp.value), cases[i].launch_amp, "%zu", i);
            cr_assert_eq(isfinite(s.rate_inf.value), cases[i].rate_inf, "%zu: %g", i,
                         s.rate_inf.value);
            cr_assert(isnan(s.ck_cost.value));
        }
        names_free(&r.workloads);
    }
}

/* The study's figures for the step times of Sia's A100 box, to its digits. */
Test(saturation, an_a100s_step_times_fit_as_well_as_another_program_found)
{
    static const struct {
        const char *workload;
        double mape_pct;
    } known[] = {{"bert", 2.5}, {"imagenet", 3.1}, {"cifar10", 3.7}, {"ncf", 4.3}};
    char path[SHARED_PATH_MAX];
    struct table t;
    struct solo_rates r = {0};
    struct error err = {""};
    int32_t n = 0;
    if (!shared_path(path, "data/calib/sia_seed_1gpu.csv"))
        cr_skip_test("no shared data; set COLOSIM_SHARED");
    cr_assert_eq(table_read(path, &t, &err), ST_OK, "%s", err.text);
    int32_t gpu = table_column(&t, "gpu_type");
    for (int32_t row = 0; row < t.n_rows; row++)
        if (strcmp(table_cell(&t, row, gpu), "dgx") == 0)
            memmove(t.cell + (size_t)n++ * (size_t)t.n_columns,
                    t.cell + (size_t)row * (size_t)t.n_columns,
                    (size_t)t.n_columns * sizeof *t.cell);
    t.n_rows = n;
    cr_assert_eq(solo_rates_read(&r, &t, &err), ST_OK, "%s", err.text);
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        struct saturation s;
        int32_t w = names_find(&r.workloads, known[i].workload, strlen(known[i].workload));
        cr_assert_eq(saturation_fit(&s, &r, w, &err), ST_OK, "%s", err.text);
        cr_assert_float_eq(s.mape_pct, known[i].mape_pct, .06, "%s: %g", known[i].workload,
                           s.mape_pct);
    }
    solo_rates_free(&r);
    table_free(&t);
}
