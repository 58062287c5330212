#include "sim/run/pairs_file.h"

#include "core/base/units.h"

#include <string.h>

enum { COLUMN_A, COLUMN_B, COLUMN_SPEED_A, COLUMN_SPEED_B, N_COLUMNS, N_NAMES = 3 };
static const char *const column_names[N_COLUMNS][N_NAMES] = {{"model_a", "workload_a", "job_a"},
                                                             {"model_b", "workload_b", "job_b"},
                                                             {"speed_a", "speed_a", "retain_a"},
                                                             {"speed_b", "speed_b", "retain_b"}};

static bool named(const struct field *f, const char *name)
{
    return f->length == strlen(name) && memcmp(f->text, name, f->length) == 0;
}

static enum status find_columns(const struct csv *row, size_t at[N_COLUMNS], struct error *err)
{
    for (int c = 0; c < N_COLUMNS; c++) {
        at[c] = row->n;
        for (size_t i = 0; i < row->n; i++)
            for (int k = 0; k < N_NAMES; k++)
                at[c] = named(&row->field[i], column_names[c][k]) ? i : at[c];
        if (at[c] == row->n)
            return fail(err, ST_INPUT, "line 1: no column %s; want model_a,model_b,speed_a,speed_b",
                        column_names[c][0]);
    }
    return ST_OK;
}

static enum status read_row(const struct csv *row, const size_t at[N_COLUMNS], struct pair_row *out,
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
    *out =
        (struct pair_row){row->field[at[COLUMN_A]], row->field[at[COLUMN_B]], speed[0], speed[1]};
    return ST_OK;
}

enum status pairs_each(const char *path,
                       enum status (*take)(void *to, const struct pair_row *row, struct error *err),
                       void *to, struct error *err)
{
    struct pair_row pair;
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
    while (status == ST_OK && (status = csv_next(&row, &lines, &more, err)) == ST_OK && more) {
        TRY_OUT(read_row(&row, at, &pair, err));
        status = take(to, &pair, err);
        if (status != ST_OK)
            fail_in(err, "line %lld", (long long)row.line);
    }
out:
    if (status == ST_INPUT && strncmp(err->text, path, strlen(path)) != 0)
        fail_in(err, "%s", path);
    csv_free(&row);
    lines_close(&lines);
    return status;
}

static enum status keep_row(void *to, const struct pair_row *row, struct error *err)
{
    return pairs_add(to, row->a.text, row->a.length, row->b.text, row->b.length, row->speed_a,
                     row->speed_b, err);
}

enum status pairs_read(const char *path, struct pairs *out, struct error *err)
{
    return pairs_each(path, keep_row, out, err);
}
