/* profiler.h - Lucid's first stage: jobs of up to a node's width run aside for a while, the
 * smallest first, so that what they use of a GPU is known; those that end within that time have
 * ended.
 *
 * The profiler has nodes of its own and may borrow one more while its queue is long. It holds no
 * virtual cluster; lucid.c sees to where its nodes come from. */
#ifndef COLOSIM_LUCID_PROFILER_H
#define COLOSIM_LUCID_PROFILER_H

#include "core/cluster/waitq.h"
#include "policies/lucid/forecast.h"

struct profiler {
    int32_t *node, n_nodes; /* in the order in which ties go; a borrowed one is last */
    int32_t borrowed;       /* node, -1 for none */
    int32_t gpus_most;      /* of one of its own nodes */
    int64_t limit_us;       /* time a job gets */
    int32_t n_left;         /* jobs of the trace that it takes and has not done with */
    struct waitq queue;     /* by GPUs, then job number */
    int64_t wake_us;        /* TIME_NEVER */
    bool due;
};

/* node (n_nodes) its own nodes. False when memory is out. */
bool profiler_init(struct profiler *p, const struct view *v, const int32_t *node, int32_t n_nodes,
                   int64_t limit_us, struct arena *arena);
/* One task of whole cards that fit one of its nodes. */
bool profiler_takes(const struct profiler *p, const struct job_table *t, int32_t job);
static inline bool profiler_ends(const struct profiler *p, const struct job_table *t, int32_t job)
{
    return job_duration_us(t, job) <= p->limit_us;
}
void profiler_push(struct profiler *p, const struct job_table *t, int32_t job);
/* Starts jobs in turn until one finds no place: least free cards of a node that are enough, ties to
 * the first node, lowest cards. */
void profiler_walk(struct profiler *p, const struct view *v, struct plan *plan);

/* Should it borrow a node (+1), give the borrowed one back (-1), or neither, now? More than ten
 * wait, asked every 10 s; or nobody sits on it (nobody waits then) and no more than 40 GPUs are
 * expected in each of the next stretches, asked every 100 s [Lucid's artifact]. */
int profiler_wish(const struct profiler *p, const struct view *v, const struct forecast *f);
void profiler_borrow(struct profiler *p, int32_t node);
int32_t profiler_give_back(struct profiler *p);
/* When its wish has to be asked again although nothing happens. */
int64_t profiler_next_wish(const struct profiler *p, int64_t now_us);

#endif
