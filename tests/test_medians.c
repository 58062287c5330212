/* Running medians against sorting. */
#include "policies/lucid/medians.h"
#include "tests/leak.h"

#include <criterion/criterion.h>
#include <gsl/gsl_rng.h>
#include <stdlib.h>

TestSuite(medians, .fini = abort_on_leak);

enum { N = 400, GROUPS = 5 };

static int by_value(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

static double sorted_median(const int64_t *value, int n)
{
    int64_t copy[N];
    for (int i = 0; i < n; i++)
        copy[i] = value[i];
    qsort(copy, (size_t)n, sizeof *copy, by_value);
    return ((double)copy[(n - 1) / 2] + (double)copy[n / 2]) / 2;
}

Test(medians, after_every_value_it_is_the_middle_of_those_sorted)
{
    gsl_rng *rng = gsl_rng_alloc(gsl_rng_mt19937);
    for (unsigned long range = 3; range < 100000; range *= 30) {
        struct arena arena = {0};
        struct medians m;
        int32_t group[N];
        int64_t shown[GROUPS][N];
        int n[GROUPS] = {0};
        for (int i = 0; i < N; i++)
            group[i] = (int32_t)gsl_rng_uniform_int(rng, GROUPS);
        cr_assert(medians_init(&m, group, N, GROUPS, &arena));
        for (int g = 0; g < GROUPS; g++)
            cr_assert(!medians_any(&m, g));
        for (int i = 0; i < N; i++) {
            int g = group[i];
            shown[g][n[g]] = (int64_t)gsl_rng_uniform_int(rng, range) - 1;
            medians_add(&m, g, shown[g][n[g]++]);
            cr_assert(medians_any(&m, g));
            cr_assert_float_eq(medians_of(&m, g), sorted_median(shown[g], n[g]), 1e-9);
        }
        arena_free(&arena);
    }
    gsl_rng_free(rng);
}
