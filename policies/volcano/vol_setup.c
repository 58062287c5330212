#include "policies/volcano/vol_setup.h"

#include "policies/volcano/vol_asks.h"
#include "policies/volcano/vol_queues.h"

#include <assert.h>
#include <stdlib.h>

/* While the state is made. */
struct making {
    const struct volcano_config *c;
    const struct view *v;
    const struct job_table *t;
    const struct cluster *cluster;
    struct vol_asks asks;
    struct vol_rows *rows;
    struct arena *arena;
    int32_t *queue_of; /* (n_jobs) */
    const char **queue_names;
    int32_t *ask_of; /* (n_tasks) */
    struct vol_sizes size;
};

/* Numbers the different asks; false when memory is out. */
static bool number_asks(struct making *m)
{
    struct names asks = {0};
    bool made = true;
    for (int32_t k = 0; k < m->t->n_tasks && made; k++) {
        struct vol_ask ask = vol_ask_of(&m->asks, k);
        m->ask_of[k] = names_add(&asks, (const char *)&ask, sizeof ask);
        made = m->ask_of[k] >= 0;
    }
    m->size.n_asks = asks.n;
    names_free(&asks);
    return made;
}

static bool elastic(const struct making *m, int32_t job)
{
    return (enum volcano_min)m->c->min_available == VOLCANO_MIN_GPU_MIN &&
           job_is_elastic(m->t, job) && m->t->gpu_min[job] < job_n_inst(m->t, job);
}

static bool uniform(const struct making *m, int32_t job)
{
    for (int32_t k = m->t->task_begin[job] + 1; k < m->t->task_begin[job + 1]; k++)
        if (m->ask_of[k] != m->ask_of[k - 1])
            return false;
    return true;
}

/* Numbers the shapes: jobs that share all of this and their tasks; -1 when memory is out. */
static int32_t number_shapes(struct making *m, int32_t *shape_of)
{
    const struct job_table *t = m->t;
    struct arena_mark mark = arena_mark(m->arena);
    struct names shapes = {0};
    int32_t most = 0;
    for (int32_t j = 0; j < t->n_jobs; j++)
        most = t->task_begin[j + 1] - t->task_begin[j] > most
                   ? t->task_begin[j + 1] - t->task_begin[j]
                   : most;
    int32_t *key = arena_alloc(m->arena, 3 + 2 * (size_t)most, sizeof *key);
    bool made = key != NULL;
    for (int32_t j = 0; j < t->n_jobs && made; j++) {
        size_t n = 0;
        key[n++] = m->queue_of[j];
        key[n++] = t->priority[j];
        key[n++] = elastic(m, j) || !uniform(m, j) ? j : -1; /* these are one of a kind */
        for (int32_t k = t->task_begin[j]; k < t->task_begin[j + 1]; k++) {
            key[n++] = m->ask_of[k];
            key[n++] = t->n_inst[k];
        }
        shape_of[j] = names_add(&shapes, (const char *)key, n * sizeof *key);
        made = shape_of[j] >= 0;
    }
    int32_t n_shapes = made ? shapes.n : -1;
    names_free(&shapes);
    arena_reset(m->arena, mark);
    return n_shapes;
}

/* Pods of all jobs that could have as many. */
static enum status count_pods(struct making *m, struct error *err)
{
    int64_t slots = (int64_t)m->cluster->n_nodes * m->c->pods_per_node, n = 0, n_seats = 0;
    for (int32_t j = 0; j < m->t->n_jobs; j++) {
        int64_t n_pods = job_n_inst(m->t, j);
        m->rows->hopeless[j] = n_pods > slots;
        for (int32_t k = m->t->task_begin[j]; k < m->t->task_begin[j + 1] && n_pods <= slots; k++) {
            n += m->t->n_inst[k];
            n_seats += (int64_t)m->t->n_inst[k] *
                       cluster_seats_of_instance(m->cluster, m->t->gpu_milli[k]);
        }
    }
    if (n > INT32_MAX / 2 || n_seats > INT32_MAX / 2)
        return fail(err, ST_INPUT,
                    "volcano: %lld instances on %lld cards are too many to tell apart",
                    (long long)n, (long long)n_seats);
    m->size.n_tasks = (int32_t)n;
    return ST_OK;
}

