#include "policies/lucid/selection.h"

#include "core/cluster/waitq.h"

#include <stdlib.h>
#include <string.h>

enum { WIDE_MILLI = 8000 };

static void append(struct selection *s, struct job_list *l, int32_t job)
{
    s->next[job] = -1;
    s->prev[job] = l->last;
    if (l->last >= 0)
        s->next[l->last] = job;
    else
        l->first = job;
    l->last = job;
    l->n++;
}

static void take_out(struct selection *s, struct job_list *l, int32_t job)
{
    int32_t next = s->next[job], prev = s->prev[job];
    if (next >= 0)
        s->prev[next] = prev;
    else
        l->last = prev;
    if (prev >= 0)
        s->next[prev] = next;
    else
        l->first = next;
    l->n--;
}

bool selection_init(struct selection *s, const struct selection_config *config,
                    const struct view *v, struct arena *arena)
{
    size_t n = (size_t)v->jobs->n_jobs;
    s->config = *config;
    if (!vcs_init(&s->vcs, v, arena))
        return false;
    s->waiting = arena_alloc(arena, (size_t)s->vcs.n, sizeof *s->waiting);
    s->running = arena_alloc(arena, (size_t)s->vcs.n, sizeof *s->running);
    s->next = arena_alloc(arena, n, sizeof *s->next);
    s->prev = arena_alloc(arena, n, sizeof *s->prev);
    s->shape = arena_alloc(arena, n, sizeof *s->shape);
    if (s->waiting == NULL || s->running == NULL || s->next == NULL || s->prev == NULL ||
        s->shape == NULL)
        return false;
    for (int32_t i = 0; i < s->vcs.n; i++)
        s->waiting[i] = s->running[i] = (struct job_list){-1, -1, 0};
    int32_t n_shapes = shapes_of(v->jobs, false, s->shape);
    s->no_fit = n_shapes < 0 ? NULL : arena_alloc(arena, (size_t)n_shapes, sizeof *s->no_fit);
    return s->no_fit != NULL;
}

void selection_begin(struct selection *s, const struct view *v)
{
    vcs_begin(&s->vcs, v);
    for (int32_t i = 0; i < v->n_finished; i++) {
        int32_t job = v->finished[i];
        if (v->jobs->status[job] == JOB_DONE)
            take_out(s, &s->running[s->vcs.of[job]], job);
    }
    for (int32_t i = 0; i < v->n_arrived; i++) {
        int32_t job = v->arrived[i];
        if (vcs_hold(&s->vcs, v->jobs, job))
            append(s, &s->waiting[s->vcs.of[job]], job);
    }
}

static int in_turn(const void *a, const void *b)
{
    const struct turn *x = a, *y = b;
    if (x->key != y->key)
        return x->key < y->key ? -1 : 1;
    return x->place < y->place ? -1 : 1;
}

struct turn *selection_order(const struct selection *s, const struct view *v, int32_t vc,
                             selection_key_fn key, const void *context, int32_t *n)
{
    const struct job_list *lists[2] = {&s->waiting[vc], &s->running[vc]};
    struct turn *turn =
        arena_alloc(v->scratch, (size_t)lists[0]->n + (size_t)lists[1]->n, sizeof *turn);
    *n = 0;
    for (int half = 0; turn != NULL && half < 2; half++) {
        bool runs = (half == 0) == s->config.running_first;
        for (int32_t j = lists[runs]->first; j >= 0; j = s->next[j]) {
            turn[*n] = (struct turn){key(context, v, j), *n, j, runs};
            ++*n;
        }
    }
    if (turn != NULL)
        qsort(turn, (size_t)*n, sizeof *turn, in_turn);
    return turn;
}

static bool start(struct selection *s, struct plan *plan, int32_t vc, int32_t job)
{
    if (!vcs_start(&s->vcs, plan, job))
        return false;
    take_out(s, &s->waiting[vc], job);
    append(s, &s->running[vc], job);
    return true;
}

static void evict(const struct selection *s, struct plan *plan, int32_t job)
{
    bool wide = job_gpu_milli(plan->jobs, job) > WIDE_MILLI;
    plan_evict(plan, job, us_of_s(wide ? s->config.ckpt_wide_s : s->config.ckpt_s));
}

static void wait_again(struct selection *s, int32_t vc, int32_t job)
{
    take_out(s, &s->running[vc], job);
    append(s, &s->waiting[vc], job);
}

static int64_t milli_of(const struct vcs *s, int32_t vc)
{
    int64_t milli = 0;
    for (int32_t i = 0; i < s->vc[vc].n_nodes; i++)
        milli += s->cluster->node_gpu_milli[s->vc[vc].node[i]];
    return milli;
}

