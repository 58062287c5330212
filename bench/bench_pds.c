/* bench_pds - how long a pass of elastico takes.
 *
 *   bench_pds [PASSES]        default 300, after the first
 *
 * So many jobs of the catalog at once and then one more whenever one should have ended, so that
 * about as many stay active (running or waiting); durations exponential, an hour in the mean. The
 * first pass starts from no prices and no predictions; the others are those at which something had
 * happened. CPU time of one thread: prices (ESP), pairs (IAC) and the rest (PDS). The predictor is
 * the embedded one and a single network of it. The paper states 4.2 ms at 64 GPUs with 30
 * jobs, 13.7 ms at 512 with 200, and 15 ms for N = 500 jobs of K = 8 configurations. */
#include "bench/tools.h"
#include "core/base/rng.h"
#include "core/elastico/dense.h"
#include "core/elastico/model_file.h"
#include "policies/registry.h"
#include "sim/run/cluster_file.h"
#include "sim/run/engine.h"
#include "sim/run/parts.h"

#include <gsl/gsl_randist.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PASSES_MAX = 10000, MEAN_S = 3600, N_PARTS = 4 };

static const struct size {
    const char *cluster;
    int n_jobs;
    bool single;     /* jobs of one GPU; else of 1, 2, 4 and 8 */
    double paper_ms; /* 0: it says nothing */
} sizes[] = {{"8x8:a100-40g", 30, false, 4.2},  {"64x8:a100-40g", 200, false, 13.7},
             {"48x8:a100-40g", 500, true, 15},  {"96x8:a100-40g", 1000, true, 0},
             {"288x8:a100-40g", 3000, true, 0}, {"960x8:a100-40g", 10000, true, 0}};

/* A policy that is elastico and looks at the clock. */
struct timing {
    const void *config;
    const struct policy *policy;
    volatile sig_atomic_t stop;
    int n, n_wanted;
    double part[N_PARTS][PASSES_MAX + 1]; /* esp, iac, pds, all */
    double n_active;
};
struct timed {
    struct timing *timing;
    void *state;
};

static enum status timed_init(void *state, const void *config, const struct view *v,
                              const struct place_rules *rules, struct arena *arena,
                              struct error *err)
{
    struct timed *t = state;
    memcpy(&t->timing, config, sizeof t->timing);
    t->state = arena_alloc(arena, 1, t->timing->policy->state_size);
    return t->state == NULL
               ? fail_memory(err)
               : t->timing->policy->init(t->state, t->timing->config, v, rules, arena, err);
}

static enum status timed_decide(void *state, const struct view *v, struct plan *p,
                                struct error *err)
{
    struct timed *t = state;
    struct timing *to = t->timing;
    struct view view = *v;
    view.clock = cpu_now_s;
    double begin_s = cpu_now_s();
    TRY(to->policy->decide(t->state, &view, p, err));
    double took_s = cpu_now_s() - begin_s;
    const struct epoch *e = to->policy->epoch(t->state);
    if (e == NULL || to->stop)
        return ST_OK;
    const double part[N_PARTS] = {e->esp_s, e->iac_s, e->pds_s, took_s};
    for (int i = 0; i < N_PARTS; i++)
        to->part[i][to->n] = part[i];
    to->n_active += to->n > 0 ? e->n_residents + e->n_waiting : 0;
    to->stop = to->n++ == to->n_wanted;
    return ST_OK;
}

static void timed_fini(void *state)
{
    struct timed *t = state;
    t->timing->policy->fini(t->state);
}

static const struct policy *elastico(void)
{
    for (int i = 0; policies[i] != NULL; i++)
        if (strcmp(policies[i]->name, "elastico") == 0)
            return policies[i];
    abort();
}

/* The first n at time 0, the others at the rate at which n jobs of that length end. */
static void make_jobs(struct job_table *t, const struct size *size, int n_more, gsl_rng *rng)
{
    static const char *const workload[] = {"ResNet-50", "BERT", "PPO",           "NCF-NeuMF",
                                           "DCGAN",     "LSTM", "DeepSeek-1.5b", "Qwen-1.7b"};
    static const double width[] = {.4, .3, .2, .1}; /* of 1, 2, 4 and 8 GPUs */
    gsl_ran_discrete_t *widths = gsl_ran_discrete_preproc(4, width);
    struct error err = {{0}};
    double at_s = 0;
    for (int i = 0; i < size->n_jobs + n_more; i++) {
        char name[32];
        const char *w = workload[gsl_rng_uniform_int(rng, 8)];
        struct job_row row = job_row_empty();
        at_s += i < size->n_jobs ? 0 : gsl_ran_exponential(rng, (double)MEAN_S / size->n_jobs);
        row.name = name;
        row.name_length = (size_t)snprintf(name, sizeof name, "job-%d", i);
        row.submit_us = us_of_s(at_s);
        row.duration_us = us_of_s(1 + gsl_ran_exponential(rng, MEAN_S));
        row.gpu_milli = size->single ? 1000 : 1000 << gsl_ran_discrete(rng, widths);
        row.workload = names_add(&t->names, w, strlen(w));
        must(row.workload < 0 || jobs_add(t, &row) < 0 ? fail_memory(&err) : ST_OK, &err);
    }
    must(jobs_close(t, &err), &err);
    gsl_ran_discrete_free(widths);
}

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void print(const struct size *size, const char *model, struct timing *t)
{
    double sum[N_PARTS] = {0};
    int n = t->n - 1;
    for (int part = 0; part < N_PARTS; part++)
        for (int i = 1; i <= n; i++)
            sum[part] += t->part[part][i] * 1e3 / n;
    double *all = t->part[3], first_ms = all[0] * 1e3;
    qsort(all + 1, (size_t)n, sizeof *all, ascending);
    printf("%-15s %7.0f %-8s %6d %8.3f %8.3f %8.3f %8.3f %8.3f %8.3f %9.3f", size->cluster,
           t->n_active / n, model, n, sum[3], sum[0], sum[1], sum[2], all[1 + n / 2] * 1e3,
           all[1 + n * 99 / 100] * 1e3, first_ms);
    if (size->paper_ms > 0)
        printf(" %7.1f %6.1f", size->paper_ms, size->paper_ms / sum[3]);
    puts("");
    fflush(stdout);
}

