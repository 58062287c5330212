/* counter_reading.h - what a card says of itself at one time. */
#ifndef COLOSIM_COUNTER_READING_H
#define COLOSIM_COUNTER_READING_H

#include <stdbool.h>

/* A reading since the one before. NAN: not known. */
struct counter_reading {
    double sm, occ, tensor, dram, gpu_util; /* percent */
    double fb_mib, sm_mhz;
    bool throttled;     /* slowed down by heat or by the power supply, whatever runs */
    bool power_capped;  /* as fast as its power lets it be: what runs brings that about */
    const char *source; /* of sm .. dram: "dcgm", "gpm"; NULL: none of them is known */
};

#endif
