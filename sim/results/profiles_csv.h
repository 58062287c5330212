/* profiles_csv.h - the configurations that a run has profiled, as the file that the next one starts
 * with (elastico.profiling.store). */
#ifndef COLOSIM_PROFILES_CSV_H
#define COLOSIM_PROFILES_CSV_H

#include "sim/run/run.h"

/* A file with the columns workload and config, whole or not at all. ST_USAGE where the run kept no
 * store. */
enum status profiles_csv(const struct run_result *r, const char *path, struct error *err) MUST_USE;

#endif
