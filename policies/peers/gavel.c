/* gavel - fair shares of time, dealt out in rounds: max-min fairness or finish-time fairness.
 *
 * Source: Narayanan et al., OSDI'20, and its code (stanford-futuredata/gavel c4fa400, MIT), read
 * and restated. The objective finish-time is the form in which Gavel, Shockwave and Sia compare
 * with Themis (NSDI'20): the largest rho = T_shared / T_isolated is made as small as it can be.
 *
 * Modelled: the allocation as a linear programme over shares of time (in closed form without pairs;
 * with pairs, by a simplex method over classes of like jobs); the round mechanism, which gives each
 * round to the entries with the most allocation per time received, ties by the time still owed;
 * time received counts from the last new allocation, at least reset_s after the one before; jobs
 * that go on keep their GPUs; a round begins at once when nothing runs. With pairs = on, jobs of
 * equal width whose pair was measured (--pairs) may share GPUs.
 *
 * Not modelled: different speeds on different GPU types (there are none in a trace yet; a strict
 * gpu_type is honoured), weights, the estimation of speeds, Gavel's other policies. Remaining
 * durations are the true ones, where Gavel knows the steps that are left. Ours: where the programme
 * leaves a choice, the next smallest share is maximised too; pairs are chosen by class and then by
 * time received, where Gavel has a column for every pair of jobs; GPUs that no entry can use are
 * filled in order of arrival; nothing is done for Themis's auction and leases. */
#include "policies/peers/gavel_deal.h"
#include "policies/peers/round.h"

#include <math.h>
#include <stdlib.h>

struct gavel_config {
    int objective; /* enum gavel_objective */
    bool pairs;
    int64_t pair_classes;
    double reset_s, round_s;
};

static const char *const objective_names[] = {"max-min", "finish-time", NULL};

static const struct param gavel_params[] = {
    PARAM_CHOICE(struct gavel_config, objective, objective_names, GAVEL_MAX_MIN,
                 "what is fair: equal GPU time, or equal delay against a cluster divided equally "
                 "(Themis)"),
    PARAM_INT(
        struct gavel_config, pair_classes, "1", 32, 1, 128,
        "kinds of jobs that pairs are looked for among, the most numerous (finish-time: jobs, "
        "the oldest); the programme has twice as many rows [ours]"),
    PARAM_BOOL(struct gavel_config, pairs, 0,
               "jobs whose pair was measured may share GPUs; needs --pairs"),
    PARAM_REAL(struct gavel_config, reset_s, "s", 1920, 0, 1e9,
               "least time between two allocations [Gavel's scheduler: 1920]"),
    PARAM_REAL(struct gavel_config, round_s, "s", 360, 1e-3, 1e9, "length of a round [Gavel: 360]"),
    PARAM_END,
};

struct gavel {
    const struct gavel_config *config;
    struct round round;
    struct gavel_deal deal;
    int32_t n, *job;      /* (n_jobs) in the system, in order of arrival */
    bool changed;         /* jobs came or went since the last allocation */
    bool dealt;           /* there is an allocation */
    bool rotates;         /* the next round may be another, though nobody comes or goes */
    int64_t begun_us;     /* the last round */
    int64_t reset_us;     /* the last allocation */
    int64_t *got_us;      /* (n_jobs) time on GPUs since the last allocation */
    double *owed_us;      /* (n_jobs) what earlier allocations promised and rounds did not give */
    int64_t *unit_got_us; /* (units) the same for units, all that run counted */
    int32_t *unit_runs;   /* (units) at work in this round */
};

