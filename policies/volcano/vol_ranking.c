#include "policies/volcano/vol_ranking.h"

#include <stddef.h>

enum { RANKS_MAX = 1 << 22 }; /* 64 MiB of them */

bool vol_ranking_init(struct vol_ranking *r, const struct vol_nodes *v, int32_t n_asks,
                      int32_t n_trees, gsl_rng *rng, struct arena *arena)
{
    *r = (struct vol_ranking){.width = 1, .rng = rng};
    while (r->width < v->n)
        r->width *= 2;
    int32_t most = RANKS_MAX / (2 * r->width);
    r->n_trees = n_trees < most ? n_trees : most;
    r->n_trees = r->n_trees < n_asks ? r->n_trees : n_asks;
    r->n_trees = r->n_trees < 1 ? 1 : r->n_trees;
    size_t n = (size_t)r->n_trees;
    r->rank = arena_alloc(arena, n * 2 * (size_t)r->width, sizeof *r->rank);
    r->seen = arena_alloc(arena, n, sizeof *r->seen);
    r->used = arena_alloc(arena, n, sizeof *r->used);
    r->ask_of = arena_alloc(arena, n, sizeof *r->ask_of);
    r->tree_of = arena_alloc(arena, (size_t)n_asks, sizeof *r->tree_of);
    if (r->rank == NULL || r->seen == NULL || r->used == NULL || r->ask_of == NULL ||
        r->tree_of == NULL)
        return false;
    for (int32_t a = 0; a < n_asks; a++)
        r->tree_of[a] = -1;
    return true;
}

static struct vol_rank rank_of(struct vol_nodes *v, const struct vol_liking *how,
                               const struct vol_ask *ask, int32_t node, const bool *barred)
{
    enum vol_fit fit = vol_fit(v, how, ask, node, barred);
    if (fit == VOL_FITS_NOT)
        return (struct vol_rank){0};
    return (struct vol_rank){vol_liked(v, how, ask, node), (int32_t)fit, 1};
}

/* Above 0 where a is better, 0 where they are as good. */
static int better(const struct vol_rank *a, const struct vol_rank *b)
{
    if (a->fit != b->fit)
        return a->fit > b->fit ? 1 : -1;
    return (a->score > b->score) - (a->score < b->score);
}

static struct vol_rank fork_of(const struct vol_rank *a, const struct vol_rank *b)
{
    int c = better(a, b);
    struct vol_rank fork = c >= 0 ? *a : *b;
    if (c == 0)
        fork.n = a->n + b->n;
    return fork;
}

static void build(struct vol_ranking *r, struct vol_rank *tree, struct vol_nodes *v,
                  const struct vol_liking *how, const struct vol_ask *ask)
{
    for (int32_t i = 0; i < r->width; i++)
        tree[r->width + i] = i < v->n ? rank_of(v, how, ask, i, NULL) : (struct vol_rank){0};
    for (int32_t i = r->width - 1; i > 0; i--)
        tree[i] = fork_of(&tree[2 * i], &tree[2 * i + 1]);
}

static void renew(struct vol_ranking *r, struct vol_rank *tree, struct vol_nodes *v,
                  const struct vol_liking *how, const struct vol_ask *ask, int32_t node)
{
    int32_t i = r->width + node;
    tree[i] = rank_of(v, how, ask, node, NULL);
    for (i /= 2; i > 0; i /= 2) {
        struct vol_rank fork = fork_of(&tree[2 * i], &tree[2 * i + 1]);
        if (better(&fork, &tree[i]) == 0 && fork.n == tree[i].n)
            return;
        tree[i] = fork;
    }
}

/* A tree for the ask: its own, an unused one, or that of the ask not asked for longest. */
static int32_t tree_for(struct vol_ranking *r, int32_t ask)
{
    if (r->tree_of[ask] >= 0)
        return r->tree_of[ask];
    int32_t tree = 0;
    if (r->n_built < r->n_trees) {
        tree = r->n_built++;
    } else {
        for (int32_t t = 1; t < r->n_trees; t++)
            tree = r->used[t] < r->used[tree] ? t : tree;
        r->tree_of[r->ask_of[tree]] = -1;
    }
    r->ask_of[tree] = ask;
    r->tree_of[ask] = tree;
    r->seen[tree] = INT64_MIN;
    return tree;
}

int32_t vol_ranking_best(struct vol_ranking *r, struct vol_nodes *v, const struct vol_liking *how,
                         const struct vol_ask *asks, int32_t ask, enum vol_fit *fit)
{
    int32_t t = tree_for(r, ask);
    struct vol_rank *tree = r->rank + (size_t)t * 2 * (size_t)r->width;
    r->used[t] = ++r->now;
    if (r->seen[t] < v->n_changed - v->n_ring || r->seen[t] < 0)
        build(r, tree, v, how, &asks[ask]);
    else
        for (int64_t i = r->seen[t]; i < v->n_changed; i++)
            renew(r, tree, v, how, &asks[ask], v->changed[i & (v->n_ring - 1)]);
    r->seen[t] = v->n_changed;
    *fit = (enum vol_fit)tree[1].fit;
    if (*fit == VOL_FITS_NOT)
        return -1;
    int64_t k = 0;
    if (r->rng != NULL && tree[1].n > 1)
        k = (int64_t)gsl_rng_uniform_int(r->rng, (unsigned long)tree[1].n);
    int32_t i = 1;
    while (i < r->width) {
        i = 2 * i;
        if (better(&tree[i], &tree[1]) == 0 && k < tree[i].n)
            continue;
        k -= better(&tree[i], &tree[1]) == 0 ? tree[i].n : 0;
        i++;
    }
    return i - r->width;
}

int32_t vol_best_by_scan(struct vol_nodes *v, const struct vol_liking *how,
                         const struct vol_ask *ask, const bool *barred, gsl_rng *rng,
                         enum vol_fit *fit)
{
    struct vol_rank best = {0};
    int32_t node = -1;
    for (int32_t i = 0; i < v->n; i++) {
        const bool *here = barred == NULL ? NULL : barred + v->card_begin[i];
        struct vol_rank rank = rank_of(v, how, ask, i, here);
        int c = rank.fit == VOL_FITS_NOT ? -1 : better(&rank, &best);
        best.n += c == 0;
        if (c > 0)
            best = rank;
        if (c > 0 ||
            (c == 0 && rng != NULL && gsl_rng_uniform_int(rng, (unsigned long)best.n) == 0))
            node = i;
    }
    *fit = (enum vol_fit)best.fit;
    return node;
}
