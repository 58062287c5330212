/* json_rows.h - the elements of a JSON array, one after another, each as text.
 *
 * Only one element is in memory at a time, so that a log of any length can be read. What an
 * element says is for a JSON parser to find out; here only brackets, strings and commas count. */
#ifndef COLOSIM_JSON_ROWS_H
#define COLOSIM_JSON_ROWS_H

#include "traces/lines.h"

/* All-zero before the first call. */
struct json_rows {
    char *text; /* (n) of the current element, borrowed until the next */
    size_t n, capacity;
    int64_t line;      /* on which it begins */
    const char *block; /* bytes read and not looked at yet: at .. n_block */
    size_t at, n_block;
    int64_t n_lines; /* line breaks so far */
    bool begun;
};

/* The next element; *more is false after the array's end. ST_INPUT when this is no array, the file
 * ends inside it, or something follows it. */
enum status json_rows_next(struct json_rows *r, struct lines *l, bool *more,
                           struct error *err) MUST_USE;
void json_rows_free(struct json_rows *r);

#endif
