#include "traces/table_file.h"

#include "traces/csv.h"

#include <stdlib.h>
#include <string.h>

/* Copies the row's fields; cells grow in steps, so they are collected outside the arena first. */
static enum status copy_row(struct table *t, const struct csv *row, const char **cell,
                            struct error *err)
{
    for (size_t i = 0; i < row->n; i++) {
        cell[i] = arena_text(&t->arena, row->field[i].text, row->field[i].length);
        if (cell[i] == NULL)
            return fail_memory(err);
    }
    return ST_OK;
}

/* What grows while rows are read. */
struct rows {
    const char **cell;
    int64_t *line;
    size_t cell_capacity, line_capacity;
};

static enum status read_rows(struct table *t, struct csv *row, struct lines *lines,
                             struct rows *rows, struct error *err)
{
    bool more = false;
    size_t n = (size_t)t->n_columns;
    TRY(csv_next(row, lines, &more, err));
    for (; more; t->n_rows++) {
        if (row->n != n)
            return fail(err, ST_INPUT, "line %lld: %zu fields, want %zu as in the header",
                        (long long)row->line, row->n, n);
        if (!ARRAY_GROW(rows->cell, rows->cell_capacity, ((size_t)t->n_rows + 1) * n) ||
            !ARRAY_GROW(rows->line, rows->line_capacity, t->n_rows + 1))
            return fail_memory(err);
        rows->line[t->n_rows] = row->line;
        TRY(copy_row(t, row, rows->cell + (size_t)t->n_rows * n, err));
        TRY(csv_next(row, lines, &more, err));
    }
    return ST_OK;
}

enum status table_read(const char *path, struct table *out, struct error *err)
{
    struct lines lines = {0};
    struct csv row = {0};
    struct rows rows = {0};
    bool more = false;
    enum status status = ST_OK;
    *out = (struct table){0};
    TRY(lines_open(&lines, path, path, 0, LINES_TO_END, err));
    TRY_OUT(csv_next(&row, &lines, &more, err));
    if (!more) {
        status = fail(err, ST_INPUT, "%s: empty, want a header", path);
        goto out;
    }
    out->n_columns = (int32_t)row.n;
    out->path = arena_text(&out->arena, path, strlen(path));
    out->column = arena_alloc(&out->arena, row.n, sizeof *out->column);
    status = out->column == NULL || out->path == NULL ? fail_memory(err)
                                                      : copy_row(out, &row, out->column, err);
    if (status == ST_OK && (status = read_rows(out, &row, &lines, &rows, err)) == ST_INPUT)
        fail_in(err, "%s", path);
    size_t n = (size_t)out->n_rows * (size_t)out->n_columns;
    out->cell = arena_alloc(&out->arena, n, sizeof *out->cell);
    out->line = arena_alloc(&out->arena, (size_t)out->n_rows, sizeof *out->line);
    if (status == ST_OK && (out->cell == NULL || out->line == NULL))
        status = fail_memory(err);
    for (size_t i = 0; status == ST_OK && i < n; i++)
        out->cell[i] = rows.cell[i];
    for (int32_t i = 0; status == ST_OK && i < out->n_rows; i++)
        out->line[i] = rows.line[i];
out:
    free(rows.cell);
    free(rows.line);
    csv_free(&row);
    lines_close(&lines);
    return status;
}
