#include "policies/peers/round.h"

#include "core/cluster/beside.h"
#include "core/cluster/waitq.h"

#include <stdlib.h>

bool round_init(struct round *r, const struct job_table *t, int64_t restart_us, struct arena *arena)
{
    size_t n = (size_t)t->n_jobs;
    int32_t *shape = arena_alloc(arena, n, sizeof *shape);
    *r = (struct round){.shape = shape, .restart_us = restart_us};
    r->mate = arena_alloc(arena, n, sizeof *r->mate);
    r->keeps = arena_alloc(arena, n, sizeof *r->keeps);
    int32_t n_shapes = shape == NULL ? -1 : shapes_of(t, false, shape);
    if (n_shapes < 0 || r->mate == NULL || r->keeps == NULL)
        return false;
    r->no_fit = arena_alloc(arena, (size_t)n_shapes, sizeof *r->no_fit);
    for (size_t j = 0; j < n; j++)
        r->mate[j] = -1;
    return r->no_fit != NULL;
}

static void part(struct round *r, int32_t job)
{
    if (r->mate[job] >= 0)
        r->mate[r->mate[job]] = -1;
    r->mate[job] = -1;
}

static void join(struct round *r, int32_t a, int32_t b)
{
    r->mate[a] = b;
    r->mate[b] = a;
}

void round_begin(struct round *r, const struct view *v)
{
    for (int32_t i = 0; i < v->n_finished; i++)
        if (v->jobs->status[v->finished[i]] == JOB_DONE)
            part(r, v->finished[i]);
}

int64_t round_width_milli(const struct plan *plan, int32_t job)
{
    const struct job_table *t = plan->jobs;
    int64_t sum = 0;
    for (int32_t k = t->task_begin[job] + plan->n_ended[job]; k < t->task_begin[job + 1]; k++)
        sum += (int64_t)t->n_inst[k] * t->gpu_milli[k];
    return sum;
}

static bool runs(const struct view *v, int32_t job) { return v->jobs->status[job] == JOB_RUNNING; }

static bool as_wide(const struct plan *plan, const struct pick *p)
{
    int32_t task = plan->jobs->task_begin[p->job] + plan->n_ended[p->job];
    return p->n_inst == 0 || plan_width(plan, task) == p->n_inst;
}

/* May a running job keep its cards? Not beside somebody who keeps them as part of another pick. */
static bool may_keep(const struct round *r, const struct view *v, int32_t job, int32_t mate)
{
    int32_t beside = job < 0 ? -1 : r->mate[job];
    return job >= 0 && runs(v, job) && (beside < 0 || beside == mate || !r->keeps[beside]);
}

static void settle_who_keeps(struct round *r, const struct view *v, const struct plan *plan,
                             const struct pick *pick, int32_t n)
{
    for (int32_t i = 0; i < n; i++) {
        const struct pick *p = &pick[i];
        bool together = p->mate >= 0 && r->mate[p->mate] == p->job;
        r->keeps[p->job] = may_keep(r, v, p->job, p->mate) && as_wide(plan, p);
        if (p->mate >= 0 && (together || !r->keeps[p->job]))
            r->keeps[p->mate] = may_keep(r, v, p->mate, p->job);
    }
}

static void evict(struct round *r, struct plan *plan, int32_t job)
{
    part(r, job);
    plan_evict(plan, job, r->restart_us);
}

static bool keeper_in(const struct round *r, const struct pick *p)
{
    return r->keeps[p->job] || (p->mate >= 0 && r->keeps[p->mate]);
}

static bool start(struct plan *plan, const struct pick *p)
{
    return p->n_inst > 0 ? plan_start_width(plan, p->job, p->n_inst) : plan_start(plan, p->job);
}

/* A pick in the order in which places are looked for. */
struct turn {
    int64_t milli;
    int32_t rank;
};

static int widest_first(const void *a, const void *b)
{
    const struct turn *x = a, *y = b;
    if (x->milli != y->milli)
        return x->milli > y->milli ? -1 : 1;
    return x->rank < y->rank ? -1 : 1;
}

/* Makes room for a pick by evicting those that were to keep their cards as parts of lower ones, the
 * lowest first, until it fits. Nothing has changed where that does not help. */
