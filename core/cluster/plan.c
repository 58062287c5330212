#include "core/cluster/plan.h"

#include "core/base/arena.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum status plan_init(struct plan *p, struct cluster *c, const struct job_table *jobs,
                      struct place_rules rules, struct error *err)
{
    size_t n_tasks = (size_t)jobs->n_tasks + 1, n_jobs = (size_t)jobs->n_jobs + 1;
    *p = (struct plan){.cluster = c, .jobs = jobs, .rules = rules, .wake_us = TIME_NEVER};
    p->seat = malloc(n_tasks * sizeof *p->seat);
    p->n_seats = calloc(n_tasks, sizeof *p->n_seats);
    p->n_ended = calloc(n_jobs, sizeof *p->n_ended);
    p->parked = malloc(n_tasks * sizeof *p->parked);
    if (p->seat == NULL || p->n_seats == NULL || p->n_ended == NULL || p->parked == NULL) {
        plan_free(p);
        return fail_memory(err);
    }
    memset(p->seat, 0xff, n_tasks * sizeof *p->seat);
    memset(p->parked, 0xff, n_tasks * sizeof *p->parked);
    return ST_OK;
}

void plan_free(struct plan *p)
{
    free(p->seat);
    free(p->n_seats);
    free(p->n_ended);
    free(p->parked);
    free(p->entry);
    *p = (struct plan){0};
}

/* Room for one more entry, before anything is changed. */
static bool room_for_entry(struct plan *p)
{
    if (p->n < p->capacity || ARRAY_GROW(p->entry, p->capacity, p->n + 1))
        return true;
    p->failed = true;
    return false;
}

static int32_t first_task(const struct plan *p, int32_t job)
{
    return p->jobs->task_begin[job] + p->n_ended[job];
}

/* Gives back the seats of tasks first .. end - 1. */
static void unplace(struct plan *p, int32_t first, int32_t end)
{
    for (int32_t k = first; k < end; k++) {
        if (p->seat[k] < 0)
            continue;
        cluster_release(p->cluster, p->jobs, k, p->seat[k], p->n_seats[k]);
        cluster_seats_drop(p->cluster, p->seat[k], p->n_seats[k]);
        p->seat[k] = -1;
    }
}

/* The task not yet placed that asks for most GPU per instance; -1 when all are placed. */
static int32_t largest_unplaced(const struct plan *p, int32_t first, int32_t end)
{
    int32_t best = -1;
    for (int32_t k = first; k < end; k++)
        if (p->seat[k] < 0 && (best < 0 || p->jobs->gpu_milli[k] > p->jobs->gpu_milli[best]))
            best = k;
    return best;
}

bool plan_start(struct plan *p, int32_t job)
{
    int32_t first = first_task(p, job), end = p->jobs->task_begin[job + 1], task;
    if (!room_for_entry(p))
        return false;
    while ((task = largest_unplaced(p, first, end)) >= 0) {
        bool out_of_memory;
        p->seat[task] =
            place_task(p->cluster, p->jobs, task, &p->rules, &p->n_seats[task], &out_of_memory);
        p->failed = p->failed || out_of_memory;
        if (p->seat[task] < 0) {
            unplace(p, first, end);
            return false;
        }
    }
    p->entry[p->n++] = (struct plan_entry){PLAN_START, job, first};
    return true;
}

bool plan_start_on(struct plan *p, int32_t job, const int32_t *node)
{
    struct cluster *c = p->cluster;
    int32_t task = first_task(p, job), n = p->jobs->n_inst[task];
    assert(c->share == SHARE_NODE_SUM && task + 1 == p->jobs->task_begin[job + 1]);
    if (!room_for_entry(p))
        return false;
    int32_t first = cluster_seats_new(c, n);
    if (first < 0) {
        p->failed = true;
        return false;
    }
    for (int32_t i = 0; i < n; i++)
        c->seats[first + i].where = ~node[i];
    cluster_take(c, p->jobs, task, first, n);
    p->seat[task] = first;
    p->n_seats[task] = n;
    p->entry[p->n++] = (struct plan_entry){PLAN_START, job, task};
    return true;
}

/* Frees what the job holds but keeps its seats as they were. */
static void leave(struct plan *p, int32_t job)
{
    for (int32_t k = first_task(p, job); k < p->jobs->task_begin[job + 1]; k++)
        cluster_release(p->cluster, p->jobs, k, p->seat[k], p->n_seats[k]);
}

static void come_back(struct plan *p, int32_t job)
{
    for (int32_t k = first_task(p, job); k < p->jobs->task_begin[job + 1]; k++)
        cluster_take(p->cluster, p->jobs, k, p->seat[k], p->n_seats[k]);
}

void plan_evict(struct plan *p, int32_t job)
{
    if (!room_for_entry(p))
        return;
    leave(p, job);
    for (int32_t k = first_task(p, job); k < p->jobs->task_begin[job + 1]; k++) {
        assert(p->parked[k] < 0); /* evicted once in a pass */
        p->parked[k] = p->seat[k];
        p->seat[k] = -1;
    }
    p->entry[p->n++] = (struct plan_entry){PLAN_EVICT, job, first_task(p, job)};
}

void plan_release(struct plan *p, int32_t job)
{
    if (!room_for_entry(p))
        return;
    leave(p, job);
    p->entry[p->n++] = (struct plan_entry){PLAN_RELEASE, job, first_task(p, job)};
}

void plan_wake(struct plan *p, int64_t time_us)
{
    if (time_us < p->wake_us)
        p->wake_us = time_us;
}

static void undo_evict(struct plan *p, int32_t job)
{
    for (int32_t k = first_task(p, job); k < p->jobs->task_begin[job + 1]; k++) {
        p->seat[k] = p->parked[k];
        p->parked[k] = -1;
    }
    come_back(p, job);
}

void plan_undo(struct plan *p, size_t mark)
{
    while (p->n > mark) {
        const struct plan_entry *e = &p->entry[--p->n];
        switch (e->kind) {
        case PLAN_START: unplace(p, e->task, p->jobs->task_begin[e->job + 1]); break;
        case PLAN_EVICT: undo_evict(p, e->job); break;
        case PLAN_RELEASE: come_back(p, e->job); break;
        }
    }
}

void plan_end_task(struct plan *p, int32_t task)
{
    unplace(p, task, task + 1);
    p->n_ended[p->jobs->task_job[task]]++;
}

void plan_clear(struct plan *p)
{
    for (size_t i = 0; i < p->n; i++) {
        const struct plan_entry *e = &p->entry[i];
        assert(e->kind != PLAN_RELEASE); /* a what-if must be undone */
        if (e->kind != PLAN_EVICT)
            continue;
        for (int32_t k = e->task; k < p->jobs->task_begin[e->job + 1]; k++) {
            cluster_seats_drop(p->cluster, p->parked[k], p->n_seats[k]);
            p->parked[k] = -1;
        }
    }
    p->n = 0;
    p->wake_us = TIME_NEVER;
}
