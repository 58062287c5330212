#include "sim/results/page.h"

#include "core/base/units.h"
#include "sim/results/figures.h"
#include "sim/results/palette.h"
#include "sim/results/quantile.h"
#include "sim/results/quote.h"
#include "sim/run/metrics.h"

#include <stdlib.h>
#include <string.h>

/* A name as text; what is no UTF-8 of it becomes \xNN, as in export. */
#define TEXT(column_) "iif(typeof(" column_ ") = 'blob', as_text(" column_ "), " column_ ")"
/* A column as a JSON array, null where nothing stands in it. */
#define COLUMN(name_, value_)                                                                      \
    "'" name_ "', iif(count(" value_ ") = 0, NULL, json(json_group_array(" value_ ")))"
/* To the millisecond, and whole ones as such: a page is to be looked at. */
#define SECONDS(us_) "iif(" us_ " % 1000000 = 0, " us_ " / 1000000, round(" us_ " / 1e6, 3))"

// clang-format off
static const char run_sql[] =
    "SELECT json_object('name', name, 'policy', policy, 'seed', seed, 'status', status,"
    " 'truth', truth, 'trace', " TEXT("trace") ", 'cluster', " TEXT("cluster") ","
    " 'created', created, 'first_s', (SELECT min(submit_us) / 1e6 FROM job WHERE run = ?1),"
    " 'metrics', json((SELECT json_group_object(name, value) FROM metric WHERE run = ?1)),"
    " 'settings', json((SELECT json_group_array(json_array(key, " TEXT("value") ", unit, initial))"
    " FROM setting WHERE run = ?1))) FROM run WHERE id = ?1";
static const char jobs_sql[] =
    "SELECT json_object(" COLUMN("job", "job") ", " COLUMN("name", TEXT("name")) ", "
    COLUMN("status", "status") ", " COLUMN("wait_s", SECONDS("(start_us - submit_us)")) ", "
    COLUMN("jct_s", SECONDS("(finish_us - submit_us)")) ", " COLUMN("gpu", "iif(gpu = CAST(gpu AS INTEGER), CAST(gpu AS INTEGER), gpu)") ", "
    COLUMN("instances", "n_inst") ", " COLUMN("submit_s", SECONDS("submit_us")) ", "
    COLUMN("start_s", SECONDS("start_us")) ", " COLUMN("finish_s", SECONDS("finish_us")) ", "
    COLUMN("duration_s", SECONDS("duration_us")) ", " COLUMN("evicted", "nullif(n_evicted, 0)") ", "
    COLUMN("priority", "nullif(priority, 0)") ", " COLUMN("kind", "kind") ", "
    COLUMN("workload", TEXT("workload")) ", " COLUMN("config", TEXT("config")) ", "
    COLUMN("gpu_type", TEXT("gpu_type")) ", " COLUMN("user", TEXT("user")) ", "
    COLUMN("queue", TEXT("queue")) ", " COLUMN("group", TEXT("\"group\""))
    ") FROM (SELECT * FROM job WHERE run = ?1 ORDER BY job)";
static const char spans_sql[] =
    "SELECT json_object('job', json(json_group_array(job)), 'start_s', json(json_group_array("
    SECONDS("start_us") ")), 'end_s', json(json_group_array(" SECONDS("end_us") ")),"
    " 'node', json(json_group_array(node)), 'gpu', json(json_group_array(gpu)),"
    " 'n', json(json_group_array(n_gpus)))"
    " FROM (SELECT * FROM span WHERE run = ?1 AND gpu IS NOT NULL ORDER BY start_us, id)";
static const char nodes_sql[] =
    "SELECT json_group_array(json_array(" TEXT("name") ", CAST(gpu AS INTEGER)))"
    " FROM (SELECT * FROM node WHERE run = ?1 ORDER BY node)";
static const char rows_sql[] =
    "SELECT (SELECT count(*) FROM job WHERE run = ?1) + (SELECT count(*) FROM span WHERE run = ?1)";
// clang-format on

