/* why.h - why a job of a stored run waited: what the cluster looked like meanwhile.
 *
 * Told from the run's jobs, spans and nodes: GPUs, and where they are. CPU, host memory, GPU types
 * and a policy's quotas are not in the spans, so where a job would have found its GPUs and did not
 * start, that is all that is said, with who was ahead of it in the order of submission. */
#ifndef COLOSIM_WHY_H
#define COLOSIM_WHY_H

#include "core/base/names.h"
#include "sim/results/store.h"

#include <stdio.h>

enum block {
    BLOCK_FULL,      /* fewer GPUs free than it asks for */
    BLOCK_SCATTERED, /* as many, but not in the pieces it needs */
    BLOCK_HELD       /* it would have found them */
};
enum { N_BLOCKS = BLOCK_HELD + 1 };
extern const char *const block_names[N_BLOCKS];

/* From-to one reason, or nearly: what is shorter than a hundredth of the wait is part of what was
 * before. */
struct blocked {
    int64_t from_us, to_us;
    enum block why;
    bool mixed;                /* with short parts of another reason */
    double free_min, free_max; /* GPUs */
    int32_t n_ahead, ahead; /* jobs submitted earlier that had not started at from_us; the first */
};

struct why {
    char policy[64], status[16];
    struct names names;
    struct why_job {
        int32_t name; /* id in names, -1: not stored, since the run ended before its submission */
        int64_t submit_us, start_us, finish_us; /* TIME_NEVER where it did not */
        double gpu;
    } * jobs; /* (n_jobs) */
    int32_t n_jobs, job, n_inst;
    size_t capacity;
    struct blocked *blocked; /* (n_blocked) in order; a gap between two is a stay on GPUs */
    size_t n_blocked, blocked_capacity;
    int64_t total_us[N_BLOCKS];
    int32_t n_overtook; /* submitted later, started while it waited for its first start */
    double overtook_gpu_s;
    int32_t freed_by;  /* whose end let it start, -1 where nobody's did */
    int32_t holder[5]; /* who held most GPU time while it waited, most first; -1 ends */
    double holder_gpu_s[5];
    char reason[128]; /* of a rejection or a stall, "" for none */
};

/* ST_USAGE where the run has no such job. The caller frees in any case. */
enum status why_read(struct why *w, struct store *s, int64_t run, const char *job,
                     struct error *err) MUST_USE;
void why_free(struct why *w);

/* In words, and as one JSON object. */
void why_print(FILE *to, const struct why *w);
void why_json(FILE *to, const struct why *w);

#endif
