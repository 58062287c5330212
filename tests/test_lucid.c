/* Lucid by hand: who packs with whom and how fast, its mistakes one by one, profiling, sharing. */
#include "policies/registry.h"
#include "tests/leak.h"
#include "tests/lucid_lab.h"
#include "tests/temp.h"

#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

TestSuite(lucid, .fini = abort_on_leak, .timeout = 60);

static const char labels[] = "workload,label\nx,0\ny,1\nz,2\n";
static const char rates[] = "workload1,workload2,speed1,speed2\nx,y,0.8,0.5\nx,x,1.25,0.5\n"
                            "y,y,0.5,0.5\n";

/* Jobs on a cluster without pools; every priority is the true duration x GPUs. */
static struct lab run(const char *jobs, const char *nodes, const char *settings)
{
    struct lab l = {0};
    char all[256];
    lab_jobs(&l, jobs);
    lab_nodes(&l, nodes);
    lab_table(&l, LUCID_LABELS, labels);
    lab_table(&l, LUCID_RATES, rates);
    snprintf(all, sizeof all, "rates=given estimate=oracle %s", settings);
    lab_settings(&l, "lucid", all);
    lab_run(&l, "lucid");
    return l;
}

Test(lucid, a_pair_runs_at_the_measured_speeds_until_one_ends)
{
    struct lab l = run("a 0 100 1 1 x 1000\nb 10 50 1 1 y 1000", "1", "");
    cr_assert_float_eq(lab_jct_s(&l, "b"), 50 / .5, 1e-6);
    cr_assert_float_eq(lab_jct_s(&l, "a"), 10 + 100 + 10, 1e-6, "80 s of work while b was there");
    lab_free(&l);
}

Test(lucid, recovery_the_younger_has_its_full_speed_back_when_the_older_ends)
{
    static const char jobs[] = "a 0 50 1 1 x 1000\nb 10 50 1 1 y 1000\nc 61 10 1 1 y 1000";
    /* a has 40 left at 10 and ends at 60; b has 25 left then. c may join b, or nobody. */
    struct lab l = run(jobs, "1", "");
    cr_assert_float_eq(lab_jct_s(&l, "a"), 60, 1e-6);
    cr_assert_float_eq(lab_start_s(&l, "c"), 61, 1e-9);
    cr_assert_float_eq(lab_jct_s(&l, "c"), 20, 1e-6);
    cr_assert_float_eq(lab_jct_s(&l, "b"), 61 - 10 + 20 + (24 - 10), 1e-6);
    lab_free(&l);
    l = run(jobs, "1", "recovery=artifact");
    cr_assert_float_eq(lab_jct_s(&l, "a"), 60, 1e-6);
    cr_assert_float_eq(lab_jct_s(&l, "b"), 50 + 25 / .5, 1e-6);
    cr_assert_float_eq(lab_start_s(&l, "c"), 110, 1e-6);
    lab_free(&l);
}

Test(lucid, a_job_joins_the_one_that_started_first_also_when_that_had_company_before)
{
    /* On two cards: a and c. b joins a and ends at 40; then d comes. */
    struct lab l = run("a 0 400 1 1 x 1000\nc 5 400 1 1 x 1000\nb 20 10 1 1 y 1000\n"
                       "d 50 10 1 1 y 1000\ne 51 10 1 1 y 1000",
                       "2", "");
    int32_t card[5] = {0};
    for (size_t i = 0; i < l.log.n_spans; i++)
        card[l.jobs.task_job[l.log.span[i].task]] = l.log.span[i].first_gpu;
    cr_assert(card[2] == card[0] && card[3] == card[0], "b and d beside a");
    cr_assert_eq(card[4], card[1], "e beside c: nobody makes three");
    lab_free(&l);
}

