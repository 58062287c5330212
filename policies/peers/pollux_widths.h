/* pollux_widths.h - how many GPUs each job gets, so that a sum of costs is least.
 *
 * Every job has a few widths to choose from, each with a cost; the widths of all must fit. Pollux
 * searches placements with a genetic algorithm (population 100, 100 generations, unseeded); here
 * the same objective is met by a greedy walk and local moves, and the same input gives the same
 * answer. */
#ifndef COLOSIM_POLLUX_WIDTHS_H
#define COLOSIM_POLLUX_WIDTHS_H

#include "core/base/arena.h"

#include <stdbool.h>
#include <stdint.h>

/* Option 0 is no GPU; option k is lowest + k - 1 times unit_milli. */
struct width_choice {
    int32_t n;      /* options, at least 1 */
    int32_t lowest; /* units of option 1 */
    int32_t unit_milli;
    const double *cost; /* (n) */
};

/* option (n) in: where to begin, which must fit; out: the best found, no dearer than where it
 * began.
 *
 * 1. Greedy: along the lower convex hulls of all jobs' costs, the steepest step first, skipping
 * those that do not fit: the optimum of the relaxed problem but for the last step of one job.
 * 2. From there and from the beginning: whatever is cheaper and fits is taken, and, among up to 32
 *    jobs, one job gives GPUs to another where that is cheaper, until nothing is.
 *
 * Ties go to the lower job number. Cost O(options log options), and for the exchanges O(jobs^2 x
 * options) a round of them. False when memory is out. */
bool pollux_widths(int32_t n, const struct width_choice *choice, int64_t room_milli,
                   int32_t *option, struct arena *scratch);

double pollux_cost(int32_t n, const struct width_choice *choice, const int32_t *option);
int64_t pollux_milli(const struct width_choice *choice, int32_t option);

#endif
