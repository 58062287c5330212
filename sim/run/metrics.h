/* metrics.h - the numbers of a run, under the names of the contract.
 *
 * jct = finish - submit; wait = first start - submit; makespan = last finish - first submission;
 * means are over completed jobs; percentiles interpolate linearly between order statistics
 * (type 7, numpy's default). What cannot be told is NAN here and null outside, never 0. */
#ifndef COLOSIM_METRICS_H
#define COLOSIM_METRICS_H

#include "sim/run/engine.h"

/* name, unit, better (-1 lower, +1 higher, 0 neither), one line of text */
#define METRICS(X)                                                                                 \
    X(jobs_completed, "jobs", +1, "jobs that ended")                                               \
    X(jobs_rejected, "jobs", -1, "jobs no empty cluster could hold")                               \
    X(jobs_unfinished, "jobs", -1, "jobs the run ended without")                                   \
    X(offered_load, "1", 0, "GPU-seconds asked over GPUs x first to last submission")              \
    X(jct_mean_s, "s", -1, "mean completion - submission")                                         \
    X(jct_sd_s, "s", 0, "sample standard deviation of JCT; null for one job")                      \
    X(jct_p50_s, "s", -1, "median JCT")                                                            \
    X(jct_p90_s, "s", -1, "90th percentile of JCT")                                                \
    X(jct_p99_s, "s", -1, "99th percentile of JCT")                                                \
    X(wait_mean_s, "s", -1, "mean first start - submission")                                       \
    X(wait_p50_s, "s", -1, "median wait")                                                          \
    X(wait_p90_s, "s", -1, "90th percentile of wait")                                              \
    X(wait_p99_s, "s", -1, "99th percentile of wait")                                              \
    X(wait_max_s, "s", -1, "longest wait")                                                         \
    X(makespan_s, "s", -1, "last completion - first submission")                                   \
    X(gpu_seconds, "GPU-s", 0, "GPUs x time held by completed jobs")                               \
    X(throughput_gpus, "GPU", +1,                                                                  \
      "reference GPU-seconds done per second, first to last submission")                           \
    X(sm_util_mean, "1", +1, "mean SM utilisation; null without profiles")                         \
    X(mem_util_mean, "1", +1, "mean GPU memory held; null where the cluster's is not known")       \
    X(gpu_alloc_mean, "1", +1, "GPUs in use over all GPUs, mean over the makespan")                \
    X(gpu_alloc_max, "1", 0, "the same, peak")                                                     \
    X(attain_frac, "1", +1, "jobs whose mean rate reached their min_rate_frac")                    \
    X(attain_train_frac, "1", +1, "the same, training jobs")                                       \
    X(attain_infer_frac, "1", +1, "the same, inference jobs")                                      \
    X(slowdown_mean, "1", -1, "mean JCT / duration; jobs of zero duration left out")               \
    X(interference_mean, "1", -1, "mean S, time with neighbours over time alone, while running")   \
    X(preemptions, "1", -1, "running jobs sent back to the queue")                                 \
    X(migrations, "1", -1, "running jobs moved")                                                   \
    X(reconfigs, "1", 0, "configurations changed while running")                                   \
    X(profiling_gpu_s, "GPU-s", -1, "GPU time spent on profiling")                                 \
    X(passes, "1", 0, "scheduling passes")                                                         \
    X(events, "1", 0, "events handled")

enum metric {
#define X(name_, unit_, better_, doc_) METRIC_##name_,
    METRICS(X)
#undef X
        N_METRICS
};
struct metric_info {
    const char *name, *unit;
    int better;
    const char *doc;
};
extern const struct metric_info metric_infos[N_METRICS];
/* -1 when there is no such metric. */
int metric_find(const char *name);

/* The window over which rates and utilisations are taken; lo == hi: each metric's own. */
struct window {
    int64_t lo_us, hi_us;
};

/* value (N_METRICS) out; NAN for null. Cost O(jobs log jobs + spans). */
enum status metrics_of(const struct job_table *t, const struct cluster *c, const struct run_log *l,
                       struct window window, double value[N_METRICS], struct error *err) MUST_USE;

/* GPU-seconds asked over GPUs x span from the first submission to the last; where all are submitted
 * at one time, to the last submission + duration. NAN without GPUs or span. */
double offered_load(const struct job_table *t, const struct cluster *c);

#endif
