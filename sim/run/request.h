/* request.h - what a run was asked for: settings, policy, traces. */
#ifndef COLOSIM_REQUEST_H
#define COLOSIM_REQUEST_H

#include "core/base/param.h"
#include "core/cluster/policy.h"
#include "traces/trace.h"

enum { GROUPS_MAX = 64 };

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
    double caution, error_frac;
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
    int align;          /* enum trace_align */
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
    void **policy_config;         /* one for each of policies[], NULL without settings */
    const struct policy *outside; /* a shared object's, or exec:PROGRAM; NULL for one of ours */
    void *outside_config;         /* NULL without settings */
    const char **more_traces;     /* (n_more_traces) --trace given again; run.trace is the first */
    int n_more_traces;
    const struct trace *source; /* read already, by one run for several (sources.h); NULL: the run
                                   reads its trace itself */
    struct arena arena;         /* owns the texts */
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

#endif
