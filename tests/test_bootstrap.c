#include "sim/results/bootstrap.h"

#include "tests/leak.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <math.h>

TestSuite(bootstrap, .fini = abort_on_leak);

Test(bootstrap, of_two_values_is_the_two)
{
    /* means of two draws of {0, 1}: 0, 1/2, 1 with 1/4, 1/2, 1/4 */
    const double a[] = {0, 1};
    struct interval i;
    cr_assert_eq(bootstrap(BOOT_MEAN, a, NULL, 2, &i, NULL), ST_OK);
    cr_assert_eq(i.lo, 0);
    cr_assert_eq(i.hi, 1);
}

Test(bootstrap, of_many_values_is_the_normal_interval_of_their_mean)
{
    /* 0 .. 399: mean 199.5, standard deviation sqrt((400^2 - 1) / 12) = 115.47 over n, so 1.96 of
     * 115.47 / 20 = 11.316 either way; 2,000 draws find a quantile within a tenth of it */
    double a[400];
    struct interval i;
    for (int k = 0; k < 400; k++)
        a[k] = k;
    cr_assert_eq(bootstrap(BOOT_MEAN, a, NULL, 400, &i, NULL), ST_OK);
    cr_assert(epsilon_eq(dbl, i.lo, 199.5 - 11.316, 1.1));
    cr_assert(epsilon_eq(dbl, i.hi, 199.5 + 11.316, 1.1));
}

Test(bootstrap, draws_pairs_so_that_what_they_share_cancels)
{
    const double a[] = {100, 500, 900, 1700, 2500};
    double plus[5], twice[5];
    struct interval i;
    for (int k = 0; k < 5; k++) {
        plus[k] = a[k] + 10;
        twice[k] = a[k] * 2;
    }
    cr_assert_eq(bootstrap(BOOT_DIFFERENCE, a, plus, 5, &i, NULL), ST_OK);
    cr_assert(epsilon_eq(dbl, i.lo, 10, 1e-9));
    cr_assert(epsilon_eq(dbl, i.hi, 10, 1e-9));
    cr_assert_eq(bootstrap(BOOT_RATIO, a, twice, 5, &i, NULL), ST_OK);
    cr_assert(epsilon_eq(dbl, i.lo, 2, 1e-12));
    cr_assert(epsilon_eq(dbl, i.hi, 2, 1e-12));
}

Test(bootstrap, says_nothing_where_nothing_can_be_said)
{
    const double one[] = {1}, hole[] = {1, NAN, 3}, zero[] = {0, 0, 0}, some[] = {1, 2, 3};
    struct interval i;
    cr_assert_eq(bootstrap(BOOT_MEAN, one, NULL, 1, &i, NULL), ST_OK);
    cr_assert(isnan(i.lo) && isnan(i.hi));
    cr_assert_eq(bootstrap(BOOT_MEAN, hole, NULL, 3, &i, NULL), ST_OK);
    cr_assert(isnan(i.lo));
    cr_assert_eq(bootstrap(BOOT_DIFFERENCE, some, hole, 3, &i, NULL), ST_OK);
    cr_assert(isnan(i.lo));
    cr_assert_eq(bootstrap(BOOT_RATIO, zero, some, 3, &i, NULL), ST_OK);
    cr_assert(isnan(i.lo), "to nothing there is no ratio");
}

Test(bootstrap, quantiles_interpolate_between_order_statistics)
{
    /* positions .025 * 4 = .1 and .975 * 4 = 3.9 of 10, 20, 30, 40, 50 */
    double drawn[] = {50, 10, 40, 20, 30};
    struct interval i = bootstrap_interval(drawn, 5);
    cr_assert(epsilon_eq(dbl, i.lo, 11, 1e-9));
    cr_assert(epsilon_eq(dbl, i.hi, 49, 1e-9));
}
