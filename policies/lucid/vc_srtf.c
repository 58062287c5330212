/* vc-srtf - shortest remaining time first inside each virtual cluster, preemptive, true durations.
 * The SRTF of Lucid's artifact, with its placement (vc.h) and its choice of who runs (selection.h).
 *
 * semantics = artifact: progress is made second by second, and what remains is looked at before it
 * is reduced, so that every job takes one second more than its duration; jobs are chosen every
 * second, by the number of GPUs alone. repaired: exact progress, nobody is preempted in vain.
 *
 * Passes are made when jobs come and end; between, the choice stays as it is, for the artifact too:
 * all that run have been chosen, and whom one of them overtakes as it gets shorter was chosen
 * beside it, or not at all. */
#include "policies/lucid/selection.h"

struct vc_srtf_config {
    int semantics;
    double ckpt_s, ckpt_wide_s;
};

static const struct param vc_srtf_params[] = {
    PARAM_REAL(struct vc_srtf_config, ckpt_s, "s", 40, 0, 1e6,
               "what a preemption adds to a job's work [Lucid's artifact: 40]"),
    PARAM_REAL(struct vc_srtf_config, ckpt_wide_s, "s", 60, 0, 1e6,
               "the same for a job of more than 8 GPUs [Lucid's artifact: 60]"),
    PARAM_CHOICE(struct vc_srtf_config, semantics, semantics_names, REPAIRED,
                 "Lucid's artifact as it is, or repaired (see the policy's header)"),
    PARAM_END,
};

static enum status vc_srtf_init(void *state, const void *config, const struct view *v,
                                const struct place_rules *rules, struct arena *arena,
                                struct error *err)
{
    (void)rules;
    const struct vc_srtf_config *c = config;
    const struct selection_config s = {c->semantics == ARTIFACT, false, c->ckpt_s, c->ckpt_wide_s};
    if (s.artifact)
        TRY(vcs_want_seconds(v->jobs, "vc-srtf", err));
    return selection_init(state, &s, v, arena) ? ST_OK : fail_memory(err);
}

static int64_t left_us(const void *context, const struct view *v, int32_t job)
{
    (void)context;
    return (int64_t)view_left_us(v, job);
}

static void choose(struct selection *s, const struct view *v, struct plan *plan, int32_t vc)
{
    int32_t n;
    struct turn *turn = selection_order(s, v, vc, left_us, NULL, &n);
    if (turn == NULL) {
        plan->failed = true;
        return;
    }
    selection_apply(s, v, plan, vc, turn, n);
}

static enum status vc_srtf_decide(void *state, const struct view *v, struct plan *plan,
                                  struct error *err)
{
    (void)err;
    struct selection *s = state;
    selection_begin(s, v);
    for (int32_t i = 0; i < s->vcs.n; i++) {
        if (!s->vcs.vc[i].due)
            continue;
        if (s->waiting[i].n > 0)
            choose(s, v, plan, i);
        s->vcs.vc[i].due = false;
    }
    return ST_OK;
}

static void vc_srtf_pace(const void *config, bool *sets_speed, int64_t *tick_us)
{
    (void)sets_speed;
    *tick_us = ((const struct vc_srtf_config *)config)->semantics == ARTIFACT ? US_PER_S : 0;
}

const struct policy policy_vc_srtf = {
    .abi = POLICY_ABI,
    .name = "vc-srtf",
    .summary = "shortest remaining time first in each virtual cluster, preemptive",
    .source = "Lucid's artifact (ASPLOS'23), order srtf, placement consolidate",
    .params = vc_srtf_params,
    .config_size = sizeof(struct vc_srtf_config),
    .state_size = sizeof(struct selection),
    .own_clock = true,
    .own_restart = true,
    .pace = vc_srtf_pace,
    .init = vc_srtf_init,
    .decide = vc_srtf_decide,
};
