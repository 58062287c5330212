/* Shadow pricing: its bound and its score around the optimum by exhaustive search, how near they
 * are to each other, and what becomes of prices when jobs come and go. */
#include "core/base/rng.h"
#include "tests/catalogs.h"
#include "tests/esp_lab.h"
#include "tests/leak.h"

#include <criterion/criterion.h>
#include <gsl/gsl_sort_double.h>
#include <gsl/gsl_statistics_double.h>
#include <math.h>
#include <string.h>

TestSuite(esp, .fini = abort_on_leak, .timeout = 120);

static struct esp room_for(const struct choice_problem *p, struct arena *a)
{
    struct esp e;
    cr_assert(esp_init(&e, p->n_jobs, p->begin[p->n_jobs], p->n_rows, a));
    return e;
}

/* Problems small enough to try every choice: random tables, nothing of the catalog's shape. */
enum { TINY_JOBS = 5, TINY_OPTIONS = 4, TINY_RES = 4, TINY_ROWS = TINY_JOBS * TINY_OPTIONS };
struct tiny {
    int32_t begin[TINY_JOBS + 1], row[TINY_ROWS], current[TINY_JOBS];
    double demand[TINY_ROWS * TINY_RES], loss[TINY_ROWS], penalty[TINY_ROWS];
    double weight[TINY_JOBS], size[TINY_JOBS], capacity[TINY_RES], ceiling[TINY_RES];
    bool allowed[TINY_ROWS];
    struct choice_problem p;
};

static int below(gsl_rng *rng, int n) { return (int)gsl_rng_uniform_int(rng, (unsigned long)n); }

static void tiny_draw(struct tiny *t, gsl_rng *rng)
{
    const int n_jobs = below(rng, TINY_JOBS + 1), n_res = 1 + below(rng, TINY_RES);
    *t = (struct tiny){0};
    for (int j = 0; j < n_jobs; j++) {
        t->begin[j + 1] = t->begin[j] + 1 + below(rng, TINY_OPTIONS);
        t->weight[j] = 0.5 + gsl_rng_uniform(rng);
        t->size[j] = 1 << below(rng, 3);
        const int32_t sure = t->begin[j] + below(rng, t->begin[j + 1] - t->begin[j]);
        for (int32_t o = t->begin[j]; o < t->begin[j + 1]; o++)
            t->allowed[o] = o == sure || below(rng, 5) > 0;
        t->current[j] = below(rng, 3) > 0 ? sure : -1;
    }
    const int32_t n = t->begin[n_jobs];
    for (int32_t o = 0; o < n; o++) {
        t->row[o] = below(rng, n);
        t->loss[o] = below(rng, 4) > 0 ? gsl_rng_uniform(rng) : 0.25 * below(rng, 5);
        t->penalty[o] = below(rng, 2) * 0.2 * gsl_rng_uniform(rng);
        for (int r = 0; r < n_res; r++)
            t->demand[o * n_res + r] = below(rng, 4) > 0 ? gsl_rng_uniform(rng) / 4 : 0;
    }
    for (int r = 0; r < n_res; r++) {
        t->capacity[r] = 0.2 + gsl_rng_uniform(rng);
        t->ceiling[r] = below(rng, 4) > 0 ? INFINITY : 4 * gsl_rng_uniform(rng);
    }
    t->p = (struct choice_problem){n_jobs,     n,           n_res,      t->begin,   t->row,
                                   t->demand,  t->loss,     t->weight,  t->size,    t->penalty,
                                   t->allowed, t->capacity, t->ceiling, t->current, 8};
}

