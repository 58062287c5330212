/* vol_session.h - one wake-up of the Volcano scheduler, and what happens between two of them.
 *
 *   vol_session_open, then the actions in their order (vol_enqueue.h, vol_allocate.h,
 *   vol_evict.h), then vol_session_close: state.admitted, bound and evicted say what they did, and
 *   what was promised but not bound is taken back. */
#ifndef COLOSIM_VOL_SESSION_H
#define COLOSIM_VOL_SESSION_H

#include "policies/volcano/vol_state.h"

/* Between sessions. A job comes as a group without pods, pending or further on. */
void vol_job_comes(struct vol_state *s, int32_t job, enum vol_phase phase);
/* A task that has none gets a pod: it waits, or is found where it is. */
void vol_pod(struct vol_state *s, int32_t task, enum vol_status status, int32_t node);
/* All tasks that have none get waiting pods. */
void vol_job_pods(struct vol_state *s, int32_t job);
/* The group is in another phase from now on. */
void vol_job_phase(struct vol_state *s, int32_t job, enum vol_phase phase);
/* A task on a node has ended. */
void vol_task_ends(struct vol_state *s, int32_t task);
/* A task that had a node waits for one again. */
void vol_pod_again(struct vol_state *s, int32_t task);
/* Its tasks that have not ended are deleted, and it is pending again. */
void vol_job_restarts(struct vol_state *s, int32_t job);
/* It is gone, all its tasks having ended. */
void vol_job_goes(struct vol_state *s, int32_t job);

/* Out of the line it is in. */
void vol_leave_line(struct vol_state *s, int32_t job);

void vol_session_open(struct vol_state *s);
void vol_session_close(struct vol_state *s);

#endif
