#include "sim/results/rows.h"

#include "sim/results/cells.h"
#include "sim/results/feed.h"
#include "sim/results/quote.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

const char *rows_created(char text[32])
{
    time_t now = time(NULL);
    struct tm utc;
    strftime(text, 32, "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&now, &utc));
    return text;
}

const char *run_outcome(const struct run_result *r)
{
    return r->log.interrupted ? "interrupted" : r->nothing_ran ? "failed" : "complete";
}

// clang-format off
/* A table of columns, X(name, what sets the cell), gives their list as SQL and, in a function with
 * out and column, the switch that sets one. */
#define COLUMN_NAME(name_, cell_) ",\"" #name_ "\""
#define COLUMN_LIST(columns_) (&columns_(COLUMN_NAME)[1])
#define COLUMN_ENUM(name_, cell_) COLUMN_##name_,
#define COLUMN_CASE(name_, cell_) case COLUMN_##name_: cell_; break;
#define SET_CELL(columns_)                                                                         \
    enum { columns_(COLUMN_ENUM) };                                                                \
    switch (column) { columns_(COLUMN_CASE) }
// clang-format on

/* The files that were read, one a line. */
static void cell_files(sqlite3_context *out, const struct import_report *report)
{
    size_t n = 0;
    for (int i = 0; i < report->n_files; i++)
        n += strlen(report->file[i]) + 1;
    if (n == 0)
        return;
    char *text = sqlite3_malloc64(n);
    if (text == NULL) {
        sqlite3_result_error_nomem(out);
        return;
    }
    char *at = text;
    for (int i = 0; i < report->n_files; i++) {
        at = stpcpy(at, report->file[i]);
        *at++ = i + 1 < report->n_files ? '\n' : '\0';
    }
    if (utf8_valid(text, n - 1))
        sqlite3_result_text64(out, text, n - 1, sqlite3_free, SQLITE_UTF8);
    else
        sqlite3_result_blob64(out, text, n - 1, sqlite3_free);
}

const char *run_trace_hash(const struct run_result *r, char text[17])
{
    if (r->trace.hash == 0)
        return NULL;
    snprintf(text, 17, "%016" PRIx64, r->trace.hash);
    return text;
}

const char *run_truth(const struct run_request *q)
{
    for (const struct param *p = run_params; p->name != NULL; p++)
        if (strcmp(p->name, "truth") == 0)
            return p->choices[q->run.truth];
    return NULL;
}

// clang-format off
#define RUN_COLUMNS(X)                                                                             \
    X(name, cell_text(out, rows->name))                                                            \
    X(label, cell_text(out, q->run.label))                                                         \
    X(policy, cell_text(out, r->policy->name))                                                       \
    X(truth, cell_text(out, run_truth(q)) )                                                        \
    X(seed, sqlite3_result_int64(out, q->run.seed))                                                \
    X(status, cell_text(out, run_outcome(r)))                                                      \
    X(trace, cell_files(out, &r->trace.report))                                                    \
    X(trace_hash, cell_copy(out, run_trace_hash(r, hash)))                                         \
    X(format, cell_text(out, r->trace.report.format))                                              \
    X(cluster, cell_text(out, q->run.cluster))                                                     \
    X(program, cell_text(out, COLOSIM_VERSION))                                                    \
    X(created, cell_text(out, rows->created))                                                      \
    X(end_us, cell_time(out, r->log.end_us))                                                       \
    X(sample_us, sqlite3_result_int64(out, r->log.sample_us))                                      \
    X(decide_mean_ms, cell_real(out, r->log.decide_s_mean * 1e3))                                  \
    X(decide_p99_ms, cell_real(out, r->log.decide_s_p99 * 1e3))                                    \
    X(wall_s, cell_real(out, r->wall_s))                                                           \
    X(cpu_s, cell_real(out, r->cpu_s))                                                             \
    X(peak_rss_mib, cell_real(out, r->peak_rss_mib))
// clang-format on

static void run_cell(const void *from, int64_t row, int column, sqlite3_context *out)
{
    (void)row;
    const struct run_rows *rows = from;
    const struct run_request *q = rows->request;
    const struct run_result *r = rows->result;
    char hash[17];
    SET_CELL(RUN_COLUMNS)
}

static const char *const status_words[] = {"pending", "waiting",  "running",
                                           "done",    "rejected", "unfinished"};
static const char *const kind_words[] = {NULL, "train", "infer"};

/* The type of the first task that asks for one. */
static int32_t job_gpu_type(const struct job_table *t, int32_t job)
{
    for (int32_t k = t->task_begin[job]; k < t->task_begin[job + 1]; k++)
        if (t->gpu_type[k] >= 0)
            return t->gpu_type[k];
    return -1;
}

// clang-format off
#define JOB_COLUMNS(X)                                                                             \
    X(job, sqlite3_result_int(out, j))                                                             \
    X(name, cell_name(out, &t->job_names, j))                                                      \
    X(status, sqlite3_result_text(out, status_words[t->status[j]], -1, SQLITE_STATIC))             \
    X(submit_us, cell_time(out, t->submit_us[j]))                                                  \
    X(start_us, cell_time(out, t->start_us[j]))                                                    \
    X(finish_us, cell_time(out, t->finish_us[j]))                                                  \
    X(duration_us, cell_time(out, job_duration_us(t, j)))                                          \
    X(gpu, sqlite3_result_double(out, (double)job_gpu_milli(t, j) / 1e3))                          \
    X(n_inst, sqlite3_result_int(out, job_n_inst(t, j)))                                           \
    X(work_gpu_s, sqlite3_result_double(out, job_work_gpu_s(t, j)))                                \
    X(held_gpu_s, sqlite3_result_double(out, (double)t->attained_milli_us[j] / 1e9))               \
    X(n_evicted, sqlite3_result_int(out, t->n_evicted[j]))                                         \
    X(priority, sqlite3_result_int(out, t->priority[j]))                                           \
    X(kind, cell_text(out, kind_words[t->kind[j]]))                                                \
    X(gpu_type, cell_name(out, &t->names, job_gpu_type(t, j)))                                     \
    X(user, cell_name(out, &t->names, t->user[j]))                                                 \
    X(group, cell_name(out, &t->names, t->group[j]))                                               \
    X(queue, cell_name(out, &t->names, t->queue[j]))                                               \
    X(workload, cell_name(out, &t->names, t->workload[j]))                                         \
    X(config, cell_name(out, &t->names, t->config[j]))
// clang-format on

static void job_cell(const void *from, int64_t row, int column, sqlite3_context *out)
{
    const struct job_table *t = &((const struct run_rows *)from)->result->trace.jobs;
    int32_t j = (int32_t)row;
    SET_CELL(JOB_COLUMNS)
}

/* The extras of the policy follow the named ones. */
static const char *metric_name(const struct run_result *r, int64_t i)
{
    return i < N_METRICS ? metric_infos[i].name : r->extra_name[i - N_METRICS];
}

// clang-format off
#define METRIC_COLUMNS(X)                                                                          \
    X(name, cell_text(out, metric_name(r, i)))                                                     \
    X(value, cell_real(out, i < N_METRICS ? r->metric[i] : r->extra[i - N_METRICS]))               \
    X(unit, cell_text(out, i < N_METRICS ? metric_infos[i].unit : NULL))
// clang-format on

static void metric_cell(const void *from, int64_t i, int column, sqlite3_context *out)
{
    const struct run_result *r = ((const struct run_rows *)from)->result;
    SET_CELL(METRIC_COLUMNS)
}

// clang-format off
#define NODE_COLUMNS(X)                                                                            \
    X(node, sqlite3_result_int64(out, i))                                                          \
    X(name, cell_name(out, &c->names, (int32_t)i))                                                 \
    X(gpu_type, cell_name(out, &c->gpu_types, c->node_type[i]))                                    \
    X(gpu, sqlite3_result_double(out, (double)c->node_gpu_milli[i] / 1e3))
// clang-format on

static void node_cell(const void *from, int64_t i, int column, sqlite3_context *out)
{
    const struct cluster *c = &((const struct run_rows *)from)->result->cluster;
    SET_CELL(NODE_COLUMNS)
}

// clang-format off
#define SAMPLE_COLUMNS(X)                                                                          \
    X(start_us, sqlite3_result_int64(out, s->start_us))                                            \
    X(gpu_held, cell_real(out, s->gpu_held))                                                       \
    X(jobs_waiting, cell_real(out, s->jobs_waiting))                                               \
    X(jobs_running, cell_real(out, s->jobs_running))                                               \
    X(sm_busy, cell_real(out, l->sm_unknown ? NAN : s->sm_busy))
// clang-format on

static void sample_cell(const void *from, int64_t i, int column, sqlite3_context *out)
{
    const struct run_log *l = &((const struct run_rows *)from)->result->log;
    const struct sample *s = &l->sample[i];
    SET_CELL(SAMPLE_COLUMNS)
}

// clang-format off
#define SPAN_COLUMNS(X)                                                                            \
    X(id, sqlite3_result_int64(out, i))                                                            \
    X(job, sqlite3_result_int(out, t->task_job[s->task]))                                          \
    X(task, sqlite3_result_int(out, s->task - t->task_begin[t->task_job[s->task]]))                \
    X(task_name, cell_name(out, &t->names, t->task_name[s->task]))                                 \
    X(start_us, sqlite3_result_int64(out, s->start_us))                                            \
    X(end_us, sqlite3_result_int64(out, s->end_us))                                                \
    X(node, sqlite3_result_int(out, s->node))                                                      \
    X(gpu, if (s->first_gpu >= 0) sqlite3_result_int(out, s->first_gpu))                           \
    X(n_gpus, sqlite3_result_int(out, s->n_gpus))                                                  \
    X(n_inst, sqlite3_result_int(out, s->n_inst))                                                  \
    X(share_milli, sqlite3_result_int(out, t->gpu_milli[s->task]))                                 \
    X(kind, cell_text(out, span_kind_names[s->kind]))
// clang-format on

static void span_cell(const void *from, int64_t i, int column, sqlite3_context *out)
{
    const struct run_result *r = ((const struct run_rows *)from)->result;
    const struct job_table *t = &r->trace.jobs;
    const struct span *s = &r->log.span[i];
    SET_CELL(SPAN_COLUMNS)
}

// clang-format off
#define EVENT_COLUMNS(X)                                                                           \
    X(id, sqlite3_result_int64(out, i))                                                            \
    X(time_us, sqlite3_result_int64(out, h->time_us))                                              \
    X(kind, cell_text(out, happening_names[h->kind]))                                              \
    X(job, if (h->job >= 0) sqlite3_result_int(out, h->job))                                       \
    X(text, cell_text(out, h->text))
// clang-format on

static void event_cell(const void *from, int64_t i, int column, sqlite3_context *out)
{
    const struct happening_row *h = &((const struct run_rows *)from)->result->log.happening[i];
    SET_CELL(EVENT_COLUMNS)
}

// clang-format off
#define EPOCH_COLUMNS(X)                                                                           \
    X(id, sqlite3_result_int64(out, i))                                                            \
    X(time_us, sqlite3_result_int64(out, l->epoch[i].time_us))                                     \
    X(rounds, sqlite3_result_int(out, e->rounds))                                                  \
    X(iterations, sqlite3_result_int(out, e->iterations))                                          \
    X(jobs_priced, sqlite3_result_int(out, e->n_residents))                                        \
    X(jobs_waiting, sqlite3_result_int(out, e->n_waiting))                                         \
    X(pairs, sqlite3_result_int(out, e->n_couples))                                                \
    X(violations, sqlite3_result_int(out, e->n_violations))                                        \
    X(score, epoch_real(out, e, e->score))                                                         \
    X(bound, epoch_real(out, e, e->bound))                                                         \
    X(gap_frac, epoch_real(out, e, e->gap_frac))                                                   \
    X(price_gpu_mem, epoch_price(out, e, 0))                                                       \
    X(price_place, epoch_price(out, e, 1))                                                         \
    X(price_sm, epoch_price(out, e, 2))                                                            \
    X(price_cpu, epoch_price(out, e, 3))                                                           \
    X(price_mem, epoch_price(out, e, 4))                                                           \
    X(esp_ms, cell_real(out, e->esp_s * 1e3))                                                      \
    X(iac_ms, cell_real(out, e->iac_s * 1e3))                                                      \
    X(pds_ms, cell_real(out, e->pds_s * 1e3))
// clang-format on

/* NULL where nothing was priced, and for a gap that has no end. */
static void epoch_real(sqlite3_context *out, const struct epoch *e, double value)
{
    if (e->rounds > 0 && isfinite(value))
        cell_real(out, value);
}

static void epoch_price(sqlite3_context *out, const struct epoch *e, int i)
{
    if (i < e->n_prices && isfinite(e->price[i]))
        cell_real(out, e->price[i]);
}

static void epoch_cell(const void *from, int64_t i, int column, sqlite3_context *out)
{
    const struct run_log *l = &((const struct run_rows *)from)->result->log;
    const struct epoch *e = &l->epoch[i].epoch;
    SET_CELL(EPOCH_COLUMNS)
}

/* Every resolved setting; the request's groups are walked to the row. */
struct setting {
    const struct param_group *group;
    const struct param *param;
};

struct setting_rows {
    struct param_group group[GROUPS_MAX];
    int n_groups;
};

static bool setting_at(const struct setting_rows *rows, int64_t row, struct setting *out)
{
    for (int g = 0; g < rows->n_groups; g++) {
        out->group = &rows->group[g];
        out->param = rows->group[g].params;
        for (; out->param != NULL && out->param->name != NULL; out->param++)
            if (row-- == 0)
                return true;
    }
    return false;
}

// clang-format off
#define SETTING_COLUMNS(X)                                                                         \
    X(key, cell_copy(out, param_key(s.group, s.param, key)))                                       \
    X(value, cell_copy(out, param_text(s.param, s.group->config, text)))                           \
    X(unit, cell_text(out, s.param->unit))                                                         \
    X(initial, cell_copy(out, param_initial(s.param, text)))
// clang-format on

static void setting_cell(const void *from, int64_t row, int column, sqlite3_context *out)
{
    struct setting s;
    char key[128], text[64];
    if (!setting_at(from, row, &s))
        return;
    SET_CELL(SETTING_COLUMNS)
}

static int settings_write(sqlite3 *db, int64_t run, const struct run_request *q)
{
    struct setting_rows rows;
    rows.n_groups = run_groups(q, rows.group);
    struct setting s;
    int64_t n = 0;
    while (setting_at(&rows, n, &s))
        n++;
    return feed_into(db, "setting", "run", run,
                     &(struct feed){n, COLUMN_LIST(SETTING_COLUMNS), setting_cell, &rows, NULL});
}

int rows_write(sqlite3 *db, int64_t run, const struct run_rows *rows)
{
    const struct run_result *r = rows->result;
    const struct run_log *l = &r->log;
    // clang-format off
    const struct {
        const char *table, *key;
        struct feed feed;
    } part[] = {
        {"run", "id", {1, COLUMN_LIST(RUN_COLUMNS), run_cell, rows, NULL}},
        {"job", "run", /* of an interrupted run those it came to */
         {r->trace.jobs.n_jobs, COLUMN_LIST(JOB_COLUMNS), job_cell, rows, "status <> 'pending'"}},
        {"metric", "run", {N_METRICS + r->n_extra, COLUMN_LIST(METRIC_COLUMNS), metric_cell, rows, NULL}},
        {"node", "run", {r->cluster.n_nodes, COLUMN_LIST(NODE_COLUMNS), node_cell, rows, NULL}},
        {"sample", "run", {(int64_t)l->n_samples, COLUMN_LIST(SAMPLE_COLUMNS), sample_cell, rows, NULL}},
        {"span", "run", {(int64_t)l->n_spans, COLUMN_LIST(SPAN_COLUMNS), span_cell, rows, NULL}},
        {"epoch", "run", {(int64_t)l->n_epochs, COLUMN_LIST(EPOCH_COLUMNS), epoch_cell, rows, NULL}},
        {"event", "run", {(int64_t)l->n_happenings, COLUMN_LIST(EVENT_COLUMNS), event_cell, rows, NULL}},
    };
    // clang-format on
    for (size_t i = 0; i < sizeof part / sizeof *part; i++) {
        int code = feed_into(db, part[i].table, part[i].key, run, &part[i].feed);
        if (code != SQLITE_OK)
            return code;
    }
    return settings_write(db, run, rows->request);
}
