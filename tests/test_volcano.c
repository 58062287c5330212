/* The policy volcano: hand-worked rows, a second model, laws under every configuration. */
#include "core/base/rng.h"
#include "policies/registry.h"
#include "policies/volcano/vol_config.h"
#include "policies/volcano/vol_options.h"
#include "tests/lab.h"
#include "tests/leak.h"
#include "tests/ref_volcano.h"

#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

TestSuite(volcano, .fini = abort_on_leak, .timeout = 240);

/* "KEY=VALUE KEY=VALUE", the rest at its default but for ties, which go to the lowest. */
static void configure(struct lab *l, const char *settings)
{
    const struct policy *policy = policy_find("volcano");
    void *config = arena_alloc(&l->arena, 1, policy->config_size);
    struct param_group group = {"", policy->params, config};
    struct error err = {{0}};
    char text[256], *rest = text;
    param_defaults(&group);
    snprintf(text, sizeof text, "tie=lowest %s", settings);
    for (char *pair; (pair = strsep(&rest, " ")) != NULL;)
        if (pair[0] != '\0')
            cr_assert_eq(param_set_pair(&group, 1, pair, &l->arena, &err), ST_OK, "%s", err.text);
    l->config = config;
}

static void run(struct lab *l, const char *settings)
{
    configure(l, settings);
    lab_run(l, "volcano");
}

/* Jobs whose names end in a digit have it as priority, and names with a T are for training, with an
 * I for inference. */
static void mark_jobs(struct lab *l)
{
    for (int32_t j = 0; j < l->jobs.n_jobs; j++) {
        const char *name = names_text(&l->jobs.job_names, j);
        char last = name[strlen(name) - 1];
        l->jobs.priority[j] = last >= '0' && last <= '9' ? last - '0' : 0;
        l->jobs.kind[j] = strchr(name, 'T') != NULL   ? KIND_TRAIN
                          : strchr(name, 'I') != NULL ? KIND_INFER
                                                      : KIND_UNKNOWN;
    }
}

