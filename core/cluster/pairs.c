#include "core/cluster/pairs.h"

#include <math.h>
#include <stdlib.h>

/* The slot of (a, b) with a <= b, or the free one where it would go. */
static struct pair_slot *slot_of(const struct pairs *p, int32_t a, int32_t b)
{
    uint64_t key[2] = {(uint64_t)a, (uint64_t)b};
    uint64_t at = bytes_hash(key, sizeof key, 0) & (uint64_t)(p->n_slots - 1);
    while (p->slot[at].a >= 0 && (p->slot[at].a != a || p->slot[at].b != b))
        at = (at + 1) & (uint64_t)(p->n_slots - 1);
    return &p->slot[at];
}

static bool grow(struct pairs *p)
{
    struct pairs bigger = *p;
    bigger.n_slots = p->n_slots == 0 ? 64 : p->n_slots * 2;
    bigger.slot = malloc((size_t)bigger.n_slots * sizeof *bigger.slot);
    if (bigger.slot == NULL)
        return false;
    for (int32_t i = 0; i < bigger.n_slots; i++)
        bigger.slot[i].a = -1;
    for (int32_t i = 0; i < p->n_slots; i++)
        if (p->slot[i].a >= 0)
            *slot_of(&bigger, p->slot[i].a, p->slot[i].b) = p->slot[i];
    free(p->slot);
    *p = bigger;
    return true;
}

enum status pairs_add(struct pairs *p, const char *a, size_t a_length, const char *b,
                      size_t b_length, double speed_a, double speed_b, struct error *err)
{
    if (!(speed_a > 0 && speed_a <= 10 && speed_b > 0 && speed_b <= 10))
        return fail(err, ST_INPUT,
                    "pair %.*s, %.*s: speeds %g and %g, want more than 0 and at most 10",
                    (int)a_length, a, (int)b_length, b, speed_a, speed_b);
    int32_t id_a = names_add(&p->workloads, a, a_length);
    int32_t id_b = names_add(&p->workloads, b, b_length);
    if (id_a < 0 || id_b < 0 || (2 * (p->n + 1) > p->n_slots && !grow(p)))
        return fail_memory(err);
    struct pair_slot row = id_a <= id_b ? (struct pair_slot){id_a, id_b, speed_a, speed_b}
                                        : (struct pair_slot){id_b, id_a, speed_b, speed_a};
    struct pair_slot *slot = slot_of(p, row.a, row.b);
    if (slot->a >= 0 && (slot->speed_a != row.speed_a || slot->speed_b != row.speed_b))
        return fail(err, ST_INPUT, "pair %.*s, %.*s is there already with other speeds",
                    (int)a_length, a, (int)b_length, b);
    p->n += slot->a < 0;
    *slot = row;
    return ST_OK;
}

double pairs_speed(const struct pairs *p, int32_t a, int32_t b)
{
    if (p->n_slots == 0)
        return NAN;
    const struct pair_slot *slot = a <= b ? slot_of(p, a, b) : slot_of(p, b, a);
    if (slot->a < 0)
        return NAN;
    return a <= b ? slot->speed_a : slot->speed_b;
}

void pairs_free(struct pairs *p)
{
    names_free(&p->workloads);
    free(p->slot);
    *p = (struct pairs){0};
}
