#include "calib/queueing.h"

#include <gsl/gsl_multifit_nlinear.h>
#include <math.h>
#include <stdlib.h>

/* The unknowns: ln alpha, gamma, delta. */
enum { GAMMA = N_QUEUE, DELTA, MAX_ITERATIONS = 200 };

struct fit {
    const struct samples *s;
    const int32_t *row;
    int32_t n, n_jobs;
    double sqrt_ridge;
};

/* alpha_r u_ir u_jr for each resource and ln of the steps' ratio; unknown steps count as equal. */
static double overlap(const struct iac_side *i, const struct iac_side *j, const double *alpha,
                      double part[N_QUEUE])
{
    part[QUEUE_SM] = alpha[QUEUE_SM] * i->sm * j->sm;
    part[QUEUE_TENSOR] = alpha[QUEUE_TENSOR] * i->tensor * j->tensor;
    part[QUEUE_DRAM] = alpha[QUEUE_DRAM] * i->dram * j->dram;
    return part[QUEUE_SM] + part[QUEUE_TENSOR] + part[QUEUE_DRAM];
}

static double log_steps(const struct iac_side *i, const struct iac_side *j)
{
    return i->step_s > 0 && j->step_s > 0 ? log(j->step_s / i->step_s) : 0;
}

static void alpha_of(const gsl_vector *x, double alpha[N_QUEUE])
{
    for (size_t r = 0; r < N_QUEUE; r++)
        alpha[r] = exp(gsl_vector_get(x, r));
}

static double delta_between(const gsl_vector *x, const struct pair_row *row)
{
    return gsl_vector_get(x, (size_t)DELTA + (size_t)row->workload[1]) -
           gsl_vector_get(x, (size_t)DELTA + (size_t)row->workload[0]);
}

static int residuals(const gsl_vector *x, void *context, gsl_vector *out)
{
    const struct fit *f = context;
    double alpha[N_QUEUE], part[N_QUEUE];
    alpha_of(x, alpha);
    for (int32_t i = 0; i < f->n; i++) {
        const struct iac_side *side = &f->s->side[2 * f->row[i]];
        const struct pair_row *row = &f->s->row[f->row[i]];
        double log_ratio =
            gsl_vector_get(x, GAMMA) * log_steps(&side[0], &side[1]) + delta_between(x, row);
        double slow = 1 + exp(log_ratio) * overlap(&side[0], &side[1], alpha, part);
        gsl_vector_set(out, (size_t)i, log(slow / row->slowdown));
    }
    for (int32_t k = 0; k < f->n_jobs; k++)
        gsl_vector_set(out, (size_t)f->n + (size_t)k,
                       f->sqrt_ridge * gsl_vector_get(x, (size_t)DELTA + (size_t)k));
    return GSL_SUCCESS;
}

/* d ln S / d unknown. */
static int jacobian(const gsl_vector *x, void *context, gsl_matrix *out)
{
    const struct fit *f = context;
    double alpha[N_QUEUE], part[N_QUEUE];
    alpha_of(x, alpha);
    gsl_matrix_set_zero(out);
    for (int32_t i = 0; i < f->n; i++) {
        const struct iac_side *side = &f->s->side[2 * f->row[i]];
        const struct pair_row *row = &f->s->row[f->row[i]];
        double steps = log_steps(&side[0], &side[1]);
        double ratio = exp(gsl_vector_get(x, GAMMA) * steps + delta_between(x, row));
        double more = ratio * overlap(&side[0], &side[1], alpha, part);
        for (size_t r = 0; r < N_QUEUE; r++)
            gsl_matrix_set(out, (size_t)i, r, ratio * part[r] / (1 + more));
        gsl_matrix_set(out, (size_t)i, GAMMA, steps * more / (1 + more));
        *gsl_matrix_ptr(out, (size_t)i, (size_t)DELTA + (size_t)row->workload[1]) +=
            more / (1 + more);
        *gsl_matrix_ptr(out, (size_t)i, (size_t)DELTA + (size_t)row->workload[0]) -=
            more / (1 + more);
    }
    for (int32_t k = 0; k < f->n_jobs; k++)
        gsl_matrix_set(out, (size_t)f->n + (size_t)k, (size_t)DELTA + (size_t)k, f->sqrt_ridge);
    return GSL_SUCCESS;
}

