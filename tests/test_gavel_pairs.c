/* Gavel's programme with pairs: hand values, classes against single jobs. */
#include "policies/peers/gavel_pairs.h"
#include "tests/leak.h"

#include <criterion/criterion.h>
#include <gsl/gsl_rng.h>
#include <math.h>

TestSuite(gavel_pairs, .fini = abort_on_leak, .timeout = 120);

enum { N_MAX = 12, UNITS_MAX = N_MAX * (N_MAX + 3) / 2 };

/* Two classes: how many jobs, what the one keeps beside the other and itself; GPUs of one job;
 * GPUs. The level, and how many pairs of one of each run at a time. */
static const struct {
    double n_jobs[2], keeps[4], gpus[2], room, level, pairs;
    const char *why;
} rows[] = {
    {{1, 1}, {0, .8, .8, 0}, {1, 1}, 1, .8, 1, "sharing all the time beats half of it each"},
    {{1, 1}, {0, .5, .5, 0}, {1, 1}, 1, .5, 0, "taking turns is as good"},
    {{1, 1}, {0, .4, .5, 0}, {1, 1}, 1, .5, 0, "taking turns is better"},
    {{1, 1},
     {0, .9, .4, 0},
     {1, 1},
     1,
     .6,
     2. / 3,
     "together 2/3, then the one that suffers alone"},
    {{1, 1}, {0, .8, .8, 0}, {1, 1}, 2, 1, 0, "enough GPUs for both"},
    /* Alone a of the time: .9 + .05 a each, and the other has 1 - a / 2. */
    {{2, 1}, {.9, 0, 0, 0}, {1, 1}, 2, 10. / 11, 0, "two alike share, but not all of the time"},
    {{1, 1}, {0, .8, .8, 0}, {2, 2}, 2, 1.6, 1, "GPU time counts: two GPUs at .8 each"},
    {{1, 1}, {0, .8, .8, 0}, {1, 2}, 2, 1, 0, "unequal widths cannot share: 1 and half of 2"},
};

static int32_t solve(int n, const double *n_jobs, const double *keeps, const double *gpus,
                     double room, struct gavel_unit *unit, double *level)
{
    struct arena scratch = {0};
    double need[N_MAX];
    int32_t pool[N_MAX];
    for (int c = 0; c < n; c++) {
        need[c] = n_jobs[c] / gpus[c];
        pool[c] = -1;
    }
    struct gavel_classes classes = {n, 0, n_jobs, gpus, pool, keeps, need, NULL, room};
    int32_t n_units = gavel_pair_units(&classes, unit, level, &scratch);
    cr_assert_geq(n_units, 0);
    double held = 0, busy[N_MAX] = {0};
    for (int32_t u = 0; u < n_units; u++) {
        held += unit[u].runs * gpus[unit[u].a];
        busy[unit[u].a] += unit[u].runs;
        if (unit[u].b >= 0)
            busy[unit[u].b] += unit[u].runs;
    }
    cr_assert_leq(held, room + 1e-7);
    for (int c = 0; c < n; c++) {
        cr_assert_leq(busy[c], n_jobs[c] + 1e-7, "a job has no more than all of the time");
        cr_assert_geq(gavel_throughput(&classes, unit, n_units, c), *level * need[c] - 1e-7);
    }
    arena_free(&scratch);
    return n_units;
}

Test(gavel_pairs, each_row_of_the_table_holds)
{
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct gavel_unit unit[UNITS_MAX];
        double level, pairs = 0;
        int32_t n =
            solve(2, rows[i].n_jobs, rows[i].keeps, rows[i].gpus, rows[i].room, unit, &level);
        for (int32_t u = 0; u < n; u++)
            pairs += unit[u].b >= 0 && unit[u].a != unit[u].b ? unit[u].runs : 0;
        cr_expect_float_eq(level, rows[i].level, 1e-7, "row %zu, %s: %g", i, rows[i].why, level);
        cr_expect_float_eq(pairs, rows[i].pairs, 1e-7, "row %zu, %s: %g", i, rows[i].why, pairs);
    }
}

/* The programme over classes and the one with a class for every job reach the same level: it is
 * symmetric in like jobs. */
Test(gavel_pairs, classes_are_worth_as_much_as_all_their_jobs_one_by_one)
{
    gsl_rng *rng = gsl_rng_alloc(gsl_rng_mt19937);
    int n_paired = 0;
    for (int round = 0; round < 300; round++) {
        int n = 1 + (int)gsl_rng_uniform_int(rng, 3), n_all = 0, of[N_MAX];
        double n_jobs[3], gpus[3], keeps[9], ones[N_MAX], gpus_all[N_MAX], keeps_all[N_MAX * N_MAX];
        for (int c = 0; c < n; c++) {
            n_jobs[c] = 1 + (double)gsl_rng_uniform_int(rng, 4);
            gpus[c] = 1 + (double)gsl_rng_uniform_int(rng, 2);
            for (int o = 0; o < n; o++)
                keeps[c * n + o] = gsl_rng_uniform_int(rng, 4) == 0 ? 0 : gsl_rng_uniform(rng);
            for (int k = 0; k < (int)n_jobs[c]; k++)
                of[n_all++] = c;
        }
        for (int i = 0; i < n_all; i++) {
            ones[i] = 1;
            gpus_all[i] = gpus[of[i]];
            for (int o = 0; o < n_all; o++)
                keeps_all[i * n_all + o] = keeps[of[i] * n + of[o]];
        }
        struct gavel_unit unit[UNITS_MAX];
        double room = 1 + (double)gsl_rng_uniform_int(rng, 4), by_class, by_job;
        int32_t n_units = solve(n, n_jobs, keeps, gpus, room, unit, &by_class);
        for (int32_t u = 0; u < n_units; u++)
            n_paired += unit[u].b >= 0;
        solve(n_all, ones, keeps_all, gpus_all, room, unit, &by_job);
        cr_assert_float_eq(by_class, by_job, 1e-6, "round %d: %g, %g", round, by_class, by_job);
    }
    cr_assert_gt(n_paired, 200);
    gsl_rng_free(rng);
}

Test(gavel_pairs, a_type_holds_no_more_than_its_gpus)
{
    /* Two jobs tied to type 0 of one GPU, one untied: it has type 1 to itself. */
    const double n_jobs[] = {2, 1}, gpus[] = {1, 1}, keeps[] = {.7, .9, .9, 0}, room[] = {1, 1};
    const int32_t pool[] = {0, -1};
    double need[] = {2, 1}, level;
    struct gavel_unit unit[UNITS_MAX];
    struct arena scratch = {0};
    struct gavel_classes classes = {2, 2, n_jobs, gpus, pool, keeps, need, room, 2};
    int32_t n = gavel_pair_units(&classes, unit, &level, &scratch);
    double tied = 0;
    for (int32_t u = 0; u < n; u++)
        tied += unit[u].a == 0 ? unit[u].runs : 0;
    cr_assert_leq(tied, 1 + 1e-9);
    /* A unit with a tied job takes its type's GPU: all of the time two jobs at .7 each. */
    cr_assert_float_eq(level, .7, 1e-7);
    arena_free(&scratch);
}
