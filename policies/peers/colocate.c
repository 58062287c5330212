#include "policies/peers/colocate.h"

#include "core/cluster/beside.h"
#include "core/cluster/waitq.h"
#include "policies/peers/round.h"

#include <math.h>
#include <stdlib.h>

/* What starting depends on besides the ask: the rule's class and the rate to be kept. */
struct finer {
    int32_t shape, job;
    bool host;
    double rate_frac; /* -1 for none */
};

static int by_fineness(const struct finer *x, const struct finer *y)
{
    if (x->shape != y->shape)
        return x->shape < y->shape ? -1 : 1;
    if (x->host != y->host)
        return x->host ? -1 : 1;
    return x->rate_frac < y->rate_frac ? -1 : x->rate_frac > y->rate_frac;
}

static int by_fineness_then_job(const void *a, const void *b)
{
    const struct finer *x = a, *y = b;
    int d = by_fineness(x, y);
    return d != 0 ? d : x->job < y->job ? -1 : 1;
}

/* Numbers shapes anew; how many, -1 when memory is out. */
static int32_t refine(struct colocate *c, const struct view *v)
{
    const struct job_table *t = v->jobs;
    struct arena_mark mark = arena_mark(v->scratch);
    struct finer *all = arena_alloc(v->scratch, (size_t)t->n_jobs, sizeof *all);
    int32_t n = -1;
    for (int32_t j = 0; all != NULL && j < t->n_jobs; j++)
        all[j] = (struct finer){c->shape[j], j, c->host[j],
                                isnan(t->min_rate_frac[j]) ? -1 : t->min_rate_frac[j]};
    if (all != NULL)
        qsort(all, (size_t)t->n_jobs, sizeof *all, by_fineness_then_job);
    for (int32_t i = 0; all != NULL && i < t->n_jobs; i++) {
        n += i == 0 || by_fineness(&all[i - 1], &all[i]) != 0;
        c->shape[all[i].job] = n;
    }
    bool done = all != NULL;
    arena_reset(v->scratch, mark);
    return done ? n + 1 : -1;
}

bool colocate_infers(const void *context, const struct job_table *t, int32_t job)
{
    (void)context;
    return t->kind[job] == KIND_INFER;
}

bool colocate_init(struct colocate *c, const struct colocation *rule, const void *context,
                   const struct view *v, struct arena *arena)
{
    size_t n = (size_t)v->jobs->n_jobs;
    *c = (struct colocate){.rule = rule, .context = context, .stamp = 1};
    c->job = arena_alloc(arena, n, sizeof *c->job);
    c->host = arena_alloc(arena, n, sizeof *c->host);
    c->shape = arena_alloc(arena, n, sizeof *c->shape);
    c->held_us = arena_alloc(arena, n, sizeof *c->held_us);
    c->rises = arena_alloc(arena, n, sizeof *c->rises);
    c->open = arena_alloc(arena, (size_t)v->cluster->n_cards, sizeof *c->open);
    if (c->job == NULL || c->host == NULL || c->shape == NULL || c->held_us == NULL ||
        c->rises == NULL || c->open == NULL || shapes_of(v->jobs, true, c->shape) < 0)
        return false;
    for (int32_t j = 0; j < v->jobs->n_jobs; j++) {
        c->host[j] = rule->is_host(context, v->jobs, j);
        c->held_us[j] = INT64_MIN;
    }
    int32_t n_shapes = refine(c, v);
    if (n_shapes < 0)
        return false;
    c->no_fit = arena_alloc(arena, (size_t)n_shapes, sizeof *c->no_fit);
    c->displaces = arena_alloc(arena, (size_t)n_shapes, sizeof *c->displaces);
    return c->no_fit != NULL && c->displaces != NULL;
}

static void note_changes(struct colocate *c, const struct view *v)
{
    int32_t n = 0;
    for (int32_t i = 0; i < c->n && v->n_finished > 0; i++)
        if (v->jobs->status[c->job[i]] != JOB_DONE)
            c->job[n++] = c->job[i];
    c->n = v->n_finished > 0 ? n : c->n;
    c->stamp += v->n_finished > 0;
    for (int32_t i = 0; i < v->n_arrived; i++)
        c->job[c->n++] = v->arrived[i];
}

/* Where something may be put, and where a host could have more by sending guests away. */
static void list_open(struct colocate *c, const struct plan *plan)
{
    const struct cluster *cl = plan->cluster;
    c->n_open = c->n_guests_alone = 0;
    for (int32_t card = 0; card < cl->n_cards; card++) {
        if (cl->card_n_jobs[card] > 1)
            continue;
        c->open[c->n_open++] = card;
        if (cl->card_n_jobs[card] == 1)
            c->n_guests_alone +=
                !c->host[plan->jobs->task_job[cl->seats[cl->card_seat[card]].task]];
    }
}

