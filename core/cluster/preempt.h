/* preempt.h - starting a job at the cost of others.
 *
 * Jobs have keys, smaller is more urgent. A job may start where it fits, else after evicting
 * running jobs with larger keys, least urgent first, and only if it then does fit. */
#ifndef COLOSIM_PREEMPT_H
#define COLOSIM_PREEMPT_H

#include "core/cluster/policy.h"
#include "core/cluster/waitq.h"

/* key of a running or waiting job now; ties go to the lower job number. */
typedef int64_t (*preempt_key_fn)(const void *context, const struct view *v, int32_t job);

/* One pass: waiting jobs in order of key; each starts, evicting running jobs whose key exceeds its
 * own by more than margin where that lets it in; evicted jobs go back to the queue with their key
 * as it is now. Sets plan->failed when memory is out. Cost O(running log running + waiting shapes x
 * victims tried). */
void preempt_walk(struct waitq *q, const struct view *v, struct plan *plan, preempt_key_fn key,
                  const void *context, int64_t margin);

#endif
