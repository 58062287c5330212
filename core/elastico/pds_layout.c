/* Jobs whose choices must be tried, with layouts (parallel.h) or parts of their nodes' bandwidths:
 * on which free cards they start, and as what. */
#include "core/elastico/pds_pass.h"

#include <math.h>

int32_t pass_chunk(const struct pass *a, int32_t job, int32_t menu, int32_t option)
{
    const struct workloads *w = pass_is_laid(a, job) ? a->s->menus.rst->w : NULL;
    int32_t config = pass_option(a, menu, option)->config;
    bool spans = w == NULL || w->parallel[w->workload[config]].tp_spans > 0;
    return spans ? 1 : config_degree(w, config, KNOB_TP);
}

/* Free cards of a node that an elastic job can have, in whole chunks. */
static int32_t room_of(const struct pass *a, int32_t task, int32_t node, int32_t chunk)
{
    const struct cluster *c = a->p->cluster;
    int32_t most = place_node_most(c, a->v->jobs, task, &a->p->rules, node);
    int32_t n = c->cards_free[node] < most ? c->cards_free[node] : most;
    return n / chunk * chunk;
}

/* The node with least room that holds so many cards, else the one with most room; -1: none has
 * any. Used ones are left out. */
static int32_t next_node(const struct pass *a, int32_t task, int32_t kind, int32_t chunk,
                         int32_t left, const bool *used)
{
    int32_t best = -1, best_room = 0;
    for (int32_t node = 0; node < a->p->cluster->n_nodes; node++) {
        int32_t room = used[node] || a->s->menus.kind_of_node[node] != kind
                           ? 0
                           : room_of(a, task, node, chunk);
        bool holds = room >= left, held = best_room >= left;
        if (room > 0 && (best < 0 || (holds && !held) || (holds && room < best_room) ||
                         (!held && room > best_room))) {
            best = node;
            best_room = room;
        }
    }
    return best;
}

/* Starts an elastic job on n free cards of as few nodes as hold them. */
static bool start_packed(struct pass *a, int32_t job, int32_t kind, int32_t chunk, int32_t n)
{
    const struct cluster *c = a->p->cluster;
    int32_t task = a->v->jobs->task_begin[job], node, found = 0;
    struct arena_mark mark = arena_mark(a->v->scratch);
    int32_t *where = arena_alloc(a->v->scratch, (size_t)n, sizeof *where);
    bool *used = arena_alloc(a->v->scratch, (size_t)c->n_nodes, sizeof *used);
    a->memory_out = a->memory_out || where == NULL || used == NULL;
    while (!a->memory_out && found < n &&
           (node = next_node(a, task, kind, chunk, n - found, used)) >= 0) {
        int32_t end = found + room_of(a, task, node, chunk);
        used[node] = true;
        end = end < n ? end : n;
        for (int32_t card = c->node_card[node]; card < c->node_card[node + 1] && found < end;
             card++)
            if (c->card_n_jobs[card] == 0)
                where[found++] = card;
    }
    bool ok = !a->memory_out && found == n && plan_start_at(a->p, job, where, n);
    arena_reset(a->v->scratch, mark);
    return ok;
}

/* In this option and width; the caller takes it back where that failed. */
static bool start_as(struct pass *a, int32_t job, int32_t menu, int32_t option, int32_t width)
{
    int32_t kind = pass_menu(a, menu)->kind;
    if (!plan_config(a->p, job, pass_option(a, menu, option)->config))
        return false;
    if (pass_width(a, menu, width)->n == 1) {
        int32_t card = pass_free_card(a, job, kind);
        return card >= 0 && plan_start_at(a->p, job, &card, 1);
    }
    if (job_is_elastic(a->v->jobs, job))
        return start_packed(a, job, kind, pass_chunk(a, job, menu, option),
                            pass_width(a, menu, width)->n);
    pass_only_kind(a, kind);
    bool started = plan_start(a->p, job);
    a->p->rules.nodes = NULL;
    return started;
}

bool pass_start_tried(struct pass *a, int32_t job, int32_t menu)
{
    const struct menu *m = pass_menu(a, menu);
    int32_t n_free = pass_free_cards(a, m->kind), option = -1, width = -1;
    double omega = omega_of(a, a->s->left_s[job]), least = INFINITY;
    size_t mark = plan_mark(a->p);
    for (int32_t i = 0; i < m->n_options * m->n_widths && !a->memory_out; i++) {
        int32_t o = i / m->n_widths, w = i % m->n_widths;
        double speed = pass_speed(a, menu, o, w);
        bool proper;
        if (pass_width(a, menu, w)->n > n_free || !menu_keeps(m, speed) ||
            !(pass_score(a, menu, o, w, omega, speed) < least))
            continue;
        if (start_as(a, job, menu, o, w)) {
            speed = pass_speed_here(a, job, menu, o, w, &proper);
            double score = pass_score(a, menu, o, w, omega, speed);
            if (proper && menu_keeps(m, speed) && score < least) {
                least = score;
                option = o;
                width = w;
            }
        }
        plan_undo(a->p, mark);
    }
    if (option < 0 || !start_as(a, job, menu, option, width))
        return false;
    a->s->tau[job] = INFINITY;
    pass_took(a, job, m->kind, option, width);
    pass_add_resident(a, job, menu)->fresh = true;
    return true;
}
