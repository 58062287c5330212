#include "policies/lucid/lending.h"

#include <string.h>

enum { BORROWED = INT32_MAX };

enum status lending_pool(const struct vcs *s, const char *key, const char *name, size_t length,
                         int32_t *pool, struct error *err)
{
    *pool = vcs_find(s, name, length);
    if (*pool < 0)
        return fail(err, ST_USAGE, "lucid.%s: the cluster has no pool '%.*s'", key, (int)length,
                    name);
    return ST_OK;
}

enum status lending_init(struct lending *l, const char *lender, const char *spare, struct vcs *s,
                         const struct view *v, struct arena *arena, struct error *err)
{
    l->lender = -1;
    if (lender != NULL)
        TRY(lending_pool(s, "lender", lender, strlen(lender), &l->lender, err));
    l->spare = spare != NULL ? vcs_find(s, spare, strlen(spare)) : -1;
    l->name = arena_alloc(arena, (size_t)v->cluster->n_nodes, sizeof *l->name);
    if (l->name == NULL)
        return fail_memory(err);
    for (int32_t node = 0; node < v->cluster->n_nodes; node++)
        l->name[node] = node;
    for (int32_t i = 0; l->spare >= 0 && i < s->vc[l->spare].n_nodes; i++)
        vc_remove_node(&s->vc[s->n - 1], s->vc[l->spare].node[i]);
    return ST_OK;
}

/* The idle node with the highest name, -1 for none. */
static int32_t idle_node(const struct lending *l, const struct cluster *c, const struct vc *vc)
{
    int32_t best = -1;
    for (int32_t i = 0; i < vc->n_nodes; i++) {
        int32_t node = vc->node[i];
        if (c->cards_free[node] == c->node_card[node + 1] - c->node_card[node] &&
            (best < 0 || l->name[node] > l->name[best]))
            best = node;
    }
    return best;
}

static int32_t called_borrowed(const struct lending *l, const struct vc *vc)
{
    for (int32_t i = 0; i < vc->n_nodes; i++)
        if (l->name[vc->node[i]] == BORROWED)
            return vc->node[i];
    return -1;
}

int32_t lending_take(struct lending *l, struct vcs *s, struct plan *plan)
{
    struct vc *vc = &s->vc[l->lender], *all = &s->vc[s->n - 1];
    int32_t node = idle_node(l, s->cluster, vc), other = called_borrowed(l, vc);
    if (node >= 0 && other >= 0)
        l->name[other] = l->name[node];
    if (node < 0 && l->spare >= 0) {
        vc = &s->vc[l->spare];
        node = vc->n_nodes > 0 ? vc->node[vc->n_nodes - 1] : -1;
    }
    if (node < 0)
        return -1;
    vc->away = all->away = node;
    vc_remove_node(vc, node);
    vc_remove_node(all, node);
    plan_pool(plan, node, -1);
    return node;
}

void lending_return(struct lending *l, struct vcs *s, struct plan *plan, int32_t node)
{
    bool has_one = called_borrowed(l, &s->vc[l->lender]) >= 0;
    int32_t pool = has_one ? l->spare : l->lender;
    for (int32_t i = 0; i < s->n; i++)
        s->vc[i].away = -1;
    vc_add_node(&s->vc[pool], node);
    plan_pool(plan, node, pool);
    if (has_one)
        return;
    l->name[node] = BORROWED;
    vc_add_node(&s->vc[s->n - 1], node);
    s->vc[pool].due = true;
}
