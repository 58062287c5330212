/* volcano - the Volcano scheduler for Kubernetes, session by session (policies/volcano/).
 *
 * Source: volcano-sh/volcano ed72c7c (2026-08-20, Apache-2.0), read, not copied; the session is
 * checked by the scenarios of its own tests (tests/test_volcano_vectors.c).
 *
 * Modelled. A session at whole periods: admission by both gates, allocation gang by gang with
 * nothing kept for a gang that does not fit, backfill of pods that ask for nothing, and on request
 * preempt and reclaim; plug-ins in the tiers of the two sets that are called default (profile) and
 * node scores. A job's pods exist from the session after its admission, so that it starts two
 * periods after its submission at the earliest. A session sees what has ended by its time and what
 * was submitted before it; one that could not differ from the last is left out (skip_idle), which
 * changes nothing but which of equally good nodes are drawn. Among jobs of one priority order is by
 * submission, since DRF gives a gang that holds nothing a share of 0.
 *
 * Kept, because it decides results. An admitted group holds its reservation until it starts, placed
 * or not; a single queue admits up to 1.0 x the cluster, whatever the factor; a job that its queue
 * will never be due waits for ever, and so may those behind it (policy.may_stall).
 *
 * With preempt or reclaim the first tier that names a victim decides. A whole gang is none for the
 * gang plug-in, but profile compiled then asks DRF or proportion in the next tier, and profile helm
 * does not ask gang about preemption. Two jobs can so evict each other for ever; max_restarts ends
 * that.
 *
 * Of this project. Evicting one pod of a job below its minimum sends the whole job back to the
 * queue (the Job controller's RestartJob), pending and without pods; what it left is free from the
 * next session on. Without vgpu a part of a GPU takes a whole card. Jobs and nodes without CPU and
 * memory have stated defaults, since node scores need them. Not modelled: binding delay, container
 * start, termination grace, node sampling above 100 nodes, nominated nodes, and what
 * policies/volcano/vol_state.h lists. */
#include "core/base/units.h"
#include "policies/volcano/vol_allocate.h"
#include "policies/volcano/vol_enqueue.h"
#include "policies/volcano/vol_evict.h"
#include "policies/volcano/vol_session.h"
#include "policies/volcano/vol_setup.h"
#include "policies/volcano/vol_tasks.h"

#include <assert.h>

static const char *const gate_names[] = {"both", "proportion", "none", NULL};
static const char *const balanced_names[] = {"old", "1.36", NULL};
static const char *const min_names[] = {"all", "gpu_min", NULL};
static const char *const profile_names[] = {"compiled", "helm", "helm-gpubinpack", NULL};
static const char *const queues_names[] = {"one", "job", "pools", NULL};
static const char *const tie_names[] = {"random", "lowest", NULL};
static const char *const order_names[] = {"unset", "binpack", "spread", NULL};

