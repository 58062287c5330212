/* ledger.h - the raw table of a measuring campaign: one row a window, appended as it ends.
 *
 * A row is one write and is on the disk before the next window begins. A row that was cut off by
 * a kill is dropped when the file is opened again. One process holds the file at a time. The tables
 * that fits read are made from it, whole or not at all. */
#ifndef COLOSIM_LEDGER_H
#define COLOSIM_LEDGER_H

#include "calib/measure/joblist.h"
#include "calib/measure/measurement.h"

#include <stdio.h>

/* What is the same in every row. */
struct ledger_facts {
    uint64_t plan; /* a hash: rows of another plan are not ours to go on with */
    const char *gpu_name, *gpu_uuid, *driver, *mps; /* mps: "on", "off" or "none" (no card) */
    int cuda, compute_mode, n_sms;                  /* n_sms is not written */
};

struct ledger {
    int fd;
    const struct joblist *jobs;
    struct ledger_facts facts;
    int32_t n;
    struct measurement *row; /* (n) */
    size_t capacity;
};

/* Opens or creates the file. ST_USAGE when it belongs to another plan or card, or is held by
 * another process; ST_INPUT when it is no such table. */
enum status ledger_open(struct ledger *l, const char *path, const struct joblist *jobs,
                        const struct ledger_facts *facts, struct error *err) MUST_USE;
enum status ledger_append(struct ledger *l, const struct measurement *m,
                          struct error *err) MUST_USE;
void ledger_close(struct ledger *l);

/* Does the row count: ok, and no sentinel at the end of its block (the pairs since the sentinel
 * before) was further than drift_frac from what its job does alone? O(n). */
bool ledger_counts(const struct ledger *l, int32_t row, double drift_frac);
/* A job's rate alone, the mean of its ok solos; NAN of none. O(n). */
double ledger_solo_rate(const struct ledger *l, int32_t job);
/* The mean of any other number over them: an enum side_number, or joint_number where joint. */
double ledger_solo_mean(const struct ledger *l, int32_t job, bool joint, int number);
/* What a sentinel gave over that rate. */
double ledger_drift(const struct ledger *l, int32_t row);

/* ",NUMBER", nothing behind the comma where it is NAN. */
void ledger_put_number(FILE *to, double value);

/* job_solo.csv: one row a job; job_pairs.csv: one row a usable pair window, rep counted from 0 for
 * each pair. As core/elastico/catalogs/h200_*.csv have them, with more columns behind. */
enum status ledger_write_solo(const struct ledger *l, const char *path, struct error *err) MUST_USE;
enum status ledger_write_pairs(const struct ledger *l, const char *path, double drift_frac,
                               struct error *err) MUST_USE;

#endif
