/* job_pairs.h - the jobs that ended in both of two runs, drawn in blocks. */
#ifndef COLOSIM_JOB_PAIRS_H
#define COLOSIM_JOB_PAIRS_H

#include "sim/results/bootstrap.h"
#include "sim/results/store.h"

enum job_column { A_JCT, B_JCT, A_WAIT, B_WAIT, N_JOB_COLUMNS };
enum job_statistic { JOB_MEAN, JOB_P50, JOB_P90, JOB_P99, N_JOB_STATISTICS };

struct job_pairs {
    int32_t n, n_unpaired;
    double *value[N_JOB_COLUMNS]; /* (n) in order of submission, s */
};

/* Jobs of two runs are the same where their names are. The caller frees in any case. */
enum status job_pairs_read(struct job_pairs *p, struct store *a, int64_t a_run, struct store *b,
                           int64_t b_run, struct error *err) MUST_USE;
void job_pairs_free(struct job_pairs *p);

/* What all jobs give, and the 95 % intervals of B - A and B / A over so many draws, for the JCT
 * (what = 0) and the wait (1). Percentiles interpolate as in metrics.h. Cost O(n (log n +
 * draws)). */
struct job_difference {
    double a, b;
    struct interval difference, ratio;
};
enum status job_pairs_draw(const struct job_pairs *p, int n_draws,
                           struct job_difference out[2][N_JOB_STATISTICS],
                           struct error *err) MUST_USE;

#endif
