#include "calib/queueing.h"

#include "core/elastico/contention.h"

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
                                                           {a, b},
                                                           0},
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
    cr_assert_eq(
        queueing_fit(&q, &s, row, n, &(struct queueing_options){.ridge = .03, .steps = true}, &err),
        ST_OK, "%s", err.text);
    for (int r = 0; r < N_QUEUE; r++)
        cr_assert_float_eq(q.alpha[r].value, alpha[r], 1e-5, "alpha %d: %g", r, q.alpha[r].value);
    cr_assert_float_eq(q.gamma.value, .5, 1e-5);
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
    cr_assert_eq(queueing_fit(&q, &s, row, n,
                              &(struct queueing_options){.ridge = 1e-4, .steps = true}, &err),
                 ST_OK, "%s", err.text);
    cr_assert_float_eq(q.rms, .02, .003, "%g", q.rms);
    for (int i = 0; i < JOBS; i++)
        cr_assert_float_eq(q.delta[i].value - q.delta[0].value, i == 3 ? 1 : 0, .3, "job %d: %g", i,
                           q.delta[i].value - q.delta[0].value);
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
    cr_assert_eq(
        queueing_fit(&q, &s, row, n, &(struct queueing_options){.ridge = .03, .steps = true}, &err),
        ST_OK, "%s", err.text);
    cr_assert_float_eq(q.delta[5].value, 0, 1e-9);
    for (int32_t k = 0; k < s.n; k++)
        if (s.row[k].workload[0] == 5 && s.row[k].workload[1] == 2)
            cr_assert_float_eq(queueing_slowdown(&q, &s, k), s.row[k].slowdown, 1e-4);
    queueing_free(&q);
    samples_free(&s);
    gsl_rng_free(rng);
}

static int32_t *all_rows(const struct samples *s)
{
    int32_t *row = malloc((size_t)s->n * sizeof *row);
    for (int32_t k = 0; k < s->n; k++)
        row[k] = k;
    return row;
}

Test(queueing, kappa_m_and_the_bound_of_the_overlap_are_found_again)
{
    struct error err = {""};
    gsl_rng *rng = gsl_rng_alloc(gsl_rng_mt19937);
    double log_w[JOBS];
    struct queueing q;
    struct queueing_options o = {.ridge = 1e-6, .steps = true, .kappa = true, .m = true};
    struct samples s = measured(rng, 0, log_w, JOBS);
    int32_t *row = all_rows(&s);
    int n_bounded = 0;
    for (int32_t k = 0; k < s.n; k++) {
        const struct iac_side *i = &s.side[2 * k], *j = &s.side[2 * k + 1];
        double overlap = 2 * frank_overlap(i->sm, j->sm, -3) +
                         .5 * frank_overlap(i->tensor, j->tensor, -3) +
                         .3 * frank_overlap(i->dram, j->dram, -3);
        n_bounded += overlap > 1;
        s.row[k].slowdown = 1.1 * (1 + sqrt(j->step_s / i->step_s) * fmin(1, overlap));
    }
    cr_assert(n_bounded > 5 && n_bounded < s.n / 2, "%d", n_bounded);
    cr_assert_eq(queueing_fit(&q, &s, row, s.n, &o, &err), ST_OK, "%s", err.text);
    cr_assert_float_eq(q.alpha[QUEUE_SM].value, 2, .01, "%g", q.alpha[QUEUE_SM].value);
    cr_assert_float_eq(q.alpha[QUEUE_TENSOR].value, .5, .01);
    cr_assert_float_eq(q.alpha[QUEUE_DRAM].value, .3, .01);
    cr_assert_float_eq(q.kappa.value, -3, .03, "%g", q.kappa.value);
    cr_assert_float_eq(q.m.value, 1.1, .001);
    for (int32_t k = 0; k < s.n; k++)
        cr_assert_float_eq(queueing_slowdown(&q, &s, k), s.row[k].slowdown, .01);
    queueing_free(&q);
    samples_free(&s);
    free(row);
    gsl_rng_free(rng);
}