static const struct param volcano_params[] = {
    PARAM_TEXT(struct volcano_config, caps, NULL,
               "NAME:FRACTION,...: capability of queues, part of the cluster [Queue.capability]"),
    PARAM_REAL(struct volcano_config, cores_per_gpu, "cores", 8, 0, 1e6,
               "CPU of a pod per GPU, where the job has none [ours: half of a node's]"),
    PARAM_CHOICE(struct volcano_config, gate, gate_names, VOLCANO_GATE_BOTH,
                 "who votes on admission: overcommit and proportion, or fewer [upstream: both]"),
    PARAM_REAL(struct volcano_config, gpu_weight, "1", 10, 0, 1e6,
               "weight of GPUs in profile helm-gpubinpack [binpack.resources; issue 1844]"),
    PARAM_TEXT(struct volcano_config, guarantees, NULL,
               "NAME:FRACTION,...: guarantee of queues, part of the cluster [Queue.guarantee]"),
    PARAM_CHOICE(struct volcano_config, k8s_balanced, balanced_names, VOL_BALANCED_OLD,
                 "balanced score of Kubernetes up to 1.35, or from 1.36 on [k8s PR 135573]"),
    PARAM_INT(struct volcano_config, max_restarts, "1", 100, 1, 1e9,
              "evictions after which a job is let be, or two could go on for ever evicting each "
              "other [ours; upstream it fails after Job.maxRetry: 3]"),
    PARAM_REAL(struct volcano_config, mem_gib_per_gpu, "GiB", 64, 0, 1e6,
               "memory of a pod per GPU, where the job has none [ours: half of a node's]"),
    PARAM_CHOICE(struct volcano_config, min_available, min_names, VOLCANO_MIN_ALL,
                 "minimum of an elastic job: all its pods, or its gpu_min [webhook: all]"),
    PARAM_REAL(struct volcano_config, node_cores_per_gpu, "cores", 16, 0, 1e6,
               "CPU of a node per GPU, where the cluster has none [ours: 128 for 8 GPUs]"),
    PARAM_REAL(struct volcano_config, node_mem_gib_per_gpu, "GiB", 128, 0, 1e6,
               "memory of a node per GPU, where the cluster has none [ours: 1 TiB for 8 GPUs]"),
    PARAM_REAL(struct volcano_config, overcommit_factor, "1", 1.2, 0, 1e6,
               "of the cluster may be reserved; below 1 is 1.2 [overcommit-factor: 1.2]"),
    PARAM_REAL(struct volcano_config, period_s, "s", 1, 0, 1e6,
               "between sessions; 0: at every event, pods at once [schedule-period: 1]"),
    PARAM_INT(struct volcano_config, pods_per_node, "pods", 110, 1, 1e9,
              "slots for pods of a node [kubelet maxPods: 110]"),
    PARAM_REAL(struct volcano_config, pool_train_frac, "1", 0.5, 0, 1,
               "capability of queue train in queues pools, the rest is infer's [ours: half]"),
    PARAM_BOOL(struct volcano_config, preempt, 0,
               "adds the action: a starving job evicts others of its queue [upstream: off]"),
    PARAM_TEXT(struct volcano_config, priorities, NULL,
               "NAME:NUMBER,...: priority of queues, larger first [Queue.priority: 0]"),
    PARAM_CHOICE(struct volcano_config, profile, profile_names, VOL_COMPILED,
                 "plug-ins: as compiled in, or of the Helm chart, or these with GPUs in binpack "
                 "[upstream has both; ours: compiled]"),
    PARAM_CHOICE(struct volcano_config, queues, queues_names, VOLCANO_ONE_QUEUE,
                 "one for all, that of the job, or two capped pools by kind of job: train, infer "
                 "[upstream: default]"),
    PARAM_BOOL(struct volcano_config, reclaim, 0,
               "adds the action: a queue takes back what it is due [upstream: off]"),
    PARAM_BOOL(struct volcano_config, skip_idle, 1,
               "leave out sessions that could not differ from the one before [ours]"),
    PARAM_CHOICE(struct volcano_config, tie, tie_names, VOLCANO_TIE_RANDOM,
                 "of equally good nodes any, by the run's seed, or the lowest [upstream: random]"),
    PARAM_BOOL(struct volcano_config, vgpu, 0,
               "cards are shared by memory and cores, as deviceshare and HAMi do [upstream: off]"),
    PARAM_INT(struct volcano_config, vgpu_max_shares, "pods", 10, 1, 1000,
              "pods on one card [HAMi device split count: 10]"),
    PARAM_CHOICE(struct volcano_config, vgpu_order, order_names, VGPU_UNSET,
                 "cards of a node: highest first, fullest first, emptiest first [upstream: unset]"),
    PARAM_BOOL(struct volcano_config, vgpu_spread_members, 0,
               "pods of one job on different cards [pod group policy: off]"),
    PARAM_REAL(struct volcano_config, vgpu_weight, "1", 0, 0, 1e6,
               "weight of the cards' score among nodes [deviceshare.ScheduleWeight: 0]"),
    PARAM_TEXT(struct volcano_config, weights, NULL,
               "NAME:WEIGHT,...: of queues, before those of the cluster's file [Queue.weight: 1]"),
    PARAM_END,
};

