/* Waiting jobs, in their order: on free cards, else beside somebody, else on cards that an elastic
 * job gives up. */
#include "core/elastico/pds_walk.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

double walk_alternative(const struct guest *g, double v_guest, double host_ends_s)
{
    double ends_s = g->left_s / v_guest, together_s = ends_s < host_ends_s ? ends_s : host_ends_s;
    return g->wait_s < together_s ? g->alone * (1 - g->wait_s / together_s) : 0;
}

struct guest walk_guest(const struct walk *w, int32_t job, int32_t menu, int32_t width)
{
    const struct pass *a = w->a;
    int32_t n = pass_width(a, menu, width)->n, n_cards = a->p->cluster->n_cards;
    int64_t place = w->ahead_milli / 1000 + n;
    double factor = pass_width(a, menu, width)->factor;
    return (struct guest){.menu = menu,
                          .factor = factor,
                          .left_s = a->s->left_s[job],
                          .worth = worth_of(a, menu, n, pass_behind(a, job, n, a->s->left_s[job])),
                          .wait_s = place <= n_cards ? a->free_in_s[place - 1] : INFINITY,
                          .alone = pass_option(a, menu, 0)->speed * factor /
                                   pass_menu(a, menu)->speed_max};
}

bool walk_best_choice(const struct pass *a, int32_t job, int32_t menu, int32_t most,
                      int32_t *option, int32_t *width)
{
    const struct menu *m = pass_menu(a, menu);
    double omega = omega_of(a, a->s->left_s[job]), least = INFINITY;
    for (int32_t o = 0; o < m->n_options; o++)
        for (int32_t w = 0; w < m->n_widths; w++) {
            double speed = pass_option(a, menu, o)->speed * pass_width(a, menu, w)->factor;
            if (pass_width(a, menu, w)->n > most || !menu_keeps(m, speed))
                continue;
            double score = pass_score(a, menu, o, w, omega, speed);
            if (score < least) {
                least = score;
                *option = o;
                *width = w;
            }
        }
    return !isinf(least);
}

/* A guest beside a host. */
struct match {
    int32_t group, guest_option, host_option;
    double gain; /* in ω x speed; -INFINITY: none */
    double s_guest, s_host, tau_guest, tau_host;
};

