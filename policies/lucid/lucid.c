/* lucid - profile first, then pack pairs of jobs on the same GPUs, the least estimated GPU time
 * first, inside each virtual cluster.
 *
 * Source: Lucid (ASPLOS'23), its artifact at 63685a3; its rules restated from what it does.
 *
 * Modelled: the profiler with its queue, its time limit and its borrowed node (profiler.h);
 * priority = estimated duration x GPUs; the sharing switch by a forecast of arrivals; pairs by
 * sharing score, memory and priority with measured speeds (packing.h); virtual clusters and
 * placement (vc.h). As in the artifact, estimates, forecasts and labels are tables that its models
 * have written; without them estimates come from history (estimate.h) and sharing is always on.
 * While sharing is off, the first job that finds no place holds up its cluster; while it is on
 * every job is tried, so large ones can starve. Not modelled: the models themselves and their
 * updates, a change of mind about running pairs, the paper's apathetic mode and its budget (the
 * artifact has neither).
 *
 * Jobs of several tasks or instances, and parts of a card, start alone. On a cluster without pools
 * all jobs share one queue and all nodes; without `profiler` nobody is profiled.
 *
 * semantics = repaired | artifact; each mistake can be set by itself:
 *   recovery    artifact: when the older of a pair ends, the younger keeps its shared speed and
 *               nobody may join it. repaired: it has its full speed back and may be joined.
 *   profiling   artifact: profiling takes no time for jobs that go on: they wait for a place from
 *               their submission on, and may run before or while they are profiled (the profiler
 *               runs a copy). repaired: they wait from the end of their time in the profiler on.
 *   free_gpus   artifact: a job joins another even where GPUs are idle. repaired: only where it
 *               finds none.
 *   unmeasured  artifact: jobs of NeuMF, ResNet50, BERT and Transformer neither slow nor are
 *               slowed, and so are pairs nobody measured. repaired: only measured pairs are made.
 *   gains       artifact: measured speeds above 1 count. repaired: as 1.
 *
 * With semantics alone. artifact: progress in whole seconds, and one second more than its work for
 * every job; a node that comes or goes counts from the next second on; where the lender has no idle
 * node the profiler still gets one, out of the pool `spare`, and a node it has when its last job
 * ends stays with it. repaired: exact progress, no delay, no such node, and it goes back. */
#include "policies/lucid/estimate.h"
#include "policies/lucid/lending.h"
#include "policies/lucid/lucid_settings.h"
#include "policies/lucid/profiler.h"

#include <math.h>
#include <string.h>

struct lucid {
    const struct lucid_config *config;
    bool artifact, profile_aside, join_first; /* semantics; profiling and free_gpus = artifact */
    struct vcs vcs;
    struct waitq *queue; /* (vcs.n) by priority, then job number */
    int64_t *priority;   /* (n_jobs) estimated milli-GPU seconds, from the moment a job waits */
    struct estimate_config told;
    struct estimates estimates;
    struct packing_config pair_rules;
    struct packing packing;
    struct forecast forecast;
    struct profiler profiler;
    bool profiles;
    bool shares; /* until switch_us */
    int64_t switch_us;
    struct lending lending;
};

/* Sharing is switched at multiples of this [Lucid's artifact: 100 s]. */
static const int64_t SWITCH_US = 100 * US_PER_S;

static void read_config(struct lucid *l, const struct lucid_config *c, const struct table *tables)
{
    l->config = c;
    l->artifact = c->semantics == ARTIFACT;
    l->switch_us = INT64_MIN;
    l->profile_aside = lucid_as_artifact(c, c->profiling);
    l->join_first = lucid_as_artifact(c, c->free_gpus);
    l->told = (struct estimate_config){c->estimate, c->estimate_default_s, c->estimate_error};
    l->pair_rules = lucid_pair_rules(c, tables);
}

/* The profiler's nodes belong to no cluster any more, nor to that of jobs without a pool. */
static enum status build_profiler(struct lucid *l, const struct view *v, struct arena *arena,
                                  struct error *err)
{
    const char *at = l->config->profiler;
    int32_t n = 0, *node = arena_alloc(v->scratch, (size_t)v->cluster->n_nodes, sizeof *node);
    if (node == NULL)
        return fail_memory(err);
    while (at != NULL && *at != '\0') {
        size_t length = strcspn(at, ",");
        int32_t pool;
        TRY(lending_pool(&l->vcs, "profiler", at, length, &pool, err));
        if (l->vcs.vc[pool].n_nodes == 0)
            return fail(err, ST_USAGE, "lucid.profiler: pool '%.*s' has no node left", (int)length,
                        at);
        node[n] = l->vcs.vc[pool].node[l->vcs.vc[pool].n_nodes - 1];
        vc_remove_node(&l->vcs.vc[pool], node[n]);
        vc_remove_node(&l->vcs.vc[l->vcs.n - 1], node[n]);
        n++;
        at += length + (at[length] == ',');
    }
    l->profiles = n > 0;
    return profiler_init(&l->profiler, v, node, n, us_of_s(l->config->profile_s), arena)
               ? ST_OK
               : fail_memory(err);
}