struct volcano {
    const struct volcano_config *c;
    struct vol_config config;
    struct vol_state s;
    struct vol_rows rows;
    int64_t period_us;
    int64_t session_us, last_us; /* the next session, TIME_NEVER; the last */
    int32_t n_waiting;           /* jobs submitted or sent back, and not started */
    int32_t *n_ended;            /* (n_jobs) tasks known to have ended */
    int32_t *binding;            /* (n_jobs) ring: jobs bound, whose groups do not run yet */
    int64_t *bound_us;           /* (n_jobs) when they were */
    int64_t first_binding, n_binding;
    bool *kept;              /* (pods) may not be evicted any more; NULL: nobody evicts */
    int32_t *taken, n_taken; /* (n_cards) the last choice of seats that has the card */
    int32_t *where;          /* (seats of the largest job) */
};

static enum status volcano_init(void *state, const void *config, const struct view *v,
                                const struct place_rules *rules, struct arena *arena,
                                struct error *err)
{
    struct volcano *p = state;
    p->c = config;
    p->period_us = us_of_s(p->c->period_s);
    p->session_us = TIME_NEVER;
    p->last_us = INT64_MIN;
    if (p->c->vgpu && v->cluster->share != SHARE_CARD)
        return fail(err, ST_USAGE, "volcano.vgpu shares cards: not with share = node-sum");
    TRY(vol_setup(p->c, v, rules, &p->config, &p->s, &p->rows, arena, err));
    size_t n = (size_t)v->jobs->n_jobs;
    int32_t n_seats = 0;
    bool evicts = p->c->preempt || p->c->reclaim;
    if (evicts)
        p->s.task_kept = p->kept = arena_alloc(arena, (size_t)p->s.size.n_tasks, sizeof *p->kept);
    for (int32_t j = 0; j < v->jobs->n_jobs; j++) {
        int32_t its =
            p->rows.seat_begin[p->s.task_begin[j + 1]] - p->rows.seat_begin[p->s.task_begin[j]];
        n_seats = its > n_seats ? its : n_seats;
    }
    p->n_ended = arena_alloc(arena, n, sizeof *p->n_ended);
    p->binding = arena_alloc(arena, n, sizeof *p->binding);
    p->bound_us = arena_alloc(arena, n, sizeof *p->bound_us);
    p->taken = arena_alloc(arena, (size_t)v->cluster->n_cards, sizeof *p->taken);
    p->where = arena_alloc(arena, (size_t)n_seats, sizeof *p->where);
    return (evicts && p->kept == NULL) || p->n_ended == NULL || p->binding == NULL ||
                   p->bound_us == NULL || p->taken == NULL || p->where == NULL
               ? fail_memory(err)
               : ST_OK;
}

/* Tasks that have ended since the last pass give their nodes back; jobs that have ended are gone.
 */
static void note_ends(struct volcano *p, const struct view *v, const struct plan *plan)
{
    const struct job_table *t = v->jobs;
    for (int32_t i = 0; i < v->n_finished; i++) {
        int32_t job = v->finished[i];
        for (; p->n_ended[job] < plan->n_ended[job]; p->n_ended[job]++) {
            int32_t task = t->task_begin[job] + p->n_ended[job];
            for (int32_t k = 0; k < t->n_inst[task]; k++)
                vol_task_ends(&p->s, p->rows.pod_begin[task] + k);
        }
        if (t->status[job] == JOB_DONE)
            vol_job_goes(&p->s, job);
    }
}

static void note_arrivals(struct volcano *p, const struct view *v)
{
    for (int32_t i = 0; i < v->n_arrived; i++) {
        if (p->rows.hopeless[v->arrived[i]])
            continue;
        p->n_waiting++;
        vol_job_comes(&p->s, v->arrived[i], VOL_PENDING);
        if (p->period_us == 0)
            vol_job_pods(&p->s, v->arrived[i]);
    }
}

/* Pods of groups that the last session admitted exist now; groups run whose pods were bound the
 * session before the last, since a session sees them running only one after that. */
static void note_progress(struct volcano *p, int64_t now_us)
{
    int64_t n_jobs = p->s.size.n_jobs;
    for (int32_t i = 0; i < p->s.n_admitted; i++)
        vol_job_pods(&p->s, p->s.admitted[i]);
    for (; p->first_binding < p->n_binding; p->first_binding++) {
        int32_t job = p->binding[p->first_binding % n_jobs];
        int64_t runs_us = p->bound_us[job] + 2 * p->period_us;
        if (now_us < runs_us || now_us == p->bound_us[job])
            return;
        if (p->s.phase[job] == VOL_INQUEUE && p->s.n_held[job] > 0)
            vol_job_phase(&p->s, job, VOL_RUNNING);
    }
}

