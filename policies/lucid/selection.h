/* selection.h - who of a virtual cluster's jobs runs, running ones included, in an order of the
 * policy's. What the artifact's SRTF and Tiresias have in common.
 *
 * artifact: in order, each job that fits what is left of the cluster's GPUs by number is chosen,
 * smaller ones behind a larger one too. Running jobs not chosen are preempted, chosen ones that
 * wait are placed where they fit: the number says nothing about where GPUs lie, so a job may be
 * preempted for one that then finds no place.
 *
 * repaired: in order, each waiting job starts where it fits, else where it fits after preempting
 * running jobs behind it, last ones first and none that it could do without; otherwise nobody is
 * preempted for it.
 *
 * A preempted job runs longer by ckpt_s, or ckpt_wide_s above 8 GPUs; that time counts as service.
 */
#ifndef COLOSIM_LUCID_SELECTION_H
#define COLOSIM_LUCID_SELECTION_H

#include "policies/lucid/vc.h"

struct selection_config {
    bool artifact;
    bool running_first; /* where keys tie: running jobs before waiting ones, or behind them */
    double ckpt_s, ckpt_wide_s;
};

struct job_list {
    int32_t first, last, n;
};

struct selection {
    struct vcs vcs;
    struct selection_config config;
    struct job_list *waiting, *running; /* (vcs.n) in order of arrival or preemption; of start */
    int32_t *next, *prev;               /* (n_jobs) in the list it is in */
    int32_t *shape;                     /* (n_jobs) */
    int64_t *no_fit, stamp;             /* (n_shapes) the last walk in which it found no place */
};

/* One job in the order; key, then place in the two lists one behind the other. */
struct turn {
    int64_t key;
    int32_t place, job;
    bool runs;
};
typedef int64_t (*selection_key_fn)(const void *context, const struct view *v, int32_t job);

/* False when memory is out. */
bool selection_init(struct selection *s, const struct selection_config *config,
                    const struct view *v, struct arena *arena);
/* To be called first in every pass. */
void selection_begin(struct selection *s, const struct view *v);
/* The jobs of a cluster in order, in the pass's scratch memory; NULL when memory is out. O(n log n)
 * with n jobs waiting or running there. */
struct turn *selection_order(const struct selection *s, const struct view *v, int32_t vc,
                             selection_key_fn key, const void *context, int32_t *n);
/* Starts and preempts. Sets plan->failed when memory is out. artifact: O(n nodes); repaired: in
 * addition O(running) for each shape that finds no place, and for each job that another has to
 * leave for. */
void selection_apply(struct selection *s, const struct view *v, struct plan *plan, int32_t vc,
                     struct turn *turn, int32_t n);

#endif
