#include "sim/results/job_pairs.h"

#include "tests/leak.h"
#include "tests/stored_run.h"

#include <criterion/new/assert.h>

TestSuite(job_pairs, .fini = abort_on_leak);

static const double quantiles[N_JOB_STATISTICS] = {0, 0.5, 0.9, 0.99};

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The definition: sort, then interpolate. */
static double plain(double *value, int n, enum job_statistic k)
{
    double sum = 0, at = quantiles[k] * (n - 1);
    for (int i = 0; i < n; i++)
        sum += value[i];
    if (k == JOB_MEAN)
        return sum / n;
    qsort(value, (size_t)n, sizeof *value, by_value);
    int below = (int)at;
    return below + 1 < n ? value[below] + (at - below) * (value[below + 1] - value[below])
                         : value[n - 1];
}

Test(job_pairs, draws_are_pairs_of_blocks_round_the_end)
{
    /* Four jobs are drawn as two blocks of two, from any of four places each: 16 outcomes, each
     * more likely than 2.5 %, so the interval is from the least to the largest of them. */
    double a[4] = {3, 0, 7, 1}, b[4] = {5, 4, 100, 2}, wait[4] = {0, 1, 2, 3};
    struct job_pairs p = {.n = 4, .value = {a, b, wait, wait}};
    struct job_difference got[2][N_JOB_STATISTICS];
    struct error err;
    cr_assert_eq(job_pairs_draw(&p, 4000, got, &err), ST_OK);
    for (int k = 0; k < N_JOB_STATISTICS; k++) {
        double lo = INFINITY, hi = -INFINITY, all[2][4];
        for (int i = 0; i < 16; i++) {
            double x[4], y[4];
            for (int n = 0; n < 4; n++) {
                int job = ((n < 2 ? i / 4 : i % 4) + n % 2) % 4;
                x[n] = a[job];
                y[n] = b[job];
            }
            double d = plain(y, 4, (enum job_statistic)k) - plain(x, 4, (enum job_statistic)k);
            lo = d < lo ? d : lo;
            hi = d > hi ? d : hi;
        }
        memcpy(all[0], a, sizeof a);
        memcpy(all[1], b, sizeof b);
        cr_assert(epsilon_eq(dbl, got[0][k].a, plain(all[0], 4, (enum job_statistic)k), 1e-12));
        cr_assert(epsilon_eq(dbl, got[0][k].b, plain(all[1], 4, (enum job_statistic)k), 1e-12));
        cr_assert(epsilon_eq(dbl, got[0][k].difference.lo, lo, 1e-9), "statistic %d", k);
        cr_assert(epsilon_eq(dbl, got[0][k].difference.hi, hi, 1e-9), "statistic %d", k);
        cr_assert_eq(got[1][k].difference.lo, 0, "the same on both sides");
        cr_assert_eq(got[1][k].difference.hi, 0);
    }
}

Test(job_pairs, twice_is_twice_in_every_draw)
{
    double a[100], b[100];
    for (int i = 0; i < 100; i++) {
        a[i] = 1 + (i * 37) % 100 + i * i % 7;
        b[i] = 2 * a[i];
    }
    struct job_pairs p = {.n = 100, .value = {a, b, a, b}};
    struct job_difference got[2][N_JOB_STATISTICS];
    struct error err;
    cr_assert_eq(job_pairs_draw(&p, 300, got, &err), ST_OK);
    for (int k = 0; k < N_JOB_STATISTICS; k++) {
        cr_assert(epsilon_eq(dbl, got[0][k].ratio.lo, 2, 1e-12));
        cr_assert(epsilon_eq(dbl, got[0][k].ratio.hi, 2, 1e-12));
        cr_assert(got[0][k].difference.lo < got[0][k].a && got[0][k].a < got[0][k].difference.hi);
    }
}

static void b_later(struct made_run *m)
{
    made_outcome(&m->result.trace.jobs, 1, JOB_DONE, 12, 25);
}
static void n_gone(struct made_run *m)
{
    made_outcome(&m->result.trace.jobs, 2, JOB_UNFINISHED, NAN, NAN);
}

Test(job_pairs, jobs_are_matched_by_name_across_databases)
{
    struct stored_run one, other;
    struct job_pairs p;
    stored_run(&one, b_later);
    stored_run(&other, n_gone);
    cr_assert_eq(job_pairs_read(&p, &one.store, 1, &other.store, 1, &one.err), ST_OK);
    /* by submission: n\xff -2 (gone), n\xfe -1, a 0, b 1 */
    cr_assert_eq(p.n, 3);
    cr_assert_eq(p.n_unpaired, 1);
    const double want[N_JOB_COLUMNS][3] = {[A_JCT] = {5, 10, 24},
                                           [B_JCT] = {5, 10, 19.5},
                                           [A_WAIT] = {0, 0, 11},
                                           [B_WAIT] = {0, 0, 9}};
    for (int c = 0; c < N_JOB_COLUMNS; c++)
        for (int i = 0; i < 3; i++)
            cr_assert(epsilon_eq(dbl, p.value[c][i], want[c][i], 1e-9), "column %d job %d", c, i);
    job_pairs_free(&p);
    stored_run_free(&one);
    stored_run_free(&other);
}
