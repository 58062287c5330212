/* pai_place.h - which nodes the official PAI simulator puts a job on.
 *
 * Nodes are tried in an order that is worked out anew for every attempt; ties go to the lower
 * number. One instance takes the first node with enough GPU and CPU; a gang fills nodes in order,
 * each with as many instances as it holds, all or nothing. Only sums of a node count, so the
 * cluster is SHARE_NODE_SUM. */
#ifndef COLOSIM_PAI_PLACE_H
#define COLOSIM_PAI_PLACE_H

#include "core/cluster/cluster.h"

/* The official sort_node_policy 0 .. 3. Its README calls 3 packing and 0 balancing; its code does
 * the opposite: 3 spreads, 0 packs. */
enum pai_node_order {
    PAI_NODES_BY_ID,
    PAI_NODES_FEWEST_IDLE_GPUS,
    PAI_NODES_MOST_IDLE_GPUS,
    PAI_NODES_LEAST_UTIL
};

enum { PAI_TYPE_ANY = -1, PAI_TYPE_NOWHERE = -2 };

struct pai_ask {
    int32_t n_inst;
    int32_t gpu_milli, cpu_milli; /* per instance; 0 does not limit */
    int32_t type;                 /* id in the cluster's gpu_types, or one of the two above */
};

/* Use of a node in per cent, 0 .. 100: the mean of GPU and CPU, CPU alone on a node without GPUs;
 * halves go to the even number. */
int32_t pai_util_rate(const struct cluster *c, int32_t node);

/* Does the whole cluster have as much idle as all instances ask for? Where not, nothing fits. */
static inline bool pai_enough_idle(const struct cluster *c, const struct pai_ask *ask)
{
    return (int64_t)ask->n_inst * ask->gpu_milli <= c->gpu_idle_milli &&
           (int64_t)ask->n_inst * ask->cpu_milli <= c->cpu_idle_milli;
}

/* The nodes of all instances of a waiting job, in the order in which they are filled, written to
 * node (n_inst); false when it does not fit now. ranks (n_nodes) is scratch.
 * Cost O(nodes) for one instance, O(nodes + nodes used x log nodes) for a gang. */
bool pai_place(const struct cluster *c, enum pai_node_order order, const struct pai_ask *ask,
               uint64_t *ranks, int32_t *node);

#endif
