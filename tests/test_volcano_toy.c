/* The toy of design/systems.md 1.7 (of the reference data): how much of a job's time hangs on how
 * Volcano is configured.
 *
 * 8 nodes of 8 GPUs, 1500 jobs of 1 to 16 GPUs (16 as a gang of two pods of 8), exponential gaps,
 * log-normal run times, 36 seeds (there 12); the mean JCT of each variant over that of the compiled
 * default with the same jobs, as a geometric mean over the seeds. Every pair of variants whose gap
 * in that table is more than two standard errors (of both together) must rank the same here. How
 * the jobs of two pools are told apart is not said there: here each is one or the other with even
 * odds, and a pool is a queue capped at half the cluster, not half of the nodes. */
#include "core/base/rng.h"
#include "policies/registry.h"
#include "policies/volcano/vol_setup.h"
#include "sim/run/engine.h"
#include "sim/run/run_log.h"
#include "tests/leak.h"

#include <criterion/criterion.h>
#include <gsl/gsl_cdf.h>
#include <gsl/gsl_randist.h>
#include <math.h>
#include <stdio.h>

TestSuite(volcano_toy, .fini = abort_on_leak, .timeout = 280);

enum { N_GPUS = 64, N_JOBS = 1500, N_SEEDS = 36, N_LOADS = 3 };
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

static const struct {
    int gpus;
    double frac;
} sizes[] = {{1, .60}, {2, .12}, {4, .12}, {8, .13}, {16, .03}};

static const double median_s = 1800, sigma = 1.5, min_s = 60, max_s = 172800;

static int draw_gpus(gsl_rng *rng)
{
    double u = gsl_rng_uniform(rng);
    size_t i = 0;
    while (i < 4 && u >= sizes[i].frac)
        u -= sizes[i++].frac;
    return sizes[i].gpus;
}

static double draw_duration_s(gsl_rng *rng)
{
    return fmin(fmax(median_s * exp(gsl_ran_gaussian(rng, sigma)), min_s), max_s);
}

/* The mean of a log-normal number that is cut off at both ends, in closed form. */
static double mean_duration_s(void)
{
    double a = log(min_s / median_s) / sigma, b = log(max_s / median_s) / sigma;
    return min_s * gsl_cdf_ugaussian_P(a) + max_s * gsl_cdf_ugaussian_Q(b) +
           median_s * exp(sigma * sigma / 2) *
               (gsl_cdf_ugaussian_P(b - sigma) - gsl_cdf_ugaussian_P(a - sigma));
}

/* Jobs of one seed; exponential gaps whose mean gives the load for jobs of mean work. */
static void draw_jobs(struct job_table *t, uint64_t seed, double load)
{
    gsl_rng *rng = rng_stream(seed, "toy");
    struct error err = {{0}};
    double mean_gpus = 0, at_s = 0;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        mean_gpus += sizes[i].gpus * sizes[i].frac;
    for (int i = 0; i < N_JOBS; i++) {
        char name[16];
        struct job_row row = job_row_empty();
        int gpus = draw_gpus(rng);
        at_s += gsl_ran_exponential(rng, mean_gpus * mean_duration_s() / (N_GPUS * load));
        row.name = name;
        row.name_length = (size_t)snprintf(name, sizeof name, "%d", i);
        row.submit_us = us_of_s(at_s);
        row.duration_us = us_of_s(draw_duration_s(rng));
        row.n_inst = gpus == 16 ? 2 : 1;
        row.gpu_milli = gpus * 1000 / row.n_inst;
        row.kind = gsl_rng_uniform(rng) < 0.5 ? KIND_TRAIN : KIND_INFER;
        cr_assert_geq(jobs_add(t, &row), 0);
    }
    must(jobs_close(t, &err), &err);
    gsl_rng_free(rng);
}

static double mean_jct_s(struct job_table *t, const struct variant *v, uint64_t seed)
{
    const struct policy *policy = policy_find(v->policy);
    struct node_spec spec = {
        .count = N_GPUS / 8, .n_gpus = 8, .cpu_milli = 128000, .mem_mib = 1 << 20};
    struct cluster cluster;
    struct run_log log;
    struct error err = {{0}};
    struct arena arena = {0};
    must(cluster_init(&cluster, &spec, 1, SHARE_CARD, &err), &err);
    void *config = NULL;
    if (policy->params != NULL) {
        config = arena_alloc(&arena, 1, policy->config_size);
        param_defaults(&(struct param_group){policy->name, policy->params, config});
    }
    if (policy == policy_find("volcano")) {
        struct volcano_config *volcano = config;
        volcano->profile = v->profile;
        volcano->k8s_balanced = v->balanced;
        volcano->gate = v->gate;
        volcano->queues = v->queues;
        volcano->period_s = v->period_s;
    }
    gsl_rng *rng = rng_stream(seed, "policy");
    struct engine_setup setup = {.policy = policy,
                                 .policy_config = config,
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
    arena_free(&arena);
    return sum / t->n_jobs;
}

/* Logarithms of the ratios to the first variant: mean and standard error over the seeds. */
struct found {
    double mean[N_VARIANTS], error[N_VARIANTS], base_s;
};

static struct found run_load(double load)
{
    static double ratio[N_VARIANTS][N_SEEDS];
    struct found f = {.base_s = 0};
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
