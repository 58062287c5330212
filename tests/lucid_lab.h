/* lucid_lab.h - small worlds of virtual clusters for the policies of policies/lucid, and Lucid's
 * own data where it is there. */
#ifndef COLOSIM_TESTS_LUCID_LAB_H
#define COLOSIM_TESTS_LUCID_LAB_H

#include "tests/lab.h"
#include "tests/shared.h"

enum { LUCID_ESTIMATES, LUCID_FORECAST, LUCID_LABELS, LUCID_RATES };

/* "a:2 b:1": pools of so many nodes of 8 GPUs. */
void lab_pools(struct lab *l, const char *text);
/* "key=value key=value": settings of the policy; the others have their defaults. */
void lab_settings(struct lab *l, const char *policy, const char *text);
/* Lines of cells between commas; the first names the columns. */
void lab_table(struct lab *l, int table, const char *text);

/* (n_jobs) waiting in seconds as the artifact counts it: for its place in the profiler, and in
 * every stretch in which it waited to run. The caller frees it. */
double *lab_queue_s(const struct lab *l);
/* When its time in the profiler began; NAN without. */
double lab_profile_s(const struct lab *l, const char *name);

#endif