/* Settings, jobs, nodes, and when each job starts; -1 for one that never does. */
static const struct {
    const char *settings, *jobs, *nodes;
    double start_s[12];
    const char *why;
} rows[] = {
    {"", "a 0 9 1", "1", {2}, "admitted at 1, bound at 2"},
    {"", "a 0.5 9 1\nb 0.999999 9 1", "2", {2, 2}, "both admitted at 1"},
    {"", "a -5 9 1", "1", {-3}, "on a clock that starts before 0"},
    {"period_s=2", "a 0.5 9 1\nb 2 9 1", "2", {4, 6}, "every other second"},
    {"period_s=0", "a 0.5 9 1\nb 0.5 9 1", "1", {.5, 9.5}, "no latency"},
    {"", "a 0 10 1\nb 0 5 1", "1", {2, 13}, "b is admitted when a has ended, at 12"},
    {"gate=none", "a 0 10 1\nb 0 5 1", "1", {2, 12}, "b waits for nothing but the node"},
    {"", "a 0 10 1\nb9 0 5 1", "1", {8, 2}, "priority; then a is admitted at 7"},
    {"", "a 0 10 6\nb 0 10 4\nc 0 10 2", "8", {2, 13, 2}, "b is passed over at the gate"},
    /* A gang of 2 x 2 beside a job that leaves one node whole: nothing of it is bound, and the
     * small one that comes later takes a GPU of the whole node (the default spreads). */
    {"gate=none", "a 0 20 1\ngang 5 10 2 2\nc 10 30 1", "2+2", {2, 42, 12}, "all or nothing"},
    {"gate=none",
     "wide 1 10 8\ns 0 10 4\nt 5 10 4\nu 10 10 4\nv 15 10 4\nw 20 10 4\nx 25 10 4\ny 30 10 4",
     "8",
     {42, 2, 7, 12, 17, 22, 27, 32},
     "a wide gang starves behind small jobs"},
    {"",
     "wide 1 10 8\ns 0 10 4\nt 5 10 4\nu 10 10 4\nv 15 10 4\nw 20 10 4",
     "8",
     {35, 2, 7, 13, 18, 24},
     "the same at the gate: each is admitted when one has ended"},
    /* a needs two GPUs of one node and is admitted because the cluster has two: it keeps c out
     * although c would fit, until r and s have ended (upstream's issue 2814). */
    {"", "r 0 100 1\ns 0 100 1\na 10 9 2\nc 20 9 1", "2+2", {2, 2, 102, 103}, "head of line"},
    {"gate=none", "r 0 100 1\ns 0 100 1\na 10 9 2\nc 20 9 1", "2+2", {2, 2, 102, 22}, "no gate"},
    {"gate=proportion", "a 0 10 2\nb 0 10 2", "4", {2, 2}, "one queue has all"},
    {"queues=pools", "aT 0 10 2\nbI 0 10 1\ncI 0 9 1", "4", {2, 2, 2}, "two pools of two"},
    {"queues=pools", "aT 0 10 2\nbT 0 10 1\ncI 0 9 1", "4", {2, 13, 2}, "train is full"},
    {"queues=pools pool_train_frac=1", "aT 0 9 4\nbI 0 9 1", "4", {2, -1}, "infer has none"},
    {"queues=job gate=none weights=x:3",
     "a 0 50 1 1 - 0 - 0 0 x\nb 0 50 1 1 - 0 - 0 0 x\nc 0 50 1 1 - 0 - 0 0 x\n"
     "d 0 50 1 1 - 0 - 0 0 x\ne 0 50 1 1 - 0 - 0 0 y\nf 0 50 1 1 - 0 - 0 0 y",
     "4",
     {2, 2, 2, 52, 2, 52},
     "three to one"},
    {"queues=job caps=x:.25", "a 0 9 1 1 - 0 - 0 0 x\nb 0 9 1 1 - 0 - 0 0 x", "4", {2, 12}, "cap"},
    {"queues=job priorities=y:1",
     "a 0 9 4 1 - 0 - 0 0 x\nb 0 9 4 1 - 0 - 0 0 y",
     "4",
     {12, 2},
     "y is asked first, and with b admitted there is no room for a"},
    {"queues=job gate=none",
     "a 0 9 4 1 - 0 - 0 0 x\nb 0 9 4 1 - 0 - 0 0 y",
     "4",
     {-1, -1},
     "each queue is due two GPUs: neither job will ever start"},
    {"", "a 0 10 0.5\nb 0 10 0.5", "1", {2, 13}, "half a GPU is a whole one"},
    {"vgpu=1", "a 0 10 0.5\nb 0 10 0.5", "1", {2, 2}, "halves share a card"},
    {"vgpu=1", "a 0 10 0.5\nb 0 10 0.6", "1", {2, 12}, "cores are 100 per cent"},
    {"vgpu=1 vgpu_max_shares=2", "a 0 9 .1\nb 0 9 .1\nc 0 9 .1", "1", {2, 2, 11}, "two shares"},
    {"vgpu=1", "a 0 9 .1 1 - 20000\nb 0 9 .1 1 - 20000", "1x32768MiB", {2, 11}, "card memory"},
    {"vgpu=1", "a 0 9 1\nb 0 9 .1", "1", {2, 11}, "a whole GPU is exclusive"},
    {"vgpu=1", "a 0 9 .5 2", "1", {2}, "two of one job on one card"},
    {"vgpu=1 vgpu_spread_members=1", "a 0 9 .5 2\nb 0 9 .5 2", "2", {2, 2}, "on different cards"},
    {"", "a 0 9 0\nb 0 9 0 3", "1", {2, 2}, "pods that ask for nothing are backfilled"},
    {"pods_per_node=2", "a 0 9 0 2\nb 5 9 0\nc 5 5 0 3", "1", {2, 11, -1}, "slots for pods"},
    {"",
     "a 0 9 2 1 - 0 V100\nb 0 9 1 1 - 0 T4\nc 0 9 1 1 - 0 T4",
     "2:T4+2:V100",
     {2, 2, 2},
     "types"},
    {"", "a 0 9 1 1 - 20000\nb 0 9 1 1 - 20000", "1x16384MiB+1x32768MiB", {2, 11}, "card memory"},
};

