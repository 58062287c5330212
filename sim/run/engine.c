#include "sim/run/engine.h"

#include "core/cluster/waitq.h"
#include "core/elastico/lore.h"
#include "sim/run/eventq.h"
#include "sim/run/rates.h"
#include "sim/run/sampler.h"
#include "sim/run/sm_meter.h"
#include "sim/run/spans.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

struct engine {
    const struct engine_setup *s;
    struct job_table *jobs;
    struct cluster *cluster;
    struct plan plan;
    struct eventq queue; /* owner job: its next task ends; n_jobs: the policy's wake-up; n_jobs + 1
                            + job: its time aside is over */
    struct sampler sampler;
    struct view view;
    struct arena arena, scratch;
    void *state; /* of the policy */
    struct run_log *log;
    int64_t now_us;

    int32_t *order;    /* (n_jobs) jobs by (submission, row): the arrivals */
    int32_t n_arrived; /* of these so far */
    int32_t n_waiting, n_running, n_ended;
    bool *holdable; /* (n_shapes) an empty cluster could hold it */
    int32_t *shape; /* (n_jobs) */

    int32_t *arrived, *finished, *profiled; /* since the last pass */
    struct aside {
        int64_t start_us;
        bool ends_job;
    } * aside;      /* (n_jobs) jobs being profiled; NULL where the policy does not */
    double *left_s; /* (n_jobs) what is left at since_us, under ticked progress; else NULL */
    int32_t *dirty; /* jobs whose rate must be looked at again */
    int32_t n_dirty;
    struct stay *stay; /* (n_jobs) */
    double *kept;      /* (n_jobs) 1 / S of running jobs */
    int32_t last;      /* of the running jobs, in order of start */
    struct sm_meter meter;
    struct table no_table[POLICY_TABLES_MAX];
    bool sets_speed; /* of the policy with these settings */
    int64_t tick_us; /* likewise */
};

/* In the order of a job's life. */
static double seconds_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static enum status begin(struct engine *e, struct error *err);
static bool next_instant(const struct engine *e, int64_t *time_us);
static void on_arrive(struct engine *e, int32_t job);
static enum status schedule(struct engine *e, struct error *err);
static void start(struct engine *e, int32_t job);
static void mark_dirty(struct engine *e, int32_t job);
static void rerate(struct engine *e);
static void evict(struct engine *e, const struct plan_entry *entry);
static void resize(struct engine *e, int32_t job, int32_t task);
static void reconfigure(struct engine *e, int32_t job);
static void pause_job(struct engine *e, int32_t job, int64_t pause_us);
static void set_aside(struct engine *e, const struct plan_entry *entry);
static enum status end_aside(struct engine *e, int32_t job, struct error *err);
static enum status on_finish(struct engine *e, int32_t job, struct error *err);
static enum status finish_run(struct engine *e, struct error *err);

