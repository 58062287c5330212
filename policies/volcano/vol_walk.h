/* vol_walk.h - an action's walk over the jobs of a line, queue by queue, in the order of jobs.
 *
 * The jobs of one shape are met in order of their creation; between shapes the order is that of
 * vol_job_before at the time a job is put into the walk. A shape whose first job is not put back
 * is out of the walk. */
#ifndef COLOSIM_VOL_WALK_H
#define COLOSIM_VOL_WALK_H

#include "policies/volcano/vol_state.h"

/* Every shape of the line that has jobs. Cost O(shapes). */
void vol_walk_begin(struct vol_state *s, enum vol_line line);
/* Is nobody left in the queue? */
bool vol_walk_empty(const struct vol_state *s, int32_t queue);
/* The shape with the first job, which leaves the walk; -1 where there is none. O(log shapes). */
int32_t vol_walk_next(struct vol_state *s, enum vol_line line, int32_t queue);
/* Puts a shape that has jobs (back) into the walk. */
void vol_walk_add(struct vol_state *s, enum vol_line line, int32_t shape);

#endif