static enum status gavel_init(void *state, const void *config, const struct view *v,
                              const struct place_rules *rules, struct arena *arena,
                              struct error *err)
{
    struct gavel *g = state;
    const struct gavel_config *c = config;
    size_t n = (size_t)v->jobs->n_jobs;
    if (c->pairs && rules->pairs == NULL)
        return fail(err, ST_USAGE,
                    "gavel.pairs needs --pairs FILE: it shares only what was measured");
    int32_t classes = c->pairs ? (int32_t)c->pair_classes : 0;
    size_t n_units = (size_t)classes * (size_t)(classes + 3) / 2;
    g->config = c;
    g->job = arena_alloc(arena, n, sizeof *g->job);
    g->got_us = arena_alloc(arena, n, sizeof *g->got_us);
    g->owed_us = arena_alloc(arena, n, sizeof *g->owed_us);
    g->unit_got_us = arena_alloc(arena, n_units, sizeof *g->unit_got_us);
    g->unit_runs = arena_alloc(arena, n_units, sizeof *g->unit_runs);
    if (g->job == NULL || g->got_us == NULL || g->owed_us == NULL || g->unit_got_us == NULL ||
        g->unit_runs == NULL || !round_init(&g->round, v->jobs, v->restart_us, arena) ||
        !gavel_deal_init(&g->deal, (enum gavel_objective)c->objective, classes, v, rules, arena))
        return fail_memory(err);
    return ST_OK;
}

static void note_changes(struct gavel *g, const struct view *v)
{
    round_begin(&g->round, v);
    int32_t n = 0;
    for (int32_t i = 0; i < g->n && v->n_finished > 0; i++)
        if (v->jobs->status[g->job[i]] != JOB_DONE)
            g->job[n++] = g->job[i];
    if (v->n_finished > 0) {
        g->changed = g->changed || n < g->n;
        g->n = n;
    }
    for (int32_t i = 0; i < v->n_arrived; i++)
        g->job[g->n++] = v->arrived[i];
    g->changed = g->changed || v->n_arrived > 0;
}

/* The round that ends here gave everybody who ran its length. */
static void count_round(struct gavel *g, const struct view *v)
{
    int64_t length_us = v->now_us - g->begun_us;
    for (int32_t j = v->running_first; j >= 0; j = v->stay[j].next)
        g->got_us[j] += length_us;
    for (int32_t u = 0; u < g->deal.n_units; u++)
        g->unit_got_us[u] += length_us * g->unit_runs[u];
}

static bool deal_anew(struct gavel *g, const struct view *v, const struct plan *plan)
{
    for (int32_t i = 0; i < g->n; i++) {
        int32_t j = g->job[i];
        g->owed_us[j] += g->deal.x[j] * (double)(v->now_us - g->reset_us) - (double)g->got_us[j];
        g->got_us[j] = 0;
    }
    if (!gavel_deal(&g->deal, v, plan, g->job, g->n))
        return false;
    for (int32_t u = 0; u < g->deal.n_units; u++)
        g->unit_got_us[u] = 0;
    g->reset_us = v->now_us;
    g->changed = false;
    g->dealt = true;
    return true;
}

/* Something that may run in this round: a job, or the nth of a unit. */
struct entry {
    double key, owed_us; /* allocation per time received; larger goes first */
    int32_t unit;        /* -1: the job alone */
    int32_t job;
};

static int most_due_first(const void *a, const void *b)
{
    const struct entry *x = a, *y = b;
    if (x->key != y->key)
        return x->key > y->key ? -1 : 1;
    if (x->owed_us != y->owed_us)
        return x->owed_us > y->owed_us ? -1 : 1;
    if (x->unit != y->unit)
        return x->unit < y->unit ? -1 : 1;
    return x->job < y->job ? -1 : x->job > y->job;
}

/* As many as a unit runs at a time, and one more, so that a round can make up for the last. */
static int32_t n_entries_of(const struct gavel_unit *unit) { return (int32_t)ceil(unit->runs) + 1; }

