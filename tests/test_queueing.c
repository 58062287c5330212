#include "calib/queueing.h"

#include "tests/leak.h"

#include <criterion/criterion.h>
#include <gsl/gsl_randist.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

TestSuite(queueing, .fini = abort_on_leak);

enum { JOBS = 12 };
static const double alpha[N_QUEUE] = {.9, .5, .3};

static double slow(const struct iac_side *i, const struct iac_side *j, double w_i, double w_j)
{
    return 1 + w_j / w_i *
                   (alpha[0] * i->sm * j->sm + alpha[1] * i->tensor * j->tensor +
                    alpha[2] * i->dram * j->dram);
}

/* Every pair of jobs whose slowdowns are the physics', ln S off by sigma. */
static struct samples measured(gsl_rng *rng, double sigma, double log_w[JOBS], int n_jobs)
{
    struct samples s = {.named_jobs = true};
    struct iac_side side[JOBS];
    struct error err;
    for (int i = 0; i < JOBS; i++) {
        char name[8];
        side[i] = (struct iac_side){.sm = gsl_rng_uniform(rng),
                                    .tensor = gsl_rng_uniform(rng),
                                    .dram = gsl_rng_uniform(rng),
                                    .step_s = exp(gsl_ran_gaussian(rng, 1) - 3),
                                    .card_mib = 1,
                                    .kind = KIND_TRAIN};
        log_w[i] = .5 * log(side[i].step_s);
        names_add(&s.workloads, name, (size_t)snprintf(name, sizeof name, "%d", i));
    }
    for (int i = 0; i < n_jobs; i++)
        for (int j = 0; j <= i; j++)
            for (int k = 0; k < 2; k++) {
                int a = k ? j : i, b = k ? i : j;
                double s_ab = slow(&side[a], &side[b], exp(log_w[a]), exp(log_w[b]));
                cr_assert_eq(samples_add(&s, &side[a], &side[b],
                                         (struct pair_row){s_ab * exp(gsl_ran_gaussian(rng, sigma)),
                                                           0,
                                                           s.n_experiments - k,
                                                           {a, b}},
                                         &err),
                             ST_OK);
            }
    return s;
}

Test(queueing, the_physics_that_made_the_pairs_is_found_again)
{
    struct error err = {""};
    gsl_rng *rng = gsl_rng_alloc(gsl_rng_mt19937);
    double log_w[JOBS];
    struct queueing q;
    int32_t row[JOBS * JOBS * 2], n = 0;
    struct samples s = measured(rng, 0, log_w, JOBS);
    for (int32_t k = 0; k < s.n; k++)
        row[n++] = k;
    cr_assert_eq(queueing_fit(&q, &s, row, n, .03, &err), ST_OK, "%s", err.text);
    for (int r = 0; r < N_QUEUE; r++)
        cr_assert_float_eq(q.alpha[r], alpha[r], 1e-5, "alpha %d: %g", r, q.alpha[r]);
    cr_assert_float_eq(q.gamma, .5, 1e-5);
    cr_assert(q.rms < 1e-6);
    for (int32_t k = 0; k < s.n; k++)
        cr_assert_float_eq(queueing_slowdown(&q, &s, k), s.row[k].slowdown, 1e-4);
    queueing_free(&q);
    samples_free(&s);
    gsl_rng_free(rng);
}

Test(queueing, a_weight_off_the_step_time_is_found_and_noise_stays_in_the_residuals)
{
    struct error err = {""};
    gsl_rng *rng = gsl_rng_alloc(gsl_rng_mt19937);
    double log_w[JOBS];
    struct queueing q;
    int32_t row[JOBS * JOBS * 2], n = 0;
    struct samples s = measured(rng, 0, log_w, JOBS);
    for (int32_t k = 0; k < s.n; k++) { /* job 3 weighs e times as much as its step tells */
        double shift = (s.row[k].workload[1] == 3) - (s.row[k].workload[0] == 3);
        s.row[k].slowdown = 1 + exp(shift) * (s.row[k].slowdown - 1);
        s.row[k].slowdown *= exp(gsl_ran_gaussian(rng, .02));
        row[n++] = k;
    }
    cr_assert_eq(queueing_fit(&q, &s, row, n, 1e-4, &err), ST_OK, "%s", err.text);
    cr_assert_float_eq(q.rms, .02, .003, "%g", q.rms);
    for (int i = 0; i < JOBS; i++)
        cr_assert_float_eq(q.delta[i] - q.delta[0], i == 3 ? 1 : 0, .3, "job %d: %g", i,
                           q.delta[i] - q.delta[0]);
    queueing_free(&q);
    samples_free(&s);
    gsl_rng_free(rng);
}

Test(queueing, a_job_without_pairs_weighs_what_its_step_time_tells)
{
    struct error err = {""};
    gsl_rng *rng = gsl_rng_alloc(gsl_rng_mt19937);
    double log_w[JOBS];
    struct queueing q;
    int32_t row[JOBS * JOBS * 2], n = 0;
    struct samples s = measured(rng, 0, log_w, JOBS);
    for (int32_t k = 0; k < s.n; k++)
        if (s.row[k].workload[0] != 5 && s.row[k].workload[1] != 5)
            row[n++] = k;
    cr_assert_eq(queueing_fit(&q, &s, row, n, .03, &err), ST_OK, "%s", err.text);
    cr_assert_float_eq(q.delta[5], 0, 1e-9);
    for (int32_t k = 0; k < s.n; k++)
        if (s.row[k].workload[0] == 5 && s.row[k].workload[1] == 2)
            cr_assert_float_eq(queueing_slowdown(&q, &s, k), s.row[k].slowdown, 1e-4);
    queueing_free(&q);
    samples_free(&s);
    gsl_rng_free(rng);
}
