/* rows.h - a run as rows of the database: which number of ours stands in which column.
 *
 * One line per column in rows.c; the tables themselves are made in store.c. Names that are UTF-8
 * without NULs are TEXT, others BLOB. Times are microseconds on the trace's clock, NULL where the
 * thing never happened; a number that cannot be told is NULL. */
#ifndef COLOSIM_ROWS_H
#define COLOSIM_ROWS_H

#include "sim/run/run.h"

#include <sqlite3.h>

struct run_rows {
    const struct run_request *request;
    const struct run_result *result;
    const char *name;    /* unique in the database */
    const char *created; /* ISO 8601, UTC */
};

/* Appends the row of table run and every row of the others under this id; SQLite's code. The
 * caller holds the transaction. */
int rows_write(sqlite3 *db, int64_t run, const struct run_rows *rows);

/* Now, as ISO 8601 in UTC; returns text. */
const char *rows_created(char text[32]);
/* "complete", "interrupted" or "failed" (nothing ran). */
const char *run_outcome(const struct run_result *r);
const char *run_truth(const struct run_request *q);
/* NULL where no file was read. */
const char *run_trace_hash(const struct run_result *r, char text[17]);

#endif
