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

/* Newcomers with less to do come first. */
static double until_free_s(const struct pass *a, int32_t job, int32_t n, double in_s)
{
    if (a->config->weight == PDS_ARRIVAL || a->s->aged[job])
        return in_s;
    return arrivals_wait_s(&a->s->arrivals, a->v->now_us, a->p->cluster->n_cards,
                           n * a->s->left_s[job], in_s);
}

struct guest walk_guest(const struct walk *w, int32_t job, int32_t menu, int32_t width)
{
    const struct pass *a = w->a;
    int32_t n = pass_width(a, menu, width)->n, n_cards = a->p->cluster->n_cards;
    int64_t place = w->ahead_milli / 1000 + n;
    double factor = pass_width(a, menu, width)->factor;
    return (struct guest){
        .menu = menu,
        .factor = factor,
        .left_s = a->s->left_s[job],
        .worth = worth_of(a, menu, n, pass_behind(a, job, n, a->s->left_s[job])),
        .wait_s = place <= n_cards ? until_free_s(a, job, n, a->free_in_s[place - 1]) : INFINITY,
        .alone = pass_option(a, menu, 0)->speed * factor / pass_menu(a, menu)->speed_max};
}

bool walk_best_choice(const struct pass *a, int32_t job, int32_t menu, int32_t most,
                      int32_t *option, int32_t *width)
{
    const struct menu *m = pass_menu(a, menu);
    double omega = omega_of(a, a->s->left_s[job]), least = INFINITY;
    for (int32_t o = 0; o < m->n_options; o++)
        for (int32_t w = 0; w < m->n_widths; w++) {
            double speed = pass_speed(a, menu, o, w);
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

void pass_only_kind(struct pass *a, int32_t kind)
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

static bool start_free(const struct walk *w, int32_t job, int32_t menu)
{
    struct pass *a = w->a;
    int32_t kind = pass_menu(a, menu)->kind, n_free = pass_free_cards(a, kind), option, width;
    bool elastic = job_is_elastic(a->v->jobs, job), started;
    size_t mark = plan_mark(a->p);
    if (n_free == 0 || !walk_best_choice(a, job, menu, n_free, &option, &width))
        return false;
    double speed = pass_option(a, menu, option)->speed * pass_width(a, menu, width)->factor;
    if (a->s->left_s[job] > w->held_s * speed ||
        !plan_config(a->p, job, pass_option(a, menu, option)->config))
        return false;
    int32_t n = pass_width(a, menu, width)->n;
    if (menu_asked(a->v->jobs, job) == 1 || (elastic && n == 1)) {
        int32_t card = pass_free_card(a, job, kind);
        started = card >= 0 && plan_start_at(a->p, job, &card, 1);
    } else {
        pass_only_kind(a, kind);
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
    /* of kept cards those whose choices have to be tried get none */
    if (pass_is_tried(a, job) ? isinf(w->held_s) && pass_start_tried(a, job, menu)
                              : start_free(w, job, menu))
        return true;
    if (pass_is_sole(a, job))
        return false;
    int32_t single = single_width(a, menu);
    if (single >= 0 && walk_start_beside(w, job, menu, single))
        return true;
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
    if (!outside || a->s->left_s[job] > w->held_s || !plan_start(a->p, job))
        return false;
    pass_took(a, job, -1, 0, 0);
    return true;
}

/* Seconds until as many cards are free as the job asks for; 0 where that is not known. */
static double free_in(const struct pass *a, int32_t job)
{
    int32_t n = menu_asked(a->v->jobs, job), n_cards = a->p->cluster->n_cards;
    n = n < n_cards ? n : n_cards;
    return n < 1 || isinf(a->free_in_s[n - 1]) ? 0 : a->free_in_s[n - 1];
}

/* One walk through the queue. Of jobs alike the first that cannot start stands for the rest; but
 * those of one card do so only when every card is asked for by those before it: sooner, who is
 * behind it has longer to wait and may share where it does not. Behind one that has waited for too
 * long nobody takes free cards for longer than until that one has his. */
static void walk_queue(struct walk *w)
{
    struct pds *s = w->a->s;
    int32_t n = 0;
    memset(s->blocked, 0, (size_t)s->n_shapes * sizeof *s->blocked);
    w->ahead_milli = 0;
    w->held_s = INFINITY;
    for (int32_t i = 0; i < s->n_waiting; i++) {
        struct pds_waiting x = s->queue[i];
        if (!s->blocked[x.shape] && !w->a->memory_out && admit(w, x.job))
            continue;
        s->blocked[x.shape] = s->blocked[x.shape] || menu_asked(w->a->v->jobs, x.job) > 1 ||
                              w->ahead_milli >= (int64_t)w->a->p->cluster->n_cards * 1000;
        if (s->aged[x.job] && isinf(w->held_s) && w->a->v->running_first >= 0)
            w->held_s = free_in(w->a, x.job);
        s->queue[n++] = x;
        w->ahead_milli += x.milli;
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
               menu_speed(&a->s->menus, m, option, width);
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
        double now = r->alone / r->s, then = pass_speed(a, r->menu, r->option, r->want_width);
        bool proper;
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
        r->alone = pass_speed_here(a, r->job, r->menu, r->option, r->width, &proper);
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
        if (!walk_find_hosts(&w) || !pass_find_free(a) || (again && !pass_look_at_queue(a))) {
            a->memory_out = true;
            return;
        }
        walk_queue(&w);
    }
    if (a->s->n_waiting > 0 && !pass_is(a, PDS_NO_PDS) && make_room(a))
        walk_queue(&w);
}
