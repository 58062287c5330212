/* The engine against hand-worked runs, closed forms and conservation laws. */
#include "policies/registry.h"
#include "tests/lab.h"
#include "tests/leak.h"

#include <criterion/criterion.h>
#include <gsl/gsl_randist.h>
#include <gsl/gsl_sf_gamma.h>
#include <math.h>
#include <string.h>

TestSuite(engine, .fini = abort_on_leak, .timeout = 240);

static struct lab world(const char *jobs, const char *nodes)
{
    struct lab l = {0};
    lab_jobs(&l, jobs);
    lab_nodes(&l, nodes);
    return l;
}

Test(engine, one_gpu_fifo_by_hand)
{
    struct lab l = world("a -50 100 1\nb -10 0 1\nc 10 10 1\nd 400 1 1", "1");
    lab_run(&l, "fifo");
    cr_assert_float_eq(lab_jct_s(&l, "a"), 100, 1e-9);
    cr_assert_float_eq(lab_jct_s(&l, "b"), 60, 1e-9, "a job of zero length waits its turn");
    cr_assert_float_eq(lab_jct_s(&l, "c"), 50, 1e-9);
    cr_assert_float_eq(lab_jct_s(&l, "d"), 1, 1e-9);
    cr_assert_float_eq(lab_metric(&l, METRIC_makespan_s), 451, 1e-9);
    cr_assert_float_eq(lab_metric(&l, METRIC_gpu_seconds), 111, 1e-9);
    cr_assert_float_eq(lab_metric(&l, METRIC_gpu_alloc_mean), 111.0 / 451, 1e-12);
    cr_assert_float_eq(lab_metric(&l, METRIC_slowdown_mean), (100 / 100. + 50 / 10. + 1) / 3,
                       1e-12);
    lab_free(&l);
}

Test(engine, a_wide_job_starves_behind_a_stream_unless_order_is_strict)
{
    static const char stream[] =
        "wide 1 10 8\ns0 0 10 4\ns1 5 10 4\ns2 10 10 4\ns3 15 10 4\ns4 20 10 4\n"
        "s5 25 10 4\ns6 30 10 4\ns7 35 10 4\ns8 40 10 4\ns9 45 10 4";
    struct lab l = world(stream, "8");
    lab_run(&l, "fifo");
    cr_assert_float_eq(lab_jct_s(&l, "wide"), 19, 1e-9);
    cr_assert_float_eq(lab_jct_s(&l, "s1"), 25, 1e-9);
    cr_assert_float_eq(lab_metric(&l, METRIC_jct_mean_s), 234 / 11., 1e-9);
    lab_free(&l);
    l = world(stream, "8");
    lab_run(&l, "fifo-skip");
    cr_assert_float_eq(lab_jct_s(&l, "wide"), 64, 1e-9);
    cr_assert_float_eq(lab_metric(&l, METRIC_jct_mean_s), 164 / 11., 1e-9);
    cr_assert_float_eq(lab_metric(&l, METRIC_wait_max_s), 54, 1e-9);
    lab_free(&l);
    l = world(stream, "8");
    lab_run(&l, "easy-backfill");
    /* At 1 the head is reserved 10, when s0 ends; s1 would run until 15 and must wait. */
    cr_assert_float_eq(lab_jct_s(&l, "wide"), 19, 1e-9);
    lab_free(&l);
}

Test(engine, tasks_of_a_job_start_together_and_each_gives_its_gpus_back_when_it_ends)
{
    struct lab l = world("a 0 10 1\na 0 30 1\nb 0 5 1\nc 0 5 2", "2");
    lab_run(&l, "fifo");
    cr_assert_float_eq(lab_jct_s(&l, "a"), 30, 1e-9);
    cr_assert_float_eq(lab_start_s(&l, "b"), 10, 1e-9);
    cr_assert_float_eq(lab_start_s(&l, "c"), 30, 1e-9);
    cr_assert_float_eq(lab_metric(&l, METRIC_gpu_seconds), 10 + 30 + 5 + 10, 1e-9);
    lab_free(&l);
}

