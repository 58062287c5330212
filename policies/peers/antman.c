/* antman - guaranteed jobs run as if alone; opportunistic jobs run on what these leave of their
 * GPUs.
 *
 * Source: Xiao et al., OSDI'20 (the model is ours; no traces are public, and the public repository,
 * alibaba/GPU-scheduler-for-deep-learning, is a re-implementation).
 *
 * Modelled: two classes, told apart by kind or by priority; a guaranteed job keeps its full speed
 * and its memory; an opportunistic job beside it runs at max(0, 1 - u - margin), u the guaranteed
 * job's own use of the GPU's SMs; memory is no limit to sharing, but when a guaranteed job comes
 * and the two do not fit the card, the opportunistic job's tensors move to the host and it stands
 * still for spill_s; opportunistic jobs go to free GPUs first, then beside the guaranteed job that
 * uses least. Where a guaranteed job cannot share (several tasks, fractions) opportunistic jobs are
 * evicted.
 *
 * Not modelled: quotas of tenants, memory growing in steps, the slower pace of a job whose tensors
 * lie on the host, use that varies while a job runs. One opportunistic job on a card. Speeds are
 * set by this rule: --truth is not asked. */
#include "policies/peers/colocate.h"
#include "policies/peers/facts.h"

#include <math.h>

enum antman_class { ANTMAN_KIND, ANTMAN_PRIORITY };

struct antman_config {
    int class_by; /* enum antman_class */
    double margin, rate_min, spill_s, util;
    int64_t priority_min;
    const char *profiles;
};

static const char *const class_names[] = {"kind", "priority", NULL};

static const struct param antman_params[] = {
    PARAM_CHOICE(struct antman_config, class_by, class_names, ANTMAN_KIND,
                 "who is guaranteed: all but offline inference, or jobs of priority_min and above"),
    PARAM_REAL(struct antman_config, margin, "1", 0.1, 0, 1,
               "of a GPU, left unused beside a guaranteed job [ours]"),
    PARAM_INT(struct antman_config, priority_min, "1", 1, -1e9, 1e9,
              "priority from which a job is guaranteed, for class_by = priority"),
    PARAM_TEXT(struct antman_config, profiles, NULL,
               "CSV workload,util: use of the SMs alone, 0 to 1, of guaranteed jobs"),
    PARAM_REAL(struct antman_config, rate_min, "1", 0.05, 0, 1,
               "no opportunistic job starts where it would run slower than this [ours]"),
    PARAM_REAL(struct antman_config, spill_s, "s", 1, 0, 1e6,
               "it takes an opportunistic job to move its tensors out of the way [ours]"),
    PARAM_REAL(struct antman_config, util, "1", 0.53, 0, 1,
               "use of the SMs where neither profiles nor a catalog of workloads tells [mean of 17 "
               "training jobs alone on an "
               "H200: 0.53]"),
    PARAM_END,
};

static const char *const antman_tables[] = {"profiles", NULL};

struct antman {
    struct colocate both;
    const struct antman_config *config;
    const double *util; /* (n_jobs) */
};

static bool is_guaranteed(const void *context, const struct job_table *t, int32_t job)
{
    const struct antman_config *c = ((const struct antman *)context)->config;
    return c->class_by == ANTMAN_KIND ? t->kind[job] != KIND_INFER
                                      : t->priority[job] >= c->priority_min;
}

static struct kept antman_kept(const void *context, const struct view *v, int32_t host,
                               int32_t guest, int32_t card)
{
    const struct antman *a = context;
    double rate = fmax(0, 1 - a->util[host] - a->config->margin);
    (void)v;
    (void)guest;
    (void)card;
    return (struct kept){1, rate < a->config->rate_min ? -1 : rate};
}

static const struct colocation antman_rule = {
    .is_host = is_guaranteed, .kept = antman_kept, .cluster_wide = true, .hosts_evict = true};

static enum status antman_init(void *state, const void *config, const struct view *v,
                               const struct place_rules *rules, struct arena *arena,
                               struct error *err)
{
    (void)rules;
    struct antman *a = state;
    a->config = config;
    struct fact util = {"util", a->config->util, 0, 1, true};
    TRY(facts_of_jobs(v->tables, "antman.profiles", &util, v, arena, &a->util, err));
    if (!colocate_init(&a->both, &antman_rule, a, v, arena))
        return fail_memory(err);
    a->both.spill_us = us_of_s(a->config->spill_s);
    return ST_OK;
}

static enum status antman_decide(void *state, const struct view *v, struct plan *plan,
                                 struct error *err)
{
    (void)err;
    colocate_pass(&((struct antman *)state)->both, v, plan);
    return ST_OK;
}

const struct policy policy_antman = {
    .abi = POLICY_ABI,
    .name = "antman",
    .summary = "guaranteed jobs as if alone, opportunistic jobs on what they leave of their GPUs",
    .source = "AntMan (OSDI'20); model ours",
    .params = antman_params,
    .config_size = sizeof(struct antman_config),
    .state_size = sizeof(struct antman),
    .tables = antman_tables,
    .sets_speed = true,
    .own_clock = true,
    .shrinks_memory = true,
    .init = antman_init,
    .decide = antman_decide,
};
