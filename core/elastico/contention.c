#include "core/elastico/contention.h"

#include <math.h>
#include <string.h>

/* ln w over ln(batch) away from what was measured: measured slopes are .1 to .2 (Gavel's pairs). */
static const double BS_SLOPE = 0.1;
/* ln w over ln(mean kernel length): probes give slopes from .70 (FMA) to 1.04 (spin); 50 us for
 * w = 1 is where the H200's language models lie at about ten kernels a layer (assumed). */
static const double KERNEL_AT_W_1_S = 50e-6, KERNEL_SLOPE = 0.85;

/* Frank for kappa > 1, from the identity
 *   (e^-ku - 1)(e^-kv - 1) / (e^-k - 1) + 1 = e^-ku (1 + e^-k(v-u) - e^-kv - e^-k(1-u)) / (1 -
 * e^-k) with u <= v, in which nothing overflows and nothing cancels. */
static double frank_strong(double u, double v, double k)
{
    double lo = u < v ? u : v, hi = u < v ? v : u;
    double inner = exp(-k * (hi - lo)) - exp(-k * hi) - exp(-k * (1 - lo));
    return lo - (log1p(inner) - log1p(-exp(-k))) / k;
}

double frank_overlap(double u, double v, double kappa)
{
    double lo = u + v > 1 ? u + v - 1 : 0, hi = u < v ? u : v, c;
    if (kappa == 0)
        return u * v;
    if (fabs(kappa) < 1e-8)
        c = u * v * (1 + kappa / 2 * (1 - u) * (1 - v));
    else if (fabs(kappa) <= 1)
        c = -log1p(expm1(-kappa * u) * expm1(-kappa * v) / expm1(-kappa)) / kappa;
    else if (kappa > 0)
        c = frank_strong(u, v, kappa);
    else
        c = u - frank_strong(u, 1 - v, -kappa); /* its reflection */
    c = c < lo ? lo : c;
    return c < hi ? c : hi;
}

/* Does a "|"-separated list hold the word? */
static bool listed(const char *list, const char *word)
{
    size_t n = strlen(word);
    for (const char *p = list; *p != '\0'; p += strcspn(p, "|"), p += *p == '|')
        if (strcspn(p, "|") == n && memcmp(p, word, n) == 0)
            return true;
    return false;
}

static bool same(const struct anchor *a, const char *name, enum phase phase)
{
    return a->phase == phase && listed(a->workloads, name);
}

/* ln w at a batch size between the anchors of a workload and phase: those with or without AMP as
 * asked where there are two such, else all. NAN where there are none. Linear in ln(batch), BS_SLOPE
 * outside. */
static double anchored(const struct set_numbers *set, const char *name, double bs, bool amp,
                       enum phase phase)
{
    const struct anchor *below = NULL, *above = NULL;
    int n_alike = 0;
    for (int i = 0; i < set->n_anchors; i++)
        n_alike += set->anchor[i].amp == amp && same(&set->anchor[i], name, phase);
    for (int i = 0; i < set->n_anchors; i++) {
        const struct anchor *a = &set->anchor[i];
        if (!same(a, name, phase) || (n_alike >= 2 && a->amp != amp))
            continue;
        if (a->bs <= bs && (below == NULL || a->bs > below->bs))
            below = a;
        if (a->bs >= bs && (above == NULL || a->bs < above->bs))
            above = a;
    }
    const struct anchor *near = below != NULL ? below : above;
    if (near == NULL)
        return NAN;
    if (below == NULL || above == NULL || below->bs == above->bs)
        return near->log_w + (bs > 0 ? BS_SLOPE * log(bs / near->bs) : 0);
    return below->log_w +
           (above->log_w - below->log_w) * log(bs / below->bs) / log(above->bs / below->bs);
}

/* ln w by the anchors, the same on every card; NAN where there are none. */
struct anchored {
    double whole, decode, prefill;
};

static struct anchored anchored_config(const struct set_numbers *set, const struct profiles *p,
                                       int32_t config)
{
    const char *name = names_text(&p->w->names, p->w->workload[config]);
    const double *value = p->w->value[config];
    double bs = value[KNOB_BS];
    for (int i = 0; i < set->n_anchors; i++)
        if (strcmp(set->anchor[i].job, name) == 0)
            return (struct anchored){set->anchor[i].log_w, NAN, NAN};
    return (struct anchored){anchored(set, name, bs, value[KNOB_AMP] > 0, PHASE_ALL),
                             anchored(set, name, bs, false, PHASE_DECODE),
                             anchored(set, name, bs, false, PHASE_PREFILL)};
}

static double line_weight(const struct set_numbers *set, const struct profiles *p, int32_t row,
                          const struct anchored *a)
{
    double log_w = a->whole, f = p->prefill_frac[row];
    if (isnan(log_w) && !isnan(a->decode)) /* who comes meets each phase for its part of the time */
        return f * exp(a->prefill) + (1 - f) * exp(a->decode);
    if (isnan(log_w))
        log_w = KERNEL_SLOPE * log(p->m.kernel_s[row] / KERNEL_AT_W_1_S);
    if (isnan(log_w))
        log_w = set->step_at_1_s + set->step_slope * log(p->m.step_s[row]);
    return isfinite(log_w) ? exp(log_w) : 1;
}

