/* fifo-skip - walks the queue in order of arrival and starts what fits; no reservation, so a wide
 * job can starve behind a stream of small ones. */
#include "core/cluster/policy.h"
#include "core/cluster/waitq.h"

static enum status fifo_skip_init(void *state, const void *config, const struct view *v,
                                  const struct place_rules *rules, struct arena *arena,
                                  struct error *err)
{
    (void)config;
    return waitq_init(state, v->jobs, rules->share_max > 1, arena) ? ST_OK : fail_memory(err);
}

static enum status fifo_skip_decide(void *state, const struct view *v, struct plan *plan,
                                    struct error *err)
{
    (void)err;
    struct waitq *queue = state;
    for (int32_t i = 0; i < v->n_arrived; i++)
        waitq_push(queue, v->arrived[i], v->jobs->submit_us[v->arrived[i]]);
    waitq_walk(queue, plan, v->n_finished > 0);
    return ST_OK;
}

const struct policy policy_fifo_skip = {
    .abi = POLICY_ABI,
    .name = "fifo-skip",
    .summary = "walks the queue in order of arrival and starts what fits; wide jobs can starve",
    .source = "textbook; backfilling without reservation",
    .state_size = sizeof(struct waitq),
    .resumes = true,
    .init = fifo_skip_init,
    .decide = fifo_skip_decide,
};
