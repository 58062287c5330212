/* mudi - inference gets the smallest share of a GPU that keeps its latency target, by a piecewise
 * linear curve; training gets the rest, on the pair, of all in the cluster, where that is most.
 *
 * Source: Chen et al., "Multiplexing dynamic deep learning workloads with SLO-awareness in GPU
 * clusters", EuroSys'25 (no code is public; the model is ours).
 *
 * Modelled: latency over that alone, L(g) = zero_slow - (zero_slow - knee_slow) g / knee for shares
 * g up to the knee, then falling to 1 at g = 1; g the smallest with L(g) <= SLO, at least
 * share_min; inference then runs at 1 / L(g) and training at (1 - g)^train_exp; each job that finds
 * no free GPU takes the partner beside whom training keeps most. SLO is the inverse of a job's
 * min_rate_frac, else of slo_frac. Shares are solved again whenever a partner comes or goes. Memory
 * must hold both.
 *
 * SMore (TPDS'25) admits a job to a GPU only where the predicted slowdown of all on it stays
 * bounded: that is keep_min, and predict = table takes what both keep from the measured --pairs
 * instead of the curve (pairs not measured do not share). Its serverless functions, cold starts and
 * forecasts are not modelled.
 *
 * Not modelled: requests and arrival rates, batches of inference, more than two on a GPU, training
 * that moves. Jobs whose kind is not inference are training. Speeds are set by this rule: --truth
 * is not asked. */
#include "policies/peers/colocate.h"
#include "policies/peers/facts.h"

#include <math.h>

enum mudi_predict { MUDI_CURVE, MUDI_TABLE };

struct mudi_config {
    double keep_min, knee, knee_slow, share_min, slo_frac, train_exp, zero_slow;
    int predict; /* enum mudi_predict */
    const char *profiles;
};

static const char *const predict_names[] = {"curve", "table", NULL};

static const struct param mudi_params[] = {
    PARAM_REAL(struct mudi_config, keep_min, "1", 0.05, 0, 1,
               "no pair of which one would keep less than this of its speed [ours; SMore's bound]"),
    PARAM_REAL(struct mudi_config, knee, "1", 0.5, 1e-3, 0.999,
               "share of a GPU at which the curve bends [ours]"),
    PARAM_REAL(struct mudi_config, knee_slow, "1", 1.25, 1, 1e3,
               "latency there over that alone [ours]"),
    PARAM_CHOICE(
        struct mudi_config, predict, predict_names, MUDI_CURVE,
        "what two keep beside each other: by the curve, or as measured in --pairs (SMore)"),
    PARAM_TEXT(struct mudi_config, profiles, NULL,
               "CSV workload,knee,knee_slow,zero_slow,train_exp: curves of inference, exponents of "
               "training"),
    PARAM_REAL(struct mudi_config, share_min, "1", 0.1, 1e-3, 1,
               "the least share that inference gets [ours]"),
    PARAM_REAL(struct mudi_config, slo_frac, "1", 0.5, 1e-3, 1,
               "inverse of the latency target over that alone, where a job has no min_rate_frac "
               "[ours]"),
    PARAM_REAL(struct mudi_config, train_exp, "1", 0.7, 0, 10,
               "training on a share s of a GPU runs at s to this power [ours]"),
    PARAM_REAL(struct mudi_config, zero_slow, "1", 4, 1, 1e3,
               "latency over that alone to which the curve rises at share 0 [ours]"),
    PARAM_END,
};

static const char *const mudi_tables[] = {"profiles", NULL};

struct mudi {
    struct colocate both;
    const struct mudi_config *config;
    const struct place_rules *rules;
    const double *knee, *knee_slow, *zero_slow, *train_exp; /* (n_jobs) */
};

/* The smallest share at which latency is no more than slo times that alone. */
static double share_of(const struct mudi *m, int32_t job, double slo)
{
    double knee = m->knee[job], bend = m->knee_slow[job], top = fmax(m->zero_slow[job], bend);
    double share = 1;
    if (slo >= bend && top > bend)
        share = knee * (top - slo) / (top - bend);
    else if (slo >= bend)
        share = 0;
    else if (slo > 1)
        share = knee + (1 - knee) * (bend - slo) / (bend - 1);
    return fmin(fmax(share, m->config->share_min), 1);
}

