#include "policies/peers/facts.h"

#include "core/elastico/rst.h"

#include <math.h>
#include <string.h>

/* NAN where the table does not tell. */
static enum status look_up(const struct table *table, const char *setting,
                           const struct fact *column, const char *workload, double *out,
                           struct error *err)
{
    int32_t key = table_column(table, "workload"), at = table_column(table, column->name);
    *out = NAN;
    if (key < 0)
        return fail(err, ST_INPUT, "%s: no column workload", setting);
    for (int32_t row = 0; at >= 0 && row < table->n_rows; row++) {
        if (strcmp(table_cell(table, row, key), workload) != 0 ||
            table_cell(table, row, at)[0] == '\0')
            continue;
        *out = table_number(table, row, at);
        if (!(*out >= column->min && *out <= column->max))
            return fail(err, ST_INPUT, "%s, %s: %s is '%s', want %g to %g", setting, workload,
                        column->name, table_cell(table, row, at), column->min, column->max);
        return ST_OK;
    }
    return ST_OK;
}

static double without_table(const struct fact *column, const struct view *v, int32_t job)
{
    const struct rst *r = v->rst;
    if (!column->sm_active || r == NULL || r->submitted[job] < 0)
        return column->initial;
    double sm = r->p->m.sm[rst_row(r, job, r->submitted[job], r->card[job])];
    return sm >= column->min && sm <= column->max ? sm : column->initial;
}

enum status facts_of_jobs(const struct table *table, const char *setting, const struct fact *column,
                          const struct view *v, struct arena *arena, const double **out,
                          struct error *err)
{
    const struct job_table *t = v->jobs;
    bool empty = table == NULL || table->n_rows == 0;
    struct arena_mark mark = arena_mark(v->scratch);
    double *of_job = arena_alloc(arena, (size_t)t->n_jobs, sizeof *of_job);
    double *of_name = arena_alloc(v->scratch, (size_t)t->names.n, sizeof *of_name);
    bool *known = arena_alloc(v->scratch, (size_t)t->names.n, sizeof *known);
    enum status status =
        of_job == NULL || of_name == NULL || known == NULL ? fail_memory(err) : ST_OK;
    for (int32_t j = 0; status == ST_OK && j < t->n_jobs; j++) {
        int32_t w = t->workload[j];
        double told = NAN;
        if (!empty && w >= 0) {
            if (!known[w])
                status =
                    look_up(table, setting, column, names_text(&t->names, w), &of_name[w], err);
            known[w] = true;
            told = of_name[w];
        }
        of_job[j] = isnan(told) ? without_table(column, v, j) : told;
    }
    arena_reset(v->scratch, mark);
    *out = of_job;
    return status;
}
