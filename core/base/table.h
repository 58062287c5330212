/* table.h - a small CSV table held as text: what a policy or a fit is given besides the trace.
 *
 * The first row names the columns. Cells are NUL-terminated and live as long as the table. */
#ifndef COLOSIM_TABLE_H
#define COLOSIM_TABLE_H

#include "core/base/arena.h"

#include <stdint.h>

struct table {
    int32_t n_rows, n_columns;
    const char **column; /* (n_columns) names */
    const char **cell;   /* (n_rows x n_columns) */
    int64_t *line;       /* (n_rows) of its file */
    const char *path;    /* of that file, for messages */
    struct arena arena;  /* owns it all */
};

/* -1 where there is no such column. */
int32_t table_column(const struct table *t, const char *name);
static inline const char *table_cell(const struct table *t, int32_t row, int32_t column)
{
    return t->cell[(int64_t)row * t->n_columns + column];
}
/* The cell as a number; NAN where it is none. */
double table_number(const struct table *t, int32_t row, int32_t column);
void table_free(struct table *t);

#endif
