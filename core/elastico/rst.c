#include "core/elastico/rst.h"

#include "core/cluster/gpus.h"

#include <assert.h>
#include <math.h>

const char *const submitted_names[] = {"peak", "listed", "default", NULL};

/* While the jobs are bound to the catalog. */
struct binding {
    struct rst *r;
    const struct job_table *t;
    const struct cluster *c;
    enum submitted submitted;
    int32_t *workload_of; /* (names of the job table) -1 none */
    int32_t first_card;   /* of the cluster, of a known type; else CARD_REFERENCE */
    struct peak {         /* (workloads) the last one looked for */
        int32_t length, card, asked, config;
    } * peak;
};

#define NEW(p, n, arena) (((p) = arena_alloc(arena, (size_t)(n), sizeof *(p))) != NULL)

static bool columns_new(struct rst *r, struct binding *b, struct arena *scratch)
{
    int32_t n = b->t->n_jobs;
    return NEW(r->card_of_type, b->c->gpu_types.n, &r->arena) && NEW(r->workload, n, &r->arena) &&
           NEW(r->asked, n, &r->arena) && NEW(r->submitted, n, &r->arena) &&
           NEW(r->card, n, &r->arena) && NEW(r->rate, n, &r->arena) &&
           NEW(r->mem_mib, n, &r->arena) && NEW(b->workload_of, b->t->names.n, scratch) &&
           NEW(b->peak, r->w->n, scratch);
}

static void bind_names(struct binding *b)
{
    const struct names *names = &b->t->names, *types = &b->c->gpu_types;
    for (int32_t i = 0; i < names->n; i++)
        b->workload_of[i] = workload_find(b->r->w, names_text(names, i), names_length(names, i));
    for (int32_t i = 0; i < types->n; i++)
        b->r->card_of_type[i] = card_find(names_text(types, i));
    for (int32_t w = 0; w < b->r->w->n; w++)
        b->peak[w].length = -1;
}

/* What a card of this node reaches. */
static struct links links_of(const struct cluster *c, int32_t node, int32_t card)
{
    struct links l = card_links(card);
    double bytes_s = 1e6 / 8; /* of a Mbit/s */
    if (c->node_link_mbps[node] > 0)
        l.card = LINK_EFF * bytes_s * c->node_link_mbps[node];
    if (c->node_nic_mbps[node] > 0)
        l.nic = NIC_EFF * bytes_s * c->node_nic_mbps[node] / (c->node_gpu_milli[node] / 1000.0);
    return l;
}

static void note_node(struct rst *r, const struct cluster *c, int32_t node, int32_t card)
{
    int32_t n_cards = c->node_gpu_milli[node] / 1000;
    if (card < 0)
        return;
    struct links l = links_of(c, node, card), *slowest = &r->links[card];
    bool first = r->node_cards[card] == 0;
    slowest->card = first || l.card < slowest->card ? l.card : slowest->card;
    slowest->nic = first || l.nic < slowest->nic ? l.nic : slowest->nic;
    r->node_cards[card] = n_cards > r->node_cards[card] ? n_cards : r->node_cards[card];
}

static void bind_cards(struct binding *b)
{
    const struct cluster *c = b->c;
    struct rst *r = b->r;
    b->first_card = -1;
    for (int32_t node = 0; node < c->n_nodes; node++) {
        int32_t card = c->node_type[node] < 0 ? -1 : r->card_of_type[c->node_type[node]];
        int32_t gpu = c->node_card[node], n_cards = c->node_gpu_milli[node] / 1000;
        if (n_cards > 0)
            note_node(r, c, node, card < 0 && c->node_type[node] < 0 ? CARD_REFERENCE : card);
        if (card < 0 || gpu == c->node_card[node + 1])
            continue;
        if (b->first_card < 0)
            b->first_card = card;
        if (c->card_gpu_mem_mib[gpu] > r->card_mem_mib[card])
            r->card_mem_mib[card] = c->card_gpu_mem_mib[gpu];
    }
    if (b->first_card < 0)
        b->first_card = CARD_REFERENCE;
    for (int32_t k = 0; k < N_CARDS; k++) {
        if (r->card_mem_mib[k] == 0)
            r->card_mem_mib[k] = gpu_type_mem_mib(card_table[k].name);
        if (r->node_cards[k] == 0) {
            r->node_cards[k] = PARALLEL_NODE;
            r->links[k] = card_links(k);
        }
    }
}

