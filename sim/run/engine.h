/* engine.h - time: the event loop.
 *
 * One instant, one pass: at equal times finishes, then arrivals, then wake-ups, then exactly one
 * scheduling pass. The functions of engine.c stand in the order of a job's life. */
#ifndef COLOSIM_ENGINE_H
#define COLOSIM_ENGINE_H

#include "core/base/arena.h"
#include "core/cluster/policy.h"
#include "sim/run/rates.h"
#include "sim/run/run_log.h"

#include <signal.h>
#include <stdint.h>

struct engine_setup {
    const struct policy *policy;
    const void *policy_config;
    const struct table *tables; /* as policy.tables names them; NULL: all empty */
    struct job_table *jobs;     /* closed; its engine columns are written */
    struct cluster *cluster;    /* empty */
    struct place_rules rules;
    struct rates rates;          /* the truth */
    struct belief *belief;       /* what the policy thinks of pairs; NULL without a catalog */
    const struct iac_side *side; /* (rows of profiles) likewise */
    int64_t restart_us;          /* no progress for this long after a preempted job starts again */
    gsl_rng *rng;                /* the policy's stream; NULL for a policy that draws nothing */
    int64_t window_lo_us,
        window_hi_us;            /* held_gpu_s and held_mem count inside; equal: the whole run */
    bool check;                  /* walk every invariant after every pass: slow, for tests */
    volatile sig_atomic_t *stop; /* non-zero: end at the next event boundary; may be NULL */
    /* Called now and then with jobs ended so far; may be NULL. */
    void (*progress)(void *context, int64_t now_us, int32_t n_ended, int32_t n_jobs);
    void *progress_context;
};

/* Runs to the end. ST_OK also when interrupted or stalled: the log says so. */
enum status engine_run(const struct engine_setup *s, struct run_log *out,
                       struct error *err) MUST_USE;

#endif
