/* pollux - widths by goodput: every minute, GPUs for all jobs so that they learn fastest in the
 * mean, each at the batch that suits its GPUs.
 *
 * Source: Qiao et al., OSDI'21, and the simulator of petuum/adaptdl, branch osdi21-artifact
 * (Apache-2.0), read and restated.
 *
 * Modelled: the goodput of a job on so many GPUs of one node or of several (pollux_goodput.h); the
 * objective, the power mean (p = -1) of speedups over an equal share of the cluster, where a job
 * that would have to restart is counted at max(age - restarts x restart_s, 0) / (age + restart_s);
 * rounds of 60 s; a restart at every change of width. Elastic jobs (gpu_min, gpu_max) of one task
 * change their width; all others are rigid: their speedup is their width over the equal share, and
 * Pollux stops and starts them. No GPU is shared.
 *
 * The speed of an elastic job is its goodput over that of the width it was submitted with, at its
 * best batch there, so that as submitted it runs at 1: neither --truth nor elastic.scale_exp is
 * asked. Its parameters come from the file in models, else from the six models of Pollux by the
 * workload's name, else they are those of ResNet-50 on ImageNet; offline inference scales with its
 * replicas.
 *
 * Not modelled: learning the parameters while a job runs, noise that changes during training (its
 * median is used), growing by no more than twice what was profiled, at most one distributed job on
 * a node, autoscaling. Ours: a greedy walk with local moves instead of the genetic search
 * (pollux_widths.h), placement on as few nodes as the widths allow, a first start is not counted as
 * a restart. Fits are for T4 GPUs; only ratios of them are used. */
#include "policies/peers/pollux_curves.h"
#include "policies/peers/pollux_widths.h"
#include "policies/peers/round.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct pollux_config {
    int64_t gpus_max;
    const char *models;
    double restart_s, round_s;
};

static const struct param pollux_params[] = {
    PARAM_INT(struct pollux_config, gpus_max, "GPUs", 64, 1, 4096,
              "no job gets more, whatever its gpu_max [artifact: 64]"),
    PARAM_TEXT(
        struct pollux_config, models, NULL,
        "CSV of goodput parameters: workload,alpha_c,beta_c,alpha_r,beta_r,alpha_n,beta_n,"
        "gamma,noise,batch_0,batch_max,card_min,card_max (seconds and samples); else Pollux's "
        "own six models [fitted to the artifact]"),
    PARAM_REAL(struct pollux_config, restart_s, "s", 30, 0, 1e6,
               "a job whose width changes makes no progress this long [artifact: 30]"),
    PARAM_REAL(struct pollux_config, round_s, "s", 60, 1e-3, 1e9,
               "time between two decisions [Pollux: 60]"),
    PARAM_END,
};

static const char *const pollux_tables[] = {"models", NULL};

struct pollux {
    const struct pollux_config *config;
    struct round round;
    int32_t n, *job; /* (n_jobs) in the system, in order of arrival */
    struct curves curves;
    int32_t *n_restarts; /* (n_jobs) */
    int32_t gpus;        /* of the cluster */
    int64_t begun_us;
};

static enum status pollux_init(void *state, const void *config, const struct view *v,
                               const struct place_rules *rules, struct arena *arena,
                               struct error *err)
{
    (void)rules;
    struct pollux *p = state;
    size_t n = (size_t)v->jobs->n_jobs;
    p->config = config;
    p->job = arena_alloc(arena, n, sizeof *p->job);
    p->n_restarts = arena_alloc(arena, n, sizeof *p->n_restarts);
    if (p->job == NULL || p->n_restarts == NULL ||
        !round_init(&p->round, v->jobs, us_of_s(p->config->restart_s), arena))
        return fail_memory(err);
    p->gpus = (int32_t)(v->cluster->gpu_milli / 1000);
    return curves_init(&p->curves, v->tables, (int32_t)p->config->gpus_max, v, arena, err);
}

static void note_changes(struct pollux *p, const struct view *v)
{
    int32_t n = 0;
    round_begin(&p->round, v);
    for (int32_t i = 0; i < p->n && v->n_finished > 0; i++)
        if (v->jobs->status[p->job[i]] != JOB_DONE)
            p->job[n++] = p->job[i];
    p->n = v->n_finished > 0 ? n : p->n;
    for (int32_t i = 0; i < v->n_arrived; i++)
        p->job[p->n++] = v->arrived[i];
}

static double restart_factor(const struct pollux *p, const struct view *v, int32_t job)
{
    double age_s = s_of_us(v->now_us - v->jobs->submit_us[job]), delay_s = p->config->restart_s;
    if (v->jobs->start_us[job] == TIME_NEVER)
        return 1;
    return fmax(age_s - p->n_restarts[job] * delay_s, 0) / (age_s + delay_s);
}

