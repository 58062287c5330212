/* facts.h - what a policy's table says of each job's workload, as columns over jobs. */
#ifndef COLOSIM_FACTS_H
#define COLOSIM_FACTS_H

#include "core/cluster/policy.h"

/* One column of numbers in a CSV whose column "workload" names the rows. */
struct fact {
    const char *name;
    double initial; /* where the table has no such row or column, or an empty cell */
    double min, max;
    bool sm_active; /* jobs that a catalog of workloads knows have the SM activity of their
                       submitted configuration instead of the initial number */
};

/* (n_jobs) the numbers of every job. table may be NULL or have no rows. ST_INPUT names the policy's
 * setting, the workload and the column where a number is out of range. Scratch is used. */
enum status facts_of_jobs(const struct table *table, const char *setting, const struct fact *column,
                          const struct view *v, struct arena *arena, const double **out,
                          struct error *err) MUST_USE;

#endif
