/* pai_run.h - one run of pai-sim for tests and benchmarks: settings as text, the policy's own
 * preparation, the ordinary engine, the policy's metrics. */
#ifndef COLOSIM_TESTS_PAI_RUN_H
#define COLOSIM_TESTS_PAI_RUN_H

#include "sim/run/engine.h"

enum { PAI_N_METRICS = 4 };

struct pai_outcome {
    struct run_log log; /* the caller frees it */
    double jobs_done, avg_jct_s, wait_s, makespan_s;
};

/* settings: "pai-sim.order=sjf" and the like, NULL-terminated. check walks every invariant after
 * every pass. The table is replaced by the one that ran. */
enum status pai_run(struct job_table *jobs, struct cluster *cluster, const char *const *settings,
                    bool check, struct pai_outcome *out, struct error *err) MUST_USE;

#endif
