#include "sim/results/bootstrap.h"

#include "core/base/rng.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Type 7, as every percentile here. */
static double quantile(const double *sorted, int n, double q)
{
    double at = q * (n - 1);
    int below = (int)at;
    double rest = at - below;
    return below + 1 < n ? sorted[below] + rest * (sorted[below + 1] - sorted[below])
                         : sorted[n - 1];
}

struct interval bootstrap_interval(double *drawn, int n)
{
    qsort(drawn, (size_t)n, sizeof *drawn, by_value);
    return (struct interval){quantile(drawn, n, 0.025), quantile(drawn, n, 0.975)};
}

static double result(enum boot_of of, double a, double b)
{
    switch (of) {
    case BOOT_MEAN: return a;
    case BOOT_DIFFERENCE: return b - a;
    case BOOT_RATIO: return b / a;
    }
    return NAN;
}

enum status bootstrap(enum boot_of of, const double *a, const double *b, int n,
                      struct interval *out, struct error *err)
{
    bool finite = n > 1;
    for (int i = 0; i < n; i++)
        finite = finite && isfinite(a[i]) && (of == BOOT_MEAN || isfinite(b[i]));
    *out = (struct interval){NAN, NAN};
    if (!finite)
        return ST_OK;
    enum status status = ST_OK;
    double *drawn = malloc(BOOTSTRAP_DRAWS * sizeof *drawn);
    gsl_rng *rng = rng_stream(1, "bootstrap");
    if (drawn == NULL || rng == NULL)
        status = fail_memory(err);
    bool told = status == ST_OK;
    for (int draw = 0; draw < BOOTSTRAP_DRAWS && status == ST_OK; draw++) {
        double sum_a = 0, sum_b = 0;
        for (int i = 0; i < n; i++) {
            unsigned long at = gsl_rng_uniform_int(rng, (unsigned long)n);
            sum_a += a[at];
            sum_b += of == BOOT_MEAN ? 0 : b[at];
        }
        drawn[draw] = result(of, sum_a / n, sum_b / n);
        told = told && isfinite(drawn[draw]); /* a ratio to 0 */
    }
    if (told)
        *out = bootstrap_interval(drawn, BOOTSTRAP_DRAWS);
    if (rng != NULL)
        gsl_rng_free(rng);
    free(drawn);
    return status;
}
