/* columns.h - from the fields of a row to a struct in our units, driven by a table.
 *
 * A format is mostly a const table of columns: the source's header, the field of a struct, and the
 * power of ten from the source's unit to ours. The struct is prepared by the caller; an empty
 * field of an optional column leaves it as it is. */
#ifndef COLOSIM_COLUMNS_H
#define COLOSIM_COLUMNS_H

#include "core/base/arena.h"
#include "core/base/names.h"
#include "traces/csv.h"

enum column_type {
    COLUMN_UNUSED, /* known, and not read */
    COLUMN_TEXT,   /* struct field, borrowed until the next row */
    COLUMN_NAME,   /* int32_t, id in names */
    COLUMN_WORD,   /* int, index in words */
    COLUMN_US,     /* int64_t microseconds */
    COLUMN_WHOLE,  /* int32_t; 4.0 is a whole number, 4.5 is a fault */
    COLUMN_MILLI,  /* int32_t thousandths; a fault below half of one, unless 0 */
    COLUMN_GIB,    /* int32_t MiB */
    COLUMN_REAL,   /* double */
    COLUMN_DATE    /* int64_t microseconds since 1970 (dates.h); None is an empty field */
};

struct column {
    const char *header; /* NULL ends a table */
    enum column_type type;
    size_t offset;
    int shift;                /* our value is the source's times 10^shift; US, WHOLE, MILLI */
    double lo, hi;            /* in our unit, both legal; numbers only */
    bool required;            /* must be there and not empty */
    const char *const *words; /* NULL-terminated */
};

// clang-format off
#define COLUMN_KEY(header_, offset_) {header_, COLUMN_TEXT, offset_, 0, 0, 0, true, NULL}
#define COLUMN_ID(header_, offset_) {header_, COLUMN_NAME, offset_, 0, 0, 0, false, NULL}
#define COLUMN_CHOICE(header_, offset_, words_)                                                    \
    {header_, COLUMN_WORD, offset_, 0, 0, 0, false, words_}
#define COLUMN_NUMBER(header_, type_, offset_, shift_, lo_, hi_)                                   \
    {header_, type_, offset_, shift_, lo_, hi_, false, NULL}
#define COLUMN_NEEDED(header_, type_, offset_, shift_, lo_, hi_)                                   \
    {header_, type_, offset_, shift_, lo_, hi_, true, NULL}
#define COLUMN_IGNORED(header_) {header_, COLUMN_UNUSED, 0, 0, 0, 0, false, NULL}
#define COLUMN_END {NULL, COLUMN_UNUSED, 0, 0, 0, 0, false, NULL}
// clang-format on

enum { COLUMNS_MAX = 32 };

/* Which field holds which column, for one file. */
struct binding {
    size_t n, n_fields;
    struct bound {
        const struct column *column;
        const char *name; /* of the column in this file */
        size_t field;
        int32_t last;  /* the id given out last, -1; COLUMN_NAME */
    } at[COLUMNS_MAX]; /* (n) */
};

/* What is wrong with a row. */
struct fault {
    char text[96]; /* "" for nothing */
    int32_t field; /* 1-based, 0 for the row */
};

/* The column with that header; NULL when there is none. */
const struct column *columns_find(const struct column *columns, const char *text, size_t length);
/* How many of the fields are headers of this table. */
size_t columns_known(const struct column *columns, const struct field *field, size_t n);

/* The fields are the columns in the table's order. */
void columns_by_position(const struct column *columns, struct binding *b);
/* The fields of a header row name them; names that are not in the table are passed over. ST_INPUT
 * when one stands there twice or a required one is missing. */
enum status columns_by_header(const struct column *columns, const struct csv *header,
                              struct binding *b, struct error *err) MUST_USE;
/* "ours=theirs,ours=theirs": only what is named is read. ST_USAGE when the text is wrong. The
 * arena keeps their names. */
enum status columns_by_mapping(const struct column *columns, const char *mapping,
                               const struct csv *header, struct arena *arena, struct binding *b,
                               struct error *err) MUST_USE;

/* The field that holds a column, 0 when it is not there, 1-based. */
int32_t columns_field(const struct binding *b, const char *header);

/* Reads the row into the struct at target. A bad value is ST_OK with the fault filled in; what
 * stands in target is then of no use. Only memory is an error. */
enum status columns_read(struct binding *b, const struct csv *row, struct names *names,
                         void *target, struct fault *fault, struct error *err) MUST_USE;

#endif
