/* Hosts and guests: AntMan, SIRIUS, GPUColo and Mudi, hand-worked, and what holds for all four. */
#include "tests/leak.h"
#include "tests/policy_words.h"

#include <math.h>

TestSuite(colocate, .fini = abort_on_leak, .timeout = 120);

/* i...: inference, t...: training. */
static void name_kinds(struct lab *l)
{
    for (int32_t j = 0; j < l->jobs.n_jobs; j++)
        l->jobs.kind[j] = names_text(&l->jobs.job_names, j)[0] == 'i' ? KIND_INFER : KIND_TRAIN;
}

/* The policy and its settings; jobs and nodes; the rate inference must keep, 0 for none told; when
 * jobs start and end; how many were evicted. */
static const struct {
    const char *policy, *settings, *jobs, *nodes;
    double rate_frac, start_s[3], end_s[3];
    int n_evicted;
    const char *why;
} rows[] = {
    /* AntMan: training is guaranteed; beside it 1 - .53 - .1 = .37 is left. */
    {"antman", "", "t 0 100 1\ni 0 37 1", "1", 0, {0, 0}, {100, 100}, 0, "at .37 beside t"},
    {"antman",
     "",
     "i 0 100 1\nt 20 100 1",
     "1",
     0,
     {0, 20},
     {163, 120},
     0,
     "20 alone, 37 beside t, 43 alone"},
    {"antman",
     "",
     "i 0 100 1 1 x 600\nt 20 100 1 1 y 600",
     "1x1000MiB",
     0,
     {0, 20},
     {163.37, 120},
     0,
     "a second goes on moving tensors to the host"},
    {"antman",
     "spill_s=0",
     "i 0 100 1 1 x 600\nt 20 100 1 1 y 600",
     "1x1000MiB",
     0,
     {0, 20},
     {163, 120},
     0,
     "memory is no limit"},
    {"antman",
     "",
     "t 0 100 1 1 x 1200\ni 0 10 1",
     "1x1000MiB",
     0,
     {0, 0},
     {0, 10},
     0,
     "but a card is"},
    {"antman",
     "",
     "i 0 100 1\nt 10 50 0.5",
     "1",
     0,
     {0, 10},
     {150, 60},
     1,
     "a fraction cannot share"},
    {"antman",
     "",
     "t 0 200 1\ni 0 37 1\nii 0 37 1",
     "1",
     0,
     {0, 0, 100},
     {200, 100, 200},
     0,
     "one guest at a time"},
    {"antman",
     "",
     "t 0 100 1\ntt 0 100 1\ni 0 37 2",
     "2",
     0,
     {0, 0, 0},
     {100, 100, 100},
     0,
     "a guest over two hosts"},
    {"antman", "", "t 0 100 1\ni 0 37 2", "2", 0, {0, 0}, {100, 100}, 0, "its slowest card counts"},
    {"antman",
     "util=0.9",
     "t 0 100 1\ni 0 10 1",
     "1",
     0,
     {0, 100},
     {100, 110},
     0,
     "nothing is left"},
    /* SIRIUS: inference is host; beside it (1 - .6) X(b). */
    {"sirius",
     "",
     "t 0 100 1\ni 0 100 1",
     "1",
     0,
     {0, 0},
     {163, 100},
     0,
     "40 done, 2 more in the hold time, then 58"},
    {"sirius", "hold_s=0", "t 0 100 1\ni 0 100 1", "1", 0, {0, 0}, {160, 100}, 0, "no hold time"},
    /* 1000 - 440 - .4 x 800 is half of what shrinks: X = .5 x 1.25 / .75, rate 1/3. */
    {"sirius",
     "",
     "t 0 100 1 1 x 800\ni 0 60 1 1 y 440",
     "1x1000MiB",
     0,
     {0, 0},
     {65 + 235. / 3, 60},
     0,
     "half the batch"},
    {"sirius",
     "",
     "t 0 100 1 1 x 800\ni 10 50 1 1 y 650",
     "1x1000MiB",
     0,
     {0, 10},
     {150, 60},
     1,
     "a sixteenth of the batch is too small"},
    {"sirius",
     "",
     "i 0 50 1 1 y 650\nt 0 100 1 1 x 800",
     "1x1000MiB",
     0,
     {0, 50},
     {50, 150},
     0,
     "and so it waits"},
    {"sirius", "", "t 0 100 1\ni 0 100 1", "2", 0, {0, 0}, {100, 100}, 0, "free cards first"},
    {"sirius",
     "",
     "t 0 100 1\ni 10 20 1 2",
     "2",
     0,
     {0, 10},
     {115, 30},
     0,
     "beside t for 20: 18 done, 2 in the hold time, 80 from 35 on"},
    /* GPUColo: inference at its target; training (1 - p) d. */
    {"gpucolo", "", "i 0 50 1\nt 0 35 1", "1", 0, {0, 0}, {100, 100}, 0, ".5; p = .65, d = 1"},
    {"gpucolo",
     "",
     "i 0 60 1\nt 0 50 1",
     "1",
     .6,
     {0, 0},
     {100, 100 + 50 - 100. / 6},
     0,
     ".6; p = .7, d = 5/9: a sixth"},
    {"gpucolo",
     "",
     "i 0 50 1\nt 0 35 1",
     "1",
     .8,
     {0, 50},
     {50, 85},
     0,
     "training would never wake"},
    {"gpucolo",
     "",
     "i 0 50 1 1 x 600\nt 0 35 1 1 y 600",
     "1x1000MiB",
     0,
     {0, 50},
     {50, 85},
     0,
     "memory must hold both"},
    {"gpucolo",
     "",
     "t 0 100 1\ni 10 10 2",
     "2",
     0,
     {0, 10},
     {113, 30},
     0,
     "20 s at .35 instead of 1: 13 lost"},
    /* Mudi: the target 2 needs 4/11 of the GPU; training has (7/11)^.7 = .7287. */
    {"mudi",
     "train_exp=1",
     "i 0 50 1\nt 0 70 1",
     "1",
     0,
     {0, 0},
     {100, 100 + 70 - 700. / 11},
     0,
     "at 7/11 beside i"},
    {"mudi",
     "train_exp=1",
     "i 0 80 1\nt 0 45 1",
     "1",
     .8,
     {0, 0},
     {98, 90},
     0,
     "half of the GPU, the knee, for a target of 1.25"},
    {"mudi",
     "train_exp=1 keep_min=0.7",
     "i 0 50 1\nt 0 70 1",
     "1",
     0,
     {0, 50},
     {50, 120},
     0,
     "neither may keep so little"},
};