/* What a choice scores, INFINITY where it does not fit: straight from the definition. */
static double score_of(const struct choice_problem *p, const int32_t *option)
{
    double score = 0, usage[TINY_RES] = {0};
    for (int32_t j = 0; j < p->n_jobs; j++) {
        const int32_t o = option[j], row = p->row[o];
        if (!p->allowed[o])
            return INFINITY;
        score += p->weight[j] * p->loss[row] + p->penalty[o];
        for (int r = 0; r < p->n_res; r++)
            usage[r] += p->size[j] * p->demand[row * p->n_res + r];
    }
    for (int r = 0; r < p->n_res; r++)
        if (usage[r] > p->capacity[r] + CHOICE_SLACK)
            score += p->ceiling[r] * (usage[r] - p->capacity[r]);
    return score;
}

static double by_exhaustive_search(const struct choice_problem *p)
{
    int32_t option[TINY_JOBS];
    memcpy(option, p->begin, sizeof option);
    double best = INFINITY;
    for (;;) {
        best = fmin(best, score_of(p, option));
        int32_t j = 0;
        while (j < p->n_jobs && ++option[j] == p->begin[j + 1]) {
            option[j] = p->begin[j];
            j++;
        }
        if (j == p->n_jobs)
            return best;
    }
}

/* The bound may be off by CHOICE_SLACK times the prices. */
static void check_around(const struct choice_problem *p, const struct esp_result *result,
                         const double *price, double optimum, int seed)
{
    double tolerance = 1e-8;
    for (int r = 0; price != NULL && r < p->n_res; r++)
        tolerance += CHOICE_SLACK * price[r];
    cr_assert_leq(result->bound, optimum + tolerance, "seed %d: bound %g, optimum %g", seed,
                  result->bound, optimum);
    cr_assert_eq(result->feasible, isfinite(optimum), "seed %d: the optimum is %g", seed, optimum);
    cr_assert(!result->impossible || isinf(optimum), "seed %d", seed);
    if (!result->feasible)
        return;
    cr_assert_geq(result->score, optimum - 1e-8, "seed %d", seed);
    cr_assert_float_eq(score_of(p, result->option), result->score, 1e-8, "seed %d", seed);
}

Test(esp, bound_optimum_and_score_are_in_this_order_and_what_can_fit_does)
{
    static const double starts[][TINY_RES] = {
        {0}, {0.1, 1, 10, 100}, {NAN, -3, INFINITY, 1e300}, {1e9, 1e9, 1e9, 1e9}};
    enum { N_STARTS = sizeof starts / sizeof *starts, SEEDS = 3000 };
    gsl_rng *rng = rng_stream(1, "test_esp_tiny");
    int n_fit = 0, n_proven = 0, n_best = 0;
    for (int seed = 0; seed < SEEDS; seed++) {
        struct tiny t;
        tiny_draw(&t, rng);
        t.p.current = seed % 2 ? t.current : NULL;
        const double optimum = by_exhaustive_search(&t.p);
        struct arena a = {0};
        struct esp e = room_for(&t.p, &a);
        struct esp_config config = lab_esp_config();
        struct esp_result result;
        for (config.step = ESP_STEP_MIX; config.step <= ESP_STEP_SQRT; config.step++)
            for (int start = 0; start < N_STARTS; start++) {
                double price[TINY_RES];
                memcpy(price, starts[start], sizeof price);
                esp_solve(&e, &t.p, &config, start > 0, price, &result);
                check_around(&t.p, &result, price, optimum, seed);
            }
        n_fit += isfinite(optimum);
        n_proven += result.impossible;
        n_best += result.feasible && result.score <= optimum + 1e-8;
        esp_greedy(&e, &t.p, &result);
        check_around(&t.p, &result, NULL, optimum, seed);
        arena_free(&a);
    }
    cr_log_info("%d problems: %d have a choice that fits, the best was found %d times; of the "
                "others %d were proven to have none",
                SEEDS, n_fit, n_best, n_proven);
    cr_assert(n_fit > SEEDS / 2 && n_fit < SEEDS && n_proven > 0);
    gsl_rng_free(rng);
}

/* 50 jobs of up to 20 configurations of the catalog's and 4 resources, room for 10 to 90 % of the
 * way from what they need at least to what they need at their fastest. */
