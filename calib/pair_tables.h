/* pair_tables.h - measured pairs out of CSV tables. */
#ifndef COLOSIM_CALIB_PAIR_TABLES_H
#define COLOSIM_CALIB_PAIR_TABLES_H

#include "calib/estimate.h"
#include "calib/samples.h"
#include "core/base/table.h"
#include "core/elastico/profile.h"

/* A table that has both sides' numbers in its columns (sm_i, occ_i, dram_i, fb_mib_i, tensor_i,
 * is_train_i, log10_params_i, T_i, bs_i, ck_i, amp_i, isl_i, osl_i, rho_i, the same with _j)
 * besides experiment, workloads ("A|B") and slowdown. The card's memory is what makes mem_pressure
 * where there is such a column, else card_mib. kernel_s and step_s of both are read where they are
 * there.
 *
 * Here and below ST_INPUT names row and column, rows counted as lines of a file with a header; what
 * was read until then stays. */
enum status pair_table_features(struct samples *s, const struct table *t, double card_mib,
                                struct error *err) MUST_USE;

/* Jobs alone, by name: what the predictor knows of those that stand in a table of pairs. All-zero
 * is a valid empty set. */
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

/* A table of jobs together, in any of these spellings:
 *   job_a, job_b, retain_a and retain_b (rate together over rate alone);
 *   model_a, model_b, iter_ms_a and iter_ms_b (milliseconds of an iteration together);
 *   Gavel's job1, job2, solo1_steps_s, solo2_steps_s, colo1_steps_s and colo2_steps_s;
 *   Lucid's model1, dataset1, batchsize1, amp1, speed1 (retained) and the same with 2.
 * Of the first two every job is among those alone; of the others one that is not there is known by
 * no counter. A side at rate 0 did not run, and its pair is left out and counted. Of repeated pairs
 * (column rep) repetition 0 counts. */
enum status pair_table_jobs(struct samples *s, const struct table *t, const struct solo_jobs *jobs,
                            struct error *err) MUST_USE;
/* Which of the two a table is, and whether its jobs need not be known alone. */
bool pair_table_is_jobs(const struct table *t);
bool pair_table_is_bare(const struct table *t);

#endif