enum status engine_run(const struct engine_setup *s, struct run_log *out, struct error *err)
{
    struct engine e = {.s = s, .jobs = s->jobs, .cluster = s->cluster, .log = out, .last = -1};
    *out = (struct run_log){0};
    enum status status = ST_OK;
    TRY_OUT(begin(&e, err));
    int64_t time_us;
    while (next_instant(&e, &time_us)) {
        if (s->stop != NULL && *s->stop) {
            out->interrupted = true;
            break;
        }
        sampler_advance(&e.sampler, time_us, e.cluster, e.n_waiting, e.n_running,
                        (double)e.meter.sum * 1e-9);
        e.now_us = e.view.now_us = time_us;
        const struct event *first;
        while ((first = eventq_first(&e.queue)) != NULL && first->time_us == time_us) {
            int32_t owner = first->owner;
            eventq_pop(&e.queue);
            out->n_events++;
            if (owner < e.jobs->n_jobs)
                TRY_OUT(on_finish(&e, owner, err));
            else if (owner > e.jobs->n_jobs)
                TRY_OUT(end_aside(&e, owner - e.jobs->n_jobs - 1, err));
        }
        while (e.n_arrived < e.jobs->n_jobs && e.jobs->submit_us[e.order[e.n_arrived]] == time_us) {
            out->n_events++;
            on_arrive(&e, e.order[e.n_arrived++]);
        }
        TRY_OUT(schedule(&e, err));
        rerate(&e);
        sm_meter_update(&e.meter, &s->rates, &e.plan, e.kept);
        if (s->check && !(cluster_valid(e.cluster, e.jobs) && eventq_valid(&e.queue))) {
            status = fail(err, ST_OUTPUT, "internal error: the cluster's books do not add up");
            goto out;
        }
        if (s->progress != NULL && (out->n_passes & 4095) == 0)
            s->progress(s->progress_context, time_us, e.n_ended, e.jobs->n_jobs);
    }
    TRY_OUT(finish_run(&e, err));
out:
    if (e.state != NULL && s->policy->fini != NULL)
        s->policy->fini(e.state);
    plan_free(&e.plan);
    eventq_free(&e.queue);
    arena_free(&e.arena);
    arena_free(&e.scratch);
    return status;
}

static int by_submission(const void *a, const void *b, void *table)
{
    const struct job_table *t = table;
    int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
    if (t->submit_us[x] != t->submit_us[y])
        return t->submit_us[x] < t->submit_us[y] ? -1 : 1;
    return x < y ? -1 : 1;
}

static void sort_arrivals(struct engine *e)
{
    bool sorted = true;
    for (int32_t j = 0; j < e->jobs->n_jobs; j++) {
        e->order[j] = j;
        sorted = sorted && (j == 0 || e->jobs->submit_us[j - 1] <= e->jobs->submit_us[j]);
    }
    if (!sorted)
        qsort_r(e->order, (size_t)e->jobs->n_jobs, sizeof *e->order, by_submission, e->jobs);
}

/* Could an empty cluster hold it in this configuration (-1: as it is), that wide if elastic? By
 * trying, in the run's way and then in every other. */
static bool fits_as(struct engine *e, int32_t job, int32_t config, bool elastic, int32_t width)
{
    static const enum place_mode other[] = {PLACE_FIRST_FIT, PLACE_BEST_FIT, PLACE_SPREAD,
                                            PLACE_CONSOLIDATE};
    enum place_mode wanted = e->plan.rules.mode;
    bool fits = false;
    if (config >= 0 && !plan_config(&e->plan, job, config))
        return false;
    size_t mark = plan_mark(&e->plan);
    for (size_t i = 0; i < sizeof other / sizeof *other && !fits; i++) {
        e->plan.rules.mode = other[i];
        fits = elastic ? plan_start_width(&e->plan, job, width) : plan_start(&e->plan, job);
        plan_undo(&e->plan, mark);
    }
    plan_undo(&e->plan, 0);
    e->plan.rules.mode = wanted;
    return fits;
}

/* For a policy that reshapes, in the smallest configuration, or any where memory is not all. */
static bool fits_empty(struct engine *e, int32_t job)
{
    const struct rst *rst = e->s->rates.rst;
    bool reshape = e->s->policy->reshapes && rst != NULL && rst->submitted[job] >= 0;
    bool elastic = e->s->policy->elastic && job_is_elastic(e->jobs, job);
    int32_t config = reshape ? rst_smallest(rst, job) : -1, width = e->jobs->gpu_min[job];
    if (reshape && elastic && rst->asked[job] > 0)
        width = rst_narrowest(rst, e->jobs, job, &config);
    bool fits = fits_as(e, job, config, elastic, width);
    int32_t wl = reshape ? rst->workload[job] : -1;
    if (fits || wl < 0 || !profile_takes_bandwidth(rst->p, wl))
        return fits;
    for (int32_t c = rst->w->config_begin[wl]; c < rst->w->config_begin[wl + 1] && !fits; c++)
        fits = config_index(rst->w, c, KNOB_SL) ==
                   config_index(rst->w, rst->submitted[job], KNOB_SL) &&
               rst_speed(rst, job, c, rst->card[job]) > 0 && fits_as(e, job, c, elastic, width);
    return fits;
}

