/* sides.h - profiles as the predictor wants them: one side for every row of profile.h.
 *
 * A sequence of SL tokens is three quarters prompt, as in profile.c. What a profile does not know
 * is 0. Memory of the card is gpu_table's. */
#ifndef COLOSIM_SIDES_H
#define COLOSIM_SIDES_H

#include "core/elastico/iac.h"
#include "core/elastico/profile.h"

struct iac_side side_of_profile(const struct profiles *p, int32_t config, int32_t card);
/* All (N_CARDS x n_configs), by row; the caller frees *side. */
enum status sides_of_profiles(const struct profiles *p, struct iac_side **side,
                              struct error *err) MUST_USE;

#endif
