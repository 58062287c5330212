/* census.h - what a trace holds, counted, and how that is said. */
#ifndef COLOSIM_CENSUS_H
#define COLOSIM_CENSUS_H

#include "sim/results/summary.h"
#include "traces/trace.h"

/* Quantiles of the durations, linear between order statistics. */
#define DURATION_QUANTILES(X)                                                                      \
    X(min, 0) X(p10, 0.1) X(p25, 0.25) X(p50, 0.5) X(p75, 0.75) X(p90, 0.9) X(p99, 0.99) X(max, 1)
enum {
#define X(name_, share_) +1
    N_QUANTILES = 0 DURATION_QUANTILES(X)
#undef X
};
extern const char *const quantile_names[N_QUANTILES];
extern const char *const weekday_names[7]; /* from Monday */

struct census {
    int64_t n_inst;
    int64_t first_us, last_us; /* submissions */
    double work_gpu_s;         /* GPU-seconds asked */
    double busy_gpus;    /* that the work takes over the span of submissions; NAN without one */
    double n_gpus;       /* of the cluster to compare with; 0 where there is none */
    double offered_load; /* on it; NAN */
    double duration_s_mean, duration_s[N_QUANTILES];
    struct {
        int32_t n_jobs;
        double work_gpu_s;
    } size[N_SIZE_CLASSES]; /* by the GPUs of the whole job */
    int32_t n_kind[3];      /* by enum job_kind */
    int32_t n_users, n_groups, n_queues, n_workloads, n_gpu_types; /* different names */
    /* Submissions by hour of day and day of week on the trace's clock; where that is not known, by
     * hours since t = 0, and day stays 0. The zone of this machine has no part in it. */
    bool clock_known;
    int32_t hour[24], day[7];
    int first_hour, first_day; /* of the first submission */
};

/* c: to compare with, or NULL. Cost O(n log n) for the quantiles. */
enum status census_of(const struct trace *t, const struct cluster *c, struct census *out,
                      struct error *err) MUST_USE;

/* For people, a page. cluster is its name, NULL without one. */
void census_print(FILE *to, const struct trace *t, const struct census *c, const char *cluster);
/* One object on one line. */
void census_json(FILE *to, const struct trace *t, const struct census *c, const char *cluster);

#endif
