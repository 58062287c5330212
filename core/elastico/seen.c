#include "core/elastico/seen.h"

#include <stdlib.h>

enum { SLOTS_FIRST = 256 };

void seen_free(struct seen *s)
{
    free(s->slot);
    *s = (struct seen){0};
}

static struct seen_pair *slot_of(const struct seen *s, struct iac_pair pair)
{
    uint64_t key = (uint64_t)(uint32_t)pair.of << 32 | (uint32_t)pair.beside;
    uint32_t at = (uint32_t)(key * UINT64_C(0x9e3779b97f4a7c15) >> 32);
    for (;; at++) {
        struct seen_pair *slot = &s->slot[at & (uint32_t)(s->n_slots - 1)];
        if (slot->pair.of < 0 || (slot->pair.of == pair.of && slot->pair.beside == pair.beside))
            return slot;
    }
}

/* Twice the room. */
static bool grow(struct seen *s)
{
    struct seen more = {.n = s->n, .n_slots = s->n_slots > 0 ? 2 * s->n_slots : SLOTS_FIRST};
    more.slot = malloc((size_t)more.n_slots * sizeof *more.slot);
    if (more.slot == NULL)
        return false;
    for (int32_t i = 0; i < more.n_slots; i++)
        more.slot[i].pair.of = -1;
    for (int32_t i = 0; i < s->n_slots; i++)
        if (s->slot[i].pair.of >= 0)
            *slot_of(&more, s->slot[i].pair) = s->slot[i];
    free(s->slot);
    *s = more;
    return true;
}

bool seen_add(struct seen *s, struct iac_pair pair, double slowdown, bool *news)
{
    if (2 * (s->n + 1) > s->n_slots && !grow(s))
        return false;
    struct seen_pair *slot = slot_of(s, pair);
    double now = iac_round(slowdown > 1 ? slowdown : 1);
    if (slot->pair.of < 0) {
        *slot = (struct seen_pair){pair, 0, 0};
        s->n++;
    }
    double before = slot->mean;
    slot->n++;
    slot->mean += (now - slot->mean) / (double)slot->n;
    *news = slot->mean != before;
    return true;
}

double seen_or(const struct seen *s, struct iac_pair pair, double believed)
{
    const struct seen_pair *slot = s->n > 0 ? slot_of(s, pair) : NULL;
    return slot != NULL && slot->pair.of >= 0 ? slot->mean : believed;
}