static int32_t reference_card(const struct binding *b, int32_t job)
{
    for (int32_t k = b->t->task_begin[job]; k < b->t->task_begin[job + 1]; k++)
        if (b->t->gpu_milli[k] > 0 && b->t->gpu_type[k] >= 0) {
            int32_t card = card_find(names_text(&b->t->names, b->t->gpu_type[k]));
            if (card >= 0)
                return card;
        }
    return b->first_card;
}

static double packed_rate(const struct rst *r, int32_t config, int32_t card, int32_t n)
{
    return profile_packed_rate(r->p, config, card, n, r->node_cards[card], &r->links[card]);
}

/* T of a configuration of these sequences, on so many cards where it has layouts. */
static double rate_on(const struct rst *r, int32_t config, int32_t card, int32_t asked)
{
    return asked > 0 ? packed_rate(r, config, card, asked)
                     : r->p->m.rate[profile_row(r->p, config, card)];
}

/* Is a the better peak: faster, else smaller, else the lower number? */
static bool better(const struct rst *r, int32_t card, int32_t asked, int32_t a, int32_t b)
{
    double x = rate_on(r, a, card, asked), y = rate_on(r, b, card, asked);
    return x != y ? x > y : r->p->fb_mib[a] < r->p->fb_mib[b];
}

/* The fastest configuration of these sequences that fits; the one given where none does. */
static int32_t peak_of(struct binding *b, int32_t given, int32_t card, int32_t asked)
{
    const struct workloads *w = b->r->w;
    const struct profiles *p = b->r->p;
    int32_t wl = w->workload[given], length = config_index(w, given, KNOB_SL), best = -1;
    struct peak *known = &b->peak[wl];
    if (known->length == length && known->card == card && known->asked == asked)
        return known->config;
    for (int32_t c = w->config_begin[wl]; c < w->config_begin[wl + 1]; c++)
        if (config_index(w, c, KNOB_SL) == length &&
            p->fb_mib[c] <= b->r->card_mem_mib[card] - MEM_SYSTEM_MIB &&
            rate_on(b->r, c, card, asked) > 0 && (best < 0 || better(b->r, card, asked, c, best)))
            best = c;
    *known = (struct peak){length, card, asked, best < 0 ? given : best};
    return known->config;
}

static void bind_job(struct binding *b, int32_t job)
{
    struct rst *r = b->r;
    const struct job_table *t = b->t;
    int32_t asked_mib = 0;
    bool exact = true, unlisted = false;
    r->workload[job] = r->submitted[job] = r->card[job] = -1;
    if (job_gpu_milli(t, job) == 0)
        return;
    int32_t wl = t->workload[job] < 0 ? -1 : b->workload_of[t->workload[job]];
    if (wl >= 0 && workload_is_parallel(r->w, wl)) {
        int32_t task = t->task_begin[job];
        bool whole = t->gpu_milli[task] % 1000 == 0 && task + 1 == t->task_begin[job + 1];
        r->asked[job] = whole ? t->n_inst[task] * (t->gpu_milli[task] / 1000) : 0;
        wl = whole ? wl : -1;
    }
    r->n_outside += wl < 0;
    if (wl < 0)
        return;
    int32_t config = r->w->initial[wl], listed = t->config[job];
    if (listed >= 0) {
        int32_t found = config_parse(r->w, wl, names_text(&t->names, listed),
                                     names_length(&t->names, listed), &exact);
        unlisted = found < 0 || !exact;
        config = found < 0 ? config : found;
    }
    r->workload[job] = wl;
    r->card[job] = reference_card(b, job);
    if (b->submitted == SUBMITTED_DEFAULT)
        config = config_with(r->w, r->w->initial[wl], KNOB_SL, config_index(r->w, config, KNOB_SL));
    bool laid = r->asked[job] == 0 || packed_rate(r, config, r->card[job], r->asked[job]) > 0;
    r->n_unlisted += unlisted || (listed >= 0 && !laid);
    if (b->submitted == SUBMITTED_PEAK || !laid)
        config = peak_of(b, config, r->card[job], r->asked[job]);
    r->submitted[job] = config;
    r->rate[job] = rate_on(r, config, r->card[job], r->asked[job]);
    if (r->asked[job] > 0 && !(r->rate[job] > 0)) {
        r->workload[job] = r->submitted[job] = r->card[job] = -1;
        r->asked[job] = 0;
        r->n_outside++;
        return;
    }
    for (int32_t k = t->task_begin[job]; k < t->task_begin[job + 1]; k++)
        if (t->gpu_milli[k] > 0 && t->gpu_mem_mib[k] > asked_mib)
            asked_mib = t->gpu_mem_mib[k];
    r->mem_mib[job] = asked_mib > 0 ? asked_mib : r->p->fb_mib[config];
}