/* The second may join the first at once, but for one thing. */
static const struct {
    const char *jobs, *settings, *nodes;
    bool joins;
    const char *why;
} pairs[] = {
    {"a 0 100 1 1 x 1000\nb 1 100 1 1 y 1000", "", "1", true, "nothing is in the way"},
    {"a 0 100 2 1 x 1000\nb 1 100 1 1 y 1000", "", "2", false, "other GPUs"},
    {"a 0 100 2 1 x 1000\nb 1 100 2 1 y 1000", "", "2", true, "two GPUs of one node"},
    {"a 0 100 1 2 x 1000\nb 1 100 1 2 y 1000", "", "2", false, "several instances"},
    {"a 0 100 .9 1 x 1000\nb 1 100 .9 1 y 1000", "", "1", false, "parts of a card"},
    {"a 0 100 1 1 x 12288\nb 1 100 1 1 y 12288", "", "1", false, "no memory is left over"},
    {"a 0 100 1 1 x 12288\nb 1 100 1 1 y 12287", "", "1", true, "a MiB is"},
    {"a 0 100 1 1 x 12288\nb 1 100 1 1 y 12287", "gpu_mem_mib=24575", "1", false, "less memory"},
    {"a 0 100 1 1 x 12288\nb 1 100 1 1 y 12287", "", "1x24575MiB", false, "the card's own word"},
    {"a 0 100 1 1 x 1000\nb 1 100 1 1 y 0", "", "1", false, "nobody told its memory"},
    {"a 0 100 1 1 x 1000\nb 1 201 1 1 y 1000", "", "1", false, "not urgent enough"},
    {"a 0 100 1 1 x 1000\nb 1 200 1 1 y 1000", "", "1", true, "just so"},
    {"a 0 100 1 1 x 1000\nb 1 201 1 1 y 1000", "priority_ratio=2.5", "1", true, "by the setting"},
    {"a 0 100 1 1 y 1000\nb 1 100 1 1 y 1000", "", "1", true, "medium and medium"},
    {"a 0 100 1 1 y 1000\nb 1 100 1 1 y 1000", "score_max=1", "1", false, "by the setting"},
    {"a 0 100 1 1 z 1000\nb 1 100 1 1 y 1000", "unmeasured=artifact", "1", false, "jumbo, medium"},
    {"a 0 100 1 1 z 1000\nb 1 100 1 1 x 1000", "unmeasured=artifact", "1", true, "jumbo, tiny"},
    {"a 0 100 1 1 z 1000\nb 1 100 1 1 x 1000", "", "1", false, "a pair nobody measured"},
    {"a 0 100 1 1 w 1000\nb 1 100 1 1 y 1000", "unmeasured=artifact", "1", true, "medium unless"},
    {"a 0 100 1 1 w 1000\nb 1 100 1 1 y 1000", "unmeasured=artifact unlabelled=jumbo", "1", false,
     "it is set otherwise"},
    {"a 0 100 1 1 w 1000\nb 1 100 1 1 x 1000", "unmeasured=artifact unlabelled=never score_max=4",
     "1", false, "never is never"},
    {"a 0 100 1 1 x 1000\nb 1 100 1 1 y 1000", "sharing=off", "1", false, "sharing is off"},
    {"a 0 100 1 1 x 1000\nb 1 100 1 1 y 1000", "", "1+1", false, "there is an idle GPU"},
    {"a 0 100 1 1 x 1000\nb 1 100 1 1 y 1000", "free_gpus=artifact", "1+1", true, "all the same"},
};

Test(lucid, who_may_join_whom)
{
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        struct lab l = run(pairs[i].jobs, pairs[i].nodes, pairs[i].settings);
        bool beside = l.jobs.start_us[1] == US_PER_S && l.log.span[0].node == l.log.span[1].node &&
                      l.log.span[0].first_gpu == l.log.span[1].first_gpu;
        cr_expect_eq(beside, pairs[i].joins, "%s; %s: %s", pairs[i].jobs, pairs[i].settings,
                     pairs[i].why);
        lab_free(&l);
    }
}

