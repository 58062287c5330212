/* What a pds is made of: its settings, its columns, and what it derives from profiles. */
#include "core/elastico/pds.h"

#include "core/elastico/pds_pass.h"

#include "core/cluster/waitq.h"

#include <math.h>
#include <stdlib.h>

static const char *const fixed_names[] = {"submitted", "default", NULL};
static const char *const greedy_names[] = {"pairs", "fastest", NULL};
static const char *const tau_names[] = {"floor", "paper", NULL};
static const char *const weight_names[] = {"remaining", "arrival", NULL};
static const char *const without_names[] = {"none", "rst", "esp", "iac", "pds", NULL};

const char *const pds_tables[] = {"profiling.store", NULL};

#define C struct pds_config
// clang-format off
const struct param pds_params[] = {
    PARAM_REAL(C, aging_s, "s", 0, 0, 1e9, "who has waited this long goes ahead of the others, and free cards are kept for him, but for who ends before he has them all; 0: nobody does [ours]"),
    PARAM_REAL(C, alpha, "1", 2, 0, 1e6, "penalty of a predicted slowdown above the tolerance [ours]"),
    PARAM_REAL(C, beta, "1", 0.5, 0, 100, "tolerance gained per unit of pressure [(11); ours]"),
    PARAM_REAL(C, beta_max, "1", 0.3, 0, 100, "most that pressure adds to the tolerance [(11); ours]"),
    PARAM_REAL(C, cost.engine_least_s, "s", 5, 0, 1e6, "restart of the smallest inference engine [§5.7]"),
    PARAM_REAL(C, cost.engine_most_s, "s", 15, 0, 1e6, "of the largest [§5.7]"),
    PARAM_REAL(C, cost.resume_least_s, "s", 15, 0, 1e6, "checkpoint and resume of the smallest training job [§5.7]"),
    PARAM_REAL(C, cost.resume_most_s, "s", 45, 0, 1e6, "of the largest [§5.7]"),
    PARAM_REAL(C, epoch_s, "s", 5, 0.001, 1e6, "between boundaries [paper: 5]"),
    PARAM_REAL(C, esp.gap_frac, "1", 0.005, 0, 1, "stop pricing when the score is this near its bound [ours]"),
    PARAM_INT(C, esp.iterations_cold, "iterations", 50, 0, 1e6, "price updates at most, at first [ours]"),
    PARAM_INT(C, esp.iterations_warm, "iterations", 5, 0, 1e6, "and from the last prices [paper: 3-5]"),
    PARAM_CHOICE(C, esp.step, esp_step_names, ESP_STEP_MIX, "price update (docs/esp.md) [paper: sqrt]"),
    PARAM_REAL(C, esp.step_first, "1", 1, 1e-9, 1e9, "eta_0 of step sqrt [ours]"),
    PARAM_REAL(C, esp.theta, "1", 1, 0.01, 2, "length of a step polyak [ours]"),
    PARAM_CHOICE(C, fixed, fixed_names, PDS_SUBMITTED, "without=rst: every job runs as submitted, or in its workload's default configuration [§5.3]"),
    PARAM_REAL(C, gamma, "1", 0, 0, 1, "part of the queue's least footprint held back [(12); ours]"),
    PARAM_REAL(C, gamma0, "1", 0.05, 0, 1e6, "penalty of any change of configuration [ours]"),
    PARAM_CHOICE(C, greedy, greedy_names, PDS_PAIRS, "without=esp: the first host that any two configurations suit, or that the fastest fits beside as he is [§5.3, §5.4 case 2]"),
    PARAM_REAL(C, horizon_s, "s", 600, 0, 1e9, "time in which a change must pay back [ours]"),
    PARAM_BOOL(C, iac.online, 0, "what is seen of a pair on a shared card corrects what is believed of it [future work iv]"),
    PARAM_REAL(C, margin, "1", 0.15, 0, 100, "a pair must be worth this much more than its host alone [ours]"),
    PARAM_REAL(C, min_rate_frac, "1", 0.5, 0, 1, "promised part of the submitted rate where a trace has none [ours]"),
    PARAM_REAL(C, profiling.each_s, "s", 240, 0.001, 1e6, "one profile takes [§4.1: 3-5 minutes]"),
    PARAM_INT(C, profiling.gpus, "GPUs", 1, 0, 100000, "outside the cluster, that profile; 0: as many as are wanted [§5.7: one]"),
    PARAM_CHOICE(C, profiling.known, lore_known_names, LORE_ALL, "the configurations profiled at first: all, or those in the store"),
    PARAM_TEXT(C, profiling.store, NULL, "CSV file of these: workload,config; without one the store is empty"),
    PARAM_CHOICE(C, profiling.what, lore_what_names, LORE_FAMILY, "what is profiled: behind what jobs arrive in the other configurations of their workload, or nothing else"),
    PARAM_INT(C, queue_depth, "jobs", 64, 0, 100000, "of the queue that are priced [ours]"),
    PARAM_INT(C, rounds, "rounds", 3, 1, 100, "of prices and penalties in a pass [paper: 2-3]"),
    PARAM_BOOL(C, skip_idle, 1, "leave out boundaries at which nothing can have changed"),
    PARAM_REAL(C, sm_overcommit, "1", 2, 0.01, 1e6, "SM time of a card that is not yet scarce [ours]"),
    PARAM_CHOICE(C, tau, tau_names, IAC_TAU_FLOOR, "tolerance by (11): with the floor that its text promises, or to the letter"),
    PARAM_REAL(C, tau_base, "1", 1.8, 1, 1e6, "slowdown that is tolerated at target utilisation [ours]"),
    PARAM_REAL(C, u_target, "1", 1, 1e-6, 1e6, "utilisation, queue included, at which nothing is added [ours]"),
    PARAM_BOOL(C, watch, 1, "pairs whose observed slowdown is above what was agreed part [§3.4]"),
    PARAM_CHOICE(C, weight, weight_names, PDS_REMAINING, "worth of a job's speed and its place in the queue: 1 / remaining work, or all alike in order of arrival [§3.2's example]"),
    PARAM_CHOICE(C, without, without_names, PDS_WHOLE, "ablation: leave out one part, as §5.3 words it"),
    PARAM_END,
};
// clang-format on
#undef C

