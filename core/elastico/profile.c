#include "core/elastico/profile.h"

#include <math.h>
#include <string.h>

static const double GIB = 1024;           /* MiB */
static const double MU_BYTES = 40e9;      /* of CARD_REFERENCE: what an engine's MU is a part of */
static const double POOL_RESERVE = 1.5e9; /* bytes an engine needs besides weights and KV */

#define X(name) double name;
struct row {
    MEASURES(X)
    double prefill_frac, prefix_frac;
};
#undef X

/* Where the time of a saturated GPU goes, in parts of one: tensor pipes, DRAM, and the pace of the
 * SMs. What a card's peaks make of it is the time on that card over CARD_REFERENCE's. */
struct parts {
    double tensor, dram, sm;
};

/* busy tensor and DRAM of an SM-active fraction; where they overlap, in proportion. */
static struct parts parts_of(double tensor, double dram, double sm)
{
    double sum = tensor + dram > sm ? tensor + dram : sm;
    return sum > 0 ? (struct parts){tensor / sum, dram / sum, 1 - (tensor + dram) / sum}
                   : (struct parts){0, 0, 1};
}

static double tensor_flops(const struct card *k, bool half)
{
    return half ? k->fp16_flops : k->tf32_flops > 0 ? k->tf32_flops : k->fp32_flops;
}

static double bandwidth(const struct card *k) { return k->bw_bytes_s * k->bw_eff; }

/* Time on one card over that on another, for GPU-bound work. */
static double time_ratio(struct parts p, bool half, const struct card *from, const struct card *to)
{
    return p.tensor * tensor_flops(from, half) / tensor_flops(to, half) +
           p.dram * bandwidth(from) / bandwidth(to) + p.sm * from->sm_clock_hz / to->sm_clock_hz;
}

static double below_one(double x) { return x < 1 ? x : 1; }

/* ck_cost is theory's quarter (recomputing is a third of the work) and a little; the soft floor of
 * memory keeps a configuration that saves twice from falling below the workload's least. */
static double train_fb_gib(const struct train_model *m, double batch_frac, bool amp, bool ck)
{
    double raw = m->fb_static +
                 m->fb_batch * batch_frac * (amp ? m->fb_amp : 1) * (ck ? m->fb_ck : 1) -
                 m->fb_floor;
    double over = raw > 0 ? raw + log1p(exp(-raw)) : log1p(exp(raw)); /* ln(1 + e^raw) */
    return m->fb_floor + over;
}

/* T = BS / (t0 + BS / T_inf), t0 the part of a step that is not the GPU's; g the GPU's part of the
 * time. On another card T_inf scales by the parts of its time, t0 stays. */
static struct row train_row(const struct train_model *m, double bs, bool amp, bool ck,
                            const struct card *card)
{
    const struct card *ref = &card_table[CARD_REFERENCE];
    bool pipes = amp || card->tf32_flops > 0; /* FP32 without TF32 uses no tensor pipes */
    double dram_inf = amp ? m->dram_amp : m->dram;
    double speedup = (amp ? m->amp_speedup : 1) * (ck ? 1 - m->ck_cost : 1);
    double inf_ref = m->rate_inf * speedup;
    double flop = m->flop * (ck ? 4.0 / 3 : 1);
    double busy = inf_ref * flop / (tensor_flops(ref, amp) * m->tensor_eff);
    double longer = time_ratio(parts_of(busy, dram_inf, m->sm), amp, ref, card);
    double inf = inf_ref / longer;
    double t0 = m->bs_half / m->rate_inf * (amp ? m->launch_amp : 1);
    double gpu_s = bs / inf, step_s = t0 + gpu_s, rate = bs / step_s, g = gpu_s / step_s;
    double sm = m->sm * (g + m->sm_launch * (1 - g));
    double dram = dram_inf / longer * ref->bw_bytes_s / card->bw_bytes_s;
    double host = m->host * pow(rate / m->rate_inf, 0.3) + 0.25 * (1 - g);
    return (struct row){
        .rate = rate,
        .sm = sm,
        .occupancy = sm * m->occupancy,
        .tensor = pipes ? below_one(rate * flop / (tensor_flops(card, amp) * m->tensor_eff)) : 0,
        .dram = below_one(dram * (0.15 + 0.85 * g)),
        .host = host < 0.95 ? host : 0.95,
        .cpu = m->cpu + rate / m->cpu_rate,
        .ram_mib = m->ram * GIB,
        .step_s = step_s,
        .kernel_s = NAN,
    };
}

