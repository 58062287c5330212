#include "policies/volcano/vol_nodes.h"

static bool columns_new(struct vol_nodes *v, size_t n, struct arena *arena)
{
#define COLUMN(name) ((v->name = arena_alloc(arena, n, sizeof *v->name)) != NULL)
    return COLUMN(size) && COLUMN(idle) && COLUMN(releasing) && COLUMN(promised) && COLUMN(label);
#undef COLUMN
}

bool vol_nodes_init(struct vol_nodes *v, int32_t n, const int32_t *card_begin, struct arena *arena)
{
    *v = (struct vol_nodes){.n = n, .n_ring = 16};
    while (v->n_ring < n)
        v->n_ring *= 2;
    v->changed = arena_alloc(arena, (size_t)v->n_ring, sizeof *v->changed);
    if (v->changed == NULL || !columns_new(v, (size_t)n, arena))
        return false;
    if (card_begin == NULL)
        return true;
    int32_t most = 0;
    for (int32_t i = 0; i < n; i++)
        most = card_begin[i + 1] - card_begin[i] > most ? card_begin[i + 1] - card_begin[i] : most;
    v->card = arena_alloc(arena, (size_t)card_begin[n], sizeof *v->card);
    v->card_begin = arena_alloc(arena, (size_t)n + 1, sizeof *v->card_begin);
    v->picked = arena_alloc(arena, (size_t)most, sizeof *v->picked);
    if (v->card == NULL || v->card_begin == NULL || v->picked == NULL)
        return false;
    for (int32_t i = 0; i <= n; i++)
        v->card_begin[i] = card_begin[i];
    return true;
}

void vol_nodes_size(struct vol_nodes *v, int32_t node, const struct amounts *size, int32_t label)
{
    v->size[node] = v->idle[node] = *size;
    v->label[node] = label;
    amounts_add(&v->total, size, 1);
}

static void note(struct vol_nodes *v, int32_t node)
{
    v->changed[v->n_changed++ & (v->n_ring - 1)] = node;
}

void vol_nodes_take(struct vol_nodes *v, int32_t node, const struct amounts *amounts, double times)
{
    amounts_add(&v->idle[node], amounts, -times);
    amounts_add(&v->used, amounts, times);
    note(v, node);
}

void vol_nodes_release(struct vol_nodes *v, int32_t node, const struct amounts *amounts,
                       double times)
{
    amounts_add(&v->releasing[node], amounts, times);
    note(v, node);
}

void vol_nodes_promise(struct vol_nodes *v, int32_t node, const struct amounts *amounts,
                       double times)
{
    amounts_add(&v->promised[node], amounts, times);
    note(v, node);
}

struct amounts vol_future_idle(const struct vol_nodes *v, int32_t node)
{
    struct amounts later = v->idle[node];
    amounts_add(&later, &v->releasing[node], 1);
    amounts_add(&later, &v->promised[node], -1);
    return later;
}

bool vol_label_fits(const struct vol_nodes *v, const struct vol_liking *how,
                    const struct vol_ask *ask, int32_t node)
{
    return !how->predicates || (ask->labels >> v->label[node] & 1) != 0;
}

static bool cards_fit(struct vol_nodes *v, const struct vol_liking *how, const struct vol_ask *ask,
                      int32_t node, const bool *barred)
{
    int32_t first = v->card_begin[node], n = v->card_begin[node + 1] - first;
    return vgpu_pick(how->card_order, v->card + first, n, &ask->cards, barred, v->picked);
}

enum vol_fit vol_fit(struct vol_nodes *v, const struct vol_liking *how, const struct vol_ask *ask,
                     int32_t node, const bool *barred)
{
    struct amounts later = vol_future_idle(v, node);
    if (!amounts_within(&ask->amounts, &later) || !vol_label_fits(v, how, ask, node) ||
        (ask->cards.n > 0 && !cards_fit(v, how, ask, node, barred)))
        return VOL_FITS_NOT;
    return amounts_within(&ask->amounts, &v->idle[node]) ? VOL_FITS_NOW : VOL_FITS_LATER;
}

/* The sum over the cards that the task would get of what the card is worth with it. */
static double cards_liked(struct vol_nodes *v, const struct vol_liking *how,
                          const struct vol_ask *ask, int32_t node)
{
    double sum = 0;
    if (!cards_fit(v, how, ask, node, NULL))
        return 0;
    for (int32_t i = 0; i < ask->cards.n; i++) {
        struct vgpu_card with = v->card[v->card_begin[node] + v->picked[i]];
        vgpu_take(&with, &ask->cards, 1);
        sum += vgpu_score(how->card_order, &with);
    }
    return sum;
}

double vol_liked(struct vol_nodes *v, const struct vol_liking *how, const struct vol_ask *ask,
                 int32_t node)
{
    const struct vol_weights *w = &how->weights;
    const struct amounts *size = &v->size[node];
    struct amounts used = *size, later = vol_future_idle(v, node), held = *size;
    amounts_add(&used, &later, -1);         /* promised tasks count, evicted ones do not */
    amounts_add(&held, &v->idle[node], -1); /* the other way round */
    double score = 0;
    if (w->least > 0)
        score += w->least * vol_score_least(size, &used, &ask->amounts);
    if (w->most > 0)
        score += w->most * vol_score_most(size, &used, &ask->amounts);
    if (w->balanced > 0)
        score += w->balanced * vol_score_balanced(w->how, size, &used, &ask->amounts);
    if (w->binpack > 0)
        score += w->binpack * vol_score_binpack(w->pack, size, &held, &ask->amounts);
    if (how->card_weight > 0 && ask->cards.n > 0)
        score += how->card_weight * cards_liked(v, how, ask, node);
    return score;
}