/* Shapes: jobs that ask for the same and have the same menus. */
static bool find_shapes(struct pds *s, const struct job_table *t)
{
    int32_t n_kinds = s->menus.n_kinds, n = shapes_of(t, true, s->shape), n_slots = 64;
    if (n < 0)
        return false;
    while (n_slots < 2 * t->n_jobs && n_slots < 1 << 28)
        n_slots *= 2;
    int32_t *slot = malloc((size_t)n_slots * sizeof *slot), n_found = 0;
    int32_t *first =
        malloc(((size_t)t->n_jobs + 1) * sizeof *first); /* old shape of each new one */
    if (slot == NULL || first == NULL) {
        free(slot);
        free(first);
        return false;
    }
    for (int32_t i = 0; i < n_slots; i++)
        slot[i] = -1;
    for (int32_t job = 0; job < t->n_jobs; job++) {
        uint64_t hash = (uint64_t)(uint32_t)s->shape[job] * UINT64_C(0x9e3779b97f4a7c15);
        for (int32_t k = 0; k < n_kinds; k++)
            hash = (hash ^ (uint32_t)s->menus.of_job[(size_t)k * (size_t)t->n_jobs + (size_t)job]) *
                   UINT64_C(0x9e3779b97f4a7c15);
        uint32_t at = (uint32_t)(hash >> 32) & (uint32_t)(n_slots - 1);
        for (; slot[at] >= 0; at = (at + 1) & (uint32_t)(n_slots - 1)) {
            bool same = first[s->shape[slot[at]]] == s->shape[job];
            for (int32_t k = 0; k < n_kinds && same; k++) {
                const int32_t *menu = s->menus.of_job + (size_t)k * (size_t)t->n_jobs;
                same = menu[slot[at]] == menu[job];
            }
            if (same)
                break;
        }
        if (slot[at] >= 0) {
            s->shape[job] = s->shape[slot[at]];
        } else {
            slot[at] = job;
            first[n_found] = s->shape[job];
            s->shape[job] = n_found++;
        }
    }
    s->n_shapes = n_found;
    free(slot);
    free(first);
    return true;
}

