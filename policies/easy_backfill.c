/* easy-backfill - EASY: first come, first served, with a reservation for the head of the queue.
 * Later jobs may start now if the head can still start at its reserved time on what is then free.
 * The reserved time is found by trying: running jobs are released one by one in order of their
 * expected ends until the head fits, so nodes, types, gangs and shares all count. */
#include "core/cluster/policy.h"
#include "core/cluster/waitq.h"

#include <stdlib.h>

struct easy {
    const int32_t *shape;
    int32_t first, last, n;        /* waiting jobs in order of arrival */
    int32_t *next, *prev;          /* (n_jobs) */
    int64_t *no_fit, *no_fit_long; /* (n_shapes) the pass in which a job of this shape did not fit
                                      now, or not beside the reservation */
    int64_t pass;
};

struct ending {
    int64_t end_us;
    int32_t job;
};

static enum status easy_init(void *state, const void *config, const struct view *v,
                             const struct place_rules *rules, struct arena *arena,
                             struct error *err)
{
    (void)config;
    struct easy *e = state;
    size_t n = (size_t)v->jobs->n_jobs;
    int32_t *shape = arena_alloc(arena, n, sizeof *shape);
    e->next = arena_alloc(arena, n, sizeof *e->next);
    e->prev = arena_alloc(arena, n, sizeof *e->prev);
    int32_t n_shapes = shape == NULL ? -1 : shapes_of(v->jobs, rules->share_max > 1, shape);
    if (n_shapes < 0)
        return fail_memory(err);
    e->no_fit = arena_alloc(arena, (size_t)n_shapes, sizeof *e->no_fit);
    e->no_fit_long = arena_alloc(arena, (size_t)n_shapes, sizeof *e->no_fit_long);
    if (e->next == NULL || e->prev == NULL || e->no_fit == NULL || e->no_fit_long == NULL)
        return fail_memory(err);
    e->shape = shape;
    e->first = e->last = -1;
    return ST_OK;
}

static void append(struct easy *e, int32_t job)
{
    e->next[job] = -1;
    e->prev[job] = e->last;
    *(e->last >= 0 ? &e->next[e->last] : &e->first) = job;
    e->last = job;
    e->n++;
}

static void leave(struct easy *e, int32_t job)
{
    *(e->prev[job] >= 0 ? &e->next[e->prev[job]] : &e->first) = e->next[job];
    *(e->next[job] >= 0 ? &e->prev[e->next[job]] : &e->last) = e->prev[job];
    e->n--;
}

static int by_end(const void *a, const void *b)
{
    const struct ending *x = a, *y = b;
    if (x->end_us != y->end_us)
        return x->end_us < y->end_us ? -1 : 1;
    return x->job < y->job ? -1 : 1;
}

static int64_t expected_end_us(const struct view *v, int32_t job)
{
    return v->now_us + (int64_t)view_left_us(v, job);
}

/* Running jobs and those this pass has started, in order of expected end, with room for all that
 * wait. NULL when memory is out. */
static struct ending *endings_of(const struct easy *e, const struct view *v,
                                 const struct plan *plan, int32_t *n)
{
    int32_t count = (int32_t)plan->n + e->n;
    for (int32_t j = v->running_first; j >= 0; j = v->stay[j].next)
        count++;
    struct ending *ending = arena_alloc(v->scratch, (size_t)count, sizeof *ending);
    *n = 0;
    if (ending == NULL)
        return NULL;
    for (int32_t j = v->running_first; j >= 0; j = v->stay[j].next)
        ending[(*n)++] = (struct ending){expected_end_us(v, j), j};
    for (size_t i = 0; i < plan->n; i++)
        ending[(*n)++] =
            (struct ending){expected_end_us(v, plan->entry[i].job), plan->entry[i].job};
    qsort(ending, (size_t)*n, sizeof *ending, by_end);
    return ending;
}

/* When the head can start at the latest; TIME_NEVER when releasing all would not do. */
static int64_t reserve_us(struct plan *plan, int32_t head, const struct ending *ending, int32_t n)
{
    size_t mark = plan_mark(plan);
    int64_t at_us = TIME_NEVER;
    for (int32_t i = 0; i < n && at_us == TIME_NEVER; i++) {
        plan_release(plan, ending[i].job);
        if ((i + 1 == n || ending[i + 1].end_us != ending[i].end_us) && plan_start(plan, head))
            at_us = ending[i].end_us;
    }
    plan_undo(plan, mark);
    return at_us;
}

/* Would the head still fit at its reserved time, with the plan as it is now? */
static bool head_keeps(struct plan *plan, int32_t head, int64_t reserved_us,
                       const struct ending *ending, int32_t n)
{
    size_t mark = plan_mark(plan);
    for (int32_t i = 0; i < n; i++)
        if (ending[i].end_us <= reserved_us)
            plan_release(plan, ending[i].job);
    bool fits = plan_start(plan, head);
    plan_undo(plan, mark);
    return fits;
}

static void backfill(struct easy *e, const struct view *v, struct plan *plan)
{
    int32_t n, head = e->first;
    struct ending *ending = endings_of(e, v, plan, &n);
    if (ending == NULL) {
        plan->failed = true;
        return;
    }
    int64_t reserved_us = reserve_us(plan, head, ending, n);
    for (int32_t job = e->next[head], next; job >= 0; job = next) {
        next = e->next[job];
        int64_t end_us = expected_end_us(v, job);
        bool outlasts = end_us > reserved_us;
        int32_t shape = e->shape[job];
        if (e->no_fit[shape] == e->pass || (outlasts && e->no_fit_long[shape] == e->pass))
            continue;
        size_t mark = plan_mark(plan);
        if (!plan_start(plan, job)) {
            e->no_fit[shape] = e->pass;
            continue;
        }
        if (outlasts && !head_keeps(plan, head, reserved_us, ending, n)) {
            plan_undo(plan, mark);
            e->no_fit_long[shape] = e->pass;
            continue;
        }
        ending[n++] = (struct ending){end_us, job};
        leave(e, job);
    }
}

static enum status easy_decide(void *state, const struct view *v, struct plan *plan,
                               struct error *err)
{
    (void)err;
    struct easy *e = state;
    for (int32_t i = 0; i < v->n_arrived; i++)
        append(e, v->arrived[i]);
    e->pass++;
    while (e->first >= 0 && plan_start(plan, e->first))
        leave(e, e->first);
    if (e->n > 1 && v->cluster->gpu_idle_milli + v->cluster->cpu_idle_milli > 0)
        backfill(e, v, plan);
    return ST_OK;
}

const struct policy policy_easy_backfill = {
    .abi = POLICY_ABI,
    .name = "easy-backfill",
    .summary = "first come, first served with a reservation for the head; later jobs fill the gaps",
    .source = "EASY (Lifka 1995; Mu'alem and Feitelson 2001); estimates are the true durations",
    .state_size = sizeof(struct easy),
    .resumes = true,
    .init = easy_init,
    .decide = easy_decide,
};
