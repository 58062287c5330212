/* A census for people. */
#include "sim/results/census.h"

#include "sim/results/report.h"

#include <inttypes.h>

/* A number for people, right in a column of that width. */
static void number(FILE *to, int width, double value)
{
    char text[32];
    fprintf(to, "%*s", width, report_number(value, text));
}

static void print_rows(FILE *to, const struct trace *trace, const struct census *c,
                       const char *cluster)
{
    const struct import_report *r = &trace->report;
    const struct job_table *t = &trace->jobs;
    char first[32], last[32];
    fprintf(to, "format     %s\n", r->format);
    fprintf(to, "rows       %" PRId64 " read, %" PRId64 " kept, %" PRId64 " dropped", r->n_rows,
            r->n_kept, r->n_dropped);
    fprintf(to, ", %" PRId64 " exact repeats", r->n_duplicates);
    if (r->n_apart > 0)
        fprintf(to, ", %" PRId64 " CPU jobs kept apart", r->n_apart);
    fputc('\n', to);
    fprintf(to, "jobs       %" PRId32 " with %" PRId32 " tasks and %" PRId64 " instances\n",
            t->n_jobs, t->n_tasks, c->n_inst);
    fprintf(to, "submitted  from %s s to %s s, ", format_us(c->first_us, first),
            format_us(c->last_us, last));
    number(to, 0, (s_of_us(c->last_us) - s_of_us(c->first_us)) / 86400);
    fputs(" days\nwork       ", to);
    number(to, 0, c->work_gpu_s);
    fputs(" GPU-seconds, enough for ", to);
    number(to, 0, c->busy_gpus);
    fputs(" GPUs over that span\n", to);
    if (cluster == NULL)
        return;
    fputs("load       ", to);
    number(to, 0, c->offered_load);
    fprintf(to, " on the %s GPUs of %s\n", report_number(c->n_gpus, first), cluster);
}

static void print_sizes(FILE *to, const struct census *c)
{
    static const char *const kinds[] = {"not told", "train", "infer"};
    int32_t n_jobs = c->n_kind[0] + c->n_kind[1] + c->n_kind[2];
    fputs("\nGPUs        jobs   of jobs  of GPU-seconds\n", to);
    for (int i = 0; i < N_SIZE_CLASSES; i++)
        if (c->size[i].n_jobs > 0)
            fprintf(to, "%-6s %9" PRId32 "  %6.2f %%  %12.2f %%\n", size_class_names[i],
                    c->size[i].n_jobs, 100.0 * c->size[i].n_jobs / n_jobs,
                    c->work_gpu_s > 0 ? 100 * c->size[i].work_gpu_s / c->work_gpu_s : 0);
    fputs("\nkind        jobs\n", to);
    for (int i = 0; i < 3; i++)
        if (c->n_kind[i] > 0)
            fprintf(to, "%-8s %7" PRId32 "\n", kinds[i], c->n_kind[i]);
    fprintf(to, "names: %d users, %d groups, %d queues, %d workloads, %d GPU types\n", c->n_users,
            c->n_groups, c->n_queues, c->n_workloads, c->n_gpu_types);
}

static void print_durations(FILE *to, const struct census *c)
{
    fprintf(to, "\n%-11s%11s", "duration, s", "mean");
    for (int q = 0; q < N_QUANTILES; q++)
        fprintf(to, "%11s", quantile_names[q]);
    fprintf(to, "\n%-11s", "");
    number(to, 11, c->duration_s_mean);
    for (int q = 0; q < N_QUANTILES; q++)
        number(to, 11, c->duration_s[q]);
    fputc('\n', to);
}

static void print_bar(FILE *to, int32_t value, int32_t most)
{
    int64_t length = most > 0 ? (int64_t)value * 40 / most : 0;
    fprintf(to, " %9" PRId32 "%s", value, length > 0 ? "  " : "");
    for (int64_t i = 0; i < length; i++)
        fputc('#', to);
    fputc('\n', to);
}

static void print_hours(FILE *to, const struct trace *trace, const struct census *c)
{
    int32_t most = 0;
    for (int h = 0; h < 24; h++)
        most = c->hour[h] > most ? c->hour[h] : most;
    if (c->clock_known)
        fprintf(to, "\nsubmissions by hour of day, %s\n", trace->zone);
    else
        fputs("\nsubmissions by hours since t = 0, modulo 24 (the trace tells no time of day)\n",
              to);
    for (int h = 0; h < 24; h++) {
        fprintf(to, "%02d", h);
        print_bar(to, c->hour[h], most);
    }
    if (!c->clock_known)
        return;
    fprintf(to, "\nsubmissions by day of week, %s (the first: %s, hour %d)\n", trace->zone,
            weekday_names[c->first_day], c->first_hour);
    for (int d = 0; d < 7; d++)
        most = d == 0 || c->day[d] > most ? c->day[d] : most;
    for (int d = 0; d < 7; d++) {
        fprintf(to, "%-9s", weekday_names[d]);
        print_bar(to, c->day[d], most);
    }
}

void census_print(FILE *to, const struct trace *t, const struct census *c, const char *cluster)
{
    print_rows(to, t, c, cluster);
    print_sizes(to, c);
    print_durations(to, c);
    print_hours(to, t, c);
}
