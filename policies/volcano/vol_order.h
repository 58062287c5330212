/* vol_order.h - what plug-ins say about queues, jobs and tasks: who comes first, who is ready. */
#ifndef COLOSIM_VOL_ORDER_H
#define COLOSIM_VOL_ORDER_H

#include "policies/volcano/vol_state.h"

/* By queue priority, then share of what is due, where proportion orders; then the number. */
bool vol_queue_before(const struct vol_state *s, int32_t a, int32_t b);
/* The first queue of those not done; -1. Cost O(queues). */
int32_t vol_first_queue(const struct vol_state *s, const bool *done);

/* By priority, readiness and share, in the order in which plug-ins are asked: below 0 where a comes
 * first, 0 where they say nothing. vol_job_before goes on with creation. */
int vol_job_compare(const struct vol_state *s, int32_t a, int32_t b);
bool vol_job_before(const struct vol_state *s, int32_t a, int32_t b);
/* By task priority where it orders, then row. */
bool vol_task_before(const struct vol_state *s, int32_t a, int32_t b);

/* What a job has on nodes, promised tasks included. */
struct amounts vol_job_allocated(const struct vol_state *s, int32_t job);

/* Has the job what it needs to be bound? Would it have, with what it is promised? Does it want more
 * than that at the expense of others? */
bool vol_job_ready(const struct vol_state *s, int32_t job);
bool vol_job_pipelined(const struct vol_state *s, int32_t job);
bool vol_job_starving(const struct vol_state *s, int32_t job);

/* May a task of the queue have this much, by all plug-ins that are asked? */
bool vol_may_allocate(const struct vol_state *s, int32_t queue, const struct amounts *ask);

/* (roles) members of the job that count towards its minima: on nodes or ended, and those that wait
 * and ask for nothing; with those promised a node where promised is set. Written to n. */
void vol_role_members(const struct vol_state *s, int32_t job, bool promised, int32_t *n);
/* Minima by role hold only where the job's own minimum is not below their sum. */
bool vol_roles_count(const struct vol_state *s, int32_t job);

#endif
