/* bench_decide - what a pass costs a policy, by the jobs that wait and the size of the cluster.
 *
 *   bench_decide [POLICY [KEY=VALUE ...]]        default: every policy, with its defaults
 *
 * A cluster of 8-GPU nodes is full of jobs of 1, 2, 4 and 8 GPUs with 3, 6 or 9 cores each, so many
 * more wait, and one job ends every three seconds. Every other job is inference; they have eight
 * workloads, all pairs of which are measured; every fourth is elastic. Printed are the mean, the
 * 99th percentile and the largest time of one call of decide over the first passes after the
 * cluster has filled up, in microseconds. Policies whose settings name files run with empty ones.
 */
#include "bench/tools.h"
#include "core/base/rng.h"
#include "policies/registry.h"
#include "sim/run/engine.h"

#include <gsl/gsl_rng.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { N_PASSES = 400, N_WORKLOADS = 8, TABLES_MAX = 8 };
static const int gpus[] = {64, 1000, 10000};
static const int waiting[] = {100, 1000, 10000};

/* What a run is measured with: stands in for the policy's settings. */
struct meter {
    const struct policy *policy;
    const void *config;
    double *us; /* (N_PASSES) */
    int *n_passes;
    volatile sig_atomic_t *stop;
};

struct metered {
    const struct meter *meter;
    _Alignas(max_align_t) char state[]; /* of the policy */
};

static enum status metered_init(void *state, const void *config, const struct view *v,
                                const struct place_rules *rules, struct arena *arena,
                                struct error *err)
{
    struct metered *m = state;
    m->meter = config;
    const struct policy *p = m->meter->policy;
    return p->init == NULL ? ST_OK : p->init(m->state, m->meter->config, v, rules, arena, err);
}

static enum status metered_decide(void *state, const struct view *v, struct plan *plan,
                                  struct error *err)
{
    struct metered *m = state;
    double begin_us = 1e6 * cpu_now_s();
    enum status status = m->meter->policy->decide(m->state, v, plan, err);
    double us = 1e6 * cpu_now_s() - begin_us;
    if (v->now_us < 10 * US_PER_S)
        return status;
    if (*m->meter->n_passes < N_PASSES)
        m->meter->us[(*m->meter->n_passes)++] = us;
    else
        *m->meter->stop = 1;
    return status;
}

static int32_t workload_id(struct names *names, int i)
{
    char name[16];
    return names_add(names, name, (size_t)snprintf(name, sizeof name, "w%d", i));
}

/* Everything keeps from .55 to .9 of its speed beside everything. */
static void make_pairs(struct pairs *p)
{
    struct error err = {{0}};
    for (int a = 0; a < N_WORKLOADS; a++)
        for (int b = a; b < N_WORKLOADS; b++) {
            char x[16], y[16];
            size_t n = (size_t)snprintf(x, sizeof x, "w%d", a);
            size_t m = (size_t)snprintf(y, sizeof y, "w%d", b);
            must(pairs_add(p, x, n, y, m, .55 + .05 * a, .55 + .05 * (a == b ? a : 7 - b), &err),
                 &err);
        }
}

static void add_job(struct job_table *t, gsl_rng *rng, double duration_s)
{
    static const int sizes[] = {1, 1, 2, 4, 8};
    char name[16];
    struct job_row row = job_row_empty();
    struct error err = {{0}};
    row.name = name;
    row.name_length = (size_t)snprintf(name, sizeof name, "%d", t->n_jobs);
    row.duration_us = us_of_s(duration_s);
    row.gpu_milli = 1000 * sizes[gsl_rng_uniform_int(rng, 5)];
    row.cpu_milli = row.gpu_milli * (int32_t)(1 + gsl_rng_uniform_int(rng, 3)) * 3;
    row.kind = t->n_jobs % 2 == 0 ? KIND_TRAIN : KIND_INFER;
    row.workload = workload_id(&t->names, t->n_jobs % N_WORKLOADS);
    row.gpu_min = t->n_jobs % 4 == 0 ? 1 : 0;
    row.gpu_max = t->n_jobs % 4 == 0 ? 16 : 0;
    if (jobs_add(t, &row) < 0)
        must(fail_memory(&err), &err);
}

