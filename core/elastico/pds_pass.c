#include "core/elastico/pds_pass.h"

#include <math.h>
#include <stdlib.h>

double pass_tau(const struct pass *a, int32_t menu, double alone)
{
    const struct pds_config *c = a->config;
    const struct iac_tau tau = {(enum iac_tau_form)c->tau, c->tau_base, c->beta, c->beta_max,
                                c->u_target};
    double least = pass_menu(a, menu)->least;
    if (pass_is(a, PDS_NO_IAC))
        return INFINITY;
    return iac_tau(&tau, least > 0 ? alone / least : INFINITY, a->u);
}

double pass_speed_here(const struct pass *a, int32_t job, int32_t menu, int32_t option,
                       int32_t width, bool *proper)
{
    struct seats at = a->p->at[a->v->jobs->task_begin[job]];
    *proper = true;
    if (!pass_is_laid(a, job))
        return pass_speed(a, menu, option, width);
    return rst_placed_speed(a->s->menus.rst, a->p->cluster, a->v->jobs, job,
                            pass_option(a, menu, option)->config, at.first, at.n, proper);
}

void pass_slowdowns(struct pass *a, int32_t menu_i, int32_t option_i, int32_t menu_k,
                    int32_t option_k, double s[2])
{
    struct pds *pds = a->s;
    int32_t of = pass_menu(a, menu_i)->option + option_i;
    int32_t beside = pass_menu(a, menu_k)->option + option_k;
    struct pds_beside *known = &pds->beside[beside];
    if (known->other != of || known->pass != pds->n_passes) {
        int32_t i = pds->menus.option[of].row, k = pds->menus.option[beside].row;
        const struct iac_pair question[2] = {{i, k}, {k, i}};
        known->other = of;
        known->pass = pds->n_passes;
        pairing_ask(&pds->pairing, 2, question, known->s);
    }
    s[0] = known->s[0];
    s[1] = known->s[1];
}

int32_t pass_neighbour(const struct pass *a, int32_t job, int32_t card)
{
    const struct cluster *c = a->p->cluster;
    if (c->card_n_jobs[card] != 2)
        return -1;
    int32_t seat = c->card_seat[card], other = a->v->jobs->task_job[c->seats[seat].task];
    return other != job ? other : a->v->jobs->task_job[c->seats[c->seats[seat].next].task];
}

void pass_took(struct pass *a, int32_t job, int32_t kind, int32_t option, int32_t width)
{
    a->s->kind[job] = kind;
    a->s->option[job] = option;
    a->s->width[job] = width;
    a->s->aged[job] = false;
    a->s->changed = true;
}

int32_t pass_free_card(const struct pass *a, int32_t job, int32_t kind)
{
    const struct cluster *c = a->p->cluster;
    const struct job_table *t = a->v->jobs;
    int32_t task = t->task_begin[job], best = -1;
    for (int32_t node = 0; node < c->n_nodes && c->n_cards_free > 0; node++)
        if (c->cards_free[node] > 0 && a->s->menus.kind_of_node[node] == kind &&
            (best < 0 || c->cards_free[node] < c->cards_free[best]) &&
            place_node_most(c, t, task, &a->p->rules, node) > 0)
            best = node;
    for (int32_t card = best < 0 ? 0 : c->node_card[best];
         best >= 0 && card < c->node_card[best + 1]; card++)
        if (c->card_n_jobs[card] == 0)
            return card;
    return -1;
}

int32_t pass_free_cards(const struct pass *a, int32_t kind)
{
    const struct cluster *c = a->p->cluster;
    int32_t n = 0;
    for (int32_t node = 0; node < c->n_nodes && c->n_cards_free > 0; node++)
        n += a->s->menus.kind_of_node[node] == kind ? c->cards_free[node] : 0;
    return n;
}

bool pass_reconfigure(struct pass *a, struct resident *r, int32_t option)
{
    const struct rst *rst = a->s->menus.rst;
    int32_t from = pass_option(a, r->menu, r->option)->config;
    int32_t to = pass_option(a, r->menu, option)->config;
    if (!plan_config(a->p, r->job, to))
        return false;
    double cost_s = r->fresh ? 0 : transition_config_s(&a->config->cost, rst, r->job, from, to);
    if (cost_s > 0)
        plan_pause(a->p, r->job, us_of_s(cost_s));
    bool proper;
    r->option = option;
    r->alone = pass_speed_here(a, r->job, r->menu, option, r->width, &proper);
    r->touched = true;
    pass_took(a, r->job, a->s->kind[r->job], option, r->width);
    return true;
}

bool pass_look_at_queue(struct pass *a)
{
    const struct pds *s = a->s;
    size_t n = (size_t)s->n_waiting + 1;
    a->n_queue = s->n_waiting;
    a->queue_key = arena_alloc(a->v->scratch, n, sizeof *a->queue_key);
    a->asked_milli = arena_alloc(a->v->scratch, n, sizeof *a->asked_milli);
    if (a->queue_key == NULL || a->asked_milli == NULL)
        return false;
    for (int32_t i = 0; i < a->n_queue; i++) {
        a->queue_key[i] = s->queue[i].key;
        a->asked_milli[i + 1] = a->asked_milli[i] + s->queue[i].milli;
    }
    return true;
}

double pass_behind(const struct pass *a, int32_t job, int32_t n_cards, double left_s)
{
    double key = key_of(a->s, a->v->jobs, job, 1e3 * n_cards, left_s);
    int32_t lo = 0, hi = a->n_queue;
    while (lo < hi) {
        int32_t middle = lo + (hi - lo) / 2;
        if (a->queue_key[middle] <= key)
            lo = middle + 1;
        else
            hi = middle;
    }
    return (double)(a->asked_milli[a->n_queue] - a->asked_milli[lo]) / 1e3;
}

struct resident *pass_add_resident(struct pass *a, int32_t job, int32_t menu)
{
    const struct pds *s = a->s;
    struct resident *r = &a->resident[a->n];
    bool proper;
    s->resident[job] = a->n++;
    *r = (struct resident){.job = job,
                           .menu = menu,
                           .option = s->option[job],
                           .width = s->width[job],
                           .want_option = s->option[job],
                           .want_width = s->width[job],
                           .n_cards = a->p->at[a->v->jobs->task_begin[job]].n,
                           .s = 1,
                           .left_s = s->left_s[job]};
    r->omega = omega_of(a, r->left_s);
    r->worth = worth_of(a, menu, r->n_cards, pass_behind(a, job, r->n_cards, r->left_s));
    r->alone = pass_speed_here(a, job, menu, r->option, r->width, &proper);
    return r;
}

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

bool pass_find_free(struct pass *a)
{
    const struct cluster *c = a->p->cluster;
    a->free_in_s = arena_alloc(a->v->scratch, (size_t)c->n_cards + 1, sizeof *a->free_in_s);
    if (a->free_in_s == NULL)
        return false;
    for (int32_t card = 0; card < c->n_cards; card++)
        a->free_in_s[card] = c->card_n_jobs[card] == 0 ? 0 : INFINITY;
    for (int32_t i = 0; i < a->n; i++) {
        const struct resident *r = &a->resident[i];
        for (int32_t k = 0; k < r->n_cards; k++) {
            double *in_s = &a->free_in_s[pass_card(a, r->job, k)],
                   ends_s = r->left_s * r->s / r->alone;
            *in_s = isinf(*in_s) || ends_s > *in_s ? ends_s : *in_s;
        }
    }
    qsort(a->free_in_s, (size_t)c->n_cards, sizeof *a->free_in_s, ascending);
    return true;
}
