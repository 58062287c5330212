#include "core/elastico/lore.h"

#include <string.h>

const char *const lore_known_names[] = {"all", "store", NULL};
const char *const lore_what_names[] = {"family", "arrived", NULL};

enum { CARD_MIB = 40960 }; /* of a card whose memory nobody tells */

#define NEW(p, n) (((p) = arena_alloc(arena, (size_t)(n) + 1, sizeof *(p))) != NULL)

static bool columns_new(struct lore *l, int32_t n_jobs, struct arena *arena)
{
    int32_t n = l->truth->w->n_configs;
    return NEW(l->state, n) && NEW(l->profiled, n) && NEW(l->family, n) && NEW(l->left, n) &&
           NEW(l->stand_in, n) && NEW(l->n_missed, n) && NEW(l->arrived_us, n) &&
           NEW(l->end_us, n) && NEW(l->wanted.config, n) && NEW(l->families.config, n) &&
           NEW(l->running.config, n) && NEW(l->needed, n_jobs) && NEW(l->rate, n_jobs) &&
           NEW(l->mem_mib, n_jobs);
}

static int32_t largest_card(const struct rst *r, const struct cluster *c)
{
    int32_t most = 0;
    for (int32_t node = 0; node < c->n_nodes; node++) {
        int32_t type = c->node_type[node];
        bool known = type < 0 || r->card_of_type[type] >= 0;
        for (int32_t card = c->node_card[node]; known && card < c->node_card[node + 1]; card++)
            if (c->card_gpu_mem_mib[card] > most)
                most = c->card_gpu_mem_mib[card];
    }
    return most;
}

/* Can it run, and on some card of the cluster? */
static bool able(const struct lore *l, int32_t config)
{
    const struct profiles *p = l->truth->p;
    return p->m.rate[profile_row(p, config, CARD_REFERENCE)] > 0 &&
           p->fb_mib[config] <= l->most_mib;
}

static int32_t needed_of(const struct lore *l, int32_t job)
{
    const struct rst *r = l->truth;
    int32_t own = r->submitted[job];
    return own < 0 || rst_mem_mib(r, job, own) <= l->most_mib ? own : rst_smallest(r, job);
}

/* The configuration that a row of the store means. */
static enum status read_pair(const struct lore *l, const struct table *t, int32_t row,
                             const int32_t column[2], int32_t *config, struct error *err)
{
    const struct workloads *w = l->truth->w;
    const char *name = table_cell(t, row, column[0]), *text = table_cell(t, row, column[1]);
    char shown[96];
    bool exact = false;
    int32_t wl = workload_find(w, name, strlen(name));
    if (wl < 0)
        return fail(err, ST_INPUT, "%s:%lld: column workload: '%s' is not in the catalog", t->path,
                    (long long)t->line[row], name);
    *config = config_parse(w, wl, text, strlen(text), &exact);
    if (*config < 0 || !exact)
        return fail(err, ST_INPUT,
                    "%s:%lld: column config: '%s' is none of %s's, want such as '%s'", t->path,
                    (long long)t->line[row], text, name, config_text(w, w->initial[wl], shown));
    return ST_OK;
}

static enum status read_store(struct lore *l, const struct table *t, struct error *err)
{
    const int32_t column[2] = {table_column(t, "workload"), table_column(t, "config")};
    if (t->n_columns > 0 && (column[0] < 0 || column[1] < 0))
        return fail(err, ST_INPUT, "%s:1: want the columns workload and config", t->path);
    for (int32_t row = 0; row < t->n_rows; row++) {
        int32_t config = -1;
        TRY(read_pair(l, t, row, column, &config, err));
        l->profiled[config] = able(l, config);
        l->state[config] = LORE_PROFILED;
    }
    return ST_OK;
}

enum status lore_init(struct lore *l, const struct lore_config *config, const struct rst *rst,
                      const struct job_table *t, const struct cluster *c, const struct table *store,
                      struct arena *arena, struct error *err)
{
    *l = (struct lore){.config = config, .truth = rst, .known = *rst, .n_jobs = t->n_jobs};
    if (!columns_new(l, t->n_jobs, arena))
        return fail_memory(err);
    int32_t most = largest_card(rst, c);
    l->most_mib = most == INT32_MAX ? most : most - MEM_SYSTEM_MIB;
    for (int32_t job = 0; job < t->n_jobs; job++)
        l->needed[job] = needed_of(l, job);
    l->known.stand_in = l->stand_in;
    l->known.rate = l->rate;
    l->known.mem_mib = l->mem_mib;
    TRY(read_store(l, store, err));
    lore_settle(l);
    return ST_OK;
}

static void push(struct lore_line *line, int32_t config) { line->config[line->end++] = config; }

/* The next one to be profiled; -1 where there is none. */
static int32_t pop(struct lore *l)
{
    if (l->wanted.next < l->wanted.end)
        return l->wanted.config[l->wanted.next++];
    while (l->families.next < l->families.end) {
        int32_t config = l->families.config[l->families.next++];
        if (l->state[config] == LORE_IN_FAMILY) /* else some job came in it meanwhile */
            return config;
    }
    return -1;
}