/* Prefill and decode of sequences of sl tokens, three quarters of them prompt; rho the prefix
 * cache's hits, which grow with what the pool has left. Phases overlap in part (exponent 1.5,
 * fitted). A pool too small for the batch runs a smaller one; without room for one sequence the
 * rate is 0. Cost O(1). */
static struct row infer_row(const struct infer_model *m, double params, const double *value,
                            const struct card *card)
{
    double sl = value[KNOB_SL], isl = 0.75 * sl, osl = 0.25 * sl;
    double pool = value[KNOB_MU] * MU_BYTES - m->weight_bytes - POOL_RESERVE;
    double fit = floor(pool / (sl * m->kv_bytes));
    double bs = value[KNOB_BS] < fit ? value[KNOB_BS] : fit;
    if (bs < 1)
        return (struct row){.kernel_s = NAN};
    double rho = value[KNOB_PC] > 0 ? 0.5 * (1 - exp(-pool / 4e9)) : 0;
    double pre_s = bs * isl * (1 - rho) * 2 * params / (card->fp16_flops * m->flop_eff);
    double mem_s =
        (m->weight_bytes + bs * (isl + osl / 2) * m->kv_bytes) / (bandwidth(card) * m->bw_eff);
    double step_s = mem_s + m->host_s, dec_s = osl * step_s;
    double f = pre_s / (pre_s + dec_s), d = mem_s / step_s;
    double sm = f * 0.95 + (1 - f) * 0.78 * d;
    return (struct row){
        .rate = bs * osl / pow(pow(pre_s, 1.5) + pow(dec_s, 1.5), 1 / 1.5),
        .sm = sm,
        .occupancy = 0.22 * sm,
        .tensor = below_one(f * 0.62 / 0.9 + (1 - f) * 0.06 * sqrt(bs) * d),
        .dram = below_one(f * 0.30 + (1 - f) * d * m->bw_eff * card->bw_eff),
        .host = 0.10 + (1 - f) * (1 - d),
        .cpu = 1.5,
        .ram_mib = (2 + 1.2 * m->weight_bytes / 1e9) * GIB,
        .step_s = step_s,
        .kernel_s = NAN,
        .prefill_frac = f,
        .prefix_frac = rho,
    };
}

/* A measurement on another card: SM-active time scales by its parts, the rest stays. */
static struct row measured_row(const struct workloads *w, int32_t from, const struct card *card)
{
    const struct measures *m = &w->measured;
    const struct card *own = &card_table[w->card[w->workload[from]]];
#define X(name) .name = m->name[from],
    struct row r = {MEASURES(X)};
#undef X
    if (card == own)
        return r;
    bool half = !(w->value[from][KNOB_AMP] < 1); /* inference has no such knob: FP16 */
    double tensor = isnan(r.tensor) ? 0 : r.tensor, dram = isnan(r.dram) ? 0 : r.dram;
    double gpu = r.sm * time_ratio(parts_of(tensor, dram, r.sm), half, own, card);
    double longer = 1 - r.sm + gpu;
    r.rate /= longer;
    r.step_s *= longer;
    r.kernel_s *= gpu / r.sm;
    r.occupancy *= gpu / longer / r.sm;
    r.sm = gpu / longer;
    bool pipes = half || card->tf32_flops > 0;
    r.tensor =
        pipes ? below_one(r.tensor * tensor_flops(own, half) / (tensor_flops(card, half) * longer))
              : 0;
    r.dram = below_one(r.dram * own->bw_bytes_s / (card->bw_bytes_s * longer));
    return r;
}

static struct row row_of(const struct workloads *w, int32_t c, int32_t from,
                         const struct card *card)
{
    int32_t wl = w->workload[c];
    const double *value = w->value[c];
    switch ((enum workload_source)w->source[wl]) {
    case SOURCE_TRAIN:
        return train_row(&w->model[wl].train, value[KNOB_BS], value[KNOB_AMP] > 0,
                         value[KNOB_CK] > 0, card);
    case SOURCE_INFER: return infer_row(&w->model[wl].infer, w->params[wl], value, card);
    case SOURCE_MEASURED: break;
    }
    return measured_row(w, from, card);
}

