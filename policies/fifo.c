/* fifo - strict first come, first served: the first job that does not fit holds up all behind it.
 */
#include "core/cluster/policy.h"
#include "core/cluster/waitq.h"

struct fifo {
    struct waitq queue;
    bool stuck; /* the head did not fit since the last release */
};

static enum status fifo_init(void *state, const void *config, const struct view *v,
                             const struct place_rules *rules, struct arena *arena,
                             struct error *err)
{
    (void)config;
    struct fifo *f = state;
    return waitq_init(&f->queue, v->jobs, rules->share_max > 1, arena) ? ST_OK : fail_memory(err);
}

static enum status fifo_decide(void *state, const struct view *v, struct plan *plan,
                               struct error *err)
{
    (void)err;
    struct fifo *f = state;
    for (int32_t i = 0; i < v->n_arrived; i++)
        waitq_push(&f->queue, v->arrived[i], v->jobs->submit_us[v->arrived[i]]);
    f->stuck = f->stuck && v->n_finished == 0;
    for (int32_t job; !f->stuck && (job = waitq_head(&f->queue)) >= 0;) {
        if (plan_start(plan, job))
            waitq_take(&f->queue);
        else
            f->stuck = true;
    }
    return ST_OK;
}

const struct policy policy_fifo = {
    .abi = POLICY_ABI,
    .name = "fifo",
    .summary = "first come, first served; the first job that does not fit holds up the rest",
    .source = "textbook",
    .state_size = sizeof(struct fifo),
    .resumes = true,
    .init = fifo_init,
    .decide = fifo_decide,
};
