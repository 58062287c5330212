/* synth.h - made-up traces: who arrives when, wants how much and for how long.
 *
 * What is fixed, what follows. The offered load is the GPU-seconds asked over GPUs x the span from
 * the first submission (t = 0) to the last, and comes out exactly as set, because the work is
 * drawn first and the submissions are then stretched over the span that gives it:
 *   jobs and load set:  the span follows (hours is not looked at)
 *   jobs = 0:           as many jobs as fill the hours at that load; the span is then within half
 *                       a job's work of hours
 *   load = 0:           the span is hours, the load follows
 * Durations are never scaled. Every purpose has its own random stream, so another GPU mix changes
 * no duration, no kind and not the pattern of arrivals (only, through the load, their span).
 *
 * A job belongs to a group; groups recur (popularity 1, 1/2, 1/3 ...), belong to one user and run
 * one of the twelve workloads of the ElastiCo paper's Table 2, eight for training and four for
 * inference. Times of day are those of the trace's own clock: t = 0 is Monday
 * 00:00 UTC. */
#ifndef COLOSIM_SYNTH_H
#define COLOSIM_SYNTH_H

#include "core/base/param.h"
#include "core/base/status.h"
#include "core/cluster/job.h"

enum synth_arrivals { ARRIVALS_POISSON, ARRIVALS_GAMMA, ARRIVALS_DIURNAL };
enum synth_duration { SYNTH_LOGNORMAL, SYNTH_EMPIRICAL };

/* Bare keys. */
struct synth_settings {
    int arrivals; /* enum synth_arrivals */
    double cv;
    int duration; /* enum synth_duration */
    double elastic_frac;
    const char *gpus;
    int64_t groups;
    double hours, infer_frac, infer_gpu;
    int64_t jobs;
    double load, max_s, median_s, min_s;
    int64_t node_gpus;
    double peak_hour, peak_ratio;
    const char *queues;
    double sigma;
    int64_t users;
};
extern const struct param synth_params[];

/* Draws a closed job table for a cluster of n_gpus GPUs. empirical is a closed table whose jobs'
 * durations are drawn from, NULL unless duration = empirical. ST_USAGE where the settings
 * contradict each other. The caller frees out in any case. Cost O(jobs). */
enum status synth_jobs(const struct synth_settings *settings, int64_t n_gpus, uint64_t seed,
                       const struct job_table *empirical, struct job_table *out,
                       struct error *err) MUST_USE;

#endif