Test(volcano, each_row_of_the_table_holds)
{
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct lab l = {0};
        lab_jobs(&l, rows[i].jobs);
        mark_jobs(&l);
        lab_nodes(&l, rows[i].nodes);
        run(&l, rows[i].settings);
        for (int32_t j = 0; j < l.jobs.n_jobs; j++) {
            double start_s = l.jobs.start_us[j] == TIME_NEVER ? -1 : s_of_us(l.jobs.start_us[j]);
            cr_expect_float_eq(start_s, rows[i].start_s[j], 1e-9, "row %zu, %s: %s starts at %g", i,
                               rows[i].why, names_text(&l.jobs.job_names, j), start_s);
        }
        lab_free(&l);
    }
}

/* Two queues of four GPUs each want all of them. The gate of 1.2 x 8 lets in 9; a group bound in
 * the session before still counts in full beside what it holds. */
Test(volcano, overcommit_counts_what_was_just_bound_twice_for_one_session)
{
    /* At 1: a (4) and b (4), in all 8 of 9.6. At 2 both are bound; c (1) arrived at 1: reserved 8 +
     * 1 <= 9.6, so it is admitted at 2. d (1) arrived at 2: at 3 in use 8, reserved 8 (in full,
     * since bound at 2) + 1 (c), so no. At 4 a and b run: reserved 1 + 1 <= 9.6 - 8 = 1.6? no. */
    struct lab l = {0};
    lab_jobs(&l, "a 0 30 4 1 - 0 - 0 0 x\nb 0 60 4 1 - 0 - 0 0 y\nc 1 9 1 1 - 0 - 0 0 x\n"
                 "d 2 9 1 1 - 0 - 0 0 y");
    lab_nodes(&l, "8");
    run(&l, "queues=job");
    /* a ends at 32: c, admitted, starts there; d is admitted at 32 and starts at 33. */
    cr_assert_float_eq(lab_start_s(&l, "c"), 32, 1e-9);
    cr_assert_float_eq(lab_start_s(&l, "d"), 33, 1e-9);
    lab_free(&l);
    /* Two small ones, a second apart, in two queues of a cluster of 10: a group of 4 is bound at 2.
     * At 3 it counts twice: 4 in use + 4 + 5 > 12, so e waits for the session at 4. */
    lab_jobs(&l, "a 0 30 4 1 - 0 - 0 0 x\ne 2 9 5 1 - 0 - 0 0 y");
    lab_nodes(&l, "10");
    run(&l, "queues=job");
    cr_assert_float_eq(lab_start_s(&l, "e"), 5, 1e-9);
    lab_free(&l);
}

Test(volcano, a_preempted_job_goes_back_whole_and_the_other_starts_a_session_later)
{
    static const char jobs[] = "a0 0 100 1 2\nb1 10 5 1";
    struct lab l = {.restart_s = 3};
    lab_jobs(&l, jobs);
    mark_jobs(&l);
    lab_nodes(&l, "2");
    run(&l, "profile=helm gate=none preempt=1");
    /* b is admitted at 11; at 12 it does not fit, and one pod of a is evicted: a goes back whole.
     */
    cr_assert_float_eq(lab_start_s(&l, "b1"), 13, 1e-9);
    cr_assert_eq(l.log.n_evictions, 1);
    cr_assert_eq(l.jobs.n_evicted[0], 1);
    /* It had 10 s of its 100; admitted at 13, pods at 14, room at 18; then 3 s of restart. */
    cr_assert_float_eq(lab_jct_s(&l, "a0"), 18 + 3 + 90, 1e-9);
    lab_free(&l);
}

