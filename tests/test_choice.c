#include "core/base/rng.h"
#include "core/elastico/choice.h"
#include "tests/esp_lab.h"
#include "tests/leak.h"

#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

TestSuite(choice, .fini = abort_on_leak);

static struct choice_set set_of(const struct choice_problem *p, struct arena *a)
{
    struct choice_set s;
    cr_assert(choice_set_init(&s, p->n_jobs, p->begin[p->n_jobs], p->n_rows, a));
    choice_set_load(&s, p);
    return s;
}

/* Two jobs of one workload (rows: fast 0.6 of the resource, loss 0; slow 0.2, loss 0.3), the second
 * twice as heavy and twice as large; it may wait (row 2). */
static const int32_t begin[] = {0, 2, 5}, row[] = {0, 1, 0, 1, 2};
static const double demand[] = {0.6, 0.2, 0}, loss[] = {0, 0.3, 1};
static const double weight[] = {1, 2}, size[] = {1, 2};
static const struct choice_problem two_jobs = {.n_jobs = 2,
                                               .n_rows = 3,
                                               .n_res = 1,
                                               .begin = begin,
                                               .row = row,
                                               .demand = demand,
                                               .loss = loss,
                                               .weight = weight,
                                               .size = size};

Test(choice, at_prices_each_job_takes_the_least_of_cost_and_rent)
{
    /* Scores at price p: job 0: 0.6p, 0.3 + 0.2p. Job 1: 1.2p, 0.6 + 0.4p, 2. */
    static const struct {
        double price, dual, usage, score;
        int32_t option[2];
    } rows[] = {
        {0, 0, 1.8, 0, {0, 2}},
        {0.5, 0.3 + 0.6 - 0.5, 1.8, 0, {0, 2}},
        {1, 0.5 + 1 - 1, 0.6, 0.9, {1, 3}},
        {4, 1.1 + 2 - 4, 0.2, 2.3, {1, 4}},
    };
    struct arena a = {0};
    struct choice_set s = set_of(&two_jobs, &a);
    struct choice c;
    cr_assert(choice_init(&c, 2, &a));
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        cr_assert_float_eq(choice_at_prices(&s, &rows[i].price, &c), rows[i].dual, 1e-12);
        cr_assert_float_eq(c.usage[0], rows[i].usage, 1e-12);
        cr_assert_float_eq(c.score, rows[i].score, 1e-12);
        cr_assert_arr_eq(c.option, rows[i].option, sizeof rows[i].option);
    }
    arena_free(&a);
}

Test(choice, a_penalty_is_added_and_an_option_not_allowed_is_never_taken)
{
    static const double penalty[] = {0.31, 0, 0, 0, 0};
    static const bool allowed[] = {true, true, false, true, true};
    struct choice_problem p = two_jobs;
    p.penalty = penalty;
    p.allowed = allowed;
    struct arena a = {0};
    struct choice_set s = set_of(&p, &a);
    struct choice c;
    cr_assert(choice_init(&c, 2, &a));
    double none = 0;
    cr_assert_float_eq(choice_at_prices(&s, &none, &c), 0.3 + 0.6, 1e-12);
    cr_assert_eq(c.option[0], 1, "0.3 is less than 0.31");
    cr_assert_eq(c.option[1], 3, "the fast one is not allowed");
    cr_assert_float_eq(s.score_max, 0.31 + 2, 1e-12);
    arena_free(&a);
}

Test(choice, equal_options_go_to_the_lower_number)
{
    /* At price 0.75 the fast and the slow one cost 0.45 both: exactly, in halves. */
    static const double demand_halves[] = {0.75, 0.25, 0}, loss_halves[] = {0, 0.25, 1};
    struct choice_problem p = two_jobs;
    p.demand = demand_halves;
    p.loss = loss_halves;
    struct arena a = {0};
    struct choice_set s = set_of(&p, &a);
    struct choice c;
    cr_assert(choice_init(&c, 2, &a));
    double price = 0.5;
    choice_at_prices(&s, &price, &c);
    cr_assert_eq(c.option[0], 0);
    cr_assert_eq(c.option[1], 2);
    arena_free(&a);
}

