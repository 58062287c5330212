#include "traces/genai_metrics.h"

#include "traces/account.h"
#include "traces/import.h"

#include <stdlib.h>
#include <string.h>

struct metric_row {
    int64_t time_us;
    double value;
    struct field container, request_type;
};

#define ROW(field_) offsetof(struct metric_row, field_)
// clang-format off
static const struct column metric_columns[] = {
    COLUMN_NEEDED("timestamp_anon", COLUMN_US, ROW(time_us), 6, -1e18, 1e18),
    COLUMN_NEEDED("value", COLUMN_REAL, ROW(value), 0, -1e300, 1e300),
    {"container_ip", COLUMN_TEXT, ROW(container), 0, 0, 0, false, NULL},
    {"request_type", COLUMN_TEXT, ROW(request_type), 0, 0, 0, false, NULL},
    COLUMN_END,
};
// clang-format on

/* Empty, NULL and None are no name: -1. False when memory is out. */
static bool name_of_field(struct names *names, const struct field *f, int32_t *id)
{
    *id = -1;
    if (f->length == 0 ||
        (f->length == 4 && (memcmp(f->text, "NULL", 4) == 0 || memcmp(f->text, "None", 4) == 0)))
        return true;
    *id = names_add(names, f->text, f->length);
    return *id >= 0;
}

static enum status add_row(struct genai_metrics *m, struct names *names, const struct metric_row *r,
                           struct error *err)
{
    if (!ARRAY_GROW(m->row, m->capacity, m->n + 1))
        return fail_memory(err);
    struct genai_metric *row = &m->row[m->n];
    *row = (struct genai_metric){.time_us = r->time_us, .value = r->value};
    if (!name_of_field(names, &r->container, &row->container) ||
        !name_of_field(names, &r->request_type, &row->request_type))
        return fail_memory(err);
    m->n_without += row->container < 0;
    m->sum += row->value;
    m->n++;
    return ST_OK;
}

static enum status read_table(struct importer *im, struct names *names, struct genai_metrics *m,
                              struct error *err)
{
    static const struct metric_row empty = {.container = {"", 0}, .request_type = {"", 0}};
    struct metric_row r;
    struct table t;
    enum status status = ST_OK;
    bool more;
    TRY(table_open_named(&t, im, &im->inputs.input[0], metric_columns, NULL, &empty, sizeof empty,
                         err));
    for (;;) {
        TRY_OUT(table_next(&t, &r, &more, err));
        if (!more)
            break;
        TRY_OUT(add_row(m, names, &r, err));
    }
out:
    table_close(&t);
    return status;
}

enum status genai_metrics_read(const char *path, struct names *names, struct genai_metrics *out,
                               struct error *err)
{
    const struct trace_options options = {0};
    struct trace trace = {0};
    struct importer im = {.options = &options, .trace = &trace};
    *out = (struct genai_metrics){0};
    enum status status = inputs_find(&im.inputs, &path, 1, &trace.report, err);
    if (status == ST_OK && im.inputs.n != 1)
        status = fail(err, ST_INPUT, "%s: %zu tables, want one", path, im.inputs.n);
    if (status == ST_OK)
        status = read_table(&im, names, out, err);
    out->report = trace.report;
    out->report.n_kept = (int64_t)out->n;
    trace.report = (struct import_report){0};
    importer_free(&im);
    trace_free(&trace);
    return status;
}

int64_t genai_metrics_join(const struct genai_metrics *a, const struct genai_metrics *b,
                           const struct names *names)
{
    int64_t pairs = 0, *n_of = calloc((size_t)names->n + 1, sizeof *n_of);
    if (n_of == NULL)
        return -1;
    for (size_t i = 0; i < b->n; i++)
        if (b->row[i].container >= 0)
            n_of[b->row[i].container]++;
    for (size_t i = 0; i < a->n; i++)
        pairs += a->row[i].container >= 0 ? n_of[a->row[i].container] : 0;
    free(n_of);
    return pairs;
}

void genai_metrics_free(struct genai_metrics *m)
{
    free(m->row);
    account_free(&m->report);
    *m = (struct genai_metrics){0};
}