/* How a figure is shown on the page: what stands at its axes. */
static const struct shown_figure {
    const struct figure *figure;
    const char *x, *y; /* NULL: the metric */
    const char *how;   /* log: across; zero: time from 0; points: no lines; "" */
} shown[] = {
    {&figure_jct_cdf, "job completion time (s)", "part of the jobs", "log"},
    {&figure_wait_over_time, "submission (h)", "queueing delay (h)", "zero"},
    {&figure_queue, "time (h)", "jobs waiting", "zero"},
    {&figure_gpu_alloc, "time (h)", "GPUs in use (%)", "zero"},
    {&figure_sm_util, "time (h)", "SM utilisation (%)", "zero"},
    {&figure_load, "offered load", NULL, ""},
    {&figure_scale, "GPUs", NULL, ""},
    {&figure_pareto, NULL, NULL, "points"},
};

struct page {
    struct store *store;
    const struct chosen *runs;
    FILE *to;    /* the data as JSON */
    char *first; /* the runs that have a line each in a figure: "[3,1]" */
};

/* The SQL function as_text. */
static void as_text(sqlite3_context *context, int argc, sqlite3_value **argv)
{
    static const char digits[] = "0123456789abcdef";
    (void)argc;
    const unsigned char *bytes = sqlite3_value_blob(argv[0]);
    size_t n = (size_t)sqlite3_value_bytes(argv[0]), used = 0;
    char *text = sqlite3_malloc64(4 * n + 1);
    if (text == NULL) {
        sqlite3_result_error_nomem(context);
        return;
    }
    for (size_t i = 0; i < n;) {
        size_t length = utf8_length((const char *)bytes + i, n - i);
        if (length == 0 || bytes[i] == '\0') {
            const char escape[] = {'\\', 'x', digits[bytes[i] >> 4], digits[bytes[i] & 15]};
            memcpy(text + used, escape, sizeof escape);
            used += sizeof escape;
            i++;
        } else {
            memcpy(text + used, bytes + i, length);
            used += length;
            i += length;
        }
    }
    sqlite3_result_text64(context, text, used, sqlite3_free, SQLITE_UTF8);
}

/* Of open_memstream. */
static enum status close_text(FILE *text, enum status so_far, struct error *err)
{
    bool whole = ferror(text) == 0;
    if (fclose(text) == 0 && whole)
        return so_far;
    return so_far != ST_OK ? so_far : fail_memory(err);
}

/* The one text that a question about a run gives; null where it gives none. */
static enum status put_sql(const struct page *p, const char *sql, int64_t run, struct error *err)
{
    sqlite3_stmt *row = NULL;
    bool more = false;
    TRY(store_select(p->store, sql, run, &row, err));
    enum status status = store_step(p->store, row, &more, err);
    const char *text = more ? (const char *)sqlite3_column_text(row, 0) : NULL;
    if (text == NULL && sqlite3_errcode(p->store->db) == SQLITE_NOMEM)
        status = fail_memory(err);
    if (status == ST_OK)
        fputs(text != NULL ? text : "null", p->to);
    sqlite3_finalize(row);
    return status;
}

static enum status count_rows(const struct page *p, int64_t run, int64_t *n, struct error *err)
{
    sqlite3_stmt *row = NULL;
    bool more = false;
    TRY(store_select(p->store, rows_sql, run, &row, err));
    enum status status = store_step(p->store, row, &more, err);
    *n = more ? sqlite3_column_int64(row, 0) : 0;
    sqlite3_finalize(row);
    return status;
}

/* One run: {"about": …, "jobs": …, "spans": …, "nodes": …}, the last three null without detail. */
static enum status put_run(const struct page *p, int64_t run, bool detail, struct error *err)
{
    static const struct {
        const char *name, *sql;
    } part[] = {{"jobs", jobs_sql}, {"spans", spans_sql}, {"nodes", nodes_sql}};
    fputs("{\"about\": ", p->to);
    TRY(put_sql(p, run_sql, run, err));
    for (int i = 0; i < 3; i++) {
        fprintf(p->to, ", \"%s\": ", part[i].name);
        if (detail)
            TRY(put_sql(p, part[i].sql, run, err));
        else
            fputs("null", p->to);
    }
    fputc('}', p->to);
    return ST_OK;
}

