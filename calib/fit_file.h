/* fit_file.h - what colosim calib fit found, as the JSON file that core/elastico/physics_file.h
 * reads back and people read whole: docs/calibration.md has every key. Numbers have nine
 * significant digits. */
#ifndef COLOSIM_CALIB_FIT_FILE_H
#define COLOSIM_CALIB_FIT_FILE_H

#include "calib/kernels.h"
#include "calib/queueing.h"
#include "calib/saturation.h"
#include "calib/sensors.h"
#include "core/elastico/contention_sets.h"

#include <stdio.h>

/* Where it is from; texts of the caller's. */
struct fit_note {
    const char *date, *program, *gpu, *driver, *data;
    int64_t seed;
};

/* Errors on pairs that were left out: means over the repeats. */
struct fit_error {
    const char *left_out; /* "pair", "job" */
    int32_t n_folds, n_repeats, n_rows;
    double mape_pct, mape_min_pct, mape_max_pct, r2; /* of 1 / S, at most 1 */
    double raw_mape_pct, raw_r2;                     /* of 1 / S as measured */
};
enum { FIT_ERRORS_MAX = 2 };

/* One job of the pairs, as the physics knows it. */
struct fit_job {
    const char *name;
    struct iac_side side;  /* counters and step time; all 0 where nobody has them */
    struct estimate log_w; /* mean over the jobs 0; NAN: the pairs name no jobs */
    const char *workloads; /* what it stands for in catalogs, "|"-separated; "" */
    enum phase phase;
};

/* Everything; what is NULL or 0 was not asked for. */
struct fit_file {
    struct fit_note note;
    const struct samples *samples;
    const struct queueing *q;
    struct estimate m; /* the file's: measured on jobs alone, else of the fit, else 1 */
    int32_t n_jobs, n_errors;
    struct fit_job *job;
    struct estimate at_1_s, slope; /* ln w over ln(step time), least squares over the jobs */
    struct fit_error error[FIT_ERRORS_MAX];
    const struct kernel_pairs *kernels;
    const struct estimate (*kernel_slope)[2]; /* (groups) shorter side, both directions */
    const struct solo_rates *rates;
    const struct saturation *saturation; /* (workloads of rates) n = 0: not fitted */
    const struct sensor_census *busy;
};

/* Jobs, weights and their line out of samples and q, which stay where they are. ST_OUTPUT is
 * memory. The caller frees in any case. */
enum status fit_file_jobs(struct fit_file *f, struct error *err) MUST_USE;
enum status fit_file_write(const struct fit_file *f, FILE *file, struct error *err) MUST_USE;
void fit_file_free(struct fit_file *f);

#endif
