/* experiments.h - synthetic co-location experiments: what a testbed would have measured if the
 * contention physics were the truth.
 *
 * Each experiment draws two configurations that can run, at random: a workload, then one of its
 * configurations, then the type of card for both. Its slowdowns are the physics' times a
 * log-normal error. Memory is not asked for: pairs that would not fit are predicted as well. */
#ifndef COLOSIM_CALIB_EXPERIMENTS_H
#define COLOSIM_CALIB_EXPERIMENTS_H

#include "calib/samples.h"
#include "core/base/param.h"
#include "core/elastico/contention.h"

struct experiment_options {
    int64_t n_tt, n_ti, n_ii; /* experiments of each kind */
    double sigma_tt, sigma_ti, sigma_ii;
    int physics;    /* enum contention_set; for the caller, who makes the physics of it */
    uint32_t cards; /* bit k: row k of card_table; no setting */
    int64_t seed;   /* no setting */
};
extern const struct param experiment_params[]; /* the group "experiments" */

/* Adds them to s. ST_USAGE when nothing of a kind can run on any of the cards. */
enum status experiments_make(struct samples *s, const struct profiles *p,
                             const struct contention *physics, const struct experiment_options *o,
                             struct error *err) MUST_USE;

#endif
