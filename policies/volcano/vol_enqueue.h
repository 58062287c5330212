/* vol_enqueue.h - who is admitted: Volcano's enqueue action and its two gates.
 *
 * Pending groups are looked at in order, queue by queue. One that is turned away is passed over and
 * holds up nobody; one that is admitted keeps its reservation until it is gone, placed or not. */
#ifndef COLOSIM_VOL_ENQUEUE_H
#define COLOSIM_VOL_ENQUEUE_H

#include "policies/volcano/vol_state.h"

/* The overcommit gate: what admitted groups have reserved, and the minimum asked for, fit into
 * factor x total - used, in what is asked for. A factor below 1 is 1.2. */
bool vol_overcommit_admits(double factor, const struct amounts *total, const struct amounts *used,
                           const struct amounts *inqueue, const struct amounts *min);

/* Cost O(shapes + admitted x log shapes + queues x admitted). */
void vol_enqueue(struct vol_state *s);

#endif
