/* gpucolo - two feedback loops on each GPU hold inference at its latency target and give training
 * the rest: a slow one moves the share of threads, a fast one puts training to sleep.
 *
 * Source: Chen et al., "Latency-guaranteed co-location of inference and training for reducing data
 * center expenses", ICDCS'24 (no code is public; the model is ours).
 *
 * Modelled: latency L = (1 + c d) / p of an inference job alone, p its share of the threads, d the
 * duty cycle of the training beside it, c the coupling; the loops settle within seconds and jobs
 * run for minutes, so both go at once to the point where the loops come to rest when they begin at
 * p = threads, d = 1 and the fast one is much the faster: d = 1 and p = (1 + c) / SLO where
 * training can stay awake, else p = threads and d = (threads SLO - 1) / c. There L is the SLO, the
 * target of the loops, so inference runs at 1 / SLO of its speed and training at (1 - p) d. SLO is
 * the inverse of a job's min_rate_frac, else of slo_frac. Memory must hold both.
 *
 * Not modelled: requests, loads that vary, the loops on their way, inference faster than its
 * target. Jobs whose kind is not inference are training. There is no choice across GPUs but free
 * ones first: the lowest card. Speeds are set by this rule: --truth is not asked. */
#include "policies/peers/colocate.h"

#include <math.h>

struct gpucolo_config {
    double coupling, rate_min, slo_frac, threads;
};

static const struct param gpucolo_params[] = {
    PARAM_REAL(struct gpucolo_config, coupling, "1", 0.3, 1e-6, 1e3,
               "c, how much longer inference takes while training is awake [ours]"),
    PARAM_REAL(struct gpucolo_config, rate_min, "1", 0.05, 0, 1,
               "no training where it would run slower than this [ours]"),
    PARAM_REAL(struct gpucolo_config, slo_frac, "1", 0.5, 1e-3, 1,
               "inverse of the latency target over that alone, where a job has no min_rate_frac "
               "[ours]"),
    PARAM_REAL(struct gpucolo_config, threads, "1", 0.7, 1e-3, 1,
               "share of the threads that inference begins with [ours]"),
    PARAM_END,
};

struct gpucolo {
    struct colocate both;
    const struct gpucolo_config *config;
};

static struct kept gpucolo_kept(const void *context, const struct view *v, int32_t host,
                                int32_t guest, int32_t card)
{
    const struct gpucolo_config *c = ((const struct gpucolo *)context)->config;
    double asked = v->jobs->min_rate_frac[host], frac = asked > 0 ? fmin(asked, 1) : c->slo_frac;
    double threads = fmin(frac * (1 + c->coupling), c->threads);
    double duty = fmin((threads / frac - 1) / c->coupling, 1);
    double rate = (1 - threads) * duty;
    (void)guest;
    (void)card;
    return (struct kept){frac, rate > 0 && rate >= c->rate_min ? rate : -1};
}

static const struct colocation gpucolo_rule = {.is_host = colocate_infers, .kept = gpucolo_kept};

static enum status gpucolo_init(void *state, const void *config, const struct view *v,
                                const struct place_rules *rules, struct arena *arena,
                                struct error *err)
{
    (void)rules;
    struct gpucolo *g = state;
    g->config = config;
    return colocate_init(&g->both, &gpucolo_rule, g, v, arena) ? ST_OK : fail_memory(err);
}

static enum status gpucolo_decide(void *state, const struct view *v, struct plan *plan,
                                  struct error *err)
{
    (void)err;
    colocate_pass(&((struct gpucolo *)state)->both, v, plan);
    return ST_OK;
}

const struct policy policy_gpucolo = {
    .abi = POLICY_ABI,
    .name = "gpucolo",
    .summary =
        "inference held at its latency target by thread share and sleep of training beside it",
    .source = "GPUColo (ICDCS'24); model ours",
    .params = gpucolo_params,
    .config_size = sizeof(struct gpucolo_config),
    .state_size = sizeof(struct gpucolo),
    .sets_speed = true,
    .init = gpucolo_init,
    .decide = gpucolo_decide,
};
