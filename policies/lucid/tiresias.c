/* tiresias - least attained service in two queues inside each virtual cluster, preemptive: jobs
 * that have had no more than limit_gpu_s go first, by submission; then the others, by submission.
 *
 * Source: 2D-LAS of Tiresias (NSDI'19) as in Lucid's artifact, with its placement (vc.h) and its
 * choice of who runs (selection.h), made at multiples of period_s of the trace's clock. Attained
 * service is GPUs x time held, checkpoints included; it starts at 0 and is never taken back. Not
 * modelled: Gittins index, promotion of jobs that starve, placement by a model's skew.
 *
 * semantics = artifact: progress is made second by second and every job takes one second more than
 * its duration; jobs are chosen by the number of GPUs alone. repaired: exact progress, nobody is
 * preempted in vain. A multiple of the period at which the choice cannot differ from the last has
 * no pass: while nobody comes, ends or falls it is the same, as all that run have been chosen. */
#include "policies/lucid/selection.h"

struct tiresias_config {
    int semantics;
    double ckpt_s, ckpt_wide_s, limit_gpu_s, period_s;
};

static const struct param tiresias_params[] = {
    PARAM_REAL(struct tiresias_config, ckpt_s, "s", 40, 0, 1e6,
               "what a preemption adds to a job's work [Lucid's artifact: 40]"),
    PARAM_REAL(struct tiresias_config, ckpt_wide_s, "s", 60, 0, 1e6,
               "the same for a job of more than 8 GPUs [Lucid's artifact: 60]"),
    PARAM_REAL(struct tiresias_config, limit_gpu_s, "GPU-s", 18000, 0, 1e12,
               "attained service above which a job is in the second queue [Lucid's artifact: "
               "18000]"),
    PARAM_REAL(struct tiresias_config, period_s, "s", 60, 1e-3, 1e9,
               "jobs are chosen at multiples of this [Lucid's artifact: 60]"),
    PARAM_CHOICE(struct tiresias_config, semantics, semantics_names, REPAIRED,
                 "Lucid's artifact as it is, or repaired (see the policy's header)"),
    PARAM_END,
};

struct tiresias {
    struct selection selection;
    int64_t limit_milli_us, period_us;
    int64_t first_us; /* earliest submission: keys count from there */
};

static enum status tiresias_init(void *state, const void *config, const struct view *v,
                                 const struct place_rules *rules, struct arena *arena,
                                 struct error *err)
{
    (void)rules;
    struct tiresias *t = state;
    const struct tiresias_config *c = config;
    const struct selection_config s = {c->semantics == ARTIFACT, true, c->ckpt_s, c->ckpt_wide_s};
    if (s.artifact)
        TRY(vcs_want_seconds(v->jobs, "tiresias", err));
    t->limit_milli_us = (int64_t)(c->limit_gpu_s < 9e9 ? c->limit_gpu_s * 1e9 : 9e18);
    t->period_us = us_of_s(c->period_s);
    t->first_us = v->now_us;
    return selection_init(&t->selection, &s, v, arena) ? ST_OK : fail_memory(err);
}

/* Queue, then submission. */
static int64_t las_key(const void *context, const struct view *v, int32_t job)
{
    static const int64_t SECOND = INT64_C(1) << 62;
    const struct tiresias *t = context;
    bool second = view_attained_milli_us(v, job) > t->limit_milli_us;
    return (second ? SECOND : 0) + (v->jobs->submit_us[job] - t->first_us);
}

/* GPUs held from this pass on by a job that runs or has just been started. */
static int64_t held_milli(const struct view *v, int32_t job)
{
    return v->jobs->status[job] == JOB_RUNNING ? v->stay[job].held_milli
                                               : job_gpu_milli(v->jobs, job);
}

/* The first choice that will find a running job in the other queue. */
static int64_t next_fall(const struct tiresias *t, const struct view *v, int32_t vc)
{
    const struct selection *s = &t->selection;
    int64_t first_us = TIME_NEVER;
    for (int32_t j = s->running[vc].first; j >= 0; j = s->next[j]) {
        int64_t attained = view_attained_milli_us(v, j), held = held_milli(v, j);
        if (attained > t->limit_milli_us || held == 0)
            continue;
        int64_t falls_us = v->now_us + (t->limit_milli_us - attained) / held + 1;
        first_us = falls_us < first_us ? falls_us : first_us;
    }
    return first_us < TIME_NEVER ? next_multiple(first_us, t->period_us) : first_us;
}

static void choose(struct tiresias *t, const struct view *v, struct plan *plan, int32_t vc)
{
    struct selection *s = &t->selection;
    int32_t n;
    struct turn *turn = selection_order(s, v, vc, las_key, t, &n);
    if (turn == NULL) {
        plan->failed = true;
        return;
    }
    selection_apply(s, v, plan, vc, turn, n);
    if (s->waiting[vc].n > 0)
        vc_wake(&s->vcs.vc[vc], next_fall(t, v, vc));
}

static enum status tiresias_decide(void *state, const struct view *v, struct plan *plan,
                                   struct error *err)
{
    (void)err;
    struct tiresias *t = state;
    struct selection *s = &t->selection;
    selection_begin(s, v);
    int64_t next_us = next_multiple(v->now_us, t->period_us);
    for (int32_t i = 0; i < s->vcs.n; i++) {
        struct vc *vc = &s->vcs.vc[i];
        if (!vc->due)
            continue;
        vc->due = false;
        if (s->waiting[i].n > 0 && next_us > v->now_us)
            vc_wake(vc, next_us);
        else if (s->waiting[i].n > 0)
            choose(t, v, plan, i);
    }
    vcs_end(&s->vcs, plan);
    return ST_OK;
}

static void tiresias_pace(const void *config, bool *sets_speed, int64_t *tick_us)
{
    (void)sets_speed;
    *tick_us = ((const struct tiresias_config *)config)->semantics == ARTIFACT ? US_PER_S : 0;
}

const struct policy policy_tiresias = {
    .abi = POLICY_ABI,
    .name = "tiresias",
    .summary = "least attained service in two queues in each virtual cluster, preemptive",
    .source = "Tiresias (NSDI'19) as in Lucid's artifact (ASPLOS'23), placement consolidate",
    .params = tiresias_params,
    .config_size = sizeof(struct tiresias_config),
    .state_size = sizeof(struct tiresias),
    .own_clock = true,
    .own_restart = true,
    .pace = tiresias_pace,
    .init = tiresias_init,
    .decide = tiresias_decide,
};
