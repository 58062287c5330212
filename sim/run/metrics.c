#include "sim/run/metrics.h"

#include <gsl/gsl_statistics_double.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

const struct metric_info metric_infos[N_METRICS] = {
#define X(name_, unit_, better_, doc_) {#name_, unit_, better_, doc_},
    METRICS(X)
#undef X
};

int metric_find(const char *name)
{
    for (int m = 0; m < N_METRICS; m++)
        if (strcmp(metric_infos[m].name, name) == 0)
            return m;
    return -1;
}

/* The ends of a run, and sums over its jobs. */
struct tally {
    int64_t first_submit_us, last_submit_us, last_finish_us;
    int64_t n_done, n_rejected, n_unfinished;
    double asked_gpu_s, held_gpu_s, done_gpu_s, last_end_us;
};

static struct tally tally_of(const struct job_table *t)
{
    struct tally s = {TIME_NEVER, INT64_MIN, INT64_MIN, 0, 0, 0, 0, 0, 0, -INFINITY};
    for (int32_t j = 0; j < t->n_jobs; j++) {
        int64_t submit_us = t->submit_us[j];
        double end_us = (double)submit_us + (double)job_duration_us(t, j);
        s.first_submit_us = submit_us < s.first_submit_us ? submit_us : s.first_submit_us;
        s.last_submit_us = submit_us > s.last_submit_us ? submit_us : s.last_submit_us;
        s.last_end_us = end_us > s.last_end_us ? end_us : s.last_end_us;
        s.asked_gpu_s += job_work_gpu_s(t, j);
        s.n_rejected += t->status[j] == JOB_REJECTED;
        s.n_unfinished += t->status[j] == JOB_UNFINISHED || t->status[j] == JOB_PENDING;
        if (t->status[j] != JOB_DONE)
            continue;
        s.n_done++;
        s.held_gpu_s += (double)t->attained_milli_us[j] / 1e9;
        s.done_gpu_s += job_work_gpu_s(t, j);
        if (t->finish_us[j] > s.last_finish_us)
            s.last_finish_us = t->finish_us[j];
    }
    return s;
}