/* The job of the other class on a card with one seat taken, whole; -1 where it is not so. */
static int32_t partner_on(const struct colocate *c, const struct plan *plan, int32_t card,
                          bool host)
{
    const struct cluster *cl = plan->cluster;
    if (cl->card_n_jobs[card] != 1)
        return -1;
    int32_t job = plan->jobs->task_job[cl->seats[cl->card_seat[card]].task];
    return c->host[job] != host && beside_whole(plan, job) ? job : -1;
}

struct seeker {
    const struct colocate *c;
    const struct view *v;
};

/* 2 for a free card, else what the guest would keep. */
static double worth(const void *context, const struct plan *plan, int32_t job, int32_t card)
{
    const struct seeker *s = context;
    int32_t task = plan->jobs->task_begin[job + 1] - 1;
    if (plan->cluster->card_gpu_mem_mib[card] < plan->jobs->card_mem_mib[task])
        return -1;
    if (plan->cluster->card_n_jobs[card] == 0)
        return 2;
    bool host = s->c->host[job];
    int32_t other = partner_on(s->c, plan, card, host);
    if (other < 0)
        return -1;
    struct kept kept =
        s->c->rule->kept(s->c->context, s->v, host ? job : other, host ? other : job, card);
    return kept.guest < 0 ? -1 : s->c->rule->cluster_wide ? fmin(kept.guest, 1) : 1;
}

static bool start(const struct seeker *s, struct plan *plan, int32_t job)
{
    return plan_start(plan, job) ||
           beside_start_best(plan, job, s->c->open, s->c->n_open, worth, s, s->v->scratch);
}

static void release_guests(const struct colocate *c, const struct view *v, struct plan *plan)
{
    for (int32_t j = v->running_first; j >= 0; j = v->stay[j].next)
        if (!c->host[j] && round_has_place(plan, j))
            plan_release(plan, j);
}

/* Which of the waiting hosts would fit, each on its own, if there were no guests? */
static void find_displacers(struct colocate *c, const struct view *v, struct plan *plan)
{
    size_t mark = plan_mark(plan);
    release_guests(c, v, plan);
    size_t without = plan_mark(plan);
    for (int32_t i = 0; i < c->n && !plan->failed; i++) {
        int32_t j = c->job[i], shape = c->shape[j];
        if (!c->host[j] || c->no_fit[shape] != c->stamp || llabs(c->displaces[shape]) == c->stamp ||
            round_has_place(plan, j))
            continue;
        c->displaces[shape] = plan_start(plan, j) ? c->stamp : -c->stamp;
        plan_undo(plan, without);
    }
    plan_undo(plan, mark);
}

/* The cards that a host would take if there were no guests; false where that does not help. */
static bool cards_without_guests(const struct colocate *c, const struct view *v, struct plan *plan,
                                 int32_t job, bool *taken)
{
    const struct job_table *t = v->jobs;
    size_t mark = plan_mark(plan);
    release_guests(c, v, plan);
    bool fits = plan_start(plan, job);
    for (int32_t k = t->task_begin[job] + plan->n_ended[job]; fits && k < t->task_begin[job + 1];
         k++)
        for (int32_t i = plan->at[k].first; i < plan->at[k].first + plan->at[k].n; i++)
            if (plan->cluster->seats[i].where >= 0)
                taken[plan->cluster->seats[i].where] = true;
    plan_undo(plan, mark);
    return fits;
}

static bool sits_on(const struct plan *plan, int32_t job, const bool *card)
{
    const struct job_table *t = plan->jobs;
    for (int32_t k = t->task_begin[job] + plan->n_ended[job]; k < t->task_begin[job + 1]; k++)
        for (int32_t i = plan->at[k].first; i < plan->at[k].first + plan->at[k].n; i++)
            if (plan->cluster->seats[i].where >= 0 && card[plan->cluster->seats[i].where])
                return true;
    return false;
}

/* The guests on those cards go back to the queue, and the host starts. */
static bool start_evicting(const struct colocate *c, const struct view *v, struct plan *plan,
                           int32_t job)
{
    size_t mark = plan_mark(plan);
    bool *taken = arena_alloc(v->scratch, (size_t)plan->cluster->n_cards, sizeof *taken);
    plan->failed = plan->failed || taken == NULL;
    if (taken == NULL || !cards_without_guests(c, v, plan, job, taken))
        return false;
    for (int32_t j = v->running_first; j >= 0; j = v->stay[j].next)
        if (!c->host[j] && round_has_place(plan, j) && sits_on(plan, j, taken))
            plan_evict(plan, j, v->restart_us);
    if (!plan_start(plan, job)) {
        plan_undo(plan, mark);
        return false;
    }
    return true;
}