static enum status find_holdable(struct engine *e, struct error *err)
{
    int32_t n_shapes = shapes_of(e->jobs, e->s->policy->reshapes, e->shape);
    bool *seen = n_shapes < 0 ? NULL : arena_alloc(&e->arena, (size_t)n_shapes, sizeof *seen);
    e->holdable =
        n_shapes < 0 ? NULL : arena_alloc(&e->arena, (size_t)n_shapes, sizeof *e->holdable);
    if (seen == NULL || e->holdable == NULL)
        return fail_memory(err);
    for (int32_t j = 0; j < e->jobs->n_jobs; j++) {
        if (seen[e->shape[j]])
            continue;
        seen[e->shape[j]] = true;
        e->holdable[e->shape[j]] = fits_empty(e, j);
    }
    return e->plan.failed ? fail_memory(err) : ST_OK;
}

static bool columns_new(struct engine *e)
{
    size_t n = (size_t)e->jobs->n_jobs + 1;
    const struct policy *policy = e->s->policy;
#define COLUMN(name) ((e->name = arena_alloc(&e->arena, n, sizeof *e->name)) != NULL)
    return COLUMN(order) && COLUMN(shape) && COLUMN(arrived) && COLUMN(finished) && COLUMN(dirty) &&
           COLUMN(stay) && COLUMN(kept) &&
           (!policy->profiles || (COLUMN(profiled) && COLUMN(aside))) &&
           (e->tick_us == 0 || COLUMN(left_s));
#undef COLUMN
}

/* Where nodes and jobs know of bandwidths the policy must, too. */
static enum status check_books(const struct engine *e, struct error *err)
{
    const struct rst *rst = e->s->rates.rst;
    if (!e->s->policy->own_books || !cluster_has_bandwidth(e->cluster))
        return ST_OK;
    for (int32_t wl = 0; wl < rst->w->n; wl++)
        if (profile_takes_bandwidth(rst->p, wl))
            return fail(err, ST_USAGE,
                        "%s knows no bandwidth of nodes, which workload %s takes: want a cluster "
                        "without nic_gbps and storage_gbps, or another policy",
                        e->s->policy->name, names_text(&rst->w->names, wl));
    return ST_OK;
}

static enum status begin(struct engine *e, struct error *err)
{
    const struct policy *policy = e->s->policy;
    jobs_reset(e->jobs);
    e->sets_speed = policy->sets_speed;
    e->tick_us = policy->tick_us;
    if (policy->pace != NULL)
        policy->pace(e->s->policy_config, &e->sets_speed, &e->tick_us);
    e->cluster->mem_gives_way = policy->shrinks_memory;
    TRY(plan_init(&e->plan, e->cluster, e->jobs, e->s->rules, err));
    if (e->s->rates.rst != NULL) {
        struct config_needs needs = profile_needs(e->s->rates.rst->p);
        TRY(check_books(e, err));
        TRY(plan_configure(&e->plan, e->s->rates.rst->submitted, &needs, err));
    }
    int32_t n_owners = e->jobs->n_jobs + 1 + (policy->profiles ? e->jobs->n_jobs : 0);
    TRY(eventq_init(&e->queue, n_owners, err));
    if (!columns_new(e) || !sm_meter_init(&e->meter, e->cluster, &e->arena))
        return fail_memory(err);
    e->log->sm_unknown = e->s->rates.rst == NULL;
    sort_arrivals(e);
    TRY(find_holdable(e, err));
    for (int32_t j = 0; e->left_s != NULL && j < e->jobs->n_jobs; j++)
        e->left_s[j] = s_of_us(job_duration_us(e->jobs, j));
    const struct job_table *t = e->jobs;
    int64_t first_us = t->n_jobs > 0 ? t->submit_us[e->order[0]] : 0;
    int64_t last_us = t->n_jobs > 0 ? t->submit_us[e->order[t->n_jobs - 1]] : 0;
    sampler_init(&e->sampler, first_us, last_us, e->s->window_lo_us, e->s->window_hi_us);
    e->now_us = first_us;
    e->view = (struct view){.now_us = first_us,
                            .jobs = t,
                            .cluster = e->cluster,
                            .arrived = e->arrived,
                            .finished = e->finished,
                            .profiled = e->profiled,
                            .running_first = -1,
                            .stay = e->stay,
                            .tables = e->s->tables != NULL ? e->s->tables : e->no_table,
                            .rst = e->s->rates.rst,
                            .contention = e->s->rates.contention,
                            .belief = e->s->belief,
                            .side = e->s->side,
                            .clock = seconds_now,
                            .scale_exp = e->s->rates.scale_exp,
                            .restart_us = e->s->restart_us,
                            .rng = e->s->rng,
                            .scratch = &e->scratch};
    e->state = arena_alloc(&e->arena, 1, policy->state_size);
    if (e->state == NULL)
        return fail_memory(err);
    return policy->init == NULL ? ST_OK
                                : policy->init(e->state, e->s->policy_config, &e->view,
                                               &e->plan.rules, &e->arena, err);
}

