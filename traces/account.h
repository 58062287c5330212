/* account.h - keeping the account of an import, inside traces/.
 *
 * All functions copy what they are given; the only failure is memory. */
#ifndef COLOSIM_ACCOUNT_H
#define COLOSIM_ACCOUNT_H

#include "traces/csv.h"
#include "traces/trace.h"

/* *file is the number under which rows refer to it. */
enum status account_file(struct import_report *r, const char *name, int32_t *file,
                         struct error *err) MUST_USE;
enum status account_note(struct import_report *r, struct error *err, const char *format, ...)
    PRINTF_LIKE(3, 4) MUST_USE;

/* Where a row was dropped. */
struct place {
    int32_t file;
    int64_t line;
    int32_t column; /* 1-based field, 0 for the row */
    struct field value;
};
enum status account_dropped(struct import_report *r, const char *reason, const struct place *at,
                            struct error *err) MUST_USE;

/* Names for one note: as many as fit, then how many more. */
struct listing {
    char text[480];
    size_t used;
    int64_t n, n_shown;
};
void listing_add(struct listing *l, const char *name, size_t length);
/* "WHAT: a, b and 3 more"; nothing when the list is empty. */
enum status account_listing(struct import_report *r, const char *what, const struct listing *l,
                            struct error *err) MUST_USE;

/* The bytes as text of one line: control bytes become '?', what is too long is cut. */
const char *field_text(const struct field *f, char *buffer, size_t size);

/* The caller frees to in any case. */
enum status account_copy(const struct import_report *from, struct import_report *to,
                         struct error *err) MUST_USE;
void account_free(struct import_report *r);

#endif
