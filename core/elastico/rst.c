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
    int32_t *workload_of;          /* (names of the job table) -1 none */
    int32_t first_card;            /* of the cluster, of a known type; else CARD_REFERENCE */
    int32_t card_mem_mib[N_CARDS]; /* the largest of the cluster's; else the type's */
    struct peak {                  /* (workloads) the last one looked for */
        int32_t length, card, config;
    } * peak;
};

#define NEW(p, n, arena) (((p) = arena_alloc(arena, (size_t)(n), sizeof *(p))) != NULL)

static bool columns_new(struct rst *r, struct binding *b, struct arena *scratch)
{
    int32_t n = b->t->n_jobs;
    return NEW(r->card_of_type, b->c->gpu_types.n, &r->arena) && NEW(r->workload, n, &r->arena) &&
           NEW(r->submitted, n, &r->arena) && NEW(r->card, n, &r->arena) &&
           NEW(r->rate, n, &r->arena) && NEW(r->mem_mib, n, &r->arena) &&
           NEW(b->workload_of, b->t->names.n, scratch) && NEW(b->peak, r->w->n, scratch);
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

static void bind_cards(struct binding *b)
{
    const struct cluster *c = b->c;
    b->first_card = -1;
    for (int32_t k = 0; k < N_CARDS; k++)
        b->card_mem_mib[k] = 0;
    for (int32_t node = 0; node < c->n_nodes; node++) {
        int32_t card = c->node_type[node] < 0 ? -1 : b->r->card_of_type[c->node_type[node]];
        int32_t gpu = c->node_card[node];
        if (card < 0 || gpu == c->node_card[node + 1])
            continue;
        if (b->first_card < 0)
            b->first_card = card;
        if (c->card_gpu_mem_mib[gpu] > b->card_mem_mib[card])
            b->card_mem_mib[card] = c->card_gpu_mem_mib[gpu];
    }
    if (b->first_card < 0)
        b->first_card = CARD_REFERENCE;
    for (int32_t k = 0; k < N_CARDS; k++)
        if (b->card_mem_mib[k] == 0)
            b->card_mem_mib[k] = gpu_type_mem_mib(card_table[k].name);
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

/* Is a the better peak: faster, else smaller, else the lower number? */
static bool better(const struct profiles *p, int32_t card, int32_t a, int32_t b)
{
    double x = p->m.rate[profile_row(p, a, card)], y = p->m.rate[profile_row(p, b, card)];
    return x != y ? x > y : p->fb_mib[a] < p->fb_mib[b];
}

/* The fastest configuration of these sequences that fits; the one given where none does. */
static int32_t peak_of(struct binding *b, int32_t given, int32_t card)
{
    const struct workloads *w = b->r->w;
    const struct profiles *p = b->r->p;
    int32_t wl = w->workload[given], length = config_index(w, given, KNOB_SL), best = -1;
    struct peak *known = &b->peak[wl];
    if (known->length == length && known->card == card)
        return known->config;
    for (int32_t c = w->config_begin[wl]; c < w->config_begin[wl + 1]; c++)
        if (config_index(w, c, KNOB_SL) == length &&
            p->fb_mib[c] <= b->card_mem_mib[card] - MEM_SYSTEM_MIB &&
            p->m.rate[profile_row(p, c, card)] > 0 && (best < 0 || better(p, card, c, best)))
            best = c;
    *known = (struct peak){length, card, best < 0 ? given : best};
    return known->config;
}

static void bind_job(struct binding *b, int32_t job)
{
    struct rst *r = b->r;
    const struct job_table *t = b->t;
    int32_t asked_mib = 0;
    bool exact = true;
    r->workload[job] = r->submitted[job] = r->card[job] = -1;
    if (job_gpu_milli(t, job) == 0)
        return;
    int32_t wl = t->workload[job] < 0 ? -1 : b->workload_of[t->workload[job]];
    r->n_outside += wl < 0;
    if (wl < 0)
        return;
    int32_t config = r->w->initial[wl], listed = t->config[job];
    if (listed >= 0) {
        int32_t found = config_parse(r->w, wl, names_text(&t->names, listed),
                                     names_length(&t->names, listed), &exact);
        r->n_unlisted += found < 0 || !exact;
        config = found < 0 ? config : found;
    }
    r->workload[job] = wl;
    r->card[job] = reference_card(b, job);
    if (b->submitted == SUBMITTED_DEFAULT)
        config = config_with(r->w, r->w->initial[wl], KNOB_SL, config_index(r->w, config, KNOB_SL));
    if (b->submitted == SUBMITTED_PEAK)
        config = peak_of(b, config, r->card[job]);
    r->submitted[job] = config;
    r->rate[job] = r->p->m.rate[profile_row(r->p, config, r->card[job])];
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

int32_t rst_smallest(const struct rst *r, int32_t job)
{
    const struct workloads *w = r->w;
    int32_t wl = r->workload[job], best = -1, length = config_index(w, r->submitted[job], KNOB_SL);
    for (int32_t c = w->config_begin[wl]; c < w->config_begin[wl + 1]; c++) {
        if (config_index(w, c, KNOB_SL) != length || !rst_profiled(r, c) ||
            !(rst_speed(r, job, c, r->card[job]) > 0))
            continue;
        int32_t less = best < 0 ? -1 : rst_mem_mib(r, job, c) - rst_mem_mib(r, job, best);
        if (less < 0 || (less == 0 && better(r->p, r->card[job], c, best)))
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
           rate > 0 && rate >= min_rate_frac * r->rate[job];
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
