#include "sim/results/job_pairs.h"

#include "core/base/names.h"
#include "core/base/rng.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double quantile_of[N_JOB_STATISTICS] = {NAN, 0.5, 0.9, 0.99};

void job_pairs_free(struct job_pairs *p)
{
    for (int c = 0; c < N_JOB_COLUMNS; c++)
        free(p->value[c]);
    *p = (struct job_pairs){0};
}

/* The jobs of one run that ended, in order of submission. */
struct ended {
    struct names names;
    double *jct, *wait;
    size_t jct_capacity, wait_capacity;
};

static void ended_free(struct ended *e)
{
    names_free(&e->names);
    free(e->jct);
    free(e->wait);
}

static bool add_job(struct ended *e, sqlite3_stmt *row)
{
    int32_t n = e->names.n;
    const void *name = sqlite3_column_blob(row, 0);
    size_t length = (size_t)sqlite3_column_bytes(row, 0);
    if (!ARRAY_GROW(e->jct, e->jct_capacity, n + 1) ||
        !ARRAY_GROW(e->wait, e->wait_capacity, n + 1) ||
        names_add(&e->names, name != NULL ? name : "", length) < 0)
        return false;
    if (e->names.n > n) {
        e->jct[n] = sqlite3_column_double(row, 1);
        e->wait[n] = sqlite3_column_double(row, 2);
    }
    return true;
}

static enum status read_ended(struct ended *e, struct store *s, int64_t run, struct error *err)
{
    sqlite3_stmt *jobs;
    bool row = false;
    TRY(store_select(s,
                     "SELECT name, jct_s, wait_s FROM job WHERE run = ?1 AND status = 'done'"
                     " ORDER BY submit_us, job",
                     run, &jobs, err));
    enum status status = store_step(s, jobs, &row, err);
    while (status == ST_OK && row)
        status = add_job(e, jobs) ? store_step(s, jobs, &row, err) : fail_memory(err);
    sqlite3_finalize(jobs);
    return status;
}

static enum status pair_up(struct job_pairs *p, const struct ended *a, const struct ended *b,
                           struct error *err)
{
    for (int c = 0; c < N_JOB_COLUMNS; c++) {
        p->value[c] = malloc(((size_t)a->names.n + 1) * sizeof *p->value[c]);
        if (p->value[c] == NULL)
            return fail_memory(err);
    }
    for (int32_t i = 0; i < a->names.n; i++) {
        int32_t k = names_find(&b->names, names_text(&a->names, i), names_length(&a->names, i));
        if (k < 0)
            continue;
        p->value[A_JCT][p->n] = a->jct[i];
        p->value[A_WAIT][p->n] = a->wait[i];
        p->value[B_JCT][p->n] = b->jct[k];
        p->value[B_WAIT][p->n++] = b->wait[k];
    }
    p->n_unpaired = a->names.n + b->names.n - 2 * p->n;
    return ST_OK;
}

enum status job_pairs_read(struct job_pairs *p, struct store *a, int64_t a_run, struct store *b,
                           int64_t b_run, struct error *err)
{
    struct ended left = {0}, right = {0};
    *p = (struct job_pairs){0};
    enum status status = read_ended(&left, a, a_run, err);
    if (status == ST_OK)
        status = read_ended(&right, b, b_run, err);
    if (status == ST_OK)
        status = pair_up(p, &left, &right, err);
    ended_free(&left);
    ended_free(&right);
    return status;
}

static int by_value(const void *a, const void *b, void *column)
{
    const double *v = column;
    double x = v[*(const int32_t *)a], y = v[*(const int32_t *)b];
    return (x > y) - (x < y);
}

/* Scratch of the draws. */
struct drawing {
    int32_t n, *order[N_JOB_COLUMNS], *count; /* how often each job was drawn */
    int n_draws;
    double *drawn; /* JCT or wait x difference or ratio x statistic x draw */
};

static double *drawn_of(const struct drawing *d, int what, int ratio, int statistic)
{
    return d->drawn +
           (size_t)((what * 2 + ratio) * N_JOB_STATISTICS + statistic) * (size_t)d->n_draws;
}

static void drawing_free(struct drawing *d)
{
    free(d->count);
    free(d->drawn);
    for (int c = 0; c < N_JOB_COLUMNS; c++)
        free(d->order[c]);
}

