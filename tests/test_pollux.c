/* Pollux's rounds: hand-worked widths, speeds by goodput, models from a file. */
#include "policies/peers/pollux_goodput.h"
#include "tests/leak.h"
#include "tests/policy_words.h"

#include <math.h>

TestSuite(pollux, .fini = abort_on_leak, .timeout = 240);

/* Jobs whose name begins with e are elastic, from one GPU to 8, and offline inference: their speed
 * is in proportion to their GPUs. */
static void make_elastic(struct lab *l)
{
    for (int32_t j = 0; j < l->jobs.n_jobs; j++) {
        if (names_text(&l->jobs.job_names, j)[0] != 'e')
            continue;
        l->jobs.gpu_min[j] = 1;
        l->jobs.gpu_max[j] = 8;
        l->jobs.kind[j] = KIND_INFER;
    }
}

/* One node of 8 GPUs; rounds of 60 s, a restart 30 s. */
static const struct {
    const char *jobs, *why;
    double start_s[3], end_s[3];
} rows[] = {
    {"e 0 100 1 4", "alone it has all eight GPUs, twice what it asked for", {0}, {50}},
    {"e 0 100 1 4\nee 0 100 1 4", "two of four GPUs each", {0, 0}, {100, 100}},
    /* At 60 e has done 120 s at speed 2; four for each cost 11.9 + 7.9, with e's restart counted at
     * 60 / 90, and anything else more. e goes on at 90; ee ends at 160; at 180 e, with 210 done,
     * restarts on eight: 8/8 x 150/210 against 4/8. It goes on at 210 with 190 left. */
    {"e 0 400 1 4\nee 30 100 1 4", "shrinks for another and grows again", {0, 60}, {305, 160}},
    {"r 0 100 8\ns 10 10 1", "nobody stops a rigid job for a newcomer", {0, 100}, {100, 110}},
    {"r 0 100 4\ne 0 100 1 4", "an elastic job beside a rigid one", {0, 0}, {100, 100}},
    {"r 0 100 0.5\ns 0 100 0\ne 0 100 1 4",
     "fractions and no GPU at all",
     {0, 0, 0},
     {100, 100, 400. / 7}},
};

Test(pollux, each_row_of_the_table_holds)
{
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct lab l = {0};
        lab_jobs(&l, rows[i].jobs);
        lab_nodes(&l, "8");
        make_elastic(&l);
        lab_run(&l, "pollux");
        lab_expect(&l, i, rows[i].why, rows[i].start_s, rows[i].end_s, 1e-5);
        lab_free(&l);
    }
}

Test(pollux, a_training_job_runs_at_its_goodput_over_that_of_the_width_it_asked_for)
{
    static const struct {
        const char *workload, *model, *nodes;
        int32_t gpus, over_nodes;
    } worlds[] = {{"bert", "bert", "8", 8, 1},
                  {"whatever", "imagenet", "8", 8, 1},
                  {"cifar10", "cifar10", "4+4", 8, 2}};
    for (size_t i = 0; i < 3; i++) {
        struct lab l = {0};
        char text[64];
        snprintf(text, sizeof text, "a 0 1000 1 2 %s", worlds[i].workload);
        lab_jobs(&l, text);
        lab_nodes(&l, worlds[i].nodes);
        l.jobs.gpu_min[0] = l.jobs.gpu_max[0] = worlds[i].gpus;
        lab_run(&l, "pollux");
        const struct goodput *g = goodput_model(worlds[i].model);
        double speed =
            goodput_best(g, worlds[i].over_nodes, worlds[i].gpus) / goodput_best(g, 1, 2);
        cr_expect_gt(speed, 1);
        cr_expect_float_eq(lab_jct_s(&l, "a"), 1000 / speed, 1e-5);
        lab_free(&l);
    }
}

static const char *const columns[] = {"workload",  "alpha_c",  "beta_c",  "alpha_r", "beta_r",
                                      "alpha_n",   "beta_n",   "gamma",   "noise",   "batch_0",
                                      "batch_max", "card_min", "card_max"};

