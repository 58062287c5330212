#include "calib/queueing_row.h"

#include "tests/leak.h"

#include <criterion/criterion.h>
#include <gsl/gsl_randist.h>
#include <math.h>
#include <stdlib.h>

TestSuite(queueing_row, .fini = abort_on_leak);

enum { JOBS = 4 };

/* All pairs of jobs with random counters. */
static struct samples made(gsl_rng *rng)
{
    struct samples s = {.named_jobs = true};
    struct iac_side side[JOBS];
    struct error err;
    for (int i = 0; i < JOBS; i++)
        side[i] = (struct iac_side){.sm = .1 + .6 * gsl_rng_uniform(rng),
                                    .tensor = gsl_rng_uniform(rng),
                                    .dram = gsl_rng_uniform(rng),
                                    .step_s = .01 + gsl_rng_uniform(rng),
                                    .card_mib = 1};
    for (int i = 0; i < JOBS; i++)
        for (int j = 0; j < JOBS; j++)
            cr_assert_eq(samples_add(&s, &side[i], &side[j],
                                     (struct pair_row){1.2, 0, s.n_experiments, {i, j}, 0}, &err),
                         ST_OK);
    return s;
}

Test(queueing_row, gradients_agree_with_finite_differences_self_pairs_included)
{
    static const struct queueing_options options[] = {
        {.steps = true, .kappa = true, .m = true}, {.latents = true, .m = true}, {.steps = false}};
    static const double h = 1e-6;
    gsl_rng *rng = gsl_rng_alloc(gsl_rng_mt19937);
    struct samples s = made(rng);
    for (size_t o = 0; o < sizeof options / sizeof *options; o++) {
        struct queueing_layout at = queueing_layout(&options[o], options[o].steps, JOBS);
        gsl_vector *x = gsl_vector_alloc((size_t)at.n);
        double *sum = malloc((size_t)at.n * sizeof *sum);
        for (size_t i = 0; i < (size_t)at.n; i++)
            gsl_vector_set(x, i, gsl_ran_gaussian(rng, .3) - 1);
        for (int32_t k = 0; k < s.n; k++) {
            struct queueing_gradient g, ignored;
            queueing_log_s(&at, &s, k, x, &g);
            for (int32_t i = 0; i < at.n; i++)
                sum[i] = 0;
            for (int i = 0; i < g.n; i++)
                sum[g.at[i]] += g.d[i];
            for (int32_t i = 0; i < at.n; i++) {
                double here = unknown_at(x, i);
                gsl_vector_set(x, (size_t)i, here + h);
                double up = queueing_log_s(&at, &s, k, x, &ignored);
                gsl_vector_set(x, (size_t)i, here - h);
                double down = queueing_log_s(&at, &s, k, x, &ignored);
                gsl_vector_set(x, (size_t)i, here);
                cr_assert_float_eq(sum[i], (up - down) / (2 * h), 1e-6,
                                   "form %zu, row %d, unknown %d: %g, want %g", o, k, i, sum[i],
                                   (up - down) / (2 * h));
            }
        }
        free(sum);
        gsl_vector_free(x);
    }
    samples_free(&s);
    gsl_rng_free(rng);
}

Test(queueing_row, beyond_the_bound_only_weights_and_m_matter)
{
    gsl_rng *rng = gsl_rng_alloc(gsl_rng_mt19937);
    struct samples s = made(rng);
    struct queueing_options o = {.m = true};
    struct queueing_layout at = queueing_layout(&o, false, JOBS);
    struct queueing_gradient g;
    gsl_vector *x = gsl_vector_calloc((size_t)at.n);
    for (int r = 0; r < N_QUEUE; r++) /* alpha = 1000: q is above 1 */
        gsl_vector_set(x, (size_t)(at.alpha + r), log(1000));
    gsl_vector_set(x, (size_t)at.job + 1, log(3));
    gsl_vector_set(x, (size_t)at.m, log(1.1));
    cr_assert_float_eq(queueing_log_s(&at, &s, 1, x, &g), log(1.1 * (1 + 3)), 1e-12, "0 beside 1");
    cr_assert_float_eq(queueing_log_s(&at, &s, JOBS, x, &g), log(1.1 * (1 + 1 / 3.)), 1e-12);
    for (int i = 0; i < g.n; i++)
        cr_assert(g.at[i] >= N_QUEUE || fabs(g.d[i]) <= 0);
    gsl_vector_free(x);
    samples_free(&s);
    gsl_rng_free(rng);
}