static enum status drawing_init(struct drawing *d, const struct job_pairs *p, int n_draws,
                                struct error *err)
{
    *d =
        (struct drawing){.n = p->n,
                         .n_draws = n_draws,
                         .count = calloc((size_t)p->n + 1, sizeof *d->count),
                         .drawn = calloc((size_t)n_draws * 4 * N_JOB_STATISTICS, sizeof *d->drawn)};
    if (d->count == NULL || d->drawn == NULL)
        return fail_memory(err);
    for (int c = 0; c < N_JOB_COLUMNS; c++) {
        d->order[c] = malloc(((size_t)p->n + 1) * sizeof *d->order[c]);
        if (d->order[c] == NULL)
            return fail_memory(err);
        for (int32_t i = 0; i < p->n; i++)
            d->order[c][i] = i;
        qsort_r(d->order[c], (size_t)p->n, sizeof *d->order[c], by_value, p->value[c]);
    }
    return ST_OK;
}

/* Blocks from anywhere, round the end, until n jobs are drawn. */
static void draw_blocks(struct drawing *d, gsl_rng *rng)
{
    int32_t length = (int32_t)ceil(sqrt(d->n));
    memset(d->count, 0, (size_t)d->n * sizeof *d->count);
    for (int32_t left = d->n; left > 0; left -= length) {
        int32_t at = (int32_t)gsl_rng_uniform_int(rng, (unsigned long)d->n);
        for (int32_t k = 0; k < length && k < left; k++)
            d->count[(at + k) % d->n]++;
    }
}

/* Mean and percentiles of a column in which job i stands count[i] times; n in all. */
static void statistics(const struct drawing *d, const double *value, const int32_t *order,
                       double out[N_JOB_STATISTICS])
{
    double sum = 0, below = 0;
    int32_t seen = 0;
    int next = JOB_P50;
    for (int32_t i = 0; i < d->n; i++)
        sum += d->count[i] * value[i];
    out[JOB_MEAN] = sum / d->n;
    for (int32_t i = 0; i < d->n && next < N_JOB_STATISTICS; i++) {
        double here = value[order[i]];
        if (d->count[order[i]] == 0)
            continue;
        int32_t first = seen; /* here are the order statistics first .. seen - 1 */
        seen += d->count[order[i]];
        while (next < N_JOB_STATISTICS) {
            double at = quantile_of[next] * (d->n - 1), rest = at - floor(at);
            int32_t lower = (int32_t)at, upper = rest > 0 ? lower + 1 : lower;
            if (upper >= seen)
                break;
            out[next++] = upper > lower && lower < first ? below + rest * (here - below) : here;
        }
        below = here;
    }
}

/* Both sides of JCT (what = 0) or wait. */
static void both_sides(const struct drawing *d, const struct job_pairs *p, int what,
                       double side[2][N_JOB_STATISTICS])
{
    for (int k = 0; k < 2; k++)
        statistics(d, p->value[2 * what + k], d->order[2 * what + k], side[k]);
}

static void draw_once(struct drawing *d, const struct job_pairs *p, gsl_rng *rng, int draw)
{
    double side[2][N_JOB_STATISTICS];
    draw_blocks(d, rng);
    for (int what = 0; what < 2; what++) {
        both_sides(d, p, what, side);
        for (int k = 0; k < N_JOB_STATISTICS; k++) {
            drawn_of(d, what, 0, k)[draw] = side[1][k] - side[0][k];
            drawn_of(d, what, 1, k)[draw] = side[1][k] / side[0][k];
        }
    }
}

static struct interval interval_of(double *drawn, int n)
{
    for (int i = 0; i < n; i++)
        if (!isfinite(drawn[i]))
            return (struct interval){NAN, NAN};
    return bootstrap_interval(drawn, n);
}

/* Every job once, and what the draws gave. */
static void sum_up(struct drawing *d, const struct job_pairs *p,
                   struct job_difference out[2][N_JOB_STATISTICS])
{
    double side[2][N_JOB_STATISTICS];
    for (int32_t i = 0; i < d->n; i++)
        d->count[i] = 1;
    for (int what = 0; what < 2; what++) {
        both_sides(d, p, what, side);
        for (int k = 0; k < N_JOB_STATISTICS; k++)
            out[what][k] = (struct job_difference){
                side[0][k], side[1][k], interval_of(drawn_of(d, what, 0, k), d->n_draws),
                interval_of(drawn_of(d, what, 1, k), d->n_draws)};
    }
}

enum status job_pairs_draw(const struct job_pairs *p, int n_draws,
                           struct job_difference out[2][N_JOB_STATISTICS], struct error *err)
{
    struct drawing d;
    enum status status = drawing_init(&d, p, n_draws, err);
    gsl_rng *rng = rng_stream(1, "job-pairs");
    if (status == ST_OK && rng == NULL)
        status = fail_memory(err);
    for (int draw = 0; draw < n_draws && status == ST_OK; draw++)
        draw_once(&d, p, rng, draw);
    if (status == ST_OK)
        sum_up(&d, p, out);
    if (rng != NULL)
        gsl_rng_free(rng);
    drawing_free(&d);
    return status;
}
