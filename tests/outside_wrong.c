/* outside_wrong - shared objects that are no policies, each in its own way (see meson.build). */
#include "core/cluster/policy.h"

static enum status decide(void *state, const struct view *v, struct plan *plan, struct error *err)
{
    (void)state, (void)v, (void)plan, (void)err;
    return ST_OK;
}

extern const struct policy EXPORTED;
const struct policy EXPORTED = {
    .abi = POLICY_ABI + WRONG_ABI, .name = NAME, .summary = "none", .decide = decide};
