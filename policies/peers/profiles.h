/* profiles.h - what a policy's table says of each job's workload, as columns over jobs. */
#ifndef COLOSIM_PROFILES_H
#define COLOSIM_PROFILES_H

#include "core/cluster/policy.h"

/* One column of numbers in a CSV whose column "workload" names the rows. */
struct profile_column {
    const char *name;
    double initial; /* where the table has no such row or column, or an empty cell */
    double min, max;
};

/* (n_jobs) the numbers of every job. table may be NULL or have no rows. ST_INPUT names the policy's
 * setting, the workload and the column where a number is out of range. Scratch is used. */
enum status profile_of_jobs(const struct table *table, const char *setting,
                            const struct profile_column *column, const struct view *v,
                            struct arena *arena, const double **out, struct error *err) MUST_USE;

#endif
