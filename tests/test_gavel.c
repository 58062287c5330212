/* Gavel's rounds: hand-worked schedules, equal shares over time, pairs, the clock. */
#include "tests/leak.h"
#include "tests/policy_words.h"

#include <math.h>

TestSuite(gavel, .fini = abort_on_leak, .timeout = 240);

/* jobs, nodes, settings; when each job starts and ends. Rounds of 360 s. */
static const struct {
    const char *jobs, *nodes, *settings, *why;
    double restart_s, start_s[5], end_s[5];
} rows[] = {
    {"a 0 1000 1\nb 0 1000 1\nc 0 1000 1",
     "2",
     "",
     "ab, ca, bc, ab until 1360, then c alone",
     0,
     {0, 0, 360},
     {1360, 1360, 1640}},
    {"a 0 720 1\nb 0 720 1",
     "1",
     "",
     "a, b, a, b lose 10 s a turn, and 10 s of work are left to each",
     10,
     {0, 360},
     {1460, 1480}},
    {"a 0 1000 1\nb 100 10 1",
     "2",
     "",
     "b waits for the next round though a GPU is free",
     0,
     {0, 360},
     {1000, 370}},
    {"a 0 1200 1\nb 1000 10 1",
     "2",
     "",
     "rounds nobody needed are counted",
     0,
     {0, 1080},
     {1200, 1090}},
    {"a 0 100 1\nb 300 10 1",
     "1",
     "",
     "an idle cluster begins a round at once",
     0,
     {0, 300},
     {100, 310}},
    {"a 0 100 0\nb 0 1000 1\nc 0 1000 1",
     "1",
     "",
     "a job without GPUs runs beside them: b, c, b, c, b until 1720 and c",
     0,
     {0, 0, 360},
     {100, 1720, 2000}},
    {"a 0 360 4\nb 0 9000 1\nc 0 9000 1\nd 0 9000 1\ne 0 9000 1",
     "4",
     "",
     "x is 1/5 and 4/5: .2 / 180 passes .8 / 900 in the third round",
     0,
     {720, 0, 0, 0, 0},
     {1080, 9360, 9360, 9360, 9360}},
    {"a 0 1800 1\nb 1 1800 1",
     "1",
     "reset_s=0",
     "equal shares, the first job first",
     0,
     {0, 720},
     {0}},
    {"a 0 1800 1\nb 1 1800 1",
     "1",
     "reset_s=0 objective=finish-time",
     "b has had nothing of its time: .527 to .473",
     0,
     {0, 360},
     {0}},
    {"a 0 500 1 1 - 0 T4\nb 0 500 1 1 - 0 T4\nc 0 500 1 1 - 0 V100",
     "1:T4+1:V100",
     "",
     "types apart: c never waits",
     0,
     {0, 360, 0},
     {860, 1000, 500}},
};

Test(gavel, each_row_of_the_table_holds)
{
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct lab l = {.restart_s = rows[i].restart_s};
        lab_jobs(&l, rows[i].jobs);
        lab_nodes(&l, rows[i].nodes);
        configure(&l, "gavel", rows[i].settings);
        lab_run(&l, "gavel");
        for (int32_t j = 0; j < l.jobs.n_jobs; j++) {
            cr_expect_float_eq(s_of_us(l.jobs.start_us[j]), rows[i].start_s[j], 1e-9,
                               "row %zu, %s: job %d starts at %g", i, rows[i].why, j,
                               s_of_us(l.jobs.start_us[j]));
            if (rows[i].end_s[0] > 0)
                cr_expect_float_eq(s_of_us(l.jobs.finish_us[j]), rows[i].end_s[j], 1e-9,
                                   "row %zu, %s: job %d ends at %g", i, rows[i].why, j,
                                   s_of_us(l.jobs.finish_us[j]));
        }
        lab_free(&l);
    }
}

/* Max-min fairness on one type of GPU is equal GPU time, so jobs whose GPU time is equal end
 * together: with x of the time a job of s seconds ends at s / x. */
