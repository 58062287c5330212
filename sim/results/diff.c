#include "sim/results/diff.h"

#include "core/base/units.h"
#include "sim/results/job_pairs.h"
#include "sim/results/quote.h"
#include "sim/results/report.h"
#include "sim/results/summary.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const enum metric job_metrics[2][N_JOB_STATISTICS] = {
    {METRIC_jct_mean_s, METRIC_jct_p50_s, METRIC_jct_p90_s, METRIC_jct_p99_s},
    {METRIC_wait_mean_s, METRIC_wait_p50_s, METRIC_wait_p90_s, METRIC_wait_p99_s},
};

/* The metrics of the runs of one side that have a partner; values (N_METRICS x n_pairs). */
struct side {
    struct store *store;
    struct run_group group;
    double *value;
};

static double *column(const struct side *s, enum metric m, int n) { return s->value + (int)m * n; }

static enum status read_metrics(struct side *s, int at, int k, int n, struct error *err)
{
    struct summary run;
    TRY(summary_read(&run, s->store, s->group.run[at], err));
    for (int m = 0; m < N_METRICS; m++)
        column(s, (enum metric)m, n)[k] = run.metric[m];
    summary_free(&run);
    return ST_OK;
}

/* Seeds that both sides have, from both of them. */
static enum status read_pairs(struct diff *d, struct side *a, struct side *b, struct error *err)
{
    int n = 0;
    for (int pass = 0; pass < 2; pass++) {
        int k = 0;
        for (int i = 0, j = 0; i < a->group.n && j < b->group.n;) {
            int64_t x = a->group.seed[i], y = b->group.seed[j];
            bool alone = a->group.n == 1 && b->group.n == 1; /* two runs, whatever their seeds */
            if (x == y || alone) {
                if (pass == 1) {
                    TRY(read_metrics(a, i, k, n, err));
                    TRY(read_metrics(b, j, k, n, err));
                }
                k++;
            }
            i += x <= y || alone;
            j += y <= x || alone;
        }
        n = d->n_pairs = k;
        if (n == 0)
            return fail(err, ST_USAGE, "'%s' and '%s' have no seed in common", d->a, d->b);
        if (pass == 1)
            break;
        a->value = calloc((size_t)n * N_METRICS, sizeof *a->value);
        b->value = calloc((size_t)n * N_METRICS, sizeof *b->value);
        if (a->value == NULL || b->value == NULL)
            return fail_memory(err);
    }
    d->n_unpaired = a->group.n + b->group.n - 2 * n;
    return ST_OK;
}

static double mean(const double *value, int n)
{
    double sum = 0;
    for (int i = 0; i < n; i++)
        sum += value[i];
    return sum / n;
}

static enum status compare_pairs(struct diff *d, const struct side *a, const struct side *b,
                                 struct error *err)
{
    for (int m = 0; m < N_METRICS; m++) {
        const double *x = column(a, (enum metric)m, d->n_pairs),
                     *y = column(b, (enum metric)m, d->n_pairs);
        struct diff_row row = {
            .metric = (enum metric)m, .a = mean(x, d->n_pairs), .b = mean(y, d->n_pairs)};
        TRY(bootstrap(BOOT_DIFFERENCE, x, y, d->n_pairs, &row.difference, err));
        TRY(bootstrap(BOOT_RATIO, x, y, d->n_pairs, &row.ratio, err));
        if (isfinite(row.a) || isfinite(row.b))
            d->row[d->n_rows++] = row;
    }
    return ST_OK;
}

/* Puts what the jobs tell in place of what two single numbers do not. */
static enum status compare_jobs(struct diff *d, const struct side *a, const struct side *b,
                                struct error *err)
{
    struct job_pairs jobs;
    struct job_difference found[2][N_JOB_STATISTICS];
    enum status status =
        job_pairs_read(&jobs, a->store, a->group.run[0], b->store, b->group.run[0], err);
    if (status == ST_OK && jobs.n > 1)
        status = job_pairs_draw(&jobs, DIFF_JOB_DRAWS, found, err);
    d->by_jobs = true;
    d->n_pairs = jobs.n;
    d->n_unpaired = jobs.n_unpaired;
    for (int i = 0; i < d->n_rows && status == ST_OK && jobs.n > 1; i++)
        for (int k = 0; k < 2 * N_JOB_STATISTICS; k++) {
            const struct job_difference *f = &found[k / N_JOB_STATISTICS][k % N_JOB_STATISTICS];
            if (job_metrics[k / N_JOB_STATISTICS][k % N_JOB_STATISTICS] == d->row[i].metric)
                d->row[i] =
                    (struct diff_row){d->row[i].metric, f->a, f->b, f->difference, f->ratio};
        }
    job_pairs_free(&jobs);
    return status;
}

