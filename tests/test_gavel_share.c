/* Shares of time without pairs: hand values, what makes a share max-min fair, a search by brute
 * force for finish times. */
#include "policies/peers/gavel_share.h"
#include "tests/leak.h"

#include <criterion/criterion.h>
#include <gsl/gsl_rng.h>
#include <math.h>

TestSuite(gavel_share, .fini = abort_on_leak, .timeout = 120);

enum { N_MAX = 12 };

/* GPUs of each job and its type (-1: any), GPUs of the types, and every job's share. */
static const struct {
    int n, n_pools;
    double gpus[4];
    int32_t pool[4];
    double room[2], room_all, x[4];
    const char *why;
} rows[] = {
    {3, 0, {1, 1, 1}, {-1, -1, -1}, {0}, 2, {2. / 3, 2. / 3, 2. / 3}, "two of three at a time"},
    {2, 0, {1, 4}, {-1, -1}, {0}, 4, {1, 0.75}, "the narrow one has all it asks for"},
    {2, 0, {2, 4}, {-1, -1}, {0}, 4, {1, 0.5}, "equal GPU time, 2 each"},
    {2, 0, {1, 2}, {-1, -1}, {0}, 8, {1, 1}, "enough for everybody"},
    {3, 2, {1, 1, 1}, {0, 0, -1}, {1, 1}, 2, {0.5, 0.5, 1}, "the untied one has the other type"},
    {3, 2, {1, 1, 1}, {0, -1, -1}, {1, 1}, 2, {2. / 3, 2. / 3, 2. / 3}, "untied jobs use both"},
    {4, 2, {1, 1, 1, 2}, {0, 0, 0, 1}, {1, 4}, 5, {1. / 3, 1. / 3, 1. / 3, 1}, "types apart"},
};

Test(gavel_share, each_row_of_the_table_holds)
{
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct arena scratch = {0};
        struct gavel_jobs jobs = {rows[i].n,       rows[i].gpus, rows[i].pool,
                                  rows[i].n_pools, rows[i].room, rows[i].room_all};
        double x[4];
        cr_assert(gavel_max_min(&jobs, x, &scratch));
        for (int j = 0; j < rows[i].n; j++)
            cr_expect_float_eq(x[j], rows[i].x[j], 1e-9, "%s: job %d has %g", rows[i].why, j, x[j]);
        arena_free(&scratch);
    }
}

/* Max-min fair means: who has less than all of the time is held back by GPUs that are all in use,
 * and nobody among their users has more GPU time. */
Test(gavel_share, everybody_held_back_has_the_most_among_those_who_hold_it_back)
{
    gsl_rng *rng = gsl_rng_alloc(gsl_rng_mt19937);
    for (int round = 0; round < 2000; round++) {
        double gpus[N_MAX], room[3], room_all = 0, x[N_MAX], used[4] = {0}, most[4] = {0};
        int32_t pool[N_MAX];
        int n = 1 + (int)gsl_rng_uniform_int(rng, N_MAX);
        for (int p = 0; p < 3; p++)
            room_all += room[p] = 1 + (double)gsl_rng_uniform_int(rng, 6);
        for (int j = 0; j < n; j++) {
            gpus[j] = gsl_rng_uniform_int(rng, 4) == 0 ? 0.5 : 1 << gsl_rng_uniform_int(rng, 3);
            pool[j] = (int32_t)gsl_rng_uniform_int(rng, 4) - 1;
        }
        struct arena scratch = {0};
        struct gavel_jobs jobs = {n, gpus, pool, 3, room, room_all};
        cr_assert(gavel_max_min(&jobs, x, &scratch));
        for (int j = 0; j < n; j++)
            for (int p = 0; p < 4; p++)
                if (p == 3 || pool[j] == p) {
                    used[p] += x[j] * gpus[j];
                    most[p] = fmax(most[p], x[j] * gpus[j]);
                }
        for (int p = 0; p < 4; p++)
            cr_assert_leq(used[p], (p == 3 ? room_all : room[p]) + 1e-9);
        for (int j = 0; j < n; j++) {
            bool held = x[j] < 1 - 1e-9, excused = false;
            for (int p = 0; p < 4; p++)
                excused = excused || ((p == 3 || pool[j] == p) &&
                                      used[p] > (p == 3 ? room_all : room[p]) - 1e-6 &&
                                      x[j] * gpus[j] > most[p] - 1e-6);
            cr_assert(!held || excused, "round %d: job %d", round, j);
        }
        arena_free(&scratch);
    }
    gsl_rng_free(rng);
}

