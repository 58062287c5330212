/* study.h - a study: settings that vary, every combination of them, and seeds.
 *
 * A study file is JSON; every part may be left out:
 *   {"name": "load",                                       in front of every label
 *    "settings": {"cluster": "16x8:a100-40g"},             of all points, as in --config
 *    "variants": {"plain": {}, "packed": {"place": "consolidate"}},   named groups of settings
 *    "grid": {"policy": ["fifo", "srtf"], "load": [0.8, 1.2]},
 *    "seeds": "1..5"}                                      or [1, 2, 7]
 * A point is one value of every axis (the variants are one, each key of the grid is one) and a
 * seed. The first axis varies slowest, the seed fastest. */
#ifndef COLOSIM_STUDY_H
#define COLOSIM_STUDY_H

#include "sim/run/run.h"

enum { STUDY_AXES_MAX = 16, STUDY_SEEDS_MAX = 10000, STUDY_POINTS_MAX = 1000000 };

/* "KEY=VALUE" each. */
struct pair_list {
    const char **pair;
    size_t n, capacity;
};

struct axis {
    const char *name; /* the setting's key, or "variant" */
    int n;
    const char **value;      /* (n) as shown and as part of labels */
    struct pair_list *pairs; /* (n) what it sets */
};

struct study {
    const char *name; /* NULL for none */
    struct pair_list base;
    struct axis axis[STUDY_AXES_MAX];
    int n_axes;
    int64_t *seed; /* (n_seeds); none until given */
    int n_seeds;
    struct arena arena; /* owns the texts */
};

/* "1..5", "1,2,7" or a mix. ST_USAGE otherwise. The arena owns the numbers. */
enum status seeds_parse(const char *text, struct arena *arena, int64_t **seed, int *n_seeds,
                        struct error *err) MUST_USE;

/* ST_USAGE names the file, and line and column of what is no JSON. */
enum status study_load(struct study *s, const char *path, struct error *err) MUST_USE;
/* "KEY=a,b,c": one more axis, or other values for the one of that key. */
enum status study_grid(struct study *s, const char *text, struct error *err) MUST_USE;
/* "1..5", or a single one: instead of those it had. */
enum status study_seeds(struct study *s, const char *text, struct error *err) MUST_USE;
enum status study_seed(struct study *s, int64_t seed, struct error *err) MUST_USE;
void study_free(struct study *s);

/* Combinations of the axes; group g and the k-th seed are point g * n_seeds + k. ST_USAGE where
 * there are too many. */
enum status study_count(const struct study *s, int *n_groups, struct error *err) MUST_USE;
/* Which value of an axis a combination has. */
int study_value(const struct study *s, int group, int axis);
/* What all points are, and what this one is: its values, its seed and its label, which is
 * "policy=fifo,load=0.8,seed=1" behind the label so far. What the command line sets comes between
 * the two calls. */
enum status study_set_base(const struct study *s, struct run_request *q,
                           struct error *err) MUST_USE;
enum status study_set_point(const struct study *s, int point, struct run_request *q,
                            struct error *err) MUST_USE;

#endif