enum status diff_make(struct diff *d, struct store *a_store, const char *a, struct store *b_store,
                      const char *b, struct error *err)
{
    struct side left = {.store = a_store}, right = {.store = b_store};
    *d = (struct diff){.a = a, .b = b};
    enum status status = group_find(a_store, a, &left.group, err);
    if (status == ST_OK)
        status = group_find(b_store, b, &right.group, err);
    if (status == ST_OK)
        status = read_pairs(d, &left, &right, err);
    if (status == ST_OK)
        status = compare_pairs(d, &left, &right, err);
    if (status == ST_OK && left.group.n == 1 && right.group.n == 1)
        status = compare_jobs(d, &left, &right, err);
    group_free(&left.group);
    group_free(&right.group);
    free(left.value);
    free(right.value);
    return status;
}

static const char *interval_text(struct interval i, char text[80])
{
    char lo[32], hi[32];
    text[0] = '\0';
    if (!isnan(i.lo))
        snprintf(text, 80, "[%s, %s]", report_number(i.lo, lo), report_number(i.hi, hi));
    return text;
}

/* Does the interval leave out zero? */
static char mark(const struct diff_row *r)
{
    return !isnan(r->difference.lo) && (r->difference.lo > 0 || r->difference.hi < 0) ? '*' : ' ';
}

void diff_print(FILE *to, const struct diff *d)
{
    bool any = false;
    fprintf(to, "A: %s\nB: %s\n%d %s in both, paired", d->a, d->b, d->n_pairs,
            d->by_jobs        ? "jobs ended"
            : d->n_pairs == 1 ? "seed"
                              : "seeds");
    fprintf(to, d->n_unpaired > 0 ? "; %d in one of them only, left out\n\n" : "\n\n",
            d->n_unpaired);
    fprintf(to, "%-18s %11s %11s %11s %-26s %8s\n", "metric", "A", "B", "B - A", "   95 %",
            "B / A");
    for (int i = 0; i < d->n_rows; i++) {
        const struct diff_row *r = &d->row[i];
        char a[32], b[32], change[32], ratio[32] = "-", by[80], times[80];
        if (isfinite(r->b / r->a))
            snprintf(ratio, sizeof ratio, "x%.3f", r->b / r->a);
        fprintf(to, "%-18s %11s %11s %11s %c %-24s %8s %s\n", metric_infos[r->metric].name,
                report_number(r->a, a), report_number(r->b, b), report_number(r->b - r->a, change),
                mark(r), interval_text(r->difference, by), ratio, interval_text(r->ratio, times));
        any = any || mark(r) == '*';
    }
    if (any)
        fputs("(*: the 95 % interval of the difference leaves out 0)\n", to);
    if (d->by_jobs)
        fputs("(JCT and wait over those jobs, drawn in blocks by submission; how sure the others "
              "are takes several seeds)\n",
              to);
}

static void json_interval(FILE *to, const char *lo, const char *hi, struct interval i)
{
    char low[32], high[32];
    fprintf(to, ", \"%s\": %s, \"%s\": %s", lo, format_real(i.lo, low), hi,
            format_real(i.hi, high));
}

void diff_json(FILE *to, const struct diff *d)
{
    fputs("{\"a\": ", to);
    quote_json(to, d->a);
    fputs(", \"b\": ", to);
    quote_json(to, d->b);
    fprintf(to, ", \"paired_by\": \"%s\", \"pairs\": %d, \"unpaired\": %d, \"metrics\": {",
            d->by_jobs ? "job" : "seed", d->n_pairs, d->n_unpaired);
    for (int i = 0; i < d->n_rows; i++) {
        const struct diff_row *r = &d->row[i];
        char a[32], b[32], difference[32], ratio[32];
        fprintf(to, "%s\"%s\": {\"a\": %s, \"b\": %s, \"difference\": %s", i > 0 ? ", " : "",
                metric_infos[r->metric].name, format_real(r->a, a), format_real(r->b, b),
                format_real(r->b - r->a, difference));
        json_interval(to, "lo", "hi", r->difference);
        fprintf(to, ", \"ratio\": %s", format_real(r->b / r->a, ratio));
        json_interval(to, "ratio_lo", "ratio_hi", r->ratio);
        fputc('}', to);
    }
    fputs("}}\n", to);
}
