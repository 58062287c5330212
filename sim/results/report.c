#include "sim/results/report.h"

#include "core/base/units.h"
#include "sim/results/bootstrap.h"
#include "sim/results/quote.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

const char *report_number(double value, char buffer[32])
{
    if (!isfinite(value))
        return strcpy(buffer, "-");
    int decimals = 4;
    for (double size = fabs(value); size >= 100 && decimals > 0; size /= 10)
        decimals--;
    snprintf(buffer, 32, fabs(value) < 1e20 ? "%.*f" : "%.*g", decimals, value);
    if (strchr(buffer, '.') != NULL && strchr(buffer, 'e') == NULL) {
        size_t n = strlen(buffer);
        while (buffer[n - 1] == '0')
            buffer[--n] = '\0';
        if (buffer[n - 1] == '.')
            buffer[n - 1] = '\0';
    }
    return strcmp(buffer, "-0") == 0 ? strcpy(buffer, "0") : buffer;
}

static void print_number(FILE *to, int width, double value)
{
    char buffer[32];
    fprintf(to, " %*s", width, report_number(value, buffer));
}

static void print_head(FILE *to, const struct summary *s)
{
    char us[32];
    fprintf(to, "%s: policy %s, seed %" PRId64 ", %s", s->name, s->policy, s->seed, s->status);
    if (!summary_complete(s))
        fprintf(to, " at %s s of simulated time", format_us(s->end_us, us));
    if (s->db != NULL)
        fprintf(to, "; stored in %s", s->db);
    fputs("\n\n", to);
}

static void print_spread(FILE *to, const char *what, const struct summary *s,
                         const enum metric column[5])
{
    fprintf(to, "%-16s", what);
    for (int i = 0; i < 5; i++)
        if (column[i] < N_METRICS)
            print_number(to, 11, s->metric[column[i]]);
    fputc('\n', to);
}

static void print_spreads(FILE *to, const struct summary *s)
{
    static const enum metric jct[5] = {METRIC_jct_mean_s, METRIC_jct_p50_s, METRIC_jct_p90_s,
                                       METRIC_jct_p99_s, N_METRICS};
    static const enum metric wait[5] = {METRIC_wait_mean_s, METRIC_wait_p50_s, METRIC_wait_p90_s,
                                        METRIC_wait_p99_s, METRIC_wait_max_s};
    char longest[32];
    fprintf(to, "%-16s %11s %11s %11s %11s %11s\n", "", "mean", "p50", "p90", "p99", "max");
    print_spread(to, "jct_*_s", s, jct);
    print_spread(to, "wait_*_s", s, wait);
    fputs("(percentiles: linear interpolation between order statistics)\n", to);
    if (s->longest != NULL)
        fprintf(to, "longest wait: %s s (%s)\n",
                report_number(s->metric[METRIC_wait_max_s], longest), s->longest);
    fputc('\n', to);
}

/* "metric   value   what it is" lines of what fits in one number. */
static void print_facts(FILE *to, const struct summary *s)
{
    static const enum metric fact[] = {
        METRIC_makespan_s,   METRIC_gpu_alloc_mean, METRIC_gpu_alloc_max, METRIC_throughput_gpus,
        METRIC_offered_load, METRIC_slowdown_mean,  METRIC_preemptions,
    };
    for (size_t i = 0; i < sizeof fact / sizeof *fact; i++) {
        fprintf(to, "%-16s", metric_infos[fact[i]].name);
        print_number(to, 11, s->metric[fact[i]]);
        fprintf(to, "   %s\n", metric_infos[fact[i]].doc);
    }
    for (int i = 0; i < s->n_extra; i++) {
        fprintf(to, "%-16s", s->extra_name[i]);
        print_number(to, 11, s->extra[i]);
        fputc('\n', to);
    }
    fputc('\n', to);
}

static void print_sizes(FILE *to, const struct summary *s)
{
    fprintf(to, "%-16s %11s %11s %11s\n", "GPUs a job", "completed", "mean wait s", "mean JCT s");
    for (int i = 0; i < N_SIZE_CLASSES; i++) {
        const struct size_class *class = &s->by_size[i];
        if (class->n_jobs == 0)
            continue;
        fprintf(to, "%-16s %11" PRId64, size_class_names[i], class->n_jobs);
        print_number(to, 11, class->wait_s_mean);
        print_number(to, 11, class->jct_s_mean);
        fputc('\n', to);
    }
}

static void print_jobs(FILE *to, const struct summary *s)
{
    char done[32], rejected[32], left[32];
    fprintf(to, "jobs: %s completed, %s rejected, %s unfinished\n",
            report_number(s->metric[METRIC_jobs_completed], done),
            report_number(s->metric[METRIC_jobs_rejected], rejected),
            report_number(s->metric[METRIC_jobs_unfinished], left));
    for (size_t i = 0; i < s->n_events; i++) {
        const struct event_count *e = &s->event[i];
        if (strcmp(e->kind, happening_names[HAP_EVICT]) != 0)
            fprintf(to, "  %s (%" PRId64 "): %s\n", e->kind, e->n, e->text);
    }
}