/* Two walks: those that lose their place leave before any of the winners is placed. */
static void apply_artifact(struct selection *s, struct plan *plan, int32_t vc,
                           const struct turn *turn, int32_t n)
{
    int64_t left_milli = milli_of(&s->vcs, vc);
    for (int pass = 0; pass < 2; pass++) {
        int64_t quota_milli = left_milli;
        for (int32_t i = 0; i < n; i++) {
            int64_t milli = job_gpu_milli(plan->jobs, turn[i].job);
            bool wins = milli <= quota_milli;
            quota_milli -= wins ? milli : 0;
            if (pass == 0 && turn[i].runs && !wins) {
                evict(s, plan, turn[i].job);
                wait_again(s, vc, turn[i].job);
            } else if (pass == 1 && !turn[i].runs && wins) {
                start(s, plan, vc, turn[i].job);
            }
        }
    }
}

/* Can the job have a place now that this one has left? Asked before a place is looked for. */
static bool may_fit(const struct plan *plan, int32_t job, int32_t left)
{
    const struct job_table *t = plan->jobs;
    const struct cluster *c = plan->cluster;
    int32_t first = t->task_begin[job];
    if (t->task_begin[job + 1] - first > 1 || t->n_inst[first] > 1)
        return c->gpu_idle_milli >= job_gpu_milli(t, job);
    for (int32_t k = t->task_begin[left]; k < t->task_begin[left + 1]; k++)
        for (int32_t i = 0; i < plan->parked[k].n; i++) {
            int32_t where = c->seats[plan->parked[k].first + i].where;
            if (c->gpu_free_milli[seat_node(c, where)] >= t->gpu_milli[first])
                return true;
        }
    return false;
}

/* Preempts victims in turn until the job starts; the first n_needed without asking. Returns how
 * many, or 0 when it never does: nobody has left then. */
static int32_t start_without(const struct selection *s, struct plan *plan, int32_t job,
                             const int32_t *victim, int32_t n, int32_t n_needed)
{
    size_t mark = plan_mark(plan);
    for (int32_t i = 0; i < n; i++) {
        evict(s, plan, victim[i]);
        if (i + 1 >= n_needed && may_fit(plan, job, victim[i]) && vcs_start(&s->vcs, plan, job))
            return i + 1;
    }
    plan_undo(plan, mark);
    return 0;
}

/* Starts the job in place of running jobs, the first ones of victim (n) if it can be, and of no
 * more than it needs: the last one that had to go is needed, and is tried first from then on, until
 * those needed are enough. Returns how many, now first in victim; 0 when it cannot start. */
static int32_t start_instead(const struct selection *s, struct plan *plan, int32_t job,
                             int32_t *victim, int32_t n)
{
    int32_t n_needed = 0;
    for (;;) {
        size_t mark = plan_mark(plan);
        n = start_without(s, plan, job, victim, n, n_needed);
        if (n == n_needed)
            return n;
        plan_undo(plan, mark);
        int32_t last = victim[n - 1];
        memmove(victim + n_needed + 1, victim + n_needed,
                (size_t)(n - 1 - n_needed) * sizeof *victim);
        victim[n_needed++] = last;
    }
}

/* Jobs behind place `at` of the order that run, the last first. */
static int32_t victims_behind(const struct turn *turn, int32_t n, int32_t at, int32_t *victim)
{
    int32_t n_victims = 0;
    for (int32_t i = n - 1; i > at; i--)
        if (turn[i].runs)
            victim[n_victims++] = turn[i].job;
    return n_victims;
}

static bool start_preempting(struct selection *s, struct plan *plan, int32_t vc, struct turn *turn,
                             int32_t n, int32_t at, int32_t *victim)
{
    int32_t job = turn[at].job, n_victims = victims_behind(turn, n, at, victim);
    n_victims = start_instead(s, plan, job, victim, n_victims);
    if (n_victims == 0)
        return false;
    take_out(s, &s->waiting[vc], job);
    append(s, &s->running[vc], job);
    for (int32_t i = 0; i < n_victims; i++)
        wait_again(s, vc, victim[i]);
    for (int32_t i = at + 1; i < n; i++)
        for (int32_t k = 0; k < n_victims; k++)
            turn[i].runs = turn[i].runs && turn[i].job != victim[k];
    return true;
}

static void apply_repaired(struct selection *s, const struct view *v, struct plan *plan, int32_t vc,
                           struct turn *turn, int32_t n)
{
    int32_t *victim = arena_alloc(v->scratch, (size_t)n, sizeof *victim);
    plan->failed = plan->failed || victim == NULL;
    s->stamp++;
    for (int32_t i = 0; i < n && !plan->failed; i++) {
        int32_t job = turn[i].job;
        if (turn[i].runs || s->no_fit[s->shape[job]] == s->stamp)
            continue;
        if (!start(s, plan, vc, job) && !start_preempting(s, plan, vc, turn, n, i, victim))
            s->no_fit[s->shape[job]] = s->stamp;
    }
}

void selection_apply(struct selection *s, const struct view *v, struct plan *plan, int32_t vc,
                     struct turn *turn, int32_t n)
{
    if (s->config.artifact)
        apply_artifact(s, plan, vc, turn, n);
    else
        apply_repaired(s, v, plan, vc, turn, n);
}