static enum status lucid_init(void *state, const void *config, const struct view *v,
                              const struct place_rules *rules, struct arena *arena,
                              struct error *err)
{
    struct lucid *l = state;
    const struct lucid_config *c = config;
    read_config(l, c, v->tables);
    if (l->artifact)
        TRY(vcs_want_seconds(v->jobs, "lucid", err));
    TRY(estimates_init(&l->estimates, &l->told, &v->tables[TABLE_ESTIMATES], v, arena, err));
    TRY(forecast_init(&l->forecast, &v->tables[TABLE_FORECAST], c->forecast_from_s,
                      c->forecast_step_s, arena, err));
    if (!vcs_init(&l->vcs, v, arena))
        return fail_memory(err);
    l->queue = arena_alloc(arena, (size_t)l->vcs.n, sizeof *l->queue);
    l->priority = arena_alloc(arena, (size_t)v->jobs->n_jobs, sizeof *l->priority);
    if (l->queue == NULL || l->priority == NULL ||
        !waitq_init_many(l->queue, l->vcs.n, v->jobs, l->vcs.of, true, arena))
        return fail_memory(err);
    TRY(packing_init(&l->packing, &l->pair_rules, &l->vcs, v, rules, arena, err));
    TRY(build_profiler(l, v, arena, err));
    return lending_init(&l->lending, c->lender, l->artifact ? c->spare : NULL, &l->vcs, v, arena,
                        err);
}

/* The job waits for a place in its cluster from now on. */
static void join_queue(struct lucid *l, const struct view *v, int32_t job)
{
    if (!vcs_hold(&l->vcs, v->jobs, job))
        return;
    double service = estimate_s(&l->estimates, v, job) * (double)job_gpu_milli(v->jobs, job);
    l->priority[job] = (int64_t)(service < 1e18 ? service + 0.5 : 1e18);
    waitq_push(&l->queue[l->vcs.of[job]], job, l->priority[job]);
    vcs_happened(&l->vcs, job);
}

static void arrive(struct lucid *l, const struct view *v, int32_t job)
{
    bool aside = l->profiles && profiler_takes(&l->profiler, v->jobs, job);
    if (aside)
        profiler_push(&l->profiler, v->jobs, job);
    if (!aside || (l->profile_aside && !profiler_ends(&l->profiler, v->jobs, job)))
        join_queue(l, v, job);
}

static void begin_pass(struct lucid *l, const struct view *v, struct plan *plan)
{
    vcs_begin(&l->vcs, v);
    estimates_learn(&l->estimates, v);
    for (int32_t i = 0; i < v->n_finished; i++)
        if (v->jobs->status[v->finished[i]] == JOB_DONE)
            packing_end(&l->packing, v, plan, v->finished[i]);
    l->profiler.due = l->profiler.due || v->n_profiled > 0 || l->profiler.wake_us <= v->now_us;
    l->profiler.n_left -= v->n_profiled;
    for (int32_t i = 0; i < v->n_profiled; i++)
        if (!l->profile_aside && v->jobs->status[v->profiled[i]] == JOB_WAITING)
            join_queue(l, v, v->profiled[i]);
    for (int32_t i = 0; i < v->n_arrived; i++)
        arrive(l, v, v->arrived[i]);
}

static bool shares_at(const struct lucid *l, int32_t row)
{
    double jobs = forecast_mean(&l->forecast, l->forecast.jobs, row);
    return isnan(jobs) || jobs > l->config->share_jobs;
}

/* Is sharing on now, and when will it be switched? */
static void ask_forecast(struct lucid *l, const struct view *v)
{
    const struct forecast *f = &l->forecast;
    int32_t row = forecast_row(f, next_multiple(v->now_us - SWITCH_US + 1, SWITCH_US));
    l->shares = shares_at(l, row);
    while (row < f->n && shares_at(l, row + 1) == l->shares)
        row++;
    l->switch_us =
        row < f->n ? next_multiple(f->begin_us + row * f->step_us, SWITCH_US) : TIME_NEVER;
}

static void ask_sharing(struct lucid *l, const struct view *v)
{
    if (v->now_us < l->switch_us)
        return;
    switch ((enum sharing)l->config->sharing) {
    case SHARING_AUTO: ask_forecast(l, v); break;
    case SHARING_ON:
    case SHARING_OFF:
        l->shares = l->config->sharing == SHARING_ON;
        l->switch_us = TIME_NEVER;
        break;
    }
}

