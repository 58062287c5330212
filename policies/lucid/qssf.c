/* qssf - quasi-shortest service first: the job with the least estimated GPU time (duration x GPUs)
 * goes first inside each virtual cluster, and holds up the rest where it does not fit.
 *
 * Source: Helios (SC'21), as Lucid's artifact has it, with the artifact's placement (vc.h). Its
 * estimates come from a table (the artifact's LightGBM predictions; with --sweep it reads those
 * made for Lucid instead: give that file to get what was published), else from history (Helios
 * trains a model on months of it).
 *
 * semantics = artifact: jobs that come to an empty line are first tried by GPUs alone and get their
 * priority a second later, if they still wait; priorities tie by GPUs. repaired: by priority from
 * the first; ties alike. */
#include "policies/lucid/estimate.h"
#include "policies/lucid/line.h"

struct qssf_config {
    int semantics, estimate;
    double estimate_default_s, estimate_error;
    const char *estimates;
};

static const struct param qssf_params[] = {
    ESTIMATE_PARAMS(struct qssf_config),
    PARAM_CHOICE(struct qssf_config, semantics, semantics_names, REPAIRED,
                 "Lucid's artifact as it is, or repaired (see the policy's header)"),
    PARAM_END,
};

static const char *const qssf_tables[] = {"estimates", NULL};

struct qssf {
    struct line line;
    struct estimate_config told;
    struct estimates estimates;
    bool artifact;
    bool *fresh; /* (vcs.n) its line was empty before this pass */
};

static enum status qssf_init(void *state, const void *config, const struct view *v,
                             const struct place_rules *rules, struct arena *arena,
                             struct error *err)
{
    (void)rules;
    struct qssf *q = state;
    const struct qssf_config *c = config;
    q->told = (struct estimate_config){c->estimate, c->estimate_default_s, c->estimate_error};
    q->artifact = c->semantics == ARTIFACT;
    if (q->artifact)
        TRY(vcs_want_seconds(v->jobs, "qssf", err));
    TRY(estimates_init(&q->estimates, &q->told, &v->tables[0], v, arena, err));
    if (!line_init(&q->line, v, arena))
        return fail_memory(err);
    q->fresh = arena_alloc(arena, (size_t)q->line.vcs.n, sizeof *q->fresh);
    return q->fresh != NULL ? ST_OK : fail_memory(err);
}

enum { GPU_BITS = 14 };

/* Estimated milli-GPU seconds, then GPUs. */
static int64_t service_key(const struct qssf *q, const struct view *v, int32_t job)
{
    static const double MOST = (double)(INT64_MAX >> (GPU_BITS + 1));
    int64_t milli = job_gpu_milli(v->jobs, job), gpus = milli / 1000;
    double service = estimate_s(&q->estimates, v, job) * (double)milli;
    int64_t most_gpus = (INT64_C(1) << GPU_BITS) - 1;
    return ((int64_t)(service < MOST ? service + 0.5 : MOST) << GPU_BITS) +
           (gpus < most_gpus ? gpus : most_gpus);
}

static void arrive(struct qssf *q, const struct view *v)
{
    struct line *l = &q->line;
    for (int32_t i = 0; i < l->vcs.n; i++)
        q->fresh[i] = q->artifact && l->queue[i].n == 0;
    for (int32_t i = 0; i < v->n_arrived; i++) {
        int32_t job = v->arrived[i];
        bool fresh = q->fresh[l->vcs.of[job]];
        line_push(l, v->jobs, job, fresh ? job_gpu_milli(v->jobs, job) : service_key(q, v, job));
    }
}

/* Those that came to an empty line and still wait get their priority. The artifact tries them by it
 * a second later, but where one found no place none of more GPUs does. */
static void settle(struct qssf *q, const struct view *v, int32_t vc, struct plan *plan)
{
    struct waitq *queue = &q->line.queue[vc];
    int32_t n = queue->n, *job = arena_alloc(v->scratch, (size_t)n, sizeof *job);
    if (job == NULL) {
        plan->failed = true;
        return;
    }
    for (int32_t i = 0; i < n; i++) {
        job[i] = waitq_head(queue);
        waitq_take(queue);
    }
    for (int32_t i = 0; i < n; i++)
        waitq_push(queue, job[i], service_key(q, v, job[i]));
}

static enum status qssf_decide(void *state, const struct view *v, struct plan *plan,
                               struct error *err)
{
    (void)err;
    struct qssf *q = state;
    struct vcs *vcs = &q->line.vcs;
    vcs_begin(vcs, v);
    estimates_learn(&q->estimates, v);
    arrive(q, v);
    for (int32_t i = 0; i < vcs->n; i++) {
        if (!vcs->vc[i].due)
            continue;
        line_walk(&q->line, plan, i);
        if (q->fresh[i])
            settle(q, v, i, plan);
    }
    return ST_OK;
}

const struct policy policy_qssf = {
    .abi = POLICY_ABI,
    .name = "qssf",
    .summary = "least estimated GPU time first in each virtual cluster (pool named as the queue)",
    .source = "QSSF of Helios (SC'21) as in Lucid's artifact (ASPLOS'23), placement consolidate",
    .params = qssf_params,
    .config_size = sizeof(struct qssf_config),
    .state_size = sizeof(struct qssf),
    .tables = qssf_tables,
    .own_clock = true,
    .init = qssf_init,
    .decide = qssf_decide,
};
