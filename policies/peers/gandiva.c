/* gandiva - time slices and packing by introspection: under load jobs take turns and share GPUs in
 * pairs, and a pair is kept only while the two together get more done than one alone.
 *
 * Source: Xiao et al., OSDI'18; no code of theirs is public. Packing as in Gavel's
 * re-implementation (scheduler/policies/gandiva.py at c4fa400, MIT), read and restated: no packing
 * while all jobs fit; else unpaired jobs of equal width are paired at random, and a pair whose kept
 * speeds add up to less than 1 is parted.
 *
 * Modelled: the above; slices of slice_s in which jobs and pairs take turns, who ran least recently
 * first; introspection, that is the speeds the run's truth gives the pair while it runs (nothing is
 * known before); a job that is stopped pays switch_s when it goes on, on the same cards or,
 * moved to make room for a wider one, on others. Jobs that fit start at once.
 *
 * Not modelled: growing into idle GPUs and shrinking, migration for locality, profiles by which the
 * system guesses good pairs. Ours: slices of equal length for all widths, where Gavel's version
 * divides GPU time equally; a job remembers the last four partners that did not suit and is not
 * paired with them again; a pair must fit the smallest card's memory. */
#include "core/cluster/beside.h"
#include "policies/peers/round.h"

#include <stdlib.h>

struct gandiva_config {
    bool pack;
    double slice_s, switch_s;
};

static const struct param gandiva_params[] = {
    PARAM_BOOL(struct gandiva_config, pack, 1, "jobs share GPUs in pairs when not all fit"),
    PARAM_REAL(struct gandiva_config, slice_s, "s", 60, 1e-3, 1e9,
               "length of a time slice [the paper's are minutes; 60 is ours]"),
    PARAM_REAL(struct gandiva_config, switch_s, "s", 1, 0, 1e6,
               "a job that was stopped makes no progress this long when it goes on [ours]"),
    PARAM_END,
};

enum { SHY_MAX = 4 };

struct gandiva {
    const struct gandiva_config *config;
    struct round round;
    int32_t n, *job;         /* (n_jobs) in the system, in order of arrival */
    int32_t *partner;        /* (n_jobs) with whom it takes its turns, -1 */
    int32_t (*shy)[SHY_MAX]; /* (n_jobs) partners that did not suit, + 1; 0 for none */
    int64_t *last_us;        /* (n_jobs) when it last ran, or was submitted */
    int64_t begun_us;        /* this slice */
    int32_t card_mem_mib;    /* of the smallest card */
};

static enum status gandiva_init(void *state, const void *config, const struct view *v,
                                const struct place_rules *rules, struct arena *arena,
                                struct error *err)
{
    (void)rules;
    struct gandiva *g = state;
    size_t n = (size_t)v->jobs->n_jobs;
    g->config = config;
    g->job = arena_alloc(arena, n, sizeof *g->job);
    g->partner = arena_alloc(arena, n, sizeof *g->partner);
    g->shy = arena_alloc(arena, n, sizeof *g->shy);
    g->last_us = arena_alloc(arena, n, sizeof *g->last_us);
    if (g->job == NULL || g->partner == NULL || g->shy == NULL || g->last_us == NULL ||
        !round_init(&g->round, v->jobs, us_of_s(g->config->switch_s), arena))
        return fail_memory(err);
    g->card_mem_mib = INT32_MAX;
    for (int32_t card = 0; card < v->cluster->n_cards; card++)
        if (v->cluster->card_gpu_mem_mib[card] < g->card_mem_mib)
            g->card_mem_mib = v->cluster->card_gpu_mem_mib[card];
    return ST_OK;
}

static void part(struct gandiva *g, int32_t job)
{
    if (g->partner[job] >= 0)
        g->partner[g->partner[job]] = -1;
    g->partner[job] = -1;
}

static void note_changes(struct gandiva *g, const struct view *v)
{
    int32_t n = 0;
    round_begin(&g->round, v);
    for (int32_t i = 0; i < g->n && v->n_finished > 0; i++) {
        if (v->jobs->status[g->job[i]] == JOB_DONE)
            part(g, g->job[i]);
        else
            g->job[n++] = g->job[i];
    }
    g->n = v->n_finished > 0 ? n : g->n;
    for (int32_t i = 0; i < v->n_arrived; i++) {
        int32_t j = v->arrived[i];
        g->job[g->n++] = j;
        g->partner[j] = -1;
        g->last_us[j] = v->jobs->submit_us[j];
    }
}

