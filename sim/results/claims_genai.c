/* GenTD26: what the paper says of its GPU duty cycles and of its request rate. */
#include "sim/results/claims.h"

#include "traces/account.h"
#include "traces/genai_metrics.h"
#include "traces/import.h"

#include <math.h>
#include <string.h>

enum { PART_DUTY = 1, PART_QPS = 2 };
static const char *const parts[] = {"pod_gpu_duty_cycle", "qps", NULL};

/* Sums of requests over windows of w microseconds from the first sample on; a window in which no
 * sample lies has no row. */
#define WINDOWED(windows_)                                                                         \
    "WITH win(w) AS (VALUES " windows_ "), zero(t0) AS (SELECT min(time_us) FROM qps),"            \
    " rate AS (SELECT w, (time_us - t0) / w AS slot, sum(value) AS x FROM qps, zero, win"          \
    " GROUP BY w, slot),"                                                                          \
    " moment AS (SELECT w, count(*) AS n, max(slot) + 1 AS slots, sum(x) AS s, avg(x) AS m,"       \
    " sum(x * x) AS ss, quantile(nullif(x, 0), 0.95) AS p95, quantile(nullif(x, 0), 0.05) AS p5"   \
    " FROM rate GROUP BY w) "
#define GRID_57 "(57000000)"
#define CV      "sqrt(max(0, ss / n - m * m)) / m"

// clang-format off
static const struct claim claims[] = {
    {"GPU utilisation, mean", "%", 7.0, PART_DUTY,
     "mean of value over all samples of pod_gpu_duty_cycle",
     "SELECT avg(value), count(*) FROM duty"},
    {"GPU utilisation, mean of pods", "%", 7.0, PART_DUTY,
     "the other reading: every pod counts alike, however long it was there",
     "SELECT avg(m), sum(n) FROM (SELECT avg(value) AS m, count(*) AS n FROM duty GROUP BY pod)"},
    {"samples under 50 %", "%", 97.7, PART_DUTY,
     "samples with value < 50 over all samples of pod_gpu_duty_cycle",
     "SELECT 100.0 * sum(value < 50) / count(*), count(*) FROM duty"},
    {"GPU utilisation, median", "%", 0, PART_DUTY,
     "median of value over all samples of pod_gpu_duty_cycle (\"effectively zero\")",
     "SELECT quantile(value, 0.5), count(*) FROM duty"},
    {"samples of exactly 0", "%", NAN, PART_DUTY,
     "samples with value = 0 over all samples",
     "SELECT 100.0 * sum(value = 0) / count(*), count(*) FROM duty"},
    {"aggregate QPS, CV", "1", 0.87, PART_QPS,
     "standard deviation over mean of the rates summed over containers and both request types for "
     "each timestamp on the file's own 57-s grid; only timestamps that are there",
     WINDOWED(GRID_57) "SELECT " CV ", n FROM moment"},
    {"QPS, p95 over p5", "1", 85, PART_QPS,
     "the same series: 95th over 5th percentile of what is not 0, linear between order statistics",
     WINDOWED(GRID_57) "SELECT p95 / p5, n FROM moment"},
    {"QPS, p5", "/s", NAN, PART_QPS,
     "rates are multiples of 0.045: the ratio rests on the smallest sum there is",
     WINDOWED(GRID_57) "SELECT p5, n FROM moment"},
    {0},
};

static const char details_sql[] =
    WINDOWED("(57000000), (60000000), (114000000), (120000000), (300000000), (600000000),"
             "(1800000000), (3600000000)")
    "SELECT 'both types' AS series, w / 1e6 AS window_s, n AS windows, " CV " AS cv,"
    " p95 / p5 AS ratio, slots AS with_empty,"
    " sqrt(max(0, ss / slots - s * s / slots / slots)) * slots / s AS cv_with_0 FROM moment "
    "UNION ALL SELECT * FROM (SELECT coalesce(type, 'no type'), 57, count(*),"
    " sqrt(max(0, avg(x * x) - avg(x) * avg(x))) / avg(x),"
    " quantile(nullif(x, 0), 0.95) / quantile(nullif(x, 0), 0.05), NULL, NULL"
    " FROM (SELECT type, sum(value) AS x FROM qps GROUP BY type, time_us) GROUP BY type)";
