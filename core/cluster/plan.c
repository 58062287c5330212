#include "core/cluster/plan.h"

#include "core/base/arena.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

static const struct seats nowhere = {-1, 0};

static struct seats *seats_new(int32_t n)
{
    struct seats *s = malloc(((size_t)n + 1) * sizeof *s);
    for (int32_t i = 0; s != NULL && i < n; i++)
        s[i] = nowhere;
    return s;
}

enum status plan_init(struct plan *p, struct cluster *c, const struct job_table *jobs,
                      struct place_rules rules, struct error *err)
{
    *p = (struct plan){.cluster = c, .jobs = jobs, .rules = rules, .wake_us = TIME_NEVER};
    p->at = seats_new(jobs->n_tasks);
    p->parked = seats_new(jobs->n_tasks);
    p->side = seats_new(jobs->n_jobs);
    p->n_ended = calloc((size_t)jobs->n_jobs + 1, sizeof *p->n_ended);
    p->speed = malloc(((size_t)jobs->n_jobs + 1) * sizeof *p->speed);
    if (p->at == NULL || p->parked == NULL || p->side == NULL || p->n_ended == NULL ||
        p->speed == NULL) {
        plan_free(p);
        return fail_memory(err);
    }
    for (int32_t j = 0; j < jobs->n_jobs; j++)
        p->speed[j] = 1;
    return ST_OK;
}

