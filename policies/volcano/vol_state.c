#include "policies/volcano/vol_state.h"

#include <stddef.h>

enum { TREES_MAX = 256 };

static bool jobs_new(struct vol_state *s, struct arena *arena)
{
    size_t n = (size_t)s->size.n_jobs;
#define COLUMN(name) ((s->name = arena_alloc(arena, n, sizeof *s->name)) != NULL)
    return (s->task_begin = arena_alloc(arena, n + 1, sizeof *s->task_begin)) != NULL &&
           COLUMN(job_shape) && COLUMN(job_rank) && COLUMN(phase) && COLUMN(in_line) &&
           COLUMN(n_pods) && COLUMN(n_ready) && COLUMN(n_held) && COLUMN(n_pipelined) &&
           COLUMN(n_waiting) && COLUMN(n_empty) && COLUMN(held) && COLUMN(cursor) &&
           COLUMN(cursor_of) && COLUMN(admitted) && COLUMN(bound) && COLUMN(is_bound);
}

static bool tasks_new(struct vol_state *s, struct arena *arena)
{
    size_t n = (size_t)s->size.n_tasks;
    return COLUMN(task_ask) && COLUMN(status) && COLUMN(task_job) && COLUMN(task_node) &&
           COLUMN(next_on_node) && COLUMN(prev_on_node) && COLUMN(undo) && COLUMN(evicted);
}

static bool tables_new(struct vol_state *s, struct arena *arena)
{
    size_t n = (size_t)s->size.n_shapes;
    bool made = COLUMN(shape) && COLUMN(shape_queue) && COLUMN(stuck) && COLUMN(heap);
    n = (size_t)s->size.n_queues;
    made = made && COLUMN(queue) && COLUMN(n_heap) && COLUMN(queue_done);
    n = (size_t)s->size.n_asks;
    made = made && COLUMN(ask);
    n = (size_t)s->size.n_nodes;
    return made && COLUMN(on_node);
#undef COLUMN
}

static bool evicting_new(struct vol_evicting *e, const struct vol_sizes *size, struct arena *arena)
{
#define COLUMN(name, n) ((e->name = arena_alloc(arena, (size_t)(n), sizeof *e->name)) != NULL)
    bool made = COLUMN(job, size->n_jobs) && COLUMN(starves, size->n_jobs) &&
                COLUMN(task, size->n_tasks) && COLUMN(victim, size->n_tasks) &&
                COLUMN(own, size->n_tasks) && COLUMN(score, size->n_nodes) &&
                COLUMN(node, size->n_nodes) && COLUMN(failed, size->n_shapes);
#undef COLUMN
    for (int32_t i = 0; made && i < size->n_shapes; i++)
        e->failed[i] = -1;
    return made;
}

/* Plug-ins that are off have no say about nodes. */
static struct vol_liking liking_of(const struct vol_config *c)
{
    struct vol_liking how = {.weights = c->weights,
                             .predicates = vol_on(c, VOL_PREDICATES) & VOL_ON_PREDICATE,
                             .card_order = c->card_order,
                             .card_weight = c->card_weight};
    if (!(vol_on(c, VOL_NODEORDER) & VOL_ON_NODE_ORDER))
        how.weights.least = how.weights.most = how.weights.balanced = 0;
    if (!(vol_on(c, VOL_BINPACK) & VOL_ON_NODE_ORDER))
        how.weights.binpack = 0;
    return how;
}

bool vol_state_init(struct vol_state *s, const struct vol_config *config,
                    const struct vol_sizes *size, bool evicts, struct arena *arena)
{
    *s = (struct vol_state){.config = config, .size = *size, .liking = liking_of(config)};
    if (!vol_nodes_init(&s->nodes, size->n_nodes, size->card_begin, arena) || !jobs_new(s, arena) ||
        !tasks_new(s, arena) || !tables_new(s, arena) ||
        (evicts && !evicting_new(&s->evicting, size, arena)))
        return false;
    for (int p = 0; p < N_VOL_PLUGINS; p++)
        s->on[p] = vol_on(config, (enum vol_plugin)p);
    for (int32_t i = 0; i < size->n_nodes; i++)
        s->on_node[i] = -1;
    for (int32_t i = 0; i < size->n_shapes; i++)
        s->stuck[i] = -1;
    return true;
}

/* Where the cards of every task are remembered. */
static bool cards_new(struct vol_state *s, struct arena *arena)
{
    int32_t n = 0;
    s->card_begin = arena_alloc(arena, (size_t)s->size.n_tasks + 1, sizeof *s->card_begin);
    for (int32_t k = 0; s->card_begin != NULL && k < s->size.n_tasks; k++) {
        s->card_begin[k] = n;
        n += s->ask[s->task_ask[k]].cards.n;
    }
    s->task_card = arena_alloc(arena, (size_t)n, sizeof *s->task_card);
    s->barred = arena_alloc(arena, (size_t)s->size.card_begin[s->size.n_nodes], sizeof *s->barred);
    return s->card_begin != NULL && s->task_card != NULL && s->barred != NULL;
}

static bool roles_new(struct vol_state *s, struct arena *arena)
{
    size_t n = (size_t)s->roles->n;
    s->role_members = arena_alloc(arena, n, sizeof *s->role_members);
    s->role_failed = arena_alloc(arena, n, sizeof *s->role_failed);
    return s->role_members != NULL && s->role_failed != NULL;
}

bool vol_state_begin(struct vol_state *s, struct arena *arena)
{
    for (int32_t i = 0; i < s->size.n_asks; i++)
        s->ask[i].empty = amounts_empty(&s->ask[i].amounts) && s->ask[i].cards.n == 0;
    for (int32_t i = 0; i < s->size.n_shapes; i++)
        s->shape_queue[i] = s->shape[i].queue;
    for (int32_t j = 0; j < s->size.n_jobs; j++)
        for (int32_t k = s->task_begin[j]; k < s->task_begin[j + 1]; k++)
            s->task_job[k] = j;
    return vol_lines_init(&s->lines, s->size.n_jobs, s->job_shape, s->job_rank, s->size.n_shapes,
                          s->shape_queue, s->size.n_queues, arena) &&
           vol_ranking_init(&s->ranking, &s->nodes, s->size.n_asks, TREES_MAX, s->config->rng,
                            arena) &&
           (s->size.card_begin == NULL || cards_new(s, arena)) &&
           (s->roles == NULL || roles_new(s, arena));
}
