#include "sim/run/sm_meter.h"

#include <math.h>

bool sm_meter_init(struct sm_meter *m, const struct cluster *c, struct arena *arena)
{
    size_t n = (size_t)c->n_cards;
    *m = (struct sm_meter){.card = arena_alloc(arena, n, sizeof *m->card),
                           .dirty = arena_alloc(arena, n, sizeof *m->dirty),
                           .marked = arena_alloc(arena, n, sizeof *m->marked)};
    return m->card != NULL && m->dirty != NULL && m->marked != NULL;
}

void sm_meter_mark(struct sm_meter *m, const struct cluster *c, struct seats at)
{
    for (int32_t i = at.first; i < at.first + at.n; i++) {
        int32_t card = c->seats[i].where;
        if (card < 0 || m->marked[card])
            continue;
        m->marked[card] = true;
        m->dirty[m->n_dirty++] = card;
    }
}

/* A job profiled aside has no speed of its own: it counts as undisturbed. */
static double activity(const struct rates *r, const struct plan *p, const double *kept,
                       int32_t card)
{
    const struct cluster *c = p->cluster;
    double sum = 0;
    int32_t seen = -1; /* a fraction's instances may sit side by side */
    for (int32_t s = c->card_seat[card]; s >= 0; s = c->seats[s].next) {
        int32_t job = p->jobs->task_job[c->seats[s].task];
        int32_t row = job == seen ? -1 : row_on_card(r, p, job, card);
        seen = job;
        if (row < 0)
            continue;
        bool runs = p->jobs->status[job] == JOB_RUNNING && p->side[job].first < 0;
        sum += r->rst->p->m.sm[row] * (runs ? kept[job] : 1);
    }
    return sum < 1 ? sum : 1;
}

void sm_meter_update(struct sm_meter *m, const struct rates *r, const struct plan *p,
                     const double *kept)
{
    for (int32_t i = 0; i < m->n_dirty; i++) {
        int32_t card = m->dirty[i];
        int64_t now = llround(activity(r, p, kept, card) * 1e9);
        m->sum += now - m->card[card];
        m->card[card] = now;
        m->marked[card] = false;
    }
    m->n_dirty = 0;
}
