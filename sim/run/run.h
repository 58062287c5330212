/* run.h - one run from settings to numbers: trace, cluster, policy, seed. */
#ifndef COLOSIM_RUN_H
#define COLOSIM_RUN_H

#include "core/base/param.h"
#include "sim/run/engine.h"
#include "sim/run/metrics.h"
#include "traces/trace.h"

enum { METRICS_EXTRA_MAX = 16, GROUPS_MAX = 64 };

/* Settings of a run with bare keys: the long options, the keys of --config and the rows of the
 * setting table are the same words. Texts are NULL where nothing was given. */
struct run_settings {
    const char *policy, *pairs, *model, *trace, *format, *columns, *cluster, *label, *window,
        *catalog;
    double load, policy_timeout_s, rate_scale; /* load 0: as it is */
    int64_t nodes;                             /* 0: as the cluster says */
    int64_t seed;
    bool strict;
    int belief;         /* enum belief_name */
    int truth;          /* enum truth */
    int submitted;      /* enum submitted */
    int place;          /* enum place_mode */
    int gpu_type_match; /* enum type_match */
};
enum type_match { MATCH_AUTO, MATCH_OFF, MATCH_STRICT };
extern const struct param run_params[];

struct share_settings { /* prefix "share" */
    int64_t max_jobs;
};
extern const struct param share_params[];

struct belief_settings { /* prefix "belief" */
    double error_frac;
    int64_t seed;
};
extern const struct param belief_params[];

struct contention_settings { /* prefix "contention" */
    double m;
    int set; /* enum contention_set */
};
extern const struct param contention_params[];

struct preempt_settings { /* prefix "preempt" */
    double restart_s;
};
extern const struct param preempt_params[];

struct elastic_settings { /* prefix "elastic" */
    double scale_exp;
};
extern const struct param elastic_params[];

struct trace_settings { /* prefix "trace" */
    bool assign;
    int64_t assign_seed;
    int batch;    /* enum trace_batch */
    int duration; /* enum trace_duration */
    double infer_frac, min_rate_frac;
    int64_t node_gpus;
    bool successful_only;
    int64_t synth_seed;
};
extern const struct param trace_params[];

/* Everything a run was asked for. Its groups point into it, so it must not move. */
struct run_request {
    struct run_settings run;
    struct share_settings share;
    struct preempt_settings preempt;
    struct contention_settings contention;
    struct belief_settings belief;
    struct elastic_settings elastic;
    struct trace_settings trace;
    void **policy_config;     /* one for each of policies[], NULL without settings */
    const struct policy *outside; /* a shared object's, or exec:PROGRAM; NULL for one of ours */
    void *outside_config;         /* NULL without settings */
    const char **more_traces; /* (n_more_traces) --trace given again; run.trace is the first */
    int n_more_traces;
    const struct trace *source; /* read already, by one run for several (sources.h); NULL: the run
                                   reads its trace itself */
    struct arena arena; /* owns the texts */
};

/* Defaults everywhere. The caller frees in any case. */
enum status run_request_init(struct run_request *q, struct error *err) MUST_USE;
void run_request_free(struct run_request *q);
/* Every group of settings, those of all policies included; returns how many. */
int run_all_groups(const struct run_request *q, struct param_group groups[GROUPS_MAX]);
/* Only those that bear on this run: what is stored with it. */
int run_groups(const struct run_request *q, struct param_group groups[GROUPS_MAX]);
/* KEY=VALUE; choosing a policy that is a shared object loads it, and from then on its settings are
 * known. */
enum status run_set(struct run_request *q, const char *pair, struct error *err) MUST_USE;
enum status run_choose_policy(struct run_request *q, const char *name, struct error *err) MUST_USE;
/* The policy of run.policy; ST_USAGE lists the known ones. */
enum status run_policy(const struct run_request *q, const struct policy **out,
                       struct error *err) MUST_USE;

/* The trace asked for, the embedded one without; the report says what was read either way. Once
 * *stop is not zero (NULL: never), ST_INTERRUPTED. The caller frees the trace in any case. */
enum status run_read_trace(const struct run_request *q, const volatile sig_atomic_t *stop,
                           struct trace *out, struct error *err) MUST_USE;

/* What it gave. Owns its tables. */
struct run_result {
    const struct policy *policy;
    struct trace trace; /* the jobs with their outcomes */
    struct cluster cluster;
    struct run_log log;
    double metric[N_METRICS];
    int n_extra; /* the policy's own metrics */
    const char *extra_name[METRICS_EXTRA_MAX];
    double extra[METRICS_EXTRA_MAX];
    double wall_s, cpu_s, peak_rss_mib; /* of the whole process for the last one */
    bool nothing_ran;                   /* exit 5 */
};

/* Who watches a run; every field may be NULL. */
struct run_watch {
    volatile sig_atomic_t *stop;
    void (*read)(void *context, const struct import_report *report); /* the trace was read */
    void (*progress)(void *context, int64_t now_us, int32_t n_ended, int32_t n_jobs);
    void *context;
};

/* Reads the trace, builds the cluster, runs and measures. The caller frees the result in any case.
 */
enum status run_execute(const struct run_request *q, const struct run_watch *watch,
                        struct run_result *out, struct error *err) MUST_USE;
/* What is left of a run that could not be: its policy and why, with every number unknown. Borrows
 * the text. */
enum status run_result_failed(const struct run_request *q, const char *why, struct run_result *out,
                              struct error *err) MUST_USE;
void run_result_free(struct run_result *r);

#endif
