/* batch.h - many runs stored with few commits.
 *
 * Waiting for the disk costs as much as a short run itself. Runs that end within BATCH_MS share a
 * transaction; a thread of the batch ends it, however long the next run takes. So a program that is
 * killed loses a fifth of a second of results at most, and a sweep makes them again. */
#ifndef COLOSIM_BATCH_H
#define COLOSIM_BATCH_H

#include "sim/results/store.h"

#include <pthread.h>

enum { BATCH_MS = 200 };

struct batch {
    struct store *store;
    pthread_t thread;
    pthread_mutex_t lock; /* who has it may use the store */
    pthread_cond_t ending;
    bool started, ends;
    enum status status; /* of the commits so far */
    struct error err;
};

/* Borrows the store until batch_end. */
enum status batch_begin(struct batch *b, struct store *store, struct error *err) MUST_USE;
/* The store for this thread alone, in the open transaction; given back with batch_leave in any
 * case. */
enum status batch_enter(struct batch *b, struct error *err) MUST_USE;
void batch_leave(struct batch *b);
/* Commits what is open. Safe on a batch that never began. */
enum status batch_end(struct batch *b, struct error *err) MUST_USE;

#endif
