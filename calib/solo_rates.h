/* solo_rates.h - how fast configurations ran alone, out of tables of repeated measurements.
 *
 * A table has one row a measurement. Its columns, in the spellings that there are:
 *   the workload: job, workload or model (with dataset, joined by '-'); none: all rows are one
 *   the batch: bs, batchsize or local_bsz; or, of a job, the bN of its name
 *   amp, ck: 0 or 1; or, of a job, those words in its name
 *   the speed: steps_per_s; rate, speed or samples_per_s; or step_s, step_time (seconds), iter_ms
 *   throttled: 1 where the card was slowed down meanwhile
 * Throttled samples are left out and counted; of the others the median counts. */
#ifndef COLOSIM_CALIB_SOLO_RATES_H
#define COLOSIM_CALIB_SOLO_RATES_H

#include "core/base/names.h"
#include "core/base/status.h"
#include "core/base/table.h"

struct solo_rate {
    int32_t workload; /* id of the names: without batch, amp and ck where the name told them */
    int32_t job;      /* id of the jobs: as the table names it */
    double bs;        /* 0: not known */
    bool amp, ck;
    double step_s; /* median; 0 where only the rate is known and no batch */
    double rate;   /* samples/s, bs / step_s; 0: not known */
    int32_t n_used, n_left_out;
};

/* All-zero is a valid empty set. */
struct solo_rates {
    int32_t n;
    struct solo_rate *at; /* (n) in the order of first sight */
    struct names workloads, jobs;
    size_t capacity;
};

/* Adds those of a table. ST_INPUT names line and column, and a configuration of which every sample
 * was throttled. The caller frees in any case. */
enum status solo_rates_read(struct solo_rates *r, const struct table *t,
                            struct error *err) MUST_USE;
void solo_rates_free(struct solo_rates *r);

#endif
