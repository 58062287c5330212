/* Widths by greedy walk and local moves: against every choice there is on tiny problems. */
#include "policies/peers/pollux_widths.h"
#include "tests/leak.h"

#include <criterion/criterion.h>
#include <gsl/gsl_rng.h>
#include <math.h>

TestSuite(pollux_widths, .fini = abort_on_leak, .timeout = 120);

enum { JOBS_MAX = 5, OPTIONS_MAX = 7 };

static double cheapest(int n, const struct width_choice *choice, int64_t room_milli)
{
    double best = INFINITY;
    int32_t option[JOBS_MAX] = {0};
    for (;;) {
        int64_t held = 0;
        for (int j = 0; j < n; j++)
            held += pollux_milli(&choice[j], option[j]);
        if (held <= room_milli)
            best = fmin(best, pollux_cost(n, choice, option));
        int j = 0;
        while (j < n && ++option[j] == choice[j].n)
            option[j++] = 0;
        if (j == n)
            return best;
    }
}

Test(pollux_widths, two_equal_jobs_share_equally)
{
    /* cost 1 / width: 2 and 2 of four GPUs; 1000 for nothing. */
    const double cost[] = {1000, 1, 1. / 2, 1. / 3, 1. / 4};
    const struct width_choice choice[] = {{5, 1, 1000, cost}, {5, 1, 1000, cost}};
    struct arena scratch = {0};
    int32_t option[2] = {0, 0};
    cr_assert(pollux_widths(2, choice, 4000, option, &scratch));
    cr_assert_eq(option[0], 2);
    cr_assert_eq(option[1], 2);
    arena_free(&scratch);
}

Test(pollux_widths, who_is_cheap_to_keep_keeps_what_it_has)
{
    /* Staying at 3 costs a third; every other width is charged double, as a restart would be. */
    const double stays[] = {1000, 2, 1, 1. / 3, 1. / 2},
                 comes[] = {1000, 1, 1. / 2, 1. / 3, 1. / 4};
    const struct width_choice choice[] = {{5, 1, 1000, stays}, {5, 1, 1000, comes}};
    struct arena scratch = {0};
    int32_t option[2] = {3, 0};
    cr_assert(pollux_widths(2, choice, 4000, option, &scratch));
    cr_assert_eq(option[0], 3);
    cr_assert_eq(option[1], 1);
    arena_free(&scratch);
}

/* Costs as Pollux has them (1 / (speedup + .001), some charged for a restart, some non-monotone
 * across a node) and rigid jobs of any width. */
static double costs(gsl_rng *rng, struct width_choice *c, double *cost)
{
    bool rigid = gsl_rng_uniform_int(rng, 3) == 0;
    *c = (struct width_choice){rigid ? 2 : 2 + (int32_t)gsl_rng_uniform_int(rng, OPTIONS_MAX - 1),
                               1, 1000, cost};
    if (rigid)
        c->unit_milli = 500 * (1 + (int32_t)gsl_rng_uniform_int(rng, 10));
    else
        c->lowest = 1 + (int32_t)gsl_rng_uniform_int(rng, 2);
    double power = gsl_rng_uniform(rng), knee = gsl_rng_uniform_int(rng, 2) == 0 ? .7 : 1;
    int32_t stays = (int32_t)gsl_rng_uniform_int(rng, (unsigned long)c->n);
    for (int32_t k = 0; k < c->n; k++) {
        double units = (double)pollux_milli(c, k) / 1000;
        double speedup = units > 4 ? knee * pow(units, power) : pow(units, power);
        cost[k] = 1 / ((k == 0 ? 0 : k == stays ? speedup : .8 * speedup) + 1e-3);
    }
    return cost[0];
}

Test(pollux_widths, tiny_problems_are_solved_as_well_as_any_choice_or_nearly)
{
    enum { ROUNDS = 3000 };
    gsl_rng *rng = gsl_rng_alloc(gsl_rng_mt19937);
    int n_best = 0;
    double worst = 0;
    for (int round = 0; round < ROUNDS; round++) {
        struct width_choice choice[JOBS_MAX];
        double cost[JOBS_MAX][OPTIONS_MAX + 1];
        int32_t option[JOBS_MAX] = {0}, begin[JOBS_MAX];
        int n = 1 + (int)gsl_rng_uniform_int(rng, JOBS_MAX);
        int64_t room_milli = 500 * (int64_t)(1 + gsl_rng_uniform_int(rng, 24)), left = room_milli;
        for (int j = 0; j < n; j++) {
            costs(rng, &choice[j], cost[j]);
            option[j] = (int32_t)gsl_rng_uniform_int(rng, (unsigned long)choice[j].n);
            if (pollux_milli(&choice[j], option[j]) > left)
                option[j] = 0;
            left -= pollux_milli(&choice[j], option[j]);
            begin[j] = option[j];
        }
        struct arena scratch = {0};
        cr_assert(pollux_widths(n, choice, room_milli, option, &scratch));
        int64_t held = 0;
        for (int j = 0; j < n; j++)
            held += pollux_milli(&choice[j], option[j]);
        cr_assert_leq(held, room_milli);
        double ours = pollux_cost(n, choice, option), best = cheapest(n, choice, room_milli);
        cr_assert_leq(ours, pollux_cost(n, choice, begin) * (1 + 1e-12), "never worse than before");
        cr_assert_geq(ours, best * (1 - 1e-12));
        n_best += ours <= best * (1 + 1e-9);
        worst = fmax(worst, ours / best - 1);
        arena_free(&scratch);
    }
    cr_log_info("best in %d of %d, at worst %g dearer", n_best, ROUNDS, worst);
    cr_assert_gt(n_best, 0.97 * ROUNDS, "%d of %d", n_best, ROUNDS);
    cr_assert_lt(worst, 0.01, "%g", worst);
    gsl_rng_free(rng);
}
