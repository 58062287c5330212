#include "sim/results/export.h"

#include "core/base/units.h"
#include "sim/results/quote.h"

#include <math.h>
#include <string.h>

enum cell { CELL_END, CELL_TIME, CELL_INT, CELL_REAL, CELL_TEXT };

struct export_column {
    const char *name;
    enum cell cell;
    const char *sql;
};

static const struct export_column job_columns[] = {
    {"job", CELL_TEXT, "name"},
    {"status", CELL_TEXT, "status"},
    {"submit_s", CELL_TIME, "submit_us"},
    {"start_s", CELL_TIME, "start_us"},
    {"finish_s", CELL_TIME, "finish_us"},
    {"wait_s", CELL_TIME, "start_us - submit_us"},
    {"jct_s", CELL_TIME, "finish_us - submit_us"},
    {"duration_s", CELL_TIME, "duration_us"},
    {"gpu", CELL_REAL, "gpu"},
    {"instances", CELL_INT, "n_inst"},
    {"work_gpu_s", CELL_REAL, "work_gpu_s"},
    {"held_gpu_s", CELL_REAL, "held_gpu_s"},
    {"evicted", CELL_INT, "n_evicted"},
    {"priority", CELL_INT, "priority"},
    {"kind", CELL_TEXT, "kind"},
    {"gpu_type", CELL_TEXT, "gpu_type"},
    {"user", CELL_TEXT, "user"},
    {"group", CELL_TEXT, "\"group\""},
    {"queue", CELL_TEXT, "queue"},
    {"workload", CELL_TEXT, "workload"},
    {"config", CELL_TEXT, "config"},
    {NULL, CELL_END, "FROM job WHERE run = ?1 ORDER BY job"},
};

static const struct export_column span_columns[] = {
    {"job", CELL_TEXT, "job.name"},
    {"task", CELL_TEXT, "coalesce(span.task_name, span.task)"},
    {"start_s", CELL_TIME, "span.start_us"},
    {"end_s", CELL_TIME, "span.end_us"},
    {"node", CELL_TEXT, "node.name"},
    {"gpu", CELL_INT, "span.gpu"},
    {"gpus", CELL_INT, "span.n_gpus"},
    {"instances", CELL_INT, "span.n_inst"},
    {"share", CELL_REAL, "span.share_milli / 1000.0"},
    {NULL, CELL_END,
     "FROM span JOIN job ON job.run = ?1 AND job.job = span.job"
     " JOIN node ON node.run = ?1 AND node.node = span.node WHERE span.run = ?1 ORDER BY span.id"},
};

static const struct export_column metric_columns[] = {
    {"metric", CELL_TEXT, "name"},
    {"value", CELL_REAL, "value"},
    {"unit", CELL_TEXT, "unit"},
    {NULL, CELL_END, "FROM metric WHERE run = ?1 ORDER BY name"},
};

static const struct export_column sample_columns[] = {
    {"start_s", CELL_TIME, "start_us"},
    {"gpu_held", CELL_REAL, "gpu_held"},
    {"jobs_waiting", CELL_REAL, "jobs_waiting"},
    {"jobs_running", CELL_REAL, "jobs_running"},
    {"sm_busy", CELL_REAL, "sm_busy"},
    {NULL, CELL_END, "FROM sample WHERE run = ?1 ORDER BY start_us"},
};

static const struct export_column event_columns[] = {
    {"time_s", CELL_TIME, "event.time_us"},
    {"kind", CELL_TEXT, "event.kind"},
    {"job", CELL_TEXT, "job.name"},
    {"text", CELL_TEXT, "event.text"},
    {NULL, CELL_END,
     "FROM event LEFT JOIN job ON job.run = ?1 AND job.job = event.job"
     " WHERE event.run = ?1 ORDER BY event.id"},
};

