/* capacity.h - what colosim capacity asks of one size of cluster: the mean over seeds of every
 * target. */
#ifndef COLOSIM_CAPACITY_H
#define COLOSIM_CAPACITY_H

#include "sim/cmd/options.h"
#include "sim/cmd/reading.h"
#include "sim/cmd/watch.h"
#include "sim/results/summary.h"
#include "sim/run/sources.h"

enum { TARGETS_MAX = 14, POLICIES_MAX = 64 };

struct target {
    const char *text; /* METRIC=VALUE */
    enum metric metric;
    double value;
    bool implied; /* nobody asked: all jobs must be placed and end */
};

struct capacity {
    struct options options;
    struct target target[TARGETS_MAX + 2];
    int n_targets;
    const char *policies, *seeds;
    int64_t max_nodes;

    const char *policy[POLICIES_MAX]; /* (n_policies) */
    int n_policies;
    int64_t *seed; /* (n_seeds) */
    int n_seeds;
    int64_t first_nodes; /* of the cluster as described */
    double node_gpus;
    int32_t *source; /* (n_seeds) what each seed reads */
    struct sources sources;
    struct store store; /* with --db */
    struct watcher watcher;
    struct run_watch watch;
    struct arena arena;
};

/* One size under one policy. */
struct probe {
    const char *policy;
    int64_t nodes;
    double gpus, mean[TARGETS_MAX + 2];
    int n_seeds, missed; /* the first target that is not met, -1: all are */
};

/* Policies, seeds, the kind of node and the traces; ST_USAGE where a cluster of several kinds, or a
 * --load that would follow the cluster, leaves nothing to search. */
enum status capacity_prepare(struct capacity *c, struct error *err) MUST_USE;
enum status capacity_probe(struct capacity *c, const char *policy, int64_t nodes, struct probe *out,
                           struct error *err) MUST_USE;
void capacity_free(struct capacity *c);

#endif
