/* What running jobs change: their configuration, their cards, their width. */
#include "core/elastico/pds_pass.h"

#include <math.h>
#include <stdlib.h>

/* Another card for a resident of one card, its cost paid. */
static bool move(struct pass *a, struct resident *r, int32_t card)
{
    if (!plan_resize_at(a->p, r->job, &card, 1))
        return false;
    double cost_s = transition_move_s(&a->config->cost, a->s->menus.rst, r->job);
    plan_pause(a->p, r->job, us_of_s(cost_s));
    r->touched = true;
    a->s->tau[r->job] = INFINITY;
    a->s->changed = true;
    return true;
}

/* The one that came last. */
static struct resident *guest_of(struct pass *a, const struct couple *c)
{
    return &a->resident[c->b]; /* residents are in order of start */
}

void pass_protect(struct pass *a)
{
    for (int32_t i = 0; i < a->n; i++) {
        const struct resident *r = &a->resident[i];
        double seen = pass_alone(a, r) / a->v->stay[r->job].speed;
        a->s->epoch.n_violations += r->shares && seen > a->s->tau[r->job] * (1 + 1e-6);
    }
    if (!a->config->watch || pass_is(a, PDS_NO_IAC))
        return;
    for (int32_t c = 0; c < a->n_couples; c++) {
        const struct resident *x = &a->resident[a->couple[c].a], *y = &a->resident[a->couple[c].b];
        bool hurt = pass_alone(a, x) > a->v->stay[x->job].speed * a->s->tau[x->job] * (1 + 1e-6) ||
                    pass_alone(a, y) > a->v->stay[y->job].speed * a->s->tau[y->job] * (1 + 1e-6);
        struct resident *guest = guest_of(a, &a->couple[c]);
        if (!hurt || guest->n_cards != 1 || guest->touched)
            continue;
        int32_t card = pass_free_card(a, guest->job, a->s->kind[guest->job]);
        if (card >= 0 && move(a, guest, card))
            a->s->alone[guest->job] = true;
    }
}

/* Would it be safe, and fit, beside all its neighbours as they are? *s: how much slower. */
static bool safe_in(struct pass *a, int32_t i, int32_t option, double *s)
{
    const struct resident *r = &a->resident[i];
    double speed = pass_speed(a, r->menu, option, r->width);
    *s = 1;
    for (int32_t c = 0; c < a->n_couples; c++) {
        const struct couple *k = &a->couple[c];
        if (k->a != i && k->b != i)
            continue;
        const struct resident *q = &a->resident[k->a == i ? k->b : k->a];
        double both[2];
        if (!pass_option(a, r->menu, option)->profiled)
            return false;
        pass_slowdowns(a, r->menu, option, q->menu, q->option, both);
        if (both[0] > pass_tau(a, r->menu, speed) || both[1] > pass_tau(a, q->menu, q->alone))
            return false;
        *s = both[0] > *s ? both[0] : *s;
    }
    return true;
}

/* After a change: what the couples now suffer, and agree to. */
static void settle(struct pass *a, int32_t i)
{
    for (int32_t c = 0; c < a->n_couples; c++) {
        const struct couple *k = &a->couple[c];
        if (k->a != i && k->b != i)
            continue;
        struct resident *x = &a->resident[k->a], *y = &a->resident[k->b];
        double s[2];
        pass_slowdowns(a, x->menu, x->option, y->menu, y->option, s);
        x->s = s[0] > x->s || k->a == i ? s[0] : x->s;
        y->s = s[1] > y->s || k->b == i ? s[1] : y->s;
        a->s->tau[x->job] = fmax(s[0], pass_tau(a, x->menu, x->alone));
        a->s->tau[y->job] = fmax(s[1], pass_tau(a, y->menu, y->alone));
    }
}

void pass_switch(struct pass *a)
{
    bool coordinated = !pass_is(a, PDS_NO_PDS);
    for (int32_t i = 0; i < a->n; i++) {
        struct resident *r = &a->resident[i];
        double s;
        if (r->touched || r->want_option == r->option || !safe_in(a, i, r->want_option, &s))
            continue;
        bool proper;
        double now = r->alone / r->s;
        double then = pass_speed_here(a, r->job, r->menu, r->want_option, r->width, &proper) / s;
        if (!proper)
            continue;
        if (coordinated) {
            double cost_s = transition_config_s(&a->config->cost, a->s->menus.rst, r->job,
                                                pass_option(a, r->menu, r->option)->config,
                                                pass_option(a, r->menu, r->want_option)->config);
            double gain = pass_score(a, r->menu, r->option, r->width, r->omega, now) -
                          pass_score(a, r->menu, r->want_option, r->width, r->omega, then);
            double lost = r->omega / a->omega_mean * now / pass_menu(a, r->menu)->speed_max;
            if (then < now || gain * horizon_of(a, r->left_s, now) <= lost * cost_s)
                continue; /* who would only make room does so when somebody comes */
        }
        if (pass_reconfigure(a, r, r->want_option))
            settle(a, i);
    }
}

/* A way to use free cards, and what it is worth over what it costs, in ω x reference seconds. */
struct growth {
    int32_t resident, width; /* width: place in the menu; as it is: only moves */
    double worth;
};

/* How many of its cards it has for itself. */
static int32_t own_cards(const struct pass *a, const struct resident *r)
{
    int32_t n = 0;
    for (int32_t i = 0; i < r->n_cards; i++)
        n += a->p->cluster->card_n_jobs[pass_card(a, r->job, i)] == 1;
    return n;
}

