/* ref_volcano.h - a second model of volcano for a queue of whole gangs: by the second, job by job,
 * with plain loops, written from the rules (design/systems.md 1.3 to 1.8 of the reference data)
 * and not from the policy. */
#ifndef COLOSIM_TESTS_REF_VOLCANO_H
#define COLOSIM_TESTS_REF_VOLCANO_H

#include "core/cluster/cluster.h"

struct ref_volcano {
    bool helm, gpus;             /* binpack counts; with GPUs, at weight 10 */
    bool from_1_36;              /* the balanced score */
    bool overcommit, proportion; /* gates */
};

/* When each job starts, in seconds, -1 for never, written to start_s (n_jobs). Jobs have one task
 * of whole GPUs; the lowest of equally good nodes is taken; CPU and memory are the policy's
 * defaults. */
void ref_volcano_run(const struct ref_volcano *how, const struct job_table *t,
                     const struct cluster *c, double *start_s);

#endif
