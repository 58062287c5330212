/* saturation.h - a workload's speed over its batch size, fitted to how fast it ran alone:
 *
 *     T(BS) = BS / (t0 + BS / T_inf)
 *
 * T_inf times amp_speedup and t0 times launch_amp with mixed precision, T_inf times 1 - ck_cost
 * with activation checkpointing; the names are those of a catalog's coefficients
 * (core/elastico/workload.h; bs_half = t0 T_inf). Least squares on ln T. */
#ifndef COLOSIM_CALIB_SATURATION_H
#define COLOSIM_CALIB_SATURATION_H

#include "calib/estimate.h"
#include "calib/solo_rates.h"

struct saturation {
    int32_t n; /* configurations fitted to; 0: no fit */
    /* NAN where the measurements cannot tell, its error beyond itself included */
    struct estimate t0_s, rate_inf, amp_speedup, launch_amp, ck_cost;
    double mape_pct; /* of the rates, in sample */
};

/* Of one workload. s->n is 0 where its measurements are not more than what they are to tell, or no
 * precision has two batch sizes. */
enum status saturation_fit(struct saturation *s, const struct solo_rates *r, int32_t workload,
                           struct error *err) MUST_USE;

#endif
