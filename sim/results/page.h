/* page.h - a database as one HTML page: tables, figures, settings, jobs, Gantt.
 *
 * The page needs nothing from outside: its style, its script (sim/results/page) and its data, as
 * JSON, are in it. The jobs and bars of a run are there as long as all of them together are no more
 * than PAGE_ROWS_MAX; of runs beyond, the summaries and figures alone, and the page says so. */
#ifndef COLOSIM_PAGE_H
#define COLOSIM_PAGE_H

#include "sim/results/chosen.h"
#include "sim/results/output.h"

enum { PAGE_ROWS_MAX = 400000 };

/* Of these runs. Cost O(their jobs and bars), memory the size of the page. */
enum status page_write(struct store *s, const struct chosen *runs, struct output *to,
                       struct error *err) MUST_USE;

/* What is before and after the data (made by scripts/embed_page). */
extern const unsigned char page_head[], page_tail[];
extern const size_t page_head_length, page_tail_length;

#endif
