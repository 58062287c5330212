/* Shadow pricing against GLPK: the exact optimum of up to 20 jobs of 20 configurations, the linear
 * relaxation of 50. */
#include "core/base/rng.h"
#include "tests/catalogs.h"
#include "tests/esp_glpk.h"
#include "tests/esp_lab.h"
#include "tests/leak.h"

#include <criterion/criterion.h>
#include <math.h>

TestSuite(esp_glpk, .fini = abort_on_leak, .timeout = 240);

static struct lab_families catalog_families(void)
{
    static const char embedded[] = EMBEDDED_CATALOG;
    struct lab_families f;
    struct catalog c;
    catalog_open(&c, embedded);
    lab_families_take(&f, &c.p);
    catalog_close(&c);
    return f;
}

/* What of many problems of one shape. */
struct tally {
    int n, n_none, n_proven, n_best, n_greedy;
    double loss_gap, loss_gap_greedy, bound_gap;
};

static void check_one(struct tally *t, const struct choice_problem *p, bool exact, int seed)
{
    struct arena a = {0};
    struct esp e;
    const struct esp_config config = lab_esp_config();
    struct esp_result result;
    double price[LAB_RES];
    const double optimum = exact ? glpk_exact(p) : glpk_relaxed(p);
    cr_assert(!isnan(optimum), "seed %d: GLPK failed", seed);
    cr_assert(esp_init(&e, p->n_jobs, p->begin[p->n_jobs], p->n_rows, &a));
    esp_solve(&e, p, &config, false, price, &result);
    cr_assert_eq(result.feasible, isfinite(optimum), "seed %d: optimum %g", seed, optimum);
    cr_assert(!result.impossible || isinf(optimum), "seed %d", seed);
    t->n_none += !result.feasible;
    t->n_proven += result.impossible;
    if (result.feasible) {
        cr_assert_leq(result.bound, optimum + 1e-6, "seed %d", seed);
        cr_assert_leq(optimum, result.score + 1e-6, "seed %d", seed);
        t->n++;
        t->n_best += result.score <= optimum + 1e-6;
        t->loss_gap += result.score / optimum - 1;
        t->bound_gap += 1 - result.bound / optimum;
        esp_greedy(&e, p, &result);
        cr_assert_leq(optimum, result.score + 1e-6, "seed %d", seed);
        t->n_greedy += result.feasible;
        t->loss_gap_greedy += result.feasible ? result.score / optimum - 1 : 0;
    }
    arena_free(&a);
}

static struct tally check_many(const struct lab_shape *shape, bool exact, int n_seeds)
{
    struct lab_families families = catalog_families();
    struct tally t = {0};
    for (int seed = 0; seed < n_seeds; seed++) {
        gsl_rng *rng = rng_stream((uint64_t)seed, "test_esp_glpk");
        struct arena a = {0};
        const struct choice_problem p = lab_draw(&families, shape, rng, &a);
        check_one(&t, &p, exact, seed);
        arena_free(&a);
        gsl_rng_free(rng);
    }
    cr_log_info(
        "%2d jobs, capacity %3.0f..%.0f %%: %3d fit, %2d of the other %2d proven; loss over "
        "the %s %.2f %%, without prices %.2f %%; bound %.2f %% below; %d exact",
        shape->n_jobs, 100 * shape->least, 100 * shape->most, t.n, t.n_proven, t.n_none,
        exact ? "optimum" : "LP", 100 * t.loss_gap / t.n, 100 * t.loss_gap_greedy / t.n_greedy,
        100 * t.bound_gap / t.n, t.n_best);
    return t;
}

/* Weights and gangs tell jobs apart; without them branch and bound has no end. */
Test(esp_glpk, the_optimum_lies_between_bound_and_score_and_what_fits_is_found)
{
    static const struct lab_shape shapes[] = {
        {4, 20, true, true, false, 0.1, 0.9},  {8, 20, true, true, false, 0.1, 0.9},
        {12, 20, true, true, true, 0.1, 0.9},  {16, 20, true, true, false, 0.1, 0.9},
        {20, 20, true, true, false, 0.1, 0.9}, {20, 20, true, true, true, 0.1, 0.9},
    };
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        const struct tally t = check_many(&shapes[i], true, 50);
        cr_assert_geq(t.n, 45);
        cr_assert_eq(t.n_greedy, t.n);
        cr_assert_leq(t.loss_gap, t.loss_gap_greedy);
    }
}

Test(esp_glpk, what_hardly_fits_is_found)
{
    static const struct lab_shape shapes[] = {
        {8, 6, true, true, false, 0, 0.1},
        {20, 20, true, true, false, 0, 0.1},
        {20, 20, true, true, true, 0, 0.2},
    };
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        const struct tally t = check_many(&shapes[i], true, 100);
        cr_assert(t.n > 20 && t.n_none > 10);
    }
}

Test(esp_glpk, the_linear_relaxation_of_fifty_jobs_lies_between_bound_and_score)
{
    const struct lab_shape shape = {50, 20, false, false, false, 0.1, 0.9};
    const struct tally t = check_many(&shape, false, 200);
    cr_assert_eq(t.n, 200);
    cr_assert_lt(t.loss_gap / t.n, 0.05);
    cr_assert_lt(t.bound_gap / t.n, 0.005);
}
