#include "sim/results/batch.h"

#include <time.h>

static bool is_open(const struct batch *b) { return sqlite3_get_autocommit(b->store->db) == 0; }

static void commit(struct batch *b)
{
    if (is_open(b) && b->status == ST_OK)
        b->status = store_commit(b->store, &b->err);
}

/* Commits every BATCH_MS. */
static void *keep_committing(void *arg)
{
    struct batch *b = arg;
    pthread_mutex_lock(&b->lock);
    while (!b->ends) {
        struct timespec until;
        clock_gettime(CLOCK_REALTIME, &until);
        until.tv_nsec += BATCH_MS * 1000000L;
        until.tv_sec += until.tv_nsec / 1000000000;
        until.tv_nsec %= 1000000000;
        pthread_cond_timedwait(&b->ending, &b->lock, &until);
        commit(b);
    }
    pthread_mutex_unlock(&b->lock);
    return NULL;
}

enum status batch_begin(struct batch *b, struct store *store, struct error *err)
{
    *b = (struct batch){.store = store};
    pthread_mutex_init(&b->lock, NULL);
    pthread_cond_init(&b->ending, NULL);
    b->started = pthread_create(&b->thread, NULL, keep_committing, b) == 0;
    return b->started ? ST_OK : fail(err, ST_OUTPUT, "no thread can be started");
}

enum status batch_enter(struct batch *b, struct error *err)
{
    pthread_mutex_lock(&b->lock);
    if (!is_open(b) && b->status == ST_OK)
        b->status = store_begin(b->store, &b->err);
    if (b->status != ST_OK)
        *err = b->err;
    return b->status;
}

void batch_leave(struct batch *b) { pthread_mutex_unlock(&b->lock); }

enum status batch_end(struct batch *b, struct error *err)
{
    if (!b->started)
        return ST_OK;
    pthread_mutex_lock(&b->lock);
    b->ends = true;
    pthread_cond_signal(&b->ending);
    pthread_mutex_unlock(&b->lock);
    pthread_join(b->thread, NULL);
    commit(b);
    pthread_mutex_destroy(&b->lock);
    pthread_cond_destroy(&b->ending);
    b->started = false;
    if (b->status != ST_OK)
        *err = b->err;
    return b->status;
}