Test(colocate, each_row_of_the_table_holds)
{
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct lab l = {0};
        lab_jobs(&l, rows[i].jobs);
        lab_nodes(&l, rows[i].nodes);
        name_kinds(&l);
        for (int32_t j = 0; j < l.jobs.n_jobs; j++)
            if (rows[i].rate_frac > 0 && l.jobs.kind[j] == KIND_INFER)
                l.jobs.min_rate_frac[j] = rows[i].rate_frac;
        configure(&l, rows[i].policy, rows[i].settings);
        lab_run(&l, rows[i].policy);
        cr_expect_eq(l.log.n_evictions, rows[i].n_evicted, "row %zu, %s %s: %d evicted", i,
                     rows[i].policy, rows[i].why, (int)l.log.n_evictions);
        for (int32_t j = 0; j < l.jobs.n_jobs; j++) {
            if (l.jobs.status[j] == JOB_REJECTED)
                continue;
            cr_expect_float_eq(s_of_us(l.jobs.start_us[j]), rows[i].start_s[j], 1e-5,
                               "row %zu, %s %s: job %d starts at %g", i, rows[i].policy,
                               rows[i].why, j, s_of_us(l.jobs.start_us[j]));
            cr_expect_float_eq(s_of_us(l.jobs.finish_us[j]), rows[i].end_s[j], 1e-4,
                               "row %zu, %s %s: job %d ends at %g", i, rows[i].policy, rows[i].why,
                               j, s_of_us(l.jobs.finish_us[j]));
        }
        lab_free(&l);
    }
}

