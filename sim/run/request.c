/* The settings of a run: their tables, and the groups they make. */
#include "sim/run/request.h"

#include "core/elastico/catalog_file.h"
#include "policies/registry.h"
#include "sim/run/exec_policy.h"
#include "sim/run/models.h"
#include "sim/run/outside.h"

#include <string.h>

static const char *const truth_names[] = {"none", "table", "contention", "iac", NULL};
static const char *const belief_names[] = {"iac", "oracle", "table", NULL};
static const char *const match_names[] = {"auto", "off", "strict", NULL};
static const char *const duration_names[] = {"as_given", "minus_wait", NULL};
static const char *const align_names[] = {"start", "clock", NULL};
static const char *const batch_names[] = {"request",    "session",   "group_5min",
                                          "group_hour", "group_day", "model_15min",
                                          "model_hour", "model_day", NULL}; /* enum trace_batch */

const struct param run_params[] = {
    PARAM_CHOICE(
        struct run_settings, belief, belief_names, BELIEF_IAC,
        "what a policy thinks that sharing costs: a trained predictor, the truth itself, or "
        "the measured --pairs"),
    PARAM_TEXT(struct run_settings, catalog, EMBEDDED_CATALOG,
               "workloads, configurations and profiles: table2, h200, or a .json file "
               "(colosim describe workloads)"),
    PARAM_TEXT(
        struct run_settings, cluster, NULL,
        "nodes as 8x8:a100-40g, a .json file, a PAI machine table, or pai-sim:…; without one, "
        "the trace's own, else 8x8:a100-40g"),
    PARAM_TEXT(struct run_settings, columns, NULL,
               "our column=the file's, comma-separated, for --format csv"),
    PARAM_TEXT(struct run_settings, format, NULL,
               "of the trace; guessed where its header allows it"),
    PARAM_CHOICE(struct run_settings, gpu_type_match, match_names, MATCH_AUTO,
                 "is a job's gpu_type a requirement; auto: where the cluster has several types"),
    PARAM_TEXT(struct run_settings, label, NULL, "name of the run in the database"),
    PARAM_REAL(struct run_settings, load, "1", 0, 0, 1e6,
               "stretch submissions so that the offered load is this; 0 leaves them"),
    PARAM_TEXT(struct run_settings, model, NULL,
               "a model file; of colosim calib train: the predictor of belief and truth iac; of "
               "calib fit: the physics of truth contention; without one, the embedded ones"),
    PARAM_INT(
        struct run_settings, nodes, "nodes", 0, 0, 1e6,
        "so many nodes of the cluster's one kind instead of those it describes; 0 leaves them"),
    PARAM_TEXT(struct run_settings, pairs, NULL,
               "measured speeds of pairs: model_a,model_b,speed_a,speed_b, for --truth table"),
    PARAM_CHOICE(struct run_settings, place, place_mode_names, PLACE_FIRST_FIT,
                 "which nodes are tried first"),
    PARAM_TEXT(struct run_settings, policy, "elastico", "who decides (colosim describe policies)"),
    PARAM_REAL(struct run_settings, policy_timeout_s, "s", 60, 1e-3, 1e6,
               "policy exec:PROGRAM: how long one answer may take"),
    PARAM_REAL(struct run_settings, rate_scale, "1", 1, 1e-6, 1e6,
               "arrivals this many times as fast, counted from the first submission"),
    PARAM_INT(struct run_settings, seed, "1", 1, 0, 9007199254740992.0, "of every random stream"),
    PARAM_BOOL(struct run_settings, strict, 0,
               "the first bad row of a trace ends the run with exit 3"),
    PARAM_CHOICE(struct run_settings, submitted, submitted_names, SUBMITTED_PEAK,
                 "configuration that jobs of the catalog are submitted in: the fastest, what the "
                 "trace lists, or the workload's default"),
    PARAM_TEXT(struct run_settings, trace, NULL,
               "file or folder; without one, the embedded mixed trace of 24 hours"),
    PARAM_CHOICE(
        struct run_settings, truth, truth_names, TRUTH_CONTENTION,
        "how jobs on one card slow each other: not at all, by the measured --pairs, by what "
        "their profiles contend for, or as the predictor says"),
    PARAM_TEXT(struct run_settings, window, NULL,
               "A..B in seconds of the trace's clock: where rates and utilisations are taken"),
    PARAM_END,
};

