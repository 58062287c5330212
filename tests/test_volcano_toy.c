/* The toy of design/systems.md 1.7 (of the reference data): how much of a job's time hangs on how
 * Volcano is configured.
 *
 * 8 nodes of 8 GPUs, 1500 jobs of 1 to 16 GPUs (16 as two gangs members of 8), exponential gaps,
 * log-normal run times, 12 seeds; the mean JCT of each variant over that of the compiled default
 * with the same jobs, as a geometric mean over the seeds. Every pair of variants that is more than
 * two standard errors apart there must rank the same here. */
#include "core/base/rng.h"
#include "policies/registry.h"
#include "policies/volcano/vol_setup.h"
#include "sim/run/engine.h"
#include "sim/run/run_log.h"
#include "tests/leak.h"

#include <criterion/criterion.h>
#include <gsl/gsl_randist.h>
#include <math.h>
#include <stdio.h>

TestSuite(volcano_toy, .fini = abort_on_leak, .timeout = 280);

enum { N_JOBS = 1500, N_SEEDS = 12, N_LOADS = 3 };
static const double loads[N_LOADS] = {0.7, 0.9, 1.1};

/* What the table there says: the ratio, and one standard error as a factor. */
struct said {
    double ratio, times;
};

static const struct variant {
    const char *name, *policy;
    struct said said[N_LOADS];
    int profile, balanced, gate, queues;
    double period_s;
} variants[] = {
    {"compiled default", "volcano", {{1, 1}, {1, 1}, {1, 1}}, VOL_COMPILED, 0, 0, 0, 1},
    {"helm", "volcano", {{1, 1}, {1, 1}, {1, 1}}, VOL_HELM, 0, 0, 0, 1},
    {"helm, k8s 1.36",
     "volcano",
     {{.39, 1.16}, {.47, 1.15}, {.61, 1.10}},
     VOL_HELM,
     VOL_BALANCED_1_36,
     0,
     0,
     1},
    {"GPU-weighted binpack",
     "volcano",
     {{.35, 1.15}, {.39, 1.12}, {.54, 1.13}},
     VOL_HELM_GPUBINPACK,
     0,
     0,
     0,
     1},
    {"no gate, spread",
     "volcano",
     {{.46, 1.15}, {.50, 1.12}, {.54, 1.08}},
     VOL_COMPILED,
     0,
     VOLCANO_GATE_NONE,
     0,
     1},
    {"no gate, pack",
     "volcano",
     {{.34, 1.15}, {.31, 1.11}, {.44, 1.12}},
     VOL_HELM_GPUBINPACK,
     0,
     VOLCANO_GATE_NONE,
     0,
     1},
    {"strict FIFO, pack", "fifo", {{.56, 1.18}, {1.45, 1.15}, {2.16, 1.12}}, 0, 0, 0, 0, 0},
    {"two pools, spread",
     "volcano",
     {{1.26, 1.13}, {1.47, 1.12}, {1.39, 1.14}},
     VOL_COMPILED,
     0,
     0,
     VOLCANO_POOLS,
     1},
    {"two pools, pack",
     "volcano",
     {{.51, 1.14}, {.58, 1.10}, {.70, 1.12}},
     VOL_HELM_GPUBINPACK,
     0,
     0,
     VOLCANO_POOLS,
     1},
    {"shortest first, pack", "sjf", {{.33, 1.14}, {.29, 1.11}, {.34, 1.08}}, 0, 0, 0, 0, 0},
    {"no latency", "volcano", {{.91, 1.20}, {1.01, 1.09}, {.91, 1.13}}, VOL_COMPILED, 0, 0, 0, 0},
};
enum { N_VARIANTS = sizeof variants / sizeof *variants };

static void must(enum status status, const struct error *err)
{
    cr_assert_eq(status, ST_OK, "%s", err->text);
}

static int size_of(double u) { return u < .60 ? 1 : u < .72 ? 2 : u < .84 ? 4 : u < .97 ? 8 : 16; }

static double duration_of(gsl_rng *rng)
{
    double s = 1800 * exp(gsl_ran_gaussian(rng, 1.5));
    return s < 60 ? 60 : s > 172800 ? 172800 : s;
}

/* Jobs of one seed, submitted so that their work over 64 GPUs x the span is the load. */
static void draw_jobs(struct job_table *t, uint64_t seed, double load)
{
    gsl_rng *rng = rng_stream(seed, "toy");
    struct error err = {{0}};
    static double gap[N_JOBS], duration_s[N_JOBS];
    static int gpus[N_JOBS];
    static enum job_kind kind[N_JOBS];
    double work = 0, span = 0, at = 0;
    for (int i = 0; i < N_JOBS; i++) {
        gap[i] = i == 0 ? 0 : gsl_ran_exponential(rng, 1);
        gpus[i] = size_of(gsl_rng_uniform(rng));
        duration_s[i] = duration_of(rng);
        kind[i] = gsl_rng_uniform(rng) < 0.5 ? KIND_TRAIN : KIND_INFER;
        work += gpus[i] * duration_s[i];
        span += gap[i];
    }
    for (int i = 0; i < N_JOBS; i++) {
        char name[16];
        struct job_row row = job_row_empty();
        at += gap[i] / span * work / (64 * load);
        row.name = name;
        row.name_length = (size_t)snprintf(name, sizeof name, "%d", i);
        row.submit_us = us_of_s(at);
        row.duration_us = us_of_s(duration_s[i]);
        row.n_inst = gpus[i] == 16 ? 2 : 1;
        row.gpu_milli = gpus[i] == 16 ? 8000 : gpus[i] * 1000;
        row.kind = kind[i];
        cr_assert_geq(jobs_add(t, &row), 0);
    }
    must(jobs_close(t, &err), &err);
    gsl_rng_free(rng);
}

