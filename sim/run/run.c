#include "sim/run/run.h"

#include "core/base/rng.h"
#include "policies/registry.h"
#include "sim/run/cluster_file.h"
#include "sim/run/exec_policy.h"
#include "sim/run/models.h"
#include "sim/run/pairs_file.h"
#include "traces/account.h"
#include "traces/synth.h"
#include "traces/table_file.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

enum { EMBEDDED_GPUS = 64 };

/* What lives only while the run does. */
struct run_parts {
    struct table tables[POLICY_TABLES_MAX]; /* the CSV files the policy asks for */
    struct pairs pairs;
    struct models models;
    struct talker child; /* the policy exec:PROGRAM */
    struct exec_config exec;
    struct param_group groups[GROUPS_MAX];
    gsl_rng *rng, *policy_rng;
    struct window window;
    struct arena arena;
};

static enum status embedded_trace(const struct run_request *q, struct trace *out, struct error *err)
{
    int64_t seed = q->trace.synth_seed > 0 ? q->trace.synth_seed : q->run.seed;
    struct synth_settings settings;
    param_defaults(&(struct param_group){"", synth_params, &settings});
    *out = (struct trace){.clock_hour_at_0 = 0, .zone = "UTC"}; /* as synth.h has it */
    snprintf(out->report.format, sizeof out->report.format, "embedded");
    enum status status =
        synth_jobs(&settings, EMBEDDED_GPUS, (uint64_t)seed, NULL, &out->jobs, err);
    out->report.n_rows = out->report.n_kept = out->jobs.n_tasks;
    out->report.n_jobs = out->jobs.n_jobs;
    return status;
}

enum status run_read_trace(const struct run_request *q, const volatile sig_atomic_t *stop,
                           struct trace *out, struct error *err)
{
    *out = (struct trace){0};
    if (q->run.trace == NULL)
        return embedded_trace(q, out, err);
    int n = 1 + q->n_more_traces;
    const char **paths = malloc((size_t)n * sizeof *paths);
    if (paths == NULL)
        return fail_memory(err);
    paths[0] = q->run.trace;
    for (int i = 1; i < n; i++)
        paths[i] = q->more_traces[i - 1];
    struct trace_options options = {.paths = paths,
                                    .n_paths = n,
                                    .format = q->run.format,
                                    .columns = q->run.columns,
                                    .strict = q->run.strict,
                                    .successful_only = q->trace.successful_only,
                                    .duration = (enum trace_duration)q->trace.duration,
                                    .batch = (enum trace_batch)q->trace.batch,
                                    .node_gpus = (int32_t)q->trace.node_gpus,
                                    .assign = q->trace.assign,
                                    .assign_seed = (uint64_t)q->trace.assign_seed,
                                    .infer_frac = q->trace.infer_frac,
                                    .min_rate_frac = q->trace.min_rate_frac,
                                    .stop = stop};
    enum status status = trace_read(&options, out, err);
    free(paths);
    return status;
}

static enum status build_cluster(const struct run_request *q, const struct trace *trace,
                                 struct cluster *out, struct error *err)
{
    if (q->run.cluster == NULL && q->run.nodes == 0 && trace->n_nodes > 0)
        return cluster_init(out, trace->nodes, trace->n_nodes, SHARE_CARD, err);
    struct cluster_desc desc;
    enum status status =
        cluster_parse(q->run.cluster == NULL ? EMBEDDED_CLUSTER : q->run.cluster, &desc, err);
    if (status == ST_OK && q->run.nodes > 0 && (desc.n_nodes != 1 || desc.nodes[0].name != NULL))
        status = fail(err, ST_USAGE, "nodes %lld: the cluster has nodes of several kinds or names",
                      (long long)q->run.nodes);
    if (status == ST_OK && q->run.nodes > 0)
        desc.nodes[0].count = (int32_t)q->run.nodes;
    if (status == ST_OK)
        status = cluster_build(&desc, out, err);
    cluster_desc_free(&desc);
    return status;
}

/* Submissions keep their order; gaps are divided by the factor, from the first submission on. */
static void compress(struct job_table *t, double factor)
{
    int64_t first_us = TIME_NEVER;
    for (int32_t j = 0; j < t->n_jobs; j++)
        first_us = t->submit_us[j] < first_us ? t->submit_us[j] : first_us;
    for (int32_t j = 0; j < t->n_jobs; j++)
        t->submit_us[j] = first_us + llround((double)(t->submit_us[j] - first_us) / factor);
}