const struct param share_params[] = {
    PARAM_INT(struct share_settings, max_jobs, "jobs", 1, 1, 16,
              "jobs that may sit on one card beyond its shares; 1 is exclusive"),
    PARAM_END,
};

const struct param belief_params[] = {
    PARAM_REAL(struct belief_settings, caution, "1", 1, 0, 100,
               "standard deviations that are added to a predicted slowdown, by the disagreement of "
               "the networks of the predictor"),
    PARAM_REAL(
        struct belief_settings, error_frac, "1", 0, 0, 5,
        "mean absolute error laid over the belief, as a part of it; drawn once for each pair"),
    PARAM_INT(struct belief_settings, seed, "1", 1, 0, 9007199254740992.0, "of that error"),
    PARAM_END,
};

const struct param contention_params[] = {
    PARAM_REAL(struct contention_settings, m, "1", 1, 1, 10,
               "MPS overhead: multiplies S of a job that is not alone on its card"),
    PARAM_CHOICE(
        struct contention_settings, set, contention_set_names, SET_H200,
        "parameters of --truth contention: fitted on H200 pairs, none fitted, or fitted on "
        "Table 6 of the ElastiCo paper (queueing, Frank)"),
    PARAM_END,
};

const struct param preempt_params[] = {
    PARAM_REAL(
        struct preempt_settings, restart_s, "s", 30, 0, 1e6,
        "a preempted job makes no progress this long when it starts again [Lucid's artifact: "
        "40 up to 8 GPUs, 60 above]"),
    PARAM_END,
};

const struct param elastic_params[] = {
    PARAM_REAL(struct elastic_settings, scale_exp, "1", 0.9, 0, 1,
               "an elastic job on n of its n0 GPUs runs at (n / n0)^scale_exp of its speed"),
    PARAM_END,
};

const struct param trace_params[] = {
    PARAM_CHOICE(struct trace_settings, align, align_names, ALIGN_START,
                 "several formats: the submissions of each count from its first, or all are on one "
                 "clock"),
    PARAM_BOOL(struct trace_settings, assign, 0,
               "give jobs the kind, workload and min_rate_frac that the trace lacks, by a seeded "
               "mapping in which recurring groups keep one workload"),
    PARAM_INT(struct trace_settings, assign_seed, "1", 1, 0, 9007199254740992.0,
              "of what is assigned; apart from the run's seed, so that seeds share one trace"),
    PARAM_CHOICE(struct trace_settings, batch, batch_names, BATCH_REQUEST,
                 "genai: requests that make one job: those of a session of one group and model "
                 "(gaps up to 300 s), or of a group or a model within an interval of the clock"),
    PARAM_CHOICE(struct trace_settings, duration, duration_names, DURATION_AS_GIVEN,
                 "as_given, or minus the wait that PAI's durations include"),
    PARAM_REAL(struct trace_settings, infer_frac, "1", 0.6, 0, 1,
               "assigned: share of the groups of one-GPU jobs that are inference [as synth]"),
    PARAM_REAL(struct trace_settings, min_rate_frac, "1", 0.5, 1e-9, 1,
               "assigned: share of its speed alone that a job must reach"),
    PARAM_INT(struct trace_settings, node_gpus, "GPUs", 8, 1, 1000,
              "helios, philly, swf: a job of more GPUs is cut into instances of so many"),
    PARAM_BOOL(struct trace_settings, successful_only, 0,
               "replay only jobs that ended well, where the trace tells"),
    PARAM_INT(struct trace_settings, synth_seed, "1", 0, 0, 9007199254740992.0,
              "of the embedded trace; 0 takes the run's seed, so that seeds draw as many traces"),
    PARAM_END,
};

static int policy_count(void)
{
    int n = 0;
    while (policies[n] != NULL)
        n++;
    return n;
}

enum status run_request_init(struct run_request *q, struct error *err)
{
    *q = (struct run_request){0};
    int n = policy_count();
    q->policy_config = arena_alloc(&q->arena, (size_t)n, sizeof *q->policy_config);
    if (q->policy_config == NULL)
        return fail_memory(err);
    for (int i = 0; i < n; i++) {
        if (policies[i]->params == NULL)
            continue;
        q->policy_config[i] = arena_alloc(&q->arena, 1, policies[i]->config_size);
        if (q->policy_config[i] == NULL)
            return fail_memory(err);
    }
    struct param_group groups[GROUPS_MAX];
    int n_groups = run_all_groups(q, groups);
    for (int i = 0; i < n_groups; i++)
        param_defaults(&groups[i]);
    return ST_OK;
}

