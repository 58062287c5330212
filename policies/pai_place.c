#include "policies/pai_place.h"

#include <math.h>

/* Share in use; of nothing, none is (the official code divides by zero there). */
static double used_frac(int32_t idle, int32_t all)
{
    return all == 0 ? 0 : 1 - (double)idle / (double)all;
}

/* The official expression, operation by operation, so that what is rounded is the same double:
 * dividing thousandths gives the same quotient as dividing its hundredths. */
int32_t pai_util_rate(const struct cluster *c, int32_t node)
{
    double cpu_frac = used_frac(c->cpu_free_milli[node], c->node_cpu_milli[node]);

    if (c->node_gpu_milli[node] == 0)
        return (int32_t)rint(100 * cpu_frac);
    double gpu_frac = used_frac(c->gpu_free_milli[node], c->node_gpu_milli[node]);
    return (int32_t)rint(100 * (gpu_frac + cpu_frac) / 2);
}

/* Smallest first; the node's number sits below its key, so ranks are a total order. */
static uint64_t rank_of(const struct cluster *c, enum pai_node_order order, int32_t node)
{
    int32_t key = 0;

    switch (order) {
    case PAI_NODES_BY_ID: break;
    case PAI_NODES_FEWEST_IDLE_GPUS: key = c->gpu_free_milli[node]; break;
    case PAI_NODES_MOST_IDLE_GPUS: key = INT32_MAX - c->gpu_free_milli[node]; break;
    case PAI_NODES_LEAST_UTIL: key = pai_util_rate(c, node); break;
    }
    return (uint64_t)key << 32 | (uint64_t)node;
}

static bool type_matches(const struct cluster *c, const struct pai_ask *ask, int32_t node)
{
    return ask->type == PAI_TYPE_ANY || ask->type == c->node_type[node];
}

static int32_t room_for(const struct cluster *c, const struct pai_ask *ask, int32_t node)
{
    int32_t n = ask->n_inst;

    if (ask->gpu_milli > 0 && c->gpu_free_milli[node] / ask->gpu_milli < n)
        n = c->gpu_free_milli[node] / ask->gpu_milli;
    if (ask->cpu_milli > 0 && c->cpu_free_milli[node] / ask->cpu_milli < n)
        n = c->cpu_free_milli[node] / ask->cpu_milli;
    return n;
}

/* No key is below 0, so the first fitting node of key 0 is the best one. */
static bool place_one(const struct cluster *c, enum pai_node_order order, const struct pai_ask *ask,
                      int32_t *node)
{
    uint64_t best = UINT64_MAX;

    for (int32_t i = 0; i < c->n_nodes && best > UINT32_MAX; i++) {
        if (ask->gpu_milli > c->gpu_free_milli[i] || ask->cpu_milli > c->cpu_free_milli[i] ||
            !type_matches(c, ask, i))
            continue;
        uint64_t rank = rank_of(c, order, i);
        if (rank < best)
            best = rank;
    }
    if (best == UINT64_MAX)
        return false;
    *node = (int32_t)(best & UINT32_MAX);
    return true;
}

static void sift_down(uint64_t *heap, int32_t n, int32_t at)
{
    uint64_t moved = heap[at];

    for (int32_t child = 2 * at + 1; child < n; child = 2 * at + 1) {
        if (child + 1 < n && heap[child + 1] < heap[child])
            child++;
        if (moved <= heap[child])
            break;
        heap[at] = heap[child];
        at = child;
    }
    heap[at] = moved;
}

/* Most nodes of a large cluster are never filled, so they are taken from a heap, not sorted. */
static void fill_in_order(const struct cluster *c, const struct pai_ask *ask, uint64_t *heap,
                          int32_t n, int32_t *node)
{
    int32_t placed = 0;

    for (int32_t i = n / 2 - 1; i >= 0; i--)
        sift_down(heap, n, i);
    while (placed < ask->n_inst) {
        int32_t first = (int32_t)(heap[0] & UINT32_MAX);
        int32_t room = room_for(c, ask, first);

        for (int32_t i = 0; i < room && placed < ask->n_inst; i++)
            node[placed++] = first;
        heap[0] = heap[--n];
        sift_down(heap, n, 0);
    }
}

static bool place_gang(const struct cluster *c, enum pai_node_order order,
                       const struct pai_ask *ask, uint64_t *ranks, int32_t *node)
{
    int64_t room = 0;
    int32_t n = 0;

    for (int32_t i = 0; i < c->n_nodes; i++) {
        int32_t here = type_matches(c, ask, i) ? room_for(c, ask, i) : 0;
        if (here == 0)
            continue;
        room += here;
        ranks[n++] = rank_of(c, order, i);
    }
    if (room < ask->n_inst)
        return false;
    fill_in_order(c, ask, ranks, n, node);
    return true;
}

bool pai_place(const struct cluster *c, enum pai_node_order order, const struct pai_ask *ask,
               uint64_t *ranks, int32_t *node)
{
    if (!pai_enough_idle(c, ask))
        return false;
    if (ask->n_inst == 1)
        return place_one(c, order, ask, node);
    return place_gang(c, order, ask, ranks, node);
}