static bool shy_of(const struct gandiva *g, int32_t a, int32_t b)
{
    for (int i = 0; i < SHY_MAX; i++)
        if (g->shy[a][i] == b + 1 || g->shy[b][i] == a + 1)
            return true;
    return false;
}

static void remember(struct gandiva *g, int32_t a, int32_t b)
{
    for (int i = SHY_MAX - 1; i > 0; i--)
        g->shy[a][i] = g->shy[a][i - 1];
    g->shy[a][0] = b + 1;
}

/* Looks at the pairs that ran in the slice that ends. */
static void judge_pairs(struct gandiva *g, const struct view *v)
{
    for (int32_t a = v->running_first; a >= 0; a = v->stay[a].next) {
        int32_t b = g->partner[a];
        if (b < a || g->round.mate[a] != b)
            continue;
        if (v->stay[a].speed + v->stay[b].speed < 1 - 1e-9) {
            part(g, a);
            remember(g, a, b);
        }
    }
}

/* A job that may be paired: those of one width and type stand together, shuffled. */
struct single {
    int32_t n_inst, gpu_milli, gpu_type, draw, job;
};

static int by_width_then_chance(const void *a, const void *b)
{
    const struct single *x = a, *y = b;
    int32_t d[] = {x->n_inst - y->n_inst, x->gpu_milli - y->gpu_milli, x->gpu_type - y->gpu_type};
    for (int i = 0; i < 3; i++)
        if (d[i] != 0)
            return d[i];
    return x->draw < y->draw ? -1 : 1;
}

static bool suits(const struct gandiva *g, const struct job_table *t, const struct single *a,
                  const struct single *b)
{
    int64_t mem_mib = (int64_t)t->card_mem_mib[t->task_begin[a->job + 1] - 1] +
                      t->card_mem_mib[t->task_begin[b->job + 1] - 1];
    return a->n_inst == b->n_inst && a->gpu_milli == b->gpu_milli && a->gpu_type == b->gpu_type &&
           g->partner[b->job] < 0 && mem_mib <= g->card_mem_mib && !shy_of(g, a->job, b->job);
}

static bool pair_up(struct gandiva *g, const struct view *v, const struct plan *plan)
{
    const struct job_table *t = v->jobs;
    struct single *single = arena_alloc(v->scratch, (size_t)g->n, sizeof *single);
    int32_t n = 0;
    for (int32_t i = 0; single != NULL && i < g->n; i++) {
        int32_t j = g->job[i], task = t->task_begin[j + 1] - 1;
        if (g->partner[j] < 0 && beside_whole(plan, j))
            single[n++] =
                (struct single){t->n_inst[task], t->gpu_milli[task], t->gpu_type[task], 0, j};
    }
    for (int32_t i = 0; i < n; i++) { /* a random order: draw is its place */
        int32_t other = (int32_t)gsl_rng_uniform_int(v->rng, (unsigned long)i + 1);
        single[i].draw = single[other].draw;
        single[other].draw = i;
    }
    if (single != NULL)
        qsort(single, (size_t)n, sizeof *single, by_width_then_chance);
    for (int32_t i = 0; i < n; i++)
        for (int32_t k = i + 1; k < n && k <= i + 2 * SHY_MAX && g->partner[single[i].job] < 0; k++)
            if (suits(g, t, &single[i], &single[k])) {
                g->partner[single[i].job] = single[k].job;
                g->partner[single[k].job] = single[i].job;
            }
    return single != NULL;
}

/* A job or a pair, waiting for its turn. */
struct turn {
    int64_t last_us;
    int32_t place; /* in order of arrival, of the first of a pair */
};

static int longest_ago_first(const void *a, const void *b)
{
    const struct turn *x = a, *y = b;
    if (x->last_us != y->last_us)
        return x->last_us < y->last_us ? -1 : 1;
    return x->place < y->place ? -1 : 1;
}