static const struct export_column epoch_columns[] = {
    {"time_s", CELL_TIME, "time_us"},
    {"rounds", CELL_INT, "rounds"},
    {"iterations", CELL_INT, "iterations"},
    {"jobs_priced", CELL_INT, "jobs_priced"},
    {"jobs_waiting", CELL_INT, "jobs_waiting"},
    {"pairs", CELL_INT, "pairs"},
    {"violations", CELL_INT, "violations"},
    {"score", CELL_REAL, "score"},
    {"bound", CELL_REAL, "bound"},
    {"gap_frac", CELL_REAL, "gap_frac"},
    {"price_gpu_mem", CELL_REAL, "price_gpu_mem"},
    {"price_place", CELL_REAL, "price_place"},
    {"price_sm", CELL_REAL, "price_sm"},
    {"price_cpu", CELL_REAL, "price_cpu"},
    {"price_mem", CELL_REAL, "price_mem"},
    {"esp_ms", CELL_REAL, "esp_ms"},
    {"iac_ms", CELL_REAL, "iac_ms"},
    {"pds_ms", CELL_REAL, "pds_ms"},
    {NULL, CELL_END, "FROM epoch WHERE run = ?1 ORDER BY id"},
};

static const struct export_column *const tables[] = {
    [EXPORT_JOBS] = job_columns,       [EXPORT_SPANS] = span_columns,
    [EXPORT_METRICS] = metric_columns, [EXPORT_SAMPLES] = sample_columns,
    [EXPORT_EVENTS] = event_columns,   [EXPORT_EPOCHS] = epoch_columns,
};

/* format_real tries one length after another; most numbers have six decimals or fewer. */
static const char *real_text(double value, char buffer[32])
{
    if (fabs(value) < 1e9) {
        int64_t millionths = us_of_s(value);
        if (s_of_us(millionths) == value)
            return format_us(millionths, buffer);
    }
    return format_real(value, buffer);
}

static void print_text(FILE *to, const char *bytes, size_t n, enum export_format format)
{
    if (format == EXPORT_CSV)
        quote_csv(to, bytes, n);
    else
        quote_json_name(to, bytes, n);
}

static void print_cell(FILE *to, sqlite3_stmt *row, int i, enum cell cell,
                       enum export_format format)
{
    char buffer[32];
    switch (cell) {
    case CELL_TIME: fputs(format_us(sqlite3_column_int64(row, i), buffer), to); break;
    case CELL_INT: fprintf(to, "%lld", (long long)sqlite3_column_int64(row, i)); break;
    case CELL_REAL: fputs(real_text(sqlite3_column_double(row, i), buffer), to); break;
    case CELL_TEXT:
        print_text(to, sqlite3_column_blob(row, i), (size_t)sqlite3_column_bytes(row, i), format);
        break;
    case CELL_END: break;
    }
}

static void print_row(FILE *to, sqlite3_stmt *row, const struct export_column *column,
                      enum export_format format)
{
    for (int i = 0; column[i].name != NULL; i++) {
        if (format == EXPORT_JSON)
            fprintf(to, "%s\"%s\": ", i == 0 ? "{" : ", ", column[i].name);
        else if (i > 0)
            fputc(',', to);
        if (sqlite3_column_type(row, i) != SQLITE_NULL)
            print_cell(to, row, i, column[i].cell, format);
        else if (format == EXPORT_JSON)
            fputs("null", to);
    }
    fputs(format == EXPORT_JSON ? "}" : "\n", to);
}

static void select_text(const struct export_column *column, char sql[1024])
{
    size_t n = 0;
    for (int i = 0; column[i].name != NULL; i++)
        n += (size_t)snprintf(sql + n, 1024 - n, "%s %s", i == 0 ? "SELECT" : ",", column[i].sql);
    while (column->name != NULL)
        column++;
    snprintf(sql + n, 1024 - n, " %s", column->sql);
}

enum status export_rows(struct store *s, int64_t run, enum export_table table,
                        enum export_format format, struct output *to, struct error *err)
{
    const struct export_column *column = tables[table];
    const bool json = format == EXPORT_JSON;
    char sql[1024];
    sqlite3_stmt *statement;
    bool row = false;
    select_text(column, sql);
    TRY(store_select(s, sql, run, &statement, err));
    for (int i = 0; column[i].name != NULL && !json; i++)
        fprintf(to->file, "%s%s", i > 0 ? "," : "", column[i].name);
    fputs(json ? "[" : "\n", to->file);
    enum status status = store_step(s, statement, &row, err);
    for (int64_t i = 0; status == ST_OK && row && !output_broken(to); i++) {
        if (json)
            fputs(i == 0 ? "\n" : ",\n", to->file);
        print_row(to->file, statement, column, format);
        status = store_step(s, statement, &row, err);
    }
    if (json)
        fputs("\n]\n", to->file);
    sqlite3_finalize(statement);
    return status;
}
