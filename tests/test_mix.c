#include "core/base/rng.h"
#include "core/elastico/mix.h"
#include "tests/esp_lab.h"
#include "tests/leak.h"

#include <criterion/criterion.h>
#include <math.h>

TestSuite(mix, .fini = abort_on_leak);

enum { N = 10 };

/* Ten jobs alike: fast takes 0.15 and costs nothing, slow takes 0.05 and costs 0.1. */
struct ten {
    int32_t begin[N + 1], row[2 * N];
    double demand[2], loss[2];
    struct choice_problem p;
    struct choice_set s;
    struct choice fast, slow, rounded;
    struct mix m;
    struct arena a;
};
static void ten_init(struct ten *t, const double *ceiling)
{
    *t = (struct ten){.demand = {0.15, 0.05}, .loss = {0, 0.1}};
    for (int j = 0; j < N; j++) {
        t->begin[j + 1] = 2 * (j + 1);
        t->row[2 * j + 1] = 1;
    }
    t->p = (struct choice_problem){.n_jobs = N,
                                   .n_rows = 2,
                                   .n_res = 1,
                                   .begin = t->begin,
                                   .row = t->row,
                                   .demand = t->demand,
                                   .loss = t->loss,
                                   .ceiling = ceiling};
    cr_assert(choice_set_init(&t->s, N, 2 * N, 2, &t->a) && choice_init(&t->fast, N, &t->a) &&
              choice_init(&t->slow, N, &t->a) && choice_init(&t->rounded, N, &t->a) &&
              mix_init(&t->m, N, &t->a));
    choice_set_load(&t->s, &t->p);
    mix_reset(&t->m);
    for (int j = 0; j < N; j++) {
        t->fast.option[j] = 2 * j;
        t->slow.option[j] = 2 * j + 1;
    }
    choice_measure(&t->s, &t->fast);
    choice_measure(&t->s, &t->slow);
}

Test(mix, half_and_half_where_one_uses_as_much_too_much_as_the_other_leaves)
{
    struct ten t;
    ten_init(&t, NULL);
    mix_add(&t.m, &t.s, &t.fast);
    cr_assert_not(t.m.full, "1.5 of the capacity");
    mix_add(&t.m, &t.s, &t.slow);
    cr_assert(t.m.full);
    cr_assert_float_eq(t.m.part[0], 0.5, 1e-9);
    cr_assert_float_eq(t.m.part[1], 0.5, 1e-9);
    cr_assert_float_eq(t.m.value, 0.5, 1e-9, "half of ten times 0.1");
    cr_assert_float_eq(t.m.price[0], 1, 1e-9, "0.1 lost for 0.1 freed");
    arena_free(&t.a);
}

Test(mix, rounding_gives_each_its_part_of_the_jobs)
{
    struct ten t;
    ten_init(&t, NULL);
    mix_add(&t.m, &t.s, &t.fast);
    mix_add(&t.m, &t.s, &t.slow);
    mix_round(&t.m, &t.s, &t.rounded);
    cr_assert_float_eq(t.rounded.usage[0], 1, 1e-9);
    cr_assert_float_eq(t.rounded.score, 0.5, 1e-9);
    arena_free(&t.a);
}

Test(mix, a_soft_resource_is_exceeded_where_that_is_cheaper)
{
    static const struct {
        double ceiling, value, price;
    } rows[] = {
        {0.5, 0.25, 0.5}, /* all fast: 0.5 too much at 0.5 */
        {2, 0.5, 1},      /* dearer than slowing half of them */
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct ten t;
        ten_init(&t, &rows[i].ceiling);
        mix_add(&t.m, &t.s, &t.fast);
        mix_add(&t.m, &t.s, &t.slow);
        cr_assert(t.m.full);
        cr_assert_float_eq(t.m.value, rows[i].value, 1e-9);
        cr_assert_float_eq(t.m.price[0], rows[i].price, 1e-9);
        arena_free(&t.a);
    }
}

/* Every choice kept scores at least the mixture's value at the mixture's prices, and the mixture
 * holds the capacity: nothing mixes better. */
static void check_is_best(const struct mix *m, const struct choice_set *s)
{
    double usage[LAB_RES] = {0}, cost = 0, sum = 0;
    for (int i = 0; i < m->n; i++) {
        double score = m->cost[i];
        for (int r = 0; r < LAB_RES; r++) {
            score += m->price[r] * (m->usage[i][r] - s->capacity[r]);
            usage[r] += m->part[i] * m->usage[i][r];
        }
        cr_assert_geq(score, m->value - 1e-7 * (1 + m->value));
        cr_assert_geq(m->part[i], 0);
        cost += m->part[i] * m->cost[i];
        sum += m->part[i];
    }
    cr_assert_float_eq(sum, 1, 1e-8);
    cr_assert_float_eq(cost, m->value, 1e-9 * (1 + cost));
    for (int r = 0; r < LAB_RES; r++)
        cr_assert_leq(usage[r], s->capacity[r] + 1e-9);
}

Test(mix, the_mixture_is_the_best_there_is_never_gets_worse_and_rounds_to_nearly_what_it_uses)
{
    gsl_rng *rng = rng_stream(1, "test_mix");
    struct lab_families families;
    lab_families_make(&families, rng);
    int n_full = 0;
    for (int seed = 0; seed < 30; seed++) {
        const struct lab_shape shape = {.n_jobs = 100, .n_options = 8, .least = 0.2, .most = 0.9};
        struct arena a = {0};
        struct choice_problem p = lab_draw(&families, &shape, rng, &a);
        struct choice_set s;
        struct choice c;
        struct mix m;
        cr_assert(choice_set_init(&s, 100, p.begin[100], p.n_rows, &a) &&
                  choice_init(&c, 100, &a) && mix_init(&m, 100, &a));
        choice_set_load(&s, &p);
        mix_reset(&m);
        double most[LAB_RES] = {0}, value = INFINITY;
        for (int i = 0; i < p.n_rows * LAB_RES; i++)
            most[i % LAB_RES] = fmax(most[i % LAB_RES], p.demand[i]);
        for (int i = 0; i < 3 * MIX_CHOICES; i++) {
            double price[LAB_RES];
            for (int r = 0; r < LAB_RES; r++)
                price[r] = 300 * gsl_rng_uniform(rng) * (i % 3);
            double dual = choice_at_prices(&s, price, &c);
            mix_add(&m, &s, &c);
            if (!m.full)
                continue;
            check_is_best(&m, &s);
            cr_assert_leq(m.value, value + 1e-9);
            cr_assert_leq(dual, m.value + 1e-9 * (1 + m.value));
            value = m.value;
        }
        if (m.full) {
            n_full++;
            mix_round(&m, &s, &c);
            for (int r = 0; r < LAB_RES; r++)
                cr_assert_leq(c.usage[r], s.capacity[r] + LAB_RES * most[r]);
        }
        arena_free(&a);
    }
    cr_assert_gt(n_full, 20);
    gsl_rng_free(rng);
}
