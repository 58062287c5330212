/* queueing.h - the physics form of interference, fitted to measured pairs: weighted queueing,
 *
 *     S_i = 1 + (w_j / w_i) sum_r alpha_r u_ir u_jr        r = SM, tensor, DRAM
 *
 * with one weight a job, ln w_i = gamma ln(step time) + delta_i: a job of long kernels holds the
 * SMs and starves one of short kernels. Fitted by least squares on ln S with a ridge on delta, so
 * that a job without pairs has the weight that its step time tells. alpha >= 0. */
#ifndef COLOSIM_CALIB_QUEUEING_H
#define COLOSIM_CALIB_QUEUEING_H

#include "calib/samples.h"

enum { QUEUE_SM, QUEUE_TENSOR, QUEUE_DRAM, N_QUEUE };

struct queueing {
    double alpha[N_QUEUE], gamma;
    int32_t n_jobs;
    double *delta; /* (n_jobs) by id of the samples' names */
    double rms;    /* of the residuals in ln S */
};

/* Fits n rows of samples whose names are jobs in one configuration each. ridge weighs the sum of
 * squared delta beside the sum of squared residuals. Cost: a dense least-squares step in
 * n_jobs + 4 unknowns each iteration. */
enum status queueing_fit(struct queueing *q, const struct samples *s, const int32_t *row, int32_t n,
                         double ridge, struct error *err) MUST_USE;
/* w of a job with this name, up to a factor common to all. */
double queueing_weight(const struct queueing *q, const struct iac_side *job, int32_t name);
/* S of row k. */
double queueing_slowdown(const struct queueing *q, const struct samples *s, int32_t k);
void queueing_free(struct queueing *q);

#endif
