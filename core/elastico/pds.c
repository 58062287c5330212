#include "core/elastico/pds.h"

#include "core/elastico/pds_pass.h"

#include "core/cluster/waitq.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char *const tau_names[] = {"floor", "paper", NULL};
static const char *const weight_names[] = {"remaining", "arrival", NULL};
static const char *const without_names[] = {"none", "rst", "esp", "iac", "pds", NULL};

#define C struct pds_config
// clang-format off
const struct param pds_params[] = {
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
    PARAM_REAL(C, gamma, "1", 0, 0, 1, "part of the queue's least footprint held back [(12); ours]"),
    PARAM_REAL(C, gamma0, "1", 0.05, 0, 1e6, "penalty of any change of configuration [ours]"),
    PARAM_REAL(C, horizon_s, "s", 600, 0, 1e9, "time in which a change must pay back [ours]"),
    PARAM_REAL(C, margin, "1", 0.15, 0, 100, "a pair must be worth this much more than its host alone [ours]"),
    PARAM_REAL(C, min_rate_frac, "1", 0.5, 0, 1, "promised part of the submitted rate where a trace has none [ours]"),
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
              COLUMN(shape) && COLUMN(left_s) && COLUMN(tau) && COLUMN(alone) && COLUMN(queue);
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
static bool prices_new(struct pds *s, const struct view *v, struct arena *arena)
{
    int64_t n_rows = 1, most = 1, n = 2 * (int64_t)v->cluster->n_cards + s->config->queue_depth;
    for (int32_t i = 0; i < s->menus.n; i++) {
        int64_t items = (int64_t)s->menus.menu[i].n_options * s->menus.menu[i].n_widths;
        n_rows += items;
        most = items > most ? items : most;
    }
    n = n < s->n_jobs ? n : s->n_jobs;
    n = n > 0 ? n : 1;
    s->most_options = (int32_t)most + 1;
    n_rows = n_rows < n * most ? n_rows : n * most + 1;
    s->row_of_menu = arena_alloc(arena, (size_t)s->menus.n + 1, sizeof *s->row_of_menu);
    s->blocked = arena_alloc(arena, (size_t)s->n_shapes + 1, sizeof *s->blocked);
    return s->row_of_menu != NULL && s->blocked != NULL &&
           esp_init(&s->esp, (int32_t)n, (int32_t)(n * (most + 1)), (int32_t)n_rows, arena);
}

enum status pds_init(struct pds *s, const struct pds_config *config, const struct view *v,
                     struct arena *arena, struct error *err)
{
    *s = (struct pds){.config = config, .n_jobs = v->jobs->n_jobs, .changed = true};
    if (!columns_new(s, v, arena))
        return fail_memory(err);
    struct menu_rules rules = {.min_rate_frac = config->min_rate_frac,
                               .reshape = config->without != PDS_NO_RST,
                               .scale_exp = v->scale_exp};
    if (v->rst != NULL)
        TRY(menus_init(&s->menus, v->rst, v->jobs, v->cluster, &rules, err));
    s->has_menus = v->rst != NULL;
    struct belief *belief = config->without == PDS_NO_IAC ? NULL : v->belief;
    TRY(pairing_init(&s->pairing, &s->menus, belief, v->side,
                     config->without == PDS_NO_IAC ? INFINITY : config->tau_base + config->beta_max,
                     err));
    if (!find_shapes(s, v->jobs) || !prices_new(s, v, arena))
        return fail_memory(err);
    return ST_OK;
}

void pds_free(struct pds *s)
{
    pairing_free(&s->pairing);
    menus_free(&s->menus);
}

static bool before(const struct pds_waiting *x, const struct pds_waiting *y)
{
    return x->key != y->key ? x->key < y->key : x->job < y->job;
}

static void enqueue(struct pds *s, const struct view *v, int32_t job)
{
    struct pds_waiting w = {.job = job, .shape = s->shape[job]};
    w.key = s->config->weight == PDS_ARRIVAL ? (double)v->jobs->submit_us[job]
                                             : (double)job_gpu_milli(v->jobs, job) * s->left_s[job];
    int32_t lo = 0, hi = s->n_waiting;
    while (lo < hi) {
        int32_t middle = lo + (hi - lo) / 2;
        if (before(&s->queue[middle], &w))
            lo = middle + 1;
        else
            hi = middle;
    }
    memmove(s->queue + lo + 1, s->queue + lo, (size_t)(s->n_waiting - lo) * sizeof *s->queue);
    s->queue[lo] = w;
    s->n_waiting++;
    s->asked_milli += job_gpu_milli(v->jobs, job);
}

/* GPUs asked for by the queue over all. */
static double asked(const struct pass *a)
{
    int64_t all_milli = a->p->cluster->gpu_milli;
    return all_milli > 0 ? (double)a->s->asked_milli / (double)all_milli : 0;
}

/* (in use + asked for by the queue) / all. */
static double pressure(const struct pass *a)
{
    const struct cluster *c = a->p->cluster;
    return c->gpu_milli > 0 ? (double)c->gpu_held_milli / (double)c->gpu_milli + asked(a) : 0;
}

static bool add_couple(struct pass *a, int32_t i, int32_t k)
{
    for (int32_t n = a->n_couples; n > 0 && a->couple[n - 1].a == i; n--)
        if (a->couple[n - 1].b == k)
            return false;
    a->couple[a->n_couples++] = (struct couple){i, k};
    return true;
}

/* Who shares with whom, and what it is believed to cost. */
static void find_couples(struct pass *a)
{
    for (int32_t i = 0; i < a->n; i++) {
        struct resident *r = &a->resident[i];
        for (int32_t c = 0; c < r->n_cards; c++) {
            int32_t other = pass_neighbour(a, r->job, pass_card(a, r->job, c));
            int32_t k = other < 0 ? -1 : a->s->resident[other];
            if (other >= 0)
                r->shares = true;
            if (k <= i || !add_couple(a, i, k))
                continue;
            struct resident *q = &a->resident[k];
            double s[2];
            pass_slowdowns(a, r->menu, r->option, q->menu, q->option, s);
            r->s = s[0] > r->s ? s[0] : r->s;
            q->s = s[1] > q->s ? s[1] : q->s;
        }
    }
}

/* The running jobs of the catalog as they are. */
static bool gather(struct pass *a, bool fresh)
{
    struct pds *s = a->s;
    const struct job_table *t = a->v->jobs;
    int32_t n = 0, n_cards = 0;
    for (int32_t j = a->v->running_first; j >= 0; j = a->v->stay[j].next) {
        if (fresh)
            s->left_s[j] = view_left_us(a->v, j) / 1e6;
        n++;
        n_cards += a->p->at[t->task_begin[j]].n;
    }
    size_t room = (size_t)n + (size_t)a->p->cluster->n_cards + 1; /* for those who start alone */
    a->resident = arena_alloc(a->v->scratch, room, sizeof *a->resident);
    a->couple = arena_alloc(a->v->scratch, (size_t)n_cards + 1, sizeof *a->couple);
    if (a->resident == NULL || a->couple == NULL)
        return false;
    for (int32_t j = a->v->running_first; j >= 0; j = a->v->stay[j].next) {
        const struct menu *menu =
            s->has_menus ? menu_of(&s->menus, s->n_jobs, s->kind[j], j) : NULL;
        if (menu == NULL)
            continue;
        pass_add_resident(a, j, (int32_t)(menu - s->menus.menu));
    }
    find_couples(a);
    return true;
}

static bool run_pass(struct pass *a, bool fresh)
{
    struct pds *s = a->s;
    double begin_s = pass_seconds(a);
    s->epoch = (struct epoch){0};
    if (fresh)
        memcpy(s->price_before, s->price, sizeof s->price);
    a->u = pressure(a);
    if (!pass_look_at_queue(a) || !gather(a, fresh))
        return false;
    s->epoch.n_residents = a->n;
    s->epoch.n_waiting = s->n_waiting;
    s->epoch.n_couples = a->n_couples;
    double priced_s = pass_seconds(a);
    if (s->has_menus)
        pass_price(a);
    double checked_s = pass_seconds(a);
    pass_protect(a);
    pass_switch(a);
    pass_admit(a);
    if (s->n_waiting == 0)
        pass_grow(a);
    double end_s = pass_seconds(a);
    s->epoch.iac_s += priced_s - begin_s; /* the look at all pairs that there are */
    s->epoch.pds_s = end_s - checked_s;
    for (int32_t i = 0; i < a->n; i++)
        s->resident[a->resident[i].job] = -1;
    return !a->memory_out && !a->p->failed;
}

/* Place in the menus of a job as it runs; kind -1 where there is none. */
static void adopt(struct pds *s, const struct view *v, const struct plan *p, int32_t job)
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

/* Goes on where another process stopped. */
static void resume(struct pds *s, const struct view *v, const struct plan *p)
{
    const struct memory *m = v->memory;
    size_t n = (size_t)s->n_jobs;
    memcpy(s->tau, m->tolerance, n * sizeof *s->tau);
    memcpy(s->alone, m->apart, n * sizeof *s->alone);
    s->priced = m->n_prices > 0;
    for (int32_t r = 0; r < m->n_prices && r < CHOICE_RES_MAX; r++)
        s->price[r] = m->price[r];
    for (int32_t j = v->running_first; s->has_menus && j >= 0; j = v->stay[j].next)
        adopt(s, v, p, j);
}

void pds_recall(const struct pds *s, struct memory *out)
{
    out->n_prices = s->priced ? CHOICE_RES_MAX : 0;
    memcpy(out->price, s->price, sizeof s->price);
    memcpy(out->tolerance, s->tau, (size_t)s->n_jobs * sizeof *s->tau);
    memcpy(out->apart, s->alone, (size_t)s->n_jobs * sizeof *s->alone);
}

/* The first boundary from now on. */
static int64_t boundary_us(const struct pds *s, int64_t now_us)
{
    int64_t epoch_us = us_of_s(s->config->epoch_s), over = now_us % epoch_us;
    over += over < 0 ? epoch_us : 0;
    return over == 0 ? now_us : now_us + epoch_us - over;
}

enum status pds_decide(struct pds *s, const struct view *v, struct plan *p, struct error *err)
{
    s->ran = false;
    for (int32_t i = 0; i < v->n_arrived; i++)
        enqueue(s, v, v->arrived[i]);
    if (v->memory != NULL)
        resume(s, v, p);
    s->changed = s->changed || v->n_arrived > 0 || v->n_finished > 0;
    int64_t at_us = boundary_us(s, v->now_us), epoch_us = us_of_s(s->config->epoch_s);
    if (at_us > v->now_us) {
        plan_wake(p, at_us);
        return ST_OK;
    }
    if (!s->changed && s->config->skip_idle)
        return ST_OK;
    struct pass a = {.s = s, .config = s->config, .v = v, .p = p};
    bool fresh = s->changed;
    s->changed = false;
    s->ran = true;
    p->rules.share_max = 1;
    if (!run_pass(&a, fresh))
        return fail_memory(err);
    if (s->changed || (!s->config->skip_idle && (s->n_waiting > 0 || v->running_first >= 0)))
        plan_wake(p, v->now_us + epoch_us);
    return ST_OK;
}
