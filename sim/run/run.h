/* run.h - one run from settings to numbers: trace, cluster, policy, seed. */
#ifndef COLOSIM_RUN_H
#define COLOSIM_RUN_H

#include "sim/run/engine.h"
#include "sim/run/metrics.h"
#include "sim/run/request.h"

enum { METRICS_EXTRA_MAX = 16 };

/* The trace asked for, the embedded one without; the report says what was read either way. Once
 * *stop is not zero (NULL: never), ST_INTERRUPTED. The caller frees the trace in any case. */
enum status run_read_trace(const struct run_request *q, const volatile sig_atomic_t *stop,
                           struct trace *out, struct error *err) MUST_USE;

/* A configuration that was profiled. */
struct profiled {
    const char *workload;
    char config[96];
};

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
    struct profiled *profiled; /* (n_profiled) in the end, where the policy keeps a store of them */
    int32_t n_profiled;
    struct arena arena;                 /* owns the profiled */
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
