#include "sim/run/crew.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>

struct crew {
    const struct crew_job *job;
    int n, taken, delivered;
    enum status status;
    struct error *err;
    pthread_mutex_t lock;
    pthread_cond_t moved; /* delivered or status changed */
};

/* The next number, or -1 when there is none or somebody failed. */
static int take(struct crew *c)
{
    pthread_mutex_lock(&c->lock);
    int i = c->taken < c->n && c->status == ST_OK ? c->taken++ : -1;
    pthread_mutex_unlock(&c->lock);
    return i;
}

/* Waits for its turn; after a failure of an earlier piece the product is only freed, by a deliver
 * that is told so through i = -1. */
static void hand_in(struct crew *c, int i, enum status status, void *product,
                    const struct error *err)
{
    pthread_mutex_lock(&c->lock);
    while (c->delivered < i)
        pthread_cond_wait(&c->moved, &c->lock);
    struct error mine = *err;
    if (status == ST_OK)
        status = c->job->deliver(c->job->context, c->status == ST_OK ? i : -1, product, &mine);
    if (c->status == ST_OK && status != ST_OK) {
        c->status = status;
        *c->err = mine;
    }
    c->delivered++;
    pthread_cond_broadcast(&c->moved);
    pthread_mutex_unlock(&c->lock);
}

static void *serve(void *arg)
{
    struct crew *c = arg;
    for (int i; (i = take(c)) >= 0;) {
        struct error err = {{0}};
        void *product = NULL;
        enum status status = c->job->work(c->job->context, i, &product, &err);
        hand_in(c, i, status, product, &err);
    }
    return NULL;
}

enum status crew_run(const struct crew_job *job, int n, int n_threads, struct error *err)
{
    struct crew c = {.job = job, .n = n, .err = err};
    int n_helpers = (n_threads < n ? n_threads : n) - 1, started = 0;
    pthread_t *thread = calloc(n_helpers > 0 ? (size_t)n_helpers : 1, sizeof *thread);
    if (thread == NULL)
        return fail_memory(err);
    pthread_mutex_init(&c.lock, NULL);
    pthread_cond_init(&c.moved, NULL);
    while (started < n_helpers && pthread_create(&thread[started], NULL, serve, &c) == 0)
        started++;
    serve(&c);
    for (int i = 0; i < started; i++)
        pthread_join(thread[i], NULL);
    pthread_cond_destroy(&c.moved);
    pthread_mutex_destroy(&c.lock);
    free(thread);
    return c.status;
}