Test(lucid, gains_a_speed_above_1_counts_only_in_the_artifact)
{
    /* b joins a at 1 at the row's first speed, a has the second while b runs. */
    static const char jobs[] = "a 0 100 1 1 x 1000\nb 1 50 1 1 x 1000";
    struct lab l = run(jobs, "1", "");
    cr_assert_float_eq(lab_jct_s(&l, "b"), 50, 1e-6);
    cr_assert_float_eq(lab_jct_s(&l, "a"), 1 + 50 + (99 - 25), 1e-6);
    lab_free(&l);
    l = run(jobs, "1", "gains=artifact");
    cr_assert_float_eq(lab_jct_s(&l, "b"), 40, 1e-6);
    cr_assert_float_eq(lab_jct_s(&l, "a"), 1 + 40 + (99 - 20), 1e-6);
    lab_free(&l);
}

Test(lucid, unmeasured_four_models_of_the_artifact_are_never_slowed_and_never_slow)
{
    static const char *const model[] = {"NeuMF", "ResNet50", "BERT", "Transformer", "NeuMF2"};
    for (int i = 0; i < 5; i++) {
        struct lab l = {0};
        char text[256];
        snprintf(text, sizeof text, "a 0 100 1 1 %s/d/8/0 1000\nb 0 80 1 1 m/d/8/1 1000", model[i]);
        lab_jobs(&l, text);
        lab_nodes(&l, "1");
        snprintf(text, sizeof text,
                 "model1,dataset1,batchsize1,amp1,speed1,model2,dataset2,batchsize2,amp2,speed2\n"
                 "%s,d,8,0,0.5,m,d,8,1,0.5\n",
                 model[i]);
        lab_table(&l, LUCID_RATES, text);
        lab_table(&l, LUCID_LABELS,
                  "model,dataset,batchsize,amp,speed,label\nm,d,8,1,9.5,0\nm,d,8,0,9.5,2\n");
        lab_settings(&l, "lucid", "rates=given estimate=oracle unmeasured=artifact");
        lab_run(&l, "lucid");
        cr_expect_float_eq(lab_jct_s(&l, "b"), i < 4 ? 80 : 160, 1e-6, "%s", model[i]);
        lab_free(&l);
    }
}

Test(lucid, the_least_estimated_gpu_time_goes_first_and_others_pass_what_does_not_fit)
{
    static const char jobs[] = "a 0 100 3\nb 1 30 4\nc 2 50 1\nd 3 70 1";
    /* b (120 GPU-s) is behind c (50) and d (70), which fit beside a one after the other. */
    struct lab l = run(jobs, "4", "");
    cr_assert_float_eq(lab_start_s(&l, "c"), 2, 1e-9);
    cr_assert_float_eq(lab_start_s(&l, "d"), 52, 1e-9);
    cr_assert_float_eq(lab_start_s(&l, "b"), 122, 1e-9);
    lab_free(&l);
    l = run("a 0 100 3\nb 1 10 4\nc 2 50 1", "4", "");
    cr_assert_float_eq(lab_start_s(&l, "c"), 2, 1e-9, "behind b, and past it");
    lab_free(&l);
    l = run("a 0 100 3\nb 1 10 4\nc 2 50 1", "4", "sharing=off");
    cr_assert_float_eq(lab_start_s(&l, "b"), 100, 1e-9);
    cr_assert_float_eq(lab_start_s(&l, "c"), 110, 1e-9, "held up by b");
    lab_free(&l);
}