/* One run with a table of profiles: when the jobs end. */
static void run_with_profiles(struct lab *l, const char *policy, const char *settings,
                              const char **names, int32_t n_columns, const char **cells,
                              int32_t n_rows, enum status want)
{
    struct table table = {n_rows, n_columns, names, cells, NULL, NULL, {0}};
    struct run_log log;
    struct error err = {{0}};
    name_kinds(l);
    configure(l, policy, settings);
    struct engine_setup setup = {.policy = policy_find(policy),
                                 .policy_config = l->config,
                                 .tables = &table,
                                 .jobs = &l->jobs,
                                 .cluster = &l->cluster,
                                 .rules = {.pool = -1, .share_max = 1},
                                 .check = true};
    cr_assert_eq(engine_run(&setup, &log, &err), want, "%s", err.text);
    run_log_free(&log);
}

Test(colocate, antman_takes_the_guaranteed_job_that_uses_least)
{
    const char *names[] = {"workload", "util"}, *cells[] = {"busy", ".7", "calm", ".1", "odd", ""};
    struct lab l = {0};
    lab_jobs(&l, "t 0 100 1 1 busy\ntt 0 100 1 1 calm\ni 0 80 1\nii 0 20 1");
    lab_nodes(&l, "2");
    run_with_profiles(&l, "antman", "", names, 2, cells, 3, ST_OK);
    cr_expect_float_eq(lab_jct_s(&l, "i"), 100, 1e-5, "at .8 beside calm");
    cr_expect_float_eq(lab_jct_s(&l, "ii"), 100, 1e-5, "at .2 beside busy");
    lab_free(&l);
}

Test(colocate, antman_tells_classes_apart_by_priority_too)
{
    struct lab l = {0};
    lab_jobs(&l, "a 0 37 1\nb 0 100 1");
    lab_nodes(&l, "1");
    l.jobs.priority[1] = 3;
    configure(&l, "antman", "class_by=priority priority_min=2");
    lab_run(&l, "antman");
    cr_expect_float_eq(lab_jct_s(&l, "b"), 100, 1e-5, "guaranteed, and first");
    cr_expect_float_eq(lab_jct_s(&l, "a"), 100, 1e-5);
    lab_free(&l);
}

Test(colocate, profiles_out_of_range_are_refused)
{
    const char *names[] = {"workload", "util"}, *cells[] = {"busy", "1.7"};
    struct lab l = {0};
    lab_jobs(&l, "t 0 100 1 1 busy");
    lab_nodes(&l, "2");
    run_with_profiles(&l, "sirius", "", names, 2, cells, 1, ST_INPUT);
    lab_free(&l);
}

Test(colocate, mudi_pairs_where_training_keeps_most)
{
    /* i asks for .9 of its speed, ii for .5: t goes to ii's card though it has the higher number.
     */
    struct lab l = {0};
    lab_jobs(&l, "i 0 90 1\nii 0 50 1\nt 0 70 1");
    lab_nodes(&l, "2");
    name_kinds(&l);
    l.jobs.min_rate_frac[0] = .9;
    l.jobs.min_rate_frac[1] = .5;
    configure(&l, "mudi", "train_exp=1");
    lab_run(&l, "mudi");
    cr_expect_float_eq(lab_jct_s(&l, "i"), 90, 1e-5, "alone");
    cr_expect_float_eq(lab_jct_s(&l, "t"), 100 + 70 - 100 * 7. / 11, 1e-4,
                       "at 7/11 beside ii, which ends at 100, also when the other card is free");
    lab_free(&l);
}

