/* estimate.h - how long a job will run, as a policy believes: told by a table, by the trace's own
 * hints, by those that have ended, or by an oracle with a stated error.
 *
 * auto      the table; without one, or for a job it lacks, history
 * history   the median of jobs that have ended so far, of the narrowest set that has any: same
 *           user, same group (without one: same workload), same GPUs; else the trace's hints (of
 *           group and GPUs, group, user); else same group or workload; else all jobs
 * oracle    the true duration x exp(error x z), z standard normal, one draw a job from the run's
 *           "policy" stream in the order of the trace's rows
 *
 * A negative estimate, and one nobody can give, is default_s [Lucid's artifact: 1000 s for negative
 * ones, 29 % of its jobs]. Durations are the reference's, of the longest task. */
#ifndef COLOSIM_LUCID_ESTIMATE_H
#define COLOSIM_LUCID_ESTIMATE_H

#include "core/cluster/policy.h"
#include "policies/lucid/medians.h"

enum estimate_source { ESTIMATE_AUTO, ESTIMATE_HISTORY, ESTIMATE_ORACLE };
extern const char *const estimate_names[];

struct estimate_config {
    int source; /* enum estimate_source */
    double default_s, error;
};

// clang-format off
/* The settings, of a config whose fields are called so; estimates names the table. */
#define ESTIMATE_PARAMS(type_)                                                                     \
    PARAM_CHOICE(type_, estimate, estimate_names, ESTIMATE_AUTO,                                   \
                 "how long a job will run, by: auto (the table of estimates, else history), "      \
                 "history, oracle"),                                                               \
    PARAM_REAL(type_, estimate_default_s, "s", 1000, 0, 1e9,                                       \
               "where nothing is known, or a negative estimate [Lucid's artifact: 1000]"),         \
    PARAM_REAL(type_, estimate_error, "1", 0, 0, 3,                                                \
               "oracle: standard deviation of the estimate's logarithm"),                          \
    PARAM_TEXT(type_, estimates, NULL,                                                             \
               "CSV of estimates in seconds: job_id,priority or job,estimate_s")
// clang-format on

struct estimates {
    const struct estimate_config *config;
    double *told_s;        /* (n_jobs) NAN where nobody told */
    int32_t *close, *kind; /* (n_jobs) sets of jobs; NULL where no history is asked for */
    bool *learned;         /* (n_jobs) has ended and been counted */
    struct medians of_close, of_kind, of_all;
};

/* table: no rows where the setting is empty. ST_INPUT where it has not the columns. */
enum status estimates_init(struct estimates *e, const struct estimate_config *config,
                           const struct table *table, const struct view *v, struct arena *arena,
                           struct error *err) MUST_USE;
/* To be called in every pass: jobs have ended. O(ended x log jobs). */
void estimates_learn(struct estimates *e, const struct view *v);
/* At this moment. */
double estimate_s(const struct estimates *e, const struct view *v, int32_t job);

#endif
