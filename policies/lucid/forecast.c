#include "policies/lucid/forecast.h"

#include <math.h>

enum { AHEAD = 5 };

enum status forecast_init(struct forecast *f, const struct table *table, double begin_s,
                          double step_s, struct arena *arena, struct error *err)
{
    *f = (struct forecast){table->n_rows, us_of_s(begin_s), us_of_s(step_s), NULL, NULL};
    if (f->n == 0)
        return ST_OK;
    int32_t jobs = table_column(table, "pred_gpu_job"), gpus = table_column(table, "pred_gpu_num");
    if (jobs < 0 || gpus < 0)
        return fail(err, ST_INPUT, "the forecast has no columns pred_gpu_job and pred_gpu_num");
    f->jobs = arena_alloc(arena, (size_t)f->n, sizeof *f->jobs);
    f->gpus = arena_alloc(arena, (size_t)f->n, sizeof *f->gpus);
    if (f->jobs == NULL || f->gpus == NULL)
        return fail_memory(err);
    for (int32_t i = 0; i < f->n; i++) {
        f->jobs[i] = table_number(table, i, jobs);
        f->gpus[i] = table_number(table, i, gpus);
        if (isnan(f->jobs[i]) || isnan(f->gpus[i]))
            return fail(err, ST_INPUT, "row %d of the forecast is no pair of numbers", i + 1);
    }
    return ST_OK;
}

int32_t forecast_row(const struct forecast *f, int64_t time_us)
{
    if (time_us < f->begin_us)
        return 0;
    int64_t row = (time_us - f->begin_us) / f->step_us + 1;
    return row < f->n ? (int32_t)row : f->n;
}

double forecast_mean(const struct forecast *f, const double *column, int32_t row)
{
    int32_t n = f->n - row < AHEAD ? f->n - row : AHEAD;
    double sum = 0;
    for (int32_t i = row; i < row + n; i++)
        sum += column[i];
    return n > 0 ? sum / n : NAN;
}
