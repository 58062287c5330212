/* vol_lines.h - groups of tasks in line, by shape.
 *
 * Jobs of one shape (vol_session.h) are alike but for their rank, so that in an action what is said
 * of the first holds for the others. A line keeps the shapes that have jobs, by queue, and the jobs
 * of a shape in order of rank; an action walks over the heads of the shapes of a queue. */
#ifndef COLOSIM_VOL_LINES_H
#define COLOSIM_VOL_LINES_H

#include "core/base/arena.h"

#include <stdint.h>

/* What a job waits for. */
enum vol_line { VOL_LINE_ADMISSION, VOL_LINE_NODES, N_VOL_LINES };

struct vol_lines {
    const int32_t *shape;     /* (n_jobs) */
    const int32_t *rank;      /* (n_jobs) earlier first; no two are equal */
    int32_t *child, *sibling; /* (n_jobs) pairing heap of each shape; a job is in one line */
    const int32_t *queue;     /* (n_shapes) */
    int32_t *begin;           /* (n_queues + 1) room of each queue in shapes */
    struct {
        int32_t *head;   /* (n_shapes) first job, -1 none */
        int32_t *shapes; /* by queue: the shapes that have jobs, in no order */
        int32_t *at;     /* (n_shapes) place in shapes, -1 */
        int32_t *n;      /* (n_queues) */
    } line[N_VOL_LINES];
};

/* shape, rank and queue must outlive it. False when memory is out. */
bool vol_lines_init(struct vol_lines *l, int32_t n_jobs, const int32_t *shape, const int32_t *rank,
                    int32_t n_shapes, const int32_t *queue, int32_t n_queues, struct arena *arena);
/* Amortised O(log jobs of the shape). */
void vol_lines_push(struct vol_lines *l, enum vol_line line, int32_t job);
/* The first job of the shape leaves; returns it. */
int32_t vol_lines_pop(struct vol_lines *l, enum vol_line line, int32_t shape);

static inline int32_t vol_lines_head(const struct vol_lines *l, enum vol_line line, int32_t shape)
{
    return l->line[line].head[shape];
}

#endif