Test(engine, speeds_change_when_a_neighbour_comes_or_goes)
{
    struct lab l = world("a 0 100 1 1 x 4096\nb 50 100 1 1 y 4096", "1x32768MiB");
    cr_assert_eq(pairs_add(&l.pairs, "x", 1, "y", 1, 0.8, 0.8, NULL), ST_OK);
    l.rules.share_max = 2;
    l.truth = TRUTH_TABLE;
    lab_run(&l, "fifo");
    cr_assert_float_eq(lab_jct_s(&l, "a"), 112.5, 1e-9);
    cr_assert_float_eq(lab_jct_s(&l, "b"), 112.5, 1e-9);
    cr_assert_float_eq(lab_metric(&l, METRIC_makespan_s), 162.5, 1e-9);
    cr_assert_float_eq(lab_metric(&l, METRIC_interference_mean), 1.125, 1e-9);
    lab_free(&l);
}

Test(engine, the_two_of_a_pair_suffer_differently_in_either_order_of_the_table)
{
    struct lab l = world("a 0 90 1 1 x 4096\nb 0 90 1 1 y 4096", "1x32768MiB");
    cr_assert_eq(pairs_add(&l.pairs, "y", 1, "x", 1, 0.6, 0.9, NULL), ST_OK);
    l.rules.share_max = 2;
    l.truth = TRUTH_TABLE;
    lab_run(&l, "fifo");
    cr_assert_eq(l.jobs.finish_us[0], 100 * US_PER_S);
    cr_assert_eq(l.jobs.finish_us[1], 130 * US_PER_S, "to the microsecond");
    lab_free(&l);
}

Test(engine, a_gang_runs_at_the_speed_of_its_slowest_member)
{
    /* g on both cards; s joins one of them: g runs at .5 while s (1 / .8 of 40 s) runs. */
    struct lab l = world("g 0 100 1 2 x 1000\ns 0 40 1 1 y 1000", "2x32768MiB");
    cr_assert_eq(pairs_add(&l.pairs, "x", 1, "y", 1, 0.5, 0.8, NULL), ST_OK);
    l.rules.share_max = 2;
    l.truth = TRUTH_TABLE;
    lab_run(&l, "fifo");
    cr_assert_float_eq(lab_jct_s(&l, "s"), 50, 1e-9);
    cr_assert_float_eq(lab_jct_s(&l, "g"), 50 + 75, 1e-9);
    lab_free(&l);
}

Test(engine, a_job_that_no_empty_cluster_holds_is_rejected_and_blocks_nobody)
{
    struct lab l = world("a 0 10 4 2\nb 1 10 4", "4+2+2");
    lab_run(&l, "fifo");
    cr_assert_eq(l.jobs.status[0], JOB_REJECTED);
    cr_assert_float_eq(lab_jct_s(&l, "b"), 10, 1e-9);
    cr_assert_eq(l.log.n_happenings, 1);
    cr_assert(isnan(lab_metric(&l, METRIC_attain_frac)));
    lab_free(&l);
    l = world("a 0 10 9\nb 0 10 9", "8");
    lab_run(&l, "easy-backfill");
    cr_assert(isnan(lab_metric(&l, METRIC_jct_mean_s)), "null, not 0");
    cr_assert_float_eq(lab_metric(&l, METRIC_jobs_rejected), 2, 0);
    lab_free(&l);
}

Test(engine, typed_requests_wait_for_their_type)
{
    struct lab l = world("a 0 100 1 1 - 0 T4\nb 0 100 1 1 - 0 V100\nc 10 20 1 1 - 0 V100\n"
                         "d 20 10 1 1 - 0 A100\ne 30 10 1",
                         "2:T4+1:V100");
    lab_run(&l, "fifo-skip");
    cr_assert_float_eq(lab_jct_s(&l, "c"), 110, 1e-9);
    cr_assert_float_eq(lab_jct_s(&l, "e"), 10, 1e-9);
    cr_assert_eq(l.jobs.status[lab_job(&l, "d")], JOB_REJECTED);
    cr_assert_float_eq(lab_metric(&l, METRIC_jct_mean_s), 80, 1e-9);
    lab_free(&l);
}

