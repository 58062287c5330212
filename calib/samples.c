#include "calib/samples.h"

#include "core/base/arena.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>

const char *const pair_kind_name[N_PAIR_KINDS] = {"T+T", "T+I", "I+I"};

enum pair_kind samples_kind(const struct samples *s, int32_t k)
{
    int n_infer = (s->side[2 * k].kind != KIND_TRAIN) + (s->side[2 * k + 1].kind != KIND_TRAIN);
    return n_infer == 0 ? PAIR_TT : n_infer == 1 ? PAIR_TI : PAIR_II;
}

enum status samples_add(struct samples *s, const struct iac_side *job,
                        const struct iac_side *neighbour, struct pair_row row, struct error *err)
{
    assert(row.experiment >= 0 && row.experiment <= s->n_experiments);
    assert(isfinite(row.slowdown) && row.slowdown > 0);
    if (!ARRAY_GROW(s->row, s->row_capacity, s->n + 1) ||
        !ARRAY_GROW(s->side, s->side_capacity, 2 * (s->n + 1)))
        return fail_memory(err);
    row.measured = row.slowdown;
    row.slowdown = fmax(1, row.slowdown);
    s->side[2 * s->n] = *job;
    s->side[2 * s->n + 1] = *neighbour;
    s->row[s->n++] = row;
    s->n_experiments += row.experiment == s->n_experiments;
    return ST_OK;
}

/* Field by field, so that no padding is read. */
uint64_t samples_hash(const struct samples *s)
{
    uint64_t hash = 0;
    double x[IAC_FEATURES_MAX + 1];
    for (int32_t k = 0; k < s->n; k++) {
        iac_features(&s->side[2 * k], &s->side[2 * k + 1], true, x);
        x[IAC_FEATURES_MAX] = s->row[k].slowdown;
        hash = bytes_hash(x, sizeof x, hash);
    }
    return hash;
}

void samples_free(struct samples *s)
{
    free(s->row);
    free(s->side);
    names_free(&s->workloads);
    *s = (struct samples){0};
}
