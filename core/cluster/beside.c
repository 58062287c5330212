#include "core/cluster/beside.h"

#include <stdlib.h>

static int32_t task_left(const struct plan *p, int32_t job)
{
    return p->jobs->task_begin[job] + p->n_ended[job];
}

bool beside_whole(const struct plan *p, int32_t job)
{
    int32_t task = task_left(p, job), gpu = p->jobs->gpu_milli[task];
    return p->cluster->share == SHARE_CARD && task + 1 == p->jobs->task_begin[job + 1] &&
           gpu >= 1000 && gpu % 1000 == 0;
}

/* Did the last start overbook nothing? */
static bool within(const struct plan *p, int32_t task)
{
    const struct cluster *c = p->cluster;
    for (int32_t i = p->at[task].first; i < p->at[task].first + p->at[task].n; i++) {
        int32_t card = c->seats[i].where, node = c->card_node[card];
        if (!place_node_suits(c, p->jobs, task, &p->rules, node) || c->cpu_free_milli[node] < 0 ||
            c->mem_free_mib[node] < 0 || c->nic_free_mbps[node] < 0 ||
            c->storage_free_mbps[node] < 0 || (c->card_mem_free_mib[card] < 0 && !c->mem_gives_way))
            return false;
    }
    return true;
}

bool beside_start(struct plan *p, int32_t job, int32_t host, struct arena *scratch)
{
    const struct job_table *t = p->jobs;
    if (!beside_whole(p, job) || !beside_whole(p, host))
        return false;
    int32_t task = task_left(p, job), beside = task_left(p, host);
    if (t->gpu_milli[task] != t->gpu_milli[beside] || t->n_inst[task] != plan_width(p, beside))
        return false;
    struct arena_mark before = arena_mark(scratch);
    size_t mark = plan_mark(p);
    struct seats at = p->at[beside];
    int32_t *where = arena_alloc(scratch, (size_t)at.n, sizeof *where);
    p->failed = p->failed || where == NULL;
    for (int32_t i = 0; where != NULL && i < at.n; i++)
        where[i] = p->cluster->seats[at.first + i].where;
    bool starts = where != NULL && plan_start_at(p, job, where, at.n);
    arena_reset(scratch, before);
    if (starts && !within(p, task)) {
        plan_undo(p, mark);
        return false;
    }
    return starts;
}

struct card_worth {
    double worth;
    int32_t card;
};

/* What one start looks at: all cards, node by node, the gladdest first. */
struct wish {
    struct card_worth *card; /* (n_cards) */
    int32_t *n_usable;       /* (n_nodes) the first so many of its cards here */
    int32_t *n_taken;        /* (n_nodes) instances put there */
    int32_t *n_most;         /* (n_nodes) instances by CPU, memory, type and pool */
    struct card_worth *next; /* (n_open) nodes with room for one instance: the worst card of the
                                next there, of worth -1 where none fits any more */
    int32_t n_open;
    int32_t *where; /* (seats) */
    int32_t per_inst;
};

static int gladdest_first(const void *a, const void *b)
{
    const struct card_worth *x = a, *y = b;
    if (x->worth != y->worth)
        return x->worth > y->worth ? -1 : 1;
    return x->card < y->card ? -1 : 1;
}

static void rank_cards(const struct plan *p, int32_t job, const int32_t *card, int32_t n_cards,
                       beside_worth_fn worth, const void *context, struct wish *w)
{
    const struct cluster *c = p->cluster;
    int32_t task = task_left(p, job);
    for (int32_t i = 0, begin = 0; i < n_cards; i = begin) {
        int32_t node = c->card_node[card[i]], first = c->node_card[node], n = 0;
        w->n_most[node] = place_node_most(c, p->jobs, task, &p->rules, node);
        for (begin = i; begin < n_cards && c->card_node[card[begin]] == node; begin++) {
            bool room = w->n_most[node] > 0 &&
                        (c->mem_gives_way ||
                         c->card_mem_free_mib[card[begin]] >= p->jobs->card_mem_mib[task]);
            double glad = room ? worth(context, p, job, card[begin]) : -1;
            if (glad >= 0)
                w->card[first + n++] = (struct card_worth){glad, card[begin]};
        }
        if (n > 1)
            qsort(w->card + first, (size_t)n, sizeof *w->card, gladdest_first);
        w->n_usable[node] = n;
    }
}

