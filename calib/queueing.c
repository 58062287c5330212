#include "calib/queueing.h"

#include "calib/queueing_row.h"
#include "core/base/rng.h"
#include "core/elastico/contention.h"

#include <gsl/gsl_multilarge_nlinear.h>
#include <gsl/gsl_randist.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_ITERATIONS = 200 };

const struct param queueing_params[] = {
    PARAM_BOOL(struct queueing_options, kappa, 0,
               "fit kappa, how resources overlap; else 0, queueing"),
    PARAM_REAL(struct queueing_options, latent_ridge, "1", .003, 0, 1e6,
               "weight of squared logits of latents beside squared residuals"),
    PARAM_BOOL(struct queueing_options, m, 0, "fit m, the same factor on every slowdown; else 1"),
    PARAM_REAL(struct queueing_options, ridge, "1", .03, 1e-9, 1e6,
               "weight of squared ln w, off their line, beside squared residuals"),
    PARAM_BOOL(struct queueing_options, steps, 1,
               "ln w follows ln(step time) where that is known; else the line is flat"),
    PARAM_END,
};

struct fit {
    const struct samples *s;
    const int32_t *row;
    int32_t n, n_jobs;
    const struct queueing_options *options;
    struct queueing_layout at;
};

struct queueing_options queueing_defaults(void)
{
    struct queueing_options o = {0};
    param_defaults(&(struct param_group){"fit", queueing_params, &o});
    return o;
}

/* Square root of the weight of the ridge on an unknown that one holds. */
static double sqrt_ridge(const struct fit *f, int32_t i)
{
    bool is_delta = i >= f->at.job && (i - f->at.job) % f->at.per_job == 0;
    return sqrt(is_delta ? f->options->ridge : f->options->latent_ridge);
}

static int residuals(const gsl_vector *x, void *context, gsl_vector *out)
{
    const struct fit *f = context;
    struct queueing_gradient g;
    for (int32_t i = 0; i < f->n; i++)
        gsl_vector_set(out, (size_t)i,
                       queueing_log_s(&f->at, f->s, f->row[i], x, &g) -
                           log(f->s->row[f->row[i]].slowdown));
    for (int32_t i = f->at.held; i < f->at.n; i++)
        gsl_vector_set(out, (size_t)(f->n + i - f->at.held), sqrt_ridge(f, i) * unknown_at(x, i));
    return GSL_SUCCESS;
}

/* One row of the Jacobian: v += J' u or v = J u, and J'J, lower half. */
static void add_row(const struct queueing_gradient *g, size_t k, CBLAS_TRANSPOSE_t trans,
                    const gsl_vector *u, gsl_vector *v, gsl_matrix *jtj)
{
    for (int a = 0; a < g->n; a++) {
        size_t i = (size_t)g->at[a];
        if (v != NULL && trans == CblasTrans)
            *gsl_vector_ptr(v, i) += g->d[a] * gsl_vector_get(u, k);
        else if (v != NULL)
            *gsl_vector_ptr(v, k) += g->d[a] * gsl_vector_get(u, i);
        for (int b = 0; jtj != NULL && b < g->n; b++)
            if ((size_t)g->at[b] <= i)
                *gsl_matrix_ptr(jtj, i, (size_t)g->at[b]) += g->d[a] * g->d[b];
    }
}

static int jacobian(CBLAS_TRANSPOSE_t trans, const gsl_vector *x, const gsl_vector *u,
                    void *context, gsl_vector *v, gsl_matrix *jtj)
{
    const struct fit *f = context;
    struct queueing_gradient g;
    if (v != NULL)
        gsl_vector_set_zero(v);
    if (jtj != NULL)
        gsl_matrix_set_zero(jtj);
    for (int32_t i = 0; i < f->n; i++) {
        queueing_log_s(&f->at, f->s, f->row[i], x, &g);
        add_row(&g, (size_t)i, trans, u, v, jtj);
    }
    for (int32_t i = f->at.held; i < f->at.n; i++) {
        g = (struct queueing_gradient){1, {i}, {sqrt_ridge(f, i)}};
        add_row(&g, (size_t)(f->n + i - f->at.held), trans, u, v, jtj);
    }
    return GSL_SUCCESS;
}