Test(lucid, sharing_follows_the_forecast_at_multiples_of_a_hundred_seconds)
{
    /* Rows at 50, 650, 1250 …: until 50 the mean of rows 0-4 is 2, not more than 2. From 50 on it
     * is 3 (rows 1-5), which is seen at 100. From 650 on it is 1.8, seen at 700. */
    struct lab l = {0};
    lab_jobs(&l, "a 0 5000 1 1 x 1000\nb 10 3000 1 1 x 1000\nc 0 5000 1 1 y 1000\n"
                 "d 705 1 1 1 y 1000\ne 690 1 1 1 y 1000\ng 0 6000 1 1 y 1000");
    lab_nodes(&l, "3");
    lab_table(&l, LUCID_FORECAST,
              "pred_gpu_job,pred_gpu_num\n0,0\n6,0\n2,0\n1,0\n1,0\n5,0\n0,0\n0,0\n0,0\n");
    lab_table(&l, LUCID_LABELS, labels);
    lab_settings(&l, "lucid", "estimate=oracle forecast=given forecast_from_s=50 spare=");
    lab_run(&l, "lucid");
    cr_assert_float_eq(lab_start_s(&l, "b"), 100, 1e-9);
    cr_assert_float_eq(lab_start_s(&l, "e"), 690, 1e-9, "still on");
    cr_assert_gt(lab_start_s(&l, "d"), 3000, "off until the last row has passed or a job ends");
    lab_free(&l);
}

/* Pool p lends nothing; the profiler is one node of 8 of pool q's two. */
static struct lab profiled(const char *jobs, const char *pools, const char *settings)
{
    struct lab l = {0};
    char all[256];
    lab_jobs(&l, jobs);
    lab_pools(&l, pools);
    snprintf(all, sizeof all, "estimate=oracle %s", settings);
    lab_settings(&l, "lucid", all);
    lab_run(&l, "lucid");
    return l;
}

Test(lucid, the_smallest_are_profiled_first_and_the_short_ones_end_there)
{
    struct lab l = profiled("a 0 150 8 1 - 0 - 0 0 q\nb 1 201 4 1 - 0 - 0 0 q\n"
                            "c 2 30 2 1 - 0 - 0 0 q\nd 3 10 8 2 - 0 - 0 0 q",
                            "q:3", "profiler=q");
    cr_assert_float_eq(lab_start_s(&l, "d"), 3, 1e-9, "wider than a node: not profiled");
    cr_assert_float_eq(lab_jct_s(&l, "a"), 150, 1e-9);
    cr_assert(lab_profile_s(&l, "a") == 0 && isnan(lab_profile_s(&l, "d")));
    cr_assert_float_eq(lab_profile_s(&l, "c"), 150, 1e-9, "before b");
    cr_assert_float_eq(lab_jct_s(&l, "c"), 178, 1e-9);
    cr_assert_float_eq(lab_profile_s(&l, "b"), 150, 1e-9, "there is room beside c");
    cr_assert_float_eq(lab_start_s(&l, "b"), 350, 1e-9);
    cr_assert_float_eq(lab_jct_s(&l, "b"), 350 + 201 - 1, 1e-9, "from the beginning");
    cr_assert_float_eq(lab_metric(&l, METRIC_profiling_gpu_s), 150 * 8 + 200 * 4 + 30 * 2, 1e-9);
    lab_free(&l);
}

Test(lucid, profiling_takes_no_time_for_longer_jobs_in_the_artifact)
{
    struct lab l = profiled("a 0 150 8 1 - 0 - 0 0 q\nb 1 201 4 1 - 0 - 0 0 q", "q:3",
                            "profiler=q profiling=artifact profile_s=100");
    cr_assert_float_eq(lab_jct_s(&l, "a"), 150, 1e-9);
    cr_assert_float_eq(lab_jct_s(&l, "b"), 201, 1e-9);
    cr_assert_float_eq(lab_profile_s(&l, "b"), 100, 1e-9, "while it runs");
    lab_free(&l);
}

/* Twelve jobs of a whole node arrive at 5: one is profiled, eleven wait. At 10 the profiler asks
 * for a node. */