static double latency_at(const struct mudi *m, int32_t job, double share)
{
    double knee = m->knee[job], bend = m->knee_slow[job], top = fmax(m->zero_slow[job], bend);
    if (share < knee)
        return top - (top - bend) * share / knee;
    return bend - (bend - 1) * (share - knee) / (1 - knee);
}

static struct kept by_curve(const struct mudi *m, const struct view *v, int32_t host, int32_t guest)
{
    double asked = v->jobs->min_rate_frac[host];
    double frac = asked > 0 ? fmin(asked, 1) : m->config->slo_frac;
    double share = share_of(m, host, 1 / frac);
    return (struct kept){1 / latency_at(m, host, share), pow(1 - share, m->train_exp[guest])};
}

static struct kept by_table(const struct mudi *m, const struct view *v, int32_t host, int32_t guest)
{
    int32_t a = v->jobs->workload[host], b = v->jobs->workload[guest];
    a = a < 0 ? -1 : m->rules->pair_id[a];
    b = b < 0 ? -1 : m->rules->pair_id[b];
    if (a < 0 || b < 0)
        return (struct kept){0, -1};
    return (struct kept){pairs_speed(m->rules->pairs, a, b), pairs_speed(m->rules->pairs, b, a)};
}

static struct kept mudi_kept(const void *context, const struct view *v, int32_t host, int32_t guest,
                             int32_t card)
{
    const struct mudi *m = context;
    (void)card;
    struct kept kept = m->config->predict == MUDI_TABLE ? by_table(m, v, host, guest)
                                                        : by_curve(m, v, host, guest);
    double least = m->config->keep_min; /* NAN, not measured, is no yes either */
    bool together = kept.host >= least && kept.guest >= least && kept.guest > 0 && kept.host > 0;
    return together ? kept : (struct kept){0, -1};
}

static const struct colocation mudi_rule = {
    .is_host = colocate_infers, .kept = mudi_kept, .cluster_wide = true};

static enum status mudi_init(void *state, const void *config, const struct view *v,
                             const struct place_rules *rules, struct arena *arena,
                             struct error *err)
{
    struct mudi *m = state;
    const struct mudi_config *c = config;
    struct fact knee = {"knee", c->knee, 1e-3, 0.999, false};
    struct fact knee_slow = {"knee_slow", c->knee_slow, 1, 1e3, false};
    struct fact zero_slow = {"zero_slow", c->zero_slow, 1, 1e3, false};
    struct fact train_exp = {"train_exp", c->train_exp, 0, 10, false};
    m->config = c;
    m->rules = rules;
    if (c->predict == MUDI_TABLE && rules->pairs == NULL)
        return fail(err, ST_USAGE, "mudi.predict = table needs --pairs FILE");
    TRY(facts_of_jobs(v->tables, "mudi.profiles", &knee, v, arena, &m->knee, err));
    TRY(facts_of_jobs(v->tables, "mudi.profiles", &knee_slow, v, arena, &m->knee_slow, err));
    TRY(facts_of_jobs(v->tables, "mudi.profiles", &zero_slow, v, arena, &m->zero_slow, err));
    TRY(facts_of_jobs(v->tables, "mudi.profiles", &train_exp, v, arena, &m->train_exp, err));
    return colocate_init(&m->both, &mudi_rule, m, v, arena) ? ST_OK : fail_memory(err);
}

static enum status mudi_decide(void *state, const struct view *v, struct plan *plan,
                               struct error *err)
{
    (void)err;
    colocate_pass(&((struct mudi *)state)->both, v, plan);
    return ST_OK;
}

const struct policy policy_mudi = {
    .abi = POLICY_ABI,
    .name = "mudi",
    .summary =
        "the smallest GPU share that keeps inference's target, training on the rest; best pairs",
    .source = "Mudi (EuroSys'25); model ours; keep_min is the bound of SMore (TPDS'25)",
    .params = mudi_params,
    .config_size = sizeof(struct mudi_config),
    .state_size = sizeof(struct mudi),
    .tables = mudi_tables,
    .sets_speed = true,
    .init = mudi_init,
    .decide = mudi_decide,
};
