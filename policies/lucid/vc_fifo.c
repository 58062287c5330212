/* vc-fifo - first come, first served inside each virtual cluster; the first job that does not fit
 * holds up the rest of its cluster. The FIFO of Lucid's artifact, with its placement (vc.h). */
#include "policies/lucid/line.h"

static int64_t submission(const struct job_table *t, int32_t job) { return t->submit_us[job]; }

static enum status vc_fifo_init(void *state, const void *config, const struct view *v,
                                const struct place_rules *rules, struct arena *arena,
                                struct error *err)
{
    (void)config, (void)rules;
    return line_init(state, v, arena) ? ST_OK : fail_memory(err);
}

static enum status vc_fifo_decide(void *state, const struct view *v, struct plan *plan,
                                  struct error *err)
{
    (void)err;
    line_decide(state, v, plan, submission);
    return ST_OK;
}

const struct policy policy_vc_fifo = {
    .abi = POLICY_ABI,
    .name = "vc-fifo",
    .summary = "first come, first served in each virtual cluster (pool named as the queue)",
    .source = "Lucid's artifact (ASPLOS'23), order fifo, placement consolidate",
    .state_size = sizeof(struct line),
    .init = vc_fifo_init,
    .decide = vc_fifo_decide,
};