static int alike_then_least(const void *x, const void *y, void *context)
{
    const struct pass *a = context;
    const struct host *hx = x, *hy = y;
    const struct resident *rx = &a->resident[hx->resident], *ry = &a->resident[hy->resident];
    if (pass_is(a, PDS_NO_ESP)) /* first fit */
        return hx->card - hy->card;
    bool gx = rx->n_cards > 1, gy = ry->n_cards > 1;
    if (gx != gy)
        return gx ? 1 : -1;
    if (rx->menu != ry->menu)
        return rx->menu < ry->menu ? -1 : 1;
    if (rx->option != ry->option)
        return rx->option - ry->option;
    if (rx->omega != ry->omega)
        return rx->omega < ry->omega ? -1 : 1;
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

static bool find_hosts(struct walk *w)
{
    struct pass *a = w->a;
    w->host = arena_alloc(a->v->scratch, (size_t)a->n + 1, sizeof *w->host);
    w->group = arena_alloc(a->v->scratch, (size_t)a->n + 1, sizeof *w->group);
    if (w->host == NULL || w->group == NULL)
        return false;
    for (int32_t i = 0; i < a->n; i++) {
        const struct resident *r = &a->resident[i];
        int32_t card = a->s->alone[r->job] ? -1 : single_card(a, r);
        if (card >= 0)
            w->host[w->n_hosts++] = (struct host){i, card};
    }
    qsort_r(w->host, (size_t)w->n_hosts, sizeof *w->host, alike_then_least, a);
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

/* Is this point safe for both, and worth the margin? Keeps the best in m. */
static void weigh(const struct pass *a, const struct resident *r, const struct guest *g,
                  const struct pair_point *pt, struct match *m)
{
    int32_t guest_menu = g->menu;
    double factor = g->factor;
    const struct menu *gm = pass_menu(a, guest_menu), *hm = pass_menu(a, r->menu);
    bool stays = pt->host == r->option, greedy = pass_is(a, PDS_NO_ESP);
    if (!stays && (r->touched || r->shares || !pt->front || pass_is(a, PDS_NO_PDS)))
        return;
    double alone_g = pass_option(a, guest_menu, pt->guest)->speed * factor;
    double alone_h =
        pass_option(a, r->menu, pt->host)->speed * pass_width(a, r->menu, r->width)->factor;
    double s_host = stays && r->s > pt->s_host ? r->s : pt->s_host;
    double v_guest = pt->v_guest * factor, v_host = alone_h / s_host, now = r->alone / r->s;
    double tau_g = pass_tau(a, guest_menu, alone_g), tau_h = pass_tau(a, r->menu, alone_h);
    if (pt->s_guest > tau_g || s_host > tau_h || !menu_keeps(gm, v_guest) ||
        !menu_keeps(hm, v_host))
        return;
    double without = r->worth * now + walk_alternative(g, v_guest, r->left_s / v_host);
    double with = g->worth * v_guest + r->worth * v_host;
    if (!stays && !r->fresh) {
        double cost_s = transition_config_s(&a->config->cost, a->s->menus.rst, r->job,
                                            pass_option(a, r->menu, r->option)->config,
                                            pass_option(a, r->menu, pt->host)->config);
        double over_s = horizon_of(a, r->left_s, now);
        with -= cost_s > 0 ? r->worth * now * cost_s / (over_s > 1 ? over_s : 1) : 0;
    }
    if (!greedy && with < (1 + a->config->margin) * without)
        return;
    if (with - without > m->gain)
        *m = (struct match){m->group,    pt->guest, pt->host, with - without,
                            pt->s_guest, s_host,    tau_g,    tau_h};
}

/* The best host for a job on one card; group -1 where there is none. */
static struct match find_match(struct walk *w, int32_t job, int32_t menu, int32_t width)
{
    struct pass *a = w->a;
    struct match best = {.group = -1, .gain = -INFINITY};
    const struct guest guest = walk_guest(w, job, menu, width);
    for (int32_t g = 0; g < w->n_groups; g++) {
        struct hosts *group = &w->group[g];
        if (group->next == group->end)
            continue;
        const struct host *host = &w->host[group->next];
        const struct resident *r = &a->resident[host->resident];
        if (pass_menu(a, r->menu)->kind != pass_menu(a, menu)->kind ||
            !node_takes(a, job, host->card))
            continue;
        const struct pair_list *list = pairing_of(&a->s->pairing, menu, r->menu);
        if (list == NULL) {
            a->memory_out = true;
            return best;
        }
        struct match m = {.group = g, .gain = -INFINITY};
        for (int32_t i = 0; i < list->n; i++)
            weigh(a, r, &guest, &list->point[i], &m);
        if (m.gain > best.gain)
            best = m;
        if (pass_is(a, PDS_NO_ESP) && best.group >= 0)
            break;
    }
    return best;
}

static bool start_beside(struct walk *w, int32_t job, int32_t menu, int32_t width,
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
    if (!ok || a->p->cluster->card_mem_free_mib[host->card] < 0) {
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

/* Limits plan_start to the nodes of one kind, where there are several. */
static void only_kind(struct pass *a, int32_t kind)
{
    const struct cluster *c = a->p->cluster;
    a->p->rules.nodes = NULL;
    if (a->s->menus.n_kinds < 2 || kind < 0)
        return;
    int32_t *node = arena_alloc(a->v->scratch, (size_t)c->n_nodes + 1, sizeof *node), n = 0;
    if (node == NULL) {
        a->memory_out = true;
        return;
    }
    for (int32_t i = 0; i < c->n_nodes; i++)
        if (a->s->menus.kind_of_node[i] == kind)
            node[n++] = i;
    a->p->rules.nodes = node;
    a->p->rules.n_nodes = n;
}

static bool start_free(struct pass *a, int32_t job, int32_t menu)
{
    int32_t kind = pass_menu(a, menu)->kind, n_free = pass_free_cards(a, kind), option, width;
    bool elastic = job_is_elastic(a->v->jobs, job), started;
    size_t mark = plan_mark(a->p);
    if (n_free == 0 || !walk_best_choice(a, job, menu, n_free, &option, &width) ||
        !plan_config(a->p, job, pass_option(a, menu, option)->config))
        return false;
    int32_t n = pass_width(a, menu, width)->n;
    if (menu_asked(a->v->jobs, job) == 1 || (elastic && n == 1)) {
        int32_t card = pass_free_card(a, job, kind);
        started = card >= 0 && plan_start_at(a->p, job, &card, 1);
    } else {
        only_kind(a, kind);
        started = elastic ? plan_start_width(a->p, job, n) : plan_start(a->p, job);
        a->p->rules.nodes = NULL;
    }
    if (!started) {
        plan_undo(a->p, mark);
        return false;
    }
    a->s->tau[job] = INFINITY;
    pass_took(a, job, kind, option, width);
    pass_add_resident(a, job, menu)->fresh = true;
    return true;
}

static int32_t single_width(const struct pass *a, int32_t menu)
{
    const struct menu *m = pass_menu(a, menu);
    for (int32_t w = 0; w < m->n_widths; w++)
        if (pass_width(a, menu, w)->n == 1)
            return w;
    return -1;
}

static bool admit_as(struct walk *w, int32_t job, int32_t menu)
{
    struct pass *a = w->a;
    if (start_free(a, job, menu))
        return true;
    int32_t single = single_width(a, menu);
    if (single >= 0) {
        struct match m = find_match(w, job, menu, single);
        if (m.group >= 0)
            return start_beside(w, job, menu, single, &m);
    }
    if (menu_asked(a->v->jobs, job) == 1 || w->n_hosts == 0)
        return false;
    return walk_start_gang_beside(w, job, menu);
}

static bool admit(struct walk *w, int32_t job)
{
    struct pass *a = w->a;
    bool outside = true;
    for (int32_t k = 0; k < a->s->menus.n_kinds; k++) {
        int32_t menu = a->s->menus.of_job[(size_t)k * (size_t)a->s->n_jobs + (size_t)job];
        if (menu >= 0 && admit_as(w, job, menu))
            return true;
        outside = outside && menu < 0;
    }
    if (!outside || !plan_start(a->p, job))
        return false;
    pass_took(a, job, -1, 0, 0);
    return true;
}

/* One walk through the queue. Of jobs alike the first that cannot start stands for the rest; but
 * those of one card do so only when every card is asked for by those before it: sooner, who is
 * behind it has longer to wait and may share where it does not. */
static void walk_queue(struct walk *w)
{
    struct pds *s = w->a->s;
    int32_t n = 0;
    memset(s->blocked, 0, (size_t)s->n_shapes * sizeof *s->blocked);
    w->ahead_milli = 0;
    for (int32_t i = 0; i < s->n_waiting; i++) {
        struct pds_waiting x = s->queue[i];
        if (!s->blocked[x.shape] && !w->a->memory_out && admit(w, x.job))
            continue;
        s->blocked[x.shape] = s->blocked[x.shape] || menu_asked(w->a->v->jobs, x.job) > 1 ||
                              w->ahead_milli >= (int64_t)w->a->p->cluster->n_cards * 1000;
        s->queue[n++] = x;
        w->ahead_milli += job_gpu_milli(w->a->v->jobs, x.job);
    }
    s->n_waiting = n;
    s->asked_milli = w->ahead_milli;
}

/* What the first n waiting jobs of one card would add, each alone on one. */
static double worth_of_queue(const struct pass *a, int32_t n, int32_t kind)
{
    double sum = 0;
    for (int32_t i = 0; i < a->s->n_waiting && n > 0; i++) {
        int32_t job = a->s->queue[i].job, option, width;
        const struct menu *m = menu_of(&a->s->menus, a->s->n_jobs, kind, job);
        if (m == NULL ||
            !walk_best_choice(a, job, (int32_t)(m - a->s->menus.menu), 1, &option, &width))
            continue;
        sum += worth_of(a, (int32_t)(m - a->s->menus.menu), 1,
                        pass_behind(a, job, 1, a->s->left_s[job])) *
               a->s->menus.option[m->option + option].speed *
               a->s->menus.width[m->width + width].factor;
        n--;
    }
    return sum;
}

/* Elastic jobs that the prices want narrower give up cards where that pays; the newcomers take
 * them in the same pass. */
static bool make_room(struct pass *a)
{
    bool any = false;
    for (int32_t i = 0; i < a->n; i++) {
        struct resident *r = &a->resident[i];
        if (r->touched || r->fresh || r->want_width >= r->width || r->shares)
            continue;
        int32_t want = pass_width(a, r->menu, r->want_width)->n;
        double option = pass_option(a, r->menu, r->option)->speed, now = r->alone / r->s;
        double then = option * pass_width(a, r->menu, r->want_width)->factor;
        double cost_s = transition_move_s(&a->config->cost, a->s->menus.rst, r->job);
        double gain = worth_of_queue(a, r->n_cards - want, a->s->kind[r->job]);
        double lost = r->worth * (now - then), over_s = horizon_of(a, r->left_s, now);
        if (!menu_keeps(pass_menu(a, r->menu), then) || gain < (1 + a->config->margin) * lost ||
            (gain - lost) * over_s <= r->worth * now * cost_s || !plan_resize(a->p, r->job, want))
            continue;
        plan_pause(a->p, r->job, us_of_s(cost_s));
        r->touched = true;
        r->width = r->want_width;
        r->n_cards = want;
        r->alone = then;
        pass_took(a, r->job, a->s->kind[r->job], r->option, r->width);
        any = true;
    }
    return any;
}

void pass_admit(struct pass *a)
{
    struct walk w = {.a = a};
    int32_t n_before = -1;
    while (a->s->n_waiting > 0 && a->n > n_before && !a->memory_out) {
        bool again = n_before >= 0; /* the queue is another than when the pass began */
        n_before = a->n;            /* who starts alone is a host in the next walk */
        w.n_hosts = w.n_groups = 0;
        if (!find_hosts(&w) || !pass_find_free(a) || (again && !pass_look_at_queue(a))) {
            a->memory_out = true;
            return;
        }
        walk_queue(&w);
    }
    if (a->s->n_waiting > 0 && !pass_is(a, PDS_NO_PDS) && make_room(a))
        walk_queue(&w);
}