Test(engine, a_preempted_job_keeps_its_work_and_pays_for_the_restart)
{
    /* At 10 b (20 s) evicts a (90 s left); a starts again at 30, pays 5 s, and has 90 s left. */
    struct lab l = world("a 0 100 1\nb 10 20 1", "1");
    l.restart_s = 5;
    lab_run(&l, "srtf");
    cr_assert_float_eq(lab_jct_s(&l, "b"), 20, 1e-9);
    cr_assert_float_eq(lab_jct_s(&l, "a"), 30 + 5 + 90, 1e-9);
    cr_assert_eq(l.log.n_evictions, 1);
    cr_assert_eq(l.log.n_spans, 3);
    lab_free(&l);
}

/* Waits of exponential gaps and durations on c single-GPU servers, in batches. */
static void queue_wait(int c, double load, double *mean, double *error)
{
    enum { N = 400000, BATCHES = 40 };
    struct lab l = {.unchecked = true};
    char nodes[16];
    gsl_rng *rng = gsl_rng_alloc(gsl_rng_mt19937);
    double t = 0, batch[BATCHES] = {0};
    for (int i = 0; i < N; i++) {
        char name[16];
        struct job_row row = job_row_empty();
        t += gsl_ran_exponential(rng, 100 / (load * c));
        row.name = name;
        row.name_length = (size_t)snprintf(name, sizeof name, "%d", i);
        row.submit_us = us_of_s(t);
        row.duration_us = us_of_s(gsl_ran_exponential(rng, 100));
        row.gpu_milli = 1000;
        cr_assert_geq(jobs_add(&l.jobs, &row), 0);
    }
    cr_assert_eq(jobs_close(&l.jobs, NULL), ST_OK);
    snprintf(nodes, sizeof nodes, "%d", c);
    lab_nodes(&l, nodes);
    lab_run(&l, "fifo");
    for (int i = 0; i < N; i++)
        batch[i / (N / BATCHES)] +=
            s_of_us(l.jobs.start_us[i] - l.jobs.submit_us[i]) / (N / BATCHES);
    double sum = 0, squares = 0;
    for (int b = 0; b < BATCHES; b++)
        sum += batch[b];
    *mean = sum / BATCHES;
    for (int b = 0; b < BATCHES; b++)
        squares += (batch[b] - *mean) * (batch[b] - *mean);
    *error = sqrt(squares / (BATCHES - 1) / BATCHES);
    gsl_rng_free(rng);
    lab_free(&l);
}

Test(engine, mean_wait_of_m_m_1_is_the_closed_form)
{
    double mean, error;
    queue_wait(1, 0.7, &mean, &error);
    double expected = 0.7 / (1 - 0.7) * 100; /* rho / (mu - lambda) */
    cr_assert_lt(error, 0.05 * expected);
    cr_assert_float_eq(mean, expected, 3.5 * error, "%g +- %g, expected %g", mean, error, expected);
}

Test(engine, mean_wait_of_m_m_c_is_erlang_c)
{
    const int c = 5;
    const double load = 0.8, a = c * load;
    double sum = 0, mean, error;
    for (int k = 0; k < c; k++)
        sum += pow(a, k) / gsl_sf_fact((unsigned)k);
    double top = pow(a, c) / gsl_sf_fact((unsigned)c) / (1 - load);
    double expected = top / (sum + top) * 100 / (c - a);
    queue_wait(c, load, &mean, &error);
    cr_assert_lt(error, 0.05 * expected);
    cr_assert_float_eq(mean, expected, 3.5 * error, "%g +- %g, expected %g", mean, error, expected);
}