enum { SEEDS = 200, JOBS = 50 };
static const struct lab_shape shape_50 = {
    .n_jobs = JOBS, .n_options = 20, .least = 0.1, .most = 0.9};

static struct lab_families catalog_families(void)
{
    static const char embedded[] = EMBEDDED_CATALOG;
    struct lab_families f;
    struct catalog c;
    catalog_open(&c, embedded);
    lab_families_take(&f, &c.p);
    catalog_close(&c);
    cr_assert_eq(f.n, LAB_FAMILIES);
    return f;
}

/* Value gap: of the throughput, in jobs at full speed, that the dual leaves possible. Loss gap: of
 * the throughput lost at best. */
struct gaps {
    int n;
    double value[SEEDS], loss[SEEDS];
};
static void gaps_add(struct gaps *g, double score, double bound)
{
    g->value[g->n] = (score - bound) / (JOBS - bound);
    g->loss[g->n++] = score / bound - 1;
}
static double mean(const double *x, int n) { return gsl_stats_mean(x, 1, (size_t)n); }
static void gaps_say(struct gaps *g, const char *what)
{
    gsl_sort(g->value, 1, (size_t)g->n);
    gsl_sort(g->loss, 1, (size_t)g->n);
    cr_log_info("%-28s n %d: value gap mean %.2f %%, 95th percentile %.2f %%; loss gap mean %.2f "
                "%%, 95th percentile %.2f %%, worst %.1f %%",
                what, g->n, 100 * mean(g->value, g->n),
                100 * gsl_stats_quantile_from_sorted_data(g->value, 1, (size_t)g->n, .95),
                100 * mean(g->loss, g->n),
                100 * gsl_stats_quantile_from_sorted_data(g->loss, 1, (size_t)g->n, .95),
                100 * g->loss[g->n - 1]);
}

static void check_small_gaps(const struct lab_shape *shape, const char *what)
{
    struct lab_families families = catalog_families();
    struct esp_config config = lab_esp_config();
    struct gaps priced = {0}, greedy = {0};
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        gsl_rng *rng = rng_stream(seed, "test_esp");
        struct arena a = {0};
        struct choice_problem p = lab_draw(&families, shape, rng, &a);
        struct esp e = room_for(&p, &a);
        struct esp_result result;
        double price[LAB_RES];
        esp_solve(&e, &p, &config, false, price, &result);
        cr_assert(result.feasible || result.impossible, "seed %d", (int)seed);
        if (result.feasible) {
            const double bound = result.bound;
            gaps_add(&priced, result.score, bound);
            esp_greedy(&e, &p, &result);
            cr_assert(result.feasible, "seed %d: not without prices", (int)seed);
            gaps_add(&greedy, result.score, bound);
        }
        arena_free(&a);
        gsl_rng_free(rng);
    }
    char name[64];
    snprintf(name, sizeof name, "%s, priced", what);
    gaps_say(&priced, name);
    snprintf(name, sizeof name, "%s, greedy", what);
    gaps_say(&greedy, name);
    cr_assert_geq(priced.n, SEEDS - 2, "the others have no choice that fits");
    cr_assert_lt(mean(priced.value, priced.n), 0.01);
    cr_assert_lt(gsl_stats_quantile_from_sorted_data(priced.value, 1, (size_t)priced.n, .95), 0.03);
    cr_assert_lt(mean(priced.loss, priced.n), 0.05);
    cr_assert_leq(mean(priced.loss, priced.n), mean(greedy.loss, greedy.n) / 2);
}

Test(esp, gaps_to_its_own_bound_are_small_where_each_resource_is_as_scarce_as_it_may)
{
    check_small_gaps(&shape_50, "each resource its own");
}

Test(esp, gaps_to_its_own_bound_are_small_where_all_resources_are_equally_scarce)
{
    struct lab_shape shape = shape_50;
    shape.one_fraction = true;
    check_small_gaps(&shape, "all alike");
}

