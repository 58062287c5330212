/* bench_esp - what shadow pricing costs: a solve from nothing, a solve from the last pass's prices,
 * and the same repair without prices, at 8 options a job.
 *
 *   bench_esp [SEEDS]        default 40
 *
 * Each seed is a set of jobs of twelve made-up workloads and a capacity 10 to 90 % of the way from
 * the least to the peak demand. Warm: the same after every twentieth job was replaced. Milliseconds
 * of one thread, median and 90th percentile over seeds; the gap is (score - bound) / score, its
 * mean where something fits. "none": seeds where nothing was found that fits, and how many of these
 * the bound proves to be so: a replaced job may need more host memory, which no configuration
 * saves, than the one before. Without prices nothing is bounded but by 0, so the gap says nothing.
 */
#include "bench/tools.h"
#include "core/base/rng.h"
#include "tests/esp_lab.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SEEDS_MAX = 1000, REPEATS = 5 };
static const int n_jobs[] = {30, 200, 500, 1000, 10000};

struct figures {
    double ms[SEEDS_MAX], gap, iterations, n_repairs;
    int n_none, n_proven;
};

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void print(int n, const char *what, struct figures *f, int n_seeds)
{
    qsort(f->ms, (size_t)n_seeds, sizeof *f->ms, ascending);
    printf("%6d  %-7s %9.4f %9.4f %11.1f %8.1f %8.2f %5d (%d proven)\n", n, what,
           f->ms[n_seeds / 2], f->ms[n_seeds * 9 / 10], f->iterations / n_seeds,
           f->n_repairs / n_seeds, 100 * f->gap / (n_seeds - f->n_none), f->n_none, f->n_proven);
}

/* The fastest of some repeats; the first one may find cold caches. */
static void take(struct figures *f, int seed, struct esp *e, const struct choice_problem *p,
                 const struct esp_config *config, bool warm, const double *price)
{
    struct esp_result result = {0};
    double least_s = 1e9, bound_price[CHOICE_RES_MAX];
    for (int i = 0; i < REPEATS; i++) {
        memcpy(bound_price, price, sizeof bound_price);
        double begin_s = cpu_now_s();
        if (config == NULL)
            esp_greedy(e, p, &result);
        else
            esp_solve(e, p, config, warm, bound_price, &result);
        double s = cpu_now_s() - begin_s;
        least_s = s < least_s ? s : least_s;
    }
    f->ms[seed] = least_s * 1e3;
    f->gap += result.feasible ? result.gap_frac : 0;
    f->n_none += !result.feasible;
    f->n_proven += result.impossible;
    f->iterations += result.iterations;
    f->n_repairs += result.n_repairs;
}

/* What the jobs use in their fastest configurations. */
static void peak(const struct choice_problem *p, double usage[LAB_RES])
{
    memset(usage, 0, LAB_RES * sizeof *usage);
    for (int32_t j = 0; j < p->n_jobs; j++) {
        int32_t o = p->begin[j];
        while (p->loss[p->row[o]] > 0)
            o++;
        for (int r = 0; r < LAB_RES; r++)
            usage[r] += p->demand[p->row[o] * LAB_RES + r];
    }
}

/* Every twentieth job becomes a neighbour's twin; capacity stays the same part of the peak. */
static void replace_some(struct choice_problem *p, struct arena *a)
{
    int32_t *row = arena_alloc(a, (size_t)p->begin[p->n_jobs], sizeof *row);
    double *capacity = arena_alloc(a, LAB_RES, sizeof *capacity);
    double before[LAB_RES], after[LAB_RES];
    peak(p, before);
    memcpy(row, p->row, (size_t)p->begin[p->n_jobs] * sizeof *row);
    for (int32_t j = 1; j < p->n_jobs; j += 20)
        if (p->begin[j + 1] - p->begin[j] == p->begin[j] - p->begin[j - 1])
            memcpy(row + p->begin[j], row + p->begin[j - 1],
                   (size_t)(p->begin[j + 1] - p->begin[j]) * sizeof *row);
    p->row = row;
    peak(p, after);
    for (int r = 0; r < LAB_RES; r++)
        capacity[r] = after[r] / before[r];
    p->capacity = capacity;
}

static void bench(int n, int n_seeds)
{
    static struct figures cold, warm, greedy;
    memset(&cold, 0, sizeof cold);
    memset(&warm, 0, sizeof warm);
    memset(&greedy, 0, sizeof greedy);
    const struct esp_config config = lab_esp_config();
    const struct lab_shape shape = {
        .n_jobs = n, .n_options = 8, .one_fraction = true, .least = 0.1, .most = 0.9};
    for (int seed = 0; seed < n_seeds; seed++) {
        gsl_rng *rng = rng_stream((uint64_t)seed, "bench_esp");
        struct arena a = {0};
        struct lab_families *families = arena_alloc(&a, 1, sizeof *families);
        lab_families_make(families, rng);
        struct choice_problem p = lab_draw(families, &shape, rng, &a);
        struct esp e;
        double price[CHOICE_RES_MAX] = {0};
        struct esp_result result;
        if (!esp_init(&e, n, p.begin[n], p.n_rows, &a))
            abort();
        take(&cold, seed, &e, &p, &config, false, price);
        take(&greedy, seed, &e, &p, NULL, false, price);
        esp_solve(&e, &p, &config, false, price, &result);
        replace_some(&p, &a);
        take(&warm, seed, &e, &p, &config, true, price);
        arena_free(&a);
        gsl_rng_free(rng);
    }
    print(n, "cold", &cold, n_seeds);
    print(n, "warm", &warm, n_seeds);
    print(n, "greedy", &greedy, n_seeds);
}

int main(int argc, char **argv)
{
    int n_seeds = argc > 1 ? atoi(argv[1]) : 40;
    n_seeds = n_seeds < 1 || n_seeds > SEEDS_MAX ? SEEDS_MAX : n_seeds;
    printf("%6s  %-7s %9s %9s %11s %8s %8s %5s\n", "jobs", "", "ms p50", "ms p90", "iterations",
           "repairs", "gap %", "none");
    for (size_t i = 0; i < sizeof n_jobs / sizeof *n_jobs; i++)
        bench(n_jobs[i], n_seeds);
    return 0;
}
