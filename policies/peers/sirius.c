/* sirius - inference has the GPU whenever it wants it; training on the same GPU gives way with its
 * memory, by a smaller batch, and runs on what is left.
 *
 * Source: Wang et al., "Colocating ML inference and training with fast GPU memory handover",
 * USENIX ATC'25 (code public: SiriusInfTra/Sirius; the model is ours).
 *
 * Modelled, per GPU: an inference job keeps its full speed; a training job beside it keeps the
 * share b of its batch whose memory fits, b = (M - m_I - m_0) / (m_T - m_0) up to 1, m_0 the part
 * of m_T that does not shrink (weights, optimiser), and runs at X(b) (1 - kappa u_I), X(b) = b (1 +
 * h) / (b + h) the throughput that saturates in the batch. Shrinking takes milliseconds there and
 * no time here; growing back waits hold_s. Training that would keep less than batch_min or rate_min
 * is evicted, and so is training in the way of inference that cannot share (several tasks,
 * fractions).
 *
 * Not modelled: requests and their latency (inference jobs are offline batches, so they never miss
 * it after the hand-over), demand for memory that varies, NVLink servers as one. Jobs whose kind is
 * not inference are training. There is no choice across GPUs but free ones first: the lowest card.
 * Speeds are set by this rule: --truth is not asked. */
#include "policies/peers/colocate.h"
#include "policies/peers/facts.h"

#include <math.h>

struct sirius_config {
    double batch_half, batch_min, fixed_frac, hold_s, kappa, rate_min, util;
    const char *profiles;
};

static const struct param sirius_params[] = {
    PARAM_REAL(struct sirius_config, batch_half, "1", 0.25, 1e-6, 1e6,
               "h, the share of its batch at which training runs at half its limit [ours]"),
    PARAM_REAL(struct sirius_config, batch_min, "1", 0.125, 0, 1,
               "the smallest share of its batch that training can run with [ours: 4 of 32]"),
    PARAM_REAL(struct sirius_config, fixed_frac, "1", 0.4, 0, 1,
               "share of training's memory that does not shrink with the batch [ours]"),
    PARAM_REAL(struct sirius_config, hold_s, "s", 5, 0, 1e6,
               "training grows back only so long after inference has left [ours]"),
    PARAM_REAL(struct sirius_config, kappa, "1", 1, 0, 1,
               "how much of the SMs that inference uses training loses [ours]"),
    PARAM_TEXT(struct sirius_config, profiles, NULL,
               "CSV workload,util,fixed_frac,batch_half: use of the SMs alone by inference; memory "
               "and batch of training"),
    PARAM_REAL(struct sirius_config, rate_min, "1", 0.05, 0, 1,
               "no training where it would run slower than this [ours]"),
    PARAM_REAL(struct sirius_config, util, "1", 0.6, 0, 1,
               "use of the SMs by inference where neither profiles nor a catalog of workloads "
               "tells [mean of 6 LLM jobs alone "
               "on an H200: 0.60]"),
    PARAM_END,
};

static const char *const sirius_tables[] = {"profiles", NULL};

struct sirius {
    struct colocate both;
    const struct sirius_config *config;
    const double *util, *fixed_frac, *batch_half; /* (n_jobs) */
};

static int32_t mem_mib(const struct view *v, int32_t job)
{
    return v->jobs->card_mem_mib[v->jobs->task_begin[job + 1] - 1];
}

/* The share of its batch that fits beside the host. */
static double batch_share(const struct sirius *s, const struct view *v, int32_t host, int32_t guest,
                          int32_t card)
{
    double card_mib = v->cluster->card_gpu_mem_mib[card], all = mem_mib(v, guest);
    double fixed = s->fixed_frac[guest] * all, room = card_mib - mem_mib(v, host) - fixed;
    if (room >= all - fixed)
        return 1;
    return room <= 0 ? 0 : room / (all - fixed);
}

static struct kept sirius_kept(const void *context, const struct view *v, int32_t host,
                               int32_t guest, int32_t card)
{
    const struct sirius *s = context;
    double b = batch_share(s, v, host, guest, card), h = s->batch_half[guest];
    double rate = b * (1 + h) / (b + h) * (1 - s->config->kappa * s->util[host]);
    bool runs = b >= s->config->batch_min && b > 0 && rate >= s->config->rate_min && rate > 0;
    return (struct kept){1, runs ? rate : -1};
}

static const struct colocation sirius_rule = {
    .is_host = colocate_infers, .kept = sirius_kept, .hosts_evict = true};

static enum status sirius_init(void *state, const void *config, const struct view *v,
                               const struct place_rules *rules, struct arena *arena,
                               struct error *err)
{
    (void)rules;
    struct sirius *s = state;
    const struct sirius_config *c = config;
    struct fact util = {"util", c->util, 0, 1, true};
    struct fact fixed = {"fixed_frac", c->fixed_frac, 0, 1, false};
    struct fact half = {"batch_half", c->batch_half, 1e-6, 1e6, false};
    s->config = c;
    TRY(facts_of_jobs(v->tables, "sirius.profiles", &util, v, arena, &s->util, err));
    TRY(facts_of_jobs(v->tables, "sirius.profiles", &fixed, v, arena, &s->fixed_frac, err));
    TRY(facts_of_jobs(v->tables, "sirius.profiles", &half, v, arena, &s->batch_half, err));
    if (!colocate_init(&s->both, &sirius_rule, s, v, arena))
        return fail_memory(err);
    s->both.grow_us = us_of_s(c->hold_s);
    return ST_OK;
}

static enum status sirius_decide(void *state, const struct view *v, struct plan *plan,
                                 struct error *err)
{
    (void)err;
    colocate_pass(&((struct sirius *)state)->both, v, plan);
    return ST_OK;
}

const struct policy policy_sirius = {
    .abi = POLICY_ABI,
    .name = "sirius",
    .summary = "inference at full speed; training on the same GPU shrinks its batch out of the way",
    .source = "SIRIUS (USENIX ATC'25); model ours",
    .params = sirius_params,
    .config_size = sizeof(struct sirius_config),
    .state_size = sizeof(struct sirius),
    .tables = sirius_tables,
    .sets_speed = true,
    .own_clock = true,
    .shrinks_memory = true,
    .init = sirius_init,
    .decide = sirius_decide,
};
