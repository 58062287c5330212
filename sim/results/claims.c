#include "sim/results/claims.h"

#include "sim/results/quantile.h"
#include "traces/import.h"

#include <string.h>

static const struct claim_source *const sources[] = {&claims_genai, &claims_pai, NULL};

enum status claims_fail(sqlite3 *db, struct error *err)
{
    if (sqlite3_errcode(db) == SQLITE_NOMEM)
        return fail_memory(err);
    return fail(err, ST_OUTPUT, "the table in memory: %s", sqlite3_errmsg(db));
}

enum status claims_exec(sqlite3 *db, const char *sql, struct error *err)
{
    return sqlite3_exec(db, sql, NULL, NULL, NULL) == SQLITE_OK ? ST_OK : claims_fail(db, err);
}

enum status claims_prepare(sqlite3 *db, const char *sql, sqlite3_stmt **out, struct error *err)
{
    return sqlite3_prepare_v2(db, sql, -1, out, NULL) == SQLITE_OK ? ST_OK : claims_fail(db, err);
}

enum status claims_insert(sqlite3_stmt *insert, int bound, struct error *err)
{
    if (bound != SQLITE_OK)
        return fail_memory(err); /* the one way in which binding can fail */
    bool done = sqlite3_step(insert) == SQLITE_DONE;
    if (sqlite3_reset(insert) != SQLITE_OK || !done || sqlite3_clear_bindings(insert) != SQLITE_OK)
        return claims_fail(sqlite3_db_handle(insert), err);
    return ST_OK;
}

/* The source named, or the first that knows one of the files. */
static enum status choose_source(const struct inputs *in, const char *format,
                                 const struct claim_source **out, struct error *err)
{
    for (int s = 0; sources[s] != NULL; s++) {
        bool fits = format != NULL && strcmp(format, sources[s]->format) == 0;
        for (size_t i = 0; format == NULL && i < in->n && !fits; i++)
            fits = sources[s]->knows(&in->input[i]);
        if (fits) {
            *out = sources[s];
            return ST_OK;
        }
    }
    if (format != NULL)
        return fail(err, ST_USAGE,
                    "format '%s': the paper says nothing of such traces; genai or pai", format);
    return fail(err, ST_INPUT, "none of the %zu files is a table of PAI or of GenTD26", in->n);
}

enum status claims_read(struct claims *c, const char *const *paths, int n_paths, const char *format,
                        struct import_report *report, struct error *err)
{
    const struct trace_options options = {.paths = paths, .n_paths = n_paths};
    struct trace trace = {0};
    struct importer im = {.options = &options, .trace = &trace};
    enum status status = ST_OK;
    *c = (struct claims){0};
    TRY_OUT(inputs_find(&im.inputs, paths, n_paths, &trace.report, err));
    TRY_OUT(choose_source(&im.inputs, format, &c->source, err));
    snprintf(trace.report.format, sizeof trace.report.format, "%s", c->source->format);
    if (sqlite3_open(":memory:", &c->db) != SQLITE_OK || quantile_register(c->db) != SQLITE_OK) {
        status = fail_memory(err);
        goto out;
    }
    TRY_OUT(claims_exec(c->db, "BEGIN", err));
    TRY_OUT(c->source->load(c->db, &im, &c->parts, err));
    TRY_OUT(claims_exec(c->db, "COMMIT; PRAGMA query_only=1", err));
    if (c->parts == 0)
        status = fail(err, ST_INPUT, "%s: nothing of what the paper speaks of is in it", paths[0]);
out:
    *report = trace.report;
    trace.report = (struct import_report){0};
    importer_free(&im);
    trace_free(&trace);
    if (status != ST_OK)
        claims_free(c);
    return status;
}

void claims_free(struct claims *c)
{
    sqlite3_close(c->db);
    *c = (struct claims){0};
}
