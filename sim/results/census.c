#include "sim/results/census.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const int64_t HOUR_US = INT64_C(3600) * US_PER_S;
static const int64_t WEEK_US = INT64_C(7) * 24 * 3600 * US_PER_S;

const char *const quantile_names[N_QUANTILES] = {
#define X(name_, share_) #name_,
    DURATION_QUANTILES(X)
#undef X
};
static const double quantile_shares[N_QUANTILES] = {
#define X(name_, share_) share_,
    DURATION_QUANTILES(X)
#undef X
};
const char *const weekday_names[7] = {"Monday", "Tuesday",  "Wednesday", "Thursday",
                                      "Friday", "Saturday", "Sunday"};

static void count_jobs(const struct job_table *t, struct census *c)
{
    c->first_us = t->submit_us[0];
    c->last_us = t->submit_us[0];
    for (int32_t j = 0; j < t->n_jobs; j++) {
        int size = size_class_of(job_gpu_milli(t, j));
        double work_gpu_s = job_work_gpu_s(t, j);
        c->n_inst += job_n_inst(t, j);
        c->first_us = t->submit_us[j] < c->first_us ? t->submit_us[j] : c->first_us;
        c->last_us = t->submit_us[j] > c->last_us ? t->submit_us[j] : c->last_us;
        c->work_gpu_s += work_gpu_s;
        c->size[size].n_jobs++;
        c->size[size].work_gpu_s += work_gpu_s;
        c->n_kind[t->kind[j]]++;
    }
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static enum status measure_durations(const struct job_table *t, struct census *c, struct error *err)
{
    size_t n = (size_t)t->n_jobs;
    double sum = 0, *sorted = malloc(n * sizeof *sorted);
    if (sorted == NULL)
        return fail_memory(err);
    for (size_t j = 0; j < n; j++)
        sum += sorted[j] = s_of_us(job_duration_us(t, (int32_t)j));
    c->duration_s_mean = sum / (double)n;
    qsort(sorted, n, sizeof *sorted, by_value);
    for (int q = 0; q < N_QUANTILES; q++) {
        double place = quantile_shares[q] * (double)(n - 1);
        size_t below = (size_t)place;
        double step = below + 1 < n ? sorted[below + 1] - sorted[below] : 0;
        c->duration_s[q] = sorted[below] + (place - (double)below) * step;
    }
    free(sorted);
    return ST_OK;
}

/* How many different names stand in a column; seen (n_names) is scratch. */
static int32_t count_different(const int32_t *id, int32_t n, bool *seen, int32_t n_names)
{
    int32_t count = 0;
    memset(seen, 0, (size_t)n_names * sizeof *seen);
    for (int32_t i = 0; i < n; i++) {
        if (id[i] < 0)
            continue;
        count += !seen[id[i]];
        seen[id[i]] = true;
    }
    return count;
}

static enum status count_names(const struct job_table *t, struct census *c, struct error *err)
{
    bool *seen = calloc((size_t)t->names.n + 1, sizeof *seen);
    if (seen == NULL)
        return fail_memory(err);
    c->n_users = count_different(t->user, t->n_jobs, seen, t->names.n);
    c->n_groups = count_different(t->group, t->n_jobs, seen, t->names.n);
    c->n_queues = count_different(t->queue, t->n_jobs, seen, t->names.n);
    c->n_workloads = count_different(t->workload, t->n_jobs, seen, t->names.n);
    c->n_gpu_types = count_different(t->gpu_type, t->n_tasks, seen, t->names.n);
    free(seen);
    return ST_OK;
}

/* Hours since Monday 00:00 of the trace's clock, 0 .. 167. */
static int hour_of_week(int64_t time_us, int64_t at_0_us)
{
    int64_t us = (time_us % WEEK_US + at_0_us % WEEK_US) % WEEK_US;
    return (int)((us < 0 ? us + WEEK_US : us) / HOUR_US);
}

static void count_hours(const struct trace *t, struct census *c)
{
    c->clock_known = !isnan(t->clock_hour_at_0);
    int64_t at_0_us = c->clock_known ? llround(t->clock_hour_at_0 * (double)HOUR_US) : 0;
    int first = hour_of_week(c->first_us, at_0_us);
    c->first_hour = first % 24;
    c->first_day = c->clock_known ? first / 24 : 0;
    for (int32_t j = 0; j < t->jobs.n_jobs; j++) {
        int hour = hour_of_week(t->jobs.submit_us[j], at_0_us);
        c->hour[hour % 24]++;
        if (c->clock_known)
            c->day[hour / 24]++;
    }
}

enum status census_of(const struct trace *t, const struct cluster *c, struct census *out,
                      struct error *err)
{
    assert(t->jobs.n_jobs > 0);
    *out = (struct census){.busy_gpus = NAN, .offered_load = NAN};
    count_jobs(&t->jobs, out);
    if (out->last_us > out->first_us)
        out->busy_gpus = out->work_gpu_s / s_of_us(out->last_us - out->first_us);
    if (c != NULL) {
        out->n_gpus = (double)c->gpu_milli / 1e3;
        out->offered_load = offered_load(&t->jobs, c);
    }
    TRY(measure_durations(&t->jobs, out, err));
    TRY(count_names(&t->jobs, out, err));
    count_hours(t, out);
    return ST_OK;
}