/* The task of the job with most GPU per instance after the one given in that order; -1 at the end.
 */
static int32_t next_largest(const struct job_table *t, int32_t job, int32_t after)
{
    int32_t next = -1;
    for (int32_t k = t->task_begin[job]; k < t->task_begin[job + 1]; k++) {
        bool later = after < 0 || t->gpu_milli[k] < t->gpu_milli[after] ||
                     (t->gpu_milli[k] == t->gpu_milli[after] && k > after);
        if (later && (next < 0 || t->gpu_milli[k] > t->gpu_milli[next]))
            next = k;
    }
    return next;
}

/* The rows of every job's pods, and where their seats will be. */
static bool lay_out(struct making *m, struct vol_state *s)
{
    int32_t pod = 0, n_seats = 0;
    for (int32_t j = 0; j < m->t->n_jobs; j++) {
        s->task_begin[j] = pod;
        for (int32_t k = -1; !m->rows->hopeless[j] && (k = next_largest(m->t, j, k)) >= 0;) {
            m->rows->pod_begin[k] = pod;
            for (int32_t i = 0; i < m->t->n_inst[k]; i++, pod++) {
                s->task_ask[pod] = m->ask_of[k];
                m->rows->seat_begin[pod] = n_seats;
                n_seats += cluster_seats_of_instance(m->cluster, m->t->gpu_milli[k]);
            }
        }
    }
    s->task_begin[m->t->n_jobs] = pod;
    m->rows->seat_begin[pod] = n_seats;
    m->rows->where = arena_alloc(m->arena, (size_t)n_seats, sizeof *m->rows->where);
    for (int32_t i = 0; m->rows->where != NULL && i < n_seats; i++)
        m->rows->where[i] = VOL_NO_SEAT;
    return m->rows->where != NULL;
}

static void fill_shape(const struct making *m, struct vol_state *s, int32_t job)
{
    struct vol_shape *shape = &s->shape[s->job_shape[job]];
    int32_t n_pods = s->task_begin[job + 1] - s->task_begin[job];
    *shape = (struct vol_shape){
        .queue = m->queue_of[job],
        .priority = m->t->priority[job],
        .min_available = elastic(m, job) ? m->t->gpu_min[job] : n_pods,
        .uniform = uniform(m, job),
    };
    for (int32_t i = 0; i < shape->min_available && i < n_pods; i++)
        amounts_add(&shape->min_resources, &s->ask[s->task_ask[s->task_begin[job] + i]].amounts, 1);
    shape->min_resources.of[AMOUNT_PODS] = 0;
    shape->has_min = !amounts_empty(&shape->min_resources);
}

static int by_submission(const void *a, const void *b, void *table)
{
    const struct job_table *t = table;
    int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
    if (t->submit_us[x] != t->submit_us[y])
        return t->submit_us[x] < t->submit_us[y] ? -1 : 1;
    return x < y ? -1 : 1;
}

static bool rank_jobs(const struct making *m, struct vol_state *s)
{
    size_t n = (size_t)m->t->n_jobs;
    int32_t *order = arena_alloc(m->arena, n, sizeof *order);
    if (order == NULL)
        return false;
    for (int32_t j = 0; j < m->t->n_jobs; j++)
        order[j] = j;
    qsort_r(order, n, sizeof *order, by_submission, (void *)(uintptr_t)m->t);
    for (int32_t j = 0; j < m->t->n_jobs; j++)
        s->job_rank[order[j]] = j;
    return true;
}

static void fill_nodes(const struct making *m, struct vol_state *s)
{
    for (int32_t i = 0; i < m->cluster->n_nodes; i++) {
        struct amounts size = vol_size_of(&m->asks, i);
        vol_nodes_size(&s->nodes, i, &size, m->asks.label_of[i]);
    }
    for (int32_t card = 0; m->asks.shares && card < m->cluster->n_cards; card++) {
        int32_t mem = m->cluster->card_gpu_mem_mib[card];
        s->nodes.card[card] = (struct vgpu_card){.mem = mem == INT32_MAX ? INT32_MAX / 2 : mem,
                                                 .max_shares = (int32_t)m->c->vgpu_max_shares};
    }
}

