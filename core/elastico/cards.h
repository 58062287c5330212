/* cards.h - what types of card can do: the peaks by which throughputs are scaled from one to
 * another (profile.c). Memory is in core/cluster/gpus.h, under the same names. */
#ifndef COLOSIM_CARDS_H
#define COLOSIM_CARDS_H

#include <stdint.h>

struct card {
    const char *name;
    double fp16_flops;  /* tensor pipes, dense */
    double tf32_flops;  /* tensor pipes, dense; 0 where there is no TF32 */
    double fp32_flops;  /* outside the tensor pipes */
    double bw_bytes_s;  /* of the card's memory */
    double bw_eff;      /* part of it that kernels reach, over CARD_REFERENCE's */
    double sm_clock_hz; /* SMs x boost clock: the pace of what is neither tensor nor memory */
    const char *source; /* with marks as in workload.h */
};
enum { N_CARDS = 5, CARD_REFERENCE = 0 }; /* the models are stated for the a100-40g */
extern const struct card card_table[N_CARDS];

/* The row of that name without regard to case, -1 for none. */
int32_t card_find(const char *name);

#endif
