/* queueing_row.h - one measured pair under the queueing form: ln S as a function of the unknowns of
 * a fit, and its gradient. The form is in queueing.h. */
#ifndef COLOSIM_CALIB_QUEUEING_ROW_H
#define COLOSIM_CALIB_QUEUEING_ROW_H

#include "calib/samples.h"

#include <gsl/gsl_vector.h>

enum { QUEUE_SM, QUEUE_TENSOR, QUEUE_DRAM, N_QUEUE };
enum { N_LATENTS = 2 };

struct queueing_options {
    double ridge; /* on squared delta, beside the sum of squared residuals */
    double latent_ridge;
    bool steps;    /* fit gamma where step times are known; else it is 0 */
    bool latents;  /* in place of counters; no setting */
    bool kappa, m; /* fit them; else kappa = 0 and m = 1. kappa wants counters */
};

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
