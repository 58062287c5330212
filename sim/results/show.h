/* show.h - everything about one stored run: its summary and how it was set. */
#ifndef COLOSIM_SHOW_H
#define COLOSIM_SHOW_H

#include "sim/results/summary.h"

#include <stdio.h>

/* The summary, then the settings: those that differ from their defaults first. s has its jobs. */
enum status show_run(FILE *to, struct store *store, int64_t run, const struct summary *s,
                     struct error *err) MUST_USE;

/* report_json's object with "settings", "sizes" and "happenings" besides, on one line. */
enum status show_json(FILE *to, struct store *store, int64_t run, const struct summary *s,
                      struct error *err) MUST_USE;

#endif