/* Jobs that fill n GPUs, one of which ends every 3 seconds or so, and n_wait more. */
static void make_jobs(struct job_table *t, int n, int n_wait)
{
    struct error err = {{0}};
    gsl_rng *rng = rng_stream(1, "jobs");
    int64_t milli = 0;
    for (int32_t j = 0; milli < (int64_t)n * 1000; j++) {
        add_job(t, rng, 20 + 3 * j);
        milli += t->gpu_milli[j];
    }
    for (int j = 0; j < n_wait; j++)
        add_job(t, rng, 1e5 + gsl_rng_uniform(rng));
    must(jobs_close(t, &err), &err);
    gsl_rng_free(rng);
}

static int by_size(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void measure(const struct policy *policy, const void *config, int n_gpus, int n_wait)
{
    double us[N_PASSES];
    int n = 0;
    volatile sig_atomic_t stop = 0;
    struct meter meter = {policy, config, us, &n, &stop};
    struct policy metered = *policy;
    struct job_table jobs = {0};
    struct cluster cluster;
    struct run_log log;
    struct error err = {{0}};
    struct pairs pairs = {0};
    const struct table tables[TABLES_MAX] = {{0}};
    struct node_spec spec = {
        .count = n_gpus / 8, .n_gpus = 8, .cpu_milli = 128000, .mem_mib = 1 << 20};
    metered.pace = NULL;
    metered.state_size = sizeof(struct metered) + policy->state_size;
    metered.init = metered_init;
    metered.decide = metered_decide;
    must(cluster_init(&cluster, &spec, 1, SHARE_CARD, &err), &err);
    make_jobs(&jobs, n_gpus, n_wait);
    make_pairs(&pairs);
    gsl_rng *rng = rng_stream(1, "policy");
    int32_t pair_id[N_WORKLOADS];
    for (int32_t i = 0; i < jobs.names.n; i++)
        pair_id[i] =
            names_find(&pairs.workloads, names_text(&jobs.names, i), names_length(&jobs.names, i));
    struct engine_setup setup = {
        .policy = &metered,
        .policy_config = &meter,
        .jobs = &jobs,
        .cluster = &cluster,
        .rng = rng,
        .tables = tables,
        .rules = {.pool = -1, .share_max = 1, .pairs = &pairs, .pair_id = pair_id, .rng = rng},
        .stop = &stop};
    must(engine_run(&setup, &log, &err), &err);
    double sum = 0;
    qsort(us, (size_t)n, sizeof *us, by_size);
    for (int i = 0; i < n; i++)
        sum += us[i];
    printf("%-14s %8d %9d %12.1f %12.1f %12.1f\n", policy->name, n_gpus, n_wait, sum / n,
           us[n * 99 / 100], us[n - 1]);
    fflush(stdout);
    gsl_rng_free(rng);
    run_log_free(&log);
    pairs_free(&pairs);
    jobs_free(&jobs);
    cluster_free(&cluster);
}

static void measure_all(const struct policy *policy, int argc, char **argv)
{
    struct error err = {{0}};
    struct arena arena = {0};
    void *config = NULL;
    if (policy->params != NULL) {
        config = arena_alloc(&arena, 1, policy->config_size);
        struct param_group group = {"", policy->params, config};
        if (config == NULL)
            must(fail_memory(&err), &err);
        param_defaults(&group);
        for (int i = 0; i < argc; i++)
            must(param_set_pair(&group, 1, argv[i], &arena, &err), &err);
    }
    for (size_t g = 0; g < sizeof gpus / sizeof *gpus; g++)
        for (size_t w = 0; w < sizeof waiting / sizeof *waiting; w++)
            measure(policy, config, gpus[g], waiting[w]);
    arena_free(&arena);
}

int main(int argc, char **argv)
{
    struct error err = {{0}};
    printf("%-14s %8s %9s %12s %12s %12s\n", "policy", "GPUs", "waiting", "mean us", "p99 us",
           "max us");
    if (argc > 1 && policy_find(argv[1]) == NULL)
        must(fail(&err, ST_USAGE, "there is no policy '%s'", argv[1]), &err);
    for (int i = 0; policies[i] != NULL; i++) {
        bool asked = argc > 1 && strcmp(policies[i]->name, argv[1]) == 0;
        if (asked || (argc == 1 && !policies[i]->node_sum))
            measure_all(policies[i], argc - 2, argv + 2);
    }
    return 0;
}