/* What the decision is about: every job that asks for GPUs. */
struct problem {
    int32_t n, *job;
    struct width_choice *choice;
    double *cost;            /* of all options, job by job */
    int32_t *option, *equal; /* as it is now; an equal share for all */
};

static int32_t n_options(const struct pollux *p, const struct job_table *t, int32_t job)
{
    if (!job_is_elastic(t, job))
        return 2;
    int32_t low = t->gpu_min[job] > 1 ? t->gpu_min[job] : 1, high = t->gpu_max[job];
    high = high < p->config->gpus_max ? high : (int32_t)p->config->gpus_max;
    high = high < p->gpus ? high : p->gpus;
    return high < low ? 2 : 2 + high - low;
}

static bool problem_new(const struct pollux *p, const struct view *v, struct problem *q)
{
    size_t n = (size_t)p->n, n_costs = 0;
    for (int32_t i = 0; i < p->n; i++)
        n_costs += (size_t)n_options(p, v->jobs, p->job[i]);
    *q = (struct problem){.n = 0};
    q->job = arena_alloc(v->scratch, n, sizeof *q->job);
    q->choice = arena_alloc(v->scratch, n, sizeof *q->choice);
    q->cost = arena_alloc(v->scratch, n_costs, sizeof *q->cost);
    q->option = arena_alloc(v->scratch, n, sizeof *q->option);
    q->equal = arena_alloc(v->scratch, n, sizeof *q->equal);
    return q->job != NULL && q->choice != NULL && q->cost != NULL && q->option != NULL &&
           q->equal != NULL;
}

/* The costs 1 / (speedup + .001) of one job: a power mean with p = -1 is largest where their sum is
 * least. Speedups are scaled so that a node for each job is 1. */
static void price(const struct pollux *p, const struct view *v, const struct plan *plan,
                  int32_t fair, double *cost, struct problem *q)
{
    const struct job_table *t = v->jobs;
    int32_t job = q->job[q->n], task = t->task_begin[job] + plan->n_ended[job];
    bool elastic = job_is_elastic(t, job), runs = t->status[job] == JOB_RUNNING;
    struct width_choice c = {n_options(p, t, job), 1, 1000, cost};
    if (elastic)
        c.lowest = t->gpu_min[job] > 1 ? t->gpu_min[job] : 1;
    else
        c.unit_milli = (int32_t)round_width_milli(plan, job);
    double node = (double)v->cluster->n_nodes / p->gpus;
    double base = curves_equal(&p->curves, job, fair);
    double factor = restart_factor(p, v, job);
    int32_t now = !runs ? 0 : elastic ? plan_width(plan, task) - c.lowest + 1 : 1;
    for (int32_t k = 0; k < c.n; k++) {
        double speedup = k == 0    ? 0
                         : elastic ? curves_goodput(&p->curves, job, c.lowest + k - 1) / base
                                   : c.unit_milli / 1e3 / fair;
        cost[k] = 1 / (speedup * node * (k == now ? 1 : factor) + 1e-3);
    }
    q->choice[q->n] = c;
    q->option[q->n] = now < c.n ? now : 0;
    int32_t equal = fair - c.lowest + 1;
    q->equal[q->n++] = !elastic || equal < 1 ? 1 : equal < c.n ? equal : c.n - 1;
}

/* Drops to nothing, from the last on, what does not fit. */
static void fit(const struct problem *q, int64_t room_milli, int32_t *option)
{
    for (int32_t i = 0; i < q->n; i++) {
        int64_t milli = pollux_milli(&q->choice[i], option[i]);
        if (milli > room_milli)
            option[i] = 0;
        else
            room_milli -= milli;
    }
}

static bool choose_widths(const struct pollux *p, const struct view *v, const struct plan *plan,
                          struct problem *q)
{
    int32_t fair = (p->gpus + p->n - 1) / p->n;
    double *cost;
    if (!problem_new(p, v, q))
        return false;
    cost = q->cost;
    for (int32_t i = 0; i < p->n; i++) {
        q->job[q->n] = p->job[i];
        if (round_width_milli(plan, p->job[i]) > 0)
            price(p, v, plan, fair, cost, q);
        cost += n_options(p, v->jobs, p->job[i]);
    }
    fit(q, v->cluster->gpu_milli, q->option);
    fit(q, v->cluster->gpu_milli, q->equal);
    if (pollux_cost(q->n, q->choice, q->equal) < pollux_cost(q->n, q->choice, q->option))
        memcpy(q->option, q->equal, (size_t)q->n * sizeof *q->option);
    return pollux_widths(q->n, q->choice, v->cluster->gpu_milli, q->option, v->scratch);
}

