/* counters.h - what the card says of itself while jobs run.
 *
 * By dlopen, best first: DCGM; NVML's GPM (Hopper and newer); NVML alone, which has clocks and
 * memory but no SM activity; nothing. Where sm, occ, tensor and dram are unknown, what a job says
 * of itself is taken instead, by the caller. Opening never fails: the source says what there is. */
#ifndef COLOSIM_COUNTERS_H
#define COLOSIM_COUNTERS_H

#include "calib/measure/counter_reading.h"

enum counter_source { COUNTERS_NONE, COUNTERS_NVML, COUNTERS_GPM, COUNTERS_DCGM };
extern const char *const counter_source_name[]; /* NULL-terminated */

struct nvml;
struct dcgm;
struct counters {
    enum counter_source source; /* the best there is; NVML: of clocks and memory alone */
    struct nvml *nvml;          /* NULL: not there */
    struct dcgm *dcgm;
    char why_not[160]; /* why the best source is not used; empty where it is */
    char driver[32];   /* empty where NVML is not there */
    int compute_mode;  /* NVML's: 0 default, 3 exclusive process; -1 unknown */
};

void counters_open(struct counters *c, const char *uuid);
/* Call about once a second; the first of a window gives only what is instantaneous. */
void counters_read(struct counters *c, struct counter_reading *out);
void counters_close(struct counters *c);

#endif
