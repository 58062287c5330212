#include "calib/saturation.h"

#include <gsl/gsl_multifit_nlinear.h>
#include <math.h>
#include <stdlib.h>

/* The unknowns, all as logarithms; -1 where the measurements cannot tell. */
enum { T0, RATE_INF, AMP_SPEEDUP, LAUNCH_AMP, CK_KEPT, N_UNKNOWN };
enum { MAX_ITERATIONS = 200 };

struct fit {
    const struct solo_rate **at; /* (n) those of the workload */
    size_t n, n_x;
    int32_t place[N_UNKNOWN];
    bool fits;
};

static bool belongs(const struct solo_rate *at, int32_t workload)
{
    return at->workload == workload && at->bs > 0 && at->rate > 0;
}

/* How many batch sizes there are with (1), without (0) or whatever (-1) mixed precision. */
static int n_batches(const struct solo_rates *r, int32_t workload, int amp)
{
    int n = 0;
    for (int32_t i = 0; i < r->n; i++) {
        bool counts = belongs(&r->at[i], workload) && (amp < 0 || r->at[i].amp == (amp == 1));
        for (int32_t j = 0; j < i && counts; j++)
            counts = !belongs(&r->at[j], workload) || fabs(r->at[j].bs - r->at[i].bs) > 0 ||
                     (amp >= 0 && r->at[j].amp != (amp == 1));
        n += counts;
    }
    return n;
}

static double unknown(const struct fit *f, const gsl_vector *x, int which)
{
    return f->place[which] < 0 ? 0 : gsl_vector_get(x, (size_t)f->place[which]);
}

static int residuals(const gsl_vector *x, void *context, gsl_vector *out)
{
    const struct fit *f = context;
    for (size_t i = 0; i < f->n; i++) {
        const struct solo_rate *at = f->at[i];
        double rest = exp(unknown(f, x, T0) + (at->amp ? unknown(f, x, LAUNCH_AMP) : 0));
        double log_inf = unknown(f, x, RATE_INF) + (at->amp ? unknown(f, x, AMP_SPEEDUP) : 0) +
                         (at->ck ? unknown(f, x, CK_KEPT) : 0);
        gsl_vector_set(out, i, -log(rest / at->bs + exp(-log_inf)) - log(at->rate));
    }
    return GSL_SUCCESS;
}

/* The configurations of a workload, and what of the unknowns they tell. */
static bool gather(struct fit *f, const struct solo_rates *r, int32_t workload)
{
    size_t n_amp = 0, n_ck = 0;
    *f = (struct fit){.at = malloc((size_t)r->n * sizeof *f->at + 1)};
    for (int32_t i = 0; f->at != NULL && i < r->n; i++)
        if (belongs(&r->at[i], workload)) {
            f->at[f->n++] = &r->at[i];
            n_amp += r->at[i].amp;
            n_ck += r->at[i].ck;
        }
    bool both = n_amp > 0 && n_amp < f->n;
    int plain = n_batches(r, workload, 0), amp = n_batches(r, workload, 1);
    const bool told[N_UNKNOWN] = {true, true, both, both && plain >= 2 && amp >= 2,
                                  n_ck > 0 && n_ck < f->n};
    for (int u = 0; u < N_UNKNOWN; u++)
        f->place[u] = told[u] ? (int32_t)f->n_x++ : -1;
    f->fits = f->n > f->n_x && (plain >= 2 || amp >= 2);
    return f->at != NULL;
}

/* From a rate a little above the best seen and a t0 of half the shortest step. */
static void begin(const struct fit *f, gsl_vector *x)
{
    double best = 0, shortest_s = INFINITY;
    for (size_t i = 0; i < f->n; i++) {
        best = fmax(best, f->at[i]->rate);
        shortest_s = fmin(shortest_s, f->at[i]->step_s);
    }
    gsl_vector_set_zero(x);
    gsl_vector_set(x, T0, log(.5 * shortest_s));
    gsl_vector_set(x, RATE_INF, log(1.2 * best));
}

