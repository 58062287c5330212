#include "sim/cmd/reproduce.h"

#include "core/base/units.h"

#include <math.h>
#include <stdlib.h>

double paper_load(const struct reproduction *r, const struct paper_table *t, const struct row *row)
{
    return t->own_load ? row->load : row->load * r->load;
}

static struct trial trial_of(const struct reproduction *r, const struct paper_table *t,
                             const struct row *row, enum reproduce_system system, int world, int k)
{
    return (struct trial){.system = system,
                          .world = world,
                          .part = PART_ALL,
                          .day_nodes = row->nodes,
                          .nodes = row->nodes,
                          .mix = row->mix,
                          .load = paper_load(r, t, row),
                          .seed = r->seed[k]};
}

bool paper_left_out(const struct reproduction *r, const struct row *row)
{
    return r->quick && row->full;
}

enum status paper_table_want(struct reproduction *r, const struct paper_table *t, struct error *err)
{
    for (int world = 0; world < N_WORLDS; world++)
        for (int i = 0; i < t->n_rows && r->shown[world]; i++)
            for (int k = 0; k < r->n_seeds && !paper_left_out(r, &t->row[i]); k++) {
                const struct row *row = &t->row[i];
                struct trial base = trial_of(r, t, row, row->base, world, k);
                struct trial own = trial_of(r, t, row, row->system, world, k);
                TRY(reproduction_want(r, &base, err));
                TRY(reproduction_want(r, &own, err));
            }
    return ST_OK;
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

struct spread spread_of(double *value, int n)
{
    for (int i = 0; i < n; i++)
        if (!isfinite(value[i]))
            return (struct spread){NAN, NAN, NAN};
    qsort(value, (size_t)n, sizeof *value, by_value);
    return (struct spread){(value[(n - 1) / 2] + value[n / 2]) / 2, value[0], value[n - 1]};
}

void paper_values(const struct reproduction *r, const struct paper_table *t, int row, int column,
                  int world, double *out)
{
    const struct row *at = &t->row[row];
    const struct column *what = &t->column[column];
    for (int k = 0; k < r->n_seeds; k++) {
        struct trial base = trial_of(r, t, at, at->base, world, k);
        struct trial own = trial_of(r, t, at, at->system, world, k);
        double a = reproduction_value(r, &own)[what->measure];
        double b = reproduction_value(r, &base)[what->measure];
        switch (what->form) {
        case FORM_PLAIN: out[k] = a * what->scale; break;
        case FORM_RATIO: out[k] = a / b; break;
        case FORM_INVERSE: out[k] = b / a; break;
        }
    }
}

static void print_cell(const struct paper_table *t, const struct row *row, int column,
                       struct spread s, FILE *to)
{
    char paper[32] = "-", deviation[32] = "-", own[4][32];
    if (isfinite(row->paper[column])) {
        snprintf(paper, sizeof paper, "%g", row->paper[column]);
        snprintf(deviation, sizeof deviation, "%+.0f %%",
                 100 * (s.median / row->paper[column] - 1));
    }
    snprintf(own[0], sizeof own[0], "%.4g", s.median);
    snprintf(own[1], sizeof own[1], "[%.4g, %.4g]", s.lo, s.hi);
    fprintf(to, "  %-20s %-24s %7s %9s %-20s %9s\n", row->name, t->column[column].name, paper,
            own[0], own[1], deviation);
}

static void print_json(const struct reproduction *r, const struct paper_table *t,
                       const struct row *row, int column, int world, struct spread s, FILE *to)
{
    char text[32];
    fprintf(to, "{\"table\": \"%s\", \"physics\": \"%s\", \"submitted\": \"%s\"", t->name,
            worlds[world].physics, worlds[world].submitted);
    fprintf(to, ", \"row\": \"%s\", \"column\": \"%s\", \"load\": %s, \"gpus\": %d", row->name,
            t->column[column].name, format_real(paper_load(r, t, row), text), row->nodes * 8);
    fprintf(to, ", \"seeds\": %d", r->n_seeds);
    fprintf(to, ", \"paper\": %s", format_real(row->paper[column], text));
    fprintf(to, ", \"median\": %s", format_real(s.median, text));
    fprintf(to, ", \"low\": %s", format_real(s.lo, text));
    fprintf(to, ", \"high\": %s", format_real(s.hi, text));
    fprintf(to, ", \"deviation\": %s}\n", format_real(s.median / row->paper[column] - 1, text));
}

/* A system beside itself says nothing, and a value of ours alone compares nothing. */
static bool says_nothing(const struct row *row, int column, enum form form)
{
    return form == FORM_PLAIN ? isnan(row->paper[column]) : row->system == row->base;
}

static void print_world(const struct reproduction *r, const struct paper_table *t, int world,
                        double *scratch, FILE *to)
{
    if (!r->json)
        fprintf(to, "\n  contention.set=%s submitted=%s\n", worlds[world].physics,
                worlds[world].submitted);
    for (int i = 0; i < t->n_rows; i++)
        for (int c = 0; c < t->n_columns && !paper_left_out(r, &t->row[i]); c++) {
            const struct row *row = &t->row[i];
            if (says_nothing(row, c, t->column[c].form))
                continue;
            paper_values(r, t, i, c, world, scratch);
            struct spread s = spread_of(scratch, r->n_seeds);
            if (r->json)
                print_json(r, t, row, c, world, s, to);
            else
                print_cell(t, row, c, s, to);
        }
}

enum status paper_table_print(const struct reproduction *r, const struct paper_table *t, FILE *to,
                              struct error *err)
{
    double *scratch = calloc((size_t)r->n_seeds, sizeof *scratch);
    if (scratch == NULL)
        return fail_memory(err);
    if (!r->json)
        fprintf(to, "\n%s\n  %-20s %-24s %7s %9s %-20s %9s\n", t->title, "", "", "paper", "ours",
                "[least, most]", "deviation");
    for (int world = 0; world < N_WORLDS; world++)
        if (r->shown[world])
            print_world(r, t, world, scratch, to);
    if (!r->json)
        fprintf(to, "\n%s\n", t->note);
    free(scratch);
    return ST_OK;
}
