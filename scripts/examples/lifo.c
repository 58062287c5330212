/* lifo - a policy outside the tree: last come, first served, whatever fits.
 *
 *   cc -std=c17 -shared -fPIC -I PATH_OF_COLOSIM lifo.c -o lifo.so
 *   colosim run --policy ./lifo.so --set lifo.depth=100 */
#include "core/cluster/policy.h"

struct lifo_config {
    int64_t depth;
};

static const struct param lifo_params[] = {
    PARAM_INT(struct lifo_config, depth, "jobs", 1000000, 1, 1e9, "how many of the last are tried"),
    PARAM_END,
};

struct lifo {
    int64_t depth;
    int32_t n, *job; /* (n) those that wait, the last on top */
};

static enum status lifo_init(void *state, const void *config, const struct view *v,
                             const struct place_rules *rules, struct arena *arena,
                             struct error *err)
{
    struct lifo *l = state;
    (void)rules;
    l->depth = ((const struct lifo_config *)config)->depth;
    l->job = arena_alloc(arena, (size_t)v->jobs->n_jobs, sizeof *l->job);
    return l->job != NULL ? ST_OK : fail_memory(err);
}

static enum status lifo_decide(void *state, const struct view *v, struct plan *plan,
                               struct error *err)
{
    struct lifo *l = state;
    (void)err;
    for (int32_t i = 0; i < v->n_arrived; i++)
        l->job[l->n++] = v->arrived[i];
    int32_t kept = l->n > l->depth ? l->n - (int32_t)l->depth : 0;
    for (int32_t i = l->n - 1; i >= kept; i--)
        if (plan_start(plan, l->job[i]))
            l->job[i] = -1;
    int32_t n = 0;
    for (int32_t i = 0; i < l->n; i++)
        if (l->job[i] >= 0)
            l->job[n++] = l->job[i];
    l->n = n;
    return ST_OK;
}

const struct policy colosim_policy = {
    .abi = POLICY_ABI,
    .name = "lifo",
    .summary = "last come, first served",
    .source = "an example",
    .params = lifo_params,
    .config_size = sizeof(struct lifo_config),
    .state_size = sizeof(struct lifo),
    .init = lifo_init,
    .decide = lifo_decide,
};