static bool next_instant(const struct engine *e, int64_t *time_us)
{
    const struct event *first = eventq_first(&e->queue);
    *time_us = first != NULL ? first->time_us : TIME_NEVER;
    if (e->n_arrived < e->jobs->n_jobs && e->jobs->submit_us[e->order[e->n_arrived]] < *time_us)
        *time_us = e->jobs->submit_us[e->order[e->n_arrived]];
    return *time_us != TIME_NEVER;
}

static bool note(struct engine *e, enum happening kind, int32_t job, const char *text)
{
    struct run_log *l = e->log;
    if (!ARRAY_GROW(l->happening, l->happening_capacity, l->n_happenings + 1)) {
        e->plan.failed = true;
        return false;
    }
    l->happening[l->n_happenings++] = (struct happening_row){e->now_us, kind, job, text};
    return true;
}

static void on_arrive(struct engine *e, int32_t job)
{
    if (!e->holdable[e->shape[job]]) {
        e->jobs->status[job] = JOB_REJECTED;
        e->n_ended++;
        note(e, HAP_REJECT, job, "no empty cluster of this kind could hold it");
        return;
    }
    e->jobs->status[job] = JOB_WAITING;
    e->n_waiting++;
    e->arrived[e->view.n_arrived++] = job;
}

static bool note_epoch(struct engine *e)
{
    struct run_log *l = e->log;
    const struct epoch *epoch = e->s->policy->epoch == NULL ? NULL : e->s->policy->epoch(e->state);
    if (epoch == NULL)
        return true;
    if (!ARRAY_GROW(l->epoch, l->epoch_capacity, l->n_epochs + 1))
        return false;
    l->epoch[l->n_epochs++] = (struct epoch_row){e->now_us, *epoch};
    return true;
}

