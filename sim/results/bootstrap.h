/* bootstrap.h - how sure a mean over a few runs is: percentile bootstrap, 95 %.
 *
 * Draws n of the n values with replacement, 2,000 times, and takes the 2.5 % and 97.5 % quantiles
 * of what their means give. Two sides are drawn in pairs (one seed, both sides), so what the seeds
 * share cancels. The draws are the same every time. */
#ifndef COLOSIM_BOOTSTRAP_H
#define COLOSIM_BOOTSTRAP_H

#include "core/base/status.h"

enum { BOOTSTRAP_DRAWS = 2000 };

struct interval {
    double lo, hi; /* NAN where it cannot be told */
};

enum boot_of {
    BOOT_MEAN,       /* of a; b is not looked at */
    BOOT_DIFFERENCE, /* mean b - mean a */
    BOOT_RATIO       /* mean b / mean a */
};

/* a, b (n). NAN for fewer than two values, or where one is not finite. Cost O(draws (n + log
 * draws)). */
enum status bootstrap(enum boot_of of, const double *a, const double *b, int n,
                      struct interval *out, struct error *err) MUST_USE;

/* The 95 % interval of n results of draws, which it sorts. */
struct interval bootstrap_interval(double *drawn, int n);

#endif
