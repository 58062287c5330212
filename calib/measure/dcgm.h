/* dcgm.h - libdcgm with prototypes of our own: the profiling fields of one card, watched together,
 * since some of them give nothing alone. */
#ifndef COLOSIM_DCGM_H
#define COLOSIM_DCGM_H

#include "calib/measure/counter_reading.h"

#include <stddef.h>

/* The card by NVML's index. NULL when DCGM is not there or will not watch it; why says which. */
struct dcgm *dcgm_open(int index, char *why, size_t size);
void dcgm_close(struct dcgm *d);
/* sm, occ, tensor and dram over DCGM's last second; none of them is touched where it has none, as
 * some versions on some cards do though they agreed to watch. */
void dcgm_read(struct dcgm *d, struct counter_reading *out);

#endif
