/* sjf - shortest job first by the trace's own durations, not preemptive. */
#include "core/cluster/policy.h"
#include "core/cluster/waitq.h"

struct sjf_config {
    bool strict;
};

static const struct param sjf_params[] = {
    PARAM_BOOL(struct sjf_config, strict, 0,
               "the shortest job holds up the rest where it does not fit, as in Lucid's artifact"),
    PARAM_END,
};

struct sjf {
    struct waitq queue;
    bool strict;
};

static enum status sjf_init(void *state, const void *config, const struct view *v,
                            const struct place_rules *rules, struct arena *arena, struct error *err)
{
    struct sjf *s = state;
    s->strict = ((const struct sjf_config *)config)->strict;
    return waitq_init(&s->queue, v->jobs, rules->share_max > 1, arena) ? ST_OK : fail_memory(err);
}

static enum status sjf_decide(void *state, const struct view *v, struct plan *plan,
                              struct error *err)
{
    (void)err;
    struct sjf *s = state;
    for (int32_t i = 0; i < v->n_arrived; i++)
        waitq_push(&s->queue, v->arrived[i], job_duration_us(v->jobs, v->arrived[i]));
    if (!s->strict) {
        waitq_walk(&s->queue, plan, v->n_finished > 0);
        return ST_OK;
    }
    for (int32_t job; (job = waitq_head(&s->queue)) >= 0 && plan_start(plan, job);)
        waitq_take(&s->queue);
    return ST_OK;
}

const struct policy policy_sjf = {
    .abi = POLICY_ABI,
    .name = "sjf",
    .summary = "shortest job first, true durations, not preemptive",
    .source = "textbook",
    .params = sjf_params,
    .config_size = sizeof(struct sjf_config),
    .state_size = sizeof(struct sjf),
    .resumes = true,
    .init = sjf_init,
    .decide = sjf_decide,
};
