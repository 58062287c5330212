#include "sim/results/summary.h"

#include "sim/results/configured.h"
#include "sim/results/quote.h"
#include "sim/results/rows.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define X(label_, up_to_) label_,
const char *const size_class_names[N_SIZE_CLASSES] = {SIZE_CLASSES(X)};
#undef X

const char *const timing_names[N_TIMINGS] = {
    [TIMING_DECIDE_MEAN_MS] = "decide_mean_ms",
    [TIMING_DECIDE_P99_MS] = "decide_p99_ms",
    [TIMING_WALL_S] = "wall_s",
    [TIMING_CPU_S] = "cpu_s",
    [TIMING_PEAK_RSS_MIB] = "peak_rss_mib",
};

int size_class_of(int64_t gpu_milli)
{
#define X(label_, up_to_) up_to_,
    static const int64_t up_to[N_SIZE_CLASSES] = {SIZE_CLASSES(X)};
#undef X
    int class = 0;
    while (gpu_milli > up_to[class])
        class ++;
    return class;
}

bool summary_complete(const struct summary *s) { return strcmp(s->status, "complete") == 0; }

bool summary_metric(const struct summary *s, const char *name, double *value)
{
    int metric = metric_find(name);
    if (metric >= 0) {
        *value = s->metric[metric];
        return true;
    }
    for (int i = 0; i < s->n_extra; i++)
        if (strcmp(s->extra_name[i], name) == 0) {
            *value = s->extra[i];
            return true;
        }
    return false;
}

void summary_free(struct summary *s)
{
    free(s->event);
    arena_free(&s->arena);
    *s = (struct summary){0};
}

/* A copy that lives as long as the summary, or NULL for NULL; clears *ok when memory is out. */
static const char *keep(struct summary *s, const char *text, bool *ok)
{
    if (text == NULL)
        return NULL;
    const char *copy = arena_text(&s->arena, text, strlen(text));
    *ok = *ok && copy != NULL;
    return copy;
}

static const char *keep_shown(struct summary *s, const char *bytes, size_t n, bool *ok)
{
    char shown[64];
    return keep(s, quote_shown(bytes, n, shown, sizeof shown), ok);
}

static bool count_event(struct summary *s, const char *kind, const char *text, int64_t n)
{
    bool ok = true;
    for (size_t i = 0; i < s->n_events; i++)
        if (strcmp(s->event[i].kind, kind) == 0 && strcmp(s->event[i].text, text) == 0) {
            s->event[i].n += n;
            return true;
        }
    if (!ARRAY_GROW(s->event, s->event_capacity, s->n_events + 1))
        return false;
    struct event_count row = {keep(s, kind, &ok), keep(s, text, &ok), n};
    if (ok)
        s->event[s->n_events++] = row;
    return ok;
}

static void add_job(struct summary *s, int64_t gpu_milli, int64_t wait_us, int64_t jct_us)
{
    struct size_class *class = &s->by_size[size_class_of(gpu_milli)];
    class->n_jobs++;
    class->wait_s_mean += (double)wait_us;
    class->jct_s_mean += (double)jct_us;
}

/* Sums of microseconds become means in seconds. */
static void close_sizes(struct summary *s)
{
    for (int i = 0; i < N_SIZE_CLASSES; i++) {
        struct size_class *class = &s->by_size[i];
        class->wait_s_mean /= (double)class->n_jobs * 1e6;
        class->jct_s_mean /= (double)class->n_jobs * 1e6;
    }
}

static void add_jobs(struct summary *s, const struct job_table *t, bool *ok)
{
    int32_t longest = -1;
    int64_t wait_us_max = -1;
    for (int32_t j = 0; j < t->n_jobs; j++) {
        if (t->status[j] != JOB_DONE)
            continue;
        int64_t wait_us = t->start_us[j] - t->submit_us[j];
        add_job(s, job_gpu_milli(t, j), wait_us, t->finish_us[j] - t->submit_us[j]);
        if (wait_us > wait_us_max) {
            wait_us_max = wait_us;
            longest = j;
        }
    }
    close_sizes(s);
    if (longest >= 0)
        s->longest = keep_shown(s, names_text(&t->job_names, longest),
                                names_length(&t->job_names, longest), ok);
}

static void copy_numbers(struct summary *s, const struct run_result *r, bool *ok)
{
    memcpy(s->metric, r->metric, sizeof s->metric);
    s->n_extra = r->n_extra;
    for (int i = 0; i < r->n_extra; i++) {
        s->extra_name[i] = keep(s, r->extra_name[i], ok);
        s->extra[i] = r->extra[i];
    }
    s->timing[TIMING_DECIDE_MEAN_MS] = r->log.decide_s_mean * 1e3;
    s->timing[TIMING_DECIDE_P99_MS] = r->log.decide_s_p99 * 1e3;
    s->timing[TIMING_WALL_S] = r->wall_s;
    s->timing[TIMING_CPU_S] = r->cpu_s;
    s->timing[TIMING_PEAK_RSS_MIB] = r->peak_rss_mib;
}