// clang-format on

/* The file's kind by its name; 0 for the tables the paper does not speak of. */
static unsigned part_of(const char *base)
{
    static const char *const begins[] = {"pod_gpu_duty_cycle", "qps"};
    for (unsigned i = 0; i < 2; i++)
        if (strncmp(base, begins[i], strlen(begins[i])) == 0)
            return 1U << i;
    return 0;
}

static bool knows(const struct input *input) { return part_of(input->base) != 0; }

static enum status add_rows(sqlite3 *db, const char *sql, const struct genai_metrics *m,
                            const struct names *names, struct error *err)
{
    sqlite3_stmt *insert = NULL;
    enum status status = claims_prepare(db, sql, &insert, err);
    for (size_t i = 0; i < m->n && status == ST_OK; i++) {
        const struct genai_metric *r = &m->row[i];
        int bound = sqlite3_bind_int64(insert, 1, r->time_us) |
                    sqlite3_bind_double(insert, 2, r->value) |
                    sqlite3_bind_int(insert, 3, r->container);
        if (r->request_type >= 0)
            bound |= sqlite3_bind_text(insert, 4, names_text(names, r->request_type),
                                       (int)names_length(names, r->request_type), SQLITE_STATIC);
        status = claims_insert(insert, bound, err);
    }
    sqlite3_finalize(insert);
    return status;
}

static enum status load_one(sqlite3 *db, const struct input *in, unsigned part,
                            struct import_report *report, struct error *err)
{
    struct names names = {0};
    struct genai_metrics m;
    enum status status = genai_metrics_read(in->path, &names, &m, err);
    if (status == ST_OK)
        status = add_rows(db,
                          part == PART_DUTY ? "INSERT INTO duty VALUES (?1, ?2, ?3, ?4)"
                                            : "INSERT INTO qps VALUES (?1, ?2, ?3, ?4)",
                          &m, &names, err);
    report->n_rows += m.report.n_rows;
    report->n_kept += m.report.n_kept;
    report->n_dropped += m.report.n_dropped;
    if (status == ST_OK && m.report.n_dropped > 0)
        status = account_note(report, err, "%s: %lld rows dropped, the first: %s", in->name,
                              (long long)m.report.n_dropped, m.report.reason[0].text);
    genai_metrics_free(&m);
    names_free(&names);
    return status;
}

static enum status load(sqlite3 *db, struct importer *im, unsigned *there, struct error *err)
{
    struct listing skipped = {0};
    TRY(claims_exec(db,
                    "CREATE TABLE qps(time_us INTEGER, value REAL, pod INTEGER, type TEXT);"
                    "CREATE TABLE duty(time_us INTEGER, value REAL, pod INTEGER, type TEXT)",
                    err));
    for (size_t i = 0; i < im->inputs.n; i++) {
        const struct input *in = &im->inputs.input[i];
        unsigned part = part_of(in->base);
        if (part == 0)
            listing_add(&skipped, in->base, strlen(in->base));
        else
            TRY(load_one(db, in, part, &im->trace->report, err));
        *there |= part;
    }
    return account_listing(&im->trace->report, "the paper says nothing of it, not read", &skipped,
                           err);
}

const struct claim_source claims_genai = {
    .format = "genai",
    .claims = claims,
    .parts = parts,
    .details = "The request rate by window (sums from the first sample on; cv_with_0 counts the "
               "windows without a sample as 0)",
    .details_sql = details_sql,
    .details_needs = PART_QPS,
    .knows = knows,
    .load = load,
};
