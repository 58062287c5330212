/* score.h - held-out errors of the predictors, as in Table 7 of the paper.
 *
 * Rows are left out in folds, a predictor is made from the rest, maps and all, and asked for those
 * left out. A fold is one task: equal (samples, plan, predictor, seed) give equal answers whatever
 * runs beside it. The caller starts the threads. */
#ifndef COLOSIM_CALIB_SCORE_H
#define COLOSIM_CALIB_SCORE_H

#include "calib/queueing.h"
#include "calib/train.h"

/* What is left out together. */
enum score_by {
    SCORE_BY_EXPERIMENT, /* both rows of an experiment, in n_folds parts at random */
    SCORE_BY_PAIR,       /* all experiments of two workloads, likewise */
    SCORE_BY_WORKLOAD,   /* one workload a fold: tested on every row that holds it, and nothing that
                            holds it is learned from; a row of two workloads is tested twice */
    N_SCORE_BY
};
extern const char *const score_by_name[]; /* NULL-terminated */

struct score_plan {
    enum score_by by;
    int32_t n_folds;
    int32_t *fold; /* of each experiment; NULL by workload */
};
/* n_folds does not matter by workload. ST_USAGE when there is less to leave out than folds. */
enum status score_plan_init(struct score_plan *p, const struct samples *s, enum score_by by,
                            int32_t n_folds, uint64_t seed, struct error *err) MUST_USE;
void score_plan_free(struct score_plan *p);

/* The predictors. Inputs beyond the paper's 36: with STEPS, step times. With PHYSICS, besides, in
 * place of kernel lengths, the jobs' weights of the queueing fit to the same rows, and what is
 * learned is how far S is off that fit; this needs jobs with names of their own. */
enum score_model {
    SCORE_DNN,
    SCORE_DNN_STEPS,
    SCORE_DNN_PHYSICS,
    SCORE_GBDT,
    SCORE_GBDT_STEPS,
    SCORE_GBDT_PHYSICS,
    SCORE_LINEAR,
    SCORE_QUEUEING,
    N_SCORE_MODELS
};
extern const char *const score_model_name[]; /* NULL-terminated */
/* Can it be made of these samples, and with the libraries there are? */
bool score_model_applies(enum score_model model, const struct samples *s);

struct score_options {
    struct train_options train;
    struct queueing_options queueing;
    int32_t n_nets;
    uint64_t seed;
};

/* The rows of one fold and what was predicted for them. */
struct score_fold {
    int32_t n;
    int32_t *row;
    double *slowdown;
};
/* Learns from the other folds and predicts this one. The caller frees in any case. */
enum status score_run(struct score_fold *out, const struct samples *s, const struct score_plan *p,
                      int32_t fold, enum score_model model, const struct score_options *o,
                      struct error *err) MUST_USE;
void score_fold_free(struct score_fold *f);

/* Errors gathered over folds; order of adding is the order of sums. All-zero is empty. */
struct score {
    struct score_sums {
        int32_t n;
        double error;             /* sum of |predicted / label - 1| */
        double sum, square, rest; /* of labels, their squares, squared differences */
    } slow[N_PAIR_KINDS + 1], kept[N_PAIR_KINDS + 1]; /* of S and of 1 / S; the last: all */
    struct score_sums raw; /* of retained rates as they were measured, above 1 as well */
};
void score_add(struct score *score, const struct samples *s, const struct score_fold *f);
/* Mean absolute percentage error, and coefficient of determination; NAN of no rows. */
double score_mape_pct(const struct score_sums *s);
double score_r2(const struct score_sums *s);

#endif
