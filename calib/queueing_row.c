#include "calib/queueing_row.h"

#include "core/elastico/contention.h"

#include <math.h>

struct queueing_layout queueing_layout(const struct queueing_options *o, bool steps, int32_t n_jobs)
{
    struct queueing_layout at = {-1, -1, -1, -1, 0, -1, 0, 0, 0};
    if (!o->latents) {
        at.alpha = at.n;
        at.n += N_QUEUE;
    }
    if (o->kappa)
        at.kappa = at.n++;
    if (o->m)
        at.m = at.n++;
    if (steps)
        at.gamma = at.n++;
    at.held = at.n;
    if (o->latents) {
        at.centre = at.n;
        at.n += N_LATENTS;
    }
    at.job = at.n;
    at.per_job = n_jobs == 0 ? 0 : o->latents ? 1 + N_LATENTS : 1;
    at.n += n_jobs * at.per_job;
    return at;
}

double queueing_log_steps(const struct iac_side *i, const struct iac_side *j)
{
    return i->step_s > 0 && j->step_s > 0 ? log(j->step_s / i->step_s) : 0;
}

void queueing_demands(const struct iac_side *side, double u[N_QUEUE])
{
    u[QUEUE_SM] = side->sm;
    u[QUEUE_TENSOR] = side->tensor;
    u[QUEUE_DRAM] = side->dram;
}

static int32_t place_of(const struct queueing_layout *at, int32_t job)
{
    return at->job + job * at->per_job;
}

double queueing_latent(const struct queueing_layout *at, const gsl_vector *x, int32_t job,
                       int32_t r)
{
    double logit = unknown_at(x, at->centre + r) + unknown_at(x, place_of(at, job) + 1 + r);
    return 1 / (1 + exp(-logit));
}

static void put(struct queueing_gradient *g, int32_t at, double d)
{
    g->at[g->n] = at;
    g->d[g->n++] = d;
}

/* q of a row's counters and its derivatives by ln alpha and kappa. */
static double counted(const struct queueing_layout *at, const gsl_vector *x,
                      const struct iac_side *side, struct queueing_gradient *g)
{
    static const double h = 1e-4;
    double u[N_QUEUE], v[N_QUEUE], q = 0, by_kappa = 0;
    double kappa = at->kappa < 0 ? 0 : unknown_at(x, at->kappa);
    queueing_demands(&side[0], u);
    queueing_demands(&side[1], v);
    for (int32_t r = 0; r < N_QUEUE; r++) {
        double alpha = exp(unknown_at(x, at->alpha + r));
        double part = alpha * frank_overlap(u[r], v[r], kappa);
        q += part;
        put(g, at->alpha + r, part);
        if (at->kappa >= 0)
            by_kappa +=
                alpha / (2 * h) *
                (frank_overlap(u[r], v[r], kappa + h) - frank_overlap(u[r], v[r], kappa - h));
    }
    if (at->kappa >= 0)
        put(g, at->kappa, by_kappa);
    return q;
}

/* q of a row's latents and its derivatives by their logits. */
static double latent(const struct queueing_layout *at, const gsl_vector *x, const int32_t job[2],
                     struct queueing_gradient *g)
{
    double q = 0;
    for (int32_t r = 0; r < N_LATENTS; r++) {
        double u = queueing_latent(at, x, job[0], r), v = queueing_latent(at, x, job[1], r);
        q += u * v;
        put(g, place_of(at, job[0]) + 1 + r, u * v * (1 - u));
        put(g, place_of(at, job[1]) + 1 + r, u * v * (1 - v));
        put(g, at->centre + r, u * v * (2 - u - v));
    }
    return q;
}

double queueing_log_s(const struct queueing_layout *at, const struct samples *s, int32_t k,
                      const gsl_vector *x, struct queueing_gradient *g)
{
    const struct iac_side *side = &s->side[2 * k];
    const int32_t *job = s->row[k].workload;
    bool weighted = at->per_job > 0;
    g->n = 0;
    double q = at->centre >= 0 ? latent(at, x, job, g) : counted(at, x, side, g);
    int n_overlap = g->n;
    double steps = queueing_log_steps(&side[0], &side[1]), log_ratio = 0;
    if (at->gamma >= 0)
        log_ratio += unknown_at(x, at->gamma) * steps;
    if (weighted)
        log_ratio += unknown_at(x, place_of(at, job[1])) - unknown_at(x, place_of(at, job[0]));
    double ratio = exp(log_ratio), more = ratio * fmin(1, q), slow = 1 + more;
    for (int i = 0; i < n_overlap; i++)
        g->d[i] *= q < 1 ? ratio / slow : 0;
    if (at->gamma >= 0)
        put(g, at->gamma, steps * more / slow);
    if (weighted) {
        put(g, place_of(at, job[1]), more / slow);
        put(g, place_of(at, job[0]), -more / slow);
    }
    if (at->m < 0)
        return log(slow);
    put(g, at->m, 1);
    return log(slow) + unknown_at(x, at->m);
}
