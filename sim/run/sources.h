/* sources.h - the traces of a study: each is read once, by whoever needs it first.
 *
 * Runs that read the same files in the same way share a source. It is counted beforehand who will
 * use it; with its last user it is freed. Threads may take and leave at the same time. */
#ifndef COLOSIM_SOURCES_H
#define COLOSIM_SOURCES_H

#include "sim/run/run.h"

#include <pthread.h>

struct source {
    struct trace trace;
    int n_users;          /* still to come, or at it */
    pthread_mutex_t lock; /* of what follows, and of n_users once threads run */
    bool tried;
    enum status status; /* of reading it */
    struct error err;
};

struct sources {
    struct names keys; /* what decides how a trace is read; its id is the source's number */
    struct source **source;
    size_t capacity;
    volatile sig_atomic_t *stop; /* non-zero ends the reading of one; may be NULL */
};

void sources_free(struct sources *s);

/* Counts a user of the trace of this request; *id is its number. Before the first sources_take. */
enum status sources_add(struct sources *s, const struct run_request *q, int32_t *id,
                        struct error *err) MUST_USE;
/* The trace, read now if it was not before; others who want one wait for that. Fails for every
 * user where it could not be read. */
enum status sources_take(struct sources *s, int32_t id, const struct run_request *q,
                         const struct trace **out, struct error *err) MUST_USE;
/* One user less; after a sources_take, failed or not, or instead of one. */
void sources_leave(struct sources *s, int32_t id);

#endif