void report_run(FILE *to, const struct summary *s)
{
    print_head(to, s);
    print_jobs(to, s);
    fputc('\n', to);
    print_spreads(to, s);
    print_facts(to, s);
    print_sizes(to, s);
}

static void json_text(FILE *to, const char *key, const char *text)
{
    fprintf(to, ", \"%s\": ", key);
    if (text != NULL)
        quote_json(to, text);
    else
        fputs("null", to);
}

static void json_number(FILE *to, bool first, const char *key, double value)
{
    char buffer[32];
    fputs(first ? "" : ", ", to);
    quote_json(to, key);
    fprintf(to, ": %s", format_real(value, buffer));
}

void report_json_fields(FILE *to, const struct summary *s)
{
    fputs("\"run\": ", to);
    quote_json(to, s->name);
    json_text(to, "policy", s->policy);
    fprintf(to, ", \"seed\": %" PRId64, s->seed);
    json_text(to, "status", s->status);
    json_text(to, "label", s->label);
    json_text(to, "db", s->db);
    json_text(to, "truth", s->truth);
    json_text(to, "cluster", s->cluster);
    json_text(to, "configured", s->configured);
    json_text(to, "trace_hash", s->trace_hash);
    json_number(to, false, "end_s", s_of_us(s->end_us));
    fputs(", \"metrics\": {", to);
    for (int i = 0; i < N_METRICS; i++)
        json_number(to, i == 0, metric_infos[i].name, s->metric[i]);
    for (int i = 0; i < s->n_extra; i++)
        json_number(to, false, s->extra_name[i], s->extra[i]);
    fputs("}, \"timing\": {", to);
    for (int i = 0; i < N_TIMINGS; i++)
        json_number(to, i == 0, timing_names[i], s->timing[i]);
    fputc('}', to);
}

void report_json(FILE *to, const struct summary *s)
{
    fputc('{', to);
    report_json_fields(to, s);
    fputs("}\n", to);
}

void report_list(FILE *to, const struct summary *runs, int n_runs)
{
    int name = 4, policy = 6;
    for (int i = 0; i < n_runs; i++) {
        name = name > (int)strlen(runs[i].name) ? name : (int)strlen(runs[i].name);
        policy = policy > (int)strlen(runs[i].policy) ? policy : (int)strlen(runs[i].policy);
    }
    fprintf(to, "%-*s  %-*s  %6s  %-11s  %9s  %11s  %s\n", name, "run", policy, "policy", "seed",
            "status", "completed", "mean JCT s", "created");
    for (int i = 0; i < n_runs; i++) {
        const struct summary *s = &runs[i];
        fprintf(to, "%-*s  %-*s  %6" PRId64 "  %-11s ", name, s->name, policy, s->policy, s->seed,
                s->status);
        print_number(to, 9, s->metric[METRIC_jobs_completed]);
        fputc(' ', to);
        print_number(to, 11, s->metric[METRIC_jct_mean_s]);
        fprintf(to, "  %s\n", s->created != NULL ? s->created : "-");
    }
}

static const struct compared {
    const char *title;
    enum metric metric;
} compared[] = {
    {"mean JCT s", METRIC_jct_mean_s},      {"p99 JCT s", METRIC_jct_p99_s},
    {"mean wait s", METRIC_wait_mean_s},    {"makespan s", METRIC_makespan_s},
    {"utilisation", METRIC_gpu_alloc_mean}, {"throughput", METRIC_throughput_gpus},
    {"SM active", METRIC_sm_util_mean},     {"attainment", METRIC_attain_frac},
};
enum { N_COMPARED = sizeof compared / sizeof *compared };

/* The complete runs of a policy beside those of the first one, metric by metric. */
struct side {
    double mean[N_COMPARED];
    double *value,
        *base; /* (n_pairs) of one metric: this policy's, and the first one's at that seed */
    int n, n_pairs;
};

static bool counts(const struct summary *run, const struct summary *of)
{
    return strcmp(run->policy, of->policy) == 0 && summary_complete(run);
}

/* The run of the first policy at that seed, or NULL. */
static const struct summary *partner(const struct summary *runs, int n_runs, int64_t seed)
{
    for (int i = 0; i < n_runs; i++)
        if (counts(&runs[i], &runs[0]) && runs[i].seed == seed)
            return &runs[i];
    return NULL;
}

/* A metric that one of the runs lacks is NAN. */
static void side_means(const struct summary *runs, int n_runs, int first, struct side *s)
{
    s->n = 0;
    memset(s->mean, 0, sizeof s->mean);
    for (int i = first; i < n_runs; i++) {
        if (!counts(&runs[i], &runs[first]))
            continue;
        s->n++;
        for (int k = 0; k < N_COMPARED; k++)
            s->mean[k] += runs[i].metric[compared[k].metric];
    }
    for (int k = 0; k < N_COMPARED; k++)
        s->mean[k] /= s->n;
}

