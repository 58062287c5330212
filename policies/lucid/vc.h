/* vc.h - virtual clusters: a job waits for, and runs in, the pool of nodes named as its queue.
 *
 * A job of a queue without a pool, or of none, may use any node. Nothing couples two pools, so a
 * pass looks only at those in which something happened (due) or which asked for the time (wake_us).
 *
 * Placement is "consolidate" of Lucid's artifact, whatever the run's place says: up to a node's
 * width, the fullest node that can hold it; above, whole nodes and the rest on the emptiest node
 * left; ties go to the first in the pool's list of nodes, and on a node to the lowest free cards.
 * No migration, no sharing of cards. Jobs that its traces do not know, of many small instances or
 * several tasks, go by the mode "consolidate" of place.h. */
#ifndef COLOSIM_LUCID_VC_H
#define COLOSIM_LUCID_VC_H

#include "core/cluster/policy.h"

/* Lucid's artifact as it is, or with what is a mistake in it put right. */
enum semantics { REPAIRED, ARTIFACT };
extern const char *const semantics_names[]; /* "repaired", "artifact"; NULL-terminated */

struct vc {
    int32_t *node, n_nodes; /* in the order in which ties go */
    int32_t away;           /* a node of it that is lent, -1 */
    bool whole;             /* all nodes by number: the list says nothing */
    int64_t wake_us;        /* the pass it asked for; TIME_NEVER */
    bool due;               /* something happened in it */
};

struct vcs {
    int32_t n;
    struct vc *vc; /* (n) the pools by their ids; last, all nodes for jobs without a pool */
    int32_t *of;   /* (n_jobs) */
    uint8_t *mode; /* (n_jobs) enum place_mode */
    bool overlap;  /* jobs of pools and jobs without one compete */
    const struct cluster *cluster;
};

/* False when memory is out. */
bool vcs_init(struct vcs *s, const struct view *v, struct arena *arena);
/* The pool of that name, -1 for none. */
int32_t vcs_find(const struct vcs *s, const char *name, size_t length);
/* Takes a node out of the pool's list, or puts it at its end (room for one more than it had). */
void vc_remove_node(struct vc *vc, int32_t node);
void vc_add_node(struct vc *vc, int32_t node);

/* The job's pool is due. */
void vcs_happened(struct vcs *s, int32_t job);
/* To be called first in every pass: finishes and arrivals make their pools due, and so does time.
 */
void vcs_begin(struct vcs *s, const struct view *v);
/* A further pass of this pool. */
void vc_wake(struct vc *vc, int64_t time_us);
/* To be called last: asks for the earliest pass. */
void vcs_end(const struct vcs *s, struct plan *plan);

/* Could the pool hold the job if it were empty? A job that is wider never starts, and must not hold
 * up others: such jobs are left out of every queue and end as unfinished. */
bool vcs_hold(const struct vcs *s, const struct job_table *t, int32_t job);
bool vcs_start(const struct vcs *s, struct plan *plan, int32_t job);

/* A simulator that ticks by the second knows no other times: ST_INPUT for a submission between. */
enum status vcs_want_seconds(const struct job_table *t, const char *policy,
                             struct error *err) MUST_USE;

/* The next multiple of a period at or after a time. */
int64_t next_multiple(int64_t time_us, int64_t period_us);

#endif
