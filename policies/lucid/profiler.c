#include "policies/lucid/profiler.h"

#include "policies/lucid/vc.h"

#include <math.h>
#include <string.h>

/* [Lucid's artifact] */
enum { LONG_QUEUE = 10, FEW_GPUS = 40, CARDS_MAX = 1024 };
static const int64_t BORROW_EVERY_US = 10 * US_PER_S, RETURN_EVERY_US = 100 * US_PER_S;

bool profiler_init(struct profiler *p, const struct view *v, const int32_t *node, int32_t n_nodes,
                   int64_t limit_us, struct arena *arena)
{
    *p = (struct profiler){.borrowed = -1, .limit_us = limit_us, .wake_us = TIME_NEVER};
    p->node = arena_alloc(arena, (size_t)n_nodes + 1, sizeof *p->node);
    if (p->node == NULL || !waitq_init(&p->queue, v->jobs, false, arena))
        return false;
    memcpy(p->node, node, (size_t)n_nodes * sizeof *node);
    p->n_nodes = n_nodes;
    for (int32_t i = 0; i < n_nodes; i++) {
        int32_t gpus = v->cluster->node_card[node[i] + 1] - v->cluster->node_card[node[i]];
        p->gpus_most = gpus > p->gpus_most ? gpus : p->gpus_most;
    }
    p->gpus_most = p->gpus_most < CARDS_MAX ? p->gpus_most : CARDS_MAX;
    for (int32_t j = 0; j < v->jobs->n_jobs; j++)
        p->n_left += profiler_takes(p, v->jobs, j);
    return true;
}

bool profiler_takes(const struct profiler *p, const struct job_table *t, int32_t job)
{
    int32_t task = t->task_begin[job];
    return t->task_begin[job + 1] - task == 1 && t->n_inst[task] == 1 && t->gpu_milli[task] > 0 &&
           t->gpu_milli[task] % 1000 == 0 && t->gpu_milli[task] / 1000 <= p->gpus_most;
}

void profiler_push(struct profiler *p, const struct job_table *t, int32_t job)
{
    waitq_push(&p->queue, job, job_gpu_milli(t, job));
    p->due = true;
}

static int32_t find_node(const struct profiler *p, const struct cluster *c, int32_t gpus)
{
    int32_t best = -1;
    for (int32_t i = 0; i < p->n_nodes; i++) {
        int32_t n = c->cards_free[p->node[i]];
        if (n >= gpus && (best < 0 || n < c->cards_free[best]))
            best = p->node[i];
    }
    return best;
}

static bool start(struct profiler *p, const struct view *v, struct plan *plan, int32_t job)
{
    const struct cluster *c = v->cluster;
    int32_t where[CARDS_MAX], n = 0, gpus = (int32_t)(job_gpu_milli(v->jobs, job) / 1000);
    int32_t node = find_node(p, c, gpus);
    if (node < 0)
        return false;
    for (int32_t card = c->node_card[node]; n < gpus; card++)
        if (c->card_n_jobs[card] == 0)
            where[n++] = card;
    bool ends = profiler_ends(p, v->jobs, job);
    return plan_profile(plan, job, where, n, ends ? job_duration_us(v->jobs, job) : p->limit_us,
                        ends);
}

void profiler_walk(struct profiler *p, const struct view *v, struct plan *plan)
{
    for (int32_t job; (job = waitq_head(&p->queue)) >= 0 && start(p, v, plan, job);)
        waitq_take(&p->queue);
}

int profiler_wish(const struct profiler *p, const struct view *v, const struct forecast *f)
{
    const struct cluster *c = v->cluster;
    int32_t node = p->borrowed;
    if (node < 0)
        return p->queue.n > LONG_QUEUE && v->now_us % BORROW_EVERY_US == 0 ? 1 : 0;
    bool idle = c->cards_free[node] == c->node_card[node + 1] - c->node_card[node];
    if (!idle || v->now_us % RETURN_EVERY_US != 0)
        return 0;
    double gpus = forecast_mean(f, f->gpus, forecast_row(f, v->now_us));
    return isnan(gpus) || gpus <= FEW_GPUS ? -1 : 0;
}

void profiler_borrow(struct profiler *p, int32_t node)
{
    p->node[p->n_nodes++] = p->borrowed = node;
    p->due = true;
}

int32_t profiler_give_back(struct profiler *p)
{
    int32_t node = p->borrowed;
    p->n_nodes--;
    p->borrowed = -1;
    p->due = true;
    return node;
}

int64_t profiler_next_wish(const struct profiler *p, int64_t now_us)
{
    if (p->borrowed >= 0)
        return next_multiple(now_us + 1, RETURN_EVERY_US);
    return p->queue.n > LONG_QUEUE ? next_multiple(now_us + 1, BORROW_EVERY_US) : TIME_NEVER;
}