static void side_pairs(const struct summary *runs, int n_runs, int first, enum metric metric,
                       struct side *s)
{
    s->n_pairs = 0;
    for (int i = first; i < n_runs; i++) {
        const struct summary *base =
            counts(&runs[i], &runs[first]) ? partner(runs, n_runs, runs[i].seed) : NULL;
        if (base == NULL)
            continue;
        s->value[s->n_pairs] = runs[i].metric[metric];
        s->base[s->n_pairs++] = base->metric[metric];
    }
}

static bool seen_before(const struct summary *runs, int at)
{
    for (int i = 0; i < at; i++)
        if (strcmp(runs[i].policy, runs[at].policy) == 0)
            return true;
    return false;
}

static void print_ratio(FILE *to, double value, double base)
{
    char text[32] = "-";
    if (isfinite(value / base))
        snprintf(text, sizeof text, "x%.3f", value / base);
    fprintf(to, " %7s", text);
}

/* What each policy was, and what was set for all of them. */
static void print_configured(FILE *to, const struct summary *runs, int n_runs)
{
    for (int i = 0; i < n_runs; i++)
        if (!seen_before(runs, i) && runs[i].configured != NULL)
            fprintf(to, "%s: %s\n", runs[i].policy,
                    runs[i].configured[0] != '\0' ? runs[i].configured : "as by default");
    if (n_runs > 0 && runs[0].others != NULL && runs[0].others[0] != '\0')
        fprintf(to, "all: %s\n", runs[0].others);
}

/* Two lines below a row of several seeds: from where to where its numbers may lie. */
static enum status print_intervals(FILE *to, const struct summary *runs, int n_runs, int first,
                                   int width, struct side *s, struct error *err)
{
    struct interval mean[N_COMPARED], ratio[N_COMPARED];
    for (int k = 0; k < N_COMPARED; k++) {
        side_pairs(runs, n_runs, first, compared[k].metric, s);
        TRY(bootstrap(BOOT_MEAN, s->value, NULL, s->n_pairs, &mean[k], err));
        TRY(bootstrap(BOOT_RATIO, s->base, s->value, s->n_pairs, &ratio[k], err));
    }
    for (int end = 0; end < 2; end++) {
        fprintf(to, "%*s", width + 6, end == 0 ? "from" : "to");
        for (int k = 0; k < N_COMPARED; k++) {
            print_number(to, 11, end == 0 ? mean[k].lo : mean[k].hi);
            print_ratio(to, end == 0 ? ratio[k].lo : ratio[k].hi, 1);
        }
        fputc('\n', to);
    }
    return ST_OK;
}

static enum status print_policies(FILE *to, const struct summary *runs, int n_runs, int width,
                                  struct side *s, struct error *err)
{
    double base[N_COMPARED];
    bool intervals = false;
    for (int i = 0; i < n_runs; i++) {
        if (seen_before(runs, i))
            continue;
        side_means(runs, n_runs, i, s);
        if (i == 0)
            memcpy(base, s->mean, sizeof base);
        fprintf(to, "%-*s %5d", width, runs[i].policy, s->n);
        for (int k = 0; k < N_COMPARED; k++) {
            print_number(to, 11, s->mean[k]);
            print_ratio(to, s->mean[k], base[k]);
        }
        fputc('\n', to);
        intervals = intervals || s->n > 1;
        if (s->n > 1)
            TRY(print_intervals(to, runs, n_runs, i, width, s, err));
    }
    if (intervals)
        fputs("(from, to: 95 % bootstrap intervals of the means, and of the ratios in pairs of one "
              "seed)\n",
              to);
    fputs("(means over seeds; x: relative to the first row)\n", to);
    return ST_OK;
}

enum status report_compare(FILE *to, const struct summary *runs, int n_runs, struct error *err)
{
    int width = 6, n_complete = 0;
    struct side side = {.value = calloc((size_t)n_runs + 1, sizeof *side.value),
                        .base = calloc((size_t)n_runs + 1, sizeof *side.base)};
    for (int i = 0; i < n_runs; i++) {
        width = width > (int)strlen(runs[i].policy) ? width : (int)strlen(runs[i].policy);
        n_complete += summary_complete(&runs[i]);
    }
    fprintf(to, "%-*s %5s", width, "policy", "seeds");
    for (int k = 0; k < N_COMPARED; k++)
        fprintf(to, " %11s%*s", compared[k].title, k + 1 < N_COMPARED ? 8 : 0, "");
    fputc('\n', to);
    enum status status = side.value != NULL && side.base != NULL
                             ? print_policies(to, runs, n_runs, width, &side, err)
                             : fail_memory(err);
    if (status == ST_OK)
        print_configured(to, runs, n_runs);
    for (int i = 0; i < n_runs && n_complete < n_runs; i++)
        if (!summary_complete(&runs[i]))
            fprintf(to, "left out: %s (%s)\n", runs[i].name, runs[i].status);
    free(side.value);
    free(side.base);
    return status;
}
