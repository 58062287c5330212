#include "policies/volcano/vol_allocate.h"

#include "policies/volcano/vol_order.h"
#include "policies/volcano/vol_session.h"
#include "policies/volcano/vol_tasks.h"
#include "policies/volcano/vol_walk.h"

/* The next task of the job that waits, asks for something and was not looked at in this action; it
 * counts as looked at from now on. -1 for none. */
static int32_t next_task(struct vol_state *s, int32_t job)
{
    if (s->cursor_of[job] != s->n_actions) {
        s->cursor_of[job] = s->n_actions;
        s->cursor[job] = s->task_begin[job];
    }
    while (s->cursor[job] < s->task_begin[job + 1]) {
        int32_t task = s->cursor[job]++;
        if (s->status[task] == VOL_WAITING && !s->ask[s->task_ask[task]].empty)
            return task;
    }
    return -1;
}

static bool tasks_left(struct vol_state *s, int32_t job)
{
    int32_t task = next_task(s, job);
    if (task >= 0)
        s->cursor[job] = task;
    return task >= 0;
}

static int32_t role_of(const struct vol_state *s, int32_t task)
{
    return s->roles == NULL ? -1 : s->roles->role[task];
}

/* May the job still get its minimum after a task of it fitted nowhere? */
static bool worth_going_on(const struct vol_state *s, int32_t job)
{
    int32_t min_available = s->shape[s->job_shape[job]].min_available;
    if (min_available == s->n_pods[job])
        return false;
    if (s->roles == NULL)
        return true;
    if (!vol_roles_count(s, job)) {
        int32_t left = s->n_ready[job];
        for (int32_t k = s->task_begin[job]; k < s->task_begin[job + 1]; k++)
            left += s->status[k] == VOL_WAITING &&
                    !(role_of(s, k) >= 0 && s->role_failed[role_of(s, k)]);
        return left >= min_available;
    }
    vol_role_members(s, job, false, s->role_members);
    for (int32_t r = 0; r < s->roles->n; r++)
        if (s->role_failed[r] && s->role_members[r] < s->roles->min[job * s->roles->n + r])
            return false;
    return true;
}

/* Places tasks until the job is ready or it is not worth going on. */
static void place_tasks(struct vol_state *s, int32_t job)
{
    int32_t queue = s->shape[s->job_shape[job]].queue, task;
    for (int32_t r = 0; s->roles != NULL && r < s->roles->n; r++)
        s->role_failed[r] = false;
    while ((task = next_task(s, job)) >= 0) {
        int32_t role = role_of(s, task);
        if (!vol_may_allocate(s, queue, &s->ask[s->task_ask[task]].amounts) ||
            (role >= 0 && s->role_failed[role]))
            continue;
        enum vol_fit fit;
        int32_t node = vol_place(s, task, &fit);
        if (node >= 0) {
            vol_change(s, task, fit == VOL_FITS_NOW ? VOL_ALLOCATED : VOL_PIPELINED, node);
            if (vol_job_ready(s, job))
                return;
            continue;
        }
        if (role >= 0)
            s->role_failed[role] = true;
        if (!worth_going_on(s, job))
            return;
    }
}

/* What is allocated since the mark stays; what is only promised is taken back with the session. */
static void bind(struct vol_state *s, int32_t job, int32_t mark)
{
    int32_t promised = mark;
    for (int32_t i = mark; i < s->n_undo; i++)
        if (s->status[s->undo[i].task] == VOL_PIPELINED)
            s->undo[promised++] = s->undo[i];
    bool some = promised < s->n_undo;
    vol_keep(s, promised);
    if (!some || s->is_bound[job])
        return;
    s->is_bound[job] = true;
    s->bound[s->n_bound++] = job;
}

/* One turn of a job; true when it is bound. */
static bool take_turn(struct vol_state *s, int32_t job)
{
    int32_t mark = s->n_undo, shape = s->job_shape[job];
    place_tasks(s, job);
    if (vol_job_ready(s, job)) {
        bind(s, job, mark);
        return true;
    }
    if (vol_job_pipelined(s, job))
        return false;
    vol_undo_to(s, mark);
    if (s->shape[shape].uniform)
        s->stuck[shape] = s->n_freed;
    return false;
}

/* Out of the line, where all its tasks have nodes. */
static bool leave_if_placed(struct vol_state *s, int32_t job)
{
    if (s->n_waiting[job] > 0 || s->n_pipelined[job] > 0)
        return false;
    vol_leave_line(s, job);
    return true;
}

/* A job that is not bound stays at the head of its shape, which is then out of the action: what
 * did not fit fits even less for the next one. */
static void allocate_first(struct vol_state *s, int32_t queue)
{
    int32_t shape = vol_walk_next(s, VOL_LINE_NODES, queue);
    int32_t job = vol_lines_head(&s->lines, VOL_LINE_NODES, shape);
    if (s->n_waiting[job] == s->n_empty[job] || s->stuck[shape] == s->n_freed || !take_turn(s, job))
        return;
    bool next = leave_if_placed(s, job) && vol_lines_head(&s->lines, VOL_LINE_NODES, shape) >= 0;
    if (next || tasks_left(s, job))
        vol_walk_add(s, VOL_LINE_NODES, shape);
}

void vol_allocate(struct vol_state *s)
{
    bool overuse = s->on[VOL_PROPORTION] & VOL_ON_OVERUSED;
    vol_walk_begin(s, VOL_LINE_NODES);
    for (int32_t q = 0; q < s->size.n_queues; q++)
        s->queue_done[q] = vol_walk_empty(s, q);
    for (int32_t q; (q = vol_first_queue(s, s->queue_done)) >= 0;) {
        if (!vol_walk_empty(s, q) && !(overuse && vol_overused(&s->queue[q])))
            allocate_first(s, q);
        else
            s->queue_done[q] = true;
    }
}

/* All tasks of the job that ask for nothing, as far as there are slots for pods. */
static void fill(struct vol_state *s, int32_t job)
{
    int32_t mark = s->n_undo;
    for (int32_t k = s->task_begin[job]; k < s->task_begin[job + 1]; k++) {
        enum vol_fit fit;
        if (s->status[k] != VOL_WAITING || !s->ask[s->task_ask[k]].empty)
            continue;
        int32_t node = vol_place(s, k, &fit);
        if (node >= 0 && fit == VOL_FITS_NOW)
            vol_change(s, k, VOL_ALLOCATED, node);
    }
    if (vol_job_ready(s, job))
        bind(s, job, mark);
    else
        vol_undo_to(s, mark);
}

void vol_backfill(struct vol_state *s)
{
    vol_walk_begin(s, VOL_LINE_NODES);
    for (int32_t q = 0; q < s->size.n_queues; q++)
        s->queue_done[q] = false;
    for (int32_t q; (q = vol_first_queue(s, s->queue_done)) >= 0;) {
        int32_t shape = vol_walk_next(s, VOL_LINE_NODES, q);
        if (shape < 0) {
            s->queue_done[q] = true;
            continue;
        }
        int32_t job = vol_lines_head(&s->lines, VOL_LINE_NODES, shape);
        if (s->n_empty[job] > 0)
            fill(s, job);
        if (leave_if_placed(s, job) && vol_lines_head(&s->lines, VOL_LINE_NODES, shape) >= 0)
            vol_walk_add(s, VOL_LINE_NODES, shape);
    }
}
