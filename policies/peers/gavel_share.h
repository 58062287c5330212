/* gavel_share.h - how much of the time each job should run, where jobs do not share a GPU.
 *
 * Every job runs equally fast on every GPU that may serve it, so one number a job is enough: x, the
 * share of time in which it has all its GPUs. Jobs tied to a GPU type have that type's GPUs; those
 * that are not take what is left of all types. */
#ifndef COLOSIM_GAVEL_SHARE_H
#define COLOSIM_GAVEL_SHARE_H

#include "core/base/arena.h"

#include <stdbool.h>
#include <stdint.h>

struct gavel_jobs {
    int32_t n;
    const double *gpus;  /* (n) above 0 */
    const int32_t *pool; /* (n) the type it is tied to, -1 for none */
    int32_t n_pools;
    const double *room; /* (n_pools) GPUs of each type */
    double room_all;    /* GPUs of all types */
};

/* Max-min fairness: x maximises the smallest GPU time gpus * x, then the next smallest, and so on;
 * nobody gets more than x = 1. This is what Gavel's programme comes to for equally fast GPUs and
 * equal weights, carried on where its optimum leaves a choice: everybody has the same GPU time or
 * all that it asks for. */
bool gavel_max_min(const struct gavel_jobs *jobs, double *x, struct arena *scratch);

/* Finish-time fairness: x minimises the largest rho, then the next largest, and so on, where
 *
 *     rho_j = (age_j + left_j / x_j) / alone_j ,
 *
 * left_j what it has to run for and alone_j how long it would take in all with an equal part of the
 * cluster to itself (n, seconds). */
bool gavel_finish_time(const struct gavel_jobs *jobs, const double *age_s, const double *left_s,
                       const double *alone_s, double *x, struct arena *scratch);

/* Both bisect to 1e-12 of the level (GPU time, rho): cost O(100 n (1 + types)). False when memory
 * is out. */

#endif
