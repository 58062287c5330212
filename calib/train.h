/* train.h - the predictor's training: maps, networks, linear regression.
 *
 * Recipe: loss (10), the mean of (ln S^ - ln S)^2; Adam on a cosine to 0; the short last batch of
 * an epoch left out; He's initial weights, those of the output times .3 and its bias .5, so that
 * its ReLU is not dead at the start; the best state on experiments held out is kept, and patience
 * without a better one ends it.
 *
 * One network is one task: equal (samples, rows, options, seed, purpose) give equal weights,
 * whatever runs beside it. The caller starts the threads. */
#ifndef COLOSIM_CALIB_TRAIN_H
#define COLOSIM_CALIB_TRAIN_H

#include "calib/samples.h"
#include "core/base/param.h"

struct train_options {
    int64_t batch, epochs, hidden_1, hidden_2, steps;
    double decay, dropout, held_out, patience, rate;
};
extern const struct param train_params[]; /* defaults, units, ranges: the group "train" */
struct train_options train_defaults(void);

enum { TRAIN_KNOTS_MAX = 512 }; /* of a map by ranks */

/* Rows of samples, mapped: what every network of one model learns from. */
struct train_set {
    int32_t n, width;
    double *x;           /* (n x width) */
    double *log_s;       /* (n) ln of the label */
    int32_t *experiment; /* (n) */
};

/* Fits the maps of a model to n rows of samples (indices in row) and applies them. Both sides feed
 * one map. model->extras is set by the caller; its form and the rest are left alone. */
enum status train_maps(struct iac_model *model, const struct samples *s, const int32_t *row,
                       int32_t n, struct error *err) MUST_USE;
enum status train_set_init(struct train_set *t, const struct iac_model *model,
                           const struct samples *s, const int32_t *row, int32_t n,
                           struct error *err) MUST_USE;
void train_set_free(struct train_set *t);

struct train_report {
    int64_t n_epochs, best_epoch;
    double held_out_loss; /* of the state kept, (10) */
};
/* Learns one network. purpose names its random stream: "net 3 of fold 2". */
enum status train_net(struct dense_net *net, const struct train_set *t,
                      const struct train_options *o, uint64_t seed, const char *purpose,
                      struct train_report *report, struct error *err) MUST_USE;

/* ln S = w x + b by least squares with a slight ridge (1e-6 of the rows). */
enum status train_linear(struct iac_model *model, const struct train_set *t,
                         struct error *err) MUST_USE;

#endif
