#include "sim/run/run.h"

#include "policies/registry.h"
#include "sim/run/cluster_file.h"
#include "sim/run/parts.h"
#include "traces/account.h"
#include "traces/synth.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

enum { EMBEDDED_GPUS = 64 };

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
                                    .align = (enum trace_align)q->trace.align,
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
        status = parts_models(parts, q, out->policy, &out->trace, &out->cluster, err);
    if (watch->read != NULL && status != ST_INTERRUPTED)
        watch->read(watch->context, &out->trace.report);
    TRY(status);
    if (out->policy->node_sum && out->cluster.share != SHARE_NODE_SUM)
        return fail(err, ST_USAGE,
                    "policy %s needs a cluster with share = node-sum, such as pai-sim:6500",
                    out->policy->name);
    if (out->policy->prepare != NULL) {
        struct preparation p = {&out->trace.jobs, &out->cluster, (uint64_t)q->run.seed};
        TRY(out->policy->prepare(parts_config(q, out->policy), &p, err));
        TRY(models_bind(&parts->models, &out->trace.jobs, &out->cluster, err));
    }
    return rescale(q, &out->trace.jobs, &out->cluster, err);
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

/* Of one that keeps a store of profiles. */
static void profile_metrics(struct run_result *out)
{
    const struct profiling *p = &out->log.profiling;
    double hits = (double)p->n_hits, n = hits + (double)p->n_misses;
    if (p->profiled == NULL || out->n_extra + 4 > METRICS_EXTRA_MAX)
        return;
    const double value[4] = {hits, (double)p->n_misses, n > 0 ? hits / n : NAN,
                             p->n_waited > 0 ? p->waited_s / (double)p->n_waited : NAN};
    for (int i = 0; i < 4; i++) {
        out->extra_name[out->n_extra] = out->policy->profile_metrics[i];
        out->extra[out->n_extra++] = value[i];
    }
}

/* What it had profiled in the end, in words: the catalog goes with the run's parts. */
static enum status name_profiled(const struct models *m, struct run_result *out, struct error *err)
{
    const struct workloads *w = &m->workloads;
    const bool *profiled = out->log.profiling.profiled;
    if (profiled == NULL)
        return ST_OK;
    out->profiled = arena_alloc(&out->arena, (size_t)w->n_configs + 1, sizeof *out->profiled);
    if (out->profiled == NULL)
        return fail_memory(err);
    for (int32_t c = 0; c < w->n_configs; c++) {
        if (!profiled[c])
            continue;
        struct profiled *p = &out->profiled[out->n_profiled++];
        p->workload = arena_text(&out->arena, names_text(&w->names, w->workload[c]),
                                 names_length(&w->names, w->workload[c]));
        config_text(w, c, p->config);
        if (p->workload == NULL)
            return fail_memory(err);
    }
    return ST_OK;
}

static enum status simulate(const struct run_request *q, const struct run_watch *watch,
                            struct run_parts *parts, struct run_result *out, struct error *err)
{
    struct job_table *t = &out->trace.jobs;
    struct engine_setup setup = {.policy = out->policy,
                                 .policy_config = parts_config(q, out->policy),
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
    TRY(parts_rules(parts, q, out->policy, t, &out->cluster, &setup.rules, err));
    setup.rng = parts->policy_rng;
    if (exec_is(q->run.policy)) {
        parts->exec = (struct exec_config){.name = q->run.policy,
                                           .timeout_s = q->run.policy_timeout_s,
                                           .groups = parts->groups,
                                           .n_groups = run_groups(q, parts->groups),
                                           .child = &parts->child};
        setup.policy_config = &parts->exec;
    }
    TRY(parts_tables(parts, q, out->policy, err));
    TRY(engine_run(&setup, &out->log, err));
    TRY(metrics_of(t, &out->cluster, &out->log, parts->window, out->metric, err));
    if (out->policy->metrics != NULL)
        out->n_extra = out->policy->metrics(t, out->extra_name, out->extra, METRICS_EXTRA_MAX);
    epoch_metrics(out);
    profile_metrics(out);
    TRY(name_profiled(&parts->models, out, err));
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
    parts_close(&parts);
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
    arena_free(&r->arena);
    *r = (struct run_result){0};
}