static void make_config(const struct making *m, struct vol_config *out)
{
    const struct volcano_config *c = m->c;
    enum volcano_gate gate = (enum volcano_gate)c->gate;
    unsigned gates = (gate != VOLCANO_GATE_NONE ? 1U << VOL_PROPORTION : 0) |
                     (gate == VOLCANO_GATE_BOTH ? 1U << VOL_OVERCOMMIT : 0);
    vol_profile((enum vol_profile)c->profile, gates, out);
    out->weights.how = (enum vol_balanced)c->k8s_balanced;
    if (out->weights.pack[AMOUNT_GPU] > 0)
        out->weights.pack[AMOUNT_GPU] = c->gpu_weight;
    out->overcommit_factor = c->overcommit_factor;
    out->card_order = (enum vgpu_order)c->vgpu_order;
    out->card_weight = c->vgpu_weight;
    out->spread_members = c->vgpu_spread_members;
    out->rng = (enum volcano_tie)c->tie == VOLCANO_TIE_RANDOM ? m->v->rng : NULL;
    assert(out->rng != NULL || (enum volcano_tie)c->tie == VOLCANO_TIE_LOWEST);
}

static bool columns_new(struct making *m)
{
    size_t n_jobs = (size_t)m->t->n_jobs, n_tasks = (size_t)m->t->n_tasks;
    m->queue_of = arena_alloc(m->arena, n_jobs, sizeof *m->queue_of);
    m->ask_of = arena_alloc(m->arena, n_tasks, sizeof *m->ask_of);
    m->rows->hopeless = arena_alloc(m->arena, n_jobs, sizeof *m->rows->hopeless);
    m->rows->pod_begin = arena_alloc(m->arena, n_tasks, sizeof *m->rows->pod_begin);
    return m->queue_of != NULL && m->ask_of != NULL && m->rows->hopeless != NULL &&
           m->rows->pod_begin != NULL;
}

static enum status fill(struct making *m, struct vol_state *s, const int32_t *shape_of,
                        struct error *err)
{
    size_t n_pods = (size_t)m->size.n_tasks;
    m->rows->seat_begin = arena_alloc(m->arena, n_pods + 1, sizeof *m->rows->seat_begin);
    if (m->rows->seat_begin == NULL || !lay_out(m, s) || !rank_jobs(m, s))
        return fail_memory(err);
    for (int32_t k = 0; k < m->t->n_tasks; k++)
        s->ask[m->ask_of[k]] = vol_ask_of(&m->asks, k);
    for (int32_t j = 0; j < m->t->n_jobs; j++) {
        s->job_shape[j] = shape_of[j];
        fill_shape(m, s, j);
    }
    fill_nodes(m, s);
    TRY(vol_queues_fill(m->c, m->cluster, &s->nodes.total, m->queue_names, m->size.n_queues,
                        s->queue, err));
    return vol_state_begin(s, m->arena) ? ST_OK : fail_memory(err);
}

enum status vol_setup(const struct volcano_config *c, const struct view *v,
                      const struct place_rules *rules, struct vol_config *config,
                      struct vol_state *s, struct vol_rows *rows, struct arena *arena,
                      struct error *err)
{
    struct making m = {.c = c,
                       .v = v,
                       .t = v->jobs,
                       .cluster = v->cluster,
                       .rows = rows,
                       .arena = arena,
                       .size = {.n_nodes = v->cluster->n_nodes, .n_jobs = v->jobs->n_jobs}};
    int32_t *shape_of = arena_alloc(arena, (size_t)v->jobs->n_jobs, sizeof *shape_of);
    if (shape_of == NULL || !columns_new(&m))
        return fail_memory(err);
    TRY(vol_asks_init(&m.asks, c, m.t, m.cluster, rules, arena, err));
    TRY(count_pods(&m, err));
    m.size.n_queues = vol_queues_of(c, m.t, m.queue_of, arena, &m.queue_names);
    if (m.size.n_queues < 0 || !number_asks(&m) ||
        (m.size.n_shapes = number_shapes(&m, shape_of)) < 0)
        return fail_memory(err);
    m.size.card_begin = m.asks.shares ? m.cluster->node_card : NULL;
    make_config(&m, config);
    if (!vol_state_init(s, config, &m.size, c->preempt || c->reclaim, arena))
        return fail_memory(err);
    return fill(&m, s, shape_of, err);
}
