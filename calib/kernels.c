#include "calib/kernels.h"

#include "calib/wanted.h"
#include "core/base/arena.h"
#include "core/base/rng.h"

#include <gsl/gsl_fit.h>
#include <gsl/gsl_statistics_double.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SAMPLES = 1000, PAIRS_MIN = 3 };

struct columns {
    int32_t probe[2], blocks[2], gap[2], solo[2], retain[2];
};

static enum status find(const struct table *t, const char *name, int32_t column[2],
                        struct error *err)
{
    char text[32];
    for (int i = 0; i < 2; i++) {
        snprintf(text, sizeof text, "%s_%c", name, "ab"[i]);
        TRY(wanted_column(t, text, &column[i], err));
    }
    return ST_OK;
}

/* Adds a row where it counts. */
static enum status read_row(struct kernel_pairs *k, const struct table *t, int32_t row,
                            const struct columns *c, struct error *err)
{
    double gap[2], solo[2], retain[2];
    char group[128];
    for (int i = 0; i < 2; i++) {
        TRY(wanted_number(t, row, c->gap[i], 0, 1e12, &gap[i], err));
        TRY(wanted_number(t, row, c->solo[i], 1e-9, 1e12, &solo[i], err));
        TRY(wanted_number(t, row, c->retain[i], 1e-9, 100, &retain[i], err));
    }
    bool same = strcmp(table_cell(t, row, c->probe[0]), table_cell(t, row, c->probe[1])) == 0 &&
                strcmp(table_cell(t, row, c->blocks[0]), table_cell(t, row, c->blocks[1])) == 0;
    int shorter = solo[0] >= solo[1] ? 0 : 1;
    if (!same || gap[0] > 0 || gap[1] > 0 || solo[shorter] < 1.1 * solo[1 - shorter])
        return ST_OK;
    if (retain[0] >= 1 || retain[1] >= 1) {
        k->n_unslowed++;
        return ST_OK;
    }
    int length = snprintf(group, sizeof group, "%s, %s blocks", table_cell(t, row, c->probe[0]),
                          table_cell(t, row, c->blocks[0]));
    int32_t id = names_add(&k->groups, group, (size_t)length);
    if (id < 0 || !ARRAY_GROW(k->at, k->capacity, k->n + 1))
        return fail_memory(err);
    k->at[k->n++] = (struct kernel_pair){id,
                                         {1 / solo[shorter], 1 / solo[1 - shorter]},
                                         {1 / retain[shorter], 1 / retain[1 - shorter]}};
    return ST_OK;
}

enum status kernel_pairs_read(struct kernel_pairs *k, const struct table *t, struct error *err)
{
    struct columns c;
    TRY(find(t, "probe", c.probe, err));
    TRY(find(t, "blocks", c.blocks, err));
    TRY(find(t, "gap", c.gap, err));
    TRY(find(t, "solo", c.solo, err));
    TRY(find(t, "retain", c.retain, err));
    for (int32_t row = 0; row < t->n_rows; row++)
        TRY(read_row(k, t, row, &c, err));
    return ST_OK;
}

void kernel_pairs_free(struct kernel_pairs *k)
{
    free(k->at);
    names_free(&k->groups);
    *k = (struct kernel_pairs){0};
}

/* The slope over n pairs (rows of k); x and y hold 2 n. NAN where all ratios are equal. */
static double slope_of(const struct kernel_pairs *k, const int32_t *pair, size_t n, bool both,
                       double *x, double *y)
{
    double offset, slope, cov00, cov01, cov11, rest;
    size_t used = 0;
    for (size_t i = 0; i < n; i++) {
        const struct kernel_pair *p = &k->at[pair[i]];
        for (int side = 0; side < (both ? 2 : 1); side++) {
            x[used] = log(p->length_s[1 - side] / p->length_s[side]);
            y[used++] = log(p->slowdown[side] - 1);
        }
    }
    if (gsl_stats_variance(x, 1, used) < 1e-12)
        return NAN;
    gsl_fit_linear(x, 1, y, 1, used, &offset, &slope, &cov00, &cov01, &cov11, &rest);
    return slope;
}

/* The slope over the n pairs, and its scatter over samples of them; drawn holds n, x 4 n. */
static struct estimate bootstrap(const struct kernel_pairs *k, const int32_t *pair, int32_t *drawn,
                                 size_t n, bool both, double *x, gsl_rng *rng)
{
    double slope[SAMPLES];
    size_t n_slopes = 0;
    for (int s = 0; s < SAMPLES; s++) {
        for (size_t i = 0; i < n; i++)
            drawn[i] = pair[gsl_rng_uniform_int(rng, n)];
        double one = slope_of(k, drawn, n, both, x, x + 2 * n);
        if (isfinite(one))
            slope[n_slopes++] = one;
    }
    return (struct estimate){slope_of(k, pair, n, both, x, x + 2 * n),
                             n_slopes > 1 ? gsl_stats_sd(slope, 1, n_slopes) : NAN};
}

enum status kernel_slope(const struct kernel_pairs *k, int32_t group, bool both,
                         struct estimate *out, struct error *err)
{
    size_t n = 0, room = (size_t)k->n + 1;
    int32_t *pair = malloc(2 * room * sizeof *pair);
    double *x = malloc(4 * room * sizeof *x);
    gsl_rng *rng = rng_stream(0, "bootstrap");
    enum status status = ST_OK;
    *out = (struct estimate){NAN, 0};
    if (pair == NULL || x == NULL || rng == NULL) {
        status = fail_memory(err);
        goto out;
    }
    for (int32_t i = 0; i < k->n; i++)
        if (k->at[i].group == group)
            pair[n++] = i;
    if (n >= PAIRS_MIN)
        *out = bootstrap(k, pair, pair + room, n, both, x, rng);
out:
    free(pair);
    free(x);
    if (rng != NULL)
        gsl_rng_free(rng);
    return status;
}
