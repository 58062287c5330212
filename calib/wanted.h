/* wanted.h - what a reader wants of a table, or ST_INPUT in words. Rows are named as lines of a
 * file with a header. */
#ifndef COLOSIM_CALIB_WANTED_H
#define COLOSIM_CALIB_WANTED_H

#include "core/base/status.h"
#include "core/base/table.h"

/* The column of that name. */
enum status wanted_column(const struct table *t, const char *name, int32_t *column,
                          struct error *err) MUST_USE;
/* The cell, a number in min .. max. */
enum status wanted_number(const struct table *t, int32_t row, int32_t column, double min,
                          double max, double *out, struct error *err) MUST_USE;

#endif
