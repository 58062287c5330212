/* line.h - one line of waiting jobs in each virtual cluster: the first that finds no place holds up
 * all behind it. What the artifact's FIFO, SJF and QSSF have in common. */
#ifndef COLOSIM_LUCID_LINE_H
#define COLOSIM_LUCID_LINE_H

#include "core/cluster/waitq.h"
#include "policies/lucid/vc.h"

struct line {
    struct vcs vcs;
    struct waitq *queue; /* (vcs.n) by key, then job number */
};

/* False when memory is out. */
bool line_init(struct line *l, const struct view *v, struct arena *arena);
/* A job that its pool can hold joins. */
void line_push(struct line *l, const struct job_table *t, int32_t job, int64_t key);
/* Starts jobs of one pool in turn until one finds no place. O(started x (nodes + log n)). */
void line_walk(struct line *l, struct plan *plan, int32_t vc);

/* A whole pass of a policy whose keys do not change while a job waits. */
typedef int64_t (*line_key_fn)(const struct job_table *t, int32_t job);
void line_decide(struct line *l, const struct view *v, struct plan *plan, line_key_fn key);

#endif
