#include "sim/run/models.h"

#include "core/elastico/cards.h"
#include "core/elastico/catalog_file.h"
#include "core/elastico/model_file.h"
#include "core/elastico/sides.h"
#include "traces/account.h"

#include <stdlib.h>

static bool any_workload(const struct job_table *t)
{
    for (int32_t j = 0; j < t->n_jobs; j++)
        if (t->workload[j] >= 0)
            return true;
    return false;
}

/* A card without a type counts as the reference; of a type that is only a name nothing is known. */
static bool any_known_card(const struct cluster *c)
{
    for (int32_t node = 0; node < c->n_nodes; node++)
        if (c->node_card[node] < c->node_card[node + 1] &&
            (c->node_type[node] < 0 ||
             card_find(names_text(&c->gpu_types, c->node_type[node])) >= 0))
            return true;
    return false;
}

enum status models_bind(struct models *m, const struct job_table *t, const struct cluster *c,
                        struct error *err)
{
    rst_free(&m->rst);
    return m->bound ? rst_init(&m->rst, &m->profiles, t, c, m->choice.submitted, err) : ST_OK;
}

/* An oracle where nobody slows anybody. */
static void ask_nobody(void *context, const struct iac_side *side, int32_t n,
                       const struct iac_pair *pair, double *s, double *spread)
{
    (void)context;
    (void)side;
    (void)pair;
    for (int32_t i = 0; i < n; i++) {
        s[i] = 1;
        spread[i] = 0;
    }
}

static enum status open_table(struct models *m, struct error *err)
{
    struct predictor *p = &m->predictor;
    const struct pairs *pairs = m->choice.pairs;
    size_t n = (size_t)N_CARDS * (size_t)m->profiles.n_configs;
    if (pairs == NULL)
        return fail(err, ST_USAGE, "belief table needs --pairs FILE");
    p->workload = malloc((n + 1) * sizeof *p->workload);
    if (p->workload == NULL)
        return fail_memory(err);
    for (int32_t card = 0; card < N_CARDS; card++)
        for (int32_t c = 0; c < m->profiles.n_configs; c++) {
            int32_t w = m->workloads.workload[c];
            p->workload[profile_row(&m->profiles, c, card)] =
                names_find(&pairs->workloads, names_text(&m->workloads.names, w),
                           names_length(&m->workloads.names, w));
        }
    p->table = (struct belief_table){pairs, p->workload};
    return ST_OK;
}

/* Whom the belief asks. */
static enum status belief_source(struct models *m, belief_fn *ask, void **context,
                                 struct error *err)
{
    struct predictor *p = &m->predictor;
    enum belief_name name = m->choice.belief;
    bool oracle = name == BELIEF_ORACLE;
    if (name == BELIEF_IAC || (oracle && m->choice.truth == TRUTH_IAC)) {
        *ask = belief_of_model;
        *context = &p->reader;
    } else if (name == BELIEF_TABLE || (oracle && m->choice.truth == TRUTH_TABLE)) {
        TRY(open_table(m, err));
        *ask = belief_of_table;
        *context = &p->table;
    } else if (m->choice.truth == TRUTH_CONTENTION) {
        *ask = belief_of_contention;
        *context = &m->contention;
    } else {
        *ask = ask_nobody;
        *context = NULL;
    }
    return ST_OK;
}

/* The physics of a file, or of one of the sets. */
static enum status open_contention(struct models *m, struct error *err)
{
    const struct set_numbers *numbers = &contention_sets[m->choice.set];
    double overhead = m->choice.m;
    if (m->of_physics) {
        TRY(physics_load(&m->physics, m->choice.model, err));
        numbers = &m->physics.numbers;
        overhead *= m->physics.m;
    }
    return contention_init(&m->contention, &m->profiles, numbers, overhead, err);
}

