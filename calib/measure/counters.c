#include "calib/measure/counters.h"

#include "calib/measure/dcgm.h"
#include "calib/measure/nvml.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

const char *const counter_source_name[] = {"none", "nvml", "gpm", "dcgm", NULL};

void counters_open(struct counters *c, const char *uuid)
{
    *c = (struct counters){.compute_mode = -1, .nvml = nvml_open(uuid)};
    if (c->nvml == NULL) {
        snprintf(c->why_not, sizeof c->why_not, "NVML is not here or does not know the card");
        return;
    }
    c->compute_mode = nvml_compute_mode(c->nvml);
    nvml_driver(c->nvml, c->driver, sizeof c->driver);
    c->dcgm = dcgm_open(nvml_index(c->nvml), c->why_not, sizeof c->why_not);
    c->source = c->dcgm != NULL         ? COUNTERS_DCGM
                : nvml_has_gpm(c->nvml) ? COUNTERS_GPM
                                        : COUNTERS_NVML;
    size_t n = strlen(c->why_not);
    int code = nvml_gpm_error(c->nvml);
    if (c->source == COUNTERS_NVML && code != 0)
        snprintf(c->why_not + n, sizeof c->why_not - n, "; GPM: NVML error %d%s", code,
                 code == 4 ? ", no permission" : "");
}

void counters_read(struct counters *c, struct counter_reading *out)
{
    *out = (struct counter_reading){NAN, NAN, NAN, NAN, NAN, NAN, NAN, false, false, NULL};
    if (c->nvml != NULL)
        nvml_read(c->nvml, out);
    if (c->dcgm != NULL)
        dcgm_read(c->dcgm, out);
}

void counters_close(struct counters *c)
{
    dcgm_close(c->dcgm);
    nvml_close(c->nvml);
    *c = (struct counters){.compute_mode = -1};
}
