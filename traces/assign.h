/* assign.h - what a trace does not say about its jobs and policies need: kind, workload and
 * min_rate_frac, by a mapping that is the same wherever the same job is met.
 *
 * Jobs recur in groups: those of one group of the trace; without one those of one user with the
 * same GPUs; without a user every job is a group of its own. What a group gets depends on the seed
 * and the group's name alone (a hash, no stream of draws; for its kind also on whether it has a
 * wide job), so rows in another order and jobs beside other jobs get the same.
 *
 *   kind           unknown: train where a job of the group asks for more than one GPU, else infer
 *                  for the share infer_frac of the groups, else train
 *   workload       missing: one of the twelve of the ElastiCo paper's Table 2, uniformly among the
 *                  eight for training or the four for inference, the same for a whole group and
 * kind min_rate_frac  missing: the given number
 *
 * What the trace says stays, and jobs without a GPU get nothing. */
#ifndef COLOSIM_ASSIGN_H
#define COLOSIM_ASSIGN_H

#include "traces/trace.h"

/* Fills in the closed table and says in the report what was assumed, and for how many jobs. Reads
 * assign_seed, infer_frac and min_rate_frac of the options. Cost O(jobs + tasks). */
enum status assign_missing(struct trace *trace, const struct trace_options *o,
                           struct error *err) MUST_USE;

#endif
