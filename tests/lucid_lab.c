#include "tests/lucid_lab.h"

#include "policies/registry.h"

#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

void lab_pools(struct lab *l, const char *text)
{
    struct node_spec spec[32];
    char name[32][32];
    struct error err = {{0}};
    int n = 0, used = 0;

    for (; sscanf(text, " %31[^:]:%d%n", name[n], &spec[n].count, &used) == 2; text += used, n++)
        spec[n] = (struct node_spec){.count = spec[n].count,
                                     .n_gpus = 8,
                                     .gpu_type = "",
                                     .pool = name[n],
                                     .cpu_milli = -1,
                                     .mem_mib = -1};
    cr_assert_eq(cluster_init(&l->cluster, spec, n, SHARE_CARD, &err), ST_OK, "%s", err.text);
}

void lab_settings(struct lab *l, const char *name, const char *text)
{
    const struct policy *policy = policy_find(name);
    void *config = arena_alloc(&l->arena, 1, policy->config_size);
    struct param_group group = {policy->name, policy->params, config};
    char pair[128], key[192];
    struct error err = {{0}};
    int used = 0;

    param_defaults(&group);
    for (; sscanf(text, " %127s%n", pair, &used) == 1; text += used) {
        snprintf(key, sizeof key, "%s.%s", name, pair);
        cr_assert_eq(param_set_pair(&group, 1, key, &l->arena, &err), ST_OK, "%s", err.text);
    }
    l->config = config;
}

void lab_table(struct lab *l, int table, const char *text)
{
    struct table *t = &l->tables[table];
    size_t n_cells = 0;

    for (const char *p = text; *p != '\0'; p++) {
        n_cells += *p == ',' || *p == '\n';
        t->n_rows += *p == '\n';
    }
    t->n_columns = (int32_t)(n_cells / (size_t)t->n_rows);
    t->n_rows--;
    t->column = arena_alloc(&t->arena, (size_t)t->n_columns, sizeof *t->column);
    t->cell = arena_alloc(&t->arena, n_cells, sizeof *t->cell);
    for (size_t i = 0; i < n_cells; i++) {
        size_t length = strcspn(text, ",\n"), head = (size_t)t->n_columns;
        const char **to = i < head ? &t->column[i] : &t->cell[i - head];
        *to = arena_text(&t->arena, text, length);
        text += length + 1;
    }
}

double *lab_queue_s(const struct lab *l)
{
    const struct job_table *t = &l->jobs;
    size_t n = (size_t)t->n_jobs;
    int64_t *start = malloc(n * sizeof *start), *end = malloc(n * sizeof *end);
    double *queue = calloc(n, sizeof *queue), *aside = calloc(n, sizeof *aside);

    for (size_t j = 0; j < n; j++) {
        start[j] = TIME_NEVER;
        end[j] = t->submit_us[j];
    }
    for (size_t i = 0; i < l->log.n_spans; i++) {
        const struct span *s = &l->log.span[i];
        int32_t job = t->task_job[s->task];
        if (s->kind == SPAN_PROFILE) {
            aside[job] = s_of_us(s->start_us - t->submit_us[job]);
        } else if (s->start_us != start[job]) {
            queue[job] += s_of_us(s->start_us - end[job]);
            start[job] = s->start_us;
            end[job] = s->end_us;
        }
    }
    for (size_t j = 0; j < n; j++)
        queue[j] += aside[j];
    free(start);
    free(end);
    free(aside);
    return queue;
}

double lab_profile_s(const struct lab *l, const char *name)
{
    int32_t task = l->jobs.task_begin[lab_job(l, name)];

    for (size_t i = 0; i < l->log.n_spans; i++)
        if (l->log.span[i].kind == SPAN_PROFILE && l->log.span[i].task == task)
            return s_of_us(l->log.span[i].start_us);
    return NAN;
}
