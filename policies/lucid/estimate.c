#include "policies/lucid/estimate.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const char *const estimate_names[] = {"auto", "history", "oracle", NULL};

/* The first of two names that is a column. */
static int32_t column_of(const struct table *t, const char *a, const char *b)
{
    int32_t column = table_column(t, a);
    return column >= 0 ? column : table_column(t, b);
}

static enum status read_told(struct estimates *e, const struct table *table, const struct view *v,
                             struct error *err)
{
    if (table->n_rows == 0)
        return ST_OK;
    int32_t job = column_of(table, "job_id", "job");
    int32_t told = column_of(table, "priority", "estimate_s");
    if (job < 0 || told < 0)
        return fail(err, ST_INPUT,
                    "the table of estimates has no columns job_id,priority or job,estimate_s");
    for (int32_t r = 0; r < table->n_rows; r++) {
        const char *name = table_cell(table, r, job);
        int32_t j = names_find(&v->jobs->job_names, name, strlen(name));
        if (j >= 0)
            e->told_s[j] = table_number(table, r, told);
    }
    return ST_OK;
}

/* Box and Muller; two uniforms of the stream for each job. */
static double standard_normal(gsl_rng *rng)
{
    double radius = sqrt(-2 * log(1 - gsl_rng_uniform(rng)));
    return radius * cos(2 * acos(-1) * gsl_rng_uniform(rng));
}

static void ask_oracle(struct estimates *e, const struct view *v)
{
    double error = e->config->error;
    for (int32_t j = 0; j < v->jobs->n_jobs; j++)
        e->told_s[j] = s_of_us(job_duration_us(v->jobs, j)) *
                       (error > 0 ? exp(error * standard_normal(v->rng)) : 1);
}

/* What makes jobs alike, most telling first. */
struct likeness {
    int32_t kind, user; /* group, or workload counted after all names; -1 none */
    int64_t gpu_milli;
};

static struct likeness likeness_of(const struct job_table *t, int32_t job)
{
    int32_t kind = t->group[job];
    if (kind < 0 && t->workload[job] >= 0)
        kind = t->names.n + t->workload[job];
    return (struct likeness){kind, t->user[job], job_gpu_milli(t, job)};
}

static int by_likeness(const void *a, const void *b, void *table)
{
    struct likeness x = likeness_of(table, *(const int32_t *)a);
    struct likeness y = likeness_of(table, *(const int32_t *)b);
    if (x.kind != y.kind)
        return x.kind < y.kind ? -1 : 1;
    if (x.user != y.user)
        return x.user < y.user ? -1 : 1;
    return (x.gpu_milli > y.gpu_milli) - (x.gpu_milli < y.gpu_milli);
}

/* Numbers the sets of like jobs. */
static enum status find_sets(struct estimates *e, const struct view *v, struct arena *arena,
                             struct error *err)
{
    const struct job_table *t = v->jobs;
    size_t n = (size_t)t->n_jobs;
    int32_t *order = arena_alloc(v->scratch, n, sizeof *order), n_close = 0, n_kinds = 0;
    int32_t *all = arena_alloc(v->scratch, n, sizeof *all);
    e->close = arena_alloc(arena, n, sizeof *e->close);
    e->kind = arena_alloc(arena, n, sizeof *e->kind);
    e->learned = arena_alloc(arena, n, sizeof *e->learned);
    if (order == NULL || all == NULL || e->close == NULL || e->kind == NULL || e->learned == NULL)
        return fail_memory(err);
    for (int32_t j = 0; j < t->n_jobs; j++)
        order[j] = j;
    struct job_table *not_const = (struct job_table *)(uintptr_t)t; /* qsort_r passes it on */
    qsort_r(order, n, sizeof *order, by_likeness, not_const);
    for (int32_t i = 0; i < t->n_jobs; i++) {
        bool new_kind =
            i == 0 || likeness_of(t, order[i]).kind != likeness_of(t, order[i - 1]).kind;
        n_kinds += new_kind;
        n_close += i == 0 || by_likeness(&order[i - 1], &order[i], not_const) != 0;
        e->kind[order[i]] = n_kinds - 1;
        e->close[order[i]] = n_close - 1;
    }
    if (!medians_init(&e->of_close, e->close, t->n_jobs, n_close, arena) ||
        !medians_init(&e->of_kind, e->kind, t->n_jobs, n_kinds, arena) ||
        !medians_init(&e->of_all, all, t->n_jobs, 1, arena))
        return fail_memory(err);
    return ST_OK;
}

enum status estimates_init(struct estimates *e, const struct estimate_config *config,
                           const struct table *table, const struct view *v, struct arena *arena,
                           struct error *err)
{
    bool all_told = true;
    *e = (struct estimates){.config = config};
    e->told_s = arena_alloc(arena, (size_t)v->jobs->n_jobs, sizeof *e->told_s);
    if (e->told_s == NULL)
        return fail_memory(err);
    for (int32_t j = 0; j < v->jobs->n_jobs; j++)
        e->told_s[j] = NAN;
    switch ((enum estimate_source)config->source) {
    case ESTIMATE_AUTO: TRY(read_told(e, table, v, err)); break;
    case ESTIMATE_HISTORY: break;
    case ESTIMATE_ORACLE: ask_oracle(e, v); break;
    }
    for (int32_t j = 0; j < v->jobs->n_jobs && all_told; j++)
        all_told = !isnan(e->told_s[j]);
    return all_told ? ST_OK : find_sets(e, v, arena, err);
}

static void learn(struct estimates *e, const struct job_table *t, int32_t job)
{
    if (e->learned[job] || t->status[job] != JOB_DONE)
        return;
    e->learned[job] = true;
    int64_t us = job_duration_us(t, job);
    medians_add(&e->of_close, e->close[job], us);
    medians_add(&e->of_kind, e->kind[job], us);
    medians_add(&e->of_all, 0, us);
}

void estimates_learn(struct estimates *e, const struct view *v)
{
    for (int32_t i = 0; e->close != NULL && i < v->n_finished; i++)
        learn(e, v->jobs, v->finished[i]);
    for (int32_t i = 0; e->close != NULL && i < v->n_profiled; i++)
        learn(e, v->jobs, v->profiled[i]);
}

double estimate_s(const struct estimates *e, const struct view *v, int32_t job)
{
    static const int hints[] = {HINT_GROUP_GPU, HINT_GROUP, HINT_USER};
    if (!isnan(e->told_s[job]))
        return e->told_s[job] < 0 ? e->config->default_s : e->told_s[job];
    if (medians_any(&e->of_close, e->close[job]))
        return medians_of(&e->of_close, e->close[job]) / 1e6;
    for (size_t i = 0; i < sizeof hints / sizeof *hints; i++)
        if (v->jobs->hint_us[job][hints[i]] >= 0)
            return s_of_us(v->jobs->hint_us[job][hints[i]]);
    if (medians_any(&e->of_kind, e->kind[job]))
        return medians_of(&e->of_kind, e->kind[job]) / 1e6;
    return medians_any(&e->of_all, 0) ? medians_of(&e->of_all, 0) / 1e6 : e->config->default_s;
}