static enum status put_runs(const struct page *p, struct error *err)
{
    int64_t left = PAGE_ROWS_MAX, n_left_out = 0;
    fputs("\"runs\": [", p->to);
    for (size_t i = 0; i < p->runs->n; i++) {
        int64_t n;
        TRY(count_rows(p, p->runs->run[i], &n, err));
        bool detail = n <= left;
        left -= detail ? n : 0;
        n_left_out += !detail;
        fputs(i > 0 ? ",\n" : "\n", p->to);
        TRY(put_run(p, p->runs->run[i], detail, err));
    }
    fprintf(p->to,
            "],\n\"left_out\": \"The jobs and bars of %lld of %zu runs are not on this page, which "
            "holds %d of them at most: name fewer runs with --run, or use colosim export.\",\n",
            (long long)n_left_out, p->runs->n, PAGE_ROWS_MAX);
    return ST_OK;
}

static void put_metrics(const struct page *p)
{
    fputs("\"metrics\": [", p->to);
    for (int i = 0; i < N_METRICS; i++) {
        fprintf(p->to, "%s{\"name\": \"%s\", \"unit\": \"%s\", \"doc\": ", i > 0 ? ", " : "",
                metric_infos[i].name, metric_infos[i].unit);
        quote_json(p->to, metric_infos[i].doc);
        fputc('}', p->to);
    }
    fputs("],\n\"palette\": [", p->to);
    const char *comma = "";
#define X(colour_, dash_, mark_)                                                                   \
    fprintf(p->to, "%s\"%s\"", comma, colour_);                                                    \
    comma = ", ";
    PALETTE(X)
#undef X
    fputs("],\n", p->to);
}

static enum status ask_figure(const struct page *p, const struct figure *figure, sqlite3_stmt **row,
                              struct error *err)
{
    TRY(store_select(p->store, figure->sql, 0, row, err));
    int n = sqlite3_bind_parameter_count(*row);
    const char *runs = figure->of == FIGURE_RUNS ? p->first : p->runs->json;
    if (sqlite3_bind_text(*row, 1, runs, -1, SQLITE_STATIC) != SQLITE_OK ||
        (n >= 2 && sqlite3_bind_text(*row, 2, figure->metric_x, -1, SQLITE_STATIC) != SQLITE_OK) ||
        (n >= 3 && sqlite3_bind_text(*row, 3, figure->metric_y, -1, SQLITE_STATIC) != SQLITE_OK) ||
        (n >= 4 && sqlite3_bind_int(*row, 4, -1) != SQLITE_OK) || /* JCT: less is better */
        (n >= 5 && sqlite3_bind_int(*row, 5, 1) != SQLITE_OK))    /* throughput: more */
        return store_fail(p->store, "cannot be read", err);
    return ST_OK;
}

/* {"name": …, "rows": [[x, y], …]} of every series; *n_points of the longest. */
static enum status put_series(const struct page *p, sqlite3_stmt *row, int *n_points,
                              struct error *err)
{
    char x[32], y[32], name[256] = "";
    bool more = false, open = false;
    int n = 0;
    enum status status = store_step(p->store, row, &more, err);
    for (; status == ST_OK && more; status = store_step(p->store, row, &more, err)) {
        const char *of = (const char *)sqlite3_column_text(row, 0);
        of = of != NULL ? of : "";
        if (!open || strncmp(name, of, sizeof name - 1) != 0) {
            snprintf(name, sizeof name, "%s", of);
            fputs(open ? "]}, {\"name\": " : "{\"name\": ", p->to);
            quote_json(p->to, of);
            fputs(", \"rows\": [", p->to);
            open = true;
            n = 0;
        }
        fprintf(p->to, "%s[%s,%s]", n++ > 0 ? "," : "",
                format_real(sqlite3_column_double(row, 1), x),
                format_real(sqlite3_column_double(row, 2), y));
        *n_points = n > *n_points ? n : *n_points;
    }
    fputs(open ? "]}" : "", p->to);
    return status;
}

static void put_label(const struct page *p, const char *axis, const char *text, const char *metric)
{
    fprintf(p->to, "\"%s\": ", axis);
    quote_json(p->to, text != NULL ? text : metric != NULL ? metric : "");
    fputs(", ", p->to);
}

