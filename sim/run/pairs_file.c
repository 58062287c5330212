#include "sim/run/pairs_file.h"

#include "core/base/units.h"
#include "traces/csv.h"

#include <string.h>

enum { COLUMN_A, COLUMN_B, COLUMN_SPEED_A, COLUMN_SPEED_B, N_COLUMNS };
static const char *const column_names[N_COLUMNS][2] = {{"model_a", "workload_a"},
                                                       {"model_b", "workload_b"},
                                                       {"speed_a", "speed_a"},
                                                       {"speed_b", "speed_b"}};

static bool named(const struct field *f, const char *name)
{
    return f->length == strlen(name) && memcmp(f->text, name, f->length) == 0;
}

static enum status find_columns(const struct csv *row, size_t at[N_COLUMNS], struct error *err)
{
    for (int c = 0; c < N_COLUMNS; c++) {
        at[c] = row->n;
        for (size_t i = 0; i < row->n; i++)
            if (named(&row->field[i], column_names[c][0]) ||
                named(&row->field[i], column_names[c][1]))
                at[c] = i;
        if (at[c] == row->n)
            return fail(err, ST_INPUT, "line 1: no column %s; want model_a,model_b,speed_a,speed_b",
                        column_names[c][0]);
    }
    return ST_OK;
}

static enum status read_row(const struct csv *row, const size_t at[N_COLUMNS], struct pairs *out,
                            struct error *err)
{
    double speed[2];
    for (int c = 0; c < N_COLUMNS; c++)
        if (at[c] >= row->n)
            return fail(err, ST_INPUT, "line %lld: %zu fields, want more", (long long)row->line,
                        row->n);
    for (int s = 0; s < 2; s++) {
        const struct field *f = &row->field[at[COLUMN_SPEED_A + s]];
        if (!parse_real(f->text, f->length, &speed[s]))
            return fail(err, ST_INPUT, "line %lld column %zu: '%.*s' is not a number",
                        (long long)row->line, at[COLUMN_SPEED_A + s] + 1, (int)f->length, f->text);
    }
    const struct field *a = &row->field[at[COLUMN_A]], *b = &row->field[at[COLUMN_B]];
    enum status status =
        pairs_add(out, a->text, a->length, b->text, b->length, speed[0], speed[1], err);
    if (status != ST_OK)
        fail_in(err, "line %lld", (long long)row->line);
    return status;
}

enum status pairs_read(const char *path, struct pairs *out, struct error *err)
{
    struct lines lines = {0};
    struct csv row = {0};
    size_t at[N_COLUMNS];
    bool more = false;
    enum status status = ST_OK;
    TRY(lines_open(&lines, path, path, 0, LINES_TO_END, err));
    TRY_OUT(csv_next(&row, &lines, &more, err));
    if (!more) {
        status = fail(err, ST_INPUT, "%s: empty; want model_a,model_b,speed_a,speed_b", path);
        goto out;
    }
    status = find_columns(&row, at, err);
    while (status == ST_OK && (status = csv_next(&row, &lines, &more, err)) == ST_OK && more)
        status = read_row(&row, at, out, err);
    if (status == ST_INPUT && strncmp(err->text, path, strlen(path)) != 0)
        fail_in(err, "%s", path);
out:
    csv_free(&row);
    lines_close(&lines);
    return status;
}
