#include "core/base/names.h"

#include "core/base/arena.h"

#include <stdlib.h>
#include <string.h>

static uint64_t fold(uint64_t h, uint64_t word)
{
    h = (h ^ word) * 0x9e3779b97f4a7c15u;
    return h ^ (h >> 32);
}

uint64_t bytes_hash(const void *bytes, size_t length, uint64_t seed)
{
    const unsigned char *p = bytes;
    uint64_t h = fold(seed ^ 0x2545f4914f6cdd1du, length), word;
    for (; length >= sizeof word; p += sizeof word, length -= sizeof word) {
        memcpy(&word, p, sizeof word);
        h = fold(h, word);
    }
    word = 0;
    memcpy(&word, p, length);
    h = fold(h, word);
    return h ^ (h >> 29);
}

const char *names_text(const struct names *s, int32_t id)
{
    return s->bytes + (id > 0 ? s->end[id - 1] : 0);
}

size_t names_length(const struct names *s, int32_t id)
{
    return s->end[id] - (id > 0 ? s->end[id - 1] : 0) - 1;
}

/* The slot that holds the bytes, or the free one where they would go. */
static struct names_slot *slot_of(const struct names *s, const char *bytes, size_t length,
                                  uint32_t hash)
{
    size_t at = hash & (s->n_slots - 1);
    for (; s->slot[at].id >= 0; at = (at + 1) & (s->n_slots - 1)) {
        int32_t id = s->slot[at].id;
        if (s->slot[at].hash == hash && names_length(s, id) == length &&
            memcmp(names_text(s, id), bytes, length) == 0)
            break;
    }
    return &s->slot[at];
}

int32_t names_find(const struct names *s, const char *bytes, size_t length)
{
    if (s->n_slots == 0)
        return -1;
    return slot_of(s, bytes, length, (uint32_t)bytes_hash(bytes, length, 0))->id;
}

static bool rehash(struct names *s)
{
    size_t n_slots = s->n_slots == 0 ? 64 : s->n_slots * 2;
    struct names_slot *slot = malloc(n_slots * sizeof *slot);
    if (slot == NULL)
        return false;
    memset(slot, 0xff, n_slots * sizeof *slot);
    for (size_t i = 0; i < s->n_slots; i++) {
        if (s->slot[i].id < 0)
            continue;
        size_t at = s->slot[i].hash & (n_slots - 1);
        while (slot[at].id >= 0)
            at = (at + 1) & (n_slots - 1);
        slot[at] = s->slot[i];
    }
    free(s->slot);
    s->slot = slot;
    s->n_slots = n_slots;
    return true;
}

int32_t names_add(struct names *s, const char *bytes, size_t length)
{
    uint32_t hash = (uint32_t)bytes_hash(bytes, length, 0);
    size_t n = (size_t)s->n, begin = n > 0 ? s->end[n - 1] : 0;
    if ((n + 1) * 2 > s->n_slots && !rehash(s))
        return -1;
    struct names_slot *slot = slot_of(s, bytes, length, hash);
    if (slot->id >= 0)
        return slot->id;
    if (s->n == INT32_MAX || !ARRAY_GROW(s->end, s->capacity, n + 1) ||
        !ARRAY_GROW(s->bytes, s->bytes_capacity, begin + length + 1))
        return -1;
    if (length > 0)
        memcpy(s->bytes + begin, bytes, length);
    s->bytes[begin + length] = '\0';
    s->end[n] = begin + length + 1;
    *slot = (struct names_slot){s->n, hash};
    return s->n++;
}

static void *copy_of(const void *from, size_t n, size_t size)
{
    void *to = malloc(n > 0 ? n * size : 1);
    return to != NULL && n > 0 ? memcpy(to, from, n * size) : to;
}

bool names_copy(const struct names *from, struct names *to)
{
    size_t n = (size_t)from->n, n_bytes = n > 0 ? from->end[n - 1] : 0;
    *to = (struct names){.end = copy_of(from->end, n, sizeof *from->end),
                         .bytes = copy_of(from->bytes, n_bytes, 1),
                         .slot = copy_of(from->slot, from->n_slots, sizeof *from->slot)};
    if (to->end == NULL || to->bytes == NULL || to->slot == NULL)
        return false;
    to->n = from->n;
    to->capacity = n;
    to->bytes_capacity = n_bytes;
    to->n_slots = from->n_slots;
    return true;
}

void names_free(struct names *s)
{
    free(s->end);
    free(s->bytes);
    free(s->slot);
    *s = (struct names){0};
}
