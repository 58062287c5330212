/* vol_tasks.h - how a task changes, and with it its job, its queue and its node. */
#ifndef COLOSIM_VOL_TASKS_H
#define COLOSIM_VOL_TASKS_H

#include "policies/volcano/vol_state.h"

/* A task becomes this, on that node (-1 for none). */
void vol_set(struct vol_state *s, int32_t task, enum vol_status status, int32_t node);
/* For actions. The best node for a waiting task; -1 for none. */
int32_t vol_place(struct vol_state *s, int32_t task, enum vol_fit *fit);
/* vol_set, and remembers how the task was. */
void vol_change(struct vol_state *s, int32_t task, enum vol_status status, int32_t node);
/* Takes back what was changed since the mark, an earlier n_undo. */
void vol_undo_to(struct vol_state *s, int32_t mark);
/* Forgets how it was: the changes since the mark stay. */
static inline void vol_keep(struct vol_state *s, int32_t mark) { s->n_undo = mark; }
/* What the job's group holds back for itself, added times: to be taken out before its phase changes
 * and put back after. */
void vol_reserve(struct vol_state *s, int32_t job, double times);

/* Do the sums agree with the tasks? For tests. */
bool vol_state_valid(const struct vol_state *s);

#endif
