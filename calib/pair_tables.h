/* pair_tables.h - measured pairs out of CSV tables. */
#ifndef COLOSIM_CALIB_PAIR_TABLES_H
#define COLOSIM_CALIB_PAIR_TABLES_H

#include "calib/samples.h"
#include "calib/solo_jobs.h"
#include "core/base/table.h"

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
