/* las - two-dimensional least attained service: jobs fall from queue to queue as GPUs x time grow,
 * first come first served inside a queue, preemptive between and inside them. */
#include "core/cluster/policy.h"
#include "core/cluster/preempt.h"

#include <math.h>

struct las_config {
    double first_gpu_s, ratio;
    int64_t queues;
};

static const struct param las_params[] = {
    PARAM_REAL(struct las_config, first_gpu_s, "GPU-s", 18000, 1, 1e12,
               "attained service at which a job leaves the first queue [Lucid's Tiresias: 18000]"),
    PARAM_INT(struct las_config, queues, "1", 2, 1, 16, "number of queues [Tiresias: 2]"),
    PARAM_REAL(struct las_config, ratio, "1", 10, 1, 1e6, "each further limit over the one before"),
    PARAM_END,
};

struct las {
    struct waitq queue;
    const struct las_config *config;
    int64_t first_us; /* earliest submission: keys count from there */
};

/* The service at which level ends, in milli-GPU microseconds. */
static double limit_of(const struct las_config *c, int64_t level)
{
    return c->first_gpu_s * pow(c->ratio, (double)level) * 1e9;
}

static int64_t level_of(const struct las_config *c, int64_t attained_milli_us)
{
    int64_t level = 0;
    while (level < c->queues - 1 && (double)attained_milli_us >= limit_of(c, level))
        level++;
    return level;
}

/* Queue first, then submission: both in one number, since a span of submissions fits 58 bits. */
static int64_t las_key(const void *context, const struct view *v, int32_t job)
{
    const struct las *l = context;
    int64_t level = level_of(l->config, view_attained_milli_us(v, job));
    return (level << 58) + (v->jobs->submit_us[job] - l->first_us);
}

static enum status las_init(void *state, const void *config, const struct view *v,
                            const struct place_rules *rules, struct arena *arena, struct error *err)
{
    struct las *l = state;
    l->config = config;
    l->first_us = v->now_us;
    int64_t last_us = v->now_us;
    for (int32_t j = 0; j < v->jobs->n_jobs; j++)
        last_us = v->jobs->submit_us[j] > last_us ? v->jobs->submit_us[j] : last_us;
    if (last_us - l->first_us >= INT64_C(1) << 58)
        return fail(err, ST_INPUT, "las: the trace spans more than 9,000 years");
    return waitq_init(&l->queue, v->jobs, rules->share_max > 1, arena) ? ST_OK : fail_memory(err);
}

/* The next pass at which a running job falls to a lower queue. */
static void wake_at_next_fall(const struct las *l, const struct view *v, struct plan *plan)
{
    for (int32_t j = v->running_first; j >= 0; j = v->stay[j].next) {
        int64_t attained = view_attained_milli_us(v, j);
        int64_t level = level_of(l->config, attained);
        if (level >= l->config->queues - 1 || v->stay[j].held_milli == 0)
            continue;
        double left = limit_of(l->config, level) - (double)attained;
        plan_wake(plan, v->now_us + (int64_t)ceil(left / (double)v->stay[j].held_milli));
    }
}

static enum status las_decide(void *state, const struct view *v, struct plan *plan,
                              struct error *err)
{
    (void)err;
    struct las *l = state;
    for (int32_t i = 0; i < v->n_arrived; i++)
        waitq_push(&l->queue, v->arrived[i], las_key(l, v, v->arrived[i]));
    preempt_walk(&l->queue, v, plan, las_key, l, 0);
    if (l->queue.n > 0)
        wake_at_next_fall(l, v, plan);
    return ST_OK;
}

const struct policy policy_las = {
    .abi = POLICY_ABI,
    .name = "las",
    .summary = "least attained service (GPUs x time) in a few queues, preemptive",
    .source = "2D-LAS as in Tiresias (NSDI'19), discretised queues",
    .params = las_params,
    .config_size = sizeof(struct las_config),
    .state_size = sizeof(struct las),
    .own_clock = true,
    .init = las_init,
    .decide = las_decide,
};
