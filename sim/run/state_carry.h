/* state_carry.h - what a cluster's state says besides its cluster and its jobs: the time, and what
 * an earlier plan said that is to be carried on (prices, arrivals, profiles). */
#ifndef COLOSIM_STATE_CARRY_H
#define COLOSIM_STATE_CARRY_H

#include "sim/run/spot.h"
#include "sim/run/state.h"

#include <jansson.h>

struct reader {
    struct spot_text text;
    json_t *root;
    struct state *s;
};

/* Reads them, and sees that the object has no other key. */
enum status carry_read(struct reader *in, struct error *err) MUST_USE;

#endif
