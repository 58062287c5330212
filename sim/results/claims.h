/* claims.h - what section 2 of the ElastiCo paper says of two public traces, beside what the files
 * say.
 *
 * A trace's tables are read into a database in memory; a claim is one SQL question to it with its
 * definition in words. Where the paper leaves the definition open, each reading is a claim of its
 * own. What the files do not carry is absent, with what is missing, and never 0. */
#ifndef COLOSIM_CLAIMS_H
#define COLOSIM_CLAIMS_H

#include "core/base/status.h"
#include "traces/trace.h"

#include <sqlite3.h>
#include <stdbool.h>
#include <stdio.h>

struct importer;
struct input;

struct claim {
    const char *name, *unit;
    double paper;           /* NAN where it gives none */
    unsigned needs;         /* bits of the trace's parts */
    const char *definition; /* numerator, denominator, columns */
    const char *sql;        /* one row: the value, and how many rows are behind it */
};

/* A trace whose claims are known: one const struct in a file of its own. */
struct claim_source {
    const char *format;
    const struct claim *claims;        /* until a NULL name */
    const char *const *parts;          /* what bit i of needs stands for, until NULL */
    const char *details, *details_sql; /* a table of its own below: its title, its question */
    unsigned details_needs;
    bool (*knows)(const struct input *input); /* is this file one of its tables? */
    /* Fills the tables; the bits of what is there go to parts. */
    enum status (*load)(sqlite3 *db, struct importer *im, unsigned *parts,
                        struct error *err) MUST_USE;
};
extern const struct claim_source claims_pai, claims_genai;

struct claims {
    const struct claim_source *source;
    sqlite3 *db;
    unsigned parts;
};

/* Reads the files; format NULL: guessed. The report is filled in either way. */
enum status claims_read(struct claims *c, const char *const *paths, int n_paths, const char *format,
                        struct import_report *report, struct error *err) MUST_USE;
/* A table for people, or one JSON object. */
enum status claims_print(const struct claims *c, bool json, FILE *to, struct error *err) MUST_USE;
void claims_free(struct claims *c);

/* For the loaders and the printing: what SQLite says as a failure; statements run; one prepared; an
 * INSERT whose values are bound stepped and cleared. bound: the codes of sqlite3_bind_* or-ed. */
enum status claims_fail(sqlite3 *db, struct error *err);
enum status claims_exec(sqlite3 *db, const char *sql, struct error *err) MUST_USE;
enum status claims_prepare(sqlite3 *db, const char *sql, sqlite3_stmt **out,
                           struct error *err) MUST_USE;
enum status claims_insert(sqlite3_stmt *insert, int bound, struct error *err) MUST_USE;

#endif
