/* dense.h - small dense networks, batched through CBLAS: what the predictor runs and its trainer
 * needs.
 *
 * A network maps width[0] numbers to one number y >= 1 (eq. (9) of the paper):
 *     h1 = ReLU(BN(W1 x + b1)),  h2 = ReLU(BN(W2 h1 + b2)),  y = 1 + ReLU(w3 h2 + b3)
 * Rows are cases: x is (n x width[0]), row by row. While learning, BN takes mean and variance from
 * the batch and keeps running ones, each hidden number is multiplied by a mask (dropout), and b1
 * and b2 have no effect, since BN takes the mean away; they are there as the paper writes them.
 * For use, BN with the running mean and variance is folded into the weights (dense_fold).
 *
 * This is the one module that includes cblas.h. Results depend on the BLAS kernel in the last bits,
 * and on nothing else once dense_one_thread was called. */
#ifndef COLOSIM_DENSE_H
#define COLOSIM_DENSE_H

#include "core/base/status.h"

#include <stddef.h>
#include <stdint.h>

enum { DENSE_LAYERS = 3, DENSE_HIDDEN = DENSE_LAYERS - 1 };
#define DENSE_BN_EPS      1e-5 /* added to a variance */
#define DENSE_BN_MOMENTUM 0.1  /* share of a batch in the running mean and variance */

/* OpenBLAS on one thread from now on; main calls it before anything else runs. */
void dense_one_thread(void);

struct dense_net {
    int32_t width[DENSE_LAYERS + 1]; /* inputs, two hidden layers, 1 */
    size_t n_params, n_stats;
    double *param; /* (n_params) what is learned, by layer: see dense_layer */
    double *stat;  /* (n_stats) running mean and variance of the hidden layers */
};

/* One layer's numbers inside a network, borrowed from it. */
struct dense_layer {
    int32_t n_in, n_out;
    double *weight;       /* (n_out x n_in) */
    double *bias;         /* (n_out) */
    double *gamma, *beta; /* (n_out) scale and shift of BN; NULL in the last layer */
    double *mean, *var;   /* (n_out) running; NULL in the last layer */
};

/* All zero but gamma and var, which are 1. Widths are at least 1. */
enum status dense_init(struct dense_net *net, int32_t n_in, int32_t n_hidden_1, int32_t n_hidden_2,
                       struct error *err) MUST_USE;
enum status dense_copy(struct dense_net *to, const struct dense_net *from,
                       struct error *err) MUST_USE;
void dense_free(struct dense_net *net);
struct dense_layer dense_layer(const struct dense_net *net, int32_t layer);

/* A network for use: three affine maps. */
struct dense_fold {
    int32_t width[DENSE_LAYERS + 1];
    double *weight[DENSE_LAYERS]; /* (width[l + 1] x width[l]); weight[0] owns all of it */
    double *bias[DENSE_LAYERS];   /* (width[l + 1]) */
};
enum status dense_fold(struct dense_fold *fold, const struct dense_net *net,
                       struct error *err) MUST_USE;
void dense_fold_free(struct dense_fold *fold);

/* y of n rows.
 *
 * x       (n x width[0]) in
 * scratch (n x (width[1] + width[2])) out, nothing of meaning
 * y       (n) out, >= 1
 * Cost: three products, 2 n (width[0] width[1] + width[1] width[2] + width[2]) operations.
 * Allocates nothing, cannot fail. */
void dense_predict(const struct dense_fold *fold, int32_t n, const double *x, double *scratch,
                   double *y);

/* What learning keeps of a batch between forward and backward. */
struct dense_work {
    int32_t n_max;
    double *normal[DENSE_HIDDEN]; /* (n x width) normalised: mean 0, variance 1 in each column */
    double *out[DENSE_HIDDEN];    /* (n x width) after ReLU and mask */
    double *inv_sd[DENSE_HIDDEN]; /* (width) */
    double *back[DENSE_HIDDEN];   /* (n x width) derivative on its way down */
    double *mask;   /* (n_max x (width[1] + width[2])) the caller's: 0 or 1 / (1 - p) */
    double *last;   /* (n) w3 h2 + b3 */
    double *column; /* (2 x widest) sums over rows */
    double *grad;   /* (n_params) out of dense_backward */
    double *memory; /* owns all of it */
};
enum status dense_work_init(struct dense_work *work, const struct dense_net *net, int32_t n_max,
                            struct error *err) MUST_USE;
void dense_work_free(struct dense_work *work);

/* y of a batch of 2 .. n_max rows with the batch's own statistics and work->mask; moves the running
 * ones. The mask of the first hidden layer comes first, (n x width[1]), then (n x width[2]). */
void dense_forward(struct dense_net *net, struct dense_work *work, int32_t n, const double *x,
                   double *y);
/* work->grad = d loss / d param, from dy (n) = d loss / d y and the last dense_forward. */
void dense_backward(const struct dense_net *net, struct dense_work *work, int32_t n,
                    const double *x, const double *dy);
/* Adds decay times each weight to grad; biases, gamma and beta are left alone. */
void dense_decay(const struct dense_net *net, double decay, double *grad);

/* Adam with betas .9 and .999 and eps 1e-8. */
struct dense_adam {
    int64_t n_steps;
    double *first, *second; /* (n_params) moments; first owns both */
};
enum status dense_adam_init(struct dense_adam *adam, const struct dense_net *net,
                            struct error *err) MUST_USE;
void dense_adam_free(struct dense_adam *adam);
void dense_adam_step(struct dense_adam *adam, struct dense_net *net, const double *grad,
                     double rate);

#endif
