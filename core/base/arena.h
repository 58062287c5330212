/* arena.h - memory that is given back all at once, and the one helper by which arrays grow.
 *
 * An arena hands out zeroed memory that stays where it is until the arena is reset to a mark or
 * freed. Scratch use: mark, work, reset to the mark. Blocks double and a reset keeps the largest
 * for the next time, so work that is done again and again soon asks the system for nothing. An
 * all-zero arena is a valid empty one. */
#ifndef COLOSIM_ARENA_H
#define COLOSIM_ARENA_H

#include <stdbool.h>
#include <stddef.h>

struct arena_block;
struct arena {
    struct arena_block *top;
    size_t used;               /* bytes of the top block handed out */
    struct arena_block *spare; /* given back and kept; NULL for none */
};
struct arena_mark {
    struct arena_block *top;
    size_t used;
};

/* Zeroed, aligned for any type; NULL when memory is out. Size 0 gives a valid pointer. */
void *arena_alloc(struct arena *a, size_t count, size_t size);
/* Copies n bytes and a NUL; NULL when memory is out. */
char *arena_text(struct arena *a, const char *bytes, size_t n);
struct arena_mark arena_mark(const struct arena *a);
void arena_reset(struct arena *a, struct arena_mark mark);
void arena_free(struct arena *a);

/* Makes room for at least want elements of the given size in *array (*capacity of them now), by
 * doubling. New room is zeroed. False when memory is out: the array is as it was. */
#define ARRAY_GROW(array, capacity, want)                                                          \
    array_grow((void **)&(array), &(capacity), (size_t)(want), sizeof *(array))
bool array_grow(void **array, size_t *capacity, size_t want, size_t size);

#endif