Test(volcano, a_job_that_was_sent_back_so_often_is_let_be)
{
    for (int limited = 0; limited < 2; limited++) {
        struct lab l = {0};
        lab_jobs(&l, "a0 0 100 1\nb1 10 5 1\nc1 40 5 1");
        mark_jobs(&l);
        lab_nodes(&l, "1");
        run(&l, limited ? "profile=helm gate=none preempt=1 max_restarts=1"
                        : "profile=helm gate=none preempt=1");
        /* a runs from 2 to 12 and again from 18 on, when b has ended. */
        cr_assert_float_eq(lab_start_s(&l, "c1"), limited ? 108 : 43, 1e-9);
        lab_free(&l);
    }
}

Test(volcano, a_whole_gang_is_no_victim_where_the_gang_plugin_is_asked)
{
    struct lab l = {0};
    lab_jobs(&l, "a0 0 100 1\nb1 10 5 1");
    mark_jobs(&l);
    lab_nodes(&l, "1");
    run(&l, "profile=compiled gate=none preempt=1");
    cr_assert_eq(l.log.n_evictions, 0);
    cr_assert_float_eq(lab_start_s(&l, "b1"), 102, 1e-9);
    lab_free(&l);
}

Test(volcano, reclaim_takes_the_youngest_job_of_a_queue_that_has_more_than_its_due)
{
    struct lab l = {0};
    lab_jobs(&l, "a 0 50 1 1 - 0 - 0 0 x\nb 0 50 1 1 - 0 - 0 0 x\nc 10 5 1 1 - 0 - 0 0 y");
    lab_nodes(&l, "2");
    run(&l, "queues=job gate=none reclaim=1");
    cr_assert_float_eq(lab_start_s(&l, "c"), 13, 1e-9);
    cr_assert_float_eq(lab_jct_s(&l, "a"), 52, 1e-9);
    /* b lost 10 of 50 s at 12 but keeps its work; x is due one GPU until c ends at 18. */
    cr_assert_eq(l.jobs.n_evicted[1], 1);
    cr_assert_float_eq(lab_jct_s(&l, "b"), 18 + 40, 1e-9);
    lab_free(&l);
}

Test(volcano, an_elastic_job_starts_at_its_minimum_and_grows_one_pod_a_turn)
{
    struct lab l = {.rates.scale_exp = 1};
    lab_jobs(&l, "a 0 20 2\ne 5 100 4 1 - 0 - 2 4");
    lab_nodes(&l, "4");
    run(&l, "min_available=gpu_min");
    cr_assert_float_eq(lab_start_s(&l, "e"), 7, 1e-9);
    cr_assert_eq(l.log.n_resizes, 1);
    /* Half speed from 7 to 22, when a has ended: 92.5 s are left. */
    cr_assert_float_eq(lab_jct_s(&l, "e"), 22 + 92.5 - 5, 1e-9);
    lab_free(&l);
    /* Two of them take what is there in turns. */
    l.rates.scale_exp = 1;
    lab_jobs(&l, "e 0 100 4 1 - 0 - 1 4\nf 0 100 4 1 - 0 - 1 4");
    lab_nodes(&l, "4");
    run(&l, "min_available=gpu_min");
    cr_assert_float_eq(lab_start_s(&l, "e"), 2, 1e-9);
    cr_assert_float_eq(lab_start_s(&l, "f"), 2, 1e-9);
    cr_assert_float_eq(lab_jct_s(&l, "e"), 2 + 200, 1e-9);
    lab_free(&l);
}

Test(volcano, preempting_an_elastic_job_takes_what_it_has_beyond_its_minimum)
{
    struct lab l = {.rates.scale_exp = 1};
    lab_jobs(&l, "e0 0 100 4 1 - 0 - 2 4\nb1 10 5 2");
    mark_jobs(&l);
    lab_nodes(&l, "4");
    run(&l, "min_available=gpu_min gate=none preempt=1");
    /* Four pods from 2 on; at 12 two are evicted, b starts at 13 and ends at 18. */
    cr_assert_float_eq(lab_start_s(&l, "b1"), 13, 1e-9);
    cr_assert_eq(l.log.n_evictions, 0);
    cr_assert_eq(l.log.n_resizes, 2);
    cr_assert_float_eq(lab_jct_s(&l, "e0"), 12 + 6 + (100 - 10 - 3), 1e-9);
    lab_free(&l);
}

