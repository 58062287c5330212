/* pair_plan.h - which pairs of jobs are measured, and in which order.
 *
 * Of the unordered pairs of each stratum (two training jobs, training beside inference, two
 * inference jobs; a job beside itself included) a fraction is drawn, pairs of workloads taking
 * turns, so that as many of them as possible are seen. */
#ifndef COLOSIM_PAIR_PLAN_H
#define COLOSIM_PAIR_PLAN_H

#include "calib/measure/joblist.h"

struct job_pair {
    int32_t job[2]; /* the first is not behind the second */
};
struct pair_plan {
    int32_t n, n_all;                 /* drawn, and how many there are */
    int32_t n_workload_pairs, n_seen; /* pairs of workloads there are, and drawn */
    struct job_pair *pair;            /* (n) in random order */
};

/* fraction in 0..1; of a stratum with any pairs at least one is drawn unless it is 0. Equal (list,
 * fraction, seed) draw equal pairs. O(n^2 log n) of the list's length. The caller frees in any
 * case. */
enum status pair_plan_make(struct pair_plan *p, const struct joblist *jobs, double fraction,
                           uint64_t seed, struct error *err) MUST_USE;
void pair_plan_free(struct pair_plan *p);

#endif
