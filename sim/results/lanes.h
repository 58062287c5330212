/* lanes.h - bars that meet on a card, side by side: three SQL functions.
 *
 * place(card, n_cards, start_us, end_us), called for bars in the order of their starts, numbers
 * them from 0 and gives each the lowest lane that is free on all of its cards. When all are placed,
 * lane(number) is a bar's lane and parts(number) into how many its cards' height is parted while it
 * is there: 1 where it meets nobody. Beyond LANES_MAX bars on a card the last lane is shared. They
 * remember: one drawing a connection. */
#ifndef COLOSIM_LANES_H
#define COLOSIM_LANES_H

#include <sqlite3.h>

enum { LANES_MAX = 8 };

/* Makes them known to a connection; SQLite's code. Cost of place O(n_cards LANES_MAX). */
int lanes_register(sqlite3 *db);

#endif