static double bs_max(const struct workloads *w, int32_t wl)
{
    return w->values[wl][KNOB_BS][w->n_values[wl][KNOB_BS] - 1];
}

int32_t profile_neighbours_mib(const struct workloads *w, int32_t from, const bool *profiled,
                               const int32_t *fb_mib)
{
    int32_t wl = w->workload[from], most = fb_mib[from];
    for (int k = 0; k < N_KNOBS; k++)
        for (int step = -1; step <= 1; step += 2) {
            int32_t i = config_index(w, from, (enum knob)k) + step;
            if (i < 0 || i >= w->n_values[wl][k])
                continue;
            int32_t c = config_with(w, from, (enum knob)k, i);
            if (profiled[c] && fb_mib[c] > most)
                most = fb_mib[c];
        }
    return most;
}

static int32_t fb_mib_of(const struct workloads *w, int32_t c, int32_t from)
{
    int32_t wl = w->workload[c];
    const double *value = w->value[c];
    switch ((enum workload_source)w->source[wl]) {
    case SOURCE_TRAIN:
        return (int32_t)lround(GIB * train_fb_gib(&w->model[wl].train,
                                                  value[KNOB_BS] / bs_max(w, wl),
                                                  value[KNOB_AMP] > 0, value[KNOB_CK] > 0));
    case SOURCE_INFER: return (int32_t)lround(value[KNOB_MU] * 40 * GIB);
    case SOURCE_MEASURED: break;
    }
    return from == c ? w->fb_mib[c] : profile_neighbours_mib(w, from, w->profiled, w->fb_mib);
}

/* The configuration as one card runs it, as far as rows and memory go. */
static int32_t on_one_card(const struct workloads *w, int32_t c)
{
    return config_with(w, config_with(w, c, KNOB_TP, 0), KNOB_PP, 0);
}

struct degrees profile_degrees(const struct profiles *p, int32_t config, int32_t n)
{
    const struct workloads *w = p->w;
    struct degrees d = {0, config_degree(w, config, KNOB_TP), config_degree(w, config, KNOB_PP)};
    d.dp = parallel_replicas(&w->parallel[w->workload[config]], w->value[config][KNOB_BS],
                             d.tp * d.pp, n);
    return d;
}

double profile_laid_rate(const struct profiles *p, int32_t config, struct degrees d, double micro_s,
                         const struct links *l, const struct footprint *f)
{
    const struct workloads *w = p->w;
    const struct parallel *parallel = &w->parallel[w->workload[config]];
    return parallel->batch / parallel_step_s(parallel, d, w->value[config][KNOB_BS], micro_s,
                                             w->value[config][KNOB_CK] > 0, l, f);
}

double profile_packed_rate(const struct profiles *p, int32_t config, int32_t card, int32_t n,
                           int32_t cards_of_node, const struct links *l)
{
    struct degrees d = profile_degrees(p, config, n);
    bool spans = p->w->parallel[p->w->workload[config]].tp_spans > 0;
    if (d.dp * d.tp * d.pp != n || (d.tp > cards_of_node && !spans))
        return 0;
    int32_t groups = cards_of_node / d.tp;
    struct footprint f = footprint_packed(d, groups > 0 ? groups * d.tp : cards_of_node);
    return profile_laid_rate(p, config, d, p->micro_s[profile_row(p, config, card)], l, &f);
}

/* From the whole network on one card to one replica. What a card is busy with is less by what it
 * waits for. */
static void lay_out(const struct profiles *p, int32_t c, int32_t card, struct row *r)
{
    int32_t tp = config_degree(p->w, c, KNOB_TP), size = tp * config_degree(p->w, c, KNOB_PP);
    struct links l = card_links(card);
    double rate =
        profile_packed_rate(p, c, card, size, tp > PARALLEL_NODE ? tp : PARALLEL_NODE, &l);
    double busy = rate / (size * r->rate);
    r->sm *= busy;
    r->occupancy *= busy;
    r->tensor *= busy;
    r->dram *= busy;
    r->step_s *= r->rate / rate;
    r->rate = rate;
}

