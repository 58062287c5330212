/* measurement.h - what one window gave: one job alone, or two at once. */
#ifndef COLOSIM_MEASUREMENT_H
#define COLOSIM_MEASUREMENT_H

#include <stdint.h>

enum measured_kind {
    MEASURED_SOLO,
    MEASURED_PAIR,
    MEASURED_SENTINEL, /* a solo that is repeated to see whether the machine has changed */
    N_MEASURED_KINDS
};
extern const char *const measured_kind_name[]; /* NULL-terminated */

/* How it ended. Only an ok one goes into tables. */
enum outcome {
    OUTCOME_OK,
    OUTCOME_NOT_STARTED, /* a job was not ready in time, or ended before */
    OUTCOME_ENDED,       /* a job ended before its window did */
    OUTCOME_FAULT,       /* an MPS client was lost: neither side counts, the server is restarted */
    OUTCOME_NO_MPS,      /* a job did not run under MPS */
    OUTCOME_FEW_RATES,   /* too few rates in the window */
    OUTCOME_THROTTLED,   /* no rate was left once those of throttled seconds were left out */
    OUTCOME_CLOCKS,      /* the SM clock changed more than is allowed */
    N_OUTCOMES
};
extern const char *const outcome_name[]; /* NULL-terminated */

/* Numbers of one job; NAN: not known, never 0 for it. */
enum side_number {
    SIDE_RATE,      /* steps a second, trimmed mean */
    SIDE_CV,        /* of the rates it is the mean of */
    SIDE_N,         /* rates in the window */
    SIDE_LEFT_OUT,  /* of them in throttled seconds */
    SIDE_SAMPLES,   /* samples a step */
    SIDE_PEAK_MIB,  /* device memory */
    SIDE_MPS,       /* 1: seen among the clients of our MPS server, 0: MPS was off */
    SIDE_KERNEL_US, /* mean length of a kernel */
    SIDE_BUSY,      /* share of the time with a kernel in flight, from the host */
    SIDE_LAUNCH_PER_S,
    SIDE_GAP_US, /* mean time between launches, from the host */
    SIDE_ALLOCS, /* device allocations while the window lasted, and frees */
    SIDE_FREES,
    SIDE_NCCL_PER_S,
    SIDE_LOST, /* launches the profiler's ring had no room for; they are counted, their gaps not */
    N_SIDE_NUMBERS
};
extern const char *const side_number_name[]; /* NULL-terminated */

/* Numbers of the card. */
enum joint_number {
    JOINT_SM, /* percent, as the next three */
    JOINT_OCC,
    JOINT_TENSOR,
    JOINT_DRAM,
    JOINT_GPU_UTIL, /* NVML's, where nothing better is there: not SM activity */
    JOINT_FB_MIB,   /* in use on the card at most, less what was in use before */
    JOINT_MHZ_MIN,  /* SM clock */
    JOINT_MHZ_MAX,
    N_JOINT_NUMBERS
};
extern const char *const joint_number_name[]; /* NULL-terminated */

struct measurement {
    enum measured_kind kind;
    int32_t n_jobs, job[2]; /* rows of the joblist */
    int32_t rep;
    int32_t session; /* counted from 1: each start of the tool is one */
    double time_s;   /* since 1970, when its window began */
    enum outcome outcome;
    char error[200]; /* why it is not ok */
    double side[2][N_SIDE_NUMBERS];
    double joint[N_JOINT_NUMBERS];
    char counter_source[16]; /* of sm .. dram: dcgm, gpm, job, given, or none */
};

/* Everything unknown. */
void measurement_init(struct measurement *m, enum measured_kind kind, int32_t a, int32_t b);

#endif
