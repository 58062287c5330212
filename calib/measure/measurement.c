#include "calib/measure/measurement.h"

#include <math.h>
#include <string.h>

const char *const measured_kind_name[] = {"solo", "pair", "sentinel", NULL};
const char *const outcome_name[] = {"ok",        "not-started", "ended",  "fault", "no-mps",
                                    "few-rates", "throttled",   "clocks", NULL};
const char *const side_number_name[] = {
    "rate",      "cv",           "n",      "left_out", "samples", "peak_mib",   "mps",  "kernel_us",
    "busy_frac", "launch_per_s", "gap_us", "allocs",   "frees",   "nccl_per_s", "lost", NULL};
const char *const joint_number_name[] = {"sm",     "occ",     "tensor",  "dram", "gpu_util",
                                         "fb_mib", "mhz_min", "mhz_max", NULL};

void measurement_init(struct measurement *m, enum measured_kind kind, int32_t a, int32_t b)
{
    *m = (struct measurement){.kind = kind, .n_jobs = kind == MEASURED_PAIR ? 2 : 1, .job = {a, b}};
    for (int side = 0; side < 2; side++)
        for (int i = 0; i < N_SIDE_NUMBERS; i++)
            m->side[side][i] = NAN;
    for (int i = 0; i < N_JOINT_NUMBERS; i++)
        m->joint[i] = NAN;
    strcpy(m->counter_source, "none");
}