static bool columns_new(struct profiles *p)
{
    size_t n = (size_t)N_CARDS * (size_t)p->n_configs;
#define COLUMN(column, n) ((p->column = arena_alloc(&p->arena, n, sizeof *p->column)) != NULL)
#define X(name)           &&COLUMN(m.name, n)
    return COLUMN(fb_mib, (size_t)p->n_configs) && COLUMN(nic_mbps, (size_t)p->n_configs) &&
           COLUMN(storage_mbps, (size_t)p->n_configs) && COLUMN(prefill_frac, n) &&
           COLUMN(prefix_frac, n) && COLUMN(micro_s, n) MEASURES(X);
#undef X
#undef COLUMN
}

enum status profiles_init(struct profiles *p, const struct workloads *w, struct error *err)
{
    *p = (struct profiles){.w = w, .n_configs = w->n_configs};
    if (!columns_new(p))
        return fail_memory(err);
    for (int32_t c = 0; c < w->n_configs; c++) {
        int32_t one = on_one_card(w, c),
                from = w->profiled[one] ? one : config_nearest(w, one, w->profiled);
        int32_t tp = config_degree(w, c, KNOB_TP), pp = config_degree(w, c, KNOB_PP);
        p->fb_mib[c] = fb_mib_of(w, one, from);
        p->nic_mbps[c] = w->nic_mbps[from];
        p->storage_mbps[c] = w->storage_mbps[from];
        if (tp * pp > 1)
            p->fb_mib[c] =
                (int32_t)ceil(parallel_mem_mib(&w->parallel[w->workload[c]], p->fb_mib[c], tp, pp));
        for (int32_t k = 0; k < N_CARDS; k++) {
            struct row r = row_of(w, c, from, &card_table[k]);
            int32_t at = profile_row(p, c, k);
            p->micro_s[at] = w->value[c][KNOB_BS] / r.rate;
            if (tp * pp > 1)
                lay_out(p, c, k, &r);
#define X(name) p->m.name[at] = r.name;
            MEASURES(X)
#undef X
            p->prefill_frac[at] = r.prefill_frac;
            p->prefix_frac[at] = r.prefix_frac;
        }
    }
    return ST_OK;
}

void profiles_free(struct profiles *p)
{
    arena_free(&p->arena);
    *p = (struct profiles){0};
}

bool profile_takes_bandwidth(const struct profiles *p, int32_t workload)
{
    for (int32_t c = p->w->config_begin[workload]; c < p->w->config_begin[workload + 1]; c++)
        if (p->nic_mbps[c] > 0 || p->storage_mbps[c] > 0)
            return true;
    return false;
}

/* Is a no more than b, in whole units of a scale? What is not known is alike. */
static bool no_more(double a, double b, double scale)
{
    return !(round(a * scale) > round(b * scale));
}

static bool as_good(const struct profiles *p, int32_t card, int32_t a, int32_t b)
{
    int32_t x = profile_row(p, a, card), y = profile_row(p, b, card);
    if (workload_is_parallel(p->w, p->w->workload[a]))
        for (int k = 0; k < N_KNOBS; k++)
            if ((k == KNOB_BS || k == KNOB_TP || k == KNOB_PP) &&
                config_index(p->w, a, (enum knob)k) != config_index(p->w, b, (enum knob)k))
                return false;
    return p->m.rate[x] >= p->m.rate[y] && p->fb_mib[a] <= p->fb_mib[b] &&
           p->nic_mbps[a] <= p->nic_mbps[b] && p->storage_mbps[a] <= p->storage_mbps[b] &&
           no_more(p->m.cpu[x], p->m.cpu[y], 1e3) && no_more(p->m.ram_mib[x], p->m.ram_mib[y], 1) &&
           no_more(p->m.sm[x], p->m.sm[y], 1e6);
}

/* What is as good is transitive, so that it is enough to look at those that were left, and at those
 * still to come. */
int32_t profile_frontier(const struct profiles *p, int32_t card, int32_t *config, int32_t n,
                         int32_t keep)
{
    int32_t left = 0;
    for (int32_t i = 0; i < n; i++) {
        int32_t c = config[i];
        bool beaten = false;
        for (int32_t j = 0; j < left && !beaten; j++)
            beaten = as_good(p, card, config[j], c);
        for (int32_t j = i + 1; j < n && !beaten; j++)
            beaten = as_good(p, card, config[j], c) && !as_good(p, card, c, config[j]);
        if (!beaten || c == keep)
            config[left++] = c;
    }
    return left;
}
