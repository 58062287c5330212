/* fair-queues: cases 24, 45 and 51, weights of every kind, and shares against a second model. */
#include "policies/registry.h"
#include "tests/lab.h"
#include "tests/leak.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

TestSuite(fair_queues, .fini = abort_on_leak, .timeout = 60);

struct config {
    const char *weights;
};

static struct lab world(const char *jobs, const char *nodes)
{
    struct lab l = {0};
    lab_jobs(&l, jobs);
    lab_nodes(&l, nodes);
    return l;
}

static void run(struct lab *l, const char *weights)
{
    struct config config = {weights};
    l->config = &config;
    lab_run(l, "fair-queues");
}

#define JOB(name_, submit_, duration_, gpus_, queue_)                                              \
    name_ " " submit_ " " duration_ " " gpus_ " 1 - 0 - 0 0 " queue_ "\n"

Test(fair_queues, case_24_a_job_wider_than_its_part_never_stops_the_cluster)
{
    struct lab l = world(JOB("a", "0", "100", "2", "qa") JOB("b", "10", "50", "2", "qb")
                             JOB("c", "10", "50", "2", "qc"),
                         "3");
    run(&l, "qa:1,qb:1,qc:1");
    cr_assert_float_eq(lab_jct_s(&l, "a"), 100, 1e-9);
    cr_assert_float_eq(lab_jct_s(&l, "b"), 140, 1e-9);
    cr_assert_float_eq(lab_jct_s(&l, "c"), 190, 1e-9);
    cr_assert_float_eq(lab_metric(&l, METRIC_makespan_s), 200, 1e-9);
    cr_assert_float_eq(lab_metric(&l, METRIC_jobs_completed), 3, 0);
    lab_free(&l);
}

/* n jobs of one GPU and 100 s in a queue, all at 0; how many of them started at once. */
static void add_jobs(char *text, const char *queue, int n)
{
    for (int i = 0; i < n; i++)
        sprintf(text + strlen(text), "%s-%d 0 100 1 1 - 0 - 0 0 %s\n", queue, i, queue);
}

static int started_at_0(const struct lab *l, const char *queue)
{
    int n = 0;
    int32_t id = names_find(&l->jobs.names, queue, strlen(queue));
    for (int32_t j = 0; j < l->jobs.n_jobs; j++)
        n += l->jobs.queue[j] == id && l->jobs.start_us[j] == 0;
    return n;
}

Test(fair_queues, case_51_what_a_queue_leaves_goes_to_the_others)
{
    for (int demand = 4; demand <= 8; demand += 4) {
        char text[2048] = "";
        add_jobs(text, "qa", 8);
        add_jobs(text, "qb", demand);
        struct lab l = world(text, "8");
        run(&l, "qa:1,qb:3");
        cr_assert_eq(started_at_0(&l, "qa"), demand == 4 ? 4 : 2);
        cr_assert_eq(started_at_0(&l, "qb"), demand == 4 ? 4 : 6);
        cr_assert_float_eq(lab_metric(&l, METRIC_jct_mean_s), demand == 4 ? 1600 / 12. : 150, 1e-9);
        cr_assert_float_eq(lab_metric(&l, METRIC_makespan_s), 200, 1e-9);
        lab_free(&l);
    }
}

static enum status try_weights(struct lab *l, const char *weights, struct error *err)
{
    const struct policy *policy = policy_find("fair-queues");
    struct config config = {weights};
    struct run_log log;
    struct engine_setup setup = {.policy = policy,
                                 .policy_config = &config,
                                 .jobs = &l->jobs,
                                 .cluster = &l->cluster,
                                 .rules = {.pool = -1, .share_max = 1}};
    enum status status = engine_run(&setup, &log, err);
    run_log_free(&log);
    return status;
}

Test(fair_queues, case_45_weights_that_give_no_shares_are_refused_by_name)
{
    static const struct {
        const char *weights, *says[2];
    } refused[] = {
        {"qa:0,qb:0", {"qa 0", "qb 0"}},
        {"qa:-1,qb:3", {"queue qa is -1", "want 0 to 1e+09"}},
        {"qa:1,qb:-0.5", {"queue qb is -0.5", ""}},
        {"qa:2e9", {"queue qa is 2e+09", ""}},
        {"qa", {"want NAME:WEIGHT", "'qa'"}},
        {"qa:x", {"want NAME:WEIGHT", ""}},
        {"qa:nan", {"want NAME:WEIGHT", ""}},
        {":1", {"want NAME:WEIGHT", ""}},
        {"qa:1,,qb:1", {"want NAME:WEIGHT", ""}},
    };
    struct lab l = world(JOB("a", "0", "10", "1", "qa") JOB("b", "0", "10", "1", "qb"), "2");
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        struct error err = {{0}};
        cr_assert_eq(try_weights(&l, refused[i].weights, &err), ST_USAGE, "%s", refused[i].weights);
        for (int k = 0; k < 2; k++)
            cr_assert_not_null(strstr(err.text, refused[i].says[k]), "%s: %s", refused[i].weights,
                               err.text);
    }
    lab_free(&l);
}

