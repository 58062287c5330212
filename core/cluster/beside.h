/* beside.h - starting a job on cards that others sit on, by the policy's own word.
 *
 * plan_start shares a card by the run's rules (share.max_jobs, measured pairs) and only where
 * nothing is free. Policies that bring co-location rules of their own say here which cards a job
 * may take and how gladly. Only jobs with one task left that asks for whole cards can share: the
 * rest is answered with false. Host CPU, host memory, GPU type and pool are looked at here; GPU
 * memory too, unless the policy's jobs give way (cluster.mem_gives_way). */
#ifndef COLOSIM_BESIDE_H
#define COLOSIM_BESIDE_H

#include "core/base/arena.h"
#include "core/cluster/plan.h"

/* One task left, and whole cards. */
bool beside_whole(const struct plan *p, int32_t job);

/* Starts a waiting job on exactly the cards of one that has a place and is as wide, instance beside
 * instance. Sets plan->failed when memory is out. */
bool beside_start(struct plan *p, int32_t job, int32_t host, struct arena *scratch);

/* How glad the job would be of this card, 0 or more; below 0 it must not sit there. Free cards are
 * asked about as well. */
typedef double (*beside_worth_fn)(const void *context, const struct plan *p, int32_t job,
                                  int32_t card);

/* Starts a waiting job on those of these cards (in ascending order) that it is gladdest of:
 * instance by instance on the node whose worst card among the best it needs is worth most; ties go
 * to the lowest number. Cost O(n_cards x worth + n_cards log cards of a node + instances x nodes).
 */
bool beside_start_best(struct plan *p, int32_t job, const int32_t *card, int32_t n_cards,
                       beside_worth_fn worth, const void *context, struct arena *scratch);

#endif
