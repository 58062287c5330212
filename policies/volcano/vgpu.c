#include "policies/volcano/vgpu.h"

#include <stddef.h>

static int32_t mem_of(const struct vgpu_card *card, const struct vgpu_ask *ask)
{
    return ask->mem_percent > 0 ? (int32_t)((int64_t)card->mem * ask->mem_percent / 100) : ask->mem;
}

bool vgpu_fits(const struct vgpu_card *card, const struct vgpu_ask *ask)
{
    bool alone = ask->cores == VGPU_CORES;
    return card->shares < card->max_shares && card->mem - card->used_mem >= mem_of(card, ask) &&
           card->used_cores + ask->cores <= VGPU_CORES && !(alone && card->shares > 0) &&
           !(ask->cores == 0 && card->used_cores == VGPU_CORES);
}

/* Does card a come before card b? */
static bool before(enum vgpu_order order, const struct vgpu_card *card, int32_t a, int32_t b)
{
    switch (order) {
    case VGPU_UNSET: return a > b;
    case VGPU_BINPACK:
        return card[a].used_mem != card[b].used_mem ? card[a].used_mem > card[b].used_mem : a < b;
    case VGPU_SPREAD:
        return card[a].shares != card[b].shares ? card[a].shares < card[b].shares : a < b;
    }
    return false;
}

bool vgpu_pick(enum vgpu_order order, const struct vgpu_card *card, int32_t n_cards,
               const struct vgpu_ask *ask, const bool *barred, int32_t *picked)
{
    for (int32_t n = 0; n < ask->n; n++) {
        int32_t best = -1;
        for (int32_t c = 0; c < n_cards; c++) {
            bool later = n == 0 || before(order, card, picked[n - 1], c);
            if (later && (best < 0 || before(order, card, c, best)) && vgpu_fits(&card[c], ask) &&
                (barred == NULL || !barred[c]))
                best = c;
        }
        if (best < 0)
            return false;
        picked[n] = best;
    }
    return true;
}

void vgpu_take(struct vgpu_card *card, const struct vgpu_ask *ask, int32_t times)
{
    card->used_mem += times * mem_of(card, ask);
    card->used_cores += times * ask->cores;
    card->shares += times;
}

double vgpu_score(enum vgpu_order order, const struct vgpu_card *card)
{
    switch (order) {
    case VGPU_UNSET: return 0;
    case VGPU_BINPACK: return 100. * card->used_mem / card->mem;
    case VGPU_SPREAD: return card->shares == 0 ? 100 : 0;
    }
    return 0;
}
