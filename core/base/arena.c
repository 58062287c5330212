#include "core/base/arena.h"

#include <stdalign.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCK_BYTES = 64 * 1024 };

struct arena_block {
    struct arena_block *below;
    size_t size;
    alignas(max_align_t) unsigned char bytes[];
};

void *arena_alloc(struct arena *a, size_t count, size_t size)
{
    const size_t align = alignof(max_align_t);
    if (size != 0 && count > (SIZE_MAX / 2) / size)
        return NULL;
    size_t bytes = (count * size + align - 1) / align * align;
    if (a->top == NULL || a->top->size - a->used < bytes) {
        size_t room = bytes > BLOCK_BYTES ? bytes : BLOCK_BYTES;
        struct arena_block *block = calloc(1, sizeof *block + room);
        if (block == NULL)
            return NULL;
        block->below = a->top;
        block->size = room;
        a->top = block;
        a->used = bytes;
        return block->bytes; /* calloc's zeros need no second write */
    }
    void *p = a->top->bytes + a->used;
    a->used += bytes;
    return memset(p, 0, bytes);
}

char *arena_text(struct arena *a, const char *bytes, size_t n)
{
    char *copy = arena_alloc(a, n + 1, 1);
    if (copy != NULL && n > 0)
        memcpy(copy, bytes, n);
    return copy;
}

struct arena_mark arena_mark(const struct arena *a) { return (struct arena_mark){a->top, a->used}; }

void arena_reset(struct arena *a, struct arena_mark mark)
{
    while (a->top != mark.top) {
        struct arena_block *below = a->top->below;
        free(a->top);
        a->top = below;
    }
    a->used = mark.used;
}

void arena_free(struct arena *a) { arena_reset(a, (struct arena_mark){NULL, 0}); }

bool array_grow(void **array, size_t *capacity, size_t want, size_t size)
{
    if (want <= *capacity)
        return true;
    size_t room = *capacity < 16 ? 16 : *capacity;
    while (room < want) {
        if (room > SIZE_MAX / 4)
            return false;
        room *= 2;
    }
    if (room > SIZE_MAX / 2 / size)
        return false;
    void *grown = realloc(*array, room * size);
    if (grown == NULL)
        return false;
    memset((unsigned char *)grown + *capacity * size, 0, (room - *capacity) * size);
    *array = grown;
    *capacity = room;
    return true;
}
