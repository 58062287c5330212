#include "core/base/rng.h"
#include "core/elastico/exchange.h"
#include "tests/esp_lab.h"
#include "tests/leak.h"

#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

TestSuite(exchange, .fini = abort_on_leak);

struct world {
    struct choice_set s;
    struct choice c;
    struct arena a;
};
static void world_init(struct world *w, const struct choice_problem *p)
{
    const int32_t n_options = p->begin[p->n_jobs];
    *w = (struct world){0};
    cr_assert(choice_set_init(&w->s, p->n_jobs, n_options, p->n_rows, &w->a) &&
              choice_init(&w->c, p->n_jobs, &w->a));
    choice_set_load(&w->s, p);
}
static void start_at(struct world *w, const int32_t *option)
{
    memcpy(w->c.option, option, (size_t)w->s.p->n_jobs * sizeof *option);
    choice_measure(&w->s, &w->c);
}

/* Used at first: 1.2 and 0.4. One job's move makes it 0.8 and 1.25, the other's 1.35 and 0.15, both
 * 0.95 and 1. */
static const int32_t begin[] = {0, 2, 4};
static const double demand[] = {0.9, 0.1, 0.5, 0.95, 0.3, 0.3, 0.45, 0.05};
static const double loss[] = {0, 0.25, 0, 0.25};
static const struct choice_problem two_jobs = {
    .n_jobs = 2, .n_rows = 4, .n_res = 2, .begin = begin, .demand = demand, .loss = loss};

Test(exchange, two_moves_help_where_neither_does_alone)
{
    struct world w;
    world_init(&w, &two_jobs);
    start_at(&w, (int32_t[]){0, 2});
    cr_assert(exchange_run(&w.s, &w.c));
    cr_assert_eq(w.c.option[0], 1);
    cr_assert_eq(w.c.option[1], 3);
    cr_assert_float_eq(w.c.usage[0], 0.95, 1e-12);
    cr_assert_float_eq(w.c.score, 0.5, 1e-12);
    arena_free(&w.a);
}

Test(exchange, says_no_where_no_pair_helps_or_an_option_is_not_allowed)
{
    static const double high[] = {0.9, 0.1, 0.5, 0.95, 0.3, 0.3, 0.55, 0.1};
    static const bool allowed[] = {true, true, true, false};
    struct choice_problem problems[] = {two_jobs, two_jobs};
    problems[0].demand = high; /* 1.05 in both at best */
    problems[1].allowed = allowed;
    for (int i = 0; i < 2; i++) {
        struct world w;
        world_init(&w, &problems[i]);
        start_at(&w, (int32_t[]){0, 2});
        const double over = choice_over(&w.s, w.c.usage);
        cr_assert_not(exchange_run(&w.s, &w.c));
        cr_assert_leq(choice_over(&w.s, w.c.usage), over);
        arena_free(&w.a);
    }
}

/* The least overuse that a change of at most two jobs leaves. */
static double least_by_pairs(const struct world *w)
{
    const struct choice_problem *p = w->s.p;
    double least = choice_over(&w->s, w->c.usage);
    int32_t option[8];
    struct choice other = {.option = option};
    for (int32_t j = 0; j < p->n_jobs; j++)
        for (int32_t k = 0; k < p->n_jobs; k++)
            for (int32_t a = p->begin[j]; a < p->begin[j + 1]; a++)
                for (int32_t b = p->begin[k]; b < p->begin[k + 1]; b++) {
                    memcpy(option, w->c.option, (size_t)p->n_jobs * sizeof *option);
                    option[j] = a;
                    option[k] = b;
                    choice_measure(&w->s, &other);
                    least = fmin(least, choice_over(&w->s, other.usage));
                }
    return least;
}

Test(exchange, it_ends_where_it_fits_or_no_change_of_two_jobs_overuses_less)
{
    static struct lab_families families;
    gsl_rng *rng = rng_stream(1, "test_exchange");
    int n_fit = 0, n_stuck = 0;
    for (int seed = 0; seed < 200; seed++) {
        const struct lab_shape shape = {8, 6, true, false, false, 0, 0.15};
        struct arena a = {0};
        struct world w;
        lab_families_make(&families, rng);
        const struct choice_problem p = lab_draw(&families, &shape, rng, &a);
        world_init(&w, &p);
        start_at(&w, p.begin);
        if (exchange_run(&w.s, &w.c)) {
            cr_assert(choice_over(&w.s, w.c.usage) <= 0);
            n_fit++;
        } else {
            cr_assert_float_eq(choice_over(&w.s, w.c.usage), least_by_pairs(&w), 1e-9);
            n_stuck++;
        }
        arena_free(&w.a);
        arena_free(&a);
    }
    cr_assert(n_fit > 10 && n_stuck > 10, "%d fit, %d do not", n_fit, n_stuck);
    gsl_rng_free(rng);
}
