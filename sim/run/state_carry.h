/* state_carry.h - what a cluster's state says besides its cluster and its jobs: the time, and what
 * an earlier plan said that is to be carried on (prices, arrivals, profiles). */
#ifndef COLOSIM_STATE_CARRY_H
#define COLOSIM_STATE_CARRY_H

#include "core/base/arena.h"
#include "core/base/table.h"
#include "core/cluster/policy.h"
#include "sim/run/spot.h"

#include <jansson.h>

struct carry {
    struct spot_text text;
    json_t *root;
    struct arena *arena; /* of what is read */
    /* out */
    double *now_s;
    struct memory *memory;
    struct table *profiled; /* with an arena of its own; no columns: not told */
};

/* Reads them, and sees that the object has no other key. */
enum status carry_read(const struct carry *in, struct error *err) MUST_USE;

#endif
