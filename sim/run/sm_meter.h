/* sm_meter.h - the SM activity of all cards, kept up to date card by card.
 *
 * A card's is min(1, sum over who sits on it of what its profile says x what it keeps of its speed
 * beside the others). Sums are whole billionths, so that they come back to zero exactly. */
#ifndef COLOSIM_SM_METER_H
#define COLOSIM_SM_METER_H

#include "core/base/arena.h"
#include "sim/run/rates.h"

struct sm_meter {
    int64_t sum;    /* over all cards, in 1e-9 cards */
    int64_t *card;  /* (n_cards) */
    int32_t *dirty; /* (n_dirty) cards to be looked at again */
    bool *marked;   /* (n_cards) is it in dirty? */
    int32_t n_dirty;
};

/* False when memory is out. */
bool sm_meter_init(struct sm_meter *m, const struct cluster *c, struct arena *arena);
/* Who sits on these cards, or how fast, has changed. */
void sm_meter_mark(struct sm_meter *m, const struct cluster *c, struct seats at);
/* kept (n_jobs): of jobs that run. Cost O(residents of marked cards). */
void sm_meter_update(struct sm_meter *m, const struct rates *r, const struct plan *p,
                     const double *kept);

#endif
