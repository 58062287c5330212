/* One card beside somebody: who there is, and in which configurations both would run. */
#include "core/elastico/pds_walk.h"

#include <math.h>
#include <stdlib.h>

/* A guest beside a host. */
struct match {
    int32_t group, guest_option, host_option;
    double gain; /* in ω x speed; -INFINITY: none */
    double s_guest, s_host, tau_guest, tau_host;
};

static int first_fit(const void *x, const void *y)
{
    return ((const struct host *)x)->card - ((const struct host *)y)->card;
}

static int alike_then_least(const void *x, const void *y)
{
    const struct host *hx = x, *hy = y;
    if (hx->alike != hy->alike)
        return hx->alike < hy->alike ? -1 : 1;
    if (hx->omega != hy->omega)
        return hx->omega < hy->omega ? -1 : 1;
    return hx->resident - hy->resident;
}

static bool same_group(const struct pass *a, const struct host *x, const struct host *y)
{
    const struct resident *rx = &a->resident[x->resident], *ry = &a->resident[y->resident];
    return !pass_is(a, PDS_NO_ESP) && rx->n_cards == 1 && ry->n_cards == 1 &&
           rx->menu == ry->menu && rx->option == ry->option && rx->touched == ry->touched;
}

static int32_t single_card(const struct pass *a, const struct resident *r)
{
    for (int32_t i = 0; i < r->n_cards; i++) {
        int32_t card = pass_card(a, r->job, i);
        if (a->p->cluster->card_n_jobs[card] == 1)
            return card;
    }
    return -1;
}

bool walk_find_hosts(struct walk *w)
{
    struct pass *a = w->a;
    w->host = arena_alloc(a->v->scratch, (size_t)a->n + 1, sizeof *w->host);
    w->group = arena_alloc(a->v->scratch, (size_t)a->n + 1, sizeof *w->group);
    if (w->host == NULL || w->group == NULL)
        return false;
    for (int32_t i = 0; i < a->n; i++) {
        const struct resident *r = &a->resident[i];
        bool sole = a->s->alone[r->job] || pass_is_sole(a, r->job);
        int32_t card = sole ? -1 : single_card(a, r);
        uint64_t alike =
            (uint64_t)(r->n_cards > 1) << 63 | (uint64_t)r->menu << 32 | (uint32_t)r->option;
        if (card >= 0)
            w->host[w->n_hosts++] = (struct host){alike, r->omega, i, card};
    }
    qsort(w->host, (size_t)w->n_hosts, sizeof *w->host,
          pass_is(a, PDS_NO_ESP) ? first_fit : alike_then_least);
    for (int32_t i = 0; i < w->n_hosts; i++) {
        if (i == 0 || !same_group(a, &w->host[i - 1], &w->host[i]))
            w->group[w->n_groups++] = (struct hosts){i, i};
        w->group[w->n_groups - 1].end = i + 1;
    }
    return true;
}

static bool node_takes(const struct pass *a, int32_t job, int32_t card)
{
    return place_node_most(a->p->cluster, a->v->jobs, a->v->jobs->task_begin[job], &a->p->rules,
                           a->p->cluster->card_node[card]) > 0;
}

/* Is this point beside a host of the group safe for both, and worth the margin? Keeps the best in
 * m. */
static void weigh(const struct pass *a, int32_t group, const struct resident *r,
                  const struct guest *g, const struct pair_point *pt, struct match *m)
{
    int32_t guest_menu = g->menu;
    double factor = g->factor;
    const struct menu *gm = pass_menu(a, guest_menu), *hm = pass_menu(a, r->menu);
    bool stays = pt->host == r->option, greedy = pass_is(a, PDS_NO_ESP);
    if (!stays && (r->touched || r->shares || !pt->front || pass_is(a, PDS_NO_PDS)))
        return;
    double alone_h = pass_speed(a, r->menu, pt->host, r->width);
    double s_host = stays && r->s > pt->s_host ? r->s : pt->s_host;
    double v_guest = pt->v_guest * factor, v_host = alone_h / s_host, now = r->alone / r->s;
    if (!menu_keeps(gm, v_guest) || !menu_keeps(hm, v_host))
        return;
    double without = r->worth * now + walk_alternative(g, v_guest, r->left_s / v_host);
    double with = g->worth * v_guest + r->worth * v_host;
    double least = greedy ? -INFINITY : (1 + a->config->margin) * without;
    if (with < least || with - without <= m->gain)
        return; /* what a change costs would only make it less */
    double alone_g = pass_option(a, guest_menu, pt->guest)->speed * factor;
    double tau_g = pass_tau(a, guest_menu, alone_g), tau_h = pass_tau(a, r->menu, alone_h);
    if (pt->s_guest > tau_g || s_host > tau_h)
        return;
    if (!stays && !r->fresh) {
        double cost_s = transition_config_s(&a->config->cost, a->s->menus.rst, r->job,
                                            pass_option(a, r->menu, r->option)->config,
                                            pass_option(a, r->menu, pt->host)->config);
        double over_s = horizon_of(a, r->left_s, now);
        with -= cost_s > 0 ? r->worth * now * cost_s / (over_s > 1 ? over_s : 1) : 0;
    }
    if (with < least)
        return;
    if (with - without > m->gain)
        *m = (struct match){group,       pt->guest, pt->host, with - without,
                            pt->s_guest, s_host,    tau_g,    tau_h};
}