/* SMore: what was measured, and a bound for both. */
static const struct {
    const char *settings, *jobs, *why;
    double end_s[2];
} bounded[] = {
    {"keep_min=0.5", "i 0 90 1 1 x\nt 0 60 1 1 y", "at .9 and .6", {100, 100}},
    {"keep_min=0.7", "i 0 90 1 1 x\nt 0 60 1 1 y", "training would keep too little", {90, 150}},
    {"keep_min=0.5", "i 0 90 1 1 x\nt 0 60 1 1 z", "not measured", {90, 150}},
    {"keep_min=0.5", "i 0 90 1 1 x\nt 0 60 1", "no workload", {90, 150}},
};

Test(colocate, mudi_by_table_is_smores_bound)
{
    for (size_t i = 0; i < sizeof bounded / sizeof *bounded; i++) {
        struct lab l = {0};
        char words[64];
        lab_jobs(&l, bounded[i].jobs);
        lab_nodes(&l, "1");
        name_kinds(&l);
        cr_assert_eq(pairs_add(&l.pairs, "x", 1, "y", 1, .9, .6, NULL), ST_OK);
        snprintf(words, sizeof words, "predict=table %s", bounded[i].settings);
        configure(&l, "mudi", words);
        lab_run(&l, "mudi");
        for (int32_t j = 0; j < 2; j++)
            cr_expect_float_eq(s_of_us(l.jobs.finish_us[j]), bounded[i].end_s[j], 1e-4,
                               "row %zu, %s: job %d ends at %g", i, bounded[i].why, j,
                               s_of_us(l.jobs.finish_us[j]));
        lab_free(&l);
    }
}

/* GPUColo's loops themselves, step by step: the fast one a hundred times for each step of the slow
 * one. They come to rest where the policy says. */
Test(colocate, gpucolos_loops_come_to_rest_where_the_policy_puts_them)
{
    const double c = .3, threads = .7;
    for (double frac = .3; frac < .69; frac += .02) {
        double slo = 1 / frac, p = threads, d = 1;
        for (int slow = 0; slow < 4000; slow++) {
            for (int fast = 0; fast < 100; fast++)
                d = fmin(fmax(d - .05 * ((1 + c * d) / p - slo) / slo, 0), 1);
            p = fmin(fmax(p + .01 * ((1 + c * d) / p - slo) / slo, 0.01), 1);
        }
        double rate_i = p / (1 + c * d), rate_t = (1 - p) * d;
        struct lab l = {0};
        lab_jobs(&l, "i 0 1000 1\nt 0 1 1");
        lab_nodes(&l, "1");
        name_kinds(&l);
        l.jobs.min_rate_frac[0] = frac;
        configure(&l, "gpucolo", "rate_min=0");
        lab_run(&l, "gpucolo");
        cr_expect_float_eq(rate_i, frac, 1e-3, "inference rests at its target: %g, %g", rate_i,
                           frac);
        cr_expect_float_eq(1 / lab_jct_s(&l, "t"), rate_t, 2e-3, "%g: %g, loops %g", frac,
                           1 / lab_jct_s(&l, "t"), rate_t);
        lab_free(&l);
    }
}

static const char *const four[] = {"antman", "sirius", "gpucolo", "mudi"};