enum status rst_init(struct rst *r, const struct profiles *p, const struct job_table *t,
                     const struct cluster *c, enum submitted submitted, struct error *err)
{
    struct arena scratch = {0};
    enum status status = ST_OK;
    *r = (struct rst){.w = p->w, .p = p};
    struct binding b = {.r = r, .t = t, .c = c, .submitted = submitted};
    if (!columns_new(r, &b, &scratch)) {
        status = fail_memory(err);
        goto out;
    }
    bind_names(&b);
    bind_cards(&b);
    for (int32_t job = 0; job < t->n_jobs; job++) {
        bind_job(&b, job);
        if (r->submitted[job] >= 0 && !(r->rate[job] > 0)) {
            char text[96];
            status = fail(err, ST_USAGE, "workload %s: nothing can run as %s",
                          names_text(&r->w->names, r->workload[job]),
                          config_text(r->w, r->submitted[job], text));
            goto out;
        }
    }
out:
    arena_free(&scratch);
    return status;
}

void rst_free(struct rst *r)
{
    arena_free(&r->arena);
    *r = (struct rst){0};
}

double rst_width_speed(const struct rst *r, int32_t job, int32_t n, int32_t n0, double scale_exp)
{
    double measured = r->workload[job] < 0 ? NAN : workload_scaling(r->w, r->workload[job], n, n0);
    return isnan(measured) ? pow((double)n / n0, scale_exp) : measured;
}

double rst_packed_speed(const struct rst *r, int32_t job, int32_t config, int32_t card, int32_t n)
{
    return packed_rate(r, config, card, n) / r->rate[job];
}

/* The gang of some seats, node by node. */
struct gathered {
    struct degrees d;
    struct footprint f;
    struct links links; /* the slowest */
    double micro_s;     /* likewise */
    int32_t n_left;     /* cards that still belong to replicas */
};

/* Adds the cards that a job has on one node. */
static void gather_node(struct gathered *g, const struct rst *r, const struct cluster *c,
                        int32_t job, int32_t config, int32_t node, int32_t n)
{
    int32_t card = rst_card(r, c, job, node);
    struct links l = links_of(c, node, card);
    double micro_s = r->p->micro_s[profile_row(r->p, config, card)];
    n = n < g->n_left ? n : g->n_left;
    if (n == 0)
        return;
    g->links.card = fmin(g->links.card, l.card);
    g->links.nic = fmin(g->links.nic, l.nic);
    g->micro_s = fmax(g->micro_s, micro_s);
    g->n_left -= n;
    footprint_add(&g->f, g->d, n);
}

static int32_t node_of_seat(const struct cluster *c, int32_t seat)
{
    return seat_node(c, c->seats[seat].where);
}

/* Has a seat before this one the same node? */
static bool node_seen(const struct cluster *c, int32_t first, int32_t seat)
{
    int32_t node = node_of_seat(c, seat), i = first;
    while (node_of_seat(c, i) != node)
        i++;
    return i < seat;
}

