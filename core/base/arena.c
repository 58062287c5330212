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

static size_t larger(size_t a, size_t b) { return a > b ? a : b; }

static size_t size_of(const struct arena_block *block) { return block != NULL ? block->size : 0; }

/* A new top with room for so many bytes: the spare, which is not zeroed, or a larger one from the
 * system, which is. */
static bool add_block(struct arena *a, size_t bytes, bool *zeroed)
{
    struct arena_block *block = a->spare;
    *zeroed = block == NULL || block->size < bytes;
    if (*zeroed) {
        size_t room = larger(larger(2 * size_of(a->top), 2 * size_of(a->spare)), BLOCK_BYTES);
        room = larger(room, bytes);
        block = calloc(1, sizeof *block + room);
        if (block == NULL)
            return false;
        block->size = room;
    } else {
        a->spare = NULL;
    }
    block->below = a->top;
    a->top = block;
    a->used = 0;
    return true;
}

void *arena_alloc(struct arena *a, size_t count, size_t size)
{
    const size_t align = alignof(max_align_t);
    bool zeroed = false;
    if (size != 0 && count > (SIZE_MAX / 2) / size)
        return NULL;
    size_t bytes = (count * size + align - 1) / align * align;
    if ((a->top == NULL || a->top->size - a->used < bytes) && !add_block(a, bytes, &zeroed))
        return NULL;
    void *p = a->top->bytes + a->used;
    a->used += bytes;
    return zeroed ? p : memset(p, 0, bytes);
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
        struct arena_block *block = a->top;
        a->top = block->below;
        if (size_of(a->spare) >= block->size) {
            free(block);
        } else {
            free(a->spare);
            a->spare = block;
        }
    }
    a->used = mark.used;
}

void arena_free(struct arena *a)
{
    arena_reset(a, (struct arena_mark){NULL, 0});
    free(a->spare);
    a->spare = NULL;
}

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
