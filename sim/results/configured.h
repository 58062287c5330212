/* configured.h - what a run was configured to be, in words: "profile=helm, binpack=10".
 *
 * Settings are named that differ from their defaults; and a policy's profile always, since it says
 * which system the policy is. */
#ifndef COLOSIM_CONFIGURED_H
#define COLOSIM_CONFIGURED_H

#include "core/base/arena.h"
#include "sim/run/run.h"

/* The policy's own settings, without its prefix; "" where all are at their defaults. NULL when
 * memory is out. The arena owns the text. */
const char *configured_policy(const struct run_request *q, struct arena *arena);
/* The settings that bear on every policy alike: not which policy, seed, trace, cluster and label.
 */
const char *configured_others(const struct run_request *q, struct arena *arena);

#endif
