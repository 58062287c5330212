#include "core/elastico/pds_walk.h"

#include "core/cluster/beside.h"

#include <math.h>

/* A gang on cards that may have somebody on them, in one configuration, everybody else as he is. */
struct gang {
    struct pass *a;
    int32_t menu, option;
    double alone, tau;
    struct guest guest;
};

/* Free cards first, then those whose owner is worth least. */
static double worth_of_card(const void *context, const struct plan *p, int32_t job, int32_t card)
{
    const struct gang *g = context;
    struct pass *a = g->a;
    const struct cluster *c = p->cluster;
    if (a->s->menus.kind_of_node[c->card_node[card]] != pass_menu(a, g->menu)->kind)
        return -1;
    if (c->card_n_jobs[card] == 0)
        return 2;
    if (c->card_n_jobs[card] > 1)
        return -1;
    int32_t other = a->v->jobs->task_job[c->seats[c->card_seat[card]].task];
    int32_t i = a->s->resident[other];
    if (other == job || i < 0 || a->s->alone[other] || pass_is_sole(a, other))
        return -1;
    const struct resident *r = &a->resident[i];
    if (!pass_option(a, g->menu, g->option)->profiled ||
        !pass_option(a, r->menu, r->option)->profiled)
        return -1;
    double s[2];
    pass_slowdowns(a, g->menu, g->option, r->menu, r->option, s);
    double s_host = s[1] > r->s ? s[1] : r->s;
    if (s[0] > g->tau || !menu_keeps(pass_menu(a, g->menu), g->alone / s[0]) ||
        s_host > pass_tau(a, r->menu, r->alone) ||
        !menu_keeps(pass_menu(a, r->menu), r->alone / s_host))
        return -1;
    return 1 / (1 + r->worth * (r->alone / r->s - r->alone / s_host));
}

/* Weighs a started gang against its neighbours without it; with keep, writes what they agreed to.
 */
static bool gang_pays(const struct gang *g, int32_t job, bool keep)
{
    struct pass *a = g->a;
    int32_t n = a->p->at[a->v->jobs->task_begin[job]].n;
    double with = 0, without = 0, slowest = 1, longest_s = 0;
    a->n_weighed++;
    for (int32_t i = 0; i < n; i++) {
        int32_t other = pass_neighbour(a, job, pass_card(a, job, i));
        if (other < 0)
            continue;
        struct resident *r = &a->resident[a->s->resident[other]];
        double s[2];
        pass_slowdowns(a, g->menu, g->option, r->menu, r->option, s);
        double s_host = s[1] > r->s ? s[1] : r->s;
        slowest = s[0] > slowest ? s[0] : slowest;
        if (keep) {
            r->s = s_host;
            r->shares = true;
            a->s->tau[other] = pass_tau(a, r->menu, r->alone);
        } else if (r->met != a->n_weighed) {
            r->met = a->n_weighed;
            without += r->worth * r->alone / r->s;
            with += r->worth * r->alone / s_host;
            longest_s = fmax(longest_s, r->left_s * s_host / r->alone);
        }
    }
    with += g->guest.worth * g->alone / slowest;
    without += walk_alternative(&g->guest, g->alone / slowest, longest_s);
    return with >= (1 + a->config->margin) * without;
}

/* The hosts that a gang has come to sit beside are none any more. */
static void drop_taken(struct walk *w)
{
    const struct cluster *c = w->a->p->cluster;
    for (int32_t g = 0; g < w->n_groups; g++) {
        struct hosts *group = &w->group[g];
        int32_t n = group->next;
        for (int32_t i = group->next; i < group->end; i++)
            if (c->card_n_jobs[w->host[i].card] == 1)
                w->host[n++] = w->host[i];
        group->end = n;
    }
}

bool walk_start_gang_beside(struct walk *w, int32_t job, int32_t menu)
{
    struct pass *a = w->a;
    const struct menu *m = pass_menu(a, menu);
    int32_t asked = menu_asked(a->v->jobs, job), width = 0, option, by_score;
    while (width < m->n_widths && pass_width(a, menu, width)->n != asked)
        width++;
    if (width == m->n_widths || !walk_best_choice(a, job, menu, asked, &by_score, &option))
        return false;
    int32_t smallest = 0;
    for (int32_t o = 1; o < m->n_options; o++)
        if (pass_option(a, menu, o)->mem_mib < pass_option(a, menu, smallest)->mem_mib)
            smallest = o;
    for (int try = 0; try < 2; try++) {
        option = try == 0 ? by_score : smallest;
        double alone = pass_option(a, menu, option)->speed;
        struct gang g = {
            a, menu, option, alone, pass_tau(a, menu, alone), walk_guest(w, job, menu, width)};
        size_t mark = plan_mark(a->p);
        if (plan_config(a->p, job, pass_option(a, menu, option)->config) &&
            beside_start_best(a->p, job, a->s->card, a->p->cluster->n_cards, worth_of_card, &g,
                              a->v->scratch) &&
            gang_pays(&g, job, false)) {
            gang_pays(&g, job, true);
            a->s->tau[job] = g.tau;
            pass_took(a, job, m->kind, option, width);
            drop_taken(w);
            return true;
        }
        plan_undo(a->p, mark);
        if (smallest == by_score)
            break;
    }
    return false;
}
