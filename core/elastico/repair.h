/* repair.h - from any choice to one that fits, at little loss.
 *
 * Shed: while hard resources are overused, make the move of least regret for the overuse that it
 * takes away, net of what it adds. Fill: while a move lowers the score and fits, make the one that
 * gains most for its share of what was left. Regret counts rent at the prices given; at no prices
 * this is the greedy repair. Equal moves go to the lower job, then to the lower option. Where
 * little is over or left, only the undecided jobs are looked at. */
#ifndef COLOSIM_REPAIR_H
#define COLOSIM_REPAIR_H

#include "core/elastico/choice.h"

/* Scratch; all of it is written by a repair. Resources are padded as in choice_set. */
struct repair {
    const struct choice_set *s;
    bool any_soft;
    bool at_any_cost;                /* sheds what frees most, whatever the regret */
    bool freed;                      /* a move gave some of a resource back */
    double capacity[CHOICE_RES_MAX]; /* of hard resources; out of reach for soft ones */
    double usage[CHOICE_RES_MAX];    /* now */
    double price[CHOICE_RES_MAX];
    double over, over_rent;                /* overuse of hard resources; at prices */
    double excess_cost;                    /* of soft ones */
    double per_left[CHOICE_RES_MAX];       /* 1 / what is left of a hard resource */
    double per_left_built[CHOICE_RES_MAX]; /* the same when the heap was built */
    struct repair_move {
        double key;
        int32_t job, option;
    } * heap;       /* (n_jobs) least (key, job) first; keys may be older than usage */
    double *behind; /* (2 n_jobs) */
    int32_t *job;   /* (n_jobs) those looked at, ascending */
    int32_t n_heap, n_looked;
};

/* Room from the arena. False when memory is out. */
bool repair_init(struct repair *w, int32_t n_jobs, struct arena *a);

/* Changes c, which is measured, so that it fits; measures it. False where that was not found: c
 * then overuses little. Cost O(options), and O(n_res options / n_jobs + log n_jobs) a move. */
bool repair_run(struct repair *w, struct choice_set *s, const double *price, struct choice *c);

/* The same from the options that use least, whatever they cost; what stays overused then weighs
 * more, and again. c is only written. */
bool repair_from_footprint(struct repair *w, struct choice_set *s, const double *price,
                           struct choice *c);

#endif
