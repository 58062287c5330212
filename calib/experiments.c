#include "calib/experiments.h"

#include "core/base/rng.h"
#include "core/elastico/sides.h"

#include <gsl/gsl_randist.h>
#include <math.h>
#include <stdlib.h>

const struct param experiment_params[] = {
    PARAM_INT(struct experiment_options, n_ii, "experiments", 96, 0, 1000000,
              "two inference jobs [Table 7 of the paper]"),
    PARAM_INT(struct experiment_options, n_ti, "experiments", 256, 0, 1000000,
              "training beside inference [Table 7]"),
    PARAM_INT(struct experiment_options, n_tt, "experiments", 192, 0, 1000000,
              "two training jobs [Table 7]"),
    PARAM_CHOICE(struct experiment_options, physics, contention_set_names, SET_H200,
                 "parameters of the physics that is measured"),
    PARAM_REAL(struct experiment_options, sigma_ii, "1", .04, 0, 1,
               "standard deviation of ln S over repeated measurements [assumed]"),
    PARAM_REAL(struct experiment_options, sigma_ti, "1", .045, 0, 1, "likewise [assumed]"),
    PARAM_REAL(struct experiment_options, sigma_tt, "1", .03, 0, 1,
               "likewise [identical pairs of Lucid's data: 2.8 %]"),
    PARAM_END,
};

/* What experiments are drawn from. */
struct urn {
    const struct profiles *p;
    gsl_rng *rng;
    int32_t n_cards, card[N_CARDS];
    int32_t n_workloads[2], *workload[2]; /* of training and of inference; [0] owns both */
};

/* Workloads by kind, those with a configuration that runs on every card asked for. */
static enum status fill(struct urn *u, uint32_t cards, struct error *err)
{
    const struct workloads *w = u->p->w;
    for (int32_t k = 0; k < N_CARDS; k++)
        if (cards & 1u << k)
            u->card[u->n_cards++] = k;
    u->workload[0] = malloc(2 * (size_t)w->n * sizeof *u->workload[0] + 1);
    if (u->workload[0] == NULL)
        return fail_memory(err);
    u->workload[1] = u->workload[0] + w->n;
    for (int32_t i = 0; i < w->n; i++) {
        bool runs = true;
        for (int32_t k = 0; k < u->n_cards; k++) {
            bool here = false;
            for (int32_t c = w->config_begin[i]; c < w->config_begin[i + 1]; c++)
                here = here || u->p->m.rate[profile_row(u->p, c, u->card[k])] > 0;
            runs = runs && here;
        }
        int infer = w->kind[i] != KIND_TRAIN;
        if (runs)
            u->workload[infer][u->n_workloads[infer]++] = i;
    }
    return ST_OK;
}

/* A workload of that kind, and one of its configurations that run on this card. */
static int32_t draw(struct urn *u, int infer, int32_t card)
{
    const struct workloads *w = u->p->w;
    int32_t i = u->workload[infer][gsl_rng_uniform_int(u->rng, (unsigned)u->n_workloads[infer])];
    int32_t first = w->config_begin[i], n = w->config_begin[i + 1] - first, c;
    do
        c = first + (int32_t)gsl_rng_uniform_int(u->rng, (unsigned)n);
    while (!(u->p->m.rate[profile_row(u->p, c, card)] > 0));
    return c;
}

static enum status add(struct samples *s, struct urn *u, const struct contention *physics,
                       enum pair_kind kind, double sigma, struct error *err)
{
    int32_t card = u->card[gsl_rng_uniform_int(u->rng, (unsigned)u->n_cards)];
    int32_t config[2] = {draw(u, kind == PAIR_II, card), draw(u, kind != PAIR_TT, card)};
    int32_t experiment = s->n_experiments;
    struct iac_side side[2];
    int32_t name[2], row[2];
    for (int i = 0; i < 2; i++) {
        int32_t workload = u->p->w->workload[config[i]];
        side[i] = side_of_profile(u->p, config[i], card);
        row[i] = profile_row(u->p, config[i], card);
        name[i] = names_add(&s->workloads, names_text(&u->p->w->names, workload),
                            names_length(&u->p->w->names, workload));
        if (name[i] < 0)
            return fail_memory(err);
    }
    for (int i = 0; i < 2; i++) {
        double slow = contention_pair(physics, row[i], row[1 - i]);
        double noisy = slow * exp(gsl_ran_gaussian_ziggurat(u->rng, sigma));
        TRY(samples_add(s, &side[i], &side[1 - i],
                        (struct pair_row){noisy, slow, experiment, {name[i], name[1 - i]}, 0},
                        err));
    }
    return ST_OK;
}

enum status experiments_make(struct samples *s, const struct profiles *p,
                             const struct contention *physics, const struct experiment_options *o,
                             struct error *err)
{
    enum status status = ST_OK;
    struct urn u = {.p = p, .rng = rng_stream((uint64_t)o->seed, "experiments")};
    const int64_t n[N_PAIR_KINDS] = {o->n_tt, o->n_ti, o->n_ii};
    const double sigma[N_PAIR_KINDS] = {o->sigma_tt, o->sigma_ti, o->sigma_ii};
    s->named_jobs = false;
    if (u.rng == NULL) {
        status = fail_memory(err);
        goto out;
    }
    TRY_OUT(fill(&u, o->cards, err));
    for (int kind = 0; kind < N_PAIR_KINDS; kind++)
        if (n[kind] > 0 && (u.n_cards == 0 || (kind != PAIR_II && u.n_workloads[0] == 0) ||
                            (kind != PAIR_TT && u.n_workloads[1] == 0))) {
            status =
                fail(err, ST_USAGE, "the catalog has nothing for pairs %s", pair_kind_name[kind]);
            goto out;
        }
    for (int kind = 0; kind < N_PAIR_KINDS; kind++)
        for (int64_t i = 0; i < n[kind]; i++)
            TRY_OUT(add(s, &u, physics, (enum pair_kind)kind, sigma[kind], err));
out:
    free(u.workload[0]);
    if (u.rng != NULL)
        gsl_rng_free(u.rng);
    return status;
}
