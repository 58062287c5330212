/* export.h - the tables of a stored run as CSV or JSON.
 *
 * Times are seconds with every digit they have, a missing value is an empty field in CSV and null
 * in JSON. Names go out as bytes in CSV; in JSON so that they can be had back (quote.h). */
#ifndef COLOSIM_EXPORT_H
#define COLOSIM_EXPORT_H

#include "sim/results/output.h"
#include "sim/results/store.h"

enum export_table {
    EXPORT_JOBS,
    EXPORT_SPANS,
    EXPORT_METRICS,
    EXPORT_SAMPLES,
    EXPORT_EVENTS,
    EXPORT_EPOCHS
};
enum export_format { EXPORT_CSV, EXPORT_JSON };

/* CSV with a header, or one JSON array of objects. Stops early, with ST_OK, when the output broke:
 * output_close says what of it. */
enum status export_rows(struct store *s, int64_t run, enum export_table table,
                        enum export_format format, struct output *to, struct error *err) MUST_USE;

#endif
