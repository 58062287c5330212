/* grid_table.h - what came out of a study: one row a combination of what varies, means over its
 * seeds with their 95 % intervals. */
#ifndef COLOSIM_GRID_TABLE_H
#define COLOSIM_GRID_TABLE_H

#include "sim/results/summary.h"

enum { GRID_METRICS_MAX = 16 };

struct grid_table {
    FILE *to;
    const char *const *axis; /* (n_axes) names of what varies */
    const int *width;        /* (n_axes) of their columns */
    int n_axes;
    enum metric metric[GRID_METRICS_MAX];
    int n_metrics;
    bool seeds_matter; /* some mean has an interval that is not a point; false to begin with */
    bool any_interval;
};

void grid_table_head(const struct grid_table *t);
/* value (n_axes); runs: those of the row, one a seed. Runs that are not complete are left out. */
enum status grid_table_row(struct grid_table *t, const char *const *value,
                           const struct summary *runs, int n_runs, struct error *err) MUST_USE;
/* What the columns are, and a word of warning where seeds change nothing. */
void grid_table_end(const struct grid_table *t);

#endif