static bool start_alone(struct lucid *l, const struct view *v, struct plan *plan, int32_t job)
{
    if (!vcs_start(&l->vcs, plan, job))
        return false;
    packing_alone(&l->packing, v->jobs, job);
    return true;
}

static bool start(struct lucid *l, const struct view *v, struct plan *plan, int32_t job)
{
    if (!(l->shares && l->join_first) && start_alone(l, v, plan, job))
        return true;
    if (!l->shares)
        return false;
    return packing_join(&l->packing, v, plan, l->priority, job) ||
           (l->join_first && start_alone(l, v, plan, job));
}

/* One walk over the queue of a cluster. Of jobs of one shape the first that finds neither place nor
 * partner speaks for the others: they are less urgent, so whom it may not join they may not, and
 * places only become fewer. A job that starts alone is no partner for one tried before it: where
 * that one found no place for as many GPUs, this one would have found none either. So nothing is
 * left to try until something ends, though the artifact tries every second. */
static void walk(struct lucid *l, const struct view *v, struct plan *plan, int32_t vc)
{
    struct waitq *queue = &l->queue[vc];
    l->vcs.vc[vc].due = false;
    waitq_reopen(queue);
    for (int32_t job; (job = waitq_head(queue)) >= 0 && !plan->failed;) {
        if (start(l, v, plan, job))
            waitq_take(queue);
        else if (l->shares)
            waitq_block(queue);
        else
            break;
    }
}

static void profile(struct lucid *l, const struct view *v, struct plan *plan)
{
    struct profiler *p = &l->profiler;
    p->due = false;
    profiler_walk(p, v, plan);
    bool lends = l->lending.lender >= 0, stops = l->artifact && p->n_left == 0;
    int wish = lends ? profiler_wish(p, v, &l->forecast) : 0;
    int32_t node = wish > 0 ? lending_take(&l->lending, &l->vcs, plan) : -1;
    if (node >= 0)
        profiler_borrow(p, node);
    if (wish < 0)
        lending_return(&l->lending, &l->vcs, plan, profiler_give_back(p));
    p->wake_us = lends && !stops ? profiler_next_wish(p, v->now_us) : TIME_NEVER;
}

/* A second later, what a node that came or went makes possible; and when sharing is switched. */
static void ask_passes(struct lucid *l, const struct view *v, struct plan *plan)
{
    struct profiler *p = &l->profiler;
    int64_t soon_us = v->now_us + US_PER_S;
    for (int32_t i = 0; i < l->vcs.n; i++) {
        struct vc *vc = &l->vcs.vc[i];
        if (vc->due)
            vc_wake(vc, soon_us);
        if (l->queue[i].n > 0)
            vc_wake(vc, l->switch_us);
        vc->due = false;
    }
    if (p->due && p->wake_us > soon_us)
        p->wake_us = soon_us;
    p->due = false;
    vcs_end(&l->vcs, plan);
    plan_wake(plan, p->wake_us);
}

/* What a node that comes or goes makes possible is tried at once, or by the artifact a second
 * later. */
static enum status lucid_decide(void *state, const struct view *v, struct plan *plan,
                                struct error *err)
{
    (void)err;
    struct lucid *l = state;
    bool more = true;
    ask_sharing(l, v);
    begin_pass(l, v, plan);
    for (int round = 0; more && !plan->failed && (round == 0 || !l->artifact); round++) {
        for (int32_t i = 0; i < l->vcs.n; i++)
            if (l->vcs.vc[i].due)
                walk(l, v, plan, i);
        if (l->profiler.due)
            profile(l, v, plan);
        more = l->profiler.due;
        for (int32_t i = 0; i < l->vcs.n; i++)
            more = more || l->vcs.vc[i].due;
    }
    ask_passes(l, v, plan);
    return ST_OK;
}

static void lucid_pace(const void *config, bool *sets_speed, int64_t *tick_us)
{
    const struct lucid_config *c = config;
    *sets_speed = c->rates != NULL;
    *tick_us = c->semantics == ARTIFACT ? US_PER_S : 0;
}

const struct policy policy_lucid = {
    .abi = POLICY_ABI,
    .name = "lucid",
    .summary =
        "profile first, then pack pairs by sharing score, least estimated GPU time first; its "
        "artifact's mistakes are repaired unless semantics = artifact",
    .source = "Lucid (ASPLOS'23), artifact S-Lab-System-Group/Lucid 63685a3",
    .params = lucid_params,
    .config_size = sizeof(struct lucid_config),
    .state_size = sizeof(struct lucid),
    .tables = lucid_tables,
    .profiles = true,
    .own_clock = true,
    .pairs_jobs = true,
    .pace = lucid_pace,
    .init = lucid_init,
    .decide = lucid_decide,
};
