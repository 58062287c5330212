/* summary.h - what is said about a run: its metrics, who waited longest, how each size fared.
 *
 * Made from a run that just ended or from the database, with the same numbers either way. */
#ifndef COLOSIM_SUMMARY_H
#define COLOSIM_SUMMARY_H

#include "core/base/arena.h"
#include "sim/results/store.h"

/* Jobs by the GPUs they ask for, up to and including that many thousandths. */
#define SIZE_CLASSES(X)                                                                            \
    X("none", 0)                                                                                   \
    X("<1", 999) X("1", 1000) X("2", 2000) X("3-4", 4000) X("5-8", 8000) X(">8", INT64_MAX)
enum {
#define X(label_, up_to_) +1
    N_SIZE_CLASSES = 0 SIZE_CLASSES(X)
#undef X
};
extern const char *const size_class_names[N_SIZE_CLASSES];
int size_class_of(int64_t gpu_milli);

struct size_class {
    int64_t n_jobs; /* completed */
    double wait_s_mean, jct_s_mean;
};

enum timing {
    TIMING_DECIDE_MEAN_MS,
    TIMING_DECIDE_P99_MS,
    TIMING_WALL_S,
    TIMING_CPU_S,
    TIMING_PEAK_RSS_MIB,
    N_TIMINGS
};
extern const char *const timing_names[N_TIMINGS];

/* So many events of this kind with this text. */
struct event_count {
    const char *kind, *text;
    int64_t n;
};

/* Owns its texts; those that may be missing are NULL, numbers that cannot be told NAN. */
struct summary {
    const char *name, *label, *db; /* db NULL: not stored */
    const char *policy, *truth, *status, *trace, *trace_hash, *cluster, *program, *created;
    int64_t seed, end_us;
    double metric[N_METRICS];
    int n_extra;
    const char *extra_name[METRICS_EXTRA_MAX];
    double extra[METRICS_EXTRA_MAX];
    double timing[N_TIMINGS];
    const char *configured; /* the policy's settings (configured.h); only summary_of_result */
    const char *others;     /* those of all policies; likewise */
    /* From here on only summary_of_result and summary_read_jobs. */
    struct size_class by_size[N_SIZE_CLASSES];
    const char *longest; /* the job behind wait_max_s, fit to be shown; NULL where none completed */
    struct event_count *event; /* (n_events) in order of first appearance */
    size_t n_events, event_capacity;
    struct arena arena;
};

/* name and db: where it was stored; NULL for a run that was not, named as it would be. */
enum status summary_of_result(struct summary *s, const struct run_request *q,
                              const struct run_result *r, const char *name, const char *db,
                              struct error *err) MUST_USE;
/* The rows of tables run and metric. */
enum status summary_read(struct summary *s, struct store *store, int64_t run,
                         struct error *err) MUST_USE;
/* Adds what the job and event tables say. O(jobs + events). */
enum status summary_read_jobs(struct summary *s, struct store *store, int64_t run,
                              struct error *err) MUST_USE;
/* The value of a metric or an extra by name; false when there is none of that name. */
bool summary_metric(const struct summary *s, const char *name, double *value);
bool summary_complete(const struct summary *s);
void summary_free(struct summary *s);

#endif
