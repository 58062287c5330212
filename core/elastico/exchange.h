/* exchange.h - the last resort of a choice that does not fit: two jobs change at once.
 *
 * Where what one job gives back another must take, no single move lowers the overuse; a pair of
 * moves may. */
#ifndef COLOSIM_EXCHANGE_H
#define COLOSIM_EXCHANGE_H

#include "core/elastico/choice.h"

/* Makes the pair of moves that leaves the least overuse of hard resources, whatever it costs, again
 * until all fits; of equals the first in order of jobs and options. c is measured before and after.
 * False where no pair helps any more, or where there are too many options to look at.
 * Cost O(n_res options^2) a pair of moves. */
bool exchange_run(const struct choice_set *s, struct choice *c);

#endif
