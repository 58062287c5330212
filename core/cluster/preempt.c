#include "core/cluster/preempt.h"

#include <stdlib.h>

struct victim {
    int64_t key;
    int32_t job;
    bool gone;
};

/* Least urgent first. */
static int by_key_down(const void *a, const void *b)
{
    const struct victim *x = a, *y = b;
    if (x->key != y->key)
        return x->key > y->key ? -1 : 1;
    return x->job > y->job ? -1 : 1;
}

static struct victim *victims_of(const struct view *v, preempt_key_fn key, const void *context,
                                 int32_t *n)
{
    int32_t count = 0;
    for (int32_t j = v->running_first; j >= 0; j = v->stay[j].next)
        count++;
    struct victim *victim = arena_alloc(v->scratch, (size_t)count, sizeof *victim);
    *n = 0;
    for (int32_t j = v->running_first; victim != NULL && j >= 0; j = v->stay[j].next)
        victim[(*n)++] = (struct victim){key(context, v, j), j, false};
    if (victim != NULL)
        qsort(victim, (size_t)count, sizeof *victim, by_key_down);
    return victim;
}

/* Evicts one after another until the job fits; leaves everything as it was when it never does. */
static bool start_evicting(const struct view *v, struct plan *plan, int32_t job, int64_t limit,
                           struct victim *victim, int32_t n)
{
    size_t mark = plan_mark(plan);
    for (int32_t i = 0; i < n && victim[i].key > limit; i++) {
        if (victim[i].gone)
            continue;
        plan_evict(plan, victim[i].job, v->restart_us);
        if (plan_start(plan, job))
            return true;
    }
    plan_undo(plan, mark);
    return false;
}

void preempt_walk(struct waitq *q, const struct view *v, struct plan *plan, preempt_key_fn key,
                  const void *context, int64_t margin)
{
    struct victim *victim = NULL;
    int32_t n = -1;
    waitq_reopen(q);
    for (int32_t job; (job = waitq_head(q)) >= 0 && !plan->failed;) {
        if (plan_start(plan, job)) {
            waitq_take(q);
            continue;
        }
        if (n < 0)
            victim = victims_of(v, key, context, &n);
        size_t mark = plan_mark(plan);
        int64_t limit = key(context, v, job) + margin;
        if (victim == NULL || !start_evicting(v, plan, job, limit, victim, n)) {
            plan->failed = plan->failed || victim == NULL;
            waitq_block(q);
            continue;
        }
        waitq_take(q);
        for (size_t i = mark; i < plan->n; i++) {
            if (plan->entry[i].kind != PLAN_EVICT)
                continue;
            for (int32_t k = 0; k < n; k++)
                victim[k].gone = victim[k].gone || victim[k].job == plan->entry[i].job;
            waitq_push(q, plan->entry[i].job, key(context, v, plan->entry[i].job));
        }
    }
}