Test(gavel, equal_work_ends_together)
{
    static const struct {
        const char *jobs, *nodes;
        double end_s;
    } worlds[] = {
        {"a 0 36000 1\nb 0 36000 1\nc 0 36000 1\nd 0 36000 1\ne 0 36000 1", "2", 36000 / .4},
        {"a 0 3600 4\nb 0 14400 1\nc 0 14400 1\nd 0 14400 1\ne 0 14400 1", "4", 3600 / .2},
        {"a 0 7200 2\nb 0 7200 2\nc 0 7200 2\nd 0 14400 1\ne 0 14400 1", "4", 7200 / .4},
    };
    for (size_t i = 0; i < 3; i++) {
        struct lab l = {0};
        lab_jobs(&l, worlds[i].jobs);
        lab_nodes(&l, worlds[i].nodes);
        lab_run(&l, "gavel");
        for (int32_t j = 0; j < l.jobs.n_jobs; j++)
            cr_expect_float_eq(s_of_us(l.jobs.finish_us[j]), worlds[i].end_s, 3.5 * 360,
                               "world %zu: job %d ends at %g", i, j, s_of_us(l.jobs.finish_us[j]));
        lab_free(&l);
    }
}

static void add_pair(struct lab *l, const char *a, const char *b, double speed_a, double speed_b)
{
    cr_assert_eq(pairs_add(&l->pairs, a, strlen(a), b, strlen(b), speed_a, speed_b, NULL), ST_OK);
}

/* jobs, one GPU of 1000 MiB; x and y keep .8 and .8, x and z .9 and .4; when jobs end. */
static const struct {
    const char *jobs, *settings, *why;
    double end_s[3];
} paired[] = {
    {"a 0 720 1 1 x 100\nb 0 720 1 1 y 100", "", "no pairs unless asked for", {1080, 1440}},
    {"a 0 720 1 1 x 100\nb 0 720 1 1 y 100", "pairs=on", "together at .8", {900, 900}},
    {"a 0 720 1 1 x 600\nb 0 720 1 1 y 600", "pairs=on", "not enough memory", {1080, 1440}},
    {"a 0 720 1 1 x 100\nb 0 720 1 1 w 100", "pairs=on", "not measured", {1080, 1440}},
    {"a 0 720 1 1 x 100\nb 0 720 1 1 y 100",
     "pairs=on objective=finish-time",
     "rho is 720 / .8 over 1440",
     {900, 900}},
    /* Together 2/3 of the time, then b alone: two pairs' rounds to one. At 360 the pair is due
     * again (2/3 / 540 against 1/3 / 180: the same, and the lower unit, b alone, goes first). */
    {"a 0 648 1 1 x 100\nb 0 648 1 1 z 100", "pairs=on", "pair, b, pair", {1080, 1080}},
};

Test(gavel, pairs_share_where_both_were_measured_and_gain)
{
    for (size_t i = 0; i < sizeof paired / sizeof *paired; i++) {
        struct lab l = {.truth = TRUTH_TABLE};
        lab_jobs(&l, paired[i].jobs);
        lab_nodes(&l, "1x1000MiB");
        add_pair(&l, "x", "y", .8, .8);
        add_pair(&l, "x", "z", .9, .4);
        configure(&l, "gavel", paired[i].settings);
        lab_run(&l, "gavel");
        for (int32_t j = 0; j < l.jobs.n_jobs; j++)
            cr_expect_float_eq(s_of_us(l.jobs.finish_us[j]), paired[i].end_s[j], 1e-6,
                               "row %zu, %s: job %d ends at %g", i, paired[i].why, j,
                               s_of_us(l.jobs.finish_us[j]));
        lab_free(&l);
    }
}

/* With pairs, class by class: four alike on two GPUs keep .75 beside each other, which is better
 * than half of the time each. */
Test(gavel, many_of_one_class_share_evenly)
{
    struct lab l = {.truth = TRUTH_TABLE};
    lab_jobs(&l, "a 0 7200 1 1 x 1\nb 0 7200 1 1 x 1\nc 0 7200 1 1 x 1\nd 0 7200 1 1 x 1");
    lab_nodes(&l, "2");
    add_pair(&l, "x", "x", .75, .75);
    configure(&l, "gavel", "pairs=on");
    lab_run(&l, "gavel");
    for (int32_t j = 0; j < 4; j++)
        cr_expect_float_eq(s_of_us(l.jobs.finish_us[j]), 9600, 1e-6);
    cr_expect_eq(l.log.n_evictions, 0, "nobody has to move");
    lab_free(&l);
}

Test(gavel, pairs_without_measurements_are_refused)
{
    struct lab l = {0};
    lab_jobs(&l, "a 0 10 1");
    lab_nodes(&l, "1");
    configure(&l, "gavel", "pairs=on");
    struct run_log log;
    struct error err = {{0}};
    struct engine_setup setup = {.policy = policy_find("gavel"),
                                 .policy_config = l.config,
                                 .jobs = &l.jobs,
                                 .cluster = &l.cluster,
                                 .rules = {.pool = -1, .share_max = 1}};
    cr_assert_eq(engine_run(&setup, &log, &err), ST_USAGE);
    cr_assert_not_null(strstr(err.text, "--pairs"), "%s", err.text);
    run_log_free(&log);
    lab_free(&l);
}