Test(choice, a_soft_resource_may_be_exceeded_at_its_ceiling)
{
    static const double ceiling[] = {5};
    struct choice_problem p = two_jobs;
    p.ceiling = ceiling;
    struct arena a = {0};
    struct choice_set s = set_of(&p, &a);
    struct choice c;
    cr_assert(choice_init(&c, 2, &a));
    double none = 0;
    choice_at_prices(&s, &none, &c);
    cr_assert_float_eq(c.score, 5 * 0.8, 1e-12);
    cr_assert_float_eq(choice_over(&s, c.usage), 0, 0);
    cr_assert_float_eq(s.score_max, 0.3 + 2 + 5 * 0.8, 1e-12);
    arena_free(&a);
}

/* The dual as it is defined, straight from the caller's arrays. */
static double dual_by_hand(const struct choice_problem *p, const double *price)
{
    double dual = 0;
    for (int32_t j = 0; j < p->n_jobs; j++) {
        double least = INFINITY;
        for (int32_t o = p->begin[j]; o < p->begin[j + 1]; o++) {
            double score = p->loss[p->row[o]] * p->weight[j];
            for (int r = 0; r < p->n_res; r++)
                score += price[r] * p->size[j] * p->demand[p->row[o] * p->n_res + r];
            least = fmin(least, score);
        }
        dual += least;
    }
    for (int r = 0; r < p->n_res; r++)
        dual -= price[r];
    return dual;
}

Test(choice, the_dual_is_what_it_is_defined_as_for_one_to_eight_resources)
{
    gsl_rng *rng = rng_stream(1, "test_choice");
    struct lab_families families;
    lab_families_make(&families, rng);
    const struct lab_shape shape = {
        .n_jobs = 40, .n_options = 9, .gangs = true, .weights = true, .least = 0.1, .most = 0.9};
    for (int n_res = 1; n_res <= CHOICE_RES_MAX; n_res++) {
        struct arena a = {0};
        struct choice_problem p = lab_draw(&families, &shape, rng, &a);
        double *wide = arena_alloc(&a, (size_t)(p.n_rows * n_res), sizeof *wide);
        for (int i = 0; i < p.n_rows * n_res; i++)
            wide[i] = gsl_rng_uniform(rng) / 40;
        p.demand = wide;
        p.n_res = n_res;
        struct choice_set s = set_of(&p, &a);
        struct choice c;
        cr_assert(choice_init(&c, p.n_jobs, &a));
        double price[CHOICE_RES_MAX];
        for (int r = 0; r < n_res; r++)
            price[r] = 50 * gsl_rng_uniform(rng);
        cr_assert_float_eq(choice_at_prices(&s, price, &c), dual_by_hand(&p, price), 1e-9);
        arena_free(&a);
    }
    gsl_rng_free(rng);
}

Test(choice, a_shared_row_is_the_same_as_a_row_of_ones_own)
{
    gsl_rng *rng = rng_stream(2, "test_choice");
    struct lab_families families;
    lab_families_make(&families, rng);
    const struct lab_shape shape = {.n_jobs = 60, .n_options = 8, .least = 0.1, .most = 0.9};
    struct arena a = {0};
    struct choice_problem shared = lab_draw(&families, &shape, rng, &a), own = shared;
    const int32_t n = shared.begin[shared.n_jobs];
    double *own_demand = arena_alloc(&a, (size_t)n * LAB_RES, sizeof *own_demand);
    double *own_loss = arena_alloc(&a, (size_t)n, sizeof *own_loss);
    for (int32_t o = 0; o < n; o++) {
        own_loss[o] = shared.loss[shared.row[o]];
        memcpy(own_demand + o * LAB_RES, shared.demand + shared.row[o] * LAB_RES,
               LAB_RES * sizeof *own_demand);
    }
    own.row = NULL;
    own.n_rows = n;
    own.demand = own_demand;
    own.loss = own_loss;
    struct choice_set s = set_of(&shared, &a), t = set_of(&own, &a);
    struct choice c, d;
    cr_assert(choice_init(&c, 60, &a) && choice_init(&d, 60, &a));
    const double price[LAB_RES] = {3, 1, 0, 20};
    cr_assert(choice_at_prices(&s, price, &c) == choice_at_prices(&t, price, &d));
    cr_assert_arr_eq(c.option, d.option, 60 * sizeof *c.option);
    cr_assert_arr_eq(c.usage, d.usage, sizeof c.usage);
    arena_free(&a);
    gsl_rng_free(rng);
}