Test(fair_queues, the_clusters_weights_count_and_the_settings_come_first)
{
    char text[2048] = "";
    struct error err = {{0}};
    add_jobs(text, "qa", 8);
    add_jobs(text, "qb", 8);
    struct lab l = world(text, "8");
    cr_assert_eq(cluster_add_queue(&l.cluster, "qa", 1, &err), ST_OK);
    cr_assert_eq(cluster_add_queue(&l.cluster, "qb", 3, &err), ST_OK);
    cr_assert_eq(cluster_add_queue(&l.cluster, "qb", 1, &err), ST_USAGE);
    cr_assert_not_null(strstr(err.text, "queue qb is there twice"), "%s", err.text);
    cr_assert_eq(cluster_add_queue(&l.cluster, "qc", -1, &err), ST_USAGE);
    cr_assert_not_null(strstr(err.text, "weight of queue qc is -1"), "%s", err.text);
    run(&l, NULL);
    cr_assert(started_at_0(&l, "qa") == 2 && started_at_0(&l, "qb") == 6);
    run(&l, "qa:9");
    cr_assert(started_at_0(&l, "qa") == 6 && started_at_0(&l, "qb") == 2);
    lab_free(&l);
    l = world(text, "8");
    cr_assert_eq(cluster_add_queue(&l.cluster, "qa", 0, &err), ST_OK);
    cr_assert_eq(try_weights(&l, "qb:0", &err), ST_USAGE);
    cr_assert(strstr(err.text, "qb 0") && strstr(err.text, "qa 0"), "%s", err.text);
    lab_free(&l);
}

Test(fair_queues, a_queue_nobody_weighted_has_one_and_one_of_weight_zero_takes_what_is_left)
{
    char text[2048] = "";
    add_jobs(text, "qa", 8);
    add_jobs(text, "-", 8);
    struct lab l = world(text, "8");
    run(&l, NULL);
    cr_assert_eq(started_at_0(&l, "qa"), 4);
    run(&l, "qa:3");
    cr_assert_eq(started_at_0(&l, "qa"), 6);
    run(&l, "qa:0,other:1");
    cr_assert_eq(started_at_0(&l, "qa"), 0, "the others ask for all there is");
    for (int32_t j = 0; j < l.jobs.n_jobs; j++)
        cr_assert_eq(l.jobs.status[j], JOB_DONE);
    lab_free(&l);
    text[0] = '\0';
    add_jobs(text, "qa", 8);
    add_jobs(text, "qb", 3);
    l = world(text, "8");
    run(&l, "qa:0,qb:1");
    cr_assert_eq(started_at_0(&l, "qa"), 5);
    lab_free(&l);
}

Test(fair_queues, in_a_queue_jobs_go_by_submission_and_pass_one_that_does_not_fit)
{
    struct lab l = world(JOB("x", "0", "10", "3", "qa") JOB("b", "1", "10", "2", "qa")
                             JOB("c", "2", "10", "1", "qa") JOB("d", "3", "10", "1", "qa"),
                         "4");
    run(&l, NULL);
    cr_assert_float_eq(lab_start_s(&l, "b"), 10, 1e-9);
    cr_assert_float_eq(lab_start_s(&l, "c"), 2, 1e-9);
    cr_assert_float_eq(lab_start_s(&l, "d"), 10, 1e-9);
    lab_free(&l);
}

Test(fair_queues, nothing_is_taken_back_from_a_queue_that_was_alone)
{
    /* qa holds all four; b waits for one of them although qb deserves two. */
    struct lab l = world(JOB("a0", "0", "10", "1", "qa") JOB("a1", "0", "20", "1", "qa")
                             JOB("a2", "0", "30", "2", "qa") JOB("a3", "1", "10", "1", "qa")
                                 JOB("b", "2", "10", "1", "qb") JOB("b2", "2", "10", "1", "qb"),
                         "4");
    run(&l, NULL);
    cr_assert_float_eq(lab_start_s(&l, "b"), 10, 1e-9, "before a3: qa holds 3 and deserves 2");
    cr_assert_float_eq(lab_start_s(&l, "b2"), 20, 1e-9);
    cr_assert_float_eq(lab_start_s(&l, "a3"), 20, 1e-9, "at 20 qa holds 2, asks 3, b is done");
    lab_free(&l);
}

