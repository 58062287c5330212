/* A census for programs. */
#include "sim/results/census.h"

#include "sim/results/quote.h"

#include <inttypes.h>

static void number(FILE *to, const char *name, double value)
{
    char text[32];
    fprintf(to, ", \"%s\": %s", name, format_real(value, text));
}

static void whole(FILE *to, const char *name, int64_t value)
{
    fprintf(to, ", \"%s\": %" PRId64, name, value);
}

static void text(FILE *to, const char *name, const char *value)
{
    fprintf(to, ", \"%s\": ", name);
    if (value != NULL)
        quote_json(to, value);
    else
        fputs("null", to);
}

static void texts(FILE *to, const char *name, char *const *value, size_t n)
{
    fprintf(to, ", \"%s\": [", name);
    for (size_t i = 0; i < n; i++) {
        fputs(i > 0 ? ", " : "", to);
        quote_json(to, value[i]);
    }
    fputc(']', to);
}

static void account(FILE *to, const struct import_report *r)
{
    texts(to, "files", r->file, (size_t)r->n_files);
    whole(to, "rows", r->n_rows);
    whole(to, "kept", r->n_kept);
    whole(to, "dropped", r->n_dropped);
    whole(to, "duplicates", r->n_duplicates);
    whole(to, "conflicts", r->n_conflicts);
    whole(to, "apart", r->n_apart);
    fputs(", \"reasons\": {", to);
    for (size_t i = 0; i < r->n_reasons; i++) {
        fputs(i > 0 ? ", " : "", to);
        quote_json(to, r->reason[i].text);
        fprintf(to, ": %" PRId64, r->reason[i].n);
    }
    fputc('}', to);
    texts(to, "notes", r->note, r->n_notes);
}

static void demand(FILE *to, const struct trace *t, const struct census *c, const char *cluster)
{
    whole(to, "jobs", t->jobs.n_jobs);
    whole(to, "tasks", t->jobs.n_tasks);
    whole(to, "instances", c->n_inst);
    number(to, "first_submit_s", s_of_us(c->first_us));
    number(to, "last_submit_s", s_of_us(c->last_us));
    number(to, "gpu_seconds", c->work_gpu_s);
    number(to, "busy_gpus", c->busy_gpus);
    text(to, "cluster", cluster);
    number(to, "offered_load", c->offered_load);
    fputs(", \"sizes\": {", to);
    for (int i = 0; i < N_SIZE_CLASSES; i++) {
        fprintf(to, "%s\"%s\": {\"jobs\": %" PRId32, i > 0 ? ", " : "", size_class_names[i],
                c->size[i].n_jobs);
        number(to, "gpu_seconds", c->size[i].work_gpu_s);
        fputc('}', to);
    }
    fputc('}', to);
    char mean[32];
    fprintf(to, ", \"duration_s\": {\"mean\": %s", format_real(c->duration_s_mean, mean));
    for (int q = 0; q < N_QUANTILES; q++)
        number(to, quantile_names[q], c->duration_s[q]);
    fputc('}', to);
}

static void names(FILE *to, const struct census *c)
{
    fprintf(to, ", \"kinds\": {\"unknown\": %d, \"train\": %d, \"infer\": %d}", c->n_kind[0],
            c->n_kind[1], c->n_kind[2]);
    whole(to, "users", c->n_users);
    whole(to, "groups", c->n_groups);
    whole(to, "queues", c->n_queues);
    whole(to, "workloads", c->n_workloads);
    whole(to, "gpu_types", c->n_gpu_types);
}

/* Without a clock the hours count from t = 0 and there are no days. */
static void clock_hours(FILE *to, const struct trace *t, const struct census *c)
{
    fprintf(to, ", \"clock\": {\"first_hour\": %d", c->first_hour);
    text(to, "first_day", c->clock_known ? weekday_names[c->first_day] : NULL);
    text(to, "zone", c->clock_known ? t->zone : NULL);
    fputs(", \"by_hour\": [", to);
    for (int h = 0; h < 24; h++)
        fprintf(to, "%s%" PRId32, h > 0 ? ", " : "", c->hour[h]);
    fputs("], \"by_day\": ", to);
    for (int d = 0; d < 7 && c->clock_known; d++)
        fprintf(to, "%s\"%s\": %" PRId32, d > 0 ? ", " : "{", weekday_names[d], c->day[d]);
    fputs(c->clock_known ? "}}" : "null}", to);
}

void census_json(FILE *to, const struct trace *t, const struct census *c, const char *cluster)
{
    fprintf(to, "{\"hash\": \"%016" PRIx64 "\"", t->hash);
    text(to, "format", t->report.format);
    account(to, &t->report);
    demand(to, t, c, cluster);
    names(to, c);
    clock_hours(to, t, c);
    fputs("}\n", to);
}
