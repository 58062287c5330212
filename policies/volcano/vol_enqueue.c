#include "policies/volcano/vol_enqueue.h"

#include "policies/volcano/vol_order.h"
#include "policies/volcano/vol_session.h"
#include "policies/volcano/vol_walk.h"

enum vote { REJECT, ABSTAIN, PERMIT };

bool vol_overcommit_admits(double factor, const struct amounts *total, const struct amounts *used,
                           const struct amounts *inqueue, const struct amounts *min)
{
    struct amounts room = {{0}};
    amounts_add(&room, total, factor < 1 ? 1.2 : factor);
    amounts_add(&room, used, -1);
    return amounts_allowed(inqueue, min, &room);
}

/* The proportion gate: an open queue stays within what it may have, counting what it holds within
 * its groups' minima, what they have reserved beyond that, and the minimum asked for. */
static bool proportion_admits(const struct vol_queue *q, const struct amounts *min)
{
    struct amounts has = q->allocated;
    amounts_add(&has, &q->inqueue, 1);
    amounts_add(&has, &q->elastic, -1);
    return q->open && amounts_allowed(&has, min, &q->real_capability);
}

static enum vote vote_of(const struct vol_state *s, enum vol_plugin plugin, int32_t job)
{
    const struct vol_shape *shape = &s->shape[s->job_shape[job]];
    switch (plugin) {
    case VOL_OVERCOMMIT:
        return vol_overcommit_admits(s->config->overcommit_factor, &s->nodes.total, &s->nodes.used,
                                     &s->inqueue, &shape->min_resources)
                   ? PERMIT
                   : REJECT;
    case VOL_PROPORTION:
        return proportion_admits(&s->queue[shape->queue], &shape->min_resources) ? PERMIT : REJECT;
    case VOL_EXTENDER: return s->config->veto(s->config->veto_context, job) ? REJECT : ABSTAIN;
    case VOL_PRIORITY:
    case VOL_GANG:
    case VOL_CONFORMANCE:
    case VOL_DRF:
    case VOL_PREDICATES:
    case VOL_NODEORDER:
    case VOL_BINPACK:
    case N_VOL_PLUGINS: break;
    }
    return ABSTAIN;
}

/* Any rejection decides; a tier that permits is the last that is asked. */
static bool admitted(const struct vol_state *s, int32_t job)
{
    const struct vol_config *c = s->config;
    bool permitted = false;
    if (!s->shape[s->job_shape[job]].has_min)
        return true;
    for (int i = 0; i < c->n_uses; i++) {
        if (permitted && c->use[i].tier != c->use[i - 1].tier)
            return true;
        enum vote vote =
            c->use[i].on & VOL_ON_JOB_ENQUEUED ? vote_of(s, c->use[i].plugin, job) : ABSTAIN;
        if (vote == REJECT)
            return false;
        permitted = permitted || vote == PERMIT;
    }
    return true;
}

/* In an enqueue action reservations only grow, so a shape that was turned away stays so; where
 * somebody outside is asked, each job is a shape of its own. */
void vol_enqueue(struct vol_state *s)
{
    vol_walk_begin(s, VOL_LINE_ADMISSION);
    for (int32_t q = 0; q < s->size.n_queues; q++)
        s->queue_done[q] = false;
    for (int32_t q; (q = vol_first_queue(s, s->queue_done)) >= 0;) {
        int32_t shape = vol_walk_next(s, VOL_LINE_ADMISSION, q);
        if (shape < 0) {
            s->queue_done[q] = true;
            continue;
        }
        int32_t job = vol_lines_head(&s->lines, VOL_LINE_ADMISSION, shape);
        if (!admitted(s, job))
            continue;
        vol_job_phase(s, job, VOL_INQUEUE);
        s->admitted[s->n_admitted++] = job;
        if (vol_lines_head(&s->lines, VOL_LINE_ADMISSION, shape) >= 0)
            vol_walk_add(s, VOL_LINE_ADMISSION, shape);
    }
}
