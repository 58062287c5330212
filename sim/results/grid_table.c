#include "sim/results/grid_table.h"

#include "sim/results/bootstrap.h"
#include "sim/results/report.h"

#include <math.h>
#include <stdlib.h>

enum { VALUE_WIDTH = 11, INTERVAL_WIDTH = 22 };

void grid_table_head(const struct grid_table *t)
{
    for (int a = 0; a < t->n_axes; a++)
        fprintf(t->to, "%-*s  ", t->width[a], t->axis[a]);
    fputs("seeds", t->to);
    for (int m = 0; m < t->n_metrics; m++) {
        const char *name = metric_infos[t->metric[m]].name;
        fprintf(t->to, "  %*s %-*s", VALUE_WIDTH, name, m + 1 < t->n_metrics ? INTERVAL_WIDTH : 0,
                m + 1 < t->n_metrics ? "" : "");
    }
    fputc('\n', t->to);
}

static enum status cell(struct grid_table *t, const double *value, int n, bool last,
                        struct error *err)
{
    double sum = 0;
    struct interval i;
    char mean[32], lo[32], hi[32], text[80] = "";
    for (int k = 0; k < n; k++)
        sum += value[k];
    TRY(bootstrap(BOOT_MEAN, value, NULL, n, &i, err));
    if (!isnan(i.lo)) {
        t->any_interval = true;
        t->seeds_matter = t->seeds_matter || i.lo < i.hi;
        snprintf(text, sizeof text, "[%s, %s]", report_number(i.lo, lo), report_number(i.hi, hi));
    }
    fprintf(t->to, "  %*s %-*s", VALUE_WIDTH, report_number(n > 0 ? sum / n : NAN, mean),
            last ? 0 : INTERVAL_WIDTH, text);
    return ST_OK;
}

enum status grid_table_row(struct grid_table *t, const char *const *value,
                           const struct summary *runs, int n_runs, struct error *err)
{
    enum status status = ST_OK;
    int n = 0;
    double *column = malloc(((size_t)n_runs + 1) * sizeof *column);
    if (column == NULL)
        return fail_memory(err);
    for (int i = 0; i < n_runs; i++)
        n += summary_complete(&runs[i]);
    for (int a = 0; a < t->n_axes; a++)
        fprintf(t->to, "%-*s  ", t->width[a], value[a]);
    fprintf(t->to, "%5d", n);
    for (int m = 0; m < t->n_metrics && status == ST_OK; m++) {
        n = 0;
        for (int i = 0; i < n_runs; i++)
            if (summary_complete(&runs[i]))
                column[n++] = runs[i].metric[t->metric[m]];
        status = cell(t, column, n, m + 1 == t->n_metrics, err);
    }
    fputc('\n', t->to);
    free(column);
    return status;
}

void grid_table_end(const struct grid_table *t)
{
    if (t->any_interval)
        fprintf(t->to, "(means over seeds; [..]: 95 %% bootstrap interval of the mean)\n");
    if (t->any_interval && !t->seeds_matter)
        fputs("(every seed gave the same: nothing in these runs is drawn from it)\n", t->to);
}