static void run_session(struct volcano *p)
{
    vol_session_open(&p->s);
    vol_enqueue(&p->s);
    vol_allocate(&p->s);
    if (p->c->preempt)
        vol_preempt(&p->s);
    if (p->c->reclaim)
        vol_reclaim(&p->s);
    vol_backfill(&p->s);
    vol_session_close(&p->s);
}

/* Fills in the seats of a pod that has a node and none yet. */
static void choose_seats(struct volcano *p, const struct cluster *c, int32_t pod)
{
    int32_t first = p->rows.seat_begin[pod], n = p->rows.seat_begin[pod + 1] - first;
    int32_t node = p->s.task_node[pod], *where = p->rows.where;
    const struct vol_ask *ask = &p->s.ask[p->s.task_ask[pod]];
    if (where[first] != VOL_NO_SEAT)
        return;
    if (ask->cards.n > 0) {
        for (int32_t i = 0; i < n; i++)
            where[first + i] = p->s.task_card[p->s.card_begin[pod] + i];
        return;
    }
    if (c->share != SHARE_CARD || (ask->amounts.of[AMOUNT_GPU] <= 0)) {
        where[first] = ~node;
        return;
    }
    for (int32_t card = c->node_card[node], i = 0; i < n; card++) {
        assert(card < c->node_card[node + 1]);
        if (c->card_n_jobs[card] > 0 || p->taken[card] == p->n_taken)
            continue;
        p->taken[card] = p->n_taken;
        where[first + i++] = card;
    }
}

/* The seats of all pods of a job that have nodes, by task and pod, written to p->where; returns how
 * many. */
static int32_t seats_of(struct volcano *p, const struct view *v, int32_t job)
{
    int32_t n = 0;
    p->n_taken++;
    for (int32_t k = v->jobs->task_begin[job]; k < v->jobs->task_begin[job + 1]; k++) {
        int32_t first = p->rows.pod_begin[k];
        for (int32_t pod = first; pod < first + v->jobs->n_inst[k]; pod++) {
            if (p->s.status[pod] != VOL_BOUND)
                continue;
            choose_seats(p, v->cluster, pod);
            for (int32_t i = p->rows.seat_begin[pod]; i < p->rows.seat_begin[pod + 1]; i++)
                p->where[n++] = p->rows.where[i];
        }
    }
    return n;
}

/* Pods of the job with this status wait again. */
static void lose_pods(struct volcano *p, int32_t job, enum vol_status status)
{
    for (int32_t pod = p->s.task_begin[job]; pod < p->s.task_begin[job + 1]; pod++) {
        if (p->s.status[pod] != status)
            continue;
        p->rows.where[p->rows.seat_begin[pod]] = VOL_NO_SEAT;
        vol_pod_again(&p->s, pod);
    }
}

/* The whole job goes back to the queue. */
static void send_back(struct volcano *p, const struct view *v, struct plan *plan, int32_t job)
{
    for (int32_t pod = p->s.task_begin[job]; pod < p->s.task_begin[job + 1]; pod++) {
        p->rows.where[p->rows.seat_begin[pod]] = VOL_NO_SEAT;
        p->kept[pod] = v->jobs->n_evicted[job] + 1 >= p->c->max_restarts;
    }
    vol_job_restarts(&p->s, job);
    p->n_waiting++;
    plan_evict(plan, job, v->restart_us);
}

