/* place.h - where a task's instances go.
 *
 * Nodes are tried in the order of the mode; among equals the lowest number wins, or the first of a
 * given list. Exclusive places
 * are preferred: a card that somebody sits on is shared only when nothing is free, only up to
 * share_max jobs, only where the memory of all fits the card, and only where every pair of them
 * was measured (pairs given). */
#ifndef COLOSIM_PLACE_H
#define COLOSIM_PLACE_H

#include "core/cluster/cluster.h"
#include "core/cluster/pairs.h"

#include <gsl/gsl_rng.h>

enum place_mode {
    PLACE_FIRST_FIT,   /* lowest node number */
    PLACE_BEST_FIT,    /* least free GPU that is enough */
    PLACE_SPREAD,      /* most free GPU */
    PLACE_CONSOLIDATE, /* one node if one can hold the whole task (the fullest such), else the
                          emptiest nodes first */
    PLACE_RANDOM       /* any that fits, from the run's "place" stream */
};
extern const char *const place_mode_names[]; /* NULL-terminated */

struct place_rules {
    enum place_mode mode;
    int32_t pool;         /* id in the cluster's pools: only its nodes; -1: any */
    const int32_t *nodes; /* (n_nodes) only these, tried in this order; NULL: all, by number */
    int32_t n_nodes;
    int32_t share_max;         /* jobs on one card, 1 is exclusive */
    bool type_strict;          /* gpu_type is a requirement */
    const struct pairs *pairs; /* NULL: any two may share */
    const int32_t *pair_id;    /* (names of the job table) id in pairs, -1 unknown; NULL without */
    const int32_t *type_id;    /* (names of the job table) id in the cluster's gpu_types, -1 none */
    const uint64_t *type_set;  /* (names of the job table) cluster_types_of a request that lists
                                  several, else 0; NULL: no request does */
    gsl_rng *rng;              /* PLACE_RANDOM only */
};

/* Is it a node of the pool and of a type that the task may sit on? */
bool place_node_suits(const struct cluster *c, const struct job_table *t, int32_t task,
                      const struct place_rules *rules, int32_t node);
/* How many more instances of the task it could take, were it not for GPUs. */
int32_t place_node_most(const struct cluster *c, const struct job_table *t, int32_t task,
                        const struct place_rules *rules, int32_t node);

/* Finds places for n_inst instances of the task and takes them, all or none. Returns the first seat
 * of a run of *n_seats, or -1 when it does not fit (or memory is out: *out_of_memory).
 * Cost: O(nodes) per node visited. */
int32_t place_task(struct cluster *c, const struct job_table *t, int32_t task, int32_t n_inst,
                   const struct place_rules *rules, int32_t *n_seats, bool *out_of_memory);

#endif