/* Without prices the least score (7) is the fastest configuration's: the guest in that, if it fits
 * and is safe beside the host as he is. */
static void weigh_fastest(struct pass *a, int32_t group, const struct resident *r,
                          const struct guest *g, struct match *m)
{
    const struct menu_option *guest = pass_option(a, g->menu, 0);
    struct pair_point pt = {.host = (int16_t)r->option, .front = true};
    double s[2];
    int32_t most_mib = a->s->menus.kind[pass_menu(a, g->menu)->kind].mem_mib - MEM_SYSTEM_MIB;
    if (guest->mem_mib > most_mib - pass_option(a, r->menu, r->option)->mem_mib)
        return;
    pass_slowdowns(a, g->menu, 0, r->menu, r->option, s);
    pt.s_guest = s[0];
    pt.s_host = s[1];
    pt.v_guest = guest->speed / s[0];
    weigh(a, group, r, g, &pt, m);
}

/* The best host for a job on one card; group -1 where there is none. */
static struct match find_match(struct walk *w, int32_t job, int32_t menu, int32_t width)
{
    struct pass *a = w->a;
    struct match best = {.group = -1, .gain = -INFINITY};
    const struct guest guest = walk_guest(w, job, menu, width);
    bool fastest = pass_is(a, PDS_NO_ESP) && a->config->greedy == PDS_FASTEST;
    for (int32_t g = 0; g < w->n_groups; g++) {
        struct hosts *group = &w->group[g];
        if (group->next == group->end)
            continue;
        const struct host *host = &w->host[group->next];
        const struct resident *r = &a->resident[host->resident];
        if (pass_menu(a, r->menu)->kind != pass_menu(a, menu)->kind ||
            !node_takes(a, job, host->card))
            continue;
        if (fastest) {
            weigh_fastest(a, g, r, &guest, &best);
        } else {
            const struct pair_list *list = pairing_of(&a->s->pairing, menu, r->menu);
            if (list == NULL) {
                a->memory_out = true;
                return best;
            }
            for (int32_t i = 0; i < list->n; i++)
                weigh(a, g, r, &guest, &list->point[i], &best);
        }
        if (pass_is(a, PDS_NO_ESP) && best.group >= 0)
            break;
    }
    return best;
}

static bool start_as(struct walk *w, int32_t job, int32_t menu, int32_t width,
                     const struct match *m)
{
    struct pass *a = w->a;
    struct hosts *group = &w->group[m->group];
    const struct host *host = &w->host[group->next];
    struct resident *r = &a->resident[host->resident];
    size_t mark = plan_mark(a->p);
    struct resident was = *r;
    group->next++;
    bool ok = m->host_option == r->option || pass_reconfigure(a, r, m->host_option);
    ok = ok && plan_config(a->p, job, pass_option(a, menu, m->guest_option)->config) &&
         plan_start_at(a->p, job, &host->card, 1);
    if (!ok || !plan_fits(a->p, job)) {
        plan_undo(a->p, mark);
        *r = was;
        pass_took(a, r->job, a->s->kind[r->job], r->option, r->width);
        return false;
    }
    r->s = m->s_host;
    r->shares = true;
    a->s->tau[r->job] = m->tau_host;
    a->s->tau[job] = m->tau_guest;
    pass_took(a, job, pass_menu(a, menu)->kind, m->guest_option, width);
    return true;
}

bool walk_start_beside(struct walk *w, int32_t job, int32_t menu, int32_t width)
{
    struct match m = find_match(w, job, menu, width);
    return m.group >= 0 && start_as(w, job, menu, width, &m);
}
