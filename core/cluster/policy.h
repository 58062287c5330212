/* policy.h - what a policy is: one file, one const struct, one word in policies/registry.c.
 *
 * A policy keeps its own state (its queue, say). In each pass it is told what changed since the
 * last one and writes a plan. It sees no clock but view->now_us, no files and no log, and calls
 * no malloc: its state comes from the run's arena in init, scratch memory from view->scratch. */
#ifndef COLOSIM_POLICY_H
#define COLOSIM_POLICY_H

#include "core/base/arena.h"
#include "core/base/param.h"
#include "core/base/status.h"
#include "core/base/table.h"
#include "core/cluster/cluster.h"
#include "core/cluster/job.h"
#include "core/cluster/plan.h"

enum { POLICY_ABI = 1 };

/* A running job between two changes; one cache line, since every event touches one. */
struct stay {
    double speed;          /* reference microseconds per microsecond */
    int64_t since_us;      /* done_us counts up to here; may lie ahead while a restart is paid */
    int64_t held_since_us; /* attained_milli_us counts up to here */
    int64_t held_milli;    /* GPUs held now */
    int64_t start_us;      /* when this stay on these cards began */
    int64_t restart_us;    /* what starting again will cost a job that was evicted */
    int32_t next, prev;    /* running jobs in order of start, -1 ends */
    bool dirty;            /* the engine must look at its rate again */
};

/* Read-only. A job's progress between changes: view_done_us and view_attained_milli_us. */
struct view {
    int64_t now_us;
    const struct job_table *jobs;
    const struct cluster *cluster;
    const int32_t *arrived; /* (n_arrived) submitted since the last pass, in order */
    int32_t n_arrived;
    const int32_t *finished; /* (n_finished) gave GPUs back since the last pass, in order */
    int32_t n_finished;
    const int32_t *profiled; /* (n_profiled) their time aside ended since the last pass, in order */
    int32_t n_profiled;
    int32_t running_first;      /* running jobs in order of start, then stay[job].next; -1 ends */
    const struct stay *stay;    /* (n_jobs) of running jobs */
    const struct table *tables; /* the CSV files named by the settings in policy.tables, in that
                                   order; no rows where the setting is empty */
    int64_t restart_us;         /* what a preempted job pays when it starts again */
    struct arena *scratch;      /* reset after the pass */
};

/* Reference work done by now. */
double view_done_us(const struct view *v, int32_t job);
/* Reference work left, of the longest task. */
double view_left_us(const struct view *v, int32_t job);
/* GPU-time held so far, in milli-GPU microseconds. */
int64_t view_attained_milli_us(const struct view *v, int32_t job);

/* What a policy may change before the first event: only those that define a workload of their own
 * (the official PAI simulator samples and batches arrivals) have a prepare. */
struct preparation {
    struct job_table *jobs; /* closed; may be replaced by another closed table */
    const struct cluster *cluster;
    uint64_t seed;
};

struct policy {
    int abi; /* POLICY_ABI */
    const char *name, *summary;
    const char *source;         /* where its rules are from */
    const struct param *params; /* keys are prefixed with the policy's name; NULL for none */
    size_t config_size;
    size_t state_size;
    const char *const *tables; /* NULL-terminated: settings that name CSV files; NULL for none */
    bool profiles;             /* may run jobs aside with plan_profile */
    bool sets_speed; /* brings its own pair speeds with plan_speed; the run's truth is not asked */
    int64_t tick_us; /* 0: exact progress. Else progress is made in whole ticks by repeated
                        subtraction, a job ends at the tick after the one that left nothing, and a
                        restart is work added: a simulator that ticks, reproduced */
    bool node_sum;   /* needs a cluster with share = node-sum */
    enum status (*prepare)(const void *config, struct preparation *p, struct error *err);
    enum status (*init)(void *state, const void *config, const struct view *v,
                        const struct place_rules *rules, struct arena *arena, struct error *err);
    enum status (*decide)(void *state, const struct view *v, struct plan *plan, struct error *err);
    /* Metrics of its own, from the finished job table; name and value in turn. May be NULL. */
    int (*metrics)(const struct job_table *jobs, const char **name, double *value, int max);
};

#endif
