/* vol_victims.h - whom a starving task may push off a node: what Volcano's plug-ins say.
 *
 * The first tier with an answer decides, by what its plug-ins agree on. As upstream, a plug-in that
 * names nobody ends its tier's answer and leaves the word to the next tier, and where two of a tier
 * have nobody in common the next of them starts anew. */
#ifndef COLOSIM_VOL_VICTIMS_H
#define COLOSIM_VOL_VICTIMS_H

#include "policies/volcano/vol_state.h"

/* At whose expense: preempt, between jobs of a queue and inside one job, or reclaim. */
enum vol_expense { VOL_OF_OTHER_JOBS, VOL_OF_ITSELF, VOL_OF_OTHER_QUEUES };

/* Bound tasks of the node that could go, the worst first, in evicting.task; returns how many. */
int32_t vol_candidates(struct vol_state *s, int32_t node, int32_t preemptor,
                       enum vol_expense expense);
/* Marks those of n candidates that may go, in evicting.victim. callback: VOL_ON_PREEMPTABLE or
 * VOL_ON_RECLAIMABLE. Cost O(n^2). */
void vol_agree(struct vol_state *s, enum vol_callback callback, int32_t n, int32_t preemptor);

#endif