Test(volcano, a_job_that_can_never_start_leaves_a_stalled_run_that_says_so)
{
    struct lab l = {0};
    lab_jobs(&l, "a 0 9 .5 3\nb 0 9 1");
    lab_nodes(&l, "2");
    run(&l, "");
    /* Three pods of a whole GPU each on two: never admitted, and nobody is held up by it. */
    cr_assert_eq(l.jobs.status[0], JOB_UNFINISHED);
    cr_assert_eq(l.jobs.status[1], JOB_DONE);
    cr_assert(l.log.stalled);
    lab_free(&l);
    /* Here it has the cluster's size, but its three GPUs go to the node of four, and then two and
     * two have no place: admitted, it keeps b out for ever. Packing finds a place. */
    for (int packs = 0; packs < 2; packs++) {
        lab_jobs(&l, "a 0 9 3\na 0 9 2 2\nb 0 9 1");
        lab_nodes(&l, "4+3");
        run(&l, packs ? "profile=helm-gpubinpack" : "");
        for (int32_t j = 0; j < 2; j++)
            cr_assert_eq(l.jobs.status[j], packs ? JOB_DONE : JOB_UNFINISHED, "%d %d", packs, j);
        lab_free(&l);
    }
}

Test(volcano, wrong_settings_are_named)
{
    static const char *const wrong[] = {"weights=x", "weights=x:0", "caps=x:-1", "weights=:1",
                                        "guarantees=default:2"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct lab l = {0};
        struct run_log log;
        struct error err = {{0}};
        lab_jobs(&l, "a 0 9 1 1 - 0 - 0 0 x");
        lab_nodes(&l, "1");
        char all[64];
        snprintf(all, sizeof all, "queues=%s %s", i == 4 ? "one" : "job", wrong[i]);
        configure(&l, all);
        struct engine_setup setup = {.policy = policy_find("volcano"),
                                     .policy_config = l.config,
                                     .jobs = &l.jobs,
                                     .cluster = &l.cluster,
                                     .rules = {.pool = -1, .share_max = 1}};
        cr_expect_eq(engine_run(&setup, &log, &err), ST_USAGE, "%s", wrong[i]);
        cr_expect(strstr(err.text, "volcano") != NULL, "%s", err.text);
        run_log_free(&log);
        lab_free(&l);
    }
}

/* Jobs of one task of whole GPUs, up to gpus_max and three instances, with priorities. */
static void draw(struct lab *l, gsl_rng *rng, int n, int gpus_max)
{
    int64_t submit_us = -3 * US_PER_S;
    for (int i = 0; i < n; i++) {
        char name[16];
        struct job_row row = job_row_empty();
        submit_us += (int64_t)gsl_rng_uniform_int(rng, 9) * US_PER_S / 4;
        row.name = name;
        row.name_length = (size_t)snprintf(name, sizeof name, "j%d", i);
        row.submit_us = submit_us;
        row.duration_us = (int64_t)gsl_rng_uniform_int(rng, 80) * US_PER_S / 4;
        row.n_inst = 1 + (int32_t)gsl_rng_uniform_int(rng, 3);
        row.gpu_milli = 1000 * (1 + (int32_t)gsl_rng_uniform_int(rng, (unsigned long)gpus_max));
        row.priority = (int32_t)gsl_rng_uniform_int(rng, 3);
        row.kind = gsl_rng_uniform_int(rng, 2) ? KIND_TRAIN : KIND_INFER;
        row.queue = names_add(&l->jobs.names, &"xyz"[gsl_rng_uniform_int(rng, 3)], 1);
        if (gsl_rng_uniform_int(rng, 4) == 0) {
            row.n_inst = 1;
            row.gpu_min = 1;
            row.gpu_max = row.gpu_milli / 1000;
        }
        cr_assert_geq(jobs_add(&l->jobs, &row), 0);
    }
    cr_assert_eq(jobs_close(&l->jobs, NULL), ST_OK);
}

