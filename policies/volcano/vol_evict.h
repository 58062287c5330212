/* vol_evict.h - who makes room: Volcano's preempt and reclaim actions, in neither default.
 *
 * A starving job is promised nodes at the expense of running tasks: preempt, of other jobs of its
 * queue (and, in a second pass, of its own tasks of lower priority); reclaim, of queues that have
 * more than they are due. The worst of those that may go (vol_victims.h) goes first, and no more go
 * than needed; if the whole job does not become pipelined all stay. */
#ifndef COLOSIM_VOL_EVICT_H
#define COLOSIM_VOL_EVICT_H

#include "policies/volcano/vol_state.h"

/* Cost O(jobs in line x log shapes) and, for every shape and after every eviction again, at most
 * tasks of a job x (nodes x log nodes + tasks on nodes). */
void vol_preempt(struct vol_state *s);
void vol_reclaim(struct vol_state *s);

#endif
