/* spans.h - the bars of the Gantt. */
#ifndef COLOSIM_SPANS_H
#define COLOSIM_SPANS_H

#include "core/cluster/plan.h"
#include "sim/run/run_log.h"

/* Adds the bars of a task that leaves these seats: cards side by side on one node are one bar. bar
 * holds what they have in common (times, task, kind). False when memory is out. */
bool spans_record(struct run_log *log, const struct cluster *c, const struct job_table *t,
                  struct seats at, const struct span *bar);

#endif
