#include "policies/volcano/amounts.h"

static const double no_difference = 0.1;

bool amounts_empty(const struct amounts *a)
{
    for (int r = 0; r < N_AMOUNTS; r++)
        if (r != AMOUNT_PODS && a->of[r] >= no_difference)
            return false;
    return true;
}

bool amounts_within(const struct amounts *a, const struct amounts *b)
{
    for (int r = 0; r < N_AMOUNTS; r++)
        if (a->of[r] >= b->of[r] + no_difference)
            return false;
    return true;
}

bool amounts_allowed(const struct amounts *a, const struct amounts *b, const struct amounts *limit)
{
    for (int r = 0; r < N_AMOUNTS; r++)
        if (r != AMOUNT_PODS && b->of[r] > 0 && a->of[r] + b->of[r] > limit->of[r])
            return false;
    return true;
}

struct amounts amounts_beyond(const struct amounts *a, const struct amounts *b)
{
    struct amounts left;
    for (int r = 0; r < N_AMOUNTS; r++)
        left.of[r] = a->of[r] > b->of[r] ? a->of[r] - b->of[r] : 0;
    return left;
}

double amounts_share(const struct amounts *a, const struct amounts *b)
{
    double most = 0;
    for (int r = 0; r < N_AMOUNTS; r++) {
        double share = b->of[r] > 0 ? a->of[r] / b->of[r] : a->of[r] > 0;
        most = share > most ? share : most;
    }
    return most;
}

bool amounts_equal(const struct amounts *a, const struct amounts *b)
{
    for (int r = 0; r < N_AMOUNTS; r++)
        if (a->of[r] < b->of[r] || a->of[r] > b->of[r])
            return false;
    return true;
}
