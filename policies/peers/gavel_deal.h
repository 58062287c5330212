/* gavel_deal.h - Gavel's allocation: how much of the time every job should run, and in which pairs.
 */
#ifndef COLOSIM_GAVEL_DEAL_H
#define COLOSIM_GAVEL_DEAL_H

#include "core/cluster/policy.h"
#include "policies/peers/gavel_pairs.h"

enum gavel_objective { GAVEL_MAX_MIN, GAVEL_FINISH_TIME };

struct gavel_deal {
    enum gavel_objective objective;
    int32_t classes_max; /* classes that may share; 0: nobody shares */

    /* (n_jobs) */
    double *x;      /* share of time in which it should run, alone or not; 0 until it is dealt */
    int32_t *class; /* among the units, -1: it runs alone */
    double *alone_s, *alone_rate,
        *left_s; /* finish-time: time an equal part of the cluster would
                    have taken for what is done; that rate; what was left */

    struct gavel_unit *unit; /* (n_units) room for all pairs of classes_max classes */
    int32_t n_units, n_classes;

    int32_t *pool;   /* (n_jobs) the GPU type it is tied to, -1 for none */
    int32_t n_pools; /* 0 where types are no requirement */
    double *room;    /* (n_pools) GPUs */
    double room_all;
    int32_t card_mem_mib; /* of the smallest card */
};

bool gavel_deal_init(struct gavel_deal *d, enum gavel_objective objective, int32_t classes_max,
                     const struct view *v, const struct place_rules *rules, struct arena *arena);

/* Deals anew to these jobs. Time counts as age from submission; what is left is the true remaining
 * duration. False when memory is out. */
bool gavel_deal(struct gavel_deal *d, const struct view *v, const struct plan *plan,
                const int32_t *job, int32_t n);

#endif
