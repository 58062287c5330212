/* waitq.h - the waiting jobs, by what they ask for.
 *
 * Jobs whose placement depends on the same numbers have one shape. While nothing is given back,
 * what is free only shrinks: once a job of a shape did not fit, no other of that shape does. So a
 * walk over the whole queue looks at one head per shape, and a shape that failed is left alone
 * until something is released. Walking a queue of n jobs of k shapes costs O(k + started log n)
 * instead of O(n), with the same result.
 *
 * Order is (key, job number), smallest first. */
#ifndef COLOSIM_WAITQ_H
#define COLOSIM_WAITQ_H

#include "core/base/arena.h"
#include "core/cluster/plan.h"

#include <stdbool.h>
#include <stdint.h>

/* (n_jobs) shape numbers from 0, in order of first sight, written to shape; returns how many, -1
 * when memory is out. workload_counts: jobs of different workloads are different shapes. */
int32_t shapes_of(const struct job_table *t, bool workload_counts, int32_t *shape);

struct waitq {
    int32_t n, n_shapes;
    const int32_t *shape;     /* (n_jobs) */
    int64_t *key;             /* (n_jobs) */
    int32_t *child, *sibling; /* (n_jobs) pairing heap of each shape */
    int32_t *root;            /* (n_shapes) -1 empty */
    bool *blocked;            /* (n_shapes) did not fit since the last release */
    int32_t *open;            /* (n_open) binary heap of shapes by their head's (key, job) */
    int32_t *open_at;         /* (n_shapes) place in open, -1 */
    int32_t n_open;
};

/* shape must outlive the queue. False when memory is out. */
bool waitq_init(struct waitq *q, const struct job_table *t, bool workload_counts,
                struct arena *arena);
/* n queues over the same jobs, each job in the one that queue (n_jobs) says: they share the columns
 * of jobs, so many cost no more than one. False when memory is out. */
bool waitq_init_many(struct waitq *q, int32_t n, const struct job_table *t, const int32_t *queue,
                     bool workload_counts, struct arena *arena);
void waitq_push(struct waitq *q, int32_t job, int64_t key);
/* Something was released: every shape may fit again. O(shapes). */
void waitq_reopen(struct waitq *q);
/* Is job a before job b in the order? Both must have been pushed. */
static inline bool waitq_before(const struct waitq *q, int32_t a, int32_t b)
{
    return q->key[a] != q->key[b] ? q->key[a] < q->key[b] : a < b;
}
/* The first job of the order among shapes not blocked, -1 for none. */
int32_t waitq_head(const struct waitq *q);
/* The head started: it leaves. O(log n). */
void waitq_take(struct waitq *q);
/* The head did not fit: its shape is out of the walk until waitq_reopen. */
void waitq_block(struct waitq *q);

/* For a policy that picks among the heads of all shapes itself (root, waitq_before): every shape is
 * blocked from the start, and stays so. */
void waitq_block_all(struct waitq *q);
/* The head of such a shape started: it leaves. O(log n). */
void waitq_take_of(struct waitq *q, int32_t shape);
/* The whole walk: starts every job that fits, in order, and leaves the others. released says that
 * something was given back since the last walk. */
void waitq_walk(struct waitq *q, struct plan *plan, bool released);

#endif
