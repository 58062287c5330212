#include "policies/volcano/vol_deserved.h"

static struct amounts least_of(const struct amounts *a, const struct amounts *b)
{
    struct amounts least;
    for (int r = 0; r < N_AMOUNTS; r++)
        least.of[r] = a->of[r] < b->of[r] ? a->of[r] : b->of[r];
    return least;
}

static struct amounts most_of(const struct amounts *a, const struct amounts *b)
{
    struct amounts most;
    for (int r = 0; r < N_AMOUNTS; r++)
        most.of[r] = a->of[r] > b->of[r] ? a->of[r] : b->of[r];
    return most;
}

static struct amounts request_of(const struct vol_queue *q)
{
    struct amounts request = q->allocated;
    amounts_add(&request, &q->pending, 1);
    return request;
}

/* What the queue may have at most: what others are not guaranteed, and its own limit. */
static void limit(struct vol_queue *queue, int32_t n, const struct amounts *total)
{
    struct amounts guaranteed = {{0}};
    for (int32_t q = 0; q < n; q++)
        amounts_add(&guaranteed, &queue[q].guarantee, 1);
    for (int32_t q = 0; q < n; q++) {
        struct amounts most = amounts_beyond(total, &guaranteed);
        amounts_add(&most, &queue[q].guarantee, 1);
        queue[q].real_capability = least_of(&most, &queue[q].capability);
        queue[q].deserved = (struct amounts){{0}};
    }
}

/* The queue's part of what remains; true when it will take no more. */
static bool share_out(struct vol_queue *q, const struct amounts *remaining, double weights)
{
    struct amounts before = q->deserved, request = request_of(q);
    amounts_add(&q->deserved, remaining, q->weight / weights);
    q->deserved = least_of(&q->deserved, &q->real_capability);
    q->deserved = least_of(&q->deserved, &request);
    q->deserved = most_of(&q->deserved, &q->guarantee);
    return amounts_within(&request, &q->deserved) || amounts_equal(&q->deserved, &before);
}

/* One round over the queues that are not yet satisfied, and what remains after it. */
static double one_round(struct vol_queue *queue, int32_t n, double weights,
                        struct amounts *remaining)
{
    struct amounts given = {{0}}, taken = {{0}}, rest = *remaining;
    double left = 0;
    for (int32_t q = 0; q < n; q++) {
        if (queue[q].n_jobs == 0 || queue[q].satisfied)
            continue;
        struct amounts before = queue[q].deserved;
        queue[q].satisfied = share_out(&queue[q], remaining, weights);
        struct amounts more = amounts_beyond(&queue[q].deserved, &before);
        struct amounts less = amounts_beyond(&before, &queue[q].deserved);
        amounts_add(&given, &more, 1);
        amounts_add(&taken, &less, 1);
        left += queue[q].satisfied ? 0 : queue[q].weight;
    }
    amounts_add(&rest, &taken, 1);
    *remaining = amounts_beyond(&rest, &given);
    return left;
}

void vol_deserved(struct vol_queue *queue, int32_t n, const struct amounts *total)
{
    struct amounts remaining = *total, before;
    double weights = 0;
    limit(queue, n, total);
    for (int32_t q = 0; q < n; q++) {
        queue[q].satisfied = false;
        weights += queue[q].n_jobs > 0 ? queue[q].weight : 0;
    }
    do {
        if (weights <= 0)
            break;
        before = remaining;
        weights = one_round(queue, n, weights, &remaining);
    } while (!amounts_empty(&remaining) && !amounts_equal(&remaining, &before));
}

bool vol_overused(const struct vol_queue *q) { return amounts_within(&q->deserved, &q->allocated); }

bool vol_allocatable(const struct vol_queue *q, const struct amounts *ask)
{
    return q->open && amounts_allowed(&q->allocated, ask, &q->deserved);
}
