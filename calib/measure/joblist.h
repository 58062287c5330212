/* joblist.h - the commands that are measured, and what is known of each without measuring.
 *
 * A JSON list of objects. "command" is a shell command that goes on until it is told to stop and
 * prints its rate over and over; "name" is what the tables call it. Everything else has a default:
 *
 *   kind              "train" or "infer"; else infer where decode or prefill is a word of the name
 *   workload          the name up to its first '-'; which pairs are alike when some are drawn
 *   rate              a POSIX extended regular expression with one group, the steps a second since
 *                     the line before; else a line that begins with "rate NUMBER", behind which
 *                     may follow pairs of a word and a number (enum side_number, joint_number)
 *   samples_per_step  1
 *   mem_limit_mib     device memory of each of its processes under MPS; no limit
 *   thread_pct        share of the SMs under MPS; 100
 *   sm occ tensor dram peak_alloc_mib   percent and MiB that the user knows, for machines whose
 *                     counters do not tell
 *
 * A line that begins with mps=1 or mps=0 says whether CUDA runs it under MPS
 * (cudaDevAttrMpsEnabled); of others the MPS server is asked.
 *
 * A command that prints the line "ready" when it has set up is started with the line "go" on its
 * standard input; any other counts as ready at its first rate. */
#ifndef COLOSIM_JOBLIST_H
#define COLOSIM_JOBLIST_H

#include "core/base/arena.h"
#include "core/base/status.h"

#include <stdint.h>

enum { GIVEN_SM, GIVEN_OCC, GIVEN_TENSOR, GIVEN_DRAM, GIVEN_PEAK_MIB, N_GIVEN };

struct measured_job {
    const char *name, *workload, *command;
    const char *rate;                                   /* NULL: "rate NUMBER" */
    int kind;                                           /* enum job_kind */
    double samples_per_step, mem_limit_mib, thread_pct; /* 0: no memory limit */
    double given[N_GIVEN];                              /* NAN: not known */
};

struct joblist {
    int32_t n;
    struct measured_job *job; /* (n) */
    size_t capacity;
    struct arena arena; /* owns the texts */
};

/* ST_USAGE names file, line and column of bad JSON, or the job and the key that is wrong. The
 * caller frees in any case. */
enum status joblist_read(struct joblist *out, const char *path, struct error *err) MUST_USE;
/* Adds one; texts are copied. For those who make a list themselves. */
enum status joblist_add(struct joblist *list, const struct measured_job *job,
                        struct error *err) MUST_USE;
void joblist_free(struct joblist *list);

/* Of all that changes what is measured. */
uint64_t joblist_hash(const struct joblist *list);

#endif
