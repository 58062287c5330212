/* measured.h - the options by which the calib commands are told which measured pairs to read, and
 * how to learn from them. */
#ifndef COLOSIM_MEASURED_H
#define COLOSIM_MEASURED_H

#include "calib/score.h"

#include "core/base/table.h"

#include <argp.h>

enum { MEASURED_PAIRS_MAX = 16 };

/* All-zero, with the defaults of measured_init, before argp_parse. Texts are argv's own. */
struct measured {
    const char *pairs[MEASURED_PAIRS_MAX]; /* (n_pairs) tables of pairs, in order */
    int n_pairs;
    const char *solo, *catalog, *card;
    const char *where; /* "column=value": rows of tables of pairs that count; NULL: all */
    bool pairs_optional;
    int64_t seed;
    int n_threads, n_nets;
    bool quiet;
    struct train_options train;
    struct queueing_options queueing;
};
void measured_init(struct measured *m);

/* The argp child for --pairs … --quiet; its input is a struct measured. */
extern const struct argp measured_argp;

/* What the options say of learning. */
struct score_options measured_options(const struct measured *m);

/* --set KEY=VALUE of groups that have no texts; ends the program where it is wrong, as argp_error
 * does. 0 or ENOMEM. */
error_t option_setting(const struct argp_state *state, const struct param_group *groups, size_t n,
                       const char *pair);

/* Leaves the rows whose column has the value, both as "column=value". ST_USAGE without such a
 * column, ST_INPUT without such a row; both name the path. */
enum status table_keep_where(struct table *t, const char *path, const char *where,
                             struct error *err) MUST_USE;

/* The pairs, and the jobs alone that they name, into an empty set. */
enum status measured_read(const struct measured *m, struct samples *out,
                          struct error *err) MUST_USE;

#endif
