/* medians.h - the median of what each of many groups has shown so far.
 *
 * A group's values lie in two heaps that grow towards each other in its stretch of one array: the
 * lower half from the left, the upper half from the right. Room is what the groups will hold in the
 * end, which a trace tells. */
#ifndef COLOSIM_LUCID_MEDIANS_H
#define COLOSIM_LUCID_MEDIANS_H

#include "core/base/arena.h"

#include <stdint.h>

struct medians {
    int32_t *begin;          /* (n_groups + 1) */
    int32_t *n_low, *n_high; /* (n_groups) */
    int64_t *value;
};

/* group (n): which group each of n values to come belongs to. False when memory is out. */
bool medians_init(struct medians *m, const int32_t *group, int32_t n, int32_t n_groups,
                  struct arena *arena);
/* O(log of the group's size). At most as many as there is room for. */
void medians_add(struct medians *m, int32_t group, int64_t value);
static inline bool medians_any(const struct medians *m, int32_t group)
{
    return m->n_low[group] > 0;
}
/* The middle one, or the mean of the two; of a group that has shown some. */
double medians_of(const struct medians *m, int32_t group);

#endif
