/* recording.h - a day that a testbed ran, and how far a replay of it is off.
 *
 * The recording is a table with one row a job: job, start_s (first start) and end_s or finish_s, on
 * the clock of the trace; an empty end means that the job did not finish. Other columns are not
 * looked at, so the job table that colosim export writes is one. */
#ifndef COLOSIM_CALIB_RECORDING_H
#define COLOSIM_CALIB_RECORDING_H

#include "core/base/table.h"
#include "core/cluster/job.h"

struct recording {
    int32_t n_jobs;
    int64_t *start_us, *finish_us; /* (n_jobs) by row of the job table; TIME_NEVER: not recorded */
    int32_t n_unknown;             /* rows whose job is not in the trace */
};

/* ST_INPUT names the line: a start before the submission, an end before the start, a job twice. The
 * caller frees in any case. */
enum status recording_read(struct recording *r, const struct table *t, const struct job_table *jobs,
                           struct error *err) MUST_USE;
void recording_free(struct recording *r);

/* Over the jobs that ended in both. throughput_ended_gpus is the metric throughput_gpus as far as a
 * record can tell it: reference GPU-seconds of the jobs that ended by the last submission, over the
 * span of submissions (of all, over the makespan, where all came at once). */
#define FIDELITIES(X)                                                                              \
    X(JCT_MEAN_S, "jct_mean_s")                                                                    \
    X(JCT_P50_S, "jct_p50_s")                                                                      \
    X(JCT_P90_S, "jct_p90_s")                                                                      \
    X(JCT_P99_S, "jct_p99_s")                                                                      \
    X(WAIT_MEAN_S, "wait_mean_s")                                                                  \
    X(MAKESPAN_S, "makespan_s")                                                                    \
    X(THROUGHPUT_ENDED_GPUS, "throughput_ended_gpus")
enum fidelity {
#define X(name, label) FIDELITY_##name,
    FIDELITIES(X)
#undef X
        N_FIDELITIES
};
extern const char *const fidelity_name[N_FIDELITIES];

struct comparison {
    int32_t n, n_only_recorded, n_only_simulated;
    double recorded[N_FIDELITIES], simulated[N_FIDELITIES]; /* NAN of no jobs */
    double job_error_mean_pct, job_error_p50_pct; /* of |simulated JCT / recorded JCT - 1| */
};
/* jobs: with the outcomes of the replay. */
enum status recording_compare(const struct recording *r, const struct job_table *jobs,
                              struct comparison *out, struct error *err) MUST_USE;
static inline double comparison_error_pct(const struct comparison *c, enum fidelity f)
{
    return 100 * (c->simulated[f] / c->recorded[f] - 1);
}

#endif
