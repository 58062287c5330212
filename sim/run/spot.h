/* spot.h - where in a JSON text something stands that is wrong, for messages. */
#ifndef COLOSIM_SPOT_H
#define COLOSIM_SPOT_H

#include "core/base/status.h"

#include <stddef.h>
#include <stdint.h>

/* A key of the whole, an element of its list, a key of that. */
struct spot {
    const char *section, *key; /* key NULL: the element */
    int64_t element;           /* -1: the section */
};
/* Borrowed. */
struct spot_text {
    const char *text, *name; /* name: of the input */
    size_t length;
};

/* The line of a spot, or of as much of it as there is. Cost O(text). */
int64_t spot_line(const struct spot_text *in, const struct spot *at);
/* Puts the place in front of what is wrong there, which is ST_INPUT then; memory that is out stays
 * what it is. */
enum status spot_wrong(const struct spot_text *in, const struct spot *at, enum status status,
                       struct error *err) MUST_USE;

#endif
