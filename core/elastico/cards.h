/* cards.h - what types of card can do: the peaks by which throughputs are scaled from one to
 * another (profile.c), and their links to others (parallel.h). Memory is in core/cluster/gpus.h,
 * under the same names. */
#ifndef COLOSIM_CARDS_H
#define COLOSIM_CARDS_H

#include "core/elastico/parallel.h"

#include <stdint.h>

struct card {
    const char *name;
    double fp16_flops;   /* tensor pipes, dense */
    double tf32_flops;   /* tensor pipes, dense; 0 where there is no TF32 */
    double fp32_flops;   /* outside the tensor pipes */
    double bw_bytes_s;   /* of the card's memory */
    double bw_eff;       /* part of it that kernels reach, over CARD_REFERENCE's */
    double sm_clock_hz;  /* SMs x boost clock: the pace of what is neither tensor nor memory */
    double link_bytes_s; /* one direction: NVLink, to the other cards of its node */
    double nic_bytes_s;  /* one direction: its part of the NICs of NVIDIA's own node (DGX) */
    const char *source;  /* with marks as in workload.h */
};
/* Parts of these two that collectives reach: those with which Calculon models an A100 node (S). */
#define LINK_EFF 0.6
#define NIC_EFF  0.9
enum { N_CARDS = 5, CARD_REFERENCE = 0 }; /* the models are stated for the a100-40g */
extern const struct card card_table[N_CARDS];

/* The row of that name without regard to case, -1 for none. */
int32_t card_find(const char *name);
struct links card_links(int32_t card);

#endif