static double mean_jct_s(struct job_table *t, const struct variant *v, uint64_t seed)
{
    const struct policy *policy = policy_find(v->policy);
    struct node_spec spec = {.count = 8, .n_gpus = 8, .cpu_milli = 128000, .mem_mib = 1 << 20};
    struct cluster cluster;
    struct run_log log;
    struct error err = {{0}};
    union {
        struct volcano_config volcano;
        char any[256];
    } config;
    must(cluster_init(&cluster, &spec, 1, SHARE_CARD, &err), &err);
    if (policy->params != NULL)
        param_defaults(&(struct param_group){policy->name, policy->params, &config});
    if (policy == policy_find("volcano")) {
        config.volcano.profile = v->profile;
        config.volcano.k8s_balanced = v->balanced;
        config.volcano.gate = v->gate;
        config.volcano.queues = v->queues;
        config.volcano.period_s = v->period_s;
    }
    gsl_rng *rng = rng_stream(seed, "policy");
    struct engine_setup setup = {.policy = policy,
                                 .policy_config = &config,
                                 .jobs = t,
                                 .cluster = &cluster,
                                 .rng = rng,
                                 .rules = {.mode = PLACE_BEST_FIT, .pool = -1, .share_max = 1}};
    must(engine_run(&setup, &log, &err), &err);
    double sum = 0;
    for (int32_t j = 0; j < t->n_jobs; j++) {
        cr_assert_eq(t->status[j], JOB_DONE, "%s: job %d", v->name, j);
        sum += s_of_us(t->finish_us[j] - t->submit_us[j]);
    }
    gsl_rng_free(rng);
    run_log_free(&log);
    cluster_free(&cluster);
    return sum / t->n_jobs;
}

/* Logarithms of the ratios to the first variant: mean and standard error over the seeds. */
struct found {
    double mean[N_VARIANTS], error[N_VARIANTS], base_s;
};

static struct found run_load(double load)
{
    static double ratio[N_VARIANTS][N_SEEDS];
    struct found f = {{0}};
    for (int s = 0; s < N_SEEDS; s++) {
        struct job_table t = {0};
        double base_s = 0;
        draw_jobs(&t, (uint64_t)s + 1, load);
        for (int i = 0; i < N_VARIANTS; i++) {
            double jct_s = mean_jct_s(&t, &variants[i], (uint64_t)s + 1);
            base_s = i == 0 ? jct_s : base_s;
            ratio[i][s] = log(jct_s / base_s);
        }
        f.base_s += base_s / N_SEEDS;
        jobs_free(&t);
    }
    for (int i = 0; i < N_VARIANTS; i++) {
        double squares = 0;
        for (int s = 0; s < N_SEEDS; s++)
            f.mean[i] += ratio[i][s] / N_SEEDS;
        for (int s = 0; s < N_SEEDS; s++)
            squares += (ratio[i][s] - f.mean[i]) * (ratio[i][s] - f.mean[i]);
        f.error[i] = sqrt(squares / (N_SEEDS - 1) / N_SEEDS);
    }
    return f;
}

Test(volcano_toy, variants_that_are_clearly_apart_there_rank_the_same_here)
{
    for (int l = 0; l < N_LOADS; l++) {
        struct found f = run_load(loads[l]);
        fprintf(stderr, "load %g: compiled default %.1f ks\n", loads[l], f.base_s / 1e3);
        for (int i = 0; i < N_VARIANTS; i++)
            fprintf(stderr, "  %-22s %5.2f x/ %4.2f   (there %5.2f x/ %4.2f)\n", variants[i].name,
                    exp(f.mean[i]), exp(f.error[i]), variants[i].said[l].ratio,
                    variants[i].said[l].times);
        for (int i = 0; i < N_VARIANTS; i++)
            for (int k = 0; k < i; k++) {
                const struct said *a = &variants[i].said[l], *b = &variants[k].said[l];
                double gap = log(a->ratio / b->ratio), error = hypot(log(a->times), log(b->times));
                if (fabs(gap) > 2 * error)
                    cr_expect(gap * (f.mean[i] - f.mean[k]) > 0, "load %g: %s %.2f, %s %.2f",
                              loads[l], variants[i].name, exp(f.mean[i]), variants[k].name,
                              exp(f.mean[k]));
            }
    }
}
