#include "sim/run/models.h"

#include "core/elastico/cards.h"
#include "core/elastico/catalog_file.h"
#include "traces/account.h"

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

enum status models_open(struct models *m, const struct model_choice *choice,
                        const struct job_table *t, const struct cluster *c, struct error *err)
{
    *m = (struct models){.choice = *choice};
    bool contention = choice->truth == TRUTH_CONTENTION;
    if (contention && choice->catalog == NULL)
        return fail(err, ST_USAGE, "truth contention needs a catalog of workloads");
    if (choice->catalog == NULL || !any_workload(t) || !any_known_card(c))
        return ST_OK;
    TRY(catalog_read(choice->catalog, &m->workloads, err));
    TRY(profiles_init(&m->profiles, &m->workloads, err));
    if (contention)
        TRY(contention_init(&m->contention, &m->profiles, choice->set, choice->m, err));
    m->bound = true;
    return models_bind(m, t, c, err);
}

void models_close(struct models *m)
{
    contention_free(&m->contention);
    rst_free(&m->rst);
    profiles_free(&m->profiles);
    workloads_free(&m->workloads);
    *m = (struct models){0};
}

enum status models_note(const struct models *m, struct trace *trace, struct error *err)
{
    bool contention = m->choice.truth == TRUTH_CONTENTION;
    if (contention && !m->bound)
        TRY(account_note(&trace->report, err,
                         "no job names a workload, or no card has profiles: under truth contention "
                         "nobody slows anybody"));
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

struct rates models_rates(const struct models *m)
{
    bool contention = m->bound && m->choice.truth == TRUTH_CONTENTION;
    return (struct rates){.truth = m->choice.truth,
                          .rst = m->bound ? &m->rst : NULL,
                          .contention = contention ? &m->contention : NULL,
                          .scale_exp = m->choice.scale_exp};
}
