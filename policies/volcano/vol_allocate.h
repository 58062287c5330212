/* vol_allocate.h - who is placed: Volcano's allocate and backfill actions.
 *
 * allocate takes the first job of the first queue again and again and places its tasks one by one;
 * a job that has its minimum is bound at once, one that has not is taken back whole and out of the
 * action, and the next has its turn: nothing is kept for it. A bound job with tasks left is put
 * back into the order, so that such tasks are placed in turns. backfill places tasks that ask for
 * nothing; it is no backfilling of the kind that reserves. */
#ifndef COLOSIM_VOL_ALLOCATE_H
#define COLOSIM_VOL_ALLOCATE_H

#include "policies/volcano/vol_state.h"

/* Cost O(shapes + jobs tried x log shapes + tasks tried x log nodes + jobs tried x queues). */
void vol_allocate(struct vol_state *s);
void vol_backfill(struct vol_state *s);

#endif