static const struct set_entry *entry_of(const struct set_numbers *set, const char *name)
{
    for (int i = 0; i < set->n_entries; i++)
        if (strcmp(set->entry[i].workload, name) == 0)
            return &set->entry[i];
    return NULL;
}

static double shifted_weight(const struct profiles *p, int32_t config,
                             const struct set_entry *entry)
{
    int32_t initial = p->w->initial[p->w->workload[config]];
    double ratio = p->w->value[config][KNOB_BS] / p->w->value[initial][KNOB_BS];
    return exp((entry == NULL ? 0 : entry->log_w) + (ratio > 0 ? BS_SLOPE * log(ratio) : 0));
}

/* The logit of u moved by delta, back in 0..1. */
static double shifted(double u, double delta)
{
    if (isnan(u))
        return 0;
    double up = u * exp(delta);
    return up / (1 - u + up);
}

enum status contention_init(struct contention *c, const struct profiles *p,
                            const struct set_numbers *numbers, double m, struct error *err)
{
    bool lines = isfinite(numbers->step_slope);
    const double *metric[N_CONTENDED] = {p->m.sm, p->m.tensor, p->m.dram, p->m.host};
    size_t n = (size_t)N_CARDS * (size_t)p->n_configs;
    *c = (struct contention){.kappa = numbers->kappa, .m = m};
    memcpy(c->alpha, numbers->alpha, sizeof c->alpha);
    c->u = arena_alloc(&c->arena, n, sizeof *c->u);
    c->weight = arena_alloc(&c->arena, n, sizeof *c->weight);
    if (c->u == NULL || c->weight == NULL)
        return fail_memory(err);
    for (int32_t config = 0; config < p->n_configs; config++) {
        const struct set_entry *entry =
            entry_of(numbers, names_text(&p->w->names, p->w->workload[config]));
        struct anchored by_anchor = {NAN, NAN, NAN};
        if (lines)
            by_anchor = anchored_config(numbers, p, config);
        for (int32_t card = 0; card < N_CARDS; card++) {
            int32_t row = profile_row(p, config, card);
            for (int r = 0; r < N_CONTENDED; r++)
                c->u[row][r] = shifted(metric[r][row], entry == NULL ? 0 : entry->delta[r]);
            c->weight[row] =
                lines ? line_weight(numbers, p, row, &by_anchor) : shifted_weight(p, config, entry);
        }
    }
    return ST_OK;
}

void contention_free(struct contention *c)
{
    arena_free(&c->arena);
    *c = (struct contention){0};
}

/* sum_r alpha_r C(u_r, v_r) */
static double overlap(const struct contention *c, const double *u, const double *v)
{
    double q = 0;
    for (int r = 0; r < N_CONTENDED; r++)
        if (c->alpha[r] > 0)
            q += c->alpha[r] * frank_overlap(u[r], v[r], c->kappa);
    return q;
}

static double bounded(double q) { return q < 1 ? q : 1; }

double contention_pair(const struct contention *c, int32_t row, int32_t beside)
{
    double q = bounded(overlap(c, c->u[row], c->u[beside]));
    return c->m * (1 + c->weight[beside] / c->weight[row] * q);
}

/* What the others together must overlap with u at the least: jobs that keep out of each other's way
 * in pairs can no longer where their demands add up to more than the resource. With kappa = 0 it is
 * the sum of the pairs. */
static double joint_overlap(const struct contention *c, const int32_t *row, int32_t n, int32_t i)
{
    double q = 0;
    for (int r = 0; r < N_CONTENDED; r++) {
        double u = c->u[row[i]][r], sum = 0;
        for (int32_t j = 0; j < n; j++)
            sum += j == i ? 0 : c->u[row[j]][r];
        double over = sum > 1 ? sum - 1 : 0;
        if (c->alpha[r] > 0)
            q += c->alpha[r] * (frank_overlap(u, sum - over, c->kappa) + u * over);
    }
    return q;
}

double contention_among(const struct contention *c, const int32_t *row, int32_t n, int32_t i)
{
    double waits = 0, pairs = 0, weights = 0;
    if (n < 2)
        return 1;
    for (int32_t j = 0; j < n; j++) {
        if (j == i)
            continue;
        double q = bounded(overlap(c, c->u[row[i]], c->u[row[j]]));
        double ratio = c->weight[row[j]] / c->weight[row[i]];
        waits += ratio * q;
        pairs += q;
        weights += ratio;
    }
    if (n > 2 && c->kappa < 0) { /* what is missing waits for the others' mean kernel */
        double joint = joint_overlap(c, row, n, i), most = n - 1;
        joint = joint < most ? joint : most;
        if (joint > pairs)
            waits += (joint - pairs) * weights / (n - 1);
    }
    return c->m * (1 + waits);
}
