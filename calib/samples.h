/* samples.h - measured pairs: what co-location experiments gave, as the predictor learns it.
 *
 * An experiment is two jobs run together; it gives two samples, one for each job. A label is the
 * slowdown S = rate alone / rate together; below 1 (a job that kept more than it had alone) it is
 * noise and counts as 1. Each sample has two sides of its own, so nothing is shared between rows.
 * All-zero is a valid empty set. */
#ifndef COLOSIM_CALIB_SAMPLES_H
#define COLOSIM_CALIB_SAMPLES_H

#include "core/base/names.h"
#include "core/elastico/iac.h"

enum pair_kind { PAIR_TT, PAIR_TI, PAIR_II, N_PAIR_KINDS };
extern const char *const pair_kind_name[N_PAIR_KINDS]; /* "T+T" */

struct pair_row {
    double slowdown;      /* the label, >= 1 */
    double slowdown_true; /* without the error of measuring; 0 where nobody can know */
    int32_t experiment;   /* counted from 0 in the order of first sight */
    int32_t workload[2];  /* ids of the names, of both jobs */
    double measured;      /* the label before that bound; samples_add sets it */
};

struct samples {
    int32_t n, n_experiments;
    struct pair_row *row;   /* (n) */
    struct iac_side *side;  /* (2 n) the job of row k is 2 k, its neighbour 2 k + 1 */
    struct names workloads; /* as the table names them, with or without their configuration */
    bool named_jobs;        /* each name is one job in one configuration, a row's own first */
    int32_t n_dropped;      /* pairs of the tables of which a side did not run */
    size_t row_capacity, side_capacity;
};

/* The question row k answers. */
static inline struct iac_pair samples_pair(int32_t k)
{
    return (struct iac_pair){2 * k, 2 * k + 1};
}
enum pair_kind samples_kind(const struct samples *s, int32_t k);

/* Adds a row; experiment is an earlier one or n_experiments. The label is finite and above 0. */
enum status samples_add(struct samples *s, const struct iac_side *job,
                        const struct iac_side *neighbour, struct pair_row row,
                        struct error *err) MUST_USE;
/* Of everything a model is made from: labels and sides in their order. */
uint64_t samples_hash(const struct samples *s);
void samples_free(struct samples *s);

#endif
