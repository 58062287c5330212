#include "policies/registry.h"

#include <string.h>

/* Sorted by name; the symbol is policy_ plus the word. */
#define POLICIES(X)                                                                                \
    X(antman)                                                                                      \
    X(easy_backfill)                                                                               \
    X(elastic_fifo)                                                                                \
    X(elastico)                                                                                    \
    X(fair_queues)                                                                                 \
    X(fifo)                                                                                        \
    X(fifo_skip)                                                                                   \
    X(gandiva)                                                                                     \
    X(gavel)                                                                                       \
    X(gpucolo)                                                                                     \
    X(las)                                                                                         \
    X(lucid)                                                                                       \
    X(mudi)                                                                                        \
    X(pai_sim)                                                                                     \
    X(pollux)                                                                                      \
    X(qssf) X(sirius) X(sjf) X(srtf) X(tiresias) X(vc_fifo) X(vc_sjf) X(vc_srtf) X(volcano)

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