static double worst_rho(int n, const double *x, const double *age, const double *left,
                        const double *alone)
{
    double worst = 0;
    for (int j = 0; j < n; j++)
        worst = fmax(worst, (age[j] + left[j] / x[j]) / alone[j]);
    return worst;
}

Test(gavel_share, finish_times_of_two_or_three_jobs_are_as_fair_as_any_on_a_fine_grid)
{
    enum { STEPS = 200 };
    gsl_rng *rng = gsl_rng_alloc(gsl_rng_mt19937);
    for (int round = 0; round < 60; round++) {
        int n = 2 + round % 2;
        double gpus[3], age[3], left[3], alone[3], x[3], room = 2, best = INFINITY;
        int32_t pool[3] = {-1, -1, -1};
        for (int j = 0; j < n; j++) {
            gpus[j] = 1 + (double)gsl_rng_uniform_int(rng, 2);
            age[j] = 100 * gsl_rng_uniform(rng);
            left[j] = 1 + 100 * gsl_rng_uniform(rng);
            alone[j] = 50 * gsl_rng_uniform(rng) + left[j] / fmin(1, room / (n * gpus[j]));
        }
        struct arena scratch = {0};
        struct gavel_jobs jobs = {n, gpus, pool, 0, NULL, room};
        cr_assert(gavel_finish_time(&jobs, age, left, alone, x, &scratch));
        for (int a = 1; a <= STEPS; a++)
            for (int b = 1; b <= STEPS; b++) {
                double y[3] = {(double)a / STEPS, (double)b / STEPS, 0};
                double spare = room - y[0] * gpus[0] - y[1] * gpus[1];
                y[2] = n == 3 ? fmin(1, spare / gpus[2]) : 0;
                if (spare >= 0 && (n == 2 || y[2] > 0))
                    best = fmin(best, worst_rho(n, y, age, left, alone));
            }
        double ours = worst_rho(n, x, age, left, alone), used = 0;
        for (int j = 0; j < n; j++)
            used += x[j] * gpus[j];
        cr_assert_leq(used, room + 1e-9);
        cr_assert_leq(ours, best * (1 + 1e-9), "round %d: %g, the grid has %g", round, ours, best);
        cr_assert_geq(ours, best * 0.95, "round %d: %g, the grid has %g", round, ours, best);
        arena_free(&scratch);
    }
    gsl_rng_free(rng);
}

Test(gavel_share, equal_jobs_have_equal_finish_times)
{
    /* One GPU, two new jobs of 10 s: alone on half a GPU each takes 20 s; x = 1/2, rho = 1. */
    double gpus[] = {1, 1}, age[] = {0, 0}, left[] = {10, 10}, alone[] = {20, 20}, x[2];
    int32_t pool[] = {-1, -1};
    struct arena scratch = {0};
    struct gavel_jobs jobs = {2, gpus, pool, 0, NULL, 1};
    cr_assert(gavel_finish_time(&jobs, age, left, alone, x, &scratch));
    cr_assert_float_eq(x[0], 0.5, 1e-9);
    cr_assert_float_eq(x[1], 0.5, 1e-9);
    /* The second has waited 20 s: (20 + 10 / x1) / 20 = (10 / x0) / 20 has x0 + x1 = 1 at
     * x0 = 1 - x1, 20 x1 (1 - x1) + 10 (1 - x1) = 10 x1, so x1 = 1 / sqrt 2. */
    age[1] = 20;
    cr_assert(gavel_finish_time(&jobs, age, left, alone, x, &scratch));
    cr_assert_float_eq(x[1], sqrt(0.5), 1e-9);
    cr_assert_float_eq(x[0], 1 - sqrt(0.5), 1e-9);
    arena_free(&scratch);
}
