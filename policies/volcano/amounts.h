/* amounts.h - what a Volcano task asks for and a node has: one number per kind of resource.
 *
 * CPU in thousandths of a core and GPUs in thousandths, memory in any one unit, pod slots in
 * slots. Sums of whole numbers below 2^53 are exact, so adding and taking away leaves nothing
 * behind. Comparisons are Volcano's: a tenth of a unit is no difference where nodes and queues are
 * filled, and pod slots never count where it looks only at what is asked. */
#ifndef COLOSIM_AMOUNTS_H
#define COLOSIM_AMOUNTS_H

#include <stdbool.h>

enum { AMOUNT_CPU, AMOUNT_MEM, AMOUNT_GPU, AMOUNT_OTHER, AMOUNT_PODS, N_AMOUNTS };

struct amounts {
    double of[N_AMOUNTS];
};

static inline void amounts_add(struct amounts *a, const struct amounts *b, double times)
{
    for (int r = 0; r < N_AMOUNTS; r++)
        a->of[r] += times * b->of[r];
}

/* Is nothing asked for but pod slots? */
bool amounts_empty(const struct amounts *a);
/* a <= b in every kind. */
bool amounts_within(const struct amounts *a, const struct amounts *b);
/* a + b <= limit in the kinds that b asks for. */
bool amounts_allowed(const struct amounts *a, const struct amounts *b, const struct amounts *limit);
/* max(a - b, 0), kind by kind. */
struct amounts amounts_beyond(const struct amounts *a, const struct amounts *b);
/* The largest a / b over all kinds; 0 / 0 is 0 and more of nothing is 1. */
double amounts_share(const struct amounts *a, const struct amounts *b);
bool amounts_equal(const struct amounts *a, const struct amounts *b);

#endif
