/* names.h - opaque byte strings as small integers.
 *
 * The same bytes always get the same id, ids count up from 0 in the order of first sight, and
 * names need not be UTF-8. An all-zero struct is a valid empty set. */
#ifndef COLOSIM_NAMES_H
#define COLOSIM_NAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct names {
    int32_t n;
    size_t capacity;
    size_t *end; /* (n) end of each name in bytes, NUL included */
    char *bytes; /* every name followed by a NUL, in order of id */
    size_t bytes_capacity;
    struct names_slot {
        int32_t id; /* -1 for none */
        uint32_t hash;
    } * slot; /* (n_slots) open addressing */
    size_t n_slots;
};

/* The id of these bytes, added if new; -1 when memory is out. Amortised O(length). */
int32_t names_add(struct names *s, const char *bytes, size_t length);
/* The id, or -1 when the bytes are no name here. */
int32_t names_find(const struct names *s, const char *bytes, size_t length);
/* NUL-terminated; a name may hold NULs itself. Borrowed until the next names_add. */
const char *names_text(const struct names *s, int32_t id);
size_t names_length(const struct names *s, int32_t id);
/* A second set with the same ids; false when memory is out. The caller frees to in any case. */
bool names_copy(const struct names *from, struct names *to);
void names_free(struct names *s);

/* Eight bytes at a time, multiply and fold; not for adversaries. */
uint64_t bytes_hash(const void *bytes, size_t length, uint64_t seed);

#endif
