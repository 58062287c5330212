/* sweep.h - what the parts of colosim sweep share: which points there are (sweep_plan.c), how one
 * is run here or on another rank (cmd_sweep.c), and the table of all (sweep_table.c). */
#ifndef COLOSIM_SWEEP_H
#define COLOSIM_SWEEP_H

#include "sim/cmd/options.h"
#include "sim/cmd/watch.h"
#include "sim/results/batch.h"
#include "sim/results/resume.h"
#include "sim/run/ranks.h"
#include "sim/run/sources.h"
#include "sim/run/study.h"

struct point {
    struct stored_point there;
    int32_t source; /* what it reads */
};

struct sweep {
    struct options options;
    const char *file, *seeds, *metrics;
    const char **grid; /* (n_grids) */
    size_t n_grids, grid_capacity;
    bool retry;

    struct study study;
    int n_groups, n_points;
    uint64_t meaning; /* a hash of every point's settings */
    struct sources sources;
    bool *said;          /* (sources.keys.n) its import report was printed */
    struct point *point; /* (n_points) */
    int *todo;           /* (n_todo) those that are not there yet */
    int n_todo, n_failed, n_threads;
    struct store store; /* of rank 0 */
    struct batch batch; /* likewise */
    struct ranks ranks;
    struct watcher watcher;
    struct run_watch watch;
};

/* Point i of the study; the caller frees the request in any case. */
enum status sweep_request(const struct sweep *s, int i, struct run_request *q,
                          struct error *err) MUST_USE;
/* The study from its file, and what the command line adds and overrides. */
enum status sweep_read(struct sweep *s, struct error *err) MUST_USE;
/* Checks every point before the first is run; at rank 0 leaves those in todo that the database does
 * not have. */
enum status sweep_plan(struct sweep *s, struct error *err) MUST_USE;

/* ST_USAGE where --metrics names what is none. */
enum status sweep_check_metrics(const struct sweep *s, struct error *err) MUST_USE;
/* The table, or with --json an object a run, and which points failed: n_failed. */
enum status sweep_print(struct sweep *s, struct error *err) MUST_USE;

#endif