/* Counters: alpha = (1, .5, .5), equal weights. Latents: a draw, since equal ones would stay
 * equal. */
static void start(const struct fit *f, gsl_rng *rng, gsl_vector *x)
{
    gsl_vector_set_zero(x);
    for (int32_t i = 0; !f->options->latents && i < N_QUEUE; i++)
        *gsl_vector_ptr(x, (size_t)f->at.alpha + (size_t)i) = i == QUEUE_SM ? 0 : log(.5);
    for (int32_t i = f->at.job; f->options->latents && i < f->at.n; i++)
        if ((i - f->at.job) % f->at.per_job > 0)
            gsl_vector_set(x, (size_t)i, gsl_ran_gaussian(rng, 1));
}

static struct estimate estimate_at(const gsl_vector *x, const gsl_matrix *covar, double rms,
                                   int32_t at)
{
    size_t i = (size_t)at;
    return at < 0
               ? (struct estimate){0, 0}
               : (struct estimate){gsl_vector_get(x, i), rms * sqrt(gsl_matrix_get(covar, i, i))};
}

/* exp of an estimate, its error by the slope there. */
static struct estimate exp_of(struct estimate e)
{
    double value = exp(e.value);
    return (struct estimate){value, value * e.se};
}

static enum status keep(struct queueing *q, const struct fit *f, const gsl_vector *x,
                        const gsl_vector *residual, const gsl_matrix *covar, struct error *err)
{
    double square = 0;
    size_t n_jobs = (size_t)f->n_jobs;
    q->latents = f->options->latents;
    q->n_jobs = f->n_jobs;
    q->delta = malloc(n_jobs * sizeof *q->delta + 1);
    q->latent = q->latents ? malloc(n_jobs * sizeof *q->latent + 1) : NULL;
    if (q->delta == NULL || (q->latents && q->latent == NULL))
        return fail_memory(err);
    for (int32_t i = 0; i < f->n; i++)
        square += pow(gsl_vector_get(residual, (size_t)i), 2);
    q->rms = sqrt(square / f->n);
    for (int32_t r = 0; r < N_QUEUE; r++)
        q->alpha[r] = q->latents ? (struct estimate){0, 0}
                                 : exp_of(estimate_at(x, covar, q->rms, f->at.alpha + r));
    q->kappa = estimate_at(x, covar, q->rms, f->at.kappa);
    q->m = exp_of(estimate_at(x, covar, q->rms, f->at.m));
    q->gamma = estimate_at(x, covar, q->rms, f->at.gamma);
    for (int32_t k = 0; k < f->n_jobs; k++) {
        int32_t at = f->at.job + k * f->at.per_job;
        q->delta[k] = estimate_at(x, covar, q->rms, at);
        for (int32_t r = 0; q->latents && r < N_LATENTS; r++)
            q->latent[k][r] = queueing_latent(&f->at, x, k, r);
    }
    return ST_OK;
}

/* From the start to the optimum, where work is left. */
static bool solve(gsl_multilarge_nlinear_workspace *work, gsl_multilarge_nlinear_fdf *problem,
                  const gsl_vector *x)
{
    int info, code = gsl_multilarge_nlinear_init(x, problem, work);
    if (code == GSL_SUCCESS)
        code =
            gsl_multilarge_nlinear_driver(MAX_ITERATIONS, 1e-8, 1e-8, 0, NULL, NULL, &info, work);
    return code == GSL_SUCCESS || code == GSL_EMAXITER || code == GSL_ENOPROG;
}

