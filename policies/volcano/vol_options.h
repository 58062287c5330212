/* vol_options.h - the settings of the policy volcano; what they mean is said in policies/volcano.c.
 */
#ifndef COLOSIM_VOL_OPTIONS_H
#define COLOSIM_VOL_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

enum volcano_queues { VOLCANO_ONE_QUEUE, VOLCANO_QUEUE_OF_JOB, VOLCANO_POOLS };
enum volcano_gate { VOLCANO_GATE_BOTH, VOLCANO_GATE_PROPORTION, VOLCANO_GATE_NONE };
enum volcano_tie { VOLCANO_TIE_RANDOM, VOLCANO_TIE_LOWEST };
enum volcano_min { VOLCANO_MIN_ALL, VOLCANO_MIN_GPU_MIN };

struct volcano_config {
    const char *caps;
    double cores_per_gpu;
    int gate; /* enum volcano_gate */
    double gpu_weight;
    const char *guarantees;
    int k8s_balanced; /* enum vol_balanced */
    int64_t max_restarts;
    double mem_gib_per_gpu;
    int min_available; /* enum volcano_min */
    double node_cores_per_gpu, node_mem_gib_per_gpu, overcommit_factor, period_s;
    int64_t pods_per_node;
    double pool_train_frac;
    bool preempt;
    const char *priorities;
    int profile; /* enum vol_profile */
    int queues;  /* enum volcano_queues */
    bool reclaim, skip_idle;
    int tie; /* enum volcano_tie */
    bool vgpu;
    int64_t vgpu_max_shares;
    int vgpu_order; /* enum vgpu_order */
    bool vgpu_spread_members;
    double vgpu_weight;
    const char *weights;
};

#endif
