#include "policies/volcano/vol_score.h"

#include <math.h>

static const int shared_out[] = {AMOUNT_CPU, AMOUNT_MEM};

/* Whole per cent of size that value is, from 0 to 100. */
static double percent(double value, double size)
{
    return floor(100 * fmin(fmax(value, 0), size) / size);
}

static double mean(const struct amounts *size, const struct amounts *used,
                   const struct amounts *ask, bool left)
{
    double sum = 0;
    int n = 0;
    for (int i = 0; i < 2; i++) {
        int r = shared_out[i];
        if (size->of[r] <= 0)
            continue;
        double after = used->of[r] + ask->of[r];
        sum += percent(left ? size->of[r] - after : after, size->of[r]);
        n++;
    }
    return n == 0 ? 0 : floor(sum / n);
}

double vol_score_least(const struct amounts *size, const struct amounts *used,
                       const struct amounts *ask)
{
    return mean(size, used, ask, true);
}

double vol_score_most(const struct amounts *size, const struct amounts *used,
                      const struct amounts *ask)
{
    return mean(size, used, ask, false);
}

/* 100 (1 - deviation) with so many times the ask on top of what is used. */
static double balance(const struct amounts *size, const struct amounts *used,
                      const struct amounts *ask, double times)
{
    double share[3], sum = 0, squares = 0;
    int n = 0;
    for (int r = AMOUNT_CPU; r <= AMOUNT_GPU; r++) {
        if (size->of[r] <= 0 || (r == AMOUNT_GPU && ask->of[r] <= 0))
            continue;
        share[n] = fmin((used->of[r] + times * ask->of[r]) / size->of[r], 1);
        sum += share[n++];
    }
    for (int i = 0; i < n; i++)
        squares += (share[i] - sum / n) * (share[i] - sum / n);
    double deviation = n == 2 ? fabs(share[0] - share[1]) / 2 : n > 2 ? sqrt(squares / n) : 0;
    return floor(100 * (1 - deviation));
}

double vol_score_balanced(enum vol_balanced how, const struct amounts *size,
                          const struct amounts *used, const struct amounts *ask)
{
    double after = balance(size, used, ask, 1);
    switch (how) {
    case VOL_BALANCED_OLD: return after;
    case VOL_BALANCED_1_36: return 50 + trunc((50 + after - balance(size, used, ask, 0)) / 2);
    }
    return after;
}

double vol_score_binpack(const double pack[N_AMOUNTS], const struct amounts *size,
                         const struct amounts *used, const struct amounts *ask)
{
    double sum = 0, weights = 0;
    for (int r = 0; r < N_AMOUNTS; r++) {
        if (ask->of[r] <= 0 || pack[r] <= 0)
            continue;
        weights += pack[r];
        if (size->of[r] <= 0)
            continue;
        if (used->of[r] + ask->of[r] > size->of[r])
            return 0;
        sum += (used->of[r] + ask->of[r]) * pack[r] / size->of[r];
    }
    return weights > 0 ? 100 * (sum / weights) : 0;
}
