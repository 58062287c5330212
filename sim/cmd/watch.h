/* watch.h - a run seen from the terminal: progress on stderr, and the first Ctrl-C.
 *
 * The first SIGINT or SIGTERM asks the run to stop at the next event; the second ends the program
 * at once. Progress is a bar on a terminal and one line a minute otherwise. */
#ifndef COLOSIM_WATCH_H
#define COLOSIM_WATCH_H

#include "sim/run/run.h"

/* Installs the signal handlers. */
void watch_signals(void);
/* 0, or 130 after SIGINT and 143 after SIGTERM. */
int watch_exit_code(void);

struct watcher {
    bool quiet, bar;
    double begin_s, last_s;
};
/* What to hand to run_execute; w must live as long. */
struct run_watch watch_begin(struct watcher *w, bool quiet);
/* The same for a study: so many of its points are done, and so many of these failed. */
void watch_points(struct watcher *w, int n_done, int n_points, int n_failed);
/* Clears the bar. */
void watch_end(struct watcher *w);

#endif
