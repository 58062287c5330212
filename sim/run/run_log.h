/* run_log.h - what a run leaves behind besides the job table's outcomes: bars, means over time,
 * rare happenings, counts. */
#ifndef COLOSIM_RUN_LOG_H
#define COLOSIM_RUN_LOG_H

#include "core/cluster/policy.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum span_kind { SPAN_RUN, SPAN_PROFILE };
extern const char *const span_kind_names[];

/* A task on cards that lie side by side on one node, from-to: one bar of the Gantt. */
struct span {
    int64_t start_us, end_us;
    int32_t task, node;
    int32_t first_gpu; /* number within the node; -1 on a node-sum cluster or without GPUs */
    int32_t n_gpus;    /* cards; 0 likewise */
    int32_t n_inst;
    enum span_kind kind;
};

/* Means over one stretch of the run; stretches are equally long and cover it. */
struct sample {
    int64_t start_us;
    double gpu_held, jobs_waiting, jobs_running;
    double sm_busy; /* SM activity summed over all cards; means nothing where sm_unknown */
};

enum happening { HAP_REJECT, HAP_EVICT, HAP_STALL, HAP_ERROR };
extern const char *const happening_names[];
struct happening_row {
    int64_t time_us;
    enum happening kind;
    int32_t job;      /* -1 for none */
    const char *text; /* outlives the log */
};

/* One pass of a policy that tells (policy.epoch). */
struct epoch_row {
    int64_t time_us;
    struct epoch epoch;
};

struct run_log {
    struct span *span;
    size_t n_spans, span_capacity;
    struct sample *sample;
    size_t n_samples;
    int64_t sample_us; /* length of a stretch */
    struct happening_row *happening;
    size_t n_happenings, happening_capacity;
    struct epoch_row *epoch;
    size_t n_epochs, epoch_capacity;
    int64_t end_us; /* simulated time reached */
    int64_t n_passes, n_events, n_evictions, n_resizes, n_configs;
    double gpu_held_max; /* GPUs */
    double held_gpu_s;   /* integral of GPUs in use over the window */
    double held_mib_s;   /* integral of GPU memory held over the window */
    double sm_gpu_s;     /* integral of SM activity over the window, summed over cards */
    bool sm_unknown;     /* not every job that ran has a profile */
    double done_gpu_s;   /* reference GPU-seconds done in the window, without one between first and
                            last submission */
    double profiled_gpu_s; /* GPU time spent aside, and on profiles outside the cluster */
    struct profiling {     /* of a policy with a store of profiles; NULL and zeros without */
        bool *profiled;    /* (configurations) in the end */
        int64_t n_hits, n_misses, n_waited;
        double waited_s; /* by n_waited misses together until their profile was there */
    } profiling;
    bool interrupted, stalled;
    double decide_s_mean, decide_s_p99; /* wall time, never part of "same bytes" */
};

void run_log_free(struct run_log *l);

#endif
