#include "core/base/rng.h"
#include "core/elastico/repair.h"
#include "tests/esp_lab.h"
#include "tests/leak.h"

#include <criterion/criterion.h>
#include <math.h>

TestSuite(repair, .fini = abort_on_leak);

/* A problem of one resource: jobs of up to three options, {demand, cost} each, ended by {-1}. */
struct small {
    int32_t begin[5];
    double demand[12], loss[12];
    struct choice_problem p;
    struct choice_set s;
    struct choice c;
    struct repair w;
    struct arena a;
};
static void small_init(struct small *t, int n_jobs, const double (*options)[3][2],
                       const int *n_options, const int32_t *start)
{
    *t = (struct small){0};
    for (int j = 0; j < n_jobs; j++) {
        t->begin[j + 1] = t->begin[j] + n_options[j];
        for (int o = 0; o < n_options[j]; o++) {
            t->demand[t->begin[j] + o] = options[j][o][0];
            t->loss[t->begin[j] + o] = options[j][o][1];
        }
    }
    t->p = (struct choice_problem){.n_jobs = n_jobs,
                                   .n_rows = t->begin[n_jobs],
                                   .n_res = 1,
                                   .begin = t->begin,
                                   .demand = t->demand,
                                   .loss = t->loss};
    cr_assert(choice_set_init(&t->s, n_jobs, t->p.n_rows, t->p.n_rows, &t->a) &&
              choice_init(&t->c, n_jobs, &t->a) && repair_init(&t->w, n_jobs, &t->a));
    choice_set_load(&t->s, &t->p);
    for (int j = 0; j < n_jobs; j++)
        t->c.option[j] = t->begin[j] + start[j];
    choice_measure(&t->s, &t->c);
}

static const double none[] = {0};

Test(repair, sheds_the_least_regret_for_what_it_frees_and_fills_what_is_left)
{
    /* 1.2 used. Regret for overuse: 0.3/0.2, 0.2/0.1, 0.05/0.2 (0.2 is all that is over). */
    static const double options[][3][2] = {
        {{0.5, 0}, {0.2, 0.3}}, {{0.4, 0}, {0.3, 0.2}}, {{0.3, 0}, {0.1, 0.05}}};
    struct small t;
    small_init(&t, 3, options, (int[]){2, 2, 2}, (int32_t[]){0, 0, 0});
    cr_assert(repair_run(&t.w, &t.s, none, &t.c));
    cr_assert_eq(t.c.option[0], 0);
    cr_assert_eq(t.c.option[1], 2);
    cr_assert_eq(t.c.option[2], 5);
    cr_assert_float_eq(t.c.score, 0.05, 1e-12);
    cr_assert_float_eq(t.c.usage[0], 1, 1e-12);
    arena_free(&t.a);
}

Test(repair, fills_by_gain_for_the_share_of_what_is_left)
{
    /* 0.3 left. Gain for share: 0.5/(0.3/0.3), 0.3/(0.1/0.3): the second; then the first does not
     * fit any more. */
    static const double options[][3][2] = {{{0.3, 0.5}, {0.6, 0}}, {{0.4, 0.3}, {0.5, 0}}};
    struct small t;
    small_init(&t, 2, options, (int[]){2, 2}, (int32_t[]){0, 0});
    cr_assert(repair_run(&t.w, &t.s, none, &t.c));
    cr_assert_eq(t.c.option[0], 0);
    cr_assert_eq(t.c.option[1], 3);
    arena_free(&t.a);
}

Test(repair, equal_moves_go_to_the_lower_job_and_then_to_the_lower_option)
{
    static const double options[][3][2] = {{{0.75, 0}, {0.5, 0.1}, {0.5, 0.1}},
                                           {{0.5, 0}, {0.25, 0.1}}};
    struct small t;
    small_init(&t, 2, options, (int[]){3, 2}, (int32_t[]){0, 0});
    cr_assert(repair_run(&t.w, &t.s, none, &t.c));
    cr_assert_eq(t.c.option[0], 1);
    cr_assert_eq(t.c.option[1], 3);
    arena_free(&t.a);
}

