#include "core/cluster/waitq.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* Everything placement of one task depends on. */
struct task_ask {
    int32_t n_inst, gpu_milli, cpu_milli, mem_mib, gpu_mem_mib, gpu_type, workload, gpu_min,
        gpu_max;
};

static struct task_ask ask_of(const struct job_table *t, int32_t task, bool workload_counts)
{
    return (struct task_ask){t->n_inst[task],
                             t->gpu_milli[task],
                             t->cpu_milli[task],
                             t->mem_mib[task],
                             t->card_mem_mib[task],
                             t->gpu_type[task],
                             workload_counts ? t->workload[t->task_job[task]] : -1,
                             t->gpu_min[t->task_job[task]],
                             t->gpu_max[t->task_job[task]]};
}

int32_t shapes_of(const struct job_table *t, bool workload_counts, int32_t *shape)
{
    struct names shapes = {0}; /* the asks of a job's tasks, as bytes */
    struct task_ask *asks = NULL;
    size_t capacity = 0;
    int32_t n = -1;
    for (int32_t job = 0; job < t->n_jobs; job++) {
        int32_t first = t->task_begin[job], n_tasks = t->task_begin[job + 1] - first;
        if (!ARRAY_GROW(asks, capacity, n_tasks))
            goto out;
        for (int32_t k = 0; k < n_tasks; k++)
            asks[k] = ask_of(t, first + k, workload_counts);
        size_t size = (size_t)n_tasks * sizeof *asks;
        bool repeats = job > 0 && names_length(&shapes, shape[job - 1]) == size &&
                       memcmp(names_text(&shapes, shape[job - 1]), asks, size) == 0;
        shape[job] = repeats ? shape[job - 1] : names_add(&shapes, (const char *)asks, size);
        if (shape[job] < 0)
            goto out;
    }
    n = shapes.n;
out:
    names_free(&shapes);
    free(asks);
    return n;
}

/* The columns of jobs. */
static bool job_columns(struct waitq *q, const struct job_table *t, struct arena *arena)
{
    size_t n = (size_t)t->n_jobs;
    *q = (struct waitq){0};
    q->key = arena_alloc(arena, n, sizeof *q->key);
    q->child = arena_alloc(arena, n, sizeof *q->child);
    q->sibling = arena_alloc(arena, n, sizeof *q->sibling);
    return q->key != NULL && q->child != NULL && q->sibling != NULL;
}

/* The columns of shapes, for so many. */
static bool shape_columns(struct waitq *q, int32_t n_shapes, struct arena *arena)
{
    size_t k = (size_t)n_shapes;
    q->n_shapes = n_shapes;
    q->root = arena_alloc(arena, k, sizeof *q->root);
    q->blocked = arena_alloc(arena, k, sizeof *q->blocked);
    q->open = arena_alloc(arena, k, sizeof *q->open);
    q->open_at = arena_alloc(arena, k, sizeof *q->open_at);
    if (q->root == NULL || q->blocked == NULL || q->open == NULL || q->open_at == NULL)
        return false;
    for (size_t s = 0; s < k; s++)
        q->root[s] = q->open_at[s] = -1;
    return true;
}

bool waitq_init(struct waitq *q, const struct job_table *t, bool workload_counts,
                struct arena *arena)
{
    int32_t *shape = arena_alloc(arena, (size_t)t->n_jobs, sizeof *shape);
    if (shape == NULL || !job_columns(q, t, arena))
        return false;
    q->shape = shape;
    int32_t n_shapes = shapes_of(t, workload_counts, shape);
    return n_shapes >= 0 && shape_columns(q, n_shapes, arena);
}

/* Numbers the shapes of each queue from 0 in shape (n_jobs), where those of all jobs stand; how
 * many there are in n_shapes (n). False when memory is out. */
static bool renumber(const struct job_table *t, const int32_t *queue, int32_t *shape,
                     int32_t *n_shapes)
{
    struct names seen = {0}; /* pairs of queue and shape, as bytes */
    int32_t *local = NULL;   /* (seen.n) number within the queue */
    size_t capacity = 0;
    bool ok = true;
    for (int32_t j = 0; j < t->n_jobs && ok; j++) {
        const int32_t pair[2] = {queue[j], shape[j]};
        int32_t n_before = seen.n, id = names_add(&seen, (const char *)pair, sizeof pair);
        ok = id >= 0 && ARRAY_GROW(local, capacity, seen.n);
        if (ok && id == n_before)
            local[id] = n_shapes[queue[j]]++;
        if (ok)
            shape[j] = local[id];
    }
    names_free(&seen);
    free(local);
    return ok;
}