static enum status open_predictor(struct models *m, struct error *err)
{
    const struct model_choice *choice = &m->choice;
    struct predictor *p = &m->predictor;
    struct belief_options options = {.n_slots = 1 << 14};
    bool truth = choice->truth == TRUTH_IAC;
    belief_fn ask;
    void *context;
    if (!truth && !choice->believes)
        return ST_OK;
    TRY(sides_of_profiles(&m->profiles, &p->side, err));
    if (truth || choice->belief == BELIEF_IAC) {
        TRY(choice->model != NULL && !m->of_physics
                ? model_load(&p->model, NULL, choice->model, err)
                : model_default(&p->model, NULL, err));
        TRY(iac_reader_init(&p->reader, &p->model, err));
    }
    if (truth)
        TRY(belief_init(&p->truth, belief_of_model, &p->reader, &options, err));
    if (!choice->believes)
        return ST_OK;
    TRY(belief_source(m, &ask, &context, err));
    options.error_frac = choice->error_frac;
    options.seed = choice->error_seed;
    options.caution = choice->caution;
    p->believes = true;
    return belief_init(&p->belief, ask, context, &options, err);
}

static void close_predictor(struct predictor *p)
{
    belief_free(&p->truth);
    belief_free(&p->belief);
    iac_reader_free(&p->reader);
    iac_model_free(&p->model);
    free(p->workload);
    free(p->side);
}

enum status models_open(struct models *m, const struct model_choice *choice,
                        const struct job_table *t, const struct cluster *c, struct error *err)
{
    *m = (struct models){.choice = *choice};
    bool contention = choice->truth == TRUTH_CONTENTION;
    if ((contention || choice->truth == TRUTH_IAC) && choice->catalog == NULL)
        return fail(err, ST_USAGE, "truth %s needs a catalog of workloads",
                    contention ? "contention" : "iac");
    if (choice->model != NULL)
        TRY(physics_is_file(choice->model, &m->of_physics, err));
    if (m->of_physics && !contention)
        return fail(err, ST_USAGE, "--model %s: only --truth contention asks a physics file",
                    choice->model);
    if (choice->catalog == NULL || !any_workload(t) || !any_known_card(c))
        return ST_OK;
    TRY(catalog_read(choice->catalog, &m->workloads, err));
    TRY(profiles_init(&m->profiles, &m->workloads, err));
    if (contention)
        TRY(open_contention(m, err));
    TRY(open_predictor(m, err));
    m->bound = true;
    return models_bind(m, t, c, err);
}

void models_close(struct models *m)
{
    close_predictor(&m->predictor);
    contention_free(&m->contention);
    physics_free(&m->physics);
    rst_free(&m->rst);
    profiles_free(&m->profiles);
    workloads_free(&m->workloads);
    *m = (struct models){0};
}

enum status models_note(const struct models *m, struct trace *trace, struct error *err)
{
    const bool iac = m->choice.truth == TRUTH_IAC;
    const bool contention = iac || m->choice.truth == TRUTH_CONTENTION;
    if (contention && !m->bound)
        TRY(account_note(&trace->report, err,
                         "no job names a workload, or no card has profiles: under truth %s "
                         "nobody slows anybody",
                         iac ? "iac" : "contention"));
    if (contention && m->bound && m->rst.n_outside > 0)
        TRY(account_note(
            &trace->report, err,
            "jobs with GPUs whose workload is not in catalog %s: %d; they neither slow "
            "others nor are slowed",
            m->choice.catalog, m->rst.n_outside));
    if (m->bound && m->rst.n_unlisted > 0)
        TRY(account_note(&trace->report, err,
                         "jobs that list a configuration which catalog %s does not have: %d; the "
                         "nearest, or the default, stands in",
                         m->choice.catalog, m->rst.n_unlisted));
    return ST_OK;
}

struct rates models_rates(struct models *m)
{
    bool contention = m->bound && m->choice.truth == TRUTH_CONTENTION;
    return (struct rates){.truth = m->choice.truth,
                          .rst = m->bound ? &m->rst : NULL,
                          .contention = contention ? &m->contention : NULL,
                          .predictor =
                              m->bound && m->choice.truth == TRUTH_IAC ? &m->predictor.truth : NULL,
                          .side = m->predictor.side,
                          .scale_exp = m->choice.scale_exp};
}