static bool make_slice(struct gandiva *g, const struct view *v, struct plan *plan)
{
    struct turn *turn = arena_alloc(v->scratch, (size_t)g->n, sizeof *turn);
    struct pick *pick = arena_alloc(v->scratch, (size_t)g->n, sizeof *pick);
    int32_t *left = arena_alloc(v->scratch, (size_t)g->n, sizeof *left);
    bool *seen = arena_alloc(v->scratch, (size_t)v->jobs->n_jobs, sizeof *seen);
    int32_t n_turns = 0, n_picks = 0, n_left = 0;
    int64_t room_milli = v->cluster->gpu_milli;
    if (turn == NULL || pick == NULL || left == NULL || seen == NULL)
        return false;
    for (int32_t i = 0; i < g->n; i++) {
        int32_t j = g->job[i], other = g->partner[j];
        if (other >= 0 && seen[other])
            continue;
        seen[j] = true;
        int64_t last_us = g->last_us[j];
        if (other >= 0 && g->last_us[other] < last_us)
            last_us = g->last_us[other];
        turn[n_turns++] = (struct turn){last_us, i};
    }
    qsort(turn, (size_t)n_turns, sizeof *turn, longest_ago_first);
    for (int32_t i = 0; i < n_turns; i++) {
        int32_t j = g->job[turn[i].place], other = g->partner[j];
        int64_t milli = round_width_milli(plan, j);
        if (milli > room_milli) {
            left[n_left++] = j;
            continue;
        }
        room_milli -= milli;
        pick[n_picks++] = (struct pick){.job = j, .mate = other};
    }
    round_apply(&g->round, v, plan, pick, n_picks);
    round_fill(&g->round, plan, left, n_left);
    return true;
}

static int64_t asked_milli(const struct gandiva *g, const struct plan *plan)
{
    int64_t sum = 0;
    for (int32_t i = 0; i < g->n; i++)
        sum += round_width_milli(plan, g->job[i]);
    return sum;
}

static bool next_slice(struct gandiva *g, const struct view *v, struct plan *plan)
{
    g->begun_us = v->now_us;
    for (int32_t j = v->running_first; j >= 0; j = v->stay[j].next)
        g->last_us[j] = v->now_us;
    judge_pairs(g, v);
    if (asked_milli(g, plan) <= v->cluster->gpu_milli) {
        for (int32_t i = 0; i < g->n; i++)
            part(g, g->job[i]);
    } else if (g->config->pack && !pair_up(g, v, plan)) {
        return false;
    }
    return make_slice(g, v, plan);
}

/* Would the next slice be any different? */
static bool rotates(const struct gandiva *g, const struct plan *plan)
{
    for (int32_t i = 0; i < g->n; i++)
        if (g->partner[g->job[i]] >= 0 || !round_has_place(plan, g->job[i]))
            return true;
    return false;
}

static enum status gandiva_decide(void *state, const struct view *v, struct plan *plan,
                                  struct error *err)
{
    struct gandiva *g = state;
    int64_t slice_us = us_of_s(g->config->slice_s);
    note_changes(g, v);
    if (g->n == 0)
        return ST_OK;
    if (v->running_first < 0 || round_boundary_us(g->begun_us, slice_us, v->now_us) == v->now_us) {
        if (!next_slice(g, v, plan))
            return fail_memory(err);
    } else {
        round_fill(&g->round, plan, g->job, g->n);
    }
    if (rotates(g, plan))
        plan_wake(plan, round_boundary_us(g->begun_us, slice_us, v->now_us));
    return ST_OK;
}

const struct policy policy_gandiva = {
    .abi = POLICY_ABI,
    .name = "gandiva",
    .summary = "time slices and packing in pairs, kept while the two get more done than one",
    .source = "Gandiva (OSDI'18), packing as re-implemented in Gavel (c4fa400)",
    .params = gandiva_params,
    .config_size = sizeof(struct gandiva_config),
    .state_size = sizeof(struct gandiva),
    .own_clock = true,
    .own_restart = true,
    .pairs_jobs = true,
    .init = gandiva_init,
    .decide = gandiva_decide,
};
