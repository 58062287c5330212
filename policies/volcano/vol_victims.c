#include "policies/volcano/vol_victims.h"

#include "policies/volcano/vol_order.h"

static int32_t queue_of(const struct vol_state *s, int32_t job)
{
    return s->shape[s->job_shape[job]].queue;
}

static const struct amounts *asked(const struct vol_state *s, int32_t task)
{
    return &s->ask[s->task_ask[task]].amounts;
}

/* Should task a go rather than task b? */
static bool worse(const struct vol_state *s, int32_t a, int32_t b)
{
    int32_t x = s->task_job[a], y = s->task_job[b];
    if (x != y && queue_of(s, x) != queue_of(s, y))
        return vol_queue_before(s, queue_of(s, y), queue_of(s, x));
    int c = x == y ? 0 : vol_job_compare(s, x, y);
    return c != 0 ? c > 0 : vol_task_before(s, b, a);
}

static bool could_go(const struct vol_state *s, int32_t task, int32_t preemptor,
                     enum vol_expense expense)
{
    int32_t job = s->task_job[task], own = s->task_job[preemptor];
    bool same_queue = queue_of(s, job) == queue_of(s, own);
    if (s->status[task] != VOL_BOUND || (s->task_kept != NULL && s->task_kept[task]))
        return false;
    switch (expense) {
    case VOL_OF_OTHER_QUEUES: return !same_queue && s->queue[queue_of(s, job)].reclaimable;
    case VOL_OF_OTHER_JOBS:
    case VOL_OF_ITSELF: break;
    }
    if (s->ask[s->task_ask[preemptor]].empty && !s->ask[s->task_ask[task]].empty)
        return false;
    return expense == VOL_OF_ITSELF ? job == own : job != own && same_queue;
}

int32_t vol_candidates(struct vol_state *s, int32_t node, int32_t preemptor,
                       enum vol_expense expense)
{
    int32_t *task = s->evicting.task, n = 0;
    for (int32_t k = s->on_node[node]; k >= 0; k = s->next_on_node[k]) {
        if (!could_go(s, k, preemptor, expense))
            continue;
        int32_t at = n++;
        for (; at > 0 && worse(s, k, task[at - 1]); at--)
            task[at] = task[at - 1];
        task[at] = k;
    }
    return n;
}

/* Of a job so many ready tasks as it needs stay. */
static bool gang_lets_go(const struct vol_state *s, int32_t i)
{
    const struct vol_evicting *e = &s->evicting;
    int32_t job = s->task_job[e->task[i]], ready = s->n_ready[job];
    for (int32_t k = 0; k < i; k++)
        ready -= e->own[k] && s->task_job[e->task[k]] == job;
    return ready > s->shape[s->job_shape[job]].min_available;
}

/* A job of lower priority, or a task of lower priority in the same job. */
static bool priority_lets_go(const struct vol_state *s, int32_t i, int32_t preemptor)
{
    int32_t task = s->evicting.task[i];
    if (s->task_job[task] == s->task_job[preemptor])
        return s->task_priority != NULL && s->task_priority[task] < s->task_priority[preemptor];
    return s->shape[s->job_shape[s->task_job[task]]].priority <
           s->shape[s->job_shape[s->task_job[preemptor]]].priority;
}

/* The job that loses all candidates up to this one still has no less than the other with its gain.
 */
static bool drf_lets_go(const struct vol_state *s, int32_t i, int32_t preemptor)
{
    const struct vol_evicting *e = &s->evicting;
    int32_t job = s->task_job[e->task[i]];
    struct amounts gains = vol_job_allocated(s, s->task_job[preemptor]);
    struct amounts keeps = vol_job_allocated(s, job);
    amounts_add(&gains, asked(s, preemptor), 1);
    for (int32_t k = 0; k <= i; k++)
        if (s->task_job[e->task[k]] == job)
            amounts_add(&keeps, asked(s, e->task[k]), -1);
    double gain = amounts_share(&gains, &s->nodes.total);
    return gain <= amounts_share(&keeps, &s->nodes.total) + 1e-6;
}

/* The queue has more than it is due, what goes before this one taken out. */
static bool proportion_lets_go(const struct vol_state *s, int32_t i)
{
    const struct vol_evicting *e = &s->evicting;
    int32_t queue = queue_of(s, s->task_job[e->task[i]]);
    struct amounts has = s->queue[queue].allocated;
    for (int32_t k = 0; k < i; k++)
        if (e->own[k] && queue_of(s, s->task_job[e->task[k]]) == queue)
            amounts_add(&has, asked(s, e->task[k]), -1);
    return !amounts_within(&has, &s->queue[queue].deserved);
}

static bool has_answer(enum vol_plugin plugin, enum vol_callback callback)
{
    return plugin == VOL_GANG || plugin == VOL_CONFORMANCE ||
           (callback == VOL_ON_PREEMPTABLE ? plugin == VOL_PRIORITY || plugin == VOL_DRF
                                           : plugin == VOL_PROPORTION);
}

/* No task here is critical to the system, which is all that conformance protects. */
static bool lets_go(const struct vol_state *s, enum vol_plugin plugin, int32_t i, int32_t preemptor)
{
    return plugin == VOL_GANG         ? gang_lets_go(s, i)
           : plugin == VOL_PRIORITY   ? priority_lets_go(s, i, preemptor)
           : plugin == VOL_DRF        ? drf_lets_go(s, i, preemptor)
           : plugin == VOL_PROPORTION ? proportion_lets_go(s, i)
                                      : true;
}

/* One plug-in's answer joins that of its tier; returns how many victims there are then. */
static int32_t join(struct vol_state *s, enum vol_plugin plugin, int32_t n, int32_t preemptor,
                    int32_t n_victims)
{
    struct vol_evicting *e = &s->evicting;
    int32_t n_own = 0, n_both = 0;
    for (int32_t i = 0; i < n; i++)
        n_own += e->own[i] = lets_go(s, plugin, i, preemptor);
    for (int32_t i = 0; i < n; i++) {
        e->victim[i] = e->own[i] && (n_victims == 0 || e->victim[i]);
        n_both += e->victim[i];
    }
    return n_own == 0 ? -1 : n_both;
}

void vol_agree(struct vol_state *s, enum vol_callback callback, int32_t n, int32_t preemptor)
{
    const struct vol_config *c = s->config;
    int32_t n_victims = 0;
    for (int32_t i = 0; i < n; i++)
        s->evicting.victim[i] = false;
    for (int i = 0; i < c->n_uses; i++) {
        if (i > 0 && c->use[i].tier != c->use[i - 1].tier) {
            if (n_victims > 0)
                return;
            n_victims = 0;
        }
        if (n_victims >= 0 && (c->use[i].on & (int)callback) &&
            has_answer(c->use[i].plugin, callback))
            n_victims = join(s, c->use[i].plugin, n, preemptor, n_victims);
    }
}