double offered_load(const struct job_table *t, const struct cluster *c)
{
    struct tally s = tally_of(t);
    double span_s = s_of_us(s.last_submit_us - s.first_submit_us);
    if (t->n_jobs > 0 && span_s <= 0)
        span_s = (s.last_end_us - (double)s.first_submit_us) / 1e6;
    double gpus = (double)c->gpu_milli / 1e3;
    return gpus > 0 && span_s > 0 ? s.asked_gpu_s / (gpus * span_s) : NAN;
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* JCT or wait of the completed jobs, sorted; in seconds. */
static void fill_sorted(const struct job_table *t, const int64_t *end_us, double *out)
{
    size_t n = 0;
    for (int32_t j = 0; j < t->n_jobs; j++)
        if (t->status[j] == JOB_DONE)
            out[n++] = s_of_us(end_us[j] - t->submit_us[j]);
    qsort(out, n, sizeof *out, by_value);
}

static void times_of(const struct job_table *t, size_t n, double *scratch, double *value)
{
    fill_sorted(t, t->finish_us, scratch);
    value[METRIC_jct_mean_s] = gsl_stats_mean(scratch, 1, n);
    value[METRIC_jct_sd_s] = n > 1 ? gsl_stats_sd(scratch, 1, n) : NAN;
    value[METRIC_jct_p50_s] = gsl_stats_quantile_from_sorted_data(scratch, 1, n, 0.5);
    value[METRIC_jct_p90_s] = gsl_stats_quantile_from_sorted_data(scratch, 1, n, 0.9);
    value[METRIC_jct_p99_s] = gsl_stats_quantile_from_sorted_data(scratch, 1, n, 0.99);
    fill_sorted(t, t->start_us, scratch);
    value[METRIC_wait_mean_s] = gsl_stats_mean(scratch, 1, n);
    value[METRIC_wait_p50_s] = gsl_stats_quantile_from_sorted_data(scratch, 1, n, 0.5);
    value[METRIC_wait_p90_s] = gsl_stats_quantile_from_sorted_data(scratch, 1, n, 0.9);
    value[METRIC_wait_p99_s] = gsl_stats_quantile_from_sorted_data(scratch, 1, n, 0.99);
    value[METRIC_wait_max_s] = scratch[n - 1];
}

/* Means of ratios, and attainment by kind. */
static void ratios_of(const struct job_table *t, double *value)
{
    double slowdown = 0, interference = 0, met[3] = {0}, asked[3] = {0};
    int64_t n_slowdown = 0, n_interference = 0;
    for (int32_t j = 0; j < t->n_jobs; j++) {
        if (t->status[j] != JOB_DONE)
            continue;
        double duration_us = (double)job_duration_us(t, j);
        if (duration_us > 0) {
            slowdown += (double)(t->finish_us[j] - t->submit_us[j]) / duration_us;
            n_slowdown++;
        }
        if (t->alone_us[j] > 0) {
            interference += (double)t->run_us[j] / t->alone_us[j];
            n_interference++;
        }
        if (isnan(t->min_rate_frac[j]))
            continue;
        double stay_us = (double)(t->finish_us[j] - t->start_us[j]);
        asked[t->kind[j]]++;
        met[t->kind[j]] += duration_us >= t->min_rate_frac[j] * stay_us;
    }
    if (n_slowdown > 0)
        value[METRIC_slowdown_mean] = slowdown / (double)n_slowdown;
    if (n_interference > 0)
        value[METRIC_interference_mean] = interference / (double)n_interference;
    double all = asked[0] + asked[1] + asked[2];
    if (all > 0)
        value[METRIC_attain_frac] = (met[0] + met[1] + met[2]) / all;
    if (asked[KIND_TRAIN] > 0)
        value[METRIC_attain_train_frac] = met[KIND_TRAIN] / asked[KIND_TRAIN];
    if (asked[KIND_INFER] > 0)
        value[METRIC_attain_infer_frac] = met[KIND_INFER] / asked[KIND_INFER];
}

static bool gpu_memory_told(const struct job_table *t)
{
    for (int32_t k = 0; k < t->n_tasks; k++)
        if (t->gpu_milli[k] > 0 && t->card_mem_mib[k] == 0)
            return false;
    return t->n_tasks > 0;
}

/* Rates and utilisations over the window, each metric's own where none is given. */
static void windows_of(const struct job_table *t, const struct cluster *c, const struct run_log *l,
                       struct window window, const struct tally *s, double *value)
{
    bool own = window.lo_us == window.hi_us;
    int64_t end_us = s->n_done > 0 && s->n_unfinished == 0 ? s->last_finish_us : l->end_us;
    double span_s =
        own ? s_of_us(end_us - s->first_submit_us) : s_of_us(window.hi_us - window.lo_us);
    double submit_span_s = own ? s_of_us(s->last_submit_us - s->first_submit_us) : span_s;
    double gpus = (double)c->gpu_milli / 1e3;
    if (gpus <= 0 || span_s <= 0)
        return;
    value[METRIC_gpu_alloc_mean] = l->held_gpu_s / (gpus * span_s);
    value[METRIC_gpu_alloc_max] = l->gpu_held_max / gpus;
    if (c->gpu_mem_mib > 0 && gpu_memory_told(t))
        value[METRIC_mem_util_mean] = l->held_mib_s / ((double)c->gpu_mem_mib * span_s);
    if (!l->sm_unknown && c->n_cards > 0)
        value[METRIC_sm_util_mean] = l->sm_gpu_s / (c->n_cards * span_s);
    value[METRIC_throughput_gpus] =
        submit_span_s > 0 ? l->done_gpu_s / submit_span_s : s->done_gpu_s / span_s;
}

enum status metrics_of(const struct job_table *t, const struct cluster *c, const struct run_log *l,
                       struct window window, double value[N_METRICS], struct error *err)
{
    struct tally s = tally_of(t);
    for (int m = 0; m < N_METRICS; m++)
        value[m] = NAN;
    double *scratch = malloc(((size_t)s.n_done + 1) * sizeof *scratch);
    if (scratch == NULL)
        return fail_memory(err);
    value[METRIC_jobs_completed] = (double)s.n_done;
    value[METRIC_jobs_rejected] = (double)s.n_rejected;
    value[METRIC_jobs_unfinished] = (double)s.n_unfinished;
    value[METRIC_offered_load] = offered_load(t, c);
    value[METRIC_gpu_seconds] = s.held_gpu_s;
    value[METRIC_preemptions] = (double)l->n_evictions;
    value[METRIC_migrations] = 0;
    value[METRIC_reconfigs] = (double)(l->n_resizes + l->n_configs);
    value[METRIC_profiling_gpu_s] = l->profiled_gpu_s;
    value[METRIC_passes] = (double)l->n_passes;
    value[METRIC_events] = (double)l->n_events;
    if (s.n_done > 0) {
        times_of(t, (size_t)s.n_done, scratch, value);
        value[METRIC_makespan_s] = s_of_us(s.last_finish_us - s.first_submit_us);
        ratios_of(t, value);
    }
    windows_of(t, c, l, window, &s, value);
    free(scratch);
    return ST_OK;
}
