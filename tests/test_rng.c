#include "core/base/rng.h"

#include "tests/leak.h"

#include <criterion/criterion.h>
#include <gsl/gsl_cdf.h>
#include <math.h>

TestSuite(rng, .fini = abort_on_leak);

enum { N = 4096 };

static void draw(uint64_t seed, const char *purpose, double *u)
{
    gsl_rng *rng = rng_stream(seed, purpose);
    cr_assert_not_null(rng);
    for (int i = 0; i < N; i++)
        u[i] = gsl_rng_uniform(rng);
    gsl_rng_free(rng);
}

static double correlation(const double *a, const double *b)
{
    double sum = 0;
    for (int i = 0; i < N; i++)
        sum += (a[i] - 0.5) * (b[i] - 0.5) * 12;
    return sum / N;
}

static int n_equal(const double *a, const double *b)
{
    int n = 0;
    for (int i = 0; i < N; i++)
        n += a[i] >= b[i] && a[i] <= b[i];
    return n;
}

Test(rng, equal_seed_and_purpose_give_equal_streams)
{
    double a[N], b[N];
    draw(7, "synth.arrivals", a);
    draw(7, "synth.arrivals", b);
    cr_assert_eq(n_equal(a, b), N);
}

/* The correlation of independent uniforms has a standard deviation of 1 / sqrt(N) = 0.016; with
 * fixed seeds five of them are far beyond chance. */
Test(rng, other_seeds_and_other_purposes_give_unrelated_streams)
{
    static const struct {
        uint64_t seed;
        const char *purpose;
    } rows[] = {{0, "synth.arrivals"},
                {1, "synth.arrivals"},
                {2, "synth.arrivals"},
                {UINT64_MAX, "synth.arrivals"},
                {UINT64_C(1) << 32, "synth.arrivals"},
                {1, "synth.arrival"},
                {1, "synth.durations"},
                {1, "place"},
                {1, ""}};
    enum { ROWS = sizeof rows / sizeof *rows };
    static double u[ROWS][N];
    for (int i = 0; i < ROWS; i++)
        draw(rows[i].seed, rows[i].purpose, u[i]);
    for (int i = 0; i < ROWS; i++) {
        for (int j = 0; j < i; j++) {
            cr_assert_leq(n_equal(u[i], u[j]), 3, "rows %d and %d", i, j);
            cr_assert_lt(fabs(correlation(u[i], u[j])), 5 / sqrt(N), "rows %d and %d", i, j);
        }
    }
}

/* Chi-squared over 64 cells: beyond the one-in-a-million quantile a fixed seed is no bad luck. */
Test(rng, a_stream_is_uniform)
{
    double u[N], chi = 0;
    int cell[64] = {0};
    draw(3, "uniform", u);
    for (int i = 0; i < N; i++)
        cell[(int)(u[i] * 64)]++;
    for (int i = 0; i < 64; i++)
        chi += (cell[i] - N / 64.0) * (cell[i] - N / 64.0) / (N / 64.0);
    cr_assert_lt(chi, gsl_cdf_chisq_Qinv(1e-6, 63));
    cr_assert_gt(chi, gsl_cdf_chisq_Pinv(1e-6, 63));
}