/* Some jobs of a problem in a cluster of the given part of its capacity. */
static struct choice_problem window(const struct choice_problem *p, int first, int n_jobs,
                                    double *capacity, double part)
{
    struct choice_problem some = *p;
    for (int r = 0; r < LAB_RES; r++)
        capacity[r] = part;
    some.capacity = capacity;
    some.begin += first;
    some.weight += first;
    some.size += first;
    some.n_jobs = n_jobs;
    return some;
}

Test(esp, from_the_last_prices_five_iterations_keep_up_with_jobs_that_come_and_go)
{
    enum { CHAINS = 10, PASSES = SEEDS / CHAINS, GONE = 5, ALL = JOBS + PASSES * GONE };
    struct lab_families families = catalog_families();
    const struct esp_config config = lab_esp_config();
    struct lab_shape shape = shape_50;
    shape.n_jobs = ALL;
    shape.most = 0.5;
    /* Host memory cannot be saved: some fifties need this much more of it than others. */
    const double part = 1.2 * JOBS / ALL;
    struct gaps warm = {0};
    int iterations = 0, iterations_cold = 0;
    for (uint64_t seed = 0; seed < CHAINS; seed++) {
        gsl_rng *rng = rng_stream(seed, "test_esp_chain");
        struct arena a = {0};
        const struct choice_problem all = lab_draw(&families, &shape, rng, &a);
        struct esp e = room_for(&all, &a), other = room_for(&all, &a);
        double price[LAB_RES], none[LAB_RES], capacity[LAB_RES];
        for (int pass = 0; pass <= PASSES; pass++) {
            const struct choice_problem p = window(&all, pass * GONE, JOBS, capacity, part);
            struct esp_result result, cold;
            esp_solve(&other, &p, &config, false, none, &cold);
            esp_solve(&e, &p, &config, pass > 0, price, &result);
            cr_assert_eq(result.feasible, cold.feasible);
            if (pass == 0 || !result.feasible)
                continue;
            cr_assert_leq(result.iterations, config.iterations_warm);
            gaps_add(&warm, result.score, fmax(result.bound, cold.bound));
            iterations += result.iterations;
            iterations_cold += cold.iterations;
        }
        arena_free(&a);
        gsl_rng_free(rng);
    }
    gaps_say(&warm, "a tenth of the jobs replaced");
    cr_log_info("iterations: %.1f, and %.1f from nothing", (double)iterations / warm.n,
                (double)iterations_cold / warm.n);
    cr_assert_geq(warm.n, SEEDS * 9 / 10);
    cr_assert_lt(mean(warm.value, warm.n), 0.01);
    cr_assert_lt(gsl_stats_quantile_from_sorted_data(warm.value, 1, (size_t)warm.n, .95), 0.03);
    cr_assert_lt(mean(warm.loss, warm.n), 0.05);
    cr_assert_lt(iterations, iterations_cold / 2);
}

Test(esp, a_second_look_at_the_same_jobs_is_no_worse)
{
    struct lab_families families = catalog_families();
    const struct esp_config config = lab_esp_config();
    for (uint64_t seed = 0; seed < 50; seed++) {
        gsl_rng *rng = rng_stream(seed, "test_esp");
        struct arena a = {0};
        struct choice_problem p = lab_draw(&families, &shape_50, rng, &a);
        struct esp e = room_for(&p, &a);
        struct esp_result first, second;
        double price[LAB_RES];
        int32_t current[JOBS];
        esp_solve(&e, &p, &config, false, price, &first);
        memcpy(current, first.option, sizeof current);
        p.current = current;
        esp_solve(&e, &p, &config, true, price, &second);
        cr_assert_geq(second.bound, first.bound);
        cr_assert_leq(second.score, first.score + 1e-9);
        arena_free(&a);
        gsl_rng_free(rng);
    }
}

