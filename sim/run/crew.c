#include "sim/run/crew.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>

/* A piece that is done and waits for its turn. */
struct parked {
    bool done;
    enum status status;
    void *product;
    struct error err;
};

struct crew {
    const struct crew_job *job;
    int n, n_ahead, taken, delivered;
    bool has_clerk;        /* a thread of its own delivers */
    struct parked *parked; /* (n_ahead) piece i at i % n_ahead */
    enum status status;
    struct error *err;
    pthread_mutex_t lock;
    pthread_cond_t moved; /* delivered or status changed */
};

struct member {
    struct crew *crew;
    int number;
    pthread_t thread;
};

/* The next number, or -1 when there is none or somebody failed. */
static int take(struct crew *c)
{
    pthread_mutex_lock(&c->lock);
    while (c->taken < c->n && c->status == ST_OK && c->taken - c->delivered >= c->n_ahead)
        pthread_cond_wait(&c->moved, &c->lock);
    int i = c->taken < c->n && c->status == ST_OK ? c->taken++ : -1;
    pthread_mutex_unlock(&c->lock);
    return i;
}

/* The piece that is next in order, outside the lock, which is held before and after. After a
 * failure of an earlier piece the product is only freed, by a deliver that is told so through
 * i = -1. */
static void deliver_next(struct crew *c)
{
    struct parked p = c->parked[c->delivered % c->n_ahead];
    int i = c->status == ST_OK ? c->delivered : -1;
    pthread_mutex_unlock(&c->lock);
    if (p.status == ST_OK)
        p.status = c->job->deliver(c->job->context, i, p.product, &p.err);
    pthread_mutex_lock(&c->lock);
    if (c->status == ST_OK && p.status != ST_OK) {
        c->status = p.status;
        *c->err = p.err;
    }
    c->parked[c->delivered++ % c->n_ahead].done = false;
    pthread_cond_broadcast(&c->moved);
}

/* Delivers until there is nothing more to come; for a crew of several, whose members then never
 * wait for a disk. */
static void *deliver_all(void *arg)
{
    struct crew *c = arg;
    pthread_mutex_lock(&c->lock);
    while (c->delivered < c->taken || (c->taken < c->n && c->status == ST_OK)) {
        if (c->parked[c->delivered % c->n_ahead].done)
            deliver_next(c);
        else
            pthread_cond_wait(&c->moved, &c->lock);
    }
    pthread_mutex_unlock(&c->lock);
    return NULL;
}

/* Without a clerk the one member delivers its piece itself. */
static void hand_in(struct crew *c, int i, const struct parked *piece)
{
    pthread_mutex_lock(&c->lock);
    c->parked[i % c->n_ahead] = *piece;
    if (!c->has_clerk)
        deliver_next(c);
    pthread_cond_broadcast(&c->moved);
    pthread_mutex_unlock(&c->lock);
}

static void *serve(void *arg)
{
    struct member *m = arg;
    struct crew *c = m->crew;
    for (int i; (i = take(c)) >= 0;) {
        struct parked piece = {.done = true};
        piece.status = c->job->work(c->job->context, m->number, i, &piece.product, &piece.err);
        hand_in(c, i, &piece);
    }
    return NULL;
}

enum status crew_run(const struct crew_job *job, int n, int n_threads, struct error *err)
{
    n_threads = n_threads < n ? n_threads : n;
    n_threads = n_threads > 1 ? n_threads : 1;
    struct crew c = {.job = job, .n = n, .n_ahead = CREW_AHEAD * n_threads, .err = err};
    int started = 1;
    struct member *member = calloc((size_t)n_threads, sizeof *member);
    c.parked = calloc((size_t)c.n_ahead, sizeof *c.parked);
    if (member == NULL || c.parked == NULL) {
        free(member);
        free(c.parked);
        return fail_memory(err);
    }
    pthread_mutex_init(&c.lock, NULL);
    pthread_cond_init(&c.moved, NULL);
    for (int i = 0; i < n_threads; i++)
        member[i] = (struct member){.crew = &c, .number = i};
    pthread_t clerk;
    c.has_clerk = n_threads > 1 && pthread_create(&clerk, NULL, deliver_all, &c) == 0;
    while (c.has_clerk && started < n_threads &&
           pthread_create(&member[started].thread, NULL, serve, &member[started]) == 0)
        started++;
    serve(&member[0]);
    for (int i = 1; i < started; i++)
        pthread_join(member[i].thread, NULL);
    if (c.has_clerk)
        pthread_join(clerk, NULL);
    pthread_cond_destroy(&c.moved);
    pthread_mutex_destroy(&c.lock);
    free(c.parked);
    free(member);
    return c.status;
}