/* Laws that hold for every policy that keeps its own queue, on any trace and placement. */
static void check_laws(const struct lab *l, const char *policy, double restart_s)
{
    const struct job_table *t = &l->jobs;
    bool own = policy_find(policy)->own_restart;
    double spans = 0, held = 0;
    for (size_t i = 0; i < l->log.n_spans; i++) {
        const struct span *s = &l->log.span[i];
        int32_t gpu = t->gpu_milli[s->task], cards = gpu >= 1000 ? s->n_gpus : s->n_inst;
        spans += (double)(gpu >= 1000 ? 1000 : gpu) * cards * (double)(s->end_us - s->start_us);
    }
    for (int32_t j = 0; j < t->n_jobs; j++) {
        bool stalled = policy_find(policy)->may_stall && t->status[j] == JOB_UNFINISHED;
        cr_assert(t->status[j] == JOB_DONE || t->status[j] == JOB_REJECTED || stalled, "%s: job %d",
                  policy, j);
        held += (double)t->attained_milli_us[j];
        if (t->status[j] != JOB_DONE)
            continue;
        int64_t duration_us = job_duration_us(t, j), stay_us = t->finish_us[j] - t->start_us[j];
        cr_assert_geq(t->start_us[j], t->submit_us[j]);
        cr_assert_float_eq(t->done_us[j], (double)duration_us, 1e-3);
        cr_assert_eq(t->run_us[j], duration_us, "alone, progress takes the duration");
        if (t->n_evicted[j] == 0)
            cr_assert_eq(stay_us, duration_us);
        else
            cr_assert_geq(stay_us, duration_us + (own ? 0 : (int64_t)(restart_s * 1e6)));
    }
    cr_assert_float_eq(spans, held, 1e-9 * held + 1, "%s: spans %g, attained %g", policy, spans,
                       held);
    cr_assert_leq(l->log.held_gpu_s, held / 1e9 + 1e-6);
    if (policy_find(policy)->pairs_jobs) /* a card counts once there, and for each of two in held */
        cr_assert_geq(l->log.held_gpu_s, held / 2e9 - 1e-6);
    else
        cr_assert_float_eq(l->log.held_gpu_s, held / 1e9, 1e-9 * held / 1e9 + 1e-6);
}

Test(engine, laws_hold_for_every_policy_on_random_traces)
{
    gsl_rng *rng = gsl_rng_alloc(gsl_rng_mt19937);
    for (int round = 0; round < 40; round++)
        for (int i = 0; policies[i] != NULL; i++) {
            if (policies[i]->node_sum)
                continue;
            struct lab l = {.restart_s = round % 3, .rules.mode = (enum place_mode)(round % 5)};
            lab_random(&l, rng, 120, 6, 60, 4);
            lab_nodes(&l, round % 2 ? "4+8+2" : "3+3+3+3");
            lab_run(&l, policies[i]->name);
            check_laws(&l, policies[i]->name, l.restart_s);
            lab_free(&l);
        }
    gsl_rng_free(rng);
}

/* Twice the time everywhere gives twice the JCT of every job (restart cost included). */
Test(engine, scaling_time_by_two_scales_every_jct_by_two)
{
    for (int i = 0; policies[i] != NULL; i++) {
        if (policies[i]->node_sum || policies[i]->own_clock)
            continue; /* their own tests slow their clocks down as well */
        struct lab one = {.restart_s = 3}, two = {.restart_s = 6};
        gsl_rng *rng = gsl_rng_alloc(gsl_rng_mt19937);
        lab_random(&one, rng, 200, 6, 60, 4);
        gsl_rng_set(rng, 0);
        lab_random(&two, rng, 200, 6, 60, 4);
        for (int32_t j = 0; j < two.jobs.n_jobs; j++)
            two.jobs.submit_us[j] *= 2;
        for (int32_t k = 0; k < two.jobs.n_tasks; k++)
            two.jobs.duration_us[k] *= 2;
        lab_nodes(&one, "4+8+2");
        lab_nodes(&two, "4+8+2");
        lab_run(&one, policies[i]->name);
        lab_run(&two, policies[i]->name);
        for (int32_t j = 0; j < one.jobs.n_jobs; j++)
            if (one.jobs.status[j] == JOB_DONE)
                cr_assert_eq(two.jobs.finish_us[j], 2 * one.jobs.finish_us[j], "%s: job %d",
                             policies[i]->name, j);
        gsl_rng_free(rng);
        lab_free(&one);
        lab_free(&two);
    }
}

Test(engine, a_stopped_run_keeps_what_is_finished)
{
    static volatile sig_atomic_t stop = 1;
    struct lab l = world("a 0 10 1\nb 0 10 1", "1");
    struct run_log log;
    struct engine_setup setup = {.policy = policy_find("fifo"),
                                 .jobs = &l.jobs,
                                 .cluster = &l.cluster,
                                 .rules = {.pool = -1, .share_max = 1},
                                 .stop = &stop};
    cr_assert_eq(engine_run(&setup, &log, NULL), ST_OK);
    cr_assert(log.interrupted);
    cr_assert_eq(l.jobs.status[1], JOB_PENDING, "the run did not come to it");
    run_log_free(&log);
    lab_free(&l);
}