static const char burst[] =
    "a 5 60 8 1 - 0 - 0 0 q\nb 5 60 8 1 - 0 - 0 0 q\nc 5 60 8 1 - 0 - 0 0 q\n"
    "d 5 60 8 1 - 0 - 0 0 q\ne 5 60 8 1 - 0 - 0 0 q\nf 5 60 8 1 - 0 - 0 0 q\n"
    "g 5 60 8 1 - 0 - 0 0 q\nh 5 60 8 1 - 0 - 0 0 q\ni 5 60 8 1 - 0 - 0 0 q\n"
    "j 5 60 8 1 - 0 - 0 0 q\nk 5 60 8 1 - 0 - 0 0 q\nl 5 60 8 1 - 0 - 0 0 q\n"
    "m 0 20 8 2 - 0 - 0 0 lend\nn 21 30 8 2 - 0 - 0 0 lend";

Test(lucid, a_long_queue_borrows_an_idle_node_and_a_short_one_gives_it_back)
{
    /* m holds both nodes of the lender until 20: at 10 it has none, at 20 it has. n waits for two
     * nodes; eleven jobs, two at a time from 20 on: the queue is below five from 125 on (b at 20,
     * c at 65, d 80, e 125, f 140, g 185 …). At 200 somebody sits on the node, at 300 too. */
    struct lab l = profiled(burst, "q:2 lend:2", "profiler=q lender=lend");
    cr_assert_float_eq(lab_profile_s(&l, "a"), 5, 1e-9);
    cr_assert_float_eq(lab_profile_s(&l, "b"), 20, 1e-9);
    cr_assert_float_eq(lab_profile_s(&l, "c"), 65, 1e-9);
    cr_assert_float_eq(lab_profile_s(&l, "l"), 320, 1e-9);
    cr_assert_float_eq(lab_start_s(&l, "n"), 400, 1e-9, "when the node is back");
    lab_free(&l);
}

Test(lucid, the_artifact_makes_a_node_from_nothing_where_none_is_idle)
{
    struct lab l =
        profiled(burst, "q:2 lend:2 spare:1", "profiler=q lender=lend semantics=artifact");
    cr_assert_float_eq(lab_profile_s(&l, "b"), 11, 1e-9, "asked for at 10, there a second later");
    cr_assert_float_eq(lab_start_s(&l, "n"), 21, 1e-9, "the lender has kept its nodes");
    lab_free(&l);
    l = profiled(burst, "q:2 lend:2 spare:1", "profiler=q lender=lend");
    cr_assert_float_eq(lab_profile_s(&l, "b"), 20, 1e-9, "repaired: the spare one stays idle");
    lab_free(&l);
}

Test(lucid, without_rates_pairs_are_as_fast_as_the_run_says_and_only_measured_ones_are_made)
{
    struct lab l = {.truth = TRUTH_TABLE};
    lab_jobs(&l, "a 0 100 1 1 x 1000\nb 10 40 1 1 y 1000\nc 10 40 1 1 w 1000");
    lab_nodes(&l, "1");
    cr_assert_eq(pairs_add(&l.pairs, "x", 1, "y", 1, 0.8, 0.8, NULL), ST_OK);
    lab_settings(&l, "lucid", "estimate=oracle");
    lab_run(&l, "lucid");
    cr_assert_float_eq(lab_jct_s(&l, "b"), 50, 1e-6);
    cr_assert_float_eq(lab_jct_s(&l, "a"), 10 + 50 + 50, 1e-6);
    cr_assert_float_eq(lab_start_s(&l, "c"), 110, 1e-6, "the tie at 10 went to b");
    lab_free(&l);
}