static enum status schedule(struct engine *e, struct error *err)
{
    struct arena_mark mark = arena_mark(&e->scratch);
    bool timed = sampler_times(&e->sampler);
    double begin_s = timed ? seconds_now() : 0;
    enum status status = e->s->policy->decide(e->state, &e->view, &e->plan, err);
    sampler_decided(&e->sampler, timed ? seconds_now() - begin_s : -1);
    arena_reset(&e->scratch, mark);
    e->log->n_passes++;
    e->view.n_arrived = e->view.n_finished = e->view.n_profiled = 0;
    if (status != ST_OK || !note_epoch(e))
        return status != ST_OK ? status : fail_memory(err);
    for (size_t i = 0; i < e->plan.n; i++) {
        const struct plan_entry *entry = &e->plan.entry[i];
        switch (entry->kind) {
        case PLAN_START: start(e, entry->job); break;
        case PLAN_EVICT: evict(e, entry); break;
        case PLAN_RESIZE: resize(e, entry->job, entry->task); break;
        case PLAN_SPEED: mark_dirty(e, entry->job); break;
        case PLAN_PROFILE: set_aside(e, entry); break;
        case PLAN_POOL: break;
        case PLAN_CONFIG: reconfigure(e, entry->job); break;
        case PLAN_PAUSE: pause_job(e, entry->job, entry->pause_us); break;
        case PLAN_RELEASE: break; /* plan_clear asserts that none is left */
        }
    }
    if (e->plan.wake_us != TIME_NEVER)
        eventq_set(&e->queue, e->jobs->n_jobs, e->plan.wake_us, EV_WAKE);
    plan_clear(&e->plan);
    if ((double)e->cluster->gpu_held_milli / 1e3 > e->log->gpu_held_max)
        e->log->gpu_held_max = (double)e->cluster->gpu_held_milli / 1e3;
    return e->plan.failed ? fail_memory(err) : ST_OK;
}

static void mark_dirty(struct engine *e, int32_t job)
{
    if (e->stay[job].dirty)
        return;
    e->stay[job].dirty = true;
    e->dirty[e->n_dirty++] = job;
}

/* What these cards are busy with is to be looked at again. */
static void mark_cards(struct engine *e, struct seats at)
{
    if (e->s->rates.rst != NULL && at.first >= 0)
        sm_meter_mark(&e->meter, e->cluster, at);
}

/* Everybody on the cards of these seats runs at another rate from now on. */
static void mark_neighbours(struct engine *e, struct seats at)
{
    mark_cards(e, at);
    if (e->s->rates.truth == TRUTH_NONE || e->sets_speed)
        return;
    const struct cluster *c = e->cluster;
    for (int32_t i = at.first; i < at.first + at.n; i++)
        if (c->seats[i].where >= 0)
            for (int32_t s = c->card_seat[c->seats[i].where]; s >= 0; s = c->seats[s].next)
                mark_dirty(e, e->jobs->task_job[c->seats[s].task]);
}

/* The GPUs the job holds from now on. */
static void hold(struct engine *e, int32_t job, int64_t milli)
{
    e->jobs->attained_milli_us[job] +=
        (e->now_us - e->stay[job].held_since_us) * e->stay[job].held_milli;
    e->stay[job].held_since_us = e->now_us;
    e->stay[job].held_milli = milli;
}

/* What the tasks that have not ended asked for. */
static int64_t asked_milli(const struct engine *e, int32_t job)
{
    const struct job_table *t = e->jobs;
    int64_t sum = 0;
    for (int32_t k = t->task_begin[job] + e->plan.n_ended[job]; k < t->task_begin[job + 1]; k++)
        sum += (int64_t)t->n_inst[k] * t->gpu_milli[k];
    return sum;
}

/* What the tasks that have not ended hold. */
static int64_t sitting_milli(const struct engine *e, int32_t job)
{
    const struct job_table *t = e->jobs;
    int64_t sum = 0;
    for (int32_t k = t->task_begin[job] + e->plan.n_ended[job]; k < t->task_begin[job + 1]; k++)
        sum += (int64_t)plan_width(&e->plan, k) * t->gpu_milli[k];
    return sum;
}