/* Jobs of a full cluster, as they are, in a cluster of their own: every change costs gamma_0. */
struct left {
    struct choice_problem p;
    double capacity[LAB_RES], *penalty;
    int32_t current[JOBS];
};
static void leave(struct left *left, const struct choice_problem *full, int n_jobs,
                  const int32_t *option, struct arena *a)
{
    left->p = window(full, 0, n_jobs, left->capacity, 1);
    memcpy(left->current, option, sizeof left->current);
    left->penalty = arena_alloc(a, (size_t)full->begin[n_jobs], sizeof *left->penalty);
    for (int32_t j = 0; j < n_jobs; j++)
        for (int32_t o = full->begin[j]; o < full->begin[j + 1]; o++)
            left->penalty[o] = o == option[j] ? 0 : 0.05;
    left->p.penalty = left->penalty;
    left->p.current = left->current;
}

static double loss_of(const struct choice_problem *p, int32_t option)
{
    return p->loss[p->row[option]];
}

Test(esp, after_the_load_halves_every_job_that_was_made_slower_runs_at_full_speed_again)
{
    struct lab_families families = catalog_families();
    const struct esp_config config = lab_esp_config();
    int n_slow = 0;
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        gsl_rng *rng = rng_stream(seed, "test_esp");
        struct arena a = {0};
        const struct choice_problem p = lab_draw(&families, &shape_50, rng, &a);
        struct esp e = room_for(&p, &a);
        struct esp_result result;
        struct left half;
        double price[LAB_RES];
        esp_solve(&e, &p, &config, false, price, &result);
        leave(&half, &p, JOBS / 2, result.option, &a);
        esp_solve(&e, &half.p, &config, true, price, &result);
        cr_assert(result.feasible);
        for (int32_t j = 0; j < JOBS / 2; j++) {
            const bool slow = loss_of(&p, half.current[j]) > 0.05; /* worth a switch */
            n_slow += slow;
            cr_assert(!slow || loss_of(&p, result.option[j]) <= 0, "seed %d job %d", (int)seed, j);
        }
        arena_free(&a);
        gsl_rng_free(rng);
    }
    cr_log_info("%d jobs of %d had been made slower", n_slow, SEEDS * JOBS / 2);
    cr_assert_gt(n_slow, SEEDS * JOBS / 2 / 5);
}

/* Where what is left still does not fit at full speed, prices must come down in the five iterations
 * that a warm start has: overuse alone, as the sign to stop, would leave them high. */
Test(esp, after_a_tenth_has_left_the_others_take_its_room)
{
    struct lab_families families = catalog_families();
    const struct esp_config config = lab_esp_config();
    struct lab_shape shape = shape_50;
    shape.most = 0.5;
    struct gaps gaps = {0};
    int n_faster = 0;
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        gsl_rng *rng = rng_stream(seed, "test_esp");
        struct arena a = {0};
        const struct choice_problem p = lab_draw(&families, &shape, rng, &a);
        struct esp e = room_for(&p, &a);
        struct esp_result full, result;
        double price[LAB_RES], capacity[LAB_RES], before = 0;
        esp_solve(&e, &p, &config, false, price, &full);
        for (int32_t j = 0; j < JOBS * 9 / 10; j++)
            before += loss_of(&p, full.option[j]);
        const struct choice_problem rest = window(&p, 0, JOBS * 9 / 10, capacity, 1);
        esp_solve(&e, &rest, &config, true, price, &result);
        cr_assert(result.feasible);
        gaps_add(&gaps, result.score, result.bound);
        n_faster += result.score < 0.75 * before;
        arena_free(&a);
        gsl_rng_free(rng);
    }
    gaps_say(&gaps, "a tenth has left");
    cr_log_info("less than 3/4 of the loss: %d of %d", n_faster, SEEDS);
    cr_assert_lt(mean(gaps.value, gaps.n), 0.01);
    cr_assert_lt(mean(gaps.loss, gaps.n), 0.05);
    cr_assert_gt(n_faster, SEEDS * 9 / 10);
}
