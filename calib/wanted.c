#include "calib/wanted.h"

enum status wanted_column(const struct table *t, const char *name, int32_t *column,
                          struct error *err)
{
    *column = table_column(t, name);
    return *column >= 0 ? ST_OK : fail(err, ST_INPUT, "there is no column '%s'", name);
}

enum status wanted_number(const struct table *t, int32_t row, int32_t column, double min,
                          double max, double *out, struct error *err)
{
    *out = table_number(t, row, column);
    if (*out >= min && *out <= max)
        return ST_OK;
    return fail(err, ST_INPUT, "line %d: %s is '%s', want a number in %g to %g", row + 2,
                t->column[column], table_cell(t, row, column), min, max);
}
