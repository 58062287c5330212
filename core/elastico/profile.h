/* profile.h - what every configuration costs and gives on every type of card (RST, §3.1).
 *
 * Row of configuration c on card type k: k * n_configs + c. Computed once per run. GPU memory does
 * not depend on the type: a configuration is a reservation, and an engine's knob MU is a fraction
 * of CARD_REFERENCE's 40 GiB (on another card the launcher sets gpu_memory_utilization to
 * MU x 40 GiB / capacity). A rate of 0 means that it cannot run at all. */
#ifndef COLOSIM_PROFILE_H
#define COLOSIM_PROFILE_H

#include "core/base/status.h"
#include "core/elastico/cards.h"
#include "core/elastico/workload.h"

enum { MEM_SYSTEM_MIB = 512 }; /* M_sys of the paper: what no job may have of a card */

struct profiles {
    const struct workloads *w;
    int32_t n_configs;
    int32_t *fb_mib;      /* (n_configs) GPU memory reserved on each card */
    struct measures m;    /* (N_CARDS x n_configs) */
    double *prefill_frac; /* (N_CARDS x n_configs) of the time of a model's inference; else 0 */
    double *prefix_frac;  /* (N_CARDS x n_configs) rho: of a prompt found in the prefix cache */
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

/* The most GPU memory of a profiled configuration and its profiled neighbours by one knob's step:
 * stands in for that of one that was not. profiled, fb_mib (n_configs). */
int32_t profile_neighbours_mib(const struct workloads *w, int32_t from, const bool *profiled,
                               const int32_t *fb_mib);

/* Leaves of n configurations those that no other is at least as fast as with no more of anything
 * (GPU memory, thousandths of cores, host memory, SM active; what is not known is alike), and keep
 * (-1: none), in the order given; of equals the first. Returns how many. Cost O(n^2). */
int32_t profile_frontier(const struct profiles *p, int32_t card, int32_t *config, int32_t n,
                         int32_t keep);

#endif