static enum status rescale(const struct run_request *q, struct job_table *t,
                           const struct cluster *c, struct error *err)
{
    if (q->run.rate_scale != 1)
        compress(t, q->run.rate_scale);
    if (q->run.load <= 0)
        return ST_OK;
    double load = offered_load(t, c);
    int64_t first_us = TIME_NEVER, last_us = INT64_MIN;
    for (int32_t j = 0; j < t->n_jobs; j++) {
        first_us = t->submit_us[j] < first_us ? t->submit_us[j] : first_us;
        last_us = t->submit_us[j] > last_us ? t->submit_us[j] : last_us;
    }
    if (!(load > 0) || first_us == last_us)
        return fail(err, ST_USAGE,
                    "load %g: the trace asks for no GPU time or is submitted at one instant",
                    q->run.load);
    compress(t, q->run.load / load);
    return ST_OK;
}

static enum status parse_window(const char *text, struct window *out, struct error *err)
{
    *out = (struct window){0, 0};
    if (text == NULL)
        return ST_OK;
    const char *dots = strstr(text, "..");
    if (dots == NULL || !parse_scaled(text, (size_t)(dots - text), 6, &out->lo_us) ||
        !parse_scaled(dots + 2, strlen(dots + 2), 6, &out->hi_us) || out->lo_us >= out->hi_us)
        return fail(err, ST_USAGE, "window '%s': want A..B in seconds with A < B", text);
    return ST_OK;
}

/* (names of the job table) the id of each name in another set, -1 where it is not there. */
static enum status map_names(const struct job_table *t, const struct names *to, struct arena *arena,
                             const int32_t **out, struct error *err)
{
    int32_t *map = arena_alloc(arena, (size_t)t->names.n, sizeof *map);
    if (map == NULL)
        return fail_memory(err);
    for (int32_t i = 0; i < t->names.n; i++)
        map[i] = names_find(to, names_text(&t->names, i), names_length(&t->names, i));
    *out = map;
    return ST_OK;
}

/* Requests that list types ("V100M16|V100M32"): those of the cluster. NULL where none does. */
static enum status list_types(const struct job_table *t, const struct cluster *c,
                              struct arena *arena, const uint64_t **out, struct error *err)
{
    uint64_t *set = arena_alloc(arena, (size_t)t->names.n, sizeof *set);
    bool any = false;
    if (set == NULL)
        return fail_memory(err);
    for (int32_t i = 0; i < t->names.n; i++) {
        const char *text = names_text(&t->names, i);
        size_t length = names_length(&t->names, i);
        bool list = memchr(text, '|', length) != NULL;
        set[i] = list ? cluster_types_of(c, text, length) : 0;
        any = any || list;
    }
    *out = any ? set : NULL;
    return ST_OK;
}

static enum status rules_of(const struct run_request *q, const struct policy *policy,
                            const struct job_table *t, const struct cluster *c,
                            struct run_parts *parts, struct place_rules *out, struct error *err)
{
    *out = (struct place_rules){
        .mode = (enum place_mode)q->run.place, .pool = -1, .share_max = (int32_t)q->share.max_jobs};
    enum type_match match = (enum type_match)q->run.gpu_type_match;
    out->type_strict =
        match == MATCH_STRICT || (match == MATCH_AUTO && c->gpu_types.n > 1 && !policy->node_sum);
    TRY(map_names(t, &c->gpu_types, &parts->arena, &out->type_id, err));
    TRY(list_types(t, c, &parts->arena, &out->type_set, err));
    parts->rng = rng_stream((uint64_t)q->run.seed, "place");
    parts->policy_rng = rng_stream((uint64_t)q->run.seed, "policy");
    if (parts->rng == NULL || parts->policy_rng == NULL)
        return fail_memory(err);
    out->rng = parts->rng;
    if (q->run.pairs != NULL) {
        out->pairs = &parts->pairs;
        TRY(map_names(t, &parts->pairs.workloads, &parts->arena, &out->pair_id, err));
    }
    if ((enum truth)q->run.truth == TRUTH_TABLE && q->run.pairs == NULL)
        return fail(err, ST_USAGE,
                    "truth table needs --pairs FILE (model_a,model_b,speed_a,speed_b)");
    return ST_OK;
}

/* Types that jobs ask for: one the cluster lacks is named once, with how many tasks ask for it. */
static enum status note_types(struct trace *trace, const struct cluster *c, struct error *err)
{
    const struct job_table *t = &trace->jobs;
    int64_t *asked = calloc((size_t)t->names.n + 1, sizeof *asked);
    enum status status = asked == NULL ? fail_memory(err) : ST_OK;
    for (int32_t k = 0; status == ST_OK && k < t->n_tasks; k++)
        if (t->gpu_type[k] >= 0)
            asked[t->gpu_type[k]]++;
    for (int32_t i = 0; status == ST_OK && i < t->names.n; i++) {
        const char *name = names_text(&t->names, i);
        size_t length = names_length(&t->names, i);
        if (asked[i] > 0 && names_find(&c->gpu_types, name, length) < 0 &&
            cluster_types_of(c, name, length) == 0)
            status = account_note(&trace->report, err,
                                  "gpu_type %s, asked for by %lld tasks, is not in the cluster%s",
                                  name, (long long)asked[i],
                                  c->gpu_types.n > 1 ? "" : "; its one type serves every request");
    }
    free(asked);
    return status;
}