static void start_class(struct colocate *c, const struct seeker *s, struct plan *plan, bool host)
{
    for (int32_t i = 0; i < c->n && !plan->failed; i++) {
        int32_t j = c->job[i];
        if (c->host[j] != host || c->no_fit[c->shape[j]] == c->stamp || round_has_place(plan, j))
            continue;
        if (!start(s, plan, j))
            c->no_fit[c->shape[j]] = c->stamp;
    }
}

/* Hosts that found no place, in order of arrival: guests go where that lets one in. */
static void make_room(struct colocate *c, const struct view *v, struct plan *plan)
{
    int64_t stamp = c->stamp;
    find_displacers(c, v, plan);
    for (int32_t i = 0; i < c->n && !plan->failed; i++) {
        int32_t j = c->job[i];
        if (!c->host[j] || c->displaces[c->shape[j]] != stamp || round_has_place(plan, j))
            continue;
        if (start_evicting(c, v, plan, j))
            c->stamp = stamp + 1;
        else
            c->displaces[c->shape[j]] = -stamp;
    }
    if (c->stamp != stamp)
        list_open(c, plan);
}

/* Guests on whose cards a host has started stand still where memory is short. */
static void spill(struct colocate *c, const struct view *v, const struct plan *plan)
{
    const struct cluster *cl = plan->cluster;
    for (size_t i = 0; i < plan->n && c->spill_us > 0; i++) {
        const struct plan_entry *e = &plan->entry[i];
        if (e->kind != PLAN_START || !c->host[e->job] || !beside_whole(plan, e->job))
            continue;
        struct seats at = plan->at[e->task];
        for (int32_t k = at.first; k < at.first + at.n; k++) {
            int32_t card = cl->seats[k].where;
            for (int32_t s = cl->card_seat[card]; s >= 0; s = cl->seats[s].next) {
                int32_t job = plan->jobs->task_job[cl->seats[s].task];
                if (job == e->job || cl->card_mem_free_mib[card] >= 0)
                    continue;
                c->held_us[job] = v->now_us + c->spill_us;
                c->rises[job] = false;
            }
        }
    }
}

/* On its slowest card, by the rule. */
static double rule_speed(const struct colocate *c, const struct view *v, const struct plan *plan,
                         int32_t job)
{
    const struct cluster *cl = plan->cluster;
    double slowest = 1;
    struct seats at = plan->at[plan->jobs->task_begin[job] + plan->n_ended[job]];
    if (!beside_whole(plan, job))
        return 1;
    for (int32_t k = at.first; k < at.first + at.n; k++) {
        int32_t card = cl->seats[k].where;
        for (int32_t s = cl->card_seat[card]; s >= 0; s = cl->seats[s].next) {
            int32_t other = plan->jobs->task_job[cl->seats[s].task];
            if (other == job)
                continue;
            struct kept kept = c->rule->kept(c->context, v, c->host[job] ? job : other,
                                             c->host[job] ? other : job, card);
            slowest = fmin(slowest, c->host[job] ? kept.host : fmax(kept.guest, 0));
        }
    }
    return slowest;
}

/* What it goes at from now on: a pause lasts, and going faster is put off. */
static double held_speed(struct colocate *c, const struct view *v, struct plan *plan, int32_t job,
                         double speed)
{
    double before = plan->speed[job];
    bool goes_on = !c->host[job] && v->jobs->status[job] == JOB_RUNNING;
    bool pauses = c->held_us[job] > v->now_us && !c->rises[job];
    if (goes_on && !pauses && speed > before && before > 0 && c->grow_us > 0 && !c->rises[job]) {
        c->held_us[job] = v->now_us + c->grow_us;
        c->rises[job] = true;
    }
    if (goes_on && c->held_us[job] > v->now_us && (pauses || speed > before)) {
        plan_wake(plan, c->held_us[job]);
        return pauses ? 0 : before;
    }
    c->held_us[job] = INT64_MIN;
    c->rises[job] = false;
    return speed;
}

static void set_speeds(struct colocate *c, const struct view *v, struct plan *plan)
{
    for (int32_t i = 0; i < c->n && !plan->failed; i++) {
        int32_t j = c->job[i];
        if (!round_has_place(plan, j))
            continue;
        double speed = held_speed(c, v, plan, j, rule_speed(c, v, plan, j));
        if (speed != plan->speed[j])
            plan_speed(plan, j, speed);
    }
}

void colocate_pass(struct colocate *c, const struct view *v, struct plan *plan)
{
    int32_t share_max = plan->rules.share_max;
    struct seeker s = {c, v};
    note_changes(c, v);
    plan->rules.share_max = 1; /* the rule says who shares */
    list_open(c, plan);
    start_class(c, &s, plan, true);
    if (c->rule->hosts_evict && c->n_guests_alone > 0)
        make_room(c, v, plan);
    start_class(c, &s, plan, false);
    plan->rules.share_max = share_max;
    spill(c, v, plan);
    set_speeds(c, v, plan);
}