double rst_placed_speed(const struct rst *r, const struct cluster *c, const struct job_table *t,
                        int32_t job, int32_t config, int32_t first_seat, int32_t n_seats,
                        bool *proper)
{
    int32_t each = c->share == SHARE_CARD ? 1 : t->gpu_milli[t->task_begin[job]] / 1000;
    int32_t n = n_seats * each, end = first_seat + n_seats;
    struct gathered g = {.d = profile_degrees(r->p, config, n), .links = {INFINITY, INFINITY}};
    int32_t size = g.d.tp * g.d.pp, whole = g.d.dp * size;
    double turns = whole > 0 ? 1 : (double)n / size;
    g.d.dp = whole > 0 ? g.d.dp : 1;
    g.n_left = whole > 0 ? whole : n;
    for (int32_t i = first_seat; i < end; i++) {
        int32_t node = node_of_seat(c, i), here = 0;
        if (i > first_seat && (node == node_of_seat(c, i - 1) || node_seen(c, first_seat, i)))
            continue;
        for (int32_t k = i; k < end; k++)
            here += node_of_seat(c, k) == node;
        gather_node(&g, r, c, job, config, node, here * each);
    }
    bool spans = r->w->parallel[r->w->workload[config]].tp_spans > 0;
    *proper = whole == n && (spans || !g.f.tp_leaves);
    return turns * profile_laid_rate(r->p, config, g.d, g.micro_s, &g.links, &g.f) / r->rate[job];
}

int32_t rst_narrowest(const struct rst *r, const struct job_table *t, int32_t job, int32_t *config)
{
    int32_t wl = r->workload[job], card = r->card[job], most_mib = r->card_mem_mib[card];
    *config = r->submitted[job];
    for (int32_t n = t->gpu_min[job]; n <= t->gpu_max[job]; n++)
        for (int32_t c = r->w->config_begin[wl]; c < r->w->config_begin[wl + 1]; c++)
            if (rst_mem_mib(r, job, c) <= most_mib - MEM_SYSTEM_MIB &&
                packed_rate(r, c, card, n) > 0) {
                *config = c;
                return n;
            }
    return t->gpu_min[job];
}

int32_t rst_smallest(const struct rst *r, int32_t job)
{
    const struct workloads *w = r->w;
    int32_t wl = r->workload[job], best = -1, length = config_index(w, r->submitted[job], KNOB_SL);
    for (int32_t c = w->config_begin[wl]; c < w->config_begin[wl + 1]; c++) {
        if (config_index(w, c, KNOB_SL) != length || !rst_profiled(r, c) ||
            !(rst_speed(r, job, c, r->card[job]) > 0))
            continue;
        int32_t less = best < 0 ? -1 : rst_mem_mib(r, job, c) - rst_mem_mib(r, job, best);
        if (less < 0 || (less == 0 && better(r, r->card[job], r->asked[job], c, best)))
            best = c;
    }
    return best;
}

bool rst_feasible(const struct rst *r, int32_t job, int32_t config, int32_t card,
                  int32_t card_mem_mib, double min_rate_frac)
{
    const struct workloads *w = r->w;
    if (!rst_profiled(r, config))
        return false;
    double rate = r->p->m.rate[rst_row(r, job, config, card)];
    return rst_mem_mib(r, job, config) <= card_mem_mib - MEM_SYSTEM_MIB &&
           config_index(w, config, KNOB_SL) >= config_index(w, r->submitted[job], KNOB_SL) &&
           rate > 0 && (r->asked[job] > 0 || rate >= min_rate_frac * r->rate[job]);
}

int32_t rst_candidates(const struct rst *r, int32_t job, int32_t card, int32_t card_mem_mib,
                       double min_rate_frac, int32_t keep, int32_t *out)
{
    const struct workloads *w = r->w;
    int32_t wl = r->workload[job], n = 0, length = config_index(w, r->submitted[job], KNOB_SL);
    assert(keep < 0 || config_index(w, keep, KNOB_SL) == length);
    for (int32_t c = w->config_begin[wl]; c < w->config_begin[wl + 1]; c++)
        if (config_index(w, c, KNOB_SL) == length &&
            (c == keep || rst_feasible(r, job, c, card, card_mem_mib, min_rate_frac)))
            out[n++] = c;
    return profile_frontier(r->p, card, out, n, keep);
}
