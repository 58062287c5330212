#include "sim/run/eventq.h"

#include <stdlib.h>
#include <string.h>

enum { ARITY = 4 };

enum status eventq_init(struct eventq *q, int32_t n_owners, struct error *err)
{
    *q = (struct eventq){.n_owners = n_owners};
    q->heap = malloc(((size_t)n_owners + 1) * sizeof *q->heap);
    q->at = malloc(((size_t)n_owners + 1) * sizeof *q->at);
    if (q->heap == NULL || q->at == NULL) {
        eventq_free(q);
        return fail_memory(err);
    }
    memset(q->at, 0xff, ((size_t)n_owners + 1) * sizeof *q->at);
    return ST_OK;
}

void eventq_free(struct eventq *q)
{
    free(q->heap);
    free(q->at);
    *q = (struct eventq){0};
}

static bool before(const struct event *a, const struct event *b)
{
    return a->time_us != b->time_us ? a->time_us < b->time_us : a->order < b->order;
}

/* Sinks or lifts a hole at place i until e belongs there. */
static void lift(struct eventq *q, int32_t i, struct event e)
{
    while (i > 0 && before(&e, &q->heap[(i - 1) / ARITY])) {
        q->heap[i] = q->heap[(i - 1) / ARITY];
        q->at[q->heap[i].owner] = i;
        i = (i - 1) / ARITY;
    }
    q->heap[i] = e;
    q->at[e.owner] = i;
}

static void sink(struct eventq *q, int32_t i, struct event e)
{
    for (;;) {
        int32_t first = i * ARITY + 1, end = first + ARITY < q->n ? first + ARITY : q->n;
        if (first >= q->n)
            break;
        int32_t least = first;
        for (int32_t kid = first + 1; kid < end; kid++)
            if (before(&q->heap[kid], &q->heap[least]))
                least = kid;
        if (!before(&q->heap[least], &e))
            break;
        q->heap[i] = q->heap[least];
        q->at[q->heap[i].owner] = i;
        i = least;
    }
    q->heap[i] = e;
    q->at[e.owner] = i;
}

void eventq_set(struct eventq *q, int32_t owner, int64_t time_us, enum event_kind kind)
{
    struct event e = {time_us, (uint64_t)kind << 56 | q->n_pushed++, owner};
    int32_t i = q->at[owner];
    if (i < 0)
        lift(q, q->n++, e);
    else if (before(&e, &q->heap[i]))
        lift(q, i, e);
    else
        sink(q, i, e);
}

void eventq_drop(struct eventq *q, int32_t owner)
{
    int32_t i = q->at[owner];
    if (i < 0)
        return;
    q->at[owner] = -1;
    struct event last = q->heap[--q->n];
    if (i == q->n)
        return;
    if (i > 0 && before(&last, &q->heap[(i - 1) / ARITY]))
        lift(q, i, last);
    else
        sink(q, i, last);
}

const struct event *eventq_first(const struct eventq *q) { return q->n > 0 ? q->heap : NULL; }

void eventq_pop(struct eventq *q) { eventq_drop(q, q->heap[0].owner); }

bool eventq_valid(const struct eventq *q)
{
    int32_t n = 0;
    for (int32_t owner = 0; owner < q->n_owners; owner++) {
        int32_t i = q->at[owner];
        if (i >= 0 && (i >= q->n || q->heap[i].owner != owner))
            return false;
        n += i >= 0;
    }
    for (int32_t i = 1; i < q->n; i++)
        if (before(&q->heap[i], &q->heap[(i - 1) / ARITY]))
            return false;
    return n == q->n;
}
