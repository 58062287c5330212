/* groups.h - several runs of a database under one name, one a seed. */
#ifndef COLOSIM_GROUPS_H
#define COLOSIM_GROUPS_H

#include "sim/results/store.h"

struct run_group {
    int64_t *run, *seed; /* (n) by seed, each seed once */
    int n;
    size_t run_capacity, seed_capacity;
};

/* What a name may be: a run ("last" is the newest); what the labels or names of runs begin with
 * that end in their seed ("policy=fifo,load=0.8" of a sweep, "base-fifo" of a compare); or
 * settings, KEY=VALUE,..., for all runs made with these. Only complete runs but for a run by its
 * own name. ST_USAGE when there are none, or two of one seed. The caller frees in any case. */
enum status group_find(struct store *s, const char *name, struct run_group *out,
                       struct error *err) MUST_USE;
void group_free(struct run_group *g);

#endif