/* How many instances the node holds. */
static int32_t instances(const struct wish *w, int32_t node)
{
    int32_t n = w->n_usable[node] / w->per_inst;
    return n < w->n_most[node] ? n : w->n_most[node];
}

/* The last card of the next instance on this node. */
static struct card_worth next_of(const struct cluster *c, const struct wish *w, int32_t node)
{
    int32_t last = c->node_card[node] + (w->n_taken[node] + 1) * w->per_inst - 1;
    bool fits = w->n_taken[node] < instances(w, node);
    return fits ? w->card[last] : (struct card_worth){-1, -1};
}

static void seat_instance(const struct cluster *c, struct wish *w, int32_t inst)
{
    struct card_worth *best = w->next;
    for (int32_t i = 1; i < w->n_open; i++)
        if (w->next[i].worth > best->worth)
            best = &w->next[i];
    int32_t node = c->card_node[best->card];
    for (int32_t i = 0; i < w->per_inst; i++)
        w->where[inst * w->per_inst + i] =
            w->card[c->node_card[node] + w->n_taken[node] * w->per_inst + i].card;
    w->n_taken[node]++;
    *best = next_of(c, w, node);
}

/* False where there are not cards enough. */
static bool seat_all(const struct cluster *c, struct wish *w, int32_t n_inst)
{
    int64_t n = 0;
    for (int32_t node = 0; node < c->n_nodes; node++) {
        n += instances(w, node);
        if (instances(w, node) > 0)
            w->next[w->n_open++] = next_of(c, w, node);
    }
    for (int32_t i = 0; i < n_inst && n >= n_inst; i++)
        seat_instance(c, w, i);
    return n >= n_inst;
}

bool beside_start_best(struct plan *p, int32_t job, const int32_t *card, int32_t n_cards,
                       beside_worth_fn worth, const void *context, struct arena *scratch)
{
    if (!beside_whole(p, job) ||
        (int64_t)p->jobs->n_inst[task_left(p, job)] * p->jobs->gpu_milli[task_left(p, job)] >
            n_cards * INT64_C(1000))
        return false;
    const struct cluster *c = p->cluster;
    struct arena_mark before = arena_mark(scratch);
    int32_t task = task_left(p, job), n_inst = p->jobs->n_inst[task];
    bool seated = false;
    struct wish w = {.per_inst = p->jobs->gpu_milli[task] / 1000};
    size_t n_nodes = (size_t)c->n_nodes;
    w.card = arena_alloc(scratch, (size_t)c->n_cards, sizeof *w.card);
    w.n_usable = arena_alloc(scratch, n_nodes, sizeof *w.n_usable);
    w.n_taken = arena_alloc(scratch, n_nodes, sizeof *w.n_taken);
    w.n_most = arena_alloc(scratch, n_nodes, sizeof *w.n_most);
    w.next = arena_alloc(scratch, n_nodes, sizeof *w.next);
    w.where = arena_alloc(scratch, (size_t)n_inst * (size_t)w.per_inst, sizeof *w.where);
    if (w.card == NULL || w.n_usable == NULL || w.n_taken == NULL || w.n_most == NULL ||
        w.next == NULL || w.where == NULL) {
        p->failed = true;
    } else {
        rank_cards(p, job, card, n_cards, worth, context, &w);
        seated = seat_all(c, &w, n_inst);
    }
    bool starts = seated && plan_start_at(p, job, w.where, n_inst * w.per_inst);
    arena_reset(scratch, before);
    return starts;
}