static bool columns_new(struct pds *s, const struct view *v, struct arena *arena)
{
    size_t n = (size_t)s->n_jobs + 1;
#define COLUMN(name) ((s->name = arena_alloc(arena, n, sizeof *s->name)) != NULL)
    bool ok = COLUMN(kind) && COLUMN(option) && COLUMN(width) && COLUMN(resident) &&
              COLUMN(shape) && COLUMN(left_s) && COLUMN(tau) && COLUMN(alone) && COLUMN(aged) &&
              COLUMN(queue);
#undef COLUMN
    s->card = ok ? arena_alloc(arena, (size_t)v->cluster->n_cards + 1, sizeof *s->card) : NULL;
    if (s->card == NULL)
        return false;
    for (int32_t card = 0; card < v->cluster->n_cards; card++)
        s->card[card] = card;
    for (int32_t job = 0; job < s->n_jobs; job++) {
        s->resident[job] = -1;
        s->tau[job] = INFINITY;
        s->left_s[job] = s_of_us(job_duration_us(v->jobs, job));
    }
    return true;
}

/* Room for all that can run at once and those priced besides. */
static bool prices_new(struct pds *s, const struct view *v)
{
    struct arena *arena = &s->by_menu;
    int64_t n_rows = 1, most = 1, n = 2 * (int64_t)v->cluster->n_cards + s->config->queue_depth;
    for (int32_t i = 0; i < s->menus.n; i++) {
        int64_t items = (int64_t)s->menus.menu[i].n_options * s->menus.menu[i].n_widths;
        n_rows += items;
        most = items > most ? items : most;
    }
    n = n < s->n_jobs ? n : s->n_jobs;
    n = n > 0 ? n : 1;
    s->n_rows = (int32_t)n_rows;
    n_rows = n_rows < n * most ? n_rows : n * most + 1;
    s->row_of_menu = arena_alloc(arena, (size_t)s->menus.n + 1, sizeof *s->row_of_menu);
    s->blocked = arena_alloc(arena, (size_t)s->n_shapes + 1, sizeof *s->blocked);
    s->beside = arena_alloc(arena, (size_t)s->menus.n_options + 1, sizeof *s->beside);
    return s->row_of_menu != NULL && s->blocked != NULL && s->beside != NULL &&
           esp_init(&s->esp, (int32_t)n, (int32_t)(n * (most + 1)), (int32_t)n_rows, arena);
}

/* What the profiles tell, and all that is made of it. keep (n_configs): NULL for none. */
static enum status open_menus(struct pds *s, const struct view *v, const bool *keep,
                              struct error *err)
{
    const struct pds_config *config = s->config;
    const struct rst *rst = s->has_lore ? &s->lore.known : v->rst;
    struct menu_rules rules = {.min_rate_frac = config->min_rate_frac,
                               .keep = keep,
                               .reshape = config->without != PDS_NO_RST,
                               .as_default = config->fixed == PDS_DEFAULT,
                               .scale_exp = v->scale_exp};
    if (rst != NULL)
        TRY(menus_init(&s->menus, rst, v->jobs, v->cluster, &rules, err));
    s->has_menus = rst != NULL;
    struct belief *belief = config->without == PDS_NO_IAC ? NULL : v->belief;
    TRY(pairing_init(&s->pairing, &s->menus, belief, v->side, config->iac.online ? &s->seen : NULL,
                     config->without == PDS_NO_IAC ? INFINITY : config->tau_base + config->beta_max,
                     err));
    return find_shapes(s, v->jobs) && prices_new(s, v) ? ST_OK : fail_memory(err);
}