void run_request_free(struct run_request *q)
{
    arena_free(&q->arena);
    *q = (struct run_request){0};
}

static int own_groups(const struct run_request *q, struct param_group *groups)
{
    struct run_request *r = (struct run_request *)(uintptr_t)q; /* groups are for writing as well */
    groups[0] = (struct param_group){"", run_params, &r->run};
    groups[1] = (struct param_group){"belief", belief_params, &r->belief};
    groups[2] = (struct param_group){"contention", contention_params, &r->contention};
    groups[3] = (struct param_group){"elastic", elastic_params, &r->elastic};
    groups[4] = (struct param_group){"preempt", preempt_params, &r->preempt};
    groups[5] = (struct param_group){"share", share_params, &r->share};
    groups[6] = (struct param_group){"trace", trace_params, &r->trace};
    return 7;
}

static int add_outside(const struct run_request *q, struct param_group *groups, int n)
{
    if (q->outside != NULL && q->outside->params != NULL)
        groups[n++] = (struct param_group){q->outside->name, q->outside->params, q->outside_config};
    return n;
}

int run_all_groups(const struct run_request *q, struct param_group groups[GROUPS_MAX])
{
    int n = own_groups(q, groups);
    for (int i = 0; policies[i] != NULL; i++)
        if (policies[i]->params != NULL)
            groups[n++] =
                (struct param_group){policies[i]->name, policies[i]->params, q->policy_config[i]};
    return add_outside(q, groups, n);
}

int run_groups(const struct run_request *q, struct param_group groups[GROUPS_MAX])
{
    int n = own_groups(q, groups);
    for (int i = 0; policies[i] != NULL; i++)
        if (policies[i]->params != NULL && strcmp(policies[i]->name, q->run.policy) == 0)
            groups[n++] =
                (struct param_group){policies[i]->name, policies[i]->params, q->policy_config[i]};
    return add_outside(q, groups, n);
}

enum status run_choose_policy(struct run_request *q, const char *name, struct error *err)
{
    q->run.policy = arena_text(&q->arena, name, strlen(name));
    q->outside = NULL;
    if (q->run.policy == NULL)
        return fail_memory(err);
    if (exec_is(name)) {
        struct policy *policy = arena_alloc(&q->arena, 1, sizeof *policy);
        if (policy == NULL)
            return fail_memory(err);
        *policy = exec_policy(q->run.policy);
        q->outside = policy;
        return ST_OK;
    }
    if (!outside_is_path(name))
        return ST_OK;
    TRY(outside_load(name, &q->outside, err));
    if (q->outside->params == NULL)
        return ST_OK;
    q->outside_config = arena_alloc(&q->arena, 1, q->outside->config_size);
    if (q->outside_config == NULL)
        return fail_memory(err);
    param_defaults(&(struct param_group){q->outside->name, q->outside->params, q->outside_config});
    return ST_OK;
}

enum status run_set(struct run_request *q, const char *pair, struct error *err)
{
    struct param_group groups[GROUPS_MAX];
    static const char policy[] = "policy=";
    if (strncmp(pair, policy, strlen(policy)) == 0)
        return run_choose_policy(q, pair + strlen(policy), err);
    return param_set_pair(groups, (size_t)run_all_groups(q, groups), pair, &q->arena, err);
}

enum status run_policy(const struct run_request *q, const struct policy **out, struct error *err)
{
    *out = q->run.policy == NULL ? NULL
           : q->outside != NULL  ? q->outside
                                 : policy_find(q->run.policy);
    if (*out != NULL)
        return ST_OK;
    char known[512] = "";
    for (int i = 0; policies[i] != NULL; i++) {
        size_t used = strlen(known);
        snprintf(known + used, sizeof known - used, "%s%s", i > 0 ? ", " : "", policies[i]->name);
    }
    return fail(err, ST_USAGE, "there is no policy '%s'; known: %s",
                q->run.policy == NULL ? "" : q->run.policy, known);
}