Test(fair_queues, the_queue_with_the_least_of_its_part_comes_first)
{
    /* At 10 one GPU is free: qa holds 1 of 2 and came first, qb holds none of 1. */
    struct lab l = world(JOB("c0", "0", "99", "1", "qc") JOB("c1", "0", "99", "1", "qc")
                             JOB("c2", "0", "10", "1", "qc") JOB("a0", "0", "50", "1", "qa")
                                 JOB("a1", "1", "10", "1", "qa") JOB("b", "2", "10", "1", "qb"),
                         "4");
    run(&l, "qa:2");
    cr_assert_float_eq(lab_start_s(&l, "b"), 10, 1e-9);
    cr_assert_float_eq(lab_start_s(&l, "a1"), 20, 1e-9);
    lab_free(&l);
    /* Neither holds anything: the one that was submitted first, although its row is the later. */
    l = world(JOB("a", "2", "10", "1", "qa") JOB("b", "1", "10", "1", "qb")
                  JOB("c0", "0", "99", "1", "qc") JOB("c1", "0", "99", "1", "qc")
                      JOB("c2", "0", "10", "1", "qc") JOB("c3", "0", "99", "1", "qc"),
              "4");
    run(&l, NULL);
    cr_assert_float_eq(lab_start_s(&l, "b"), 10, 1e-9);
    cr_assert_float_eq(lab_start_s(&l, "a"), 20, 1e-9);
    lab_free(&l);
}

/* What queues that ask so much deserve, by bisection on the water level. */
static void water_fill(const double *weight, const double *want, int n, double capacity,
                       double *deserved)
{
    double lo = 0, hi = 0, sum = 0;
    for (int q = 0; q < n; q++) {
        sum += want[q];
        if (weight[q] > 0)
            hi = fmax(hi, want[q] / weight[q]);
    }
    for (int i = 0; i < 200; i++) {
        double level = (lo + hi) / 2, used = 0;
        for (int q = 0; q < n; q++)
            used += fmin(want[q], weight[q] * level);
        *(used > capacity ? &hi : &lo) = level;
    }
    for (int q = 0; q < n; q++)
        deserved[q] = fmin(want[q], weight[q] * (sum > capacity ? lo : INFINITY));
}

/* Every queue starts as many one-GPU jobs as it deserves, rounded down. */
Test(fair_queues, shares_are_those_of_a_second_model)
{
    gsl_rng *rng = gsl_rng_alloc(gsl_rng_mt19937);
    for (int round = 0; round < 200; round++) {
        enum { N = 5 };
        double weight[N], want[N], deserved[N];
        char text[40000] = "", weights[256] = "", name[8];
        for (int q = 0; q < N; q++) {
            int n = (int)gsl_rng_uniform_int(rng, 60);
            weight[q] = 0.125 * (1 + (double)gsl_rng_uniform_int(rng, 40));
            want[q] = n;
            sprintf(name, "q%d", q);
            sprintf(weights + strlen(weights), "%s%s:%g", q > 0 ? "," : "", name, weight[q]);
            add_jobs(text, name, n);
        }
        strcat(text, "extra 0 1 1 1 - 0 - 0 0 q0\n"); /* never an empty table */
        want[0]++;
        struct lab l = world(text, "16+16+32");
        l.unchecked = true;
        run(&l, weights);
        water_fill(weight, want, N, 64, deserved);
        for (int q = 0; q < N; q++) {
            sprintf(name, "q%d", q);
            cr_assert_eq(started_at_0(&l, name), (int)floor(deserved[q] + 1e-6),
                         "%s: %s deserves %g, starts %d", weights, name, deserved[q],
                         started_at_0(&l, name));
        }
        lab_free(&l);
    }
    gsl_rng_free(rng);
}

/* Whenever a job waits some GPU is held, and a queue holds more than it deserves only by a job that
 * was let in when nothing ran, or because others came later. */
Test(fair_queues, no_cluster_idles_while_a_job_waits)
{
    gsl_rng *rng = gsl_rng_alloc(gsl_rng_mt19937);
    for (int round = 0; round < 100; round++) {
        struct lab l = {0};
        char text[120 * 64] = "";
        for (int i = 0; i < 120; i++)
            sprintf(text + strlen(text), "j%d %d %d %d %d - 0 - 0 0 q%d\n", i, i / 2,
                    1 + (int)gsl_rng_uniform_int(rng, 20), 1 + (int)gsl_rng_uniform_int(rng, 4),
                    1 + (int)gsl_rng_uniform_int(rng, 2), (int)gsl_rng_uniform_int(rng, 4));
        lab_jobs(&l, text);
        lab_nodes(&l, "4+4");
        run(&l, round % 2 ? "q0:5,q1:0" : NULL);
        for (int32_t a = 0; a < l.jobs.n_jobs; a++) {
            cr_assert_eq(l.jobs.status[a], JOB_DONE);
            /* At a's end, if anybody waits then, somebody runs or starts. */
            bool waits = false, runs = false;
            int64_t now_us = l.jobs.finish_us[a];
            for (int32_t b = 0; b < l.jobs.n_jobs; b++) {
                waits = waits || (l.jobs.submit_us[b] <= now_us && l.jobs.start_us[b] > now_us);
                runs = runs || (l.jobs.start_us[b] <= now_us && l.jobs.finish_us[b] > now_us);
            }
            cr_assert(runs || !waits, "round %d at %g s", round, s_of_us(now_us));
        }
        lab_free(&l);
    }
    gsl_rng_free(rng);
}