static double seconds(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static const void *config_of(const struct run_request *q, const struct policy *policy)
{
    for (int i = 0; policies[i] != NULL; i++)
        if (policies[i] == policy)
            return q->policy_config[i];
    return policy == q->outside ? q->outside_config : NULL;
}

static enum status open_models(const struct run_request *q, struct run_parts *parts,
                               struct run_result *out, struct error *err)
{
    struct model_choice choice = {.catalog = q->run.catalog,
                                  .submitted = (enum submitted)q->run.submitted,
                                  .truth = (enum truth)q->run.truth,
                                  .set = (enum contention_set)q->contention.set,
                                  .m = q->contention.m,
                                  .scale_exp = q->elastic.scale_exp,
                                  .believes = out->policy->believes,
                                  .belief = (enum belief_name)q->run.belief,
                                  .model = q->run.model,
                                  .error_frac = q->belief.error_frac,
                                  .error_seed = (uint64_t)q->belief.seed};
    if (q->run.pairs != NULL) {
        TRY(pairs_read(q->run.pairs, &parts->pairs, err));
        choice.pairs = &parts->pairs;
    }
    TRY(models_open(&parts->models, &choice, &out->trace.jobs, &out->cluster, err));
    return models_note(&parts->models, &out->trace, err);
}

static enum status prepare(const struct run_request *q, const struct run_watch *watch,
                           struct run_parts *parts, struct run_result *out, struct error *err)
{
    TRY(run_policy(q, &out->policy, err));
    TRY(parse_window(q->run.window, &parts->window, err));
    enum status status = q->source != NULL ? trace_copy(q->source, &out->trace, err)
                                           : run_read_trace(q, watch->stop, &out->trace, err);
    if (status == ST_OK)
        status = build_cluster(q, &out->trace, &out->cluster, err);
    if (status == ST_OK)
        status = note_types(&out->trace, &out->cluster, err);
    if (status == ST_OK)
        status = open_models(q, parts, out, err);
    if (watch->read != NULL && status != ST_INTERRUPTED)
        watch->read(watch->context, &out->trace.report);
    TRY(status);
    if (out->policy->node_sum && out->cluster.share != SHARE_NODE_SUM)
        return fail(err, ST_USAGE,
                    "policy %s needs a cluster with share = node-sum, such as pai-sim:6500",
                    out->policy->name);
    if (out->policy->prepare != NULL) {
        struct preparation p = {&out->trace.jobs, &out->cluster, (uint64_t)q->run.seed};
        TRY(out->policy->prepare(config_of(q, out->policy), &p, err));
        TRY(models_bind(&parts->models, &out->trace.jobs, &out->cluster, err));
    }
    return rescale(q, &out->trace.jobs, &out->cluster, err);
}

/* Reads the files that settings of the policy name; an empty setting is an empty table. */
static enum status read_tables(const struct run_request *q, const struct policy *policy,
                               struct run_parts *parts, struct error *err)
{
    for (int i = 0; policy->tables != NULL && policy->tables[i] != NULL; i++) {
        assert(i < POLICY_TABLES_MAX);
        for (const struct param *p = policy->params; p->name != NULL; p++) {
            char text[64];
            if (strcmp(p->name, policy->tables[i]) != 0)
                continue;
            const char *path = param_text(p, config_of(q, policy), text);
            if (path[0] != '\0')
                TRY(table_read(path, &parts->tables[i], err));
        }
    }
    return ST_OK;
}

/* Of a policy that tells of its passes: how many, the mean gap of its prices to their bound where
 * there was one, and how often a job on a shared card was slowed by more than was agreed. */
static void epoch_metrics(struct run_result *out)
{
    const struct run_log *l = &out->log;
    double gap = 0, violations = 0, sharing = 0;
    int64_t n_gaps = 0;
    for (size_t i = 0; i < l->n_epochs; i++) {
        const struct epoch *e = &l->epoch[i].epoch;
        bool priced = e->rounds > 0 && isfinite(e->gap_frac);
        gap += priced ? e->gap_frac : 0;
        n_gaps += priced;
        violations += e->n_violations;
        sharing += 2.0 * e->n_couples;
    }
    if (l->n_epochs == 0 || out->n_extra + 3 > METRICS_EXTRA_MAX)
        return;
    const double value[3] = {(double)l->n_epochs, n_gaps > 0 ? gap / (double)n_gaps : NAN,
                             sharing > 0 ? violations / sharing : NAN};
    for (int i = 0; i < 3; i++) {
        out->extra_name[out->n_extra] = out->policy->epoch_metrics[i];
        out->extra[out->n_extra++] = value[i];
    }
}

static enum status simulate(const struct run_request *q, const struct run_watch *watch,
                            struct run_parts *parts, struct run_result *out, struct error *err)
{
    struct job_table *t = &out->trace.jobs;
    struct engine_setup setup = {.policy = out->policy,
                                 .policy_config = config_of(q, out->policy),
                                 .tables = parts->tables,
                                 .jobs = t,
                                 .cluster = &out->cluster,
                                 .rates = models_rates(&parts->models),
                                 .belief = models_belief(&parts->models),
                                 .side = parts->models.predictor.side,
                                 .restart_us = us_of_s(q->preempt.restart_s),
                                 .window_lo_us = parts->window.lo_us,
                                 .window_hi_us = parts->window.hi_us,
                                 .stop = watch->stop,
                                 .progress = watch->progress,
                                 .progress_context = watch->context};
    TRY(rules_of(q, out->policy, t, &out->cluster, parts, &setup.rules, err));
    setup.rng = parts->policy_rng;
    if (exec_is(q->run.policy)) {
        parts->exec = (struct exec_config){.name = q->run.policy,
                                           .timeout_s = q->run.policy_timeout_s,
                                           .groups = parts->groups,
                                           .n_groups = run_groups(q, parts->groups),
                                           .child = &parts->child};
        setup.policy_config = &parts->exec;
    }
    TRY(read_tables(q, out->policy, parts, err));
    TRY(engine_run(&setup, &out->log, err));
    TRY(metrics_of(t, &out->cluster, &out->log, parts->window, out->metric, err));
    if (out->policy->metrics != NULL)
        out->n_extra = out->policy->metrics(t, out->extra_name, out->extra, METRICS_EXTRA_MAX);
    epoch_metrics(out);
    out->nothing_ran = true;
    for (int32_t j = 0; j < t->n_jobs && out->nothing_ran; j++)
        out->nothing_ran = t->start_us[j] == TIME_NEVER;
    return ST_OK;
}

enum status run_execute(const struct run_request *q, const struct run_watch *watch,
                        struct run_result *out, struct error *err)
{
    struct run_parts parts = {0};
    double wall_s = seconds(CLOCK_MONOTONIC), cpu_s = seconds(CLOCK_THREAD_CPUTIME_ID);
    *out = (struct run_result){0};
    enum status status = prepare(q, watch, &parts, out, err);
    if (status == ST_OK)
        status = simulate(q, watch, &parts, out, err);
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    out->wall_s = seconds(CLOCK_MONOTONIC) - wall_s;
    out->cpu_s = seconds(CLOCK_THREAD_CPUTIME_ID) - cpu_s;
    out->peak_rss_mib = (double)usage.ru_maxrss / 1024;
    for (int i = 0; i < POLICY_TABLES_MAX; i++)
        table_free(&parts.tables[i]);
    pairs_free(&parts.pairs);
    talker_stop(&parts.child);
    models_close(&parts.models);
    if (parts.rng != NULL)
        gsl_rng_free(parts.rng);
    if (parts.policy_rng != NULL)
        gsl_rng_free(parts.policy_rng);
    arena_free(&parts.arena);
    return status;
}

enum status run_result_failed(const struct run_request *q, const char *why, struct run_result *out,
                              struct error *err)
{
    *out = (struct run_result){.nothing_ran = true};
    TRY(run_policy(q, &out->policy, err));
    for (int i = 0; i < N_METRICS; i++)
        out->metric[i] = NAN;
    out->wall_s = out->cpu_s = out->peak_rss_mib = NAN;
    out->log.decide_s_mean = out->log.decide_s_p99 = NAN;
    out->log.happening = malloc(sizeof *out->log.happening);
    if (out->log.happening == NULL)
        return fail_memory(err);
    out->log.happening[0] = (struct happening_row){0, HAP_ERROR, -1, why};
    out->log.n_happenings = out->log.happening_capacity = 1;
    return ST_OK;
}

void run_result_free(struct run_result *r)
{
    trace_free(&r->trace);
    cluster_free(&r->cluster);
    run_log_free(&r->log);
    *r = (struct run_result){0};
}
