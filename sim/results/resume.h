/* resume.h - which points of a study a database has already.
 *
 * A point is known by its label, which says what varies. What does not vary must be the same as
 * then: a study that was changed must not pass old results off as new ones. */
#ifndef COLOSIM_RESUME_H
#define COLOSIM_RESUME_H

#include "sim/results/store.h"

struct stored_point {
    int64_t run; /* 0: it is not there */
    bool failed;
    char trace_hash[17], program[32];
};

/* ST_USAGE where a run of that label was made with other settings: names the first that differs. */
enum status resume_find(struct store *s, const struct run_request *q, struct stored_point *out,
                        struct error *err) MUST_USE;
/* The run of that label, 0 where there is none. */
enum status resume_run(struct store *s, const char *label, int64_t *run,
                       struct error *err) MUST_USE;
/* Why it failed, in its own words (the arena owns them); NULL where it did not. */
enum status resume_why(struct store *s, int64_t run, struct arena *arena, const char **why,
                       struct error *err) MUST_USE;
/* Takes a run out, to be made again. */
enum status resume_drop(struct store *s, int64_t run, struct error *err) MUST_USE;

#endif