static void start(struct engine *e, int32_t job)
{
    struct job_table *t = e->jobs;
    assert(t->status[job] == JOB_WAITING);
    t->status[job] = JOB_RUNNING;
    e->n_waiting--;
    e->n_running++;
    if (t->start_us[job] == TIME_NEVER)
        t->start_us[job] = e->now_us;
    e->stay[job].start_us = e->stay[job].held_since_us = e->now_us;
    e->stay[job].since_us = e->now_us + (e->left_s == NULL ? e->stay[job].restart_us : 0);
    e->stay[job].speed = 0;
    hold(e, job, sitting_milli(e, job));
    e->log->sm_unknown =
        e->log->sm_unknown || (e->plan.config[job] < 0 && e->stay[job].held_milli > 0);
    e->stay[job].prev = e->last;
    e->stay[job].next = -1;
    if (e->last >= 0)
        e->stay[e->last].next = job;
    else
        e->view.running_first = job;
    e->last = job;
    mark_dirty(e, job);
    for (int32_t k = t->task_begin[job] + e->plan.n_ended[job]; k < t->task_begin[job + 1]; k++)
        mark_neighbours(e, e->plan.at[k]);
}

/* Progress up to now. */
static void integrate(struct engine *e, int32_t job)
{
    if (e->now_us <= e->stay[job].since_us)
        return;
    struct stay *stay = &e->stay[job];
    int64_t elapsed_us = e->now_us - stay->since_us;
    e->jobs->done_us[job] += (double)elapsed_us * stay->speed;
    e->jobs->run_us[job] += elapsed_us;
    e->jobs->alone_us[job] += (double)elapsed_us * e->kept[job];
    sampler_done(&e->sampler, stay->since_us, e->now_us, stay->speed * (double)asked_milli(e, job));
    stay->since_us = e->now_us;
    if (e->left_s != NULL)
        e->left_s[job] = ticks_advance(e->left_s[job], stay->speed, elapsed_us / e->tick_us);
}

/* When the next task of the job will have ended at its present speed. */
static int64_t next_end_us(const struct engine *e, int32_t job)
{
    const struct stay *stay = &e->stay[job];
    int32_t task = e->jobs->task_begin[job] + e->plan.n_ended[job];
    if (e->left_s != NULL) {
        double shorter_s = s_of_us(job_duration_us(e->jobs, job) - e->jobs->duration_us[task]);
        return stay->since_us + e->tick_us * ticks_to_end(e->left_s[job] - shorter_s, stay->speed);
    }
    double left_us = (double)e->jobs->duration_us[task] - e->jobs->done_us[job];
    return stay->since_us + time_for(left_us, stay->speed);
}

/* The speed by the policy's word, or by the truth's. */
static double speed_of(struct engine *e, int32_t job)
{
    bool by_policy = e->sets_speed;
    e->kept[job] = by_policy ? e->plan.speed[job] : kept_speed(&e->s->rates, &e->plan, job);
    return by_policy ? e->kept[job] : e->kept[job] * speed_alone(&e->s->rates, &e->plan, job);
}

static void rerate(struct engine *e)
{
    for (int32_t i = 0; i < e->n_dirty; i++) {
        int32_t job = e->dirty[i];
        e->stay[job].dirty = false;
        if (e->jobs->status[job] != JOB_RUNNING)
            continue;
        integrate(e, job);
        double speed = speed_of(e, job);
        for (int32_t k = e->jobs->task_begin[job] + e->plan.n_ended[job];
             k < e->jobs->task_begin[job + 1]; k++)
            mark_cards(e, e->plan.at[k]);
        if (speed == e->stay[job].speed && e->queue.at[job] >= 0)
            continue;
        e->stay[job].speed = speed;
        if (speed > 0)
            eventq_set(&e->queue, job, next_end_us(e, job), EV_FINISH);
        else
            eventq_drop(&e->queue, job); /* paused: it ends when somebody lets it go on */
    }
    e->n_dirty = 0;
}

/* The job leaves the list of those that run. */
static void stop_running(struct engine *e, int32_t job)
{
    int32_t next = e->stay[job].next, prev = e->stay[job].prev;
    if (next >= 0)
        e->stay[next].prev = prev;
    else
        e->last = prev;
    if (prev >= 0)
        e->stay[prev].next = next;
    else
        e->view.running_first = next;
    e->n_running--;
    e->stay[job].speed = 0;
    hold(e, job, 0);
}

