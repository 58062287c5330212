/* undecided.h - the jobs that are nearest to another choice: whose second best option, at prices,
 * is least behind the one they have. */
#ifndef COLOSIM_UNDECIDED_H
#define COLOSIM_UNDECIDED_H

#include "core/elastico/choice.h"

/* Writes those n jobs, and all that are as near as the last of them, ascending; returns how many.
 * Rents as they are in s; behind (2 n_jobs) is scratch. Cost O(options). */
int32_t undecided_find(const struct choice_set *s, const struct choice *c, int32_t n,
                       double *behind, int32_t *job);

#endif