/* GPUs that are free from this time on take the next ones. */
static void fill_gpus(struct lore *l, int64_t from_us)
{
    while (l->config->gpus == 0 || l->running.end - l->running.next < l->config->gpus) {
        int32_t config = pop(l);
        if (config < 0)
            return;
        l->end_us[config] = from_us + us_of_s(l->config->each_s);
        l->state[config] = LORE_ON_GPU;
        push(&l->running, config);
    }
}

void lore_advance(struct lore *l, int64_t now_us)
{
    while (lore_next_us(l) <= now_us) {
        int32_t config = l->running.config[l->running.next++];
        l->state[config] = LORE_PROFILED;
        l->profiled[config] = l->news = true;
        l->n_waited += l->n_missed[config];
        l->waited_s += s_of_us(l->n_missed[config] * l->end_us[config] - l->arrived_us[config]);
        fill_gpus(l, l->end_us[config]);
    }
}

/* Asks for the others of a family, nearest first. */
static void ask_family(struct lore *l, int32_t config)
{
    const struct workloads *w = l->truth->w;
    int32_t wl = w->workload[config], length = config_index(w, config, KNOB_SL), c;
    int32_t begin = w->config_begin[wl], end = w->config_begin[wl + 1];
    if (l->config->what != LORE_FAMILY || l->family[config_with(w, begin, KNOB_SL, length)])
        return;
    l->family[config_with(w, begin, KNOB_SL, length)] = true;
    for (c = begin; c < end; c++)
        l->left[c] =
            l->state[c] == LORE_UNASKED && config_index(w, c, KNOB_SL) == length && able(l, c);
    while ((c = config_nearest(w, config, l->left)) >= 0) {
        l->left[c] = false;
        l->state[c] = LORE_IN_FAMILY;
        push(&l->families, c);
    }
}

void lore_ask(struct lore *l, int32_t job, int64_t now_us)
{
    int32_t config = l->needed[job];
    if (config < 0)
        return;
    if (l->state[config] == LORE_UNASKED || l->state[config] == LORE_IN_FAMILY) {
        l->state[config] = LORE_WANTED;
        push(&l->wanted, config);
    }
    ask_family(l, config);
    fill_gpus(l, now_us);
}

void lore_arrive(struct lore *l, int32_t job, int64_t now_us)
{
    int32_t config = l->needed[job];
    if (config < 0)
        return;
    if (l->state[config] == LORE_PROFILED) {
        l->n_hits++;
    } else {
        l->n_misses++;
        l->n_missed[config]++;
        l->arrived_us[config] += now_us;
    }
    lore_ask(l, job, now_us);
}

/* What the job's configuration is taken for as long as it was not profiled. */
static void stand_in(struct lore *l, int32_t job)
{
    const struct rst *r = l->truth;
    const struct profiles *p = r->p;
    int32_t own = r->submitted[job];
    l->rate[job] = r->rate[job];
    l->mem_mib[job] = r->mem_mib[job];
    if (own < 0 || own != l->needed[job] || l->profiled[own])
        return;
    int32_t from = l->stand_in[own] = config_nearest(r->w, own, l->profiled);
    if (from >= 0 && r->asked[job] == 0) /* layouts are closed forms */
        l->rate[job] = p->m.rate[profile_row(p, from, r->card[job])];
    if (r->mem_mib[job] != p->fb_mib[own]) /* the trace tells */
        return;
    int32_t most = l->most_mib == INT32_MAX ? CARD_MIB - MEM_SYSTEM_MIB : l->most_mib;
    int32_t mib = from < 0 ? most : profile_neighbours_mib(r->w, from, l->profiled, p->fb_mib);
    l->mem_mib[job] = mib < most ? mib : most;
}

void lore_settle(struct lore *l)
{
    for (int32_t c = 0; c < l->truth->w->n_configs; c++)
        l->stand_in[c] = l->profiled[c] ? c : -1;
    for (int32_t job = 0; job < l->n_jobs; job++)
        stand_in(l, job);
    l->news = false;
}

double lore_gpu_s(const struct lore *l, int64_t now_us)
{
    int64_t each_us = us_of_s(l->config->each_s), sum_us = each_us * l->running.next;
    for (int32_t i = l->running.next; i < l->running.end; i++)
        sum_us += now_us - (l->end_us[l->running.config[i]] - each_us);
    return s_of_us(sum_us);
}

int32_t lore_next(const struct lore *l, int32_t most, int32_t *config)
{
    const struct lore_line *line[] = {&l->running, &l->wanted, &l->families};
    int32_t n = 0;
    for (int k = 0; k < 3; k++)
        for (int32_t i = line[k]->next; i < line[k]->end && n < most; i++)
            if (k < 2 || l->state[line[k]->config[i]] == LORE_IN_FAMILY)
                config[n++] = line[k]->config[i];
    return n;
}