static struct entry *entries_of(const struct gavel *g, const struct view *v, int32_t *n)
{
    double round_us = g->config->round_s * 1e6;
    int32_t count = g->n;
    for (int32_t u = 0; u < g->deal.n_units; u++)
        count += n_entries_of(&g->deal.unit[u]);
    struct entry *entry = arena_alloc(v->scratch, (size_t)count, sizeof *entry);
    *n = 0;
    for (int32_t i = 0; entry != NULL && i < g->n; i++) {
        int32_t j = g->job[i];
        double key = g->deal.x[j] / ((double)g->got_us[j] + round_us / 2);
        if (key > 0 && g->deal.class[j] < 0)
            entry[(*n)++] = (struct entry){key, g->owed_us[j], -1, j};
    }
    for (int32_t u = 0; entry != NULL && u < g->deal.n_units; u++)
        for (int32_t k = 0; k < n_entries_of(&g->deal.unit[u]); k++) {
            double got_us = (double)g->unit_got_us[u] + (k + 0.5) * round_us;
            entry[(*n)++] = (struct entry){g->deal.unit[u].runs / got_us, 0, u, k};
        }
    if (entry != NULL)
        qsort(entry, (size_t)*n, sizeof *entry, most_due_first);
    return entry;
}

/* The jobs of every class, those that got least first. */
struct member {
    int32_t class, job;
    int64_t got_us;
    double owed_us;
};

static int by_class_least_served_first(const void *a, const void *b)
{
    const struct member *x = a, *y = b;
    if (x->class != y->class)
        return x->class < y->class ? -1 : 1;
    if (x->got_us != y->got_us)
        return x->got_us < y->got_us ? -1 : 1;
    if (x->owed_us != y->owed_us)
        return x->owed_us > y->owed_us ? -1 : 1;
    return x->job < y->job ? -1 : 1;
}

/* What a round is made of while it is put together. */
struct making {
    struct member *member; /* jobs of classes, class by class */
    int32_t *next, *end;   /* (n_classes) of each class in member */
    struct pick *pick;
    int32_t n_picks;
    bool *picked;        /* (n_jobs) */
    int64_t *room_milli; /* (n_pools) */
    int64_t room_all_milli;
};

static bool making_new(const struct gavel *g, const struct view *v, struct making *m)
{
    const struct gavel_deal *d = &g->deal;
    int32_t n = 0;
    *m = (struct making){.room_all_milli = v->cluster->gpu_milli};
    m->member = arena_alloc(v->scratch, (size_t)g->n, sizeof *m->member);
    m->next = arena_alloc(v->scratch, (size_t)d->n_classes, sizeof *m->next);
    m->end = arena_alloc(v->scratch, (size_t)d->n_classes, sizeof *m->end);
    m->pick = arena_alloc(v->scratch, (size_t)g->n, sizeof *m->pick);
    m->picked = arena_alloc(v->scratch, (size_t)v->jobs->n_jobs, sizeof *m->picked);
    m->room_milli = arena_alloc(v->scratch, (size_t)d->n_pools, sizeof *m->room_milli);
    if (m->member == NULL || m->next == NULL || m->end == NULL || m->pick == NULL ||
        m->picked == NULL || m->room_milli == NULL)
        return false;
    for (int32_t p = 0; p < d->n_pools; p++)
        m->room_milli[p] = (int64_t)(d->room[p] * 1e3);
    for (int32_t i = 0; i < g->n; i++) {
        int32_t j = g->job[i];
        if (d->class[j] >= 0)
            m->member[n++] = (struct member){d->class[j], j, g -> got_us[j], g -> owed_us[j]};
    }
    qsort(m->member, (size_t)n, sizeof *m->member, by_class_least_served_first);
    for (int32_t i = n - 1; i >= 0; i--)
        m->next[m->member[i].class] = i;
    for (int32_t i = 0; i < n; i++)
        m->end[m->member[i].class] = i + 1;
    return true;
}

static int32_t next_of(struct making *m, int32_t class)
{
    return m->next[class] < m->end[class] ? m->member[m->next[class]++].job : -1;
}

