/* figures.h - every figure there is; figure.c lists them. */
#ifndef COLOSIM_FIGURES_H
#define COLOSIM_FIGURES_H

#include "sim/results/figure.h"

#define FIGURES(X)                                                                                 \
    X(jct_cdf)                                                                                     \
    X(slowdown_cdf)                                                                                \
    X(wait_by_job)                                                                                 \
    X(wait_over_time)                                                                              \
    X(queue)                                                                                       \
    X(gpu_alloc)                                                                                   \
    X(sm_util) X(gantt) X(load) X(scale) X(pareto) X(heatmap) X(interference_cdf)
#define X(name_) extern const struct figure figure_##name_;
FIGURES(X)
#undef X

#endif
