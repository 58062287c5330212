/* choose.h - some of a trace's jobs, as a trace of their own. */
#ifndef COLOSIM_CHOOSE_H
#define COLOSIM_CHOOSE_H

#include "core/base/status.h"
#include "core/cluster/job.h"

/* Lowers keep (n_jobs) to n_wanted jobs of those it holds, each such set being equally likely, by
 * the stream "sample" of the seed. Keeps all where there are no more. */
enum status choose_jobs(bool *keep, int32_t n_jobs, int32_t n_wanted, uint64_t seed,
                        struct error *err) MUST_USE;

/* Copies the jobs with keep (n_jobs) set, in their order and with their times as they are, into a
 * closed table of their own. The caller frees out in any case. */
enum status jobs_copy(const struct job_table *from, const bool *keep, struct job_table *out,
                      struct error *err) MUST_USE;

#endif
