/* describe_workloads.h - a catalog in words: its workloads, or one of them with its
 * configurations on a type of card. */
#ifndef COLOSIM_DESCRIBE_WORKLOADS_H
#define COLOSIM_DESCRIBE_WORKLOADS_H

#include "core/base/status.h"

#include <stdbool.h>
#include <stdio.h>

struct workload_question {
    const char *catalog; /* an embedded one or a file */
    const char *name;    /* of a workload; NULL: all */
    const char *gpu;     /* type of card */
    bool json;
};

enum status describe_workloads(FILE *to, const struct workload_question *q,
                               struct error *err) MUST_USE;

#endif
