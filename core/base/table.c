#include "core/base/table.h"

#include "core/base/units.h"

#include <string.h>

int32_t table_column(const struct table *t, const char *name)
{
    for (int32_t c = 0; c < t->n_columns; c++)
        if (strcmp(t->column[c], name) == 0)
            return c;
    return -1;
}

double table_number(const struct table *t, int32_t row, int32_t column)
{
    const char *text = table_cell(t, row, column);
    double value;
    return parse_real(text, strlen(text), &value) ? value : NAN;
}

void table_free(struct table *t)
{
    arena_free(&t->arena);
    *t = (struct table){0};
}
