/* chrome.h - a stored run on screen: Chrome's trace event format (chrome://tracing, Perfetto).
 *
 * A process is a node and a row is a GPU, with a second row where jobs share the card and one row
 * "node" for what holds no card. Times before 0 are moved up; otherData says by how much. */
#ifndef COLOSIM_CHROME_H
#define COLOSIM_CHROME_H

#include "sim/results/output.h"
#include "sim/results/store.h"

/* Stops early, with ST_OK, when the output broke. Cost: a sort of the spans. */
enum status chrome_export(struct store *s, int64_t run, struct output *to,
                          struct error *err) MUST_USE;

#endif