/* What its neighbours gain by its leaving. */
static double relief(struct pass *a, int32_t i)
{
    double sum = 0;
    for (int32_t c = 0; c < a->n_couples; c++) {
        const struct couple *k = &a->couple[c];
        if (k->a != i && k->b != i)
            continue;
        const struct resident *q = &a->resident[k->a == i ? k->b : k->a];
        if (!q->touched)
            sum += q->worth * q->alone * (1 - 1 / q->s) * horizon_of(a, q->left_s, q->alone / q->s);
    }
    return sum;
}

/* Off the cards that it shares and as wide as free cards allow. Of jobs of several cards only
 * elastic ones can, since the others' sit on one node. */
static struct growth growth_of(struct pass *a, int32_t i, int32_t n_free)
{
    const struct resident *r = &a->resident[i];
    const struct menu *m = pass_menu(a, r->menu);
    bool elastic = job_is_elastic(a->v->jobs, r->job);
    int32_t own = own_cards(a, r), best = -1;
    struct growth g = {i, -1, 0};
    if (r->touched || r->fresh || (r->n_cards != 1 && !elastic))
        return g;
    for (int32_t w = r->width; w < m->n_widths && pass_width(a, r->menu, w)->n - own <= n_free; w++)
        best = pass_speed(a, r->menu, r->option, w) > 0 ? w : best;
    if (best < 0 || (best == r->width && own == r->n_cards))
        return g;
    double now = r->alone / r->s, then = pass_speed(a, r->menu, r->option, best);
    double gain = r->worth * (then - now) * horizon_of(a, r->left_s, then);
    double cost_s = transition_move_s(&a->config->cost, a->s->menus.rst, r->job);
    g.width = best;
    g.worth = gain + relief(a, i) - r->worth * now * cost_s;
    return g;
}

/* Its own unshared cards, then free ones; none where it would be no faster as it comes to lie. */
static bool widen(struct pass *a, struct resident *r, int32_t width)
{
    const struct cluster *c = a->p->cluster;
    int32_t chunk = pass_chunk(a, r->job, r->menu, r->option);
    size_t mark = plan_mark(a->p);
    bool proper;
    int32_t kind = a->s->kind[r->job], want = pass_width(a, r->menu, width)->n, n = 0;
    int32_t *where = arena_alloc(a->v->scratch, (size_t)want, sizeof *where);
    if (where == NULL) {
        a->memory_out = true;
        return false;
    }
    for (int32_t i = 0; i < r->n_cards && n < want; i++)
        if (c->card_n_jobs[pass_card(a, r->job, i)] == 1)
            where[n++] = pass_card(a, r->job, i);
    int32_t task = a->v->jobs->task_begin[r->job];
    for (int32_t node = 0; node < c->n_nodes && n < want; node++) {
        if (c->cards_free[node] == 0 || a->s->menus.kind_of_node[node] != kind)
            continue;
        int32_t room = place_node_most(c, a->v->jobs, task, &a->p->rules, node);
        int32_t most =
            n + (room < c->cards_free[node] ? room : c->cards_free[node]) / chunk * chunk;
        most = most < want ? most : want;
        for (int32_t card = c->node_card[node]; card < c->node_card[node + 1] && n < most; card++)
            if (c->card_n_jobs[card] == 0)
                where[n++] = card;
    }
    if (n < want || !plan_resize_at(a->p, r->job, where, want))
        return false;
    double speed = pass_speed_here(a, r->job, r->menu, r->option, width, &proper);
    if (pass_is_laid(a, r->job) && (!proper || speed <= r->alone)) {
        plan_undo(a->p, mark);
        return false;
    }
    plan_pause(a->p, r->job, us_of_s(transition_move_s(&a->config->cost, a->s->menus.rst, r->job)));
    a->s->tau[r->job] = INFINITY;
    r->touched = true;
    pass_took(a, r->job, kind, r->option, width);
    return true;
}

static int worth_most_first(const void *a, const void *b)
{
    const struct growth *x = a, *y = b;
    if (x->worth != y->worth)
        return x->worth > y->worth ? -1 : 1;
    return x->resident - y->resident;
}

void pass_grow(struct pass *a)
{
    int32_t n_free[MENU_KINDS_MAX], n_all = 0, n = 0;
    if (pass_is(a, PDS_NO_PDS))
        return;
    for (int32_t k = 0; k < a->s->menus.n_kinds; k++)
        n_all += n_free[k] = pass_free_cards(a, k);
    if (n_all == 0)
        return;
    struct growth *way = arena_alloc(a->v->scratch, (size_t)a->n + 1, sizeof *way);
    if (way == NULL) {
        a->memory_out = true;
        return;
    }
    for (int32_t i = 0; i < a->n; i++) {
        struct growth g = growth_of(a, i, n_free[a->s->kind[a->resident[i].job]]);
        if (g.width >= 0 && g.worth > 0)
            way[n++] = g;
    }
    qsort(way, (size_t)n, sizeof *way, worth_most_first);
    for (int32_t i = 0; i < n && n_all > 0; i++) {
        struct resident *r = &a->resident[way[i].resident];
        int32_t *free = &n_free[a->s->kind[r->job]];
        struct growth g =
            growth_of(a, way[i].resident, *free); /* others have taken cards, or left */
        if (g.width < 0 || !(g.worth > 0) || !widen(a, r, g.width))
            continue;
        *free = pass_free_cards(a, a->s->kind[r->job]);
    }
}
