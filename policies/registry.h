/* registry.h - the policies there are. Adding one: its file, and one word in registry.c. */
#ifndef COLOSIM_REGISTRY_H
#define COLOSIM_REGISTRY_H

#include "core/cluster/policy.h"

extern const struct policy *const policies[]; /* NULL-terminated, sorted by name */
/* NULL when there is none of that name. */
const struct policy *policy_find(const char *name);

#endif