/* Takes the entry into the round where its GPUs are left by number and its jobs are still there. */
static void try_entry(const struct gavel *g, const struct plan *plan, const struct entry *e,
                      struct making *m)
{
    const struct gavel_unit *u = e->unit < 0 ? NULL : &g->deal.unit[e->unit];
    int32_t job = u == NULL ? e->job : next_of(m, u->a), mate = -1;
    if (job >= 0 && u != NULL && u->b >= 0 && (mate = next_of(m, u->b)) < 0)
        m->next[u->a]--;
    if (job < 0 || (u != NULL && u->b >= 0 && mate < 0))
        return;
    int64_t milli = round_width_milli(plan, job);
    int32_t pool = mate >= 0 && g->deal.pool[job] < 0 ? g->deal.pool[mate] : g->deal.pool[job];
    if (milli > m->room_all_milli || (pool >= 0 && milli > m->room_milli[pool])) {
        if (u != NULL)
            m->next[u->a]--;
        if (mate >= 0)
            m->next[u->b]--;
        return;
    }
    m->room_all_milli -= milli;
    if (pool >= 0)
        m->room_milli[pool] -= milli;
    m->picked[job] = true;
    if (mate >= 0)
        m->picked[mate] = true;
    if (u != NULL)
        g->unit_runs[e->unit]++;
    m->pick[m->n_picks++] = (struct pick){.job = job, .mate = mate};
}

static bool make_round(struct gavel *g, const struct view *v, struct plan *plan)
{
    struct making m;
    int32_t n, n_left = 0;
    struct entry *entry = entries_of(g, v, &n);
    int32_t *left = arena_alloc(v->scratch, (size_t)g->n, sizeof *left);
    if (entry == NULL || left == NULL || !making_new(g, v, &m))
        return false;
    for (int32_t u = 0; u < g->deal.n_units; u++)
        g->unit_runs[u] = 0;
    for (int32_t i = 0; i < n; i++)
        try_entry(g, plan, &entry[i], &m);
    round_apply(&g->round, v, plan, m.pick, m.n_picks);
    for (int32_t i = 0; i < g->n; i++)
        if (!m.picked[g->job[i]])
            left[n_left++] = g->job[i];
    round_fill(&g->round, plan, left, n_left);
    g->rotates = g->deal.n_units > 0;
    for (int32_t i = 0; i < g->n && !g->rotates; i++)
        g->rotates = !round_has_place(plan, g->job[i]);
    return true;
}

static int64_t boundary_us(const struct gavel *g, int64_t now_us)
{
    return round_boundary_us(g->begun_us, us_of_s(g->config->round_s), now_us);
}

static enum status gavel_decide(void *state, const struct view *v, struct plan *plan,
                                struct error *err)
{
    struct gavel *g = state;
    note_changes(g, v);
    if (g->n > 0 && (v->running_first < 0 || boundary_us(g, v->now_us) == v->now_us)) {
        count_round(g, v);
        g->begun_us = v->now_us;
        bool due = v->now_us - g->reset_us >= us_of_s(g->config->reset_s);
        if (g->changed && (due || !g->dealt) && !deal_anew(g, v, plan))
            return fail_memory(err);
        if (!make_round(g, v, plan))
            return fail_memory(err);
    }
    if (g->n > 0 && (g->changed || g->rotates))
        plan_wake(plan, boundary_us(g, v->now_us));
    return ST_OK;
}

const struct policy policy_gavel = {
    .abi = POLICY_ABI,
    .name = "gavel",
    .summary =
        "fair shares of time in rounds: max-min or finish-time fairness (Themis), with pairs",
    .source =
        "Gavel (OSDI'20), code at c4fa400; finish-time as Gavel compares with Themis (NSDI'20)",
    .params = gavel_params,
    .config_size = sizeof(struct gavel_config),
    .state_size = sizeof(struct gavel),
    .own_clock = true,
    .init = gavel_init,
    .decide = gavel_decide,
};
