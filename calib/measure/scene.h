/* scene.h - a session, the jobs it has on the card, and the measurement that is made of them at the
 * end. Runners and scenes are between session.c and scene.c; nobody else wants them. */
#ifndef COLOSIM_SCENE_H
#define COLOSIM_SCENE_H

#include "calib/measure/counters.h"
#include "calib/measure/hints.h"
#include "calib/measure/joblist.h"
#include "calib/measure/measurement.h"
#include "calib/measure/mps.h"
#include "calib/measure/rate_line.h"
#include "calib/measure/ring.h"
#include "calib/measure/series.h"
#include "calib/measure/stop.h"

struct session_options {
    double warmup_s, window_s;
    double ready_s; /* for a job to get ready */
    double grace_s;
    double clock_change_frac; /* of the SM clock inside a window */
    int64_t min_rates;        /* of each job in a window */
};

struct session {
    struct session_options options;
    struct stop *stop;
    bool use_mps;
    const char *uuid; /* the card; empty: the jobs need none */
    struct mps mps;   /* started when first needed, and again after a fault */
    bool only_kills;  /* an MPS server has failed to end clients: they are just killed */
    struct counters *counters;
    const char *log_folder;  /* FOLDER/JOB.log holds what the job last said */
    const char *profiler;    /* the library to preload; NULL: none */
    const char *ring_folder; /* ours, while there is a profiler */
};

/* One job while it runs. */
struct runner {
    const struct measured_job *job;
    struct child child;
    char mark[48]; /* in the environment of all its processes */
    struct rate_reader reader;
    bool ready, told; /* it has printed a rate or "ready"; the latter wants to be told to go */
    int said_mps;     /* 1 or 0: it printed "mps=1" or "mps=0", what CUDA says of it; -1: nothing */
    double last_line_s; /* of a rate; 0: none yet */
    const struct hint *hint;
    struct series side[N_SIDE_NUMBERS], joint[N_JOINT_NUMBERS]; /* of its lines in the window */
    int32_t n_left_out;
    char ring_folder[512];
    struct ring_reader rings;
    struct ring_sums begin, end;
};

/* What happens now. */
struct scene {
    struct session *s;
    struct measurement *m;
    struct runner runner[2];
    int n;
    bool in_window, throttled;
    bool power_capped;  /* at any time of the window */
    const char *source; /* of sm .. dram in the window; NULL: the card told none */
    double both_s;      /* since when both run; 0: not yet */
    struct series joint[N_JOINT_NUMBERS];
    double fb_before_mib;
};

/* How it ended, with the text that says why; the first reason is the one. */
void scene_outcome(struct scene *c, enum outcome what, const char *format, ...) PRINTF_LIKE(3, 4);
/* After the window: every number of the measurement, and what keeps it from counting. */
void scene_sum_up(struct scene *c);

#endif
