#include "sim/cmd/sweep.h"

#include "sim/results/grid_table.h"
#include "sim/results/output.h"
#include "sim/results/report.h"

#include <stdlib.h>
#include <string.h>

static const enum metric table_metrics[] = {METRIC_jct_mean_s, METRIC_jct_p99_s, METRIC_wait_mean_s,
                                            METRIC_gpu_alloc_mean, METRIC_throughput_gpus};

/* The runs of one row of the table, in order of seeds; those that are missing are left out. The
 * caller frees runs[0 .. *n - 1]. */
static enum status read_row(struct sweep *s, int group, struct summary *runs, int *n,
                            struct error *err)
{
    for (int k = 0; k < s->study.n_seeds; k++) {
        struct run_request q;
        int64_t run = 0;
        enum status status = sweep_request(s, group * s->study.n_seeds + k, &q, err);
        if (status == ST_OK)
            status = resume_run(&s->store, q.run.label, &run, err);
        run_request_free(&q);
        if (status == ST_OK && run != 0)
            status = summary_read(&runs[*n], &s->store, run, err);
        TRY(status);
        *n += run != 0;
    }
    return ST_OK;
}

static enum status print_row(struct sweep *s, int group, const struct summary *runs, int n,
                             struct grid_table *t, struct error *err)
{
    const char *value[STUDY_AXES_MAX];
    for (int i = 0; i < n && s->options.json; i++)
        report_json(t->to, &runs[i]);
    if (s->options.json)
        return ST_OK;
    for (int a = 0; a < s->study.n_axes; a++)
        value[a] = s->study.axis[a].value[study_value(&s->study, group, a)];
    return grid_table_row(t, value, runs, n, err);
}

static enum status print_rows(struct sweep *s, struct grid_table *t, struct error *err)
{
    enum status status = ST_OK;
    struct summary *runs = calloc((size_t)s->study.n_seeds, sizeof *runs);
    if (runs == NULL)
        return fail_memory(err);
    for (int g = 0; g < s->n_groups && status == ST_OK; g++) {
        int n = 0;
        status = read_row(s, g, runs, &n, err);
        if (status == ST_OK)
            status = print_row(s, g, runs, n, t, err);
        for (int i = 0; i < n; i++)
            summary_free(&runs[i]);
    }
    free(runs);
    return status;
}

/* One line each; counts them. */
static enum status print_failed(struct sweep *s, FILE *to, struct error *err)
{
    struct arena arena = {0};
    enum status status = ST_OK;
    s->n_failed = 0;
    for (int i = 0; i < s->n_points && status == ST_OK; i++) {
        struct run_request q;
        int64_t run;
        const char *why = NULL;
        status = sweep_request(s, i, &q, err);
        if (status == ST_OK)
            status = resume_run(&s->store, q.run.label, &run, err);
        if (status == ST_OK)
            status = resume_why(&s->store, run, &arena, &why, err);
        if (why != NULL && !s->options.json)
            fprintf(to, "failed: %s: %s\n", q.run.label, why);
        s->n_failed += why != NULL;
        run_request_free(&q);
    }
    arena_free(&arena);
    return status;
}

/* Which columns. */
static enum status choose_metrics(const struct sweep *s, struct grid_table *t, struct error *err)
{
    t->n_metrics = sizeof table_metrics / sizeof *table_metrics;
    memcpy(t->metric, table_metrics, sizeof table_metrics);
    if (s->metrics == NULL)
        return ST_OK;
    t->n_metrics = 0;
    for (const char *p = s->metrics; *p != '\0';) {
        char name[64];
        size_t length = strcspn(p, ",");
        snprintf(name, sizeof name, "%.*s", (int)length, p);
        int metric = metric_find(name);
        if (metric < 0 || t->n_metrics == GRID_METRICS_MAX)
            return fail(err, ST_USAGE, "--metrics: '%s' is no metric, or one too many", name);
        t->metric[t->n_metrics++] = (enum metric)metric;
        p += length + (p[length] == ',');
    }
    return ST_OK;
}

enum status sweep_check_metrics(const struct sweep *s, struct error *err)
{
    struct grid_table unused;
    return choose_metrics(s, &unused, err);
}

enum status sweep_print(struct sweep *s, struct error *err)
{
    struct output out;
    const char *name[STUDY_AXES_MAX];
    int width[STUDY_AXES_MAX];
    for (int a = 0; a < s->study.n_axes; a++) {
        const struct axis *axis = &s->study.axis[a];
        name[a] = axis->name;
        width[a] = (int)strlen(axis->name);
        for (int i = 0; i < axis->n; i++)
            width[a] =
                width[a] > (int)strlen(axis->value[i]) ? width[a] : (int)strlen(axis->value[i]);
    }
    TRY(output_open(&out, "-", err));
    struct grid_table t = {.to = out.file, .axis = name, .width = width, .n_axes = s->study.n_axes};
    enum status status = choose_metrics(s, &t, err);
    if (status == ST_OK)
        status = store_look(&s->store, err);
    if (status == ST_OK && !s->options.json)
        grid_table_head(&t);
    if (status == ST_OK)
        status = print_rows(s, &t, err);
    if (status == ST_OK && !s->options.json)
        grid_table_end(&t);
    if (status == ST_OK)
        status = print_failed(s, out.file, err);
    if (status == ST_OK)
        status = store_commit(&s->store, err);
    return output_close(&out, status, err);
}
