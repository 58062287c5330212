/* workloads.h - the names of the twelve workloads of the ElastiCo paper's Table 2, training first.
 *
 * Made-up traces and traces that do not say what ran use these names, so that profiles and pairs
 * are found for them. */
#ifndef COLOSIM_WORKLOADS_H
#define COLOSIM_WORKLOADS_H

enum { N_TRAIN_WORKLOADS = 8, N_INFER_WORKLOADS = 4 };

extern const char *const workload_names[N_TRAIN_WORKLOADS + N_INFER_WORKLOADS];

#endif
