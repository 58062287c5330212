/* csv.h - the rows of a comma-separated table.
 *
 * Quotes as spreadsheets write them: a field that begins with a quote ends at the next single
 * one, "" inside is a quote, and commas and line breaks inside are text. A quote elsewhere is an
 * ordinary byte. Empty lines are no rows. How many fields a row should have is the caller's
 * business. All-zero is a valid empty row.
 *
 * With blanks set, fields are what stands between blanks and tabs, quotes are ordinary bytes, and
 * lines that begin with ; are comments: the Standard Workload Format. */
#ifndef COLOSIM_CSV_H
#define COLOSIM_CSV_H

#include "traces/lines.h"

struct field {
    const char *text; /* not NUL-terminated */
    size_t length;
};

struct csv {
    struct field *field; /* (n) of the current row, borrowed until the next */
    size_t n, capacity;
    int64_t line;      /* the row's first line */
    bool blanks;       /* set by the caller before the first row */
    const char *fault; /* what is wrong with the row's quotes; NULL when nothing is */
    char *scratch;     /* a row with quotes, without them */
    size_t scratch_capacity;
};

/* The next row; *more is false when there is none. ST_INPUT when a quote is never closed: where
 * that row was meant to end nobody can tell. */
enum status csv_next(struct csv *c, struct lines *l, bool *more, struct error *err) MUST_USE;
void csv_free(struct csv *c);

#endif
