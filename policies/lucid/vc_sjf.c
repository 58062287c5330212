/* vc-sjf - shortest job first by true durations inside each virtual cluster; the shortest holds up
 * the rest of its cluster where it does not fit. The SJF of Lucid's artifact, with its placement
 * (vc.h). */
#include "policies/lucid/line.h"

static enum status vc_sjf_init(void *state, const void *config, const struct view *v,
                               const struct place_rules *rules, struct arena *arena,
                               struct error *err)
{
    (void)config, (void)rules;
    return line_init(state, v, arena) ? ST_OK : fail_memory(err);
}

static enum status vc_sjf_decide(void *state, const struct view *v, struct plan *plan,
                                 struct error *err)
{
    (void)err;
    line_decide(state, v, plan, job_duration_us);
    return ST_OK;
}

const struct policy policy_vc_sjf = {
    .abi = POLICY_ABI,
    .name = "vc-sjf",
    .summary = "shortest job first in each virtual cluster (pool named as the queue)",
    .source = "Lucid's artifact (ASPLOS'23), order sjf, placement consolidate",
    .state_size = sizeof(struct line),
    .init = vc_sjf_init,
    .decide = vc_sjf_decide,
};