/* Over many measurements of the same jobs estimates scatter as their standard errors say. */
Test(queueing, standard_errors_are_the_scatter_of_repeated_experiments)
{
    enum { DRAWS = 300 };
    struct error err = {""};
    double log_w[JOBS], sum = 0, square = 0, se = 0;
    struct queueing_options o = {.ridge = 1e-5, .steps = true};
    gsl_rng *noise = gsl_rng_alloc(gsl_rng_taus2);
    gsl_rng *rng = gsl_rng_alloc(gsl_rng_mt19937);
    struct samples s = measured(rng, 0, log_w, JOBS);
    int32_t *row = all_rows(&s);
    double *slowdown = malloc((size_t)s.n * sizeof *slowdown);
    for (int32_t k = 0; k < s.n; k++)
        slowdown[k] = s.row[k].slowdown;
    for (int draw = 0; draw < DRAWS; draw++) {
        struct queueing q;
        for (int32_t k = 0; k < s.n; k++)
            s.row[k].slowdown = slowdown[k] * exp(gsl_ran_gaussian(noise, .02));
        cr_assert_eq(queueing_fit(&q, &s, row, s.n, &o, &err), ST_OK, "%s", err.text);
        double value = q.alpha[QUEUE_SM].value;
        sum += value;
        square += value * value;
        se += q.alpha[QUEUE_SM].se / DRAWS;
        queueing_free(&q);
    }
    double sd = sqrt((square - sum * sum / DRAWS) / (DRAWS - 1));
    /* 300 draws tell a standard deviation to 4 %; rows lost to unknowns are another 5 %. */
    cr_assert_float_eq(se / sd, 1, .15, "se %g, scatter %g", se, sd);
    cr_assert_float_eq(sum / DRAWS, alpha[0], 4 * sd / sqrt(DRAWS) + .002);
    free(slowdown);
    free(row);
    samples_free(&s);
    gsl_rng_free(rng);
    gsl_rng_free(noise);
}

Test(queueing, latents_stand_in_for_counters_that_nobody_has)
{
    struct error err = {""};
    gsl_rng *rng = gsl_rng_alloc(gsl_rng_mt19937);
    double log_w[JOBS], mean_off = 0, spread = 0;
    struct queueing q;
    struct queueing_options o = {.ridge = 1e-4, .latent_ridge = 1e-5, .latents = true};
    struct samples s = measured(rng, 0, log_w, JOBS);
    int32_t *row = all_rows(&s), n = 0, n_out = 0;
    for (int32_t k = 0; k < s.n; k++) { /* two demands made of the counters, which then go */
        struct iac_side *i = &s.side[2 * k], *j = &s.side[2 * k + 1];
        double overlap = .5 * i->sm * j->sm + .4 * i->dram * j->dram;
        s.row[k].slowdown = 1 + sqrt(j->step_s / i->step_s) * overlap;
    }
    for (int32_t i = 0; i < 2 * s.n; i++)
        s.side[i].sm = s.side[i].tensor = s.side[i].dram = s.side[i].step_s = 0;
    for (int32_t k = 0; k < s.n; k++) /* every seventh pair is left out, both directions */
        if (s.row[k].experiment % 7 != 3)
            row[n++] = k;
    cr_assert_eq(queueing_fit(&q, &s, row, n, &o, &err), ST_OK, "%s", err.text);
    for (int32_t k = 0; k < s.n; k++)
        if (s.row[k].experiment % 7 == 3) {
            mean_off += fabs(log(queueing_slowdown(&q, &s, k) / s.row[k].slowdown));
            spread += log(s.row[k].slowdown);
            n_out++;
        }
    cr_assert(n_out > 15);
    cr_assert(mean_off < .08 * spread, "off %g of %g", mean_off / n_out, spread / n_out);
    for (int32_t k = 0; k < q.n_jobs; k++)
        for (int r = 0; r < N_LATENTS; r++)
            cr_assert(q.latent[k][r] > 0 && q.latent[k][r] < 1);
    queueing_free(&q);
    samples_free(&s);
    free(row);
    gsl_rng_free(rng);
}

Test(queueing, what_cannot_be_fitted_is_said)
{
    struct error err = {""};
    gsl_rng *rng = gsl_rng_alloc(gsl_rng_mt19937);
    double log_w[JOBS];
    struct queueing q;
    struct samples s = measured(rng, 0, log_w, JOBS);
    int32_t row[] = {0, 1};
    static const struct {
        struct queueing_options o;
        enum status status;
        const char *text;
    } cases[] = {
        {{.ridge = .03, .latents = true, .kappa = true}, ST_USAGE, "kappa wants counters"},
        {{.ridge = .03, .steps = true}, ST_INPUT, "2 rows are too few"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        cr_assert_eq(queueing_fit(&q, &s, row, 2, &cases[i].o, &err), cases[i].status);
        cr_assert(strstr(err.text, cases[i].text) != NULL, "%s", err.text);
    }
    samples_free(&s);
    gsl_rng_free(rng);
}
