#include "policies/registry.h"

#include <string.h>

/* Sorted by name; the symbol is policy_ plus the word. */
#define POLICIES(X) X(easy_backfill) X(fifo) X(fifo_skip) X(las) X(pai_sim) X(sjf) X(srtf)

#define X(word) extern const struct policy policy_##word;
POLICIES(X)
#undef X

#define X(word) &policy_##word,
const struct policy *const policies[] = {POLICIES(X) NULL};
#undef X

const struct policy *policy_find(const char *name)
{
    for (int i = 0; policies[i] != NULL; i++)
        if (strcmp(policies[i]->name, name) == 0)
            return policies[i];
    return NULL;
}
