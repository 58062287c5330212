/* profile.h - what every configuration costs and gives on every type of card (RST, §3.1).
 *
 * Row of configuration c on card type k: k * n_configs + c. Computed once per run. GPU memory does
 * not depend on the type: a configuration is a reservation, and an engine's knob MU is a fraction
 * of CARD_REFERENCE's 40 GiB (on another card the launcher sets gpu_memory_utilization to
 * MU x 40 GiB / capacity). A rate of 0 means that it cannot run at all.
 *
 * Where a workload has layouts (parallel.h), a configuration's numbers are those of one replica on
 * tp x pp cards, on nodes of PARALLEL_NODE (or tp) cards with their card's own links: memory,
 * activities, cores and host memory of each of these, the rate of all together. */
#ifndef COLOSIM_PROFILE_H
#define COLOSIM_PROFILE_H

#include "core/base/status.h"
#include "core/cluster/plan.h"
#include "core/elastico/cards.h"
#include "core/elastico/workload.h"

enum { MEM_SYSTEM_MIB = 512 }; /* M_sys of the paper: what no job may have of a card */

struct profiles {
    const struct workloads *w;
    int32_t n_configs;
    int32_t *fb_mib;                  /* (n_configs) GPU memory reserved on each card */
    int32_t *nic_mbps, *storage_mbps; /* (n_configs) of its node, for each card */
    struct measures m;                /* (N_CARDS x n_configs) */
    double *prefill_frac; /* (N_CARDS x n_configs) of the time of a model's inference; else 0 */
    double *prefix_frac;  /* (N_CARDS x n_configs) rho: of a prompt found in the prefix cache */
    double *micro_s;      /* (N_CARDS x n_configs) a batch through the whole network on one card */
    struct arena arena;   /* owns it all */
};
static inline int32_t profile_row(const struct profiles *p, int32_t config, int32_t card)
{
    return card * p->n_configs + config;
}

/* w must outlive it. The caller frees in any case. Cost O(cards x configurations), and for
 * measured workloads the square of those that lack a profile. */
enum status profiles_init(struct profiles *p, const struct workloads *w,
                          struct error *err) MUST_USE;
void profiles_free(struct profiles *p);
/* What plan_configure wants of them. */
static inline struct config_needs profile_needs(const struct profiles *p)
{
    return (struct config_needs){p->fb_mib, p->nic_mbps, p->storage_mbps};
}
/* Does some configuration of the workload take a part of its node's bandwidths? */
bool profile_takes_bandwidth(const struct profiles *p, int32_t workload);

/* Of workloads with layouts. Degrees of a configuration on n cards; dp is 0 where they hold no
 * replica. */
struct degrees profile_degrees(const struct profiles *p, int32_t config, int32_t n);
/* T where it lies so, micro_s on the slowest card. */
double profile_laid_rate(const struct profiles *p, int32_t config, struct degrees d, double micro_s,
                         const struct links *l, const struct footprint *f);
/* T on the fewest nodes that hold n cards, whole tensor groups on each where they must be; 0 where
 * it is no layout of them. */
double profile_packed_rate(const struct profiles *p, int32_t config, int32_t card, int32_t n,
                           int32_t cards_of_node, const struct links *l);

/* The most GPU memory of a profiled configuration and its profiled neighbours by one knob's step:
 * stands in for that of one that was not. profiled, fb_mib (n_configs). */
int32_t profile_neighbours_mib(const struct workloads *w, int32_t from, const bool *profiled,
                               const int32_t *fb_mib);

/* Leaves of n configurations those that no other is at least as fast as with no more of anything
 * (GPU memory, bandwidths, thousandths of cores, host memory, SM active; what is not known is
 * alike), and keep
 * (-1: none), in the order given; of equals the first. Layouts, and batches of workloads that have
 * them, are only held against themselves: which is faster depends on the number of cards. Returns
 * how many. Cost O(n^2). */
int32_t profile_frontier(const struct profiles *p, int32_t card, int32_t *config, int32_t n,
                         int32_t keep);

#endif