Test(repair, what_exactly_fills_the_capacity_fits)
{
    double options[4][3][2] = {{{0.1, 0}}, {{0.2, 0}}, {{0.3, 0}}, {{0.4, 0}}};
    struct small t;
    small_init(&t, 4, (const double(*)[3][2])options, (int[]){1, 1, 1, 1}, (int32_t[]){0, 0, 0, 0});
    cr_assert(repair_run(&t.w, &t.s, none, &t.c));
    arena_free(&t.a);
}

Test(repair, says_no_where_the_least_demands_do_not_fit)
{
    static const double options[][3][2] = {{{0.9, 0}, {0.6, 0.3}}, {{0.5, 0}, {0.41, 0.2}}};
    struct small t;
    small_init(&t, 2, options, (int[]){2, 2}, (int32_t[]){0, 0});
    cr_assert_not(repair_run(&t.w, &t.s, none, &t.c));
    cr_assert_not(repair_from_footprint(&t.w, &t.s, none, &t.c));
    cr_assert_float_eq(t.c.usage[0], 1.01, 1e-12, "the least there is");
    arena_free(&t.a);
}

/* Used from the fast options: 1.2 and 0.4. Either job alone would use 0.8 and 1.25, or 1.35 and
 * 0.15, instead; both together 0.95 and 1. */
Test(repair, the_footprint_is_a_start_where_no_move_helps)
{
    static const int32_t begin[] = {0, 2, 4};
    static const double demand[] = {0.9, 0.1, 0.5, 0.95, 0.3, 0.3, 0.45, 0.05};
    static const double loss[] = {0, 0.25, 0, 0.25};
    const struct choice_problem p = {
        .n_jobs = 2, .n_rows = 4, .n_res = 2, .begin = begin, .demand = demand, .loss = loss};
    const double no_prices[] = {0, 0};
    struct arena a = {0};
    struct choice_set s;
    struct choice c;
    struct repair w;
    cr_assert(choice_set_init(&s, 2, 4, 4, &a) && choice_init(&c, 2, &a) && repair_init(&w, 2, &a));
    choice_set_load(&s, &p);
    choice_at_prices(&s, no_prices, &c);
    cr_assert_not(repair_run(&w, &s, no_prices, &c));
    cr_assert_float_eq(c.usage[0], 1.2, 1e-12);
    cr_assert(repair_from_footprint(&w, &s, no_prices, &c));
    cr_assert_float_eq(c.usage[0], 0.95, 1e-12);
    cr_assert_float_eq(c.score, 0.5, 1e-12);
    arena_free(&a);
}

Test(repair, what_it_returns_fits_and_no_single_move_would_lower_the_score)
{
    gsl_rng *rng = rng_stream(1, "test_repair");
    struct lab_families families;
    lab_families_make(&families, rng);
    for (int seed = 0; seed < 100; seed++) {
        const struct lab_shape shape = {.n_jobs = 40, .n_options = 10, .least = 0.1, .most = 0.9};
        struct arena a = {0};
        struct choice_problem p = lab_draw(&families, &shape, rng, &a);
        struct choice_set s;
        struct choice c;
        struct repair w;
        cr_assert(choice_set_init(&s, 40, p.begin[40], p.n_rows, &a) && choice_init(&c, 40, &a) &&
                  repair_init(&w, 40, &a));
        choice_set_load(&s, &p);
        double price[LAB_RES];
        for (int r = 0; r < LAB_RES; r++)
            price[r] = seed % 4 * 30 * gsl_rng_uniform(rng);
        choice_at_prices(&s, price, &c);
        if (!repair_run(&w, &s, price, &c)) {
            arena_free(&a);
            continue;
        }
        cr_assert(choice_over(&s, c.usage) <= 0);
        for (int32_t j = 0; j < 40; j++)
            for (int32_t o = p.begin[j]; o < p.begin[j + 1]; o++) {
                bool fits = true;
                for (int r = 0; r < LAB_RES; r++)
                    fits = fits && c.usage[r] + choice_demand(&s, o)[r] -
                                           choice_demand(&s, c.option[j])[r] <=
                                       s.capacity[r];
                cr_assert_not(fits && s.cost[o] < s.cost[c.option[j]] - 1e-9, "seed %d job %d",
                              seed, j);
            }
        arena_free(&a);
    }
    gsl_rng_free(rng);
}