Test(gavel, rounds_that_can_change_nothing_are_not_made)
{
    struct lab l = {0};
    lab_jobs(&l, "a 0 360000 1\nb 0 360000 1");
    lab_nodes(&l, "2");
    lab_run(&l, "gavel");
    cr_assert_eq(l.log.n_passes, 2, "%d passes", (int)l.log.n_passes);
    lab_free(&l);
}

/* Measured pairs of a few workloads for a random table. */
static void random_world(struct lab *l, gsl_rng *rng, int n, int seconds)
{
    char text[8192] = "";
    int t = 0;
    for (int i = 0; i < n; i++)
        sprintf(text + strlen(text), "j%d %d %d %d 1 w%d 100\n", i,
                t += (int)gsl_rng_uniform_int(rng, 2 * (unsigned long)seconds / 10),
                1 + (int)gsl_rng_uniform_int(rng, (unsigned long)seconds),
                1 << gsl_rng_uniform_int(rng, 3), (int)gsl_rng_uniform_int(rng, 4));
    lab_jobs(l, text);
    lab_nodes(l, "4+4x1000MiB");
    for (int a = 0; a < 4; a++)
        for (int b = a; b < 4; b++) {
            char x[4] = {'w', (char)('0' + a), 0}, y[4] = {'w', (char)('0' + b), 0};
            double keeps = .4 + .5 * gsl_rng_uniform(rng);
            add_pair(l, x, y, keeps, a == b ? keeps : .4 + .5 * gsl_rng_uniform(rng));
        }
    l->truth = TRUTH_TABLE;
}

static const char *const settings[] = {"", "pairs=on", "objective=finish-time",
                                       "objective=finish-time pairs=on", "pairs=on pair_classes=2"};

Test(gavel, the_same_run_twice_is_the_same_and_every_job_ends)
{
    for (unsigned long round = 0; round < 25; round++) {
        int64_t finish_us[60];
        for (int again = 0; again < 2; again++) {
            struct lab l = {.restart_s = 5};
            gsl_rng *rng = gsl_rng_alloc(gsl_rng_mt19937);
            gsl_rng_set(rng, round);
            random_world(&l, rng, 60, 4000);
            configure(&l, "gavel", settings[round % 5]);
            lab_run(&l, "gavel");
            for (int32_t j = 0; j < 60; j++) {
                cr_assert_eq(l.jobs.status[j], JOB_DONE);
                cr_assert_float_eq(l.jobs.done_us[j], (double)l.jobs.duration_us[j], 1);
                cr_assert(again == 0 || finish_us[j] == l.jobs.finish_us[j]);
                finish_us[j] = l.jobs.finish_us[j];
            }
            gsl_rng_free(rng);
            lab_free(&l);
        }
    }
}

/* Its own clock (rounds, resets) has to be slowed down with the jobs for a schedule to scale. */
Test(gavel, twice_the_time_with_rounds_twice_as_long_is_the_same_schedule)
{
    static const char *const slow[] = {"round_s=720 reset_s=3840",
                                       "round_s=720 reset_s=3840 pairs=on",
                                       "round_s=720 reset_s=3840 objective=finish-time"};
    for (int i = 0; i < 3; i++) {
        struct lab one = {.restart_s = 3}, two = {.restart_s = 6};
        gsl_rng *rng = gsl_rng_alloc(gsl_rng_mt19937);
        random_world(&one, rng, 60, 3000);
        gsl_rng_set(rng, 0);
        random_world(&two, rng, 60, 3000);
        for (int32_t j = 0; j < 60; j++) {
            two.jobs.submit_us[j] *= 2;
            two.jobs.duration_us[j] *= 2;
        }
        configure(&one, "gavel", settings[i]);
        configure(&two, "gavel", slow[i]);
        lab_run(&one, "gavel");
        lab_run(&two, "gavel");
        for (int32_t j = 0; j < 60; j++)
            cr_assert_float_eq(s_of_us(two.jobs.finish_us[j]), 2 * s_of_us(one.jobs.finish_us[j]),
                               1e-4, "job %d", j);
        gsl_rng_free(rng);
        lab_free(&one);
        lab_free(&two);
    }
}
