/* diff.h - one run beside another, or the runs of one group beside those of another, metric by
 * metric, with 95 % intervals.
 *
 * Groups are paired by seed. Two single runs are paired job by job, for what is a mean or a
 * percentile over jobs: blocks of jobs that were submitted one after another are drawn (as long as
 * the root of their number), because jobs that stood in one queue are not independent. */
#ifndef COLOSIM_DIFF_H
#define COLOSIM_DIFF_H

#include "sim/results/bootstrap.h"
#include "sim/results/groups.h"
#include "sim/run/metrics.h"

#include <stdio.h>

enum { DIFF_JOB_DRAWS = 1000 };

struct diff_row {
    enum metric metric;
    double a, b;
    struct interval difference, ratio; /* b - a, b / a; NAN where there are none */
};

struct diff {
    const char *a, *b; /* as they were asked for */
    bool by_jobs;
    int n_pairs;    /* seeds, or jobs that ended in both */
    int n_unpaired; /* runs, or jobs that ended in one of them only */
    struct diff_row row[N_METRICS];
    int n_rows; /* of metrics that both sides know */
};

/* b_store may be the same as a_store. ST_USAGE where no seed is on both sides. */
enum status diff_make(struct diff *d, struct store *a_store, const char *a, struct store *b_store,
                      const char *b, struct error *err) MUST_USE;

void diff_print(FILE *to, const struct diff *d);
void diff_json(FILE *to, const struct diff *d);
#endif
