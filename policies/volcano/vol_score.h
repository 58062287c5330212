/* vol_score.h - how much Volcano likes a node for a task: its nodeorder and binpack plug-ins.
 *
 * Scores are at least 0, larger is better, and the total is their weighted sum. Terms that are
 * equal for all nodes here (affinity, taints, images, topology) are left out. Kubernetes computes
 * least, most and balanced in whole numbers, and so do these. */
#ifndef COLOSIM_VOL_SCORE_H
#define COLOSIM_VOL_SCORE_H

#include "policies/volcano/amounts.h"

#include <stdbool.h>

/* balanced of Kubernetes up to 1.35, and from 1.36 on. */
enum vol_balanced { VOL_BALANCED_OLD, VOL_BALANCED_1_36 };

struct vol_weights {
    double least, most, balanced, binpack;
    double pack[N_AMOUNTS]; /* of a resource in binpack; 0: not looked at */
    enum vol_balanced how;
};

/* Each with the node's size, what is used before the task, and what the task asks.
 * least, most: mean over CPU and memory of what is left, or used, in per cent. */
double vol_score_least(const struct amounts *size, const struct amounts *used,
                       const struct amounts *ask);
double vol_score_most(const struct amounts *size, const struct amounts *used,
                      const struct amounts *ask);
/* 100 (1 - standard deviation of the used shares of CPU, memory and, where it is asked for, GPU);
 * from 1.36 on 50 + (50 + that after - that before) / 2. */
double vol_score_balanced(enum vol_balanced how, const struct amounts *size,
                          const struct amounts *used, const struct amounts *ask);
/* 100 x weighted mean of the used shares over the resources that are asked for and have a weight; 0
 * where one overflows. A resource the node lacks adds nothing, but its weight counts. */
double vol_score_binpack(const double pack[N_AMOUNTS], const struct amounts *size,
                         const struct amounts *used, const struct amounts *ask);

#endif
