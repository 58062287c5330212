/* srtf - shortest remaining time first, preemptive: a waiting job evicts running ones that have
 * more left than it has, by more than a restart costs. True durations. */
#include "core/cluster/policy.h"
#include "core/cluster/preempt.h"

static int64_t left_us(const void *context, const struct view *v, int32_t job)
{
    (void)context;
    return (int64_t)view_left_us(v, job);
}

static enum status srtf_init(void *state, const void *config, const struct view *v,
                             const struct place_rules *rules, struct arena *arena,
                             struct error *err)
{
    (void)config;
    return waitq_init(state, v->jobs, rules->share_max > 1, arena) ? ST_OK : fail_memory(err);
}

static enum status srtf_decide(void *state, const struct view *v, struct plan *plan,
                               struct error *err)
{
    (void)err;
    for (int32_t i = 0; i < v->n_arrived; i++)
        waitq_push(state, v->arrived[i], left_us(NULL, v, v->arrived[i]));
    preempt_walk(state, v, plan, left_us, NULL, v->restart_us);
    return ST_OK;
}

const struct policy policy_srtf = {
    .abi = POLICY_ABI,
    .name = "srtf",
    .summary = "shortest remaining time first, preemptive, true durations",
    .source = "textbook; a restart costs preempt.restart_s",
    .state_size = sizeof(struct waitq),
    .resumes = true,
    .init = srtf_init,
    .decide = srtf_decide,
};