/* Figures without a point are left out, and those of a study where there is none. */
static enum status put_figure(struct page *p, const struct shown_figure *f, bool *any,
                              struct error *err)
{
    sqlite3_stmt *row = NULL;
    struct page part = *p; /* its series, put aside until they are known to be some */
    char *series = NULL;
    size_t size = 0;
    int n_points = 0;
    part.to = open_memstream(&series, &size);
    if (part.to == NULL)
        return fail_memory(err);
    enum status status = ask_figure(p, f->figure, &row, err);
    if (status == ST_OK)
        status = put_series(&part, row, &n_points, err);
    sqlite3_finalize(row);
    status = close_text(part.to, status, err);
    if (status == ST_OK && n_points > 0 && (f->figure->of != FIGURE_STUDY || n_points > 1)) {
        fprintf(p->to, "%s\n{\"name\": \"%s\", \"summary\": \"%s\", ", *any ? "," : "",
                f->figure->name, f->figure->summary);
        put_label(p, "x", f->x, f->figure->metric_x);
        put_label(p, "y", f->y, f->figure->metric_y);
        fprintf(p->to, "\"how\": \"%s\", \"series\": [%s]}", f->how, series);
        *any = true;
    }
    free(series);
    return status;
}

static enum status put_figures(struct page *p, struct error *err)
{
    bool any = false;
    fputs("\"figures\": [", p->to);
    for (size_t i = 0; i < sizeof shown / sizeof *shown; i++)
        TRY(put_figure(p, &shown[i], &any, err));
    fputs("]", p->to);
    return ST_OK;
}

/* The first runs, one for each colour there is. */
static enum status choose_first(struct page *p, struct error *err)
{
    size_t size = 0;
    FILE *to = open_memstream(&p->first, &size);
    if (to == NULL)
        return fail_memory(err);
    for (size_t i = 0; i < p->runs->n && i < N_PALETTE - 1; i++)
        fprintf(to, "%s%lld", i > 0 ? "," : "[", (long long)p->runs->run[i]);
    fputc(']', to);
    return close_text(to, ST_OK, err);
}

static enum status put_data(struct page *p, struct error *err)
{
    const char *slash = strrchr(p->store->path, '/');
    char about[300];
    TRY(choose_first(p, err));
    if (quantile_register(p->store->db) != SQLITE_OK ||
        sqlite3_create_function(p->store->db, "as_text", 1, SQLITE_UTF8 | SQLITE_DETERMINISTIC,
                                NULL, as_text, NULL, NULL) != SQLITE_OK)
        return fail_memory(err);
    snprintf(about, sizeof about, "%zu run%s of %s, by colosim %s%s", p->runs->n,
             p->runs->n == 1 ? "" : "s", slash != NULL ? slash + 1 : p->store->path,
             COLOSIM_VERSION,
             p->runs->n < N_PALETTE ? "" : "; figures with a line a run show the first eight");
    fputs("{\"about\": ", p->to);
    quote_json(p->to, about);
    fputs(",\n", p->to);
    put_metrics(p);
    TRY(put_runs(p, err));
    TRY(put_figures(p, err));
    fputs("}\n", p->to);
    return ST_OK;
}

/* "<" could end the element that holds the data; in JSON it is only ever inside a string. */
static void print_data(FILE *to, const char *data, size_t n)
{
    for (const char *end = data + n; data < end;) {
        const char *next = memchr(data, '<', (size_t)(end - data));
        next = next != NULL ? next : end;
        fwrite(data, 1, (size_t)(next - data), to);
        if (next < end)
            fputs("\\u003c", to);
        data = next + 1;
    }
}

enum status page_write(struct store *s, const struct chosen *runs, struct output *to,
                       struct error *err)
{
    struct page p = {.store = s, .runs = runs};
    char *data = NULL;
    size_t size = 0;
    p.to = open_memstream(&data, &size);
    if (p.to == NULL)
        return fail_memory(err);
    enum status status = put_data(&p, err);
    status = close_text(p.to, status, err);
    if (status == ST_OK) {
        fwrite(page_head, 1, page_head_length, to->file);
        print_data(to->file, data, size);
        fwrite(page_tail, 1, page_tail_length, to->file);
    }
    free(p.first);
    free(data);
    return status;
}