static struct estimate estimate_of(const struct fit *f, const gsl_vector *x,
                                   const gsl_matrix *covar, double sigma, int which)
{
    if (f->place[which] < 0)
        return (struct estimate){NAN, 0};
    size_t at = (size_t)f->place[which];
    double value = exp(gsl_vector_get(x, at));
    double variance = gsl_matrix_get(covar, at, at), log_se = sigma * sqrt(variance);
    if (!(variance > 0 && log_se < 1)) /* launch-bound at every batch, say: the fit ran away */
        return (struct estimate){NAN, 0};
    return (struct estimate){value, value * log_se};
}

static enum status keep(struct saturation *s, const struct fit *f,
                        gsl_multifit_nlinear_workspace *work, struct error *err)
{
    const gsl_vector *x = gsl_multifit_nlinear_position(work);
    const gsl_vector *residual = gsl_multifit_nlinear_residual(work);
    gsl_matrix *covar = gsl_matrix_alloc(f->n_x, f->n_x);
    if (covar == NULL)
        return fail_memory(err);
    double square = 0, error = 0;
    for (size_t i = 0; i < f->n; i++) {
        double r = gsl_vector_get(residual, i);
        square += r * r;
        error += fabs(expm1(r));
    }
    double sigma = f->n > f->n_x ? sqrt(square / (double)(f->n - f->n_x)) : 0;
    gsl_multifit_nlinear_covar(gsl_multifit_nlinear_jac(work), 1e-14, covar);
    *s = (struct saturation){.n = (int32_t)f->n,
                             .t0_s = estimate_of(f, x, covar, sigma, T0),
                             .rate_inf = estimate_of(f, x, covar, sigma, RATE_INF),
                             .amp_speedup = estimate_of(f, x, covar, sigma, AMP_SPEEDUP),
                             .launch_amp = estimate_of(f, x, covar, sigma, LAUNCH_AMP),
                             .ck_cost = estimate_of(f, x, covar, sigma, CK_KEPT),
                             .mape_pct = 100 * error / (double)f->n};
    s->ck_cost.value = 1 - s->ck_cost.value;
    gsl_matrix_free(covar);
    return ST_OK;
}

enum status saturation_fit(struct saturation *s, const struct solo_rates *r, int32_t workload,
                           struct error *err)
{
    enum status status = ST_OK;
    struct fit f;
    gsl_multifit_nlinear_parameters how = gsl_multifit_nlinear_default_parameters();
    gsl_multifit_nlinear_workspace *work = NULL;
    gsl_vector *x = NULL;
    int info;
    *s = (struct saturation){0};
    bool gathered = gather(&f, r, workload);
    if (gathered && !f.fits)
        goto out;
    if (gathered) {
        x = gsl_vector_alloc(f.n_x);
        work = gsl_multifit_nlinear_alloc(gsl_multifit_nlinear_trust, &how, f.n, f.n_x);
    }
    if (x == NULL || work == NULL) {
        status = fail_memory(err);
        goto out;
    }
    begin(&f, x);
    gsl_multifit_nlinear_fdf problem = {.f = residuals, .n = f.n, .p = f.n_x, .params = &f};
    int code = gsl_multifit_nlinear_init(x, &problem, work);
    if (code == GSL_SUCCESS)
        code =
            gsl_multifit_nlinear_driver(MAX_ITERATIONS, 1e-10, 1e-10, 0, NULL, NULL, &info, work);
    if (code != GSL_SUCCESS && code != GSL_EMAXITER && code != GSL_ENOPROG)
        status = fail(err, ST_INPUT, "%s: the fit failed: %s", names_text(&r->workloads, workload),
                      gsl_strerror(code));
    else
        status = keep(s, &f, work, err);
out:
    if (work != NULL)
        gsl_multifit_nlinear_free(work);
    if (x != NULL)
        gsl_vector_free(x);
    free(f.at);
    return status;
}
