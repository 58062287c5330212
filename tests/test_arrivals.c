/* How long a job waits with newcomers before it: hand-worked, and beside a simulated queue. */
#include "core/base/rng.h"
#include "core/base/units.h"
#include "core/elastico/arrivals.h"
#include "tests/leak.h"

#include <criterion/criterion.h>
#include <gsl/gsl_randist.h>
#include <math.h>

TestSuite(arrivals, .fini = abort_on_leak);

static struct arrivals of(int n, const double (*row)[2])
{
    struct arrivals a;
    arrivals_init(&a);
    for (int i = 0; i < n; i++)
        arrivals_add(&a, us_of_s(row[i][0]), row[i][1]);
    return a;
}

/* 100 s after the first arrival, which starts the clock: 60 + 20 GPU-seconds of short jobs and
 * 4,000 of a long one, on 2 GPUs. */
Test(arrivals, the_load_of_those_with_less_to_do_lengthens_the_wait)
{
    static const double rows[][2] = {{10, 500}, {20, 60}, {50, 20}, {80, 4000}};
    struct arrivals a = of(4, rows);
    int64_t now_us = us_of_s(110);
    cr_assert_float_eq(arrivals_load(&a, now_us, 2, 1000), .4, 1e-12, "80 / (2 x 100)");
    cr_assert_float_eq(arrivals_load(&a, now_us, 2, 40), .1, 1e-12, "20 / 200");
    cr_assert_float_eq(arrivals_load(&a, now_us, 2, 60), .1, 1e-12,
                       "its own class is not before it");
    cr_assert_float_eq(arrivals_wait_s(&a, now_us, 2, 1000, 30), 50, 1e-9, "30 / .6");
    cr_assert_float_eq(arrivals_wait_s(&a, now_us, 2, 1, 30), 30, 1e-9);
    cr_assert(isinf(arrivals_wait_s(&a, now_us, 2, 1e5, 30)), "4080 / 200 is more than all");
    cr_assert_float_eq(arrivals_wait_s(&a, now_us, 2, 1e5, 0), 0, 0, "what is free is free");
}

Test(arrivals, what_comes_at_once_has_no_rate)
{
    static const double rows[][2] = {{0, 500}, {0, 60}, {0, 20}};
    struct arrivals a = of(3, rows), none;
    arrivals_init(&none);
    cr_assert_float_eq(arrivals_load(&a, 0, 2, 1e6), 0, 0);
    cr_assert_float_eq(arrivals_load(&a, us_of_s(100), 2, 1e6), 0, 0);
    cr_assert_float_eq(arrivals_load(&none, us_of_s(100), 2, 1e6), 0, 0);
    cr_assert_float_eq(arrivals_wait_s(&none, us_of_s(100), 2, 1e6, 7), 7, 0);
}

/* One server, Poisson arrivals of exponential work that all come first, a found work of w0: the
 * time until the server is free of both is w0 / (1 - rho), rho = .6. */
Test(arrivals, a_delay_busy_period_is_as_long_as_that)
{
    enum { ROUNDS = 20000 };
    gsl_rng *rng = rng_stream(1, "arrivals");
    double sum_s = 0, square = 0;
    for (int i = 0; i < ROUNDS; i++) {
        double left_s = 10, took_s = 0, next_s = gsl_ran_exponential(rng, 5);
        while (next_s < left_s) {
            took_s += next_s;
            left_s += gsl_ran_exponential(rng, 3) - next_s;
            next_s = gsl_ran_exponential(rng, 5);
        }
        took_s += left_s;
        sum_s += took_s;
        square += took_s * took_s;
    }
    gsl_rng_free(rng);
    double mean = sum_s / ROUNDS, error = sqrt((square / ROUNDS - mean * mean) / ROUNDS);
    struct arrivals a;
    arrivals_init(&a);
    for (int i = 0; i <= 1000; i++)
        arrivals_add(&a, us_of_s(5 * i), 3);
    cr_assert_float_eq(arrivals_wait_s(&a, us_of_s(5000), 1, 1e6, 10), mean, 3 * error,
                       "simulated: %g +- %g", mean, error);
}