static void close_menus(struct pds *s)
{
    pairing_free(&s->pairing);
    menus_free(&s->menus);
    arena_free(&s->by_menu);
}

/* Which workloads take parts of what nodes declare. False when memory is out. */
static bool find_takers(struct pds *s, const struct view *v, struct arena *arena)
{
    const struct rst *rst = v->rst;
    if (rst == NULL || !cluster_has_bandwidth(v->cluster))
        return true;
    s->takes_bandwidth = arena_alloc(arena, (size_t)rst->w->n, sizeof *s->takes_bandwidth);
    for (int32_t wl = 0; s->takes_bandwidth != NULL && wl < rst->w->n; wl++)
        s->takes_bandwidth[wl] = profile_takes_bandwidth(rst->p, wl);
    return s->takes_bandwidth != NULL;
}

enum status pds_init(struct pds *s, const struct pds_config *config, const struct view *v,
                     struct arena *arena, struct error *err)
{
    *s = (struct pds){.config = config, .n_jobs = v->jobs->n_jobs, .changed = true};
    arrivals_init(&s->arrivals);
    const struct lore_config *profiling = &config->profiling;
    if (profiling->store != NULL && profiling->known == LORE_ALL)
        return fail(err, ST_USAGE,
                    "elastico.profiling.store=%s counts with elastico.profiling.known=store alone",
                    profiling->store);
    if (!columns_new(s, v, arena) || !find_takers(s, v, arena))
        return fail_memory(err);
    s->has_lore = v->rst != NULL && profiling->known == LORE_STORE;
    if (s->has_lore)
        TRY(lore_init(&s->lore, profiling, v->rst, v->jobs, v->cluster, &v->tables[0], arena, err));
    return open_menus(s, v, NULL, err);
}

void pds_free(struct pds *s)
{
    close_menus(s);
    seen_free(&s->seen);
}

void pds_adopt(struct pds *s, const struct view *v, const struct plan *p, int32_t job)
{
    struct seats at = p->at[v->jobs->task_begin[job]];
    int32_t node = seat_node(p->cluster, p->cluster->seats[at.first].where);
    int32_t kind = s->menus.kind_of_node[node], option = 0, width = 0;
    const struct menu *m = menu_of(&s->menus, s->n_jobs, kind, job);
    s->kind[job] = -1;
    if (m == NULL)
        return;
    while (option < m->n_options && s->menus.option[m->option + option].config != p->config[job])
        option++;
    while (width < m->n_widths && s->menus.width[m->width + width].n != at.n)
        width++;
    if (option == m->n_options || width == m->n_widths)
        return;
    s->kind[job] = kind;
    s->option[job] = option;
    s->width[job] = width;
}

enum status pds_learn(struct pds *s, const struct view *v, const struct plan *p, struct error *err)
{
    bool *keep = arena_alloc(v->scratch, (size_t)v->rst->w->n_configs + 1, sizeof *keep);
    if (keep == NULL)
        return fail_memory(err);
    for (int32_t j = v->running_first; j >= 0; j = v->stay[j].next)
        if (p->config[j] >= 0)
            keep[p->config[j]] = true;
    lore_settle(&s->lore);
    close_menus(s);
    TRY(open_menus(s, v, keep, err));
    for (int32_t j = v->running_first; j >= 0; j = v->stay[j].next)
        pds_adopt(s, v, p, j);
    for (int32_t i = 0; i < s->n_waiting; i++)
        s->queue[i].shape = s->shape[s->queue[i].job];
    return ST_OK;
}
