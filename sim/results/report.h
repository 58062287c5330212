/* report.h - what a person, or a program, reads about runs.
 *
 * Numbers are rounded for people and exact in JSON; what cannot be told is "-" and null. All
 * functions write to a FILE whose failures its owner notices (output.h). */
#ifndef COLOSIM_REPORT_H
#define COLOSIM_REPORT_H

#include "sim/results/summary.h"

#include <stdio.h>

/* The summary after a run: waits with the longest and whose, sizes, reasons. */
void report_run(FILE *to, const struct summary *s);

/* {"run": ..., "policy": ..., "seed": ..., "metrics": {...}, "timing": {...}} on one line. */
void report_json(FILE *to, const struct summary *s);
/* The same without the outer braces and the line's end. */
void report_json_fields(FILE *to, const struct summary *s);

/* One row a policy, in order of first appearance: the mean over its seeds, and next to it the
 * ratio to the first policy; with several seeds the 95 % intervals of both. Below it a line a
 * policy: what it was configured to be; and what was set for all. Runs that are not complete are
 * left out and named. */
enum status report_compare(FILE *to, const struct summary *runs, int n_runs,
                           struct error *err) MUST_USE;

/* One row a run: name, policy, seed, status, jobs, mean JCT, when. */
void report_list(FILE *to, const struct summary *runs, int n_runs);

/* About six digits, no exponent, no trailing zeros; "-" for NAN. Returns buffer. */
const char *report_number(double value, char buffer[32]);

#endif
