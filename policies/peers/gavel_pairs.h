/* gavel_pairs.h - Gavel's programme for jobs that may share GPUs in pairs.
 *
 * Jobs that are alike (workload, width, GPU type) are one class: the programme is symmetric in
 * them, so giving every one of a class the same is among its optima, and it needs a column for
 * every pair of classes instead of every pair of jobs. Variables are how many units of a kind run
 * at a time: a job of class a alone, or one of a and one of b on the same GPUs. */
#ifndef COLOSIM_GAVEL_PAIRS_H
#define COLOSIM_GAVEL_PAIRS_H

#include "core/base/arena.h"

#include <stdbool.h>
#include <stdint.h>

/* How many of these run at a time, on average. */
struct gavel_unit {
    int32_t a, b; /* classes; b is -1 for a job alone; a == b is two of one class */
    double runs;
};

struct gavel_classes {
    int32_t n, n_pools;
    const double *n_jobs; /* (n) */
    const double *gpus;   /* (n) of one job */
    const int32_t *pool;  /* (n) the GPU type it is tied to, -1 for none */
    const double *keeps;  /* (n x n) what a job of the first keeps of its speed beside one of the
                             second; 0 where they may not share */
    double *need;         /* (n) throughput asked for, as a multiple of a job alone; see below */
    const double *room;   /* (n_pools) GPUs of each type */
    double room_all;
};

/* The units that maximise the smallest T_c / need_c, T_c the throughput of class c (n_jobs x share
 * of time x what is kept), then the sum of T_c x gpus_c, which Gavel leaves to its solver:
 *
 *     T_c = sum over units with c of runs x kept,    no job more than all of the time,
 *     GPUs of each type, and of all types, are enough.
 *
 * Pairs that keep 1 or less between them are left out: taking turns is as good. unit holds
 * n (n + 3) / 2; the units that run at all are written, alone before pairs. *level is that minimum.
 * Returns how many, -1 when the solver gave up. A dense tableau of 2 n + types rows. */
int32_t gavel_pair_units(const struct gavel_classes *classes, struct gavel_unit *unit,
                         double *level, struct arena *scratch);

/* T_c of these units. */
double gavel_throughput(const struct gavel_classes *classes, const struct gavel_unit *unit,
                        int32_t n_units, int32_t class);

#endif
