/* pair_table.h - what workloads keep of their speed beside each other, as tables in memory that the
 * figures ask (figures_pairs.c). */
#ifndef COLOSIM_PAIR_TABLE_H
#define COLOSIM_PAIR_TABLE_H

#include "core/base/status.h"
#include "core/elastico/contention_sets.h"

#include <sqlite3.h>

/* The caller closes *db in any case. Repeated pairs are averaged by who asks. */
enum status pair_table_read(sqlite3 **db, const char *path, struct error *err) MUST_USE;
/* Of a catalog's workloads on a type of card under truth contention: each with every combination
 * of its flags (ck, amp, pc), in the fastest configuration that fits. A pair that does not fit the
 * card together is there too, as in the paper's Figure 9. */
enum status pair_table_model(sqlite3 **db, const char *catalog, const char *card,
                             enum contention_set set, struct error *err) MUST_USE;

#endif