enum status summary_of_result(struct summary *s, const struct run_request *q,
                              const struct run_result *r, const char *name, const char *db,
                              struct error *err)
{
    char base[128], hash[17];
    bool ok = true;
    *s = (struct summary){.seed = q->run.seed, .end_us = r->log.end_us};
    s->name = keep(s, name != NULL ? name : store_base_name(q, r, base), &ok);
    s->label = keep(s, q->run.label, &ok);
    s->db = keep(s, db, &ok);
    s->policy = keep(s, r->policy->name, &ok);
    s->truth = keep(s, run_truth(q), &ok);
    s->status = keep(s, run_outcome(r), &ok);
    s->trace_hash = keep(s, run_trace_hash(r, hash), &ok);
    s->cluster = keep(s, q->run.cluster, &ok);
    s->configured = configured_policy(q, &s->arena);
    s->others = configured_others(q, &s->arena);
    ok = ok && s->configured != NULL && s->others != NULL;
    copy_numbers(s, r, &ok);
    add_jobs(s, &r->trace.jobs, &ok);
    for (size_t i = 0; i < r->log.n_happenings && ok; i++)
        ok = count_event(s, happening_names[r->log.happening[i].kind], r->log.happening[i].text, 1);
    if (ok)
        return ST_OK;
    summary_free(s);
    return fail_memory(err);
}

static double column_real(sqlite3_stmt *row, int column)
{
    return sqlite3_column_type(row, column) == SQLITE_NULL ? NAN
                                                           : sqlite3_column_double(row, column);
}

static void read_run_row(struct summary *s, sqlite3_stmt *row, bool *ok)
{
    const char **text[] = {&s->name,  &s->label,      &s->policy,  &s->truth,   &s->status,
                           &s->trace, &s->trace_hash, &s->cluster, &s->program, &s->created};
    int n = sizeof text / sizeof *text;
    for (int i = 0; i < n; i++)
        *text[i] = keep(s, (const char *)sqlite3_column_text(row, i), ok);
    s->seed = sqlite3_column_int64(row, n);
    s->end_us = sqlite3_column_int64(row, n + 1);
    for (int i = 0; i < N_TIMINGS; i++)
        s->timing[i] = column_real(row, n + 2 + i);
}

static void read_metric_row(struct summary *s, sqlite3_stmt *row, bool *ok)
{
    const char *name = (const char *)sqlite3_column_text(row, 0);
    int metric = name != NULL ? metric_find(name) : -1;
    if (metric >= 0) {
        s->metric[metric] = column_real(row, 1);
    } else if (name != NULL && s->n_extra < METRICS_EXTRA_MAX) {
        s->extra_name[s->n_extra] = keep(s, name, ok);
        s->extra[s->n_extra++] = column_real(row, 1);
    }
}

static void read_size_row(struct summary *s, sqlite3_stmt *row, bool *ok)
{
    (void)ok;
    add_job(s, llround(sqlite3_column_double(row, 0) * 1e3), sqlite3_column_int64(row, 1),
            sqlite3_column_int64(row, 2));
}

static void read_longest_row(struct summary *s, sqlite3_stmt *row, bool *ok)
{
    const char *bytes = sqlite3_column_blob(row, 0);
    s->longest = keep_shown(s, bytes, (size_t)sqlite3_column_bytes(row, 0), ok);
}

static void read_event_row(struct summary *s, sqlite3_stmt *row, bool *ok)
{
    const char *kind = (const char *)sqlite3_column_text(row, 0);
    const char *text = (const char *)sqlite3_column_text(row, 1);
    *ok = *ok && kind != NULL &&
          count_event(s, kind, text != NULL ? text : "", sqlite3_column_int64(row, 2));
}

/* Calls take for every row. */
static enum status read_rows(struct summary *s, struct store *store, int64_t run, const char *sql,
                             void (*take)(struct summary *, sqlite3_stmt *, bool *),
                             struct error *err)
{
    sqlite3_stmt *statement;
    bool row = false, ok = true;
    TRY(store_select(store, sql, run, &statement, err));
    enum status status = store_step(store, statement, &row, err);
    while (status == ST_OK && row) {
        take(s, statement, &ok);
        status = ok ? store_step(store, statement, &row, err) : fail_memory(err);
    }
    sqlite3_finalize(statement);
    return status;
}

enum status summary_read(struct summary *s, struct store *store, int64_t run, struct error *err)
{
    enum status status = ST_OK;
    bool ok = true;
    *s = (struct summary){0};
    for (int i = 0; i < N_METRICS; i++)
        s->metric[i] = NAN;
    TRY_OUT(read_rows(s, store, run,
                      "SELECT name, label, policy, truth, status, trace, trace_hash, cluster,"
                      " program, created, seed, end_us, decide_mean_ms, decide_p99_ms, wall_s,"
                      " cpu_s, peak_rss_mib FROM run WHERE id = ?1",
                      read_run_row, err));
    TRY_OUT(read_rows(s, store, run, "SELECT name, value FROM metric WHERE run = ?1",
                      read_metric_row, err));
    s->db = keep(s, store->path, &ok);
    if (!ok)
        status = fail_memory(err);
    else if (s->name == NULL || s->policy == NULL || s->status == NULL)
        status = fail(err, ST_OUTPUT, "%s: run %lld is not in it", store->path, (long long)run);
out:
    if (status != ST_OK)
        summary_free(s);
    return status;
}

enum status summary_read_jobs(struct summary *s, struct store *store, int64_t run,
                              struct error *err)
{
    TRY(read_rows(s, store, run,
                  "SELECT gpu, start_us - submit_us, finish_us - submit_us FROM job"
                  " WHERE run = ?1 AND status = 'done'",
                  read_size_row, err));
    close_sizes(s);
    TRY(read_rows(s, store, run,
                  "SELECT name FROM job WHERE run = ?1 AND status = 'done'"
                  " ORDER BY start_us - submit_us DESC, job LIMIT 1",
                  read_longest_row, err));
    return read_rows(s, store, run,
                     "SELECT kind, text, count(*) FROM event WHERE run = ?1"
                     " GROUP BY kind, text ORDER BY min(id)",
                     read_event_row, err);
}