static enum status keep(struct queueing *q, const struct fit *f, const gsl_vector *x,
                        const gsl_vector *residual, struct error *err)
{
    double square = 0;
    q->n_jobs = f->n_jobs;
    q->delta = malloc((size_t)f->n_jobs * sizeof *q->delta);
    if (q->delta == NULL)
        return fail_memory(err);
    alpha_of(x, q->alpha);
    q->gamma = gsl_vector_get(x, GAMMA);
    for (int32_t k = 0; k < f->n_jobs; k++)
        q->delta[k] = gsl_vector_get(x, (size_t)DELTA + (size_t)k);
    for (int32_t i = 0; i < f->n; i++)
        square += pow(gsl_vector_get(residual, (size_t)i), 2);
    q->rms = sqrt(square / f->n);
    return ST_OK;
}

enum status queueing_fit(struct queueing *q, const struct samples *s, const int32_t *row, int32_t n,
                         double ridge, struct error *err)
{
    enum status status = ST_OK;
    int info;
    struct fit f = {s, row, n, s->workloads.n, sqrt(ridge)};
    size_t n_x = (size_t)DELTA + (size_t)f.n_jobs, n_out = (size_t)n + (size_t)f.n_jobs;
    gsl_multifit_nlinear_parameters how = gsl_multifit_nlinear_default_parameters();
    gsl_multifit_nlinear_fdf problem = {
        .f = residuals, .df = jacobian, .n = n_out, .p = n_x, .params = &f};
    *q = (struct queueing){0};
    gsl_vector *x = gsl_vector_calloc(n_x);
    gsl_multifit_nlinear_workspace *work =
        gsl_multifit_nlinear_alloc(gsl_multifit_nlinear_trust, &how, n_out, n_x);
    if (x == NULL || work == NULL) {
        status = fail_memory(err);
        goto out;
    }
    int code = gsl_multifit_nlinear_init(x, &problem, work);
    if (code == GSL_SUCCESS)
        code = gsl_multifit_nlinear_driver(MAX_ITERATIONS, 1e-8, 1e-8, 0, NULL, NULL, &info, work);
    if (code != GSL_SUCCESS && code != GSL_EMAXITER && code != GSL_ENOPROG)
        status = fail(err, ST_INPUT, "the queueing fit failed: %s", gsl_strerror(code));
    else
        status = keep(q, &f, gsl_multifit_nlinear_position(work),
                      gsl_multifit_nlinear_residual(work), err);
out:
    if (x != NULL)
        gsl_vector_free(x);
    if (work != NULL)
        gsl_multifit_nlinear_free(work);
    return status;
}

double queueing_weight(const struct queueing *q, const struct iac_side *job, int32_t name)
{
    double steps = job->step_s > 0 ? log(job->step_s) : 0;
    return exp(q->gamma * steps + q->delta[name]);
}

double queueing_slowdown(const struct queueing *q, const struct samples *s, int32_t k)
{
    double part[N_QUEUE];
    const struct iac_side *side = &s->side[2 * k];
    const struct pair_row *row = &s->row[k];
    double log_ratio = q->gamma * log_steps(&side[0], &side[1]) + q->delta[row->workload[1]] -
                       q->delta[row->workload[0]];
    return 1 + exp(log_ratio) * overlap(&side[0], &side[1], q->alpha, part);
}

void queueing_free(struct queueing *q)
{
    free(q->delta);
    *q = (struct queueing){0};
}