static enum status run_with(struct lab *l, const char **cells, struct error *err)
{
    const char *names[13];
    struct table table = {1, 13, names, cells, NULL, NULL, {0}};
    struct run_log log;
    for (int c = 0; c < 13; c++)
        names[c] = columns[c];
    lab_jobs(l, "a 0 600 1 2 mine");
    lab_nodes(l, "8");
    l->jobs.gpu_min[0] = l->jobs.gpu_max[0] = 6;
    configure(l, "pollux", "");
    struct engine_setup setup = {.policy = policy_find("pollux"),
                                 .policy_config = l->config,
                                 .tables = &table,
                                 .jobs = &l->jobs,
                                 .cluster = &l->cluster,
                                 .rules = {.pool = -1, .share_max = 1}};
    enum status status = engine_run(&setup, &log, err);
    run_log_free(&log);
    return status;
}

Test(pollux, models_of_a_file_come_before_the_built_in_ones)
{
    /* No synchronising, noise without end: goodput in proportion to the GPUs. */
    const char *cells[] = {"mine", "0", "1", "0", "0", "0", "0", "1", "1e30", "1", "1e6", "1", "1"};
    struct lab l = {0};
    struct error err = {{0}};
    cr_assert_eq(run_with(&l, cells, &err), ST_OK, "%s", err.text);
    cr_assert_float_eq(lab_jct_s(&l, "a"), 200, 1e-4);
    lab_free(&l);
}

Test(pollux, a_bad_file_of_models_is_refused)
{
    const char *cells[] = {"mine", "x", "1", "0", "0", "0", "0", "1", "1e30", "1", "1e6", "1", "1"};
    struct lab l = {0};
    struct error err = {{0}};
    cr_assert_eq(run_with(&l, cells, &err), ST_INPUT);
    cr_assert_not_null(strstr(err.text, "alpha_c"), "%s", err.text);
    lab_free(&l);
}

static void random_world(struct lab *l, unsigned long seed, int scale)
{
    static const char *const workload[] = {"bert", "cifar10", "imagenet", "yolov3", "-"};
    char text[8192] = "";
    int t = 0;
    gsl_rng *rng = gsl_rng_alloc(gsl_rng_mt19937);
    gsl_rng_set(rng, seed);
    for (int i = 0; i < 60; i++) {
        bool elastic = gsl_rng_uniform_int(rng, 3) > 0;
        int gpus = 1 << gsl_rng_uniform_int(rng, 3);
        sprintf(text + strlen(text), "%c%d %d %d %d %d %s\n", elastic ? 'e' : 'r', i,
                scale * (t += (int)gsl_rng_uniform_int(rng, 100)),
                scale * (1 + (int)gsl_rng_uniform_int(rng, 900)), elastic ? 1 : gpus,
                elastic ? gpus : 1, workload[gsl_rng_uniform_int(rng, 5)]);
    }
    gsl_rng_free(rng);
    lab_jobs(l, text);
    lab_nodes(l, "4+4+4");
    make_elastic(l);
    for (int32_t j = 0; j < 60; j++)
        l->jobs.kind[j] = j % 4 == 0 ? KIND_INFER : KIND_TRAIN;
}

Test(pollux, every_job_ends_between_its_widths_and_the_same_run_is_the_same)
{
    for (unsigned long round = 0; round < 12; round++) {
        int64_t finish_us[60];
        for (int again = 0; again < 2; again++) {
            struct lab l = {0};
            random_world(&l, round, 1);
            lab_run(&l, "pollux");
            for (int32_t j = 0; j < 60; j++) {
                cr_assert_eq(l.jobs.status[j], JOB_DONE);
                cr_assert_float_eq(l.jobs.done_us[j], (double)l.jobs.duration_us[j], 1);
                cr_assert(again == 0 || finish_us[j] == l.jobs.finish_us[j]);
                finish_us[j] = l.jobs.finish_us[j];
            }
            lab_free(&l);
        }
    }
}

Test(pollux, twice_the_time_with_rounds_and_restarts_twice_as_long_is_the_same_schedule)
{
    for (unsigned long seed = 0; seed < 5; seed++) {
        struct lab one = {0}, two = {0};
        random_world(&one, seed, 1);
        random_world(&two, seed, 2);
        configure(&two, "pollux", "round_s=120 restart_s=60");
        lab_run(&one, "pollux");
        lab_run(&two, "pollux");
        for (int32_t j = 0; j < 60; j++)
            cr_assert_float_eq(s_of_us(two.jobs.finish_us[j]), 2 * s_of_us(one.jobs.finish_us[j]),
                               1e-3, "job %d", j);
        lab_free(&one);
        lab_free(&two);
    }
}
