/* policy.h - what a policy is: one file, one const struct, one word in policies/registry.c.
 *
 * A policy keeps its own state (its queue, say). In each pass it is told what changed since the
 * last one and writes a plan. It sees no clock but view->now_us, no files and no log. Its state
 * comes from the run's arena in init, scratch memory from view->scratch; a cache that has to grow
 * is given back in fini. */
#ifndef COLOSIM_POLICY_H
#define COLOSIM_POLICY_H

#include "core/base/arena.h"
#include "core/base/param.h"
#include "core/base/status.h"
#include "core/base/table.h"
#include "core/cluster/cluster.h"
#include "core/cluster/job.h"
#include "core/cluster/plan.h"

enum { POLICY_TABLES_MAX = 8 };

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

struct arrivals;
enum { EPOCH_PRICES_MAX = 8 };
/* What a policy keeps from pass to pass that the cluster does not tell: handed from one process to
 * the next where each makes one decision. */
struct memory {
    int32_t n_prices; /* 0: none yet */
    double price[EPOCH_PRICES_MAX];
    double *tolerance;         /* (n_jobs) slowdown agreed to beside others; INFINITY: none was */
    bool *apart;               /* (n_jobs) was seen to suffer: shares no more */
    struct arrivals *arrivals; /* how many jobs of what size came; NULL: not known */
};

/* Read-only. A job's progress between changes: view_done_us and view_attained_milli_us. */
struct rst;
struct contention;
struct belief;
struct iac_side;
struct lore;
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
    gsl_rng *rng;               /* the run's "policy" stream, for policies that draw */
    const struct rst *rst; /* configurations and profiles (core/elastico/rst.h); NULL without */
    const struct contention *contention; /* the truth, for a belief that is an oracle
                                            (core/elastico/contention.h); NULL under another */
    struct belief *belief; /* what sharing is thought to cost (core/elastico/belief.h); NULL without
                              a catalog */
    const struct iac_side *side; /* (rows of profiles) what the belief is asked about */
    double (*clock)(void);       /* seconds, to tell what parts of a pass take; NULL: nobody asks */
    double scale_exp;            /* elastic.scale_exp: what an elastic job's width is worth */
    const struct memory *memory; /* jobs run that this policy did not start, and this is what
                                    whoever started them remembers; NULL in a run */
    struct arena *scratch;       /* reset after the pass */
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

/* What one pass of a policy with prices was like; parts of its time in seconds, 0 without a clock.
 */
struct epoch {
    int32_t rounds, iterations;
    int32_t n_residents, n_waiting; /* running jobs of the catalog, and queue, before the pass */
    int32_t n_couples;              /* pairs of jobs on one card, before the pass */
    int32_t
        n_violations; /* jobs seen to be slowed by more than was agreed when they came to share */
    int32_t n_prices;
    double score, bound, gap_frac;  /* gap_frac INFINITY: nothing that fits was found */
    double price[EPOCH_PRICES_MAX]; /* of all of a resource, in scores: GPU memory, places on cards,
                                       SM time; CPU, host memory, NIC and storage where they are
                                       limited, else NAN */
    double esp_s, iac_s, pds_s;     /* prices, pairs, the rest */
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
    bool sets_speed; /* brings its own speeds with plan_speed, 0 for a pause; neither the run's
                        truth nor an elastic job's width counts then */
    bool own_clock;  /* has rounds, slices or limits in seconds or GPU-seconds of its own: twice the
                        time everywhere is then another schedule */
    bool own_restart; /* what an evicted job pays when it starts again is a setting of its own, not
                         preempt.restart_s */
    bool pairs_jobs;  /* puts two jobs on one card unasked, at share.max_jobs 1: GPU time held then
                         counts a card once where the jobs' own sums count it twice */
    bool shrinks_memory; /* jobs on one card may ask for more memory than it has: some give way */
    int64_t tick_us;     /* 0: exact progress. Else progress is made in whole ticks by repeated
                            subtraction, a job ends at the tick after the one that left nothing, and a
                            restart is work added: a simulator that ticks, reproduced */
    bool elastic;        /* starts and resizes elastic jobs at any width from gpu_min on, so that a
                            cluster need only hold gpu_min */
    bool reshapes;  /* puts jobs in other configurations with plan_config, so that a cluster need
                       only hold the smallest of the job's workload */
    bool believes;  /* asks view->belief */
    bool may_stall; /* keeps waiting for ever with jobs that its rules never start, as what it
                       models does: these end unfinished, and so may those behind them */
    bool own_books; /* knows what is free by books of its own, which have no NIC and no storage */
    bool node_sum;  /* needs a cluster with share = node-sum */
    bool resumes;   /* decides with view->memory too: about jobs that it did not start */
    /* Where settings decide on sets_speed and tick_us: writes what holds with these. May be NULL.
     */
    void (*pace)(const void *config, bool *sets_speed, int64_t *tick_us);
    enum status (*prepare)(const void *config, struct preparation *p, struct error *err);
    enum status (*init)(void *state, const void *config, const struct view *v,
                        const struct place_rules *rules, struct arena *arena, struct error *err);
    enum status (*decide)(void *state, const struct view *v, struct plan *plan, struct error *err);
    /* Gives back what it allocated besides; also after init failed. May be NULL. */
    void (*fini)(void *state);
    /* What the last decide was; NULL where it was no pass. May be NULL. */
    const struct epoch *(*epoch)(const void *state);
    /* Names of the metrics made of these: how many passes, their mean gap, the part of looks at
     * jobs that share which found a violation. */
    const char *epoch_metrics[3];
    /* The store of profiles that it keeps (core/elastico/lore.h); NULL where everything is known.
     * Lives as long as the arena of init. May be NULL. */
    const struct lore *(*lore)(const void *state);
    /* Names of the metrics made of it: arrivals that found a profile, those that did not, the share
     * of the former, and the mean time from the latters' arrival to their profile. */
    const char *profile_metrics[4];
    /* Writes what a next process is to be told as view->memory; n_prices and the columns are there
     * and empty. May be NULL. */
    void (*recall)(const void *state, struct memory *out);
    /* Metrics of its own, from the finished job table; name and value in turn. May be NULL. */
    int (*metrics)(const struct job_table *jobs, const char **name, double *value, int max);
};

/* What a shared object and the program must agree on: a version, and the sizes of what they share,
 * so that an object built against other headers is refused even where nobody thought of the
 * version. */
enum {
    POLICY_ABI = 1000000 + (sizeof(struct policy) + 3 * sizeof(struct view) +
                            5 * sizeof(struct plan) + 7 * sizeof(struct job_table) +
                            11 * sizeof(struct cluster) + 13 * sizeof(struct stay)) %
                               1000000
};

#endif
