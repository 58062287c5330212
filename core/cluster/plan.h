/* plan.h - what a policy decided in one pass, as an undo log on the cluster itself.
 *
 * A policy tries placements, keeps or rolls them back, and the engine applies what is left. Each
 * entry has already changed the cluster (seats taken or given back), never a clock or a rate.
 * A pass that ran out of memory ends with plan->failed set and is reported by the engine. */
#ifndef COLOSIM_PLAN_H
#define COLOSIM_PLAN_H

#include "core/cluster/cluster.h"
#include "core/cluster/place.h"

enum plan_kind {
    PLAN_START,
    PLAN_EVICT,
    PLAN_RESIZE,
    PLAN_SPEED,
    PLAN_PROFILE,
    PLAN_POOL,
    PLAN_CONFIG,
    PLAN_PAUSE,
    PLAN_RELEASE
};

struct plan_entry {
    enum plan_kind kind;
    int32_t job;  /* PLAN_POOL: the node */
    int32_t task; /* the first task that had not ended; PLAN_POOL: the pool before */
    union {
        int64_t restart_us; /* PLAN_EVICT: what starting again will cost */
        double speed;       /* PLAN_SPEED: the one before */
        int32_t config;     /* PLAN_CONFIG: the one before */
        int64_t pause_us;   /* PLAN_PAUSE */
        struct {
            int64_t stay_us; /* PLAN_PROFILE */
            bool ends_job;
        } profile;
    };
};

/* A run of seats; first -1 is none. */
struct seats {
    int32_t first, n;
};

/* What configurations reserve, (configurations) each; the last two of a node for each of its cards.
 */
struct config_needs {
    const int32_t *mem_mib, *nic_mbps, *storage_mbps;
};

struct plan {
    struct cluster *cluster;
    const struct job_table *jobs;
    struct place_rules rules;
    struct seats *at;     /* (n_tasks) where tasks sit now */
    struct seats *parked; /* (n_tasks) where a task that leaves in this pass sat */
    struct seats *side;   /* (n_jobs) where a job is being profiled */
    int32_t *n_ended;     /* (n_jobs) tasks that have ended: a restart leaves them out */
    double *speed;        /* (n_jobs) set by policies that bring their own; 1 at first */
    int32_t *config;      /* (n_jobs) of the catalog (core/elastico/rst.h); -1 for jobs outside it;
                             NULL without a catalog */
    const int32_t *submitted; /* (n_jobs) the configurations they have at first */
    struct config_needs needs;
    struct plan_entry *entry;
    size_t n, capacity;
    int64_t wake_us; /* earliest wake-up asked for; TIME_NEVER for none */
    bool failed;     /* memory ran out */
};

enum status plan_init(struct plan *p, struct cluster *c, const struct job_table *jobs,
                      struct place_rules rules, struct error *err) MUST_USE;
void plan_free(struct plan *p);
/* Jobs have configurations from here on, at first those they were submitted in; the columns must
 * outlive the plan. For the engine, before any job is placed. */
enum status plan_configure(struct plan *p, const int32_t *submitted,
                           const struct config_needs *needs, struct error *err) MUST_USE;

/* Places all tasks of a waiting job that have not ended, or none: false is a normal "no". Nodes of
 * rules.pool only, where that is set. */
bool plan_start(struct plan *p, int32_t job);
/* The same with n_inst instances instead of those asked for: an elastic job of one task. */
bool plan_start_width(struct plan *p, int32_t job, int32_t n_inst);
/* Starts a job on given seats: n cards, or ~node where no card is meant, instance by instance, of
 * all tasks that have not ended (of a job of one task also fewer instances than it asked for). The
 * caller has made sure that it fits or may share. */
bool plan_start_at(struct plan *p, int32_t job, const int32_t *where, int32_t n);
/* Sends a running job back to the queue: the policy's own queue, it is not announced again. At most
 * once a job and pass, and not together with a resize. restart_us is what starting again costs. */
void plan_evict(struct plan *p, int32_t job, int64_t restart_us);
/* Gives a running job of one task n_inst instances: the first ones stay where they are. False when
 * there is no place for more; nothing has changed then. */
bool plan_resize(struct plan *p, int32_t job, int32_t n_inst);
/* The same on given seats, those it keeps among them: n cards, one of each instance. False only
 * when memory is out. */
bool plan_resize_at(struct plan *p, int32_t job, const int32_t *where, int32_t n);
/* From now on a running job advances at this speed (reference seconds per second), for policies
 * that bring their own pair speeds (policy.sets_speed). */
void plan_speed(struct plan *p, int32_t job, double speed);
/* Lets a job of one task run aside on these cards for stay_us, nothing of it kept, while it goes on
 * waiting (a copy of it, should it run or have ended); or, with ends_job, a waiting one for good:
 * it ends there. Announced in view->profiled. */
bool plan_profile(struct plan *p, int32_t job, const int32_t *where, int32_t n, int64_t stay_us,
                  bool ends_job);
/* Puts a waiting or running job of the catalog in another configuration of its workload, a running
 * one on the cards it has. False when these lack the memory, or its nodes the bandwidth: nothing
 * has changed then. What the change costs is up to the policy (plan_pause). Not after a
 * plan_release of the same job. */
bool plan_config(struct plan *p, int32_t job, int32_t config);
/* Have the cards and nodes of a job as much memory and bandwidth as all on them ask for? */
bool plan_fits(const struct plan *p, int32_t job);
/* A running job, or one started in this pass, makes no progress for so long: an engine restarts, a
 * checkpoint is written and read. It keeps its cards, and its neighbours feel it as before. */
void plan_pause(struct plan *p, int32_t job, int64_t pause_us);
/* Moves a node nobody sits on to another pool. */
void plan_pool(struct plan *p, int32_t node, int32_t pool);
/* Asks for a pass at that time even if nothing happens until then. */
void plan_wake(struct plan *p, int64_t time_us);

/* What-if: a running job's seats are free from here on. Must be undone before the pass ends. */
void plan_release(struct plan *p, int32_t job);

/* Instances a running task has now. */
int32_t plan_width(const struct plan *p, int32_t task);

static inline size_t plan_mark(const struct plan *p) { return p->n; }
/* Takes back everything after the mark, newest first. */
void plan_undo(struct plan *p, size_t mark);

/* The engine's side: an ended task, or a profiled job, gives its seats back. */
void plan_end_task(struct plan *p, int32_t task);
void plan_end_profile(struct plan *p, int32_t job);
/* The engine's side: forgets the log once it is applied and drops parked seats. */
void plan_clear(struct plan *p);

#endif