static enum status fit(struct queueing *q, struct fit *f, struct error *err)
{
    enum status status = ST_OK;
    size_t n_x = (size_t)f->at.n, n_out = (size_t)(f->n + f->at.n - f->at.held);
    gsl_multilarge_nlinear_parameters how = gsl_multilarge_nlinear_default_parameters();
    gsl_multilarge_nlinear_fdf problem = {
        .f = residuals, .df = jacobian, .n = n_out, .p = n_x, .params = f};
    how.solver = gsl_multilarge_nlinear_solver_mcholesky;
    gsl_vector *x = gsl_vector_calloc(n_x);
    gsl_matrix *covar = gsl_matrix_alloc(n_x, n_x);
    gsl_rng *rng = rng_stream(0, "latents");
    gsl_multilarge_nlinear_workspace *work =
        gsl_multilarge_nlinear_alloc(gsl_multilarge_nlinear_trust, &how, n_out, n_x);
    if (x == NULL || covar == NULL || rng == NULL || work == NULL) {
        status = fail_memory(err);
        goto out;
    }
    start(f, rng, x);
    if (!solve(work, &problem, x) || gsl_multilarge_nlinear_covar(covar, work) != GSL_SUCCESS)
        status = fail(err, ST_INPUT, "the queueing fit found no solution");
    else
        status = keep(q, f, gsl_multilarge_nlinear_position(work),
                      gsl_multilarge_nlinear_residual(work), covar, err);
out:
    if (x != NULL)
        gsl_vector_free(x);
    if (covar != NULL)
        gsl_matrix_free(covar);
    if (rng != NULL)
        gsl_rng_free(rng);
    if (work != NULL)
        gsl_multilarge_nlinear_free(work);
    return status;
}

enum status queueing_fit(struct queueing *q, const struct samples *s, const int32_t *row, int32_t n,
                         const struct queueing_options *o, struct error *err)
{
    bool steps = false;
    *q = (struct queueing){0};
    if (o->latents && (o->kappa || !s->named_jobs))
        return fail(err, ST_USAGE,
                    o->kappa ? "kappa wants counters and not latents"
                             : "latents want jobs with names of their own");
    for (int32_t i = 0; o->steps && i < n && !steps; i++)
        steps = queueing_log_steps(&s->side[2 * row[i]], &s->side[2 * row[i] + 1]) != 0;
    struct fit f = {s, row, n, s->named_jobs ? s->workloads.n : 0, o, {0}};
    f.at = queueing_layout(o, steps, f.n_jobs);
    if (n < 1 || n < f.at.held)
        return fail(err, ST_INPUT, "%d rows are too few for the queueing fit", n);
    enum status status = fit(q, &f, err);
    if (status != ST_OK)
        queueing_free(q);
    return status;
}

double queueing_weight(const struct queueing *q, const struct iac_side *job, int32_t name)
{
    double steps = job->step_s > 0 ? log(job->step_s) : 0;
    return exp(q->gamma.value * steps + (q->n_jobs > 0 ? q->delta[name].value : 0));
}

double queueing_slowdown(const struct queueing *q, const struct samples *s, int32_t k)
{
    const struct iac_side *side = &s->side[2 * k];
    const int32_t *job = s->row[k].workload;
    double u[N_QUEUE], v[N_QUEUE], overlap = 0;
    for (int32_t r = 0; q->latents && r < N_LATENTS; r++)
        overlap += q->latent[job[0]][r] * q->latent[job[1]][r];
    queueing_demands(&side[0], u);
    queueing_demands(&side[1], v);
    for (int32_t r = 0; r < N_QUEUE; r++)
        overlap += q->alpha[r].value * frank_overlap(u[r], v[r], q->kappa.value);
    double log_ratio = q->gamma.value * queueing_log_steps(&side[0], &side[1]);
    if (q->n_jobs > 0)
        log_ratio += q->delta[job[1]].value - q->delta[job[0]].value;
    return q->m.value * (1 + exp(log_ratio) * fmin(1, overlap));
}

void queueing_free(struct queueing *q)
{
    free(q->delta);
    free(q->latent);
    *q = (struct queueing){0};
}