/* Those that had least come first where places are scarce. */
struct served {
    int64_t milli_us;
    int32_t place;
};

static int least_served_first(const void *a, const void *b)
{
    const struct served *x = a, *y = b;
    if (x->milli_us != y->milli_us)
        return x->milli_us < y->milli_us ? -1 : 1;
    return x->place < y->place ? -1 : 1;
}

static bool place_widths(struct pollux *p, const struct view *v, struct plan *plan,
                         const struct problem *q)
{
    struct served *served = arena_alloc(v->scratch, (size_t)q->n, sizeof *served);
    struct pick *pick = arena_alloc(v->scratch, (size_t)p->n, sizeof *pick);
    enum place_mode mode = plan->rules.mode;
    int32_t n = 0;
    if (served == NULL || pick == NULL)
        return false;
    for (int32_t i = 0; i < q->n; i++)
        served[i] = (struct served){view_attained_milli_us(v, q->job[i]), i};
    qsort(served, (size_t)q->n, sizeof *served, least_served_first);
    for (int32_t i = 0; i < p->n; i++)
        if (round_width_milli(plan, p->job[i]) == 0)
            pick[n++] = (struct pick){.job = p->job[i], .mate = -1};
    for (int32_t i = 0; i < q->n; i++) {
        int32_t k = served[i].place, job = q->job[k];
        int32_t width = q->choice[k].lowest + q->option[k] - 1;
        if (q->option[k] > 0)
            pick[n++] = (struct pick){job, -1, job_is_elastic(v->jobs, job) ? width : 0};
    }
    size_t mark = plan_mark(plan);
    plan->rules.mode = PLACE_CONSOLIDATE;
    round_apply(&p->round, v, plan, pick, n);
    plan->rules.mode = mode;
    for (size_t i = mark; i < plan->n; i++)
        if (plan->entry[i].kind == PLAN_START &&
            v->jobs->start_us[plan->entry[i].job] != TIME_NEVER)
            p->n_restarts[plan->entry[i].job]++;
    return true;
}

static bool on_one_node(const struct plan *plan, int32_t task)
{
    const struct seat *seat = plan->cluster->seats + plan->at[task].first;
    for (int32_t i = 1; i < plan->at[task].n; i++)
        if (seat_node(plan->cluster, seat[i].where) != seat_node(plan->cluster, seat[0].where))
            return false;
    return true;
}

static void set_speeds(const struct pollux *p, const struct view *v, struct plan *plan)
{
    for (int32_t i = 0; i < p->n; i++) {
        int32_t job = p->job[i], task = v->jobs->task_begin[job];
        if (!job_is_elastic(v->jobs, job) || !round_has_place(plan, job))
            continue;
        double speed =
            curves_speed(&p->curves, v->jobs, job, plan_width(plan, task), on_one_node(plan, task));
        if (speed != plan->speed[job])
            plan_speed(plan, job, speed);
    }
}

/* Would the next round be any different? Elastic jobs may change as they age. */
static bool rotates(const struct pollux *p, const struct view *v, const struct plan *plan)
{
    for (int32_t i = 0; i < p->n; i++)
        if (job_is_elastic(v->jobs, p->job[i]) || !round_has_place(plan, p->job[i]))
            return true;
    return false;
}

static enum status pollux_decide(void *state, const struct view *v, struct plan *plan,
                                 struct error *err)
{
    struct pollux *p = state;
    int64_t round_us = us_of_s(p->config->round_s);
    note_changes(p, v);
    if (p->n == 0)
        return ST_OK;
    if (v->running_first < 0 || round_boundary_us(p->begun_us, round_us, v->now_us) == v->now_us) {
        struct problem q;
        p->begun_us = v->now_us;
        if (!choose_widths(p, v, plan, &q) || !place_widths(p, v, plan, &q))
            return fail_memory(err);
        set_speeds(p, v, plan);
    }
    if (rotates(p, v, plan))
        plan_wake(plan, round_boundary_us(p->begun_us, round_us, v->now_us));
    return ST_OK;
}

const struct policy policy_pollux = {
    .abi = POLICY_ABI,
    .name = "pollux",
    .summary = "widths of elastic jobs by goodput: the mean of speedups, every minute",
    .source =
        "Pollux (OSDI'21), adaptdl branch osdi21-artifact; greedy walk and local moves instead "
        "of the genetic search",
    .params = pollux_params,
    .config_size = sizeof(struct pollux_config),
    .state_size = sizeof(struct pollux),
    .tables = pollux_tables,
    .sets_speed = true,
    .own_clock = true,
    .own_restart = true,
    .elastic = true,
    .init = pollux_init,
    .decide = pollux_decide,
};
