#include "core/cluster/gpus.h"

#include <stddef.h>
#include <strings.h>

/* A data sheet's GB are taken as GiB; the driver reports somewhat less where ECC takes its part.
 * The H200's 141 GB are no round number of GiB, so there the driver's number stands. */
const struct gpu_type gpu_table[] = {
    {"a10", "NVIDIA A10, 24 GB GDDR6", 24576, "data sheet"},
    {"a100-40g", "NVIDIA A100, 40 GB HBM2", 40960, "data sheet"},
    {"a100-80g", "NVIDIA A100, 80 GB HBM2e", 81920, "data sheet"},
    {"h100-80g", "NVIDIA H100, 80 GB HBM3", 81920, "data sheet"},
    {"h200", "NVIDIA H200, 141 GB HBM3e", 143771, "nvidia-smi"},
    {"misc", "PAI: older cards of several models", 0, NULL},
    {"p100", "NVIDIA P100, 16 GB HBM2", 16384, "data sheet"},
    {"rtx3090", "NVIDIA GeForce RTX 3090, 24 GB GDDR6X", 24576, "data sheet"},
    {"t4", "NVIDIA T4, 16 GB GDDR6", 16384, "data sheet"},
    {"v100", "PAI: NVIDIA V100, 16 GB HBM2", 16384, "data sheet"},
    {"v100-16g", "NVIDIA V100, 16 GB HBM2", 16384, "data sheet"},
    {"v100-32g", "NVIDIA V100, 32 GB HBM2", 32768, "data sheet"},
    {"v100m16", "Alibaba: NVIDIA V100, 16 GB HBM2", 16384, "data sheet"},
    {"v100m32", "PAI: NVIDIA V100, 32 GB HBM2", 32768, "data sheet"},
    {NULL, NULL, 0, NULL},
};

const struct gpu_type *gpu_type_find(const char *name)
{
    for (const struct gpu_type *g = gpu_table; g->name != NULL; g++)
        if (strcasecmp(g->name, name) == 0)
            return g;
    return NULL;
}

int32_t gpu_type_mem_mib(const char *name)
{
    const struct gpu_type *g = gpu_type_find(name);
    return g != NULL ? g->mem_mib : 0;
}
