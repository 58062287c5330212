/* eventq.h - the future event list: a 4-ary heap with a place for each owner.
 *
 * Events leave in order of (time_us, kind, order pushed), so two runs of the same input agree. At
 * equal times FINISH comes before ARRIVE. An owner (a job) has at most one FINISH in the list; it
 * can be moved or taken out in O(log n). Arrivals need no list: they are read off the sorted
 * submissions, and the engine merges the two. */
#ifndef COLOSIM_EVENTQ_H
#define COLOSIM_EVENTQ_H

#include "core/base/status.h"

#include <stdbool.h>
#include <stdint.h>

enum event_kind { EV_FINISH, EV_ARRIVE, EV_WAKE };

struct event {
    int64_t time_us;
    uint64_t order; /* kind in the top bits, then the number of the push */
    int32_t owner;
};

struct eventq {
    struct event *heap; /* (n) */
    int32_t *at;        /* (n_owners) place in heap, -1 */
    int32_t n, n_owners;
    uint64_t n_pushed;
};

/* Room for one event per owner. */
enum status eventq_init(struct eventq *q, int32_t n_owners, struct error *err) MUST_USE;
void eventq_free(struct eventq *q);
/* Puts the owner's event at this time; moves it there if it has one already. */
void eventq_set(struct eventq *q, int32_t owner, int64_t time_us, enum event_kind kind);
void eventq_drop(struct eventq *q, int32_t owner);
/* NULL when empty; borrowed until the next change. */
const struct event *eventq_first(const struct eventq *q);
void eventq_pop(struct eventq *q);
static inline enum event_kind event_kind(const struct event *e)
{
    return (enum event_kind)(e->order >> 56);
}
bool eventq_valid(const struct eventq *q);

#endif
