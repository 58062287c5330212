/* vol_queues.h - the queues of a run: who is in which, and what each may have. */
#ifndef COLOSIM_VOL_QUEUES_H
#define COLOSIM_VOL_QUEUES_H

#include "core/base/arena.h"
#include "core/cluster/cluster.h"
#include "policies/volcano/vol_deserved.h"
#include "policies/volcano/vol_options.h"

/* (n_jobs) the queue of each job, written to queue_of, and the names of the queues; returns how
 * many there are, -1 when memory is out. */
int32_t vol_queues_of(const struct volcano_config *c, const struct job_table *t, int32_t *queue_of,
                      struct arena *arena, const char ***names);
/* Fills in n queues of those names from the settings and the cluster's own weights; capabilities
 * and guarantees are parts of total. ST_USAGE where a setting is not understood. */
enum status vol_queues_fill(const struct volcano_config *c, const struct cluster *cluster,
                            const struct amounts *total, const char *const *names, int32_t n,
                            struct vol_queue *queue, struct error *err) MUST_USE;

#endif
