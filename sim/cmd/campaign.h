/* campaign.h - measuring jobs alone and in pairs until all is done, time is up, or somebody says
 * stop; what calib bench and calib pairs have in common. */
#ifndef COLOSIM_CAMPAIGN_H
#define COLOSIM_CAMPAIGN_H

#include "calib/measure/gpu.h"
#include "calib/measure/pair_plan.h"
#include "calib/measure/session.h"
#include "core/base/param.h"
#include "sim/results/ledger.h"

#include <argp.h>

struct campaign_options {
    struct session_options session;
    double fraction; /* of the pairs */
    double drift_frac;
    int64_t repeats, sentinel_every, attempts;
};
extern const struct param campaign_params[]; /* the group "measure" */

/* What was asked on the command line, and what belongs to one kind of campaign. */
struct campaign {
    struct campaign_options options;
    const char *folder; /* where everything goes; made if need be */
    double limit_s;     /* 0: none */
    int64_t seed;
    int gpu_index, min_cuda;
    bool no_gpu, no_mps, profile, quiet;
    const struct joblist *jobs;
    const struct job_pair *pair; /* (n_pairs) */
    int32_t n_pairs;
    /* Writes the tables of this kind; NULL: job_solo.csv and job_pairs.csv. */
    enum status (*write)(const void *context, const struct ledger *l, const char *folder,
                         double drift_frac, struct error *err);
    const void *context;
};

/* The argp child for -o … --quiet; its input is a struct campaign that campaign_init has seen. */
extern const struct argp campaign_argp;
void campaign_init(struct campaign *c);

/* Does it, under a keeper, and returns the exit code: 0 all done or time is up, 1 some windows
 * failed for good, 5 no pair was measured, 6 no card, 130 and 143 as ever. */
int campaign_run(struct campaign *c);

/* Where a program or library of ours lies: beside this one, in calib/cuda/ of the build, or in the
 * libexec folder of an installation. False when it is not there. */
bool companion_path(char path[512], const char *name);

#endif
