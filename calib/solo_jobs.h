/* solo_jobs.h - jobs alone, by name: what is known of those that stand in a table of pairs.
 *
 * ST_INPUT names row and column, rows counted as lines of a file with a header; what was read until
 * then stays. */
#ifndef COLOSIM_CALIB_SOLO_JOBS_H
#define COLOSIM_CALIB_SOLO_JOBS_H

#include "calib/estimate.h"
#include "core/base/table.h"
#include "core/elastico/iac.h"
#include "core/elastico/profile.h"

/* All-zero is a valid empty set. */
struct solo_jobs {
    struct names names;
    struct iac_side *side; /* (names.n) */
    size_t capacity;
};
/* Adds those of a table: job, samples_per_s, steps_per_s, peak_alloc_mib, and sm, occ, tensor, dram
 * in percent. What else is known is read off the name, words joined by '-': bN is the batch, amp
 * and ck what they say; decode or prefill make it inference with cN or tN tokens, three quarters of
 * them prompt as in core/elastico/profile.c. Parameter counts are those of a column params, else
 * unknown. Or a table with iter_ms, solo_rates.h: of its jobs nothing but step_s is known. */
enum status solo_jobs_of_table(struct solo_jobs *jobs, const struct table *t, double card_mib,
                               struct error *err) MUST_USE;
/* Adds a catalog's workloads in their default configuration on this card. */
enum status solo_jobs_of_profiles(struct solo_jobs *jobs, const struct profiles *p, int32_t card,
                                  struct error *err) MUST_USE;
void solo_jobs_free(struct solo_jobs *jobs);
/* What MPS costs a job that is alone under it: the geometric mean of steps_per_s_without_mps over
 * steps_per_s, where a table of jobs alone has that column; else *m stays. */
enum status solo_mps_overhead(const struct table *t, struct estimate *m,
                              struct error *err) MUST_USE;

#endif
