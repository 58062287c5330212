/* queueing.h - the physics of interference, fitted to measured pairs: weighted queueing,
 *
 *     S_i = m (1 + (w_j / w_i) min(1, sum_r alpha_r C(u_ir, u_jr; kappa)))
 *
 * as core/elastico/contention.h has it. u are the counters of the jobs alone (SM, tensor, DRAM),
 * or, where none are known, latents: demands of each job that are fitted as well, alpha = 1. Each
 * named job has a weight, ln w_i = gamma ln(step time) + delta_i: a job of long kernels holds the
 * SMs and starves one of short kernels. Least squares on ln S, with a ridge on delta, so that a job
 * without pairs has the weight that its step time tells, and a slight one on the latents. */
#ifndef COLOSIM_CALIB_QUEUEING_H
#define COLOSIM_CALIB_QUEUEING_H

#include "calib/estimate.h"
#include "calib/queueing_row.h"
#include "core/base/param.h"

extern const struct param queueing_params[]; /* the group "fit" */
struct queueing_options queueing_defaults(void);

/* Standard errors are linearised at the optimum, with the errors of rows independent and the ridge
 * counted as knowledge. */
struct queueing {
    bool latents;
    struct estimate alpha[N_QUEUE], kappa, m, gamma;
    int32_t n_jobs;              /* 0: the samples name none, and all weigh alike */
    struct estimate *delta;      /* (n_jobs) by id of the samples' names */
    double (*latent)[N_LATENTS]; /* (n_jobs) 0..1; NULL without */
    double rms;                  /* of the residuals in ln S */
};

/* Fits n rows of samples. ST_INPUT where it does not converge or rows are fewer than unknowns that
 * no ridge holds. Cost: a Cholesky factor in the unknowns (4 + (1 or 3) n_jobs) each iteration. */
enum status queueing_fit(struct queueing *q, const struct samples *s, const int32_t *row, int32_t n,
                         const struct queueing_options *o, struct error *err) MUST_USE;
/* w of a job with this name, up to a factor common to all. */
double queueing_weight(const struct queueing *q, const struct iac_side *job, int32_t name);
/* S of row k. */
double queueing_slowdown(const struct queueing *q, const struct samples *s, int32_t k);
void queueing_free(struct queueing *q);

#endif
