/* pai_workload.h - the jobs as the official PAI simulator reads, samples and submits them.
 *
 * It runs whole seconds, hundredths of a GPU and of a core, a sample of the file, and arrivals in
 * batches; all of that is decided before the first event. */
#ifndef COLOSIM_PAI_WORKLOAD_H
#define COLOSIM_PAI_WORKLOAD_H

#include "core/cluster/policy.h"

struct pai_sampling {
    int64_t num_jobs; /* 0 takes all */
    int64_t seed;
    int64_t arrival_rate; /* jobs per minute; negative keeps the submission times */
};

/* Replaces the table by the jobs of this run, in order of job id, so that ties by row number are
 * ties by id: whole numbers first, by value, then other names by bytes.
 *
 * Read are the first 10 x num_jobs + 1 rows; if they are at least num_jobs, they are shuffled and
 * num_jobs of them kept. Submission times are rounded to the second (half to even), run times cut
 * to whole seconds and at least 1 s, requests rounded to a hundredth and cut to what the cluster
 * has in all. Memory is not asked for. With a rate, job i in order of (submission, id) arrives at
 * minute i / rate.
 *
 * ST_USAGE for a rate of 0; ST_INPUT when a job has several tasks: there, a row is a job. */
enum status pai_workload(struct preparation *p, const struct pai_sampling *sampling,
                         struct error *err) MUST_USE;

#endif