bool waitq_init_many(struct waitq *q, int32_t n, const struct job_table *t, const int32_t *queue,
                     bool workload_counts, struct arena *arena)
{
    struct waitq all;
    int32_t *shape = arena_alloc(arena, (size_t)t->n_jobs, sizeof *shape);
    int32_t *n_shapes = arena_alloc(arena, (size_t)n, sizeof *n_shapes);
    if (shape == NULL || n_shapes == NULL || !job_columns(&all, t, arena) ||
        shapes_of(t, workload_counts, shape) < 0 || !renumber(t, queue, shape, n_shapes))
        return false;
    all.shape = shape;
    for (int32_t i = 0; i < n; i++) {
        q[i] = all;
        if (!shape_columns(&q[i], n_shapes[i], arena))
            return false;
    }
    return true;
}

/* The heap of open shapes, by their heads. */
static void open_put(struct waitq *q, int32_t at, int32_t shape)
{
    q->open[at] = shape;
    q->open_at[shape] = at;
}

static void open_up(struct waitq *q, int32_t at)
{
    int32_t shape = q->open[at];
    while (at > 0 && waitq_before(q, q->root[shape], q->root[q->open[(at - 1) / 2]])) {
        open_put(q, at, q->open[(at - 1) / 2]);
        at = (at - 1) / 2;
    }
    open_put(q, at, shape);
}

static void open_down(struct waitq *q, int32_t at)
{
    int32_t shape = q->open[at];
    for (int32_t kid; (kid = 2 * at + 1) < q->n_open; at = kid) {
        if (kid + 1 < q->n_open &&
            waitq_before(q, q->root[q->open[kid + 1]], q->root[q->open[kid]]))
            kid++;
        if (!waitq_before(q, q->root[q->open[kid]], q->root[shape]))
            break;
        open_put(q, at, q->open[kid]);
    }
    open_put(q, at, shape);
}

static void open_add(struct waitq *q, int32_t shape)
{
    open_put(q, q->n_open++, shape);
    open_up(q, q->n_open - 1);
}

/* Takes the first shape of the heap out of it. */
static void open_pop(struct waitq *q)
{
    q->open_at[q->open[0]] = -1;
    int32_t last = q->open[--q->n_open];
    if (q->n_open > 0) {
        open_put(q, 0, last);
        open_down(q, 0);
    }
}

/* Pairing heap: the later of two roots becomes the first child of the earlier. */
static int32_t meld(struct waitq *q, int32_t a, int32_t b)
{
    if (a < 0 || b < 0)
        return a < 0 ? b : a;
    if (waitq_before(q, b, a)) {
        int32_t swap = a;
        a = b;
        b = swap;
    }
    q->sibling[b] = q->child[a];
    q->child[a] = b;
    return a;
}

/* Two passes over the children of a root that leaves: pairs left to right, then back. */
static int32_t meld_children(struct waitq *q, int32_t first)
{
    int32_t done = -1;
    while (first >= 0) {
        int32_t second = q->sibling[first];
        int32_t rest = second >= 0 ? q->sibling[second] : -1;
        int32_t pair = meld(q, first, second);
        q->sibling[pair] = done;
        done = pair;
        first = rest;
    }
    int32_t root = -1;
    while (done >= 0) {
        int32_t next = q->sibling[done];
        root = meld(q, root, done);
        done = next;
    }
    return root;
}

void waitq_push(struct waitq *q, int32_t job, int64_t key)
{
    int32_t shape = q->shape[job];
    q->key[job] = key;
    q->child[job] = q->sibling[job] = -1;
    q->root[shape] = meld(q, q->root[shape], job);
    q->n++;
    if (q->blocked[shape])
        return;
    if (q->open_at[shape] < 0)
        open_add(q, shape);
    else if (q->root[shape] == job)
        open_up(q, q->open_at[shape]);
}

void waitq_reopen(struct waitq *q)
{
    for (int32_t s = 0; s < q->n_shapes; s++) {
        if (q->blocked[s] && q->root[s] >= 0)
            open_add(q, s);
        q->blocked[s] = false;
    }
}

int32_t waitq_head(const struct waitq *q) { return q->n_open > 0 ? q->root[q->open[0]] : -1; }

/* The root of the shape's pairing heap leaves. */
static void take_root(struct waitq *q, int32_t shape)
{
    q->root[shape] = meld_children(q, q->child[q->root[shape]]);
    q->n--;
}

void waitq_take(struct waitq *q)
{
    int32_t shape = q->open[0];
    take_root(q, shape);
    if (q->root[shape] < 0)
        open_pop(q);
    else
        open_down(q, 0);
}

void waitq_block(struct waitq *q)
{
    q->blocked[q->open[0]] = true;
    open_pop(q);
}

void waitq_walk(struct waitq *q, struct plan *plan, bool released)
{
    if (released)
        waitq_reopen(q);
    for (int32_t job; (job = waitq_head(q)) >= 0;) {
        if (plan_start(plan, job))
            waitq_take(q);
        else
            waitq_block(q);
    }
}

void waitq_block_all(struct waitq *q)
{
    assert(q->n == 0);
    memset(q->blocked, true, (size_t)q->n_shapes * sizeof *q->blocked);
}

void waitq_take_of(struct waitq *q, int32_t shape)
{
    assert(q->blocked[shape]);
    take_root(q, shape);
}
