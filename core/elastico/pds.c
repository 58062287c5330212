#include "core/elastico/pds.h"

#include "core/elastico/pds_pass.h"

#include "core/cluster/waitq.h"

#include <math.h>
#include <string.h>

static bool before(const struct pds_waiting *x, const struct pds_waiting *y)
{
    return x->key != y->key ? x->key < y->key : x->job < y->job;
}

static void put(struct pds *s, const struct view *v, int32_t job)
{
    struct pds_waiting w = {
        .job = job, .shape = s->shape[job], .milli = job_gpu_milli(v->jobs, job)};
    w.key = key_of(s, v->jobs, job, (double)w.milli, s->left_s[job]);
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
}

/* Newcomers since the last look, by their GPU time. */
static void count_arrival(struct pds *s, const struct view *v, int32_t job)
{
    if (v->jobs->submit_us[job] > s->arrivals.until_us)
        arrivals_add(&s->arrivals, v->jobs->submit_us[job],
                     (double)job_gpu_milli(v->jobs, job) / 1e3 * s->left_s[job]);
}

static void enqueue(struct pds *s, const struct view *v, int32_t job)
{
    s->asked_milli += job_gpu_milli(v->jobs, job);
    put(s, v, job);
}

static int64_t ages_us(const struct pds *s, const struct view *v, int32_t job)
{
    return v->jobs->submit_us[job] + us_of_s(s->config->aging_s);
}

/* Who has by now waited for too long goes to the front. Was there anybody? */
static bool age(struct pds *s, const struct view *v)
{
    bool any = false;
    for (int32_t i = 0; s->config->aging_s > 0 && i < s->n_waiting; i++) {
        int32_t job = s->queue[i].job;
        if (s->aged[job] || ages_us(s, v, job) > v->now_us)
            continue;
        s->n_waiting--;
        memmove(s->queue + i, s->queue + i + 1, (size_t)(s->n_waiting - i) * sizeof *s->queue);
        s->aged[job] = any = true;
        put(s, v, job);
    }
    return any;
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

static void add_couple(struct pass *a, int32_t i, int32_t k)
{
    for (int32_t n = a->n_couples; n > 0 && a->couple[n - 1].a == i; n--)
        if (a->couple[n - 1].b == k)
            return;
    a->couple[a->n_couples++] = (struct couple){i, k};
}

/* Who shares with whom. */
static void find_couples(struct pass *a)
{
    for (int32_t i = 0; i < a->n; i++) {
        struct resident *r = &a->resident[i];
        for (int32_t c = 0; c < r->n_cards; c++) {
            int32_t other = pass_neighbour(a, r->job, pass_card(a, r->job, c));
            int32_t k = other < 0 ? -1 : a->s->resident[other];
            if (other >= 0)
                r->shares = true;
            if (k > i)
                add_couple(a, i, k);
        }
    }
}

/* And what it is believed to cost. */
static void believe_couples(struct pass *a)
{
    for (int32_t c = 0; c < a->n_couples; c++) {
        struct resident *r = &a->resident[a->couple[c].a], *q = &a->resident[a->couple[c].b];
        double s[2];
        pass_slowdowns(a, r->menu, r->option, q->menu, q->option, s);
        r->s = s[0] > r->s ? s[0] : r->s;
        q->s = s[1] > q->s ? s[1] : q->s;
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
    bool learns = a->config->iac.online && s->pairing.belief != NULL;
    if (learns && !pass_learn(a))
        return false;
    believe_couples(a);
    return true;
}

static bool run_pass(struct pass *a, bool fresh)
{
    struct pds *s = a->s;
    double begin_s = pass_seconds(a);
    s->n_passes++;
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
    if (m->arrivals != NULL)
        s->arrivals = *m->arrivals;
    for (int32_t i = 0; i < v->n_arrived; i++)
        count_arrival(s, v, v->arrived[i]);
    for (int32_t j = v->running_first; s->has_menus && j >= 0; j = v->stay[j].next) {
        if (s->has_lore)
            lore_ask(&s->lore, j, v->now_us);
        pds_adopt(s, v, p, j);
    }
}

void pds_recall(const struct pds *s, struct memory *out)
{
    out->n_prices = s->priced ? CHOICE_RES_MAX : 0;
    memcpy(out->price, s->price, sizeof s->price);
    memcpy(out->tolerance, s->tau, (size_t)s->n_jobs * sizeof *s->tau);
    memcpy(out->apart, s->alone, (size_t)s->n_jobs * sizeof *s->alone);
    if (out->arrivals != NULL)
        *out->arrivals = s->arrivals;
}

/* The first boundary from now on. */
static int64_t boundary_us(const struct pds *s, int64_t now_us)
{
    int64_t epoch_us = us_of_s(s->config->epoch_s), over = now_us % epoch_us;
    over += over < 0 ? epoch_us : 0;
    return over == 0 ? now_us : now_us + epoch_us - over;
}

/* When something will have happened that no event tells of; TIME_NEVER. */
static int64_t next_us(const struct pds *s, const struct view *v)
{
    bool any = s->n_waiting > 0 || v->running_first >= 0;
    int64_t next = s->has_lore && any ? lore_next_us(&s->lore) : TIME_NEVER;
    for (int32_t i = 0; s->config->aging_s > 0 && i < s->n_waiting; i++)
        if (!s->aged[s->queue[i].job] && ages_us(s, v, s->queue[i].job) < next)
            next = ages_us(s, v, s->queue[i].job);
    return next;
}

static enum status pass_at(struct pds *s, const struct view *v, struct plan *p, struct error *err)
{
    struct pass a = {.s = s, .config = s->config, .v = v, .p = p};
    bool fresh = s->changed;
    s->changed = false;
    s->ran = true;
    p->rules.share_max = 1;
    if (s->has_lore && s->lore.news)
        TRY(pds_learn(s, v, p, err));
    if (!run_pass(&a, fresh))
        return fail_memory(err);
    if (s->changed || (!s->config->skip_idle && (s->n_waiting > 0 || v->running_first >= 0)))
        plan_wake(p, v->now_us + us_of_s(s->config->epoch_s));
    return ST_OK;
}

enum status pds_decide(struct pds *s, const struct view *v, struct plan *p, struct error *err)
{
    s->ran = false;
    if (s->has_lore)
        lore_advance(&s->lore, v->now_us);
    for (int32_t i = 0; i < v->n_arrived; i++) {
        if (s->has_lore)
            lore_arrive(&s->lore, v->arrived[i], v->now_us);
        enqueue(s, v, v->arrived[i]);
        if (v->memory == NULL)
            count_arrival(s, v, v->arrived[i]);
    }
    if (v->memory != NULL)
        resume(s, v, p);
    s->arrivals.until_us = v->now_us;
    s->changed = s->changed || v->n_arrived > 0 || v->n_finished > 0;
    int64_t at_us = boundary_us(s, v->now_us);
    if (at_us > v->now_us) {
        plan_wake(p, at_us);
        return ST_OK;
    }
    s->changed = age(s, v) || s->changed || (s->has_lore && s->lore.news);
    if (s->changed || !s->config->skip_idle)
        TRY(pass_at(s, v, p, err));
    int64_t next = next_us(s, v);
    if (next != TIME_NEVER)
        plan_wake(p, boundary_us(s, next));
    return ST_OK;
}