static bool record(struct engine *e, int32_t task, struct seats at)
{
    struct span bar = {.start_us = e->stay[e->jobs->task_job[task]].start_us,
                       .end_us = e->now_us,
                       .task = task,
                       .kind = SPAN_RUN};
    return spans_record(e->log, e->cluster, e->jobs, at, &bar);
}

static void evict(struct engine *e, const struct plan_entry *entry)
{
    struct job_table *t = e->jobs;
    int32_t job = entry->job;
    integrate(e, job);
    for (int32_t k = entry->task; k < t->task_begin[job + 1]; k++) {
        e->plan.failed = !record(e, k, e->plan.parked[k]) || e->plan.failed;
        mark_neighbours(e, e->plan.parked[k]);
    }
    stop_running(e, job);
    eventq_drop(&e->queue, job);
    e->stay[job].restart_us = entry->restart_us;
    if (e->left_s != NULL) {
        e->left_s[job] += s_of_us(entry->restart_us);
        t->done_us[job] -= (double)entry->restart_us;
    }
    t->status[job] = JOB_WAITING;
    t->n_evicted[job]++;
    e->n_waiting++;
    e->log->n_evictions++;
    note(e, HAP_EVICT, job, "sent back to the queue by the policy");
}

static void resize(struct engine *e, int32_t job, int32_t task)
{
    integrate(e, job);
    e->plan.failed = !record(e, task, e->plan.parked[task]) || e->plan.failed;
    e->stay[job].start_us = e->now_us;
    hold(e, job, sitting_milli(e, job));
    mark_dirty(e, job);
    mark_neighbours(e, e->plan.parked[task]);
    mark_neighbours(e, e->plan.at[task]);
    e->log->n_resizes++;
}

/* A running job in another configuration; what a waiting one starts in is its start's affair. */
static void reconfigure(struct engine *e, int32_t job)
{
    const struct job_table *t = e->jobs;
    if (t->status[job] != JOB_RUNNING)
        return;
    integrate(e, job);
    mark_dirty(e, job);
    for (int32_t k = t->task_begin[job] + e->plan.n_ended[job]; k < t->task_begin[job + 1]; k++)
        mark_neighbours(e, e->plan.at[k]);
    e->log->n_configs++;
}

static void pause_job(struct engine *e, int32_t job, int64_t pause_us)
{
    struct stay *stay = &e->stay[job];
    assert(e->jobs->status[job] == JOB_RUNNING);
    integrate(e, job);
    if (e->left_s != NULL) {
        e->left_s[job] += s_of_us(pause_us);
        e->jobs->done_us[job] -= (double)pause_us;
    } else {
        stay->since_us = (stay->since_us > e->now_us ? stay->since_us : e->now_us) + pause_us;
    }
    eventq_drop(&e->queue, job);
    mark_dirty(e, job);
}

/* A waiting job runs aside: nothing of it is kept, or it is all that there is to run. */
static void set_aside(struct engine *e, const struct plan_entry *entry)
{
    int32_t job = entry->job;
    e->aside[job] = (struct aside){e->now_us, entry->profile.ends_job};
    mark_cards(e, e->plan.side[job]);
    e->log->sm_unknown = e->log->sm_unknown || e->plan.config[job] < 0;
    eventq_set(&e->queue, e->jobs->n_jobs + 1 + job, e->now_us + entry->profile.stay_us, EV_FINISH);
    if (!entry->profile.ends_job)
        return;
    e->jobs->start_us[job] = e->now_us;
    e->jobs->status[job] = JOB_RUNNING;
    e->n_waiting--;
    e->n_running++;
}