Test(volcano, a_second_model_by_the_second_starts_every_job_at_the_same_time)
{
    static const struct {
        const char *settings;
        struct ref_volcano how;
    } ways[] = {
        {"", {.overcommit = true, .proportion = true}},
        {"profile=helm", {.helm = true, .overcommit = true, .proportion = true}},
        {"profile=helm-gpubinpack", {.gpus = true, .overcommit = true, .proportion = true}},
        {"profile=helm k8s_balanced=1.36",
         {.helm = true, .from_1_36 = true, .overcommit = true, .proportion = true}},
        {"gate=none", {0}},
        {"gate=proportion profile=helm-gpubinpack", {.gpus = true, .proportion = true}},
    };
    gsl_rng *rng = gsl_rng_alloc(gsl_rng_mt19937);
    for (int round = 0; round < 300; round++) {
        int way = round % 6;
        double start_s[64];
        struct lab l = {0};
        draw(&l, rng, 60, 4);
        lab_nodes(&l, round % 2 ? "4+8+2+8" : "4+4+4+4");
        for (int32_t j = 0; j < l.jobs.n_jobs; j++)
            l.jobs.gpu_max[j] = 0;
        run(&l, ways[way].settings);
        ref_volcano_run(&ways[way].how, &l.jobs, &l.cluster, start_s);
        for (int32_t j = 0; j < l.jobs.n_jobs; j++) {
            double start = l.jobs.start_us[j] == TIME_NEVER ? -1 : s_of_us(l.jobs.start_us[j]);
            cr_assert_float_eq(start, start_s[j], 1e-9, "round %d, %s: job %d starts at %g, not %g",
                               round, ways[way].settings, j, start, start_s[j]);
        }
        lab_free(&l);
    }
    gsl_rng_free(rng);
}

static const char *const settings_of_all_kinds[] = {
    "",
    "profile=helm gate=none",
    "profile=helm-gpubinpack gate=proportion k8s_balanced=1.36",
    "queues=job weights=x:2",
    "queues=pools gate=none",
    "profile=helm gate=none preempt=1",
    "queues=job gate=none preempt=1 reclaim=1",
    "min_available=gpu_min gate=none",
    "min_available=gpu_min queues=job gate=none preempt=1 reclaim=1 guarantees=x:.2",
    "vgpu=1 vgpu_order=binpack vgpu_weight=1",
    "period_s=0",
    "period_s=0 gate=none profile=helm preempt=1",
};
enum { N_SETTINGS = sizeof settings_of_all_kinds / sizeof *settings_of_all_kinds };

/* Work is conserved, places are legal (lab_run checks these) and every job ends or waits in a run
 * that stalled. */
Test(volcano, the_laws_hold_under_every_configuration)
{
    gsl_rng *rng = gsl_rng_alloc(gsl_rng_mt19937);
    int n_done = 0, n_jobs = 0, n_evictions = 0, n_resizes = 0;
    for (int round = 0; round < 12 * 15; round++) {
        struct lab l = {.restart_s = round % 3, .rates.scale_exp = .9};
        draw(&l, rng, 80, 4);
        lab_nodes(&l, round % 2 ? "4+8+2+8" : "4+4+4+4");
        run(&l, settings_of_all_kinds[round % N_SETTINGS]);
        double held = 0;
        for (int32_t j = 0; j < l.jobs.n_jobs; j++) {
            const struct job_table *t = &l.jobs;
            held += (double)t->attained_milli_us[j];
            n_done += t->status[j] == JOB_DONE;
            if (t->status[j] != JOB_DONE) {
                cr_assert(t->status[j] == JOB_UNFINISHED && l.log.stalled);
                continue;
            }
            cr_assert_float_eq(t->done_us[j], (double)t->duration_us[j], 1e-3);
            cr_assert_geq(t->start_us[j], t->submit_us[j]);
        }
        cr_assert_float_eq(l.log.held_gpu_s, held / 1e9, 1e-6 * held / 1e9 + 1e-6);
        n_jobs += l.jobs.n_jobs;
        n_evictions += (int)l.log.n_evictions;
        n_resizes += (int)l.log.n_resizes;
        lab_free(&l);
    }
    cr_assert_gt(n_done, n_jobs * 9 / 10, "%d of %d", n_done, n_jobs);
    cr_assert(n_evictions > 100 && n_resizes > 100, "%d, %d", n_evictions, n_resizes);
    gsl_rng_free(rng);
}

