#include "calib/measure/series.h"

#include "tests/leak.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <math.h>

TestSuite(series, .fini = abort_on_leak);

/* By hand: a tenth of the readings, rounded down, goes at each end. */
static const struct trimming {
    const char *what;
    int32_t n;
    double value[12], mean, cv, median;
} cases[] = {
    {"one", 1, {4}, 4, 0, 4},
    {"nine: nothing is cut", 9, {1, 2, 3, 4, 5, 6, 7, 8, 100}, 136. / 9, 2.11206756, 5},
    {"ten: one at each end", 10, {1000, 2, 2, 2, 2, 2, 2, 2, 2, -1000}, 2, 0, 2},
    {"not in order", 4, {10, 9.8, 10.2, 10}, 10, .0163299316, 10},
};

Test(series, the_mean_is_of_what_lies_between_the_tenths)
{
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct series s = {0};
        for (int32_t k = 0; k < cases[i].n; k++)
            cr_assert(series_add(&s, cases[i].value[k]));
        cr_expect(epsilon_eq(dbl, series_trimmed_mean(&s), cases[i].mean, 1e-12), "%s",
                  cases[i].what);
        cr_expect(epsilon_eq(dbl, series_trimmed_cv(&s), cases[i].cv, 1e-7), "%s", cases[i].what);
        cr_expect(epsilon_eq(dbl, series_median(&s), cases[i].median, 1e-12), "%s", cases[i].what);
        series_free(&s);
    }
}

Test(series, what_is_not_known_is_no_reading)
{
    struct series s = {0};
    cr_assert(series_add(&s, NAN));
    cr_expect(eq(i32, s.n, 0));
    cr_expect(isnan(series_trimmed_mean(&s)) && isnan(series_median(&s)));
    series_free(&s);
}
