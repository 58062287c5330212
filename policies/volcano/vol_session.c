#include "policies/volcano/vol_session.h"

#include "policies/volcano/vol_tasks.h"

#include <assert.h>

/* Puts the job where it waits in its phase, if it does. */
static void line_up(struct vol_state *s, int32_t job)
{
    bool pending = s->phase[job] == VOL_PENDING;
    if (s->in_line[job] || (!pending && s->n_waiting[job] == 0))
        return;
    vol_lines_push(&s->lines, pending ? VOL_LINE_ADMISSION : VOL_LINE_NODES, job);
    s->in_line[job] = true;
}

void vol_leave_line(struct vol_state *s, int32_t job)
{
    enum vol_line line = s->phase[job] == VOL_PENDING ? VOL_LINE_ADMISSION : VOL_LINE_NODES;
    if (!s->in_line[job])
        return;
    int32_t head = vol_lines_pop(&s->lines, line, s->job_shape[job]);
    assert(head == job);
    s->in_line[job] = false;
}

void vol_job_comes(struct vol_state *s, int32_t job, enum vol_phase phase)
{
    s->queue[s->shape[s->job_shape[job]].queue].n_jobs++;
    s->phase[job] = (uint8_t)phase;
    vol_reserve(s, job, 1);
    line_up(s, job);
}

void vol_pod(struct vol_state *s, int32_t task, enum vol_status status, int32_t node)
{
    assert(s->status[task] == VOL_NONE);
    vol_set(s, task, status, node);
    line_up(s, s->task_job[task]);
}

void vol_job_pods(struct vol_state *s, int32_t job)
{
    for (int32_t k = s->task_begin[job]; k < s->task_begin[job + 1]; k++)
        if (s->status[k] == VOL_NONE)
            vol_set(s, k, VOL_WAITING, -1);
    line_up(s, job);
}

void vol_job_phase(struct vol_state *s, int32_t job, enum vol_phase phase)
{
    bool moves = (s->phase[job] == VOL_PENDING) != (phase == VOL_PENDING);
    if (moves)
        vol_leave_line(s, job);
    vol_reserve(s, job, -1);
    s->phase[job] = (uint8_t)phase;
    vol_reserve(s, job, 1);
    line_up(s, job);
}

void vol_task_ends(struct vol_state *s, int32_t task)
{
    vol_set(s, task, VOL_SUCCEEDED, -1);
    s->n_freed++;
}

void vol_pod_again(struct vol_state *s, int32_t task)
{
    vol_set(s, task, VOL_WAITING, -1);
    line_up(s, s->task_job[task]);
    s->n_freed++;
}

static void delete_pods(struct vol_state *s, int32_t job)
{
    vol_leave_line(s, job);
    for (int32_t k = s->task_begin[job]; k < s->task_begin[job + 1]; k++)
        if (s->status[k] != VOL_SUCCEEDED)
            vol_set(s, k, VOL_NONE, -1);
    s->n_freed++;
}

void vol_job_restarts(struct vol_state *s, int32_t job)
{
    delete_pods(s, job);
    vol_job_phase(s, job, VOL_PENDING);
}

void vol_job_goes(struct vol_state *s, int32_t job)
{
    delete_pods(s, job);
    vol_reserve(s, job, -1);
    s->phase[job] = VOL_ABSENT;
    s->queue[s->shape[s->job_shape[job]].queue].n_jobs--;
}

void vol_session_open(struct vol_state *s)
{
    assert(s->n_undo == 0);
    for (int32_t i = 0; i < s->n_bound; i++)
        s->is_bound[s->bound[i]] = false;
    s->n_admitted = s->n_bound = s->n_evicted = 0;
    vol_deserved(s->queue, s->size.n_queues, &s->nodes.total);
}

void vol_session_close(struct vol_state *s)
{
    s->n_freed += s->n_undo > 0;
    vol_undo_to(s, 0);
    for (int32_t i = 0; i < s->n_bound; i++)
        for (int32_t k = s->task_begin[s->bound[i]]; k < s->task_begin[s->bound[i] + 1]; k++)
            if (s->status[k] == VOL_ALLOCATED)
                s->status[k] = VOL_BOUND; /* the same in every book */
}
