#include "sim/run/run_log.h"

#include <stdlib.h>

const char *const span_kind_names[] = {"run", "profile"};
const char *const happening_names[] = {"reject", "evict", "stall", "error"};

void run_log_free(struct run_log *l)
{
    free(l->span);
    free(l->sample);
    free(l->happening);
    free(l->epoch);
    free(l->profiling.profiled);
    *l = (struct run_log){0};
}