static bool start_moving(struct round *r, struct plan *plan, const struct pick *pick, int32_t n,
                         int32_t rank)
{
    size_t mark = plan_mark(plan);
    int32_t low = n;
    bool fits = false;
    while (!fits && --low > rank) {
        if (!keeper_in(r, &pick[low]))
            continue;
        if (r->keeps[pick[low].job])
            plan_evict(plan, pick[low].job, r->restart_us);
        if (pick[low].mate >= 0 && r->keeps[pick[low].mate])
            plan_evict(plan, pick[low].mate, r->restart_us);
        fits = start(plan, &pick[rank]);
    }
    if (!fits)
        plan_undo(plan, mark);
    for (; fits && low < n; low++)
        for (int side = 0; side < 2; side++) {
            int32_t job = side == 0 ? pick[low].job : pick[low].mate;
            if (job < 0 || !r->keeps[job])
                continue;
            part(r, job);
            r->keeps[job] = false;
        }
    return fits;
}

/* Picks nobody of whom keeps a place, widest first. */
static void place_newcomers(struct round *r, struct plan *plan, const struct pick *pick,
                            struct turn *turn, int32_t n)
{
    int32_t n_turns = 0;
    for (int32_t i = 0; i < n; i++) {
        int64_t milli = pick[i].n_inst > 0 ? pick[i].n_inst * INT64_C(1000)
                                           : round_width_milli(plan, pick[i].job);
        if (!keeper_in(r, &pick[i]))
            turn[n_turns++] = (struct turn){milli, i};
    }
    qsort(turn, (size_t)n_turns, sizeof *turn, widest_first);
    r->stamp++;
    for (int32_t i = 0; i < n_turns && !plan->failed; i++) {
        const struct pick *p = &pick[turn[i].rank];
        int64_t *no_fit = &r->no_fit[r->shape[p->job]];
        if (p->n_inst == 0 && *no_fit == r->stamp)
            continue;
        if (!start(plan, p) && !start_moving(r, plan, pick, n, turn[i].rank) && p->n_inst == 0)
            *no_fit = r->stamp;
    }
}

/* Those that had to move start again where there is room; then mates take their seats. */
static void place_the_rest(struct round *r, const struct view *v, struct plan *plan,
                           const struct pick *pick, int32_t n)
{
    for (int32_t i = 0; i < n && !plan->failed; i++) {
        const struct pick *p = &pick[i];
        int32_t host = p->mate >= 0 && r->keeps[p->mate] ? p->mate : p->job;
        int32_t guest = host == p->job ? p->mate : p->job;
        if (!round_has_place(plan, host) && !start(plan, p))
            continue;
        if (guest >= 0 && !round_has_place(plan, guest) &&
            beside_start(plan, guest, host, v->scratch))
            join(r, host, guest);
    }
}

void round_apply(struct round *r, const struct view *v, struct plan *plan, const struct pick *pick,
                 int32_t n)
{
    int32_t share_max = plan->rules.share_max;
    struct turn *turn = arena_alloc(v->scratch, (size_t)n, sizeof *turn);
    if (turn == NULL) {
        plan->failed = true;
        return;
    }
    plan->rules.share_max = 1; /* only picks say who shares */
    settle_who_keeps(r, v, plan, pick, n);
    for (int32_t j = v->running_first; j >= 0; j = v->stay[j].next)
        if (!r->keeps[j])
            evict(r, plan, j);
    place_newcomers(r, plan, pick, turn, n);
    place_the_rest(r, v, plan, pick, n);
    plan->rules.share_max = share_max;
    for (int32_t i = 0; i < n; i++) {
        r->keeps[pick[i].job] = false;
        if (pick[i].mate >= 0)
            r->keeps[pick[i].mate] = false;
    }
}

void round_fill(struct round *r, struct plan *plan, const int32_t *job, int32_t n)
{
    int32_t share_max = plan->rules.share_max;
    plan->rules.share_max = 1;
    r->stamp++;
    for (int32_t i = 0; i < n && !plan->failed; i++) {
        int64_t *no_fit = &r->no_fit[r->shape[job[i]]];
        if (*no_fit != r->stamp && !round_has_place(plan, job[i]) && !plan_start(plan, job[i]))
            *no_fit = r->stamp;
    }
    plan->rules.share_max = share_max;
}