/* What the session did to a job becomes an entry of the plan; false where it came to nothing. */
static bool apply(struct volcano *p, const struct view *v, struct plan *plan, int32_t job)
{
    bool runs = v->jobs->status[job] == JOB_RUNNING;
    bool enough = p->s.n_ready[job] >= p->s.shape[p->s.job_shape[job]].min_available;
    if (!enough && runs) {
        send_back(p, v, plan, job);
        return true;
    }
    lose_pods(p, job, enough ? VOL_RELEASING : VOL_BOUND);
    if (!enough) /* some of its pods that ask for nothing found no slot */
        return false;
    int32_t n = seats_of(p, v, job);
    if (runs)
        return plan_resize_at(plan, job, p->where, n);
    p->n_waiting--;
    p->bound_us[job] = v->now_us;
    p->binding[p->n_binding++ % p->s.size.n_jobs] = job;
    return plan_start_at(plan, job, p->where, n);
}

/* True when anything has changed by it. */
static bool session(struct volcano *p, const struct view *v, struct plan *plan)
{
    note_progress(p, v->now_us);
    run_session(p);
    bool changed = p->s.n_admitted > 0;
    for (int32_t i = 0; i < p->s.n_bound; i++)
        changed = apply(p, v, plan, p->s.bound[i]) || changed;
    for (int32_t i = 0; i < p->s.n_evicted; i++)
        if (p->s.status[p->s.evicted[i]] == VOL_RELEASING)
            changed = apply(p, v, plan, p->s.task_job[p->s.evicted[i]]) || changed;
    return changed;
}

static bool anybody_waits(const struct volcano *p)
{
    bool waits = p->n_waiting > 0;
    for (int32_t q = 0; q < p->s.size.n_queues && !waits; q++)
        waits = p->s.lines.line[VOL_LINE_NODES].n[q] > 0; /* pods of elastic jobs that run */
    return waits;
}

/* The first whole period at (after false) or after that time. */
static int64_t next_period_us(const struct volcano *p, int64_t time_us, bool after)
{
    if (p->period_us == 0)
        return time_us;
    int64_t rest = time_us % p->period_us;
    int64_t floor_us = time_us - rest - (rest < 0 ? p->period_us : 0);
    return floor_us == time_us && !after ? time_us : floor_us + p->period_us;
}

/* A period has one session, whatever ends in the very moment of it. */
static void want_session(struct volcano *p, int64_t time_us)
{
    if (time_us == p->last_us)
        time_us += p->period_us;
    if (time_us < p->session_us)
        p->session_us = time_us;
}

/* When the next session could differ from this one although nothing happens until then. */
static void want_another(struct volcano *p, const struct view *v, const struct plan *plan,
                         bool changed)
{
    bool evicted = p->s.n_evicted > 0;
    bool more = changed || p->first_binding < p->n_binding ||
                (!p->c->skip_idle && (v->running_first >= 0 || plan->n > 0));
    if (p->period_us > 0 && more)
        want_session(p, v->now_us + p->period_us);
    if (p->period_us == 0 && evicted)
        want_session(p, v->now_us + 1); /* what they left is free from then on */
}

static enum status volcano_decide(void *state, const struct view *v, struct plan *plan,
                                  struct error *err)
{
    (void)err;
    struct volcano *p = state;
    note_ends(p, v, plan);
    if (p->period_us == 0)
        note_arrivals(p, v);
    if (v->n_finished > 0 || (p->period_us == 0 && v->n_arrived > 0))
        want_session(p, next_period_us(p, v->now_us, false));
    if (p->session_us <= v->now_us) {
        p->session_us = TIME_NEVER;
        p->last_us = v->now_us;
        if (anybody_waits(p))
            want_another(p, v, plan, session(p, v, plan));
    }
    if (p->period_us > 0 && v->n_arrived > 0) {
        note_arrivals(p, v);
        want_session(p, next_period_us(p, v->now_us, true));
    }
    if (p->session_us != TIME_NEVER && anybody_waits(p))
        plan_wake(plan, p->session_us);
    return ST_OK;
}

const struct policy policy_volcano = {
    .abi = POLICY_ABI,
    .name = "volcano",
    .summary = "Volcano for Kubernetes: admission, gangs, queues by weight, node scores",
    .source = "volcano-sh/volcano ed72c7c (2026-08-20), pkg/scheduler; checked by its own tests",
    .params = volcano_params,
    .config_size = sizeof(struct volcano_config),
    .state_size = sizeof(struct volcano),
    .own_clock = true,
    .may_stall = true,
    .own_books = true,
    .init = volcano_init,
    .decide = volcano_decide,
};
