/* Gandiva: slices, pairs found by trying, hand-worked. */
#include "tests/leak.h"
#include "tests/policy_words.h"

TestSuite(gandiva, .fini = abort_on_leak, .timeout = 120);

/* jobs on nodes under settings; x beside y keeps .8 and .8, x beside z .6 and .3; starts and ends.
 */
static const struct {
    const char *jobs, *nodes, *settings, *why;
    double switch_s, start_s[4], end_s[4];
} rows[] = {
    {"a 0 90 1\nb 0 90 1", "1", "pack=off", "a, b, a until 150, b", 0, {0, 60}, {150, 180}},
    {"a 0 90 1\nb 0 90 1", "1", "pack=off slice_s=30", "turns of 30", 0, {0, 30}, {150, 180}},
    {"a 0 90 1\nb 0 90 1", "1", "pack=off", "a turn costs a restart", 5, {0, 60}, {155, 190}},
    {"a 0 90 1 1 x 1\nb 0 90 1 1 y 1", "1", "", "together at .8", 0, {0, 0}, {112.5, 112.5}},
    {"a 0 90 1 1 x 600\nb 0 90 1 1 y 600",
     "1x1000MiB",
     "",
     "no memory for two",
     0,
     {0, 60},
     {150, 180}},
    {"a 0 90 1 1 x 1\nb 0 90 1 1 z 1",
     "1",
     "",
     "parted at 60 with 36 and 18 done: a until 114, then b",
     0,
     {0, 0},
     {114, 186}},
    {"a 0 300 1 1 x 1\nb 0 300 1 1 z 1",
     "1",
     "",
     "and never together again: turns of 60 from then on",
     0,
     {0, 0},
     {564, 606}},
    {"a 0 90 1 1 x 1\nb 0 90 1 1 y 1\nc 0 30 0.5",
     "2",
     "",
     "when all fit again b moves to the other card, with 48 of 90 done",
     5,
     {0, 0, 0},
     {102, 107, 30}},
    {"a 0 120 2\nb 0 60 1\nc 0 60 1",
     "2",
     "",
     "b and c pair, a waits for the rest of the slice",
     0,
     {0, 60, 60},
     {180, 120, 120}},
    {"a 0 100 1\nb 10 5 1", "2", "", "who fits starts at once", 0, {0, 10}, {100, 15}},
    {"a 0 60 2\nb 0 60 1", "2", "", "unequal widths do not pair", 0, {0, 60}, {60, 120}},
};

Test(gandiva, each_row_of_the_table_holds)
{
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct lab l = {.truth = TRUTH_TABLE};
        char settings[64];
        lab_jobs(&l, rows[i].jobs);
        lab_nodes(&l, rows[i].nodes);
        cr_assert_eq(pairs_add(&l.pairs, "x", 1, "y", 1, .8, .8, NULL), ST_OK);
        cr_assert_eq(pairs_add(&l.pairs, "x", 1, "z", 1, .6, .3, NULL), ST_OK);
        snprintf(settings, sizeof settings, "switch_s=%g %s", rows[i].switch_s, rows[i].settings);
        configure(&l, "gandiva", settings);
        lab_run(&l, "gandiva");
        lab_expect(&l, i, rows[i].why, rows[i].start_s, rows[i].end_s, 1e-5);
        lab_free(&l);
    }
}

static void random_world(struct lab *l, unsigned long seed, int scale)
{
    char text[8192] = "";
    int t = 0;
    gsl_rng *rng = gsl_rng_alloc(gsl_rng_mt19937);
    gsl_rng_set(rng, seed);
    for (int i = 0; i < 60; i++)
        sprintf(text + strlen(text), "j%d %d %d %d 1 %c 100\n", i,
                scale * (t += (int)gsl_rng_uniform_int(rng, 60)),
                scale * (1 + (int)gsl_rng_uniform_int(rng, 600)), 1 << gsl_rng_uniform_int(rng, 3),
                "xyz"[gsl_rng_uniform_int(rng, 3)]);
    gsl_rng_free(rng);
    lab_jobs(l, text);
    lab_nodes(l, "4+4x1000MiB");
    cr_assert_eq(pairs_add(&l->pairs, "x", 1, "y", 1, .8, .8, NULL), ST_OK);
    cr_assert_eq(pairs_add(&l->pairs, "x", 1, "z", 1, .6, .3, NULL), ST_OK);
    cr_assert_eq(pairs_add(&l->pairs, "y", 1, "z", 1, .5, .4, NULL), ST_OK);
    l->truth = TRUTH_TABLE;
}

/* GPU time: what the jobs held, each counted, is at most twice what the cards were in use, and no
 * less; every job ends with all its work done. */
Test(gandiva, every_job_ends_and_the_same_seed_gives_the_same_run)
{
    for (unsigned long round = 0; round < 20; round++) {
        int64_t finish_us[60];
        for (int again = 0; again < 2; again++) {
            struct lab l = {0};
            double held = 0;
            random_world(&l, round, 1);
            configure(&l, "gandiva", "");
            lab_run(&l, "gandiva");
            for (int32_t j = 0; j < 60; j++) {
                cr_assert_eq(l.jobs.status[j], JOB_DONE);
                cr_assert_float_eq(l.jobs.done_us[j], (double)l.jobs.duration_us[j], 1);
                held += (double)l.jobs.attained_milli_us[j] / 1e9;
                cr_assert(again == 0 || finish_us[j] == l.jobs.finish_us[j]);
                finish_us[j] = l.jobs.finish_us[j];
            }
            cr_assert_leq(l.log.held_gpu_s, held + 1e-6);
            cr_assert_leq(held, 2 * l.log.held_gpu_s + 1e-6);
            lab_free(&l);
        }
    }
}

Test(gandiva, twice_the_time_with_slices_twice_as_long_is_the_same_schedule)
{
    for (unsigned long seed = 0; seed < 5; seed++) {
        struct lab one = {0}, two = {0};
        random_world(&one, seed, 1);
        random_world(&two, seed, 2);
        configure(&one, "gandiva", "");
        configure(&two, "gandiva", "slice_s=120 switch_s=2");
        lab_run(&one, "gandiva");
        lab_run(&two, "gandiva");
        for (int32_t j = 0; j < 60; j++)
            cr_assert_float_eq(s_of_us(two.jobs.finish_us[j]), 2 * s_of_us(one.jobs.finish_us[j]),
                               1e-3, "job %d", j);
        lab_free(&one);
        lab_free(&two);
    }
}
