/* vol_deserved.h - what each queue is due of the cluster: Volcano's proportion plug-in.
 *
 * What is left is shared out by weight, round by round; no queue is due more than it may have or
 * asks for, nor less than it is guaranteed, and what it cannot use goes to the others. */
#ifndef COLOSIM_VOL_DESERVED_H
#define COLOSIM_VOL_DESERVED_H

#include "policies/volcano/amounts.h"

#include <stdint.h>

struct vol_queue {
    /* what it is */
    double weight;             /* above 0 */
    int32_t priority;          /* larger first */
    bool open;                 /* only an open queue takes groups and tasks */
    bool reclaimable;          /* others may take back what it has beyond its due */
    struct amounts capability; /* INFINITY: not limited */
    struct amounts guarantee;

    /* kept by the session: of its groups */
    int32_t n_jobs;
    struct amounts allocated; /* of tasks on nodes, promised ones too, evicted ones not */
    struct amounts pending;   /* of tasks that wait for one */
    struct amounts inqueue;   /* reserved by groups that were admitted, less what they have */
    struct amounts elastic;   /* that groups have beyond their minimum */

    /* by vol_deserved */
    struct amounts real_capability, deserved;
    bool satisfied;
};

/* Writes real_capability and deserved of every queue that has groups, from the rest of it and the
 * size of the cluster. Cost O(rounds x queues); each round satisfies a queue or ends it. */
void vol_deserved(struct vol_queue *queue, int32_t n, const struct amounts *total);
/* Has a queue all that it is due of everything? */
bool vol_overused(const struct vol_queue *q);
/* May a task of the queue have this much more, by what the queue is due? */
bool vol_allocatable(const struct vol_queue *q, const struct amounts *ask);

#endif