Test(volcano, leaving_out_idle_sessions_changes_nothing)
{
    gsl_rng *rng = gsl_rng_alloc(gsl_rng_mt19937);
    for (int round = 0; round < 5 * N_SETTINGS; round++) {
        struct lab l[2] = {{.rates.scale_exp = 1}, {.rates.scale_exp = 1}};
        unsigned long seed = gsl_rng_get(rng);
        for (int i = 0; i < 2; i++) {
            char settings[128];
            gsl_rng *its = rng_stream(seed, "jobs");
            draw(&l[i], its, 60, 4);
            gsl_rng_free(its);
            lab_nodes(&l[i], "4+8+2");
            snprintf(settings, sizeof settings, "%s skip_idle=%d",
                     settings_of_all_kinds[round % N_SETTINGS], i);
            run(&l[i], settings);
        }
        for (int32_t j = 0; j < l[0].jobs.n_jobs; j++)
            cr_assert_eq(l[0].jobs.finish_us[j], l[1].jobs.finish_us[j], "%s: job %d",
                         settings_of_all_kinds[round % N_SETTINGS], j);
        cr_assert_geq(l[0].log.n_passes, l[1].log.n_passes);
        for (int i = 0; i < 2; i++)
            lab_free(&l[i]);
    }
    gsl_rng_free(rng);
}

Test(volcano, twice_the_time_and_the_period_give_twice_every_start)
{
    gsl_rng *rng = gsl_rng_alloc(gsl_rng_mt19937);
    struct lab one = {0}, two = {0};
    draw(&one, rng, 100, 4);
    gsl_rng_set(rng, 0);
    draw(&two, rng, 100, 4);
    for (int32_t j = 0; j < two.jobs.n_jobs; j++) {
        two.jobs.submit_us[j] *= 2;
        two.jobs.duration_us[j] *= 2;
    }
    lab_nodes(&one, "4+8");
    lab_nodes(&two, "4+8");
    run(&one, "");
    run(&two, "period_s=2");
    for (int32_t j = 0; j < one.jobs.n_jobs; j++)
        cr_assert_eq(two.jobs.start_us[j], 2 * one.jobs.start_us[j], "job %d", j);
    gsl_rng_free(rng);
    lab_free(&one);
    lab_free(&two);
}

Test(volcano, ties_are_drawn_by_the_seed_and_spread_over_the_nodes)
{
    int on_first = 0;
    for (int seed = 0; seed < 200; seed++) {
        struct lab l = {0};
        struct run_log log;
        lab_jobs(&l, "a 0 9 1");
        lab_nodes(&l, "4+4+4+4");
        configure(&l, "tie=random");
        gsl_rng *rng = rng_stream((uint64_t)seed, "policy");
        struct engine_setup setup = {.policy = policy_find("volcano"),
                                     .policy_config = l.config,
                                     .jobs = &l.jobs,
                                     .cluster = &l.cluster,
                                     .rng = rng,
                                     .rules = {.pool = -1, .share_max = 1}};
        cr_assert_eq(engine_run(&setup, &log, NULL), ST_OK);
        on_first += log.span[0].node == 0;
        run_log_free(&log);
        gsl_rng_free(rng);
        lab_free(&l);
    }
    cr_assert(on_first > 30 && on_first < 70, "%d of 200 on one of four nodes", on_first);
}
