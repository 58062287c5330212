/* forecast.h - what is expected to be submitted: jobs and GPUs in each of the next stretches. */
#ifndef COLOSIM_LUCID_FORECAST_H
#define COLOSIM_LUCID_FORECAST_H

#include "core/cluster/policy.h"

struct forecast {
    int32_t n;
    int64_t begin_us, step_us; /* row i stands for begin_us + i step_us */
    double *jobs, *gpus;       /* (n) columns pred_gpu_job and pred_gpu_num */
};

/* table: no rows where there is none. ST_INPUT where it has not the columns. */
enum status forecast_init(struct forecast *f, const struct table *table, double begin_s,
                          double step_s, struct arena *arena, struct error *err) MUST_USE;
/* How many rows do not lie ahead. */
int32_t forecast_row(const struct forecast *f, int64_t time_us);
/* Mean of a column's next five rows, or of those that are left; NAN for none. */
double forecast_mean(const struct forecast *f, const double *column, int32_t row);

#endif