void plan_free(struct plan *p)
{
    free(p->at);
    free(p->parked);
    free(p->side);
    free(p->n_ended);
    free(p->speed);
    free(p->config);
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

static void add(struct plan *p, enum plan_kind kind, int32_t job, int32_t task)
{
    p->entry[p->n++] = (struct plan_entry){.kind = kind, .job = job, .task = task};
}

static int32_t first_task(const struct plan *p, int32_t job)
{
    return p->jobs->task_begin[job] + p->n_ended[job];
}

/* The job's only task. */
static int32_t only_task(const struct plan *p, int32_t job)
{
    int32_t task = first_task(p, job);
    assert(task + 1 == p->jobs->task_begin[job + 1]);
    return task;
}

static void take(struct plan *p, int32_t task, struct seats s)
{
    cluster_take(p->cluster, p->jobs, task, s.first, s.n);
}

static void give_back(struct plan *p, int32_t task, struct seats s)
{
    cluster_release(p->cluster, p->jobs, task, s.first, s.n);
}

static void drop(struct plan *p, struct seats *s)
{
    cluster_seats_drop(p->cluster, s->first, s->n);
    *s = nowhere;
}

/* Gives back and forgets the seats of tasks first .. end - 1. */
static void unplace(struct plan *p, int32_t first, int32_t end)
{
    for (int32_t k = first; k < end; k++) {
        if (p->at[k].first < 0)
            continue;
        give_back(p, k, p->at[k]);
        drop(p, &p->at[k]);
    }
}

static bool place(struct plan *p, int32_t task, int32_t n_inst)
{
    bool out_of_memory;
    p->at[task].first =
        place_task(p->cluster, p->jobs, task, n_inst, &p->rules, &p->at[task].n, &out_of_memory);
    p->failed = p->failed || out_of_memory;
    return p->at[task].first >= 0;
}

/* The task not yet placed that asks for most GPU per instance; -1 when all are placed. */
static int32_t largest_unplaced(const struct plan *p, int32_t first, int32_t end)
{
    int32_t best = -1;
    for (int32_t k = first; k < end; k++)
        if (p->at[k].first < 0 && (best < 0 || p->jobs->gpu_milli[k] > p->jobs->gpu_milli[best]))
            best = k;
    return best;
}

bool plan_start(struct plan *p, int32_t job)
{
    int32_t first = first_task(p, job), end = p->jobs->task_begin[job + 1], task;
    if (!room_for_entry(p))
        return false;
    while ((task = largest_unplaced(p, first, end)) >= 0)
        if (!place(p, task, p->jobs->n_inst[task])) {
            unplace(p, first, end);
            return false;
        }
    add(p, PLAN_START, job, first);
    return true;
}

bool plan_start_width(struct plan *p, int32_t job, int32_t n_inst)
{
    int32_t task = only_task(p, job);
    if (!room_for_entry(p) || !place(p, task, n_inst))
        return false;
    add(p, PLAN_START, job, task);
    return true;
}

/* A run of seats on given places, not yet taken. */
static struct seats seats_at(struct plan *p, const int32_t *where, int32_t n)
{
    struct seats s = {cluster_seats_new(p->cluster, n), n};
    p->failed = p->failed || s.first < 0;
    for (int32_t i = 0; s.first >= 0 && i < n; i++)
        p->cluster->seats[s.first + i].where = where[i];
    return s;
}

/* How many seats all instances of a task need. */
static int32_t seats_of_task(const struct plan *p, int32_t task)
{
    return p->jobs->n_inst[task] * cluster_seats_of_instance(p->cluster, p->jobs->gpu_milli[task]);
}

bool plan_start_at(struct plan *p, int32_t job, const int32_t *where, int32_t n)
{
    int32_t first = first_task(p, job), end = p->jobs->task_begin[job + 1];
    if (!room_for_entry(p))
        return false;
    for (int32_t task = first; task < end; task++) {
        int32_t n_seats = end - first == 1 ? n : seats_of_task(p, task);
        struct seats s = seats_at(p, where, n_seats);
        if (s.first < 0) {
            unplace(p, first, task);
            return false;
        }
        take(p, task, s);
        p->at[task] = s;
        where += n_seats;
        n -= n_seats;
    }
    assert(n == 0);
    add(p, PLAN_START, job, first);
    return true;
}

/* Frees what the job holds but keeps its seats as they were. */
static void leave(struct plan *p, int32_t job)
{
    for (int32_t k = first_task(p, job); k < p->jobs->task_begin[job + 1]; k++)
        give_back(p, k, p->at[k]);
}

static void come_back(struct plan *p, int32_t job)
{
    for (int32_t k = first_task(p, job); k < p->jobs->task_begin[job + 1]; k++)
        take(p, k, p->at[k]);
}

static void park(struct plan *p, int32_t job)
{
    for (int32_t k = first_task(p, job); k < p->jobs->task_begin[job + 1]; k++) {
        assert(p->parked[k].first < 0); /* evicted or resized once in a pass */
        p->parked[k] = p->at[k];
        p->at[k] = nowhere;
    }
}

static void unpark(struct plan *p, int32_t job)
{
    for (int32_t k = first_task(p, job); k < p->jobs->task_begin[job + 1]; k++) {
        p->at[k] = p->parked[k];
        p->parked[k] = nowhere;
    }
}

void plan_evict(struct plan *p, int32_t job, int64_t restart_us)
{
    if (!room_for_entry(p))
        return;
    leave(p, job);
    park(p, job);
    add(p, PLAN_EVICT, job, first_task(p, job));
    p->entry[p->n - 1].restart_us = restart_us;
}

void plan_release(struct plan *p, int32_t job)
{
    if (!room_for_entry(p))
        return;
    leave(p, job);
    add(p, PLAN_RELEASE, job, first_task(p, job));
}

int32_t plan_width(const struct plan *p, int32_t task)
{
    return p->at[task].n / cluster_seats_of_instance(p->cluster, p->jobs->gpu_milli[task]);
}

/* The seats of the larger of two widths: those it has, then more of them or fewer. */
static bool reseat(struct plan *p, int32_t task, struct seats old, int32_t n_inst)
{
    int32_t per_inst = cluster_seats_of_instance(p->cluster, p->jobs->gpu_milli[task]);
    int32_t n = n_inst * per_inst, kept = n < old.n ? n : old.n;
    struct seats s = {cluster_seats_new(p->cluster, n), n}, more = nowhere;
    if (s.first < 0) {
        p->failed = true;
        return false;
    }
    struct seat *seats = p->cluster->seats;
    for (int32_t i = 0; i < kept; i++)
        seats[s.first + i].where = seats[old.first + i].where;
    cluster_take(p->cluster, p->jobs, task, s.first, kept);
    if (n > kept) {
        if (!place(p, task, n_inst - kept / per_inst)) {
            cluster_release(p->cluster, p->jobs, task, s.first, kept);
            cluster_seats_drop(p->cluster, s.first, n);
            return false;
        }
        more = p->at[task];
        give_back(p, task, more);
        seats = p->cluster->seats; /* may have moved */
        for (int32_t i = kept; i < n; i++)
            seats[s.first + i].where = seats[more.first + i - kept].where;
        cluster_take(p->cluster, p->jobs, task, s.first + kept, n - kept);
        drop(p, &more);
    }
    p->at[task] = s;
    return true;
}

bool plan_resize(struct plan *p, int32_t job, int32_t n_inst)
{
    int32_t task = only_task(p, job);
    assert(n_inst >= 1);
    if (!room_for_entry(p))
        return false;
    leave(p, job);
    park(p, job);
    if (!reseat(p, task, p->parked[task], n_inst)) {
        unpark(p, job);
        come_back(p, job);
        return false;
    }
    add(p, PLAN_RESIZE, job, task);
    return true;
}

bool plan_resize_at(struct plan *p, int32_t job, const int32_t *where, int32_t n)
{
    int32_t task = only_task(p, job);
    if (!room_for_entry(p))
        return false;
    struct seats s = seats_at(p, where, n);
    if (s.first < 0)
        return false;
    leave(p, job);
    park(p, job);
    take(p, task, s);
    p->at[task] = s;
    add(p, PLAN_RESIZE, job, task);
    return true;
}

void plan_speed(struct plan *p, int32_t job, double speed)
{
    if (!room_for_entry(p))
        return;
    add(p, PLAN_SPEED, job, first_task(p, job));
    p->entry[p->n - 1].speed = p->speed[job];
    p->speed[job] = speed;
}

/* The only task of a job that is run aside, whether it has ended by now or not. */
static int32_t aside_task(const struct plan *p, int32_t job)
{
    int32_t task = p->jobs->task_begin[job];
    assert(task + 1 == p->jobs->task_begin[job + 1]);
    return task;
}

bool plan_profile(struct plan *p, int32_t job, const int32_t *where, int32_t n, int64_t stay_us,
                  bool ends_job)
{
    int32_t task = aside_task(p, job);
    assert(p->side[job].first < 0);
    if (!room_for_entry(p))
        return false;
    struct seats s = seats_at(p, where, n);
    if (s.first < 0)
        return false;
    take(p, task, s);
    p->side[job] = s;
    add(p, PLAN_PROFILE, job, task);
    p->entry[p->n - 1].profile.stay_us = stay_us;
    p->entry[p->n - 1].profile.ends_job = ends_job;
    return true;
}

/* Of the submitted configuration the trace's word counts where it has one. */
static void set_config(struct plan *p, int32_t job, int32_t config)
{
    const struct job_table *t = p->jobs;
    bool as_submitted = config == p->submitted[job];
    p->config[job] = config;
    for (int32_t k = t->task_begin[job]; k < t->task_begin[job + 1]; k++) {
        int64_t gpu_milli = t->gpu_milli[k];
        if (config < 0 || gpu_milli == 0)
            continue;
        t->card_mem_mib[k] =
            as_submitted && t->gpu_mem_mib[k] > 0 ? t->gpu_mem_mib[k] : p->needs.mem_mib[config];
        t->nic_mbps[k] = (int32_t)((p->needs.nic_mbps[config] * gpu_milli + 999) / 1000);
        t->storage_mbps[k] = (int32_t)((p->needs.storage_mbps[config] * gpu_milli + 999) / 1000);
    }
}

enum status plan_configure(struct plan *p, const int32_t *submitted,
                           const struct config_needs *needs, struct error *err)
{
    p->config = malloc(((size_t)p->jobs->n_jobs + 1) * sizeof *p->config);
    if (p->config == NULL)
        return fail_memory(err);
    p->submitted = submitted;
    p->needs = *needs;
    for (int32_t j = 0; j < p->jobs->n_jobs; j++)
        set_config(p, j, submitted[j]);
    return ST_OK;
}

/* Another configuration on the same seats, whether it fits or not. */
static void change_config(struct plan *p, int32_t job, int32_t config)
{
    for (int32_t k = first_task(p, job); k < p->jobs->task_begin[job + 1]; k++)
        if (p->at[k].first >= 0)
            give_back(p, k, p->at[k]);
    set_config(p, job, config);
    for (int32_t k = first_task(p, job); k < p->jobs->task_begin[job + 1]; k++)
        if (p->at[k].first >= 0)
            take(p, k, p->at[k]);
}

bool plan_fits(const struct plan *p, int32_t job)
{
    const struct cluster *c = p->cluster;
    for (int32_t k = first_task(p, job); k < p->jobs->task_begin[job + 1]; k++)
        for (int32_t i = 0; p->at[k].first >= 0 && i < p->at[k].n; i++) {
            int32_t where = c->seats[p->at[k].first + i].where, node = seat_node(c, where);
            if ((where >= 0 && c->card_mem_free_mib[where] < 0 && !c->mem_gives_way) ||
                c->nic_free_mbps[node] < 0 || c->storage_free_mbps[node] < 0)
                return false;
        }
    return true;
}

bool plan_config(struct plan *p, int32_t job, int32_t config)
{
    assert(p->config != NULL && p->config[job] >= 0 && p->side[job].first < 0);
    int32_t before = p->config[job];
    if (!room_for_entry(p))
        return false;
    change_config(p, job, config);
    if (!plan_fits(p, job)) {
        change_config(p, job, before);
        return false;
    }
    add(p, PLAN_CONFIG, job, first_task(p, job));
    p->entry[p->n - 1].config = before;
    return true;
}

void plan_pause(struct plan *p, int32_t job, int64_t pause_us)
{
    if (!room_for_entry(p))
        return;
    add(p, PLAN_PAUSE, job, first_task(p, job));
    p->entry[p->n - 1].pause_us = pause_us;
}

void plan_pool(struct plan *p, int32_t node, int32_t pool)
{
    if (!room_for_entry(p))
        return;
    add(p, PLAN_POOL, node, p->cluster->node_pool[node]);
    p->cluster->node_pool[node] = pool;
}

void plan_wake(struct plan *p, int64_t time_us)
{
    if (time_us < p->wake_us)
        p->wake_us = time_us;
}

void plan_undo(struct plan *p, size_t mark)
{
    while (p->n > mark) {
        const struct plan_entry *e = &p->entry[--p->n];
        switch (e->kind) {
        case PLAN_START: unplace(p, e->task, p->jobs->task_begin[e->job + 1]); break;
        case PLAN_RESIZE:
            unplace(p, e->task, e->task + 1);
            unpark(p, e->job);
            come_back(p, e->job);
            break;
        case PLAN_EVICT:
            unpark(p, e->job);
            come_back(p, e->job);
            break;
        case PLAN_RELEASE: come_back(p, e->job); break;
        case PLAN_SPEED: p->speed[e->job] = e->speed; break;
        case PLAN_PROFILE: plan_end_profile(p, e->job); break;
        case PLAN_POOL: p->cluster->node_pool[e->job] = e->task; break;
        case PLAN_CONFIG: change_config(p, e->job, e->config); break;
        case PLAN_PAUSE: break;
        }
    }
}

void plan_end_task(struct plan *p, int32_t task)
{
    unplace(p, task, task + 1);
    p->n_ended[p->jobs->task_job[task]]++;
}

void plan_end_profile(struct plan *p, int32_t job)
{
    give_back(p, aside_task(p, job), p->side[job]);
    drop(p, &p->side[job]);
}

void plan_clear(struct plan *p)
{
    for (size_t i = 0; i < p->n; i++) {
        const struct plan_entry *e = &p->entry[i];
        assert(e->kind != PLAN_RELEASE); /* a what-if must be undone */
        if (e->kind != PLAN_EVICT && e->kind != PLAN_RESIZE)
            continue;
        for (int32_t k = e->task; k < p->jobs->task_begin[e->job + 1]; k++)
            if (p->parked[k].first >= 0)
                drop(p, &p->parked[k]);
    }
    p->n = 0;
    p->wake_us = TIME_NEVER;
}
