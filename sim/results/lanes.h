/* lanes.h - the SQL function lane(card, n_cards, start_us, end_us): jobs that share a card, side by
 * side.
 *
 * Called for bars in the order of their starts, it gives each the lowest lane that is free on all
 * of its cards from then on, 0 where it has them to itself. Beyond LANES_MAX residents the last
 * lane is shared. It remembers: one drawing a connection. */
#ifndef COLOSIM_LANES_H
#define COLOSIM_LANES_H

#include <sqlite3.h>

enum { LANES_MAX = 8 };

/* Makes it known to a connection; SQLite's code. Cost of a call O(n_cards LANES_MAX). */
int lanes_register(sqlite3 *db);

#endif