static void random_world(struct lab *l, unsigned long seed, int scale)
{
    char text[8192] = "";
    int t = 0;
    gsl_rng *rng = gsl_rng_alloc(gsl_rng_mt19937);
    gsl_rng_set(rng, seed);
    for (int i = 0; i < 100; i++) {
        static const char *const gpus[] = {"1", "1", "2", "4", "0.5", "0"};
        sprintf(text + strlen(text), "%c%d %d %d %s %d w %d\n", "it"[gsl_rng_uniform_int(rng, 2)],
                i, scale * (t += (int)gsl_rng_uniform_int(rng, 12)),
                scale * (1 + (int)gsl_rng_uniform_int(rng, 200)), gpus[gsl_rng_uniform_int(rng, 6)],
                1 + (int)gsl_rng_uniform_int(rng, 2), 100 * (int)gsl_rng_uniform_int(rng, 10));
    }
    lab_jobs(l, text);
    lab_nodes(l, "4x1000MiB+4x1000MiB+2x1000MiB");
    name_kinds(l);
    for (int32_t j = 0; j < l->jobs.n_jobs; j++)
        l->jobs.min_rate_frac[j] =
            gsl_rng_uniform_int(rng, 2) == 0 ? .3 + .5 * gsl_rng_uniform(rng) : NAN;
    gsl_rng_free(rng);
}

Test(colocate, every_job_ends_and_the_same_run_is_the_same)
{
    for (unsigned long round = 0; round < 40; round++) {
        int64_t finish_us[100];
        for (int again = 0; again < 2; again++) {
            struct lab l = {.restart_s = 2};
            double held = 0, asked = 0;
            random_world(&l, round / 4, 1);
            lab_run(&l, four[round % 4]);
            for (int32_t j = 0; j < 100; j++) {
                cr_assert(l.jobs.status[j] == JOB_DONE || l.jobs.status[j] == JOB_REJECTED);
                cr_assert(again == 0 || finish_us[j] == l.jobs.finish_us[j]);
                finish_us[j] = l.jobs.finish_us[j];
                if (l.jobs.status[j] == JOB_REJECTED)
                    continue;
                cr_assert_float_eq(l.jobs.done_us[j], (double)l.jobs.duration_us[j], 1);
                held += (double)l.jobs.attained_milli_us[j] / 1e9;
                asked += job_work_gpu_s(&l.jobs, j);
            }
            cr_assert_leq(l.log.held_gpu_s, held + 1e-6);
            cr_assert_leq(held, 2 * l.log.held_gpu_s + 1e-6);
            cr_assert_geq(held, asked - 1e-3, "nobody runs faster than alone");
            lab_free(&l);
        }
    }
}

Test(colocate, twice_the_time_is_the_same_schedule)
{
    static const char *const slow[] = {"spill_s=2", "hold_s=10", "", ""};
    for (int i = 0; i < 4; i++)
        for (unsigned long seed = 0; seed < 4; seed++) {
            struct lab one = {.restart_s = 3}, two = {.restart_s = 6};
            random_world(&one, seed, 1);
            random_world(&two, seed, 2);
            configure(&two, four[i], slow[i]);
            lab_run(&one, four[i]);
            lab_run(&two, four[i]);
            for (int32_t j = 0; j < 100; j++)
                if (one.jobs.status[j] == JOB_DONE)
                    cr_assert_float_eq(s_of_us(two.jobs.finish_us[j]),
                                       2 * s_of_us(one.jobs.finish_us[j]), 1e-3, "%s: job %d",
                                       four[i], j);
            lab_free(&one);
            lab_free(&two);
        }
}

/* With a catalog of workloads AntMan knows what a guaranteed job uses: NCF, as submitted at its
 * peak, leaves far more than the 0.37 that it would allow for without. */
Test(colocate, antman_takes_the_sm_activity_of_a_known_workload_from_the_catalog)
{
    struct lab l = {.catalog = "table2", .mps = 1};
    lab_jobs(&l, "t 0 1000 1 1 NCF-NeuMF 1\ni 0 100 1");
    lab_nodes(&l, "1x40960MiB:a100-40g");
    name_kinds(&l);
    lab_run(&l, "antman");
    int32_t row = rst_row(&l.rst, 0, l.rst.submitted[0], l.rst.card[0]);
    double sm = l.profiles.m.sm[row];
    cr_assert(sm > 0 && sm < .5, "%g", sm);
    cr_assert_float_eq(lab_jct_s(&l, "i"), 100 / (1 - sm - .1), 1e-3);
    lab_free(&l);
}