Test(lucid, jobs_of_a_catalog_are_scored_by_their_sm_activity)
{
    static const char catalog[] =
        "{\"workloads\": ["
        "{\"name\": \"t\", \"kind\": \"train\", \"model\": \"measured\", \"card\": \"a100-40g\", "
        "\"unit\": \"img\", \"knobs\": {\"bs\": [1]}, \"profiles\": ["
        "{\"bs\": 1, \"rate\": 10, \"sm\": 0.24, \"fb_mib\": 9000}]}, "
        "{\"name\": \"m\", \"kind\": \"train\", \"model\": \"measured\", \"card\": \"a100-40g\", "
        "\"unit\": \"img\", \"knobs\": {\"bs\": [1]}, \"profiles\": ["
        "{\"bs\": 1, \"rate\": 10, \"sm\": 0.25, \"fb_mib\": 9000}]}, "
        "{\"name\": \"j\", \"kind\": \"train\", \"model\": \"measured\", \"card\": \"a100-40g\", "
        "\"unit\": \"img\", \"knobs\": {\"bs\": [1]}, \"profiles\": ["
        "{\"bs\": 1, \"rate\": 10, \"sm\": 0.58, \"fb_mib\": 9000}]}]}";
    static const struct {
        const char *a, *b;
        bool joins;
    } scored[] = {{"t", "j", true}, {"m", "m", true}, {"m", "j", false}, {"j", "j", false}};
    struct temp_file file = temp_text(".json", catalog);
    for (size_t i = 0; i < sizeof scored / sizeof *scored; i++) {
        struct lab l = {.truth = TRUTH_NONE};
        char jobs[128];
        snprintf(jobs, sizeof jobs, "a 0 100 1 1 %s\nb 1 100 1 1 %s", scored[i].a, scored[i].b);
        lab_jobs(&l, jobs);
        lab_nodes(&l, "1x40960MiB:a100-40g");
        l.catalog = file.path;
        l.submitted = SUBMITTED_DEFAULT;
        l.mps = 1;
        lab_settings(&l, "lucid", "estimate=oracle");
        lab_run(&l, "lucid");
        cr_expect_eq(lab_start_s(&l, "b") == 1, scored[i].joins, "%s beside %s", scored[i].b,
                     scored[i].a);
        lab_free(&l);
    }
    temp_remove(&file);
}

/* Settings and tables that cannot be meant, and a word of what is said of them. */
static const struct {
    const char *settings, *labels, *rates, *said;
} refused[] = {
    {"profiler=q,nowhere", NULL, NULL, "no pool 'nowhere'"},
    {"profiler=q,q,q", NULL, NULL, "pool 'q' has no node left"},
    {"lender=nowhere", NULL, NULL, "no pool 'nowhere'"},
    {"", "workload,label\nx,3\n", NULL, "row 1"},
    {"", "workload,score\nx,1\n", NULL, "no column label"},
    {"", "model,batchsize,amp,label\nx,8,0,1\n", NULL, "no dataset"},
    {"rates=given", NULL, "workload1,workload2,speed1,speed2\nx,y,0.5,0\n", "row 1"},
    {"rates=given", NULL, "workload1,workload2,speed1\nx,y,0.5\n", "speed1 and speed2"},
    {"rates=given", NULL, "workload1,speed1,speed2\nx,0.5,1\n", "workload2"},
    {"semantics=artifact", NULL, NULL, "submitted between two"},
};

Test(lucid, what_cannot_be_meant_is_refused_with_a_reason)
{
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        struct lab l = {0};
        struct run_log log;
        struct error err = {{0}};
        lab_jobs(&l, "a 0.5 10 1 1 x 10 - 0 0 q");
        lab_pools(&l, "q:2 p:1");
        if (refused[i].labels != NULL)
            lab_table(&l, LUCID_LABELS, refused[i].labels);
        if (refused[i].rates != NULL)
            lab_table(&l, LUCID_RATES, refused[i].rates);
        lab_settings(&l, "lucid", refused[i].settings);
        struct engine_setup setup = {.policy = policy_find("lucid"),
                                     .policy_config = l.config,
                                     .tables = l.tables,
                                     .jobs = &l.jobs,
                                     .cluster = &l.cluster,
                                     .rules = {.pool = -1, .share_max = 1}};
        enum status status = engine_run(&setup, &log, &err);
        cr_expect(status == ST_USAGE || status == ST_INPUT, "%s: %d", refused[i].said, status);
        cr_expect_not_null(strstr(err.text, refused[i].said), "'%s', not '%s'", err.text,
                           refused[i].said);
        run_log_free(&log);
        lab_free(&l);
    }
}
