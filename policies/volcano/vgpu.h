/* vgpu.h - which cards of a node a task that shares GPUs gets: Volcano's deviceshare plug-in with a
 * HAMi device plug-in.
 *
 * A card takes so many shares, its memory and 100 per cent of its cores. All cores asks for a card
 * of one's own; no cores at all is refused where they are used up. The order of the cards is the
 * only difference between the policies; it does not say which node is chosen, unless
 * the cards' score is given a weight. Memory in any unit, the same for cards and asks.
 *
 * Source: Volcano ed72c7c (2026-08-20), pkg/scheduler/api/devices/nvidia/vgpu. */
#ifndef COLOSIM_VGPU_H
#define COLOSIM_VGPU_H

#include <stdbool.h>
#include <stdint.h>

enum vgpu_order { VGPU_UNSET, VGPU_BINPACK, VGPU_SPREAD };

enum { VGPU_CORES = 100 };

struct vgpu_card {
    int32_t mem, max_shares;
    int32_t used_mem, used_cores, shares;
};

struct vgpu_ask {
    int32_t n;           /* cards */
    int32_t mem;         /* of each; */
    int32_t mem_percent; /* or, where above 0, this part of the card's */
    int32_t cores;       /* of each, per cent */
};

bool vgpu_fits(const struct vgpu_card *card, const struct vgpu_ask *ask);
/* Cards for the ask in the order of the policy, written to picked (ask->n); false when they are
 * fewer. barred (n_cards) may not be taken; NULL for none. Cost O(n_cards x ask->n). */
bool vgpu_pick(enum vgpu_order order, const struct vgpu_card *card, int32_t n_cards,
               const struct vgpu_ask *ask, const bool *barred, int32_t *picked);
/* Gives (times 1) or takes back (times -1) a share of a card. */
void vgpu_take(struct vgpu_card *card, const struct vgpu_ask *ask, int32_t times);
/* 0 to 100: how much the policy likes the card as it is. */
double vgpu_score(enum vgpu_order order, const struct vgpu_card *card);

#endif