static void bench(const struct size *size, struct run_request *q, const char *model, int n_passes)
{
    static struct timing timing;
    struct timing *config = &timing;
    struct error err = {{0}};
    struct trace trace = {0};
    struct cluster cluster;
    struct cluster_desc desc;
    struct run_parts parts = {0};
    struct run_log log;
    struct policy policy = *elastico();
    timing = (struct timing){.policy = elastico(), .n_wanted = n_passes};
    timing.config = parts_config(q, timing.policy);
    policy.state_size = sizeof(struct timed);
    policy.init = timed_init;
    policy.decide = timed_decide;
    policy.fini = timed_fini;
    policy.epoch = NULL;
    gsl_rng *rng = rng_stream(1, "bench_pds");
    make_jobs(&trace.jobs, size, size->n_jobs + n_passes * (2 + size->n_jobs / 500), rng);
    must(cluster_parse(size->cluster, &desc, &err), &err);
    must(cluster_build(&desc, &cluster, &err), &err);
    must(parts_models(&parts, q, &policy, &trace, &cluster, &err), &err);
    struct engine_setup setup = {.policy = &policy,
                                 .policy_config = &config,
                                 .jobs = &trace.jobs,
                                 .cluster = &cluster,
                                 .rates = models_rates(&parts.models),
                                 .belief = models_belief(&parts.models),
                                 .side = parts.models.predictor.side,
                                 .stop = &timing.stop};
    must(parts_rules(&parts, q, &policy, &trace.jobs, &cluster, &setup.rules, &err), &err);
    must(engine_run(&setup, &log, &err), &err);
    print(size, model, &timing);
    run_log_free(&log);
    parts_close(&parts);
    cluster_desc_free(&desc);
    cluster_free(&cluster);
    trace_free(&trace);
    gsl_rng_free(rng);
}

/* The first network of the embedded predictor as a file; *n_nets: how many it has. */
static void write_single(const char *path, int32_t *n_nets)
{
    struct iac_model model;
    struct model_note note;
    struct error err = {{0}};
    must(model_default(&model, &note, &err), &err);
    *n_nets = model.n_nets;
    model.n_nets = 1;
    FILE *file = fopen(path, "w");
    must(file == NULL ? fail(&err, ST_OUTPUT, "cannot write %s", path) : ST_OK, &err);
    must(model_write(&model, &note, file, &err), &err);
    must(fclose(file) != 0 ? fail(&err, ST_OUTPUT, "cannot write %s", path) : ST_OK, &err);
    model.n_nets = *n_nets;
    iac_model_free(&model);
}

int main(int argc, char **argv)
{
    int n_passes = argc > 1 ? atoi(argv[1]) : 300;
    char folder[SCRATCH_MAX], path[SCRATCH_MAX + 16], name[2][16] = {"1 net"};
    struct run_request q;
    struct error err = {{0}};
    int32_t n_nets;
    if (n_passes < 1 || n_passes > PASSES_MAX || !scratch_folder(folder, "bench_pds")) {
        fprintf(stderr, "usage: bench_pds [PASSES], up to %d\n", PASSES_MAX);
        return ST_USAGE;
    }
    snprintf(path, sizeof path, "%s/net.json", folder);
    dense_one_thread();
    write_single(path, &n_nets);
    snprintf(name[1], sizeof name[1], "%d nets", n_nets);
    printf("%-15s %7s %-8s %6s %8s %8s %8s %8s %8s %8s %9s %7s %6s\n", "cluster", "active",
           "belief", "passes", "mean ms", "ESP", "IAC", "PDS", "p50", "p99", "first", "paper",
           "faster");
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        for (int all = 0; all < (sizes[i].paper_ms > 0 ? 2 : 1); all++) {
            must(run_request_init(&q, &err), &err);
            q.run.model = all ? NULL : path;
            bench(&sizes[i], &q, name[all], n_passes);
            run_request_free(&q);
        }
    unlink(path);
    return rmdir(folder);
}