static enum status end_aside(struct engine *e, int32_t job, struct error *err)
{
    struct job_table *t = e->jobs;
    int32_t task = t->task_begin[job];
    struct seats at = e->plan.side[job];
    int64_t milli = (int64_t)t->n_inst[task] * t->gpu_milli[task];
    int64_t stay_us = e->now_us - e->aside[job].start_us;
    struct span bar = {.start_us = e->aside[job].start_us,
                       .end_us = e->now_us,
                       .task = task,
                       .kind = SPAN_PROFILE};
    if (!spans_record(e->log, e->cluster, t, at, &bar))
        return fail_memory(err);
    mark_cards(e, at);
    plan_end_profile(&e->plan, job);
    e->log->profiled_gpu_s += (double)milli / 1e3 * s_of_us(stay_us);
    e->profiled[e->view.n_profiled++] = job;
    if (!e->aside[job].ends_job)
        return ST_OK;
    t->attained_milli_us[job] += milli * stay_us;
    t->done_us[job] = (double)t->duration_us[task];
    t->run_us[job] = stay_us;
    t->alone_us[job] = (double)stay_us;
    t->status[job] = JOB_DONE;
    t->finish_us[job] = e->now_us;
    e->n_running--;
    e->n_ended++;
    return ST_OK;
}

/* Tasks whose work is done end; with the last of them the job. */
static enum status on_finish(struct engine *e, int32_t job, struct error *err)
{
    struct job_table *t = e->jobs;
    integrate(e, job);
    int32_t task = t->task_begin[job] + e->plan.n_ended[job], end = t->task_begin[job + 1];
    int64_t duration_us = t->duration_us[task];
    e->stay[job].speed = 0; /* the tasks that go on get theirs from rerate */
    t->done_us[job] = (double)duration_us;
    for (; task < end && t->duration_us[task] == duration_us; task++) {
        if (!record(e, task, e->plan.at[task]))
            return fail_memory(err);
        mark_neighbours(e, e->plan.at[task]);
        plan_end_task(&e->plan, task);
    }
    e->finished[e->view.n_finished++] = job;
    if (task < end) {
        hold(e, job, sitting_milli(e, job));
        mark_dirty(e, job);
        return ST_OK;
    }
    stop_running(e, job);
    t->status[job] = JOB_DONE;
    t->finish_us[job] = e->now_us;
    e->n_ended++;
    return ST_OK;
}

/* What the policy's store of profiles has come to. */
static enum status note_profiles(struct engine *e, struct error *err)
{
    const struct lore *l = e->s->policy->lore == NULL ? NULL : e->s->policy->lore(e->state);
    if (l == NULL)
        return ST_OK;
    size_t n = (size_t)l->truth->w->n_configs;
    e->log->profiling = (struct profiling){malloc(n * sizeof(bool)), l->n_hits, l->n_misses,
                                           l->n_waited, l->waited_s};
    if (e->log->profiling.profiled == NULL)
        return fail_memory(err);
    memcpy(e->log->profiling.profiled, l->profiled, n * sizeof(bool));
    e->log->profiled_gpu_s += lore_gpu_s(l, e->now_us);
    return ST_OK;
}

static enum status finish_run(struct engine *e, struct error *err)
{
    struct job_table *t = e->jobs;
    e->log->stalled = e->n_waiting > 0 && !e->log->interrupted;
    if (e->log->stalled)
        note(e, HAP_STALL, -1, "jobs wait, nothing runs, and a pass changed nothing");
    for (int32_t j = e->view.running_first; j >= 0; j = e->stay[j].next) {
        integrate(e, j);
        hold(e, j, 0);
        for (int32_t k = t->task_begin[j] + e->plan.n_ended[j]; k < t->task_begin[j + 1]; k++)
            if (!record(e, k, e->plan.at[k]))
                return fail_memory(err);
    }
    for (int32_t j = 0; j < t->n_jobs; j++)
        if (t->status[j] == JOB_WAITING || t->status[j] == JOB_RUNNING)
            t->status[j] = JOB_UNFINISHED; /* one not yet submitted stays so: interrupted */
    e->log->end_us = e->now_us;
    TRY(note_profiles(e, err));
    return e->plan.failed ? fail_memory(err) : sampler_close(&e->sampler, e->log, err);
}
