/* vol_setup.h - from a run's jobs and cluster, and the policy's settings, to what Volcano sees.
 *
 * A job is a group in a queue, each instance of its tasks a pod; pods are placed in the order of
 * the GPUs they ask for, largest first. */
#ifndef COLOSIM_VOL_SETUP_H
#define COLOSIM_VOL_SETUP_H

#include "core/cluster/policy.h"
#include "policies/volcano/vol_options.h"
#include "policies/volcano/vol_state.h"

#define VOL_NO_SEAT INT32_MIN

/* Where the rows of the two are. Pods of task k (a row of the job table) are rows
 * pod_begin[k] .. pod_begin[k] + n_inst[k] - 1 of the state. */
struct vol_rows {
    int32_t *pod_begin;  /* (n_tasks) */
    int32_t *seat_begin; /* (n_pods + 1) its seats in where */
    int32_t *where;      /* (n_seats) cards, or ~node; first VOL_NO_SEAT while it has none */
    bool *hopeless;      /* (n_jobs) more pods than there are slots: it has none here */
};

/* Fills in config, state and rows. All must stay where they are. */
enum status vol_setup(const struct volcano_config *c, const struct view *v,
                      const struct place_rules *rules, struct vol_config *config,
                      struct vol_state *s, struct vol_rows *rows, struct arena *arena,
                      struct error *err) MUST_USE;

#endif
