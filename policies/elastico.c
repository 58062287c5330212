/* elastico - ElastiCo: configurations by shadow prices, pairs by predicted interference (the
 * paper's Algorithm 1), at every epoch boundary after something happened.
 *
 * What is modelled, and where it departs from the paper, is in docs/elastico.md: configurations
 * (RST) with what changing them costs, prices with their bound (ESP), a belief about pairs that may
 * be wrong (IAC), and the cycle (PDS): core/elastico/. At most two jobs share a card. Jobs outside
 * the catalog of workloads, and of several tasks, run as submitted on cards of their own. How much
 * work a job has left is known exactly; weight = arrival does without. A job that has started is
 * never sent back to the queue. Jobs that wait behind shorter ones can wait very long (wait_max_s)
 * unless aging_s bounds it. */
#include "core/elastico/pds.h"

static enum status elastico_init(void *state, const void *config, const struct view *v,
                                 const struct place_rules *rules, struct arena *arena,
                                 struct error *err)
{
    (void)rules;
    return pds_init(state, config, v, arena, err);
}

static enum status elastico_decide(void *state, const struct view *v, struct plan *plan,
                                   struct error *err)
{
    return pds_decide(state, v, plan, err);
}

static void elastico_fini(void *state) { pds_free(state); }

static const struct epoch *elastico_epoch(const void *state)
{
    const struct pds *s = state;
    return s->ran ? &s->epoch : NULL;
}

static const struct lore *elastico_lore(const void *state)
{
    const struct pds *s = state;
    return s->has_lore ? &s->lore : NULL;
}

static void elastico_recall(const void *state, struct memory *out) { pds_recall(state, out); }

const struct policy policy_elastico = {
    .abi = POLICY_ABI,
    .name = "elastico",
    .summary = "ElastiCo: shadow prices choose configurations, predicted interference pairs jobs",
    .source = "arXiv:2608.07971 (ElastiCo), read as docs/elastico.md says",
    .params = pds_params,
    .config_size = sizeof(struct pds_config),
    .state_size = sizeof(struct pds),
    .tables = pds_tables,
    .own_clock = true,
    .own_restart = true,
    .pairs_jobs = true,
    .elastic = true,
    .reshapes = true,
    .believes = true,
    .resumes = true,
    .init = elastico_init,
    .decide = elastico_decide,
    .fini = elastico_fini,
    .epoch = elastico_epoch,
    .epoch_metrics = {"elastico_passes", "elastico_gap_mean", "elastico_violation_frac"},
    .lore = elastico_lore,
    .profile_metrics = {"elastico_profile_hits", "elastico_profile_misses",
                        "elastico_profile_hit_frac", "elastico_profile_wait_s"},
    .recall = elastico_recall,
};
