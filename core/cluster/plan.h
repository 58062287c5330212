/* plan.h - what a policy decided in one pass, as an undo log on the cluster itself.
 *
 * A policy tries placements, keeps or rolls them back, and the engine applies what is left. Each
 * entry has already changed the cluster (seats taken or given back), never a clock or a rate.
 * A pass that ran out of memory ends with plan->failed set and is reported by the engine. */
#ifndef COLOSIM_PLAN_H
#define COLOSIM_PLAN_H

#include "core/cluster/cluster.h"
#include "core/cluster/place.h"

enum plan_kind { PLAN_START, PLAN_EVICT, PLAN_RELEASE };

struct plan_entry {
    enum plan_kind kind;
    int32_t job;
    int32_t task; /* PLAN_RELEASE: the first task released; else unused */
};

struct plan {
    struct cluster *cluster;
    const struct job_table *jobs;
    struct place_rules rules;
    int32_t *seat;    /* (n_tasks) first seat, -1 for none */
    int32_t *n_seats; /* (n_tasks) */
    int32_t *n_ended; /* (n_jobs) tasks that have ended: a restart leaves them out */
    int32_t *parked;  /* (n_tasks) seats of an evicted task, kept until the plan is applied */
    struct plan_entry *entry;
    size_t n, capacity;
    int64_t wake_us; /* earliest wake-up asked for; TIME_NEVER for none */
    bool failed;     /* memory ran out */
};

enum status plan_init(struct plan *p, struct cluster *c, const struct job_table *jobs,
                      struct place_rules rules, struct error *err) MUST_USE;
void plan_free(struct plan *p);

/* Places all tasks of a waiting job that have not ended, or none: false is a normal "no". */
bool plan_start(struct plan *p, int32_t job);
/* The same on given nodes (n_inst of them for the job's only task); SHARE_NODE_SUM clusters.
 * The caller has made sure that it fits. */
bool plan_start_on(struct plan *p, int32_t job, const int32_t *node);
/* Sends a running job back to the queue: the policy's own queue, it is not announced again. At most
 * once a job and pass. */
void plan_evict(struct plan *p, int32_t job);
/* Asks for a pass at that time even if nothing happens until then. */
void plan_wake(struct plan *p, int64_t time_us);

/* What-if: a running job's seats are free from here on. Must be undone before the pass ends. */
void plan_release(struct plan *p, int32_t job);

static inline size_t plan_mark(const struct plan *p) { return p->n; }
/* Takes back everything after the mark, newest first. */
void plan_undo(struct plan *p, size_t mark);

/* The engine's side: an ended task gives its seats back. */
void plan_end_task(struct plan *p, int32_t task);
/* The engine's side: forgets the log once it is applied and drops parked seats. */
void plan_clear(struct plan *p);

#endif
