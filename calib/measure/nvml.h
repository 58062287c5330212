/* nvml.h - libnvidia-ml.so.1 with prototypes of our own, for one card. */
#ifndef COLOSIM_NVML_H
#define COLOSIM_NVML_H

#include "calib/measure/counter_reading.h"

/* NULL when the library, the driver or the card is not there. */
struct nvml *nvml_open(const char *uuid);
void nvml_close(struct nvml *n);
bool nvml_has_gpm(const struct nvml *n);
int nvml_gpm_error(const struct nvml *n); /* where it has none: NVML's reason, 0 if unsupported */
void nvml_driver(const struct nvml *n, char *out, unsigned size);
int nvml_compute_mode(const struct nvml *n); /* -1: unknown */
int nvml_index(const struct nvml *n);        /* -1: unknown */
/* Memory, clock, throttling and utilisation; with GPM also sm .. dram since the call before. */
void nvml_read(struct nvml *n, struct counter_reading *out);

#endif
