/* queueing_row.h - one measured pair under the queueing form: ln S as a function of the unknowns of
 * a fit, and its gradient. For queueing.c. */
#ifndef COLOSIM_CALIB_QUEUEING_ROW_H
#define COLOSIM_CALIB_QUEUEING_ROW_H

#include "calib/queueing.h"

#include <gsl/gsl_vector.h>

/* Where each unknown stands; -1: it is not fitted. Alphas are fitted as ln alpha, m as ln m,
 * latents as logits. Those of job k begin at job + k per_job: delta, then its latents, counted from
 * the centre. From held on a ridge holds them. */
struct queueing_layout {
    int32_t alpha, kappa, m, gamma, held, centre, job, per_job, n;
};
struct queueing_layout queueing_layout(const struct queueing_options *o, bool steps,
                                       int32_t n_jobs);

/* What ln S of a row depends on; an unknown may come twice, and the two add up. */
enum { GRADIENT_MAX = N_QUEUE + 3 + 2 * (1 + 2 * N_LATENTS) };
struct queueing_gradient {
    int n;
    int32_t at[GRADIENT_MAX];
    double d[GRADIENT_MAX];
};

static inline double unknown_at(const gsl_vector *x, int32_t i)
{
    return gsl_vector_get(x, (size_t)i);
}
/* ln S of row k. */
double queueing_log_s(const struct queueing_layout *at, const struct samples *s, int32_t k,
                      const gsl_vector *x, struct queueing_gradient *g);
/* The latent of a job. */
double queueing_latent(const struct queueing_layout *at, const gsl_vector *x, int32_t job,
                       int32_t r);
/* ln of the step of j over that of i; 0 where one is not known. */
double queueing_log_steps(const struct iac_side *i, const struct iac_side *j);
/* The counters that count. */
void queueing_demands(const struct iac_side *side, double u[N_QUEUE]);

#endif
