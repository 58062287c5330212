#include "calib/recording.h"

#include "calib/wanted.h"
#include "core/base/units.h"

#include <gsl/gsl_sort.h>
#include <gsl/gsl_statistics_double.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

const char *const fidelity_name[N_FIDELITIES] = {
#define X(name, label) label,
    FIDELITIES(X)
#undef X
};

static enum status want_time(const struct table *t, int32_t row, int32_t column, int64_t *out,
                             struct error *err)
{
    const char *text = table_cell(t, row, column);
    if (parse_scaled(text, strlen(text), 6, out))
        return ST_OK;
    return fail(err, ST_INPUT, "line %d: %s is '%s', want seconds", row + 2, t->column[column],
                text);
}

static enum status read_row(struct recording *r, const struct table *t, int32_t row,
                            const int32_t column[3], const struct job_table *jobs,
                            struct error *err)
{
    char a[32], b[32];
    const char *name = table_cell(t, row, column[0]);
    int32_t job = names_find(&jobs->job_names, name, strlen(name));
    if (job < 0) {
        r->n_unknown++;
        return ST_OK;
    }
    if (r->start_us[job] != TIME_NEVER)
        return fail(err, ST_INPUT, "line %d: job '%s' is there twice", row + 2, name);
    if (table_cell(t, row, column[2])[0] == '\0')
        return ST_OK;
    TRY(want_time(t, row, column[1], &r->start_us[job], err));
    TRY(want_time(t, row, column[2], &r->finish_us[job], err));
    if (r->start_us[job] < jobs->submit_us[job])
        return fail(err, ST_INPUT, "line %d: job '%s' starts at %s s, before its submission at %s",
                    row + 2, name, format_us(r->start_us[job], a),
                    format_us(jobs->submit_us[job], b));
    if (r->finish_us[job] < r->start_us[job])
        return fail(err, ST_INPUT, "line %d: job '%s' ends at %s s, before its start at %s",
                    row + 2, name, format_us(r->finish_us[job], a), format_us(r->start_us[job], b));
    return ST_OK;
}

enum status recording_read(struct recording *r, const struct table *t, const struct job_table *jobs,
                           struct error *err)
{
    int32_t column[3];
    size_t n = (size_t)jobs->n_jobs;
    *r = (struct recording){jobs->n_jobs, malloc(n * sizeof *r->start_us + 1),
                            malloc(n * sizeof *r->finish_us + 1), 0};
    if (r->start_us == NULL || r->finish_us == NULL)
        return fail_memory(err);
    for (size_t j = 0; j < n; j++)
        r->start_us[j] = r->finish_us[j] = TIME_NEVER;
    TRY(wanted_column(t, "job", &column[0], err));
    TRY(wanted_column(t, "start_s", &column[1], err));
    column[2] = table_column(t, "finish_s");
    if (column[2] < 0)
        TRY(wanted_column(t, "end_s", &column[2], err));
    for (int32_t row = 0; row < t->n_rows; row++)
        TRY(read_row(r, t, row, column, jobs, err));
    return ST_OK;
}

void recording_free(struct recording *r)
{
    free(r->start_us);
    free(r->finish_us);
    *r = (struct recording){0};
}

/* What one side makes of the jobs listed. jct_s is scratch for n numbers. */
static void measure(const struct job_table *jobs, const int32_t *job, size_t n,
                    const int64_t *start_us, const int64_t *finish_us, double *jct_s,
                    double out[N_FIDELITIES])
{
    int64_t first_us = TIME_NEVER, last_us = INT64_MIN, end_us = INT64_MIN;
    double wait_s = 0, work_gpu_s = 0;
    for (int32_t j = 0; j < jobs->n_jobs; j++) {
        first_us = jobs->submit_us[j] < first_us ? jobs->submit_us[j] : first_us;
        last_us = jobs->submit_us[j] > last_us ? jobs->submit_us[j] : last_us;
    }
    for (size_t i = 0; i < n; i++)
        end_us = finish_us[job[i]] > end_us ? finish_us[job[i]] : end_us;
    int64_t until_us = last_us > first_us ? last_us : end_us;
    for (size_t i = 0; i < n; i++) {
        jct_s[i] = s_of_us(finish_us[job[i]] - jobs->submit_us[job[i]]);
        wait_s += s_of_us(start_us[job[i]] - jobs->submit_us[job[i]]);
        if (finish_us[job[i]] <= until_us)
            work_gpu_s += job_work_gpu_s(jobs, job[i]);
    }
    gsl_sort(jct_s, 1, n);
    out[FIDELITY_JCT_MEAN_S] = gsl_stats_mean(jct_s, 1, n);
    out[FIDELITY_JCT_P50_S] = gsl_stats_quantile_from_sorted_data(jct_s, 1, n, .5);
    out[FIDELITY_JCT_P90_S] = gsl_stats_quantile_from_sorted_data(jct_s, 1, n, .9);
    out[FIDELITY_JCT_P99_S] = gsl_stats_quantile_from_sorted_data(jct_s, 1, n, .99);
    out[FIDELITY_WAIT_MEAN_S] = wait_s / (double)n;
    out[FIDELITY_MAKESPAN_S] = s_of_us(end_us - first_us);
    out[FIDELITY_THROUGHPUT_ENDED_GPUS] = work_gpu_s / s_of_us(until_us - first_us);
}

enum status recording_compare(const struct recording *r, const struct job_table *jobs,
                              struct comparison *out, struct error *err)
{
    size_t n = 0, room = (size_t)jobs->n_jobs + 1;
    int32_t *job = malloc(room * sizeof *job);
    double *scratch = malloc(room * sizeof *scratch);
    *out = (struct comparison){.job_error_mean_pct = NAN, .job_error_p50_pct = NAN};
    for (int f = 0; f < N_FIDELITIES; f++)
        out->recorded[f] = out->simulated[f] = NAN;
    if (job == NULL || scratch == NULL) {
        free(job);
        free(scratch);
        return fail_memory(err);
    }
    for (int32_t j = 0; j < jobs->n_jobs; j++) {
        bool recorded = r->finish_us[j] != TIME_NEVER, simulated = jobs->finish_us[j] != TIME_NEVER;
        out->n_only_recorded += recorded && !simulated;
        out->n_only_simulated += simulated && !recorded;
        if (recorded && simulated)
            job[n++] = j;
    }
    out->n = (int32_t)n;
    if (n > 0) {
        measure(jobs, job, n, r->start_us, r->finish_us, scratch, out->recorded);
        measure(jobs, job, n, jobs->start_us, jobs->finish_us, scratch, out->simulated);
        for (size_t i = 0; i < n; i++) {
            double jct = s_of_us(r->finish_us[job[i]] - jobs->submit_us[job[i]]);
            double off = s_of_us(jobs->finish_us[job[i]] - r->finish_us[job[i]]);
            scratch[i] = jct > 0 ? 100 * fabs(off / jct) : 0;
        }
        gsl_sort(scratch, 1, n);
        out->job_error_mean_pct = gsl_stats_mean(scratch, 1, n);
        out->job_error_p50_pct = gsl_stats_quantile_from_sorted_data(scratch, 1, n, .5);
    }
    free(job);
    free(scratch);
    return ST_OK;
}
