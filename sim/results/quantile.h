/* quantile.h - the SQL aggregate quantile(x, share), linear between order statistics.
 *
 * NULLs are passed over; NULL where nothing is left. share 0 .. 1, the same in every row. */
#ifndef COLOSIM_QUANTILE_H
#define COLOSIM_QUANTILE_H

#include <sqlite3.h>

/* Makes it known to a connection; SQLite's code. Cost of a use O(n log n), 8 bytes a row. */
int quantile_register(sqlite3 *db);

#endif
