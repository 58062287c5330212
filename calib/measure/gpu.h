/* gpu.h - is there a card, and which?
 *
 * The driver is opened by dlopen in a child: the first CUDA call can hang (a card in
 * EXCLUSIVE_PROCESS mode whose MPS daemon is gone), and a process that has made it is no clean
 * parent for others. */
#ifndef COLOSIM_GPU_H
#define COLOSIM_GPU_H

#include "core/base/status.h"

struct gpu {
    char name[96], uuid[48]; /* GPU-8-4-4-4-12 */
    int cuda;                /* the driver's, as 13000 */
    int n_sms, l2_bytes;
    double mem_mib;
    int index; /* among those that CUDA sees */
};

/* The card of that index that CUDA sees. ST_HELPER with one line that says what is missing: no
 * driver, one too old for CUDA min_cuda (13000; error 35), no device (error 100), any other error,
 * or no answer within seconds. */
enum status gpu_find(struct gpu *g, int index, int min_cuda, double seconds,
                     struct error *err) MUST_USE;

#endif
