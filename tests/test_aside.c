/* What the engine does for policies that run jobs aside, name the nodes, or tick: by hand, with
 * policies of a few lines. */
#include "sim/run/rates.h"
#include "tests/lab.h"
#include "tests/leak.h"

#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

TestSuite(aside, .fini = abort_on_leak, .timeout = 60);

/* Arrivals start on the lowest card; what else happens is the test's own. */
static void start_all(const struct view *v, struct plan *plan)
{
    for (int32_t i = 0; i < v->n_arrived; i++)
        cr_assert(plan_start(plan, v->arrived[i]));
}

static int kinds_of_spans(const struct lab *l, enum span_kind kind)
{
    int n = 0;
    for (size_t i = 0; i < l->log.n_spans; i++)
        n += l->log.span[i].kind == kind;
    return n;
}

/* Every job runs aside on card 1 for 10 s, then starts; the first thing to be told is that. */
static enum status first_aside(void *state, const struct view *v, struct plan *plan,
                               struct error *err)
{
    const int32_t where[] = {1};
    (void)state, (void)err;
    for (int32_t i = 0; i < v->n_arrived; i++)
        cr_assert(plan_profile(plan, v->arrived[i], where, 1, 10 * US_PER_S, false));
    for (int32_t i = 0; i < v->n_profiled; i++)
        cr_assert(plan_start(plan, v->profiled[i]));
    return ST_OK;
}

Test(aside, a_job_run_aside_waits_on_and_nothing_of_it_is_kept)
{
    const struct policy policy = {.name = "test", .profiles = true, .decide = first_aside};
    struct lab l = {0};
    lab_jobs(&l, "a 5 30 1");
    lab_nodes(&l, "2");
    lab_run_policy(&l, &policy);
    cr_assert_float_eq(lab_start_s(&l, "a"), 15, 1e-9);
    cr_assert_float_eq(lab_jct_s(&l, "a"), 40, 1e-9);
    cr_assert(kinds_of_spans(&l, SPAN_PROFILE) == 1 && kinds_of_spans(&l, SPAN_RUN) == 1);
    cr_assert(l.log.span[0].first_gpu == 1 && l.log.span[0].start_us == 5 * US_PER_S &&
              l.log.span[0].end_us == 15 * US_PER_S);
    cr_assert_float_eq(lab_metric(&l, METRIC_profiling_gpu_s), 10, 1e-9);
    cr_assert_float_eq((double)l.jobs.attained_milli_us[0], 30e9, 1, "what it held in its own run");
    lab_free(&l);
}

/* A job runs and a copy of it runs aside; the copy of the second begins when the job has ended. */
static enum status copies_aside(void *state, const struct view *v, struct plan *plan,
                                struct error *err)
{
    const int32_t where[] = {3};
    (void)state, (void)err;
    start_all(v, plan);
    if (v->now_us == 0)
        cr_assert(plan_profile(plan, 0, where, 1, 50 * US_PER_S, false));
    if (v->now_us == 50 * US_PER_S)
        cr_assert(plan_profile(plan, 1, where, 1, 7 * US_PER_S, false));
    return ST_OK;
}

Test(aside, a_copy_can_run_aside_of_a_job_that_runs_or_has_ended)
{
    const struct policy policy = {.name = "test", .profiles = true, .decide = copies_aside};
    struct lab l = {0};
    lab_jobs(&l, "a 0 20 1\nb 0 30 1");
    lab_nodes(&l, "4");
    lab_run_policy(&l, &policy);
    cr_assert_float_eq(lab_jct_s(&l, "a"), 20, 1e-9);
    cr_assert_float_eq(lab_jct_s(&l, "b"), 30, 1e-9);
    cr_assert_eq(l.log.end_us, 57 * US_PER_S);
    cr_assert_eq(l.log.span[l.log.n_spans - 1].end_us, 57 * US_PER_S);
    cr_assert_float_eq(l.log.profiled_gpu_s, 57, 1e-9);
    lab_free(&l);
}

static enum status ends_aside(void *state, const struct view *v, struct plan *plan,
                              struct error *err)
{
    const int32_t where[] = {0, 1};
    (void)state, (void)err;
    for (int32_t i = 0; i < v->n_arrived; i++)
        cr_assert(plan_profile(plan, v->arrived[i], where, 2, 12 * US_PER_S, true));
    cr_assert_eq(v->n_finished, 0, "it is announced as profiled");
    return ST_OK;
}

Test(aside, a_job_may_end_aside)
{
    const struct policy policy = {.name = "test", .profiles = true, .decide = ends_aside};
    struct lab l = {0};
    lab_jobs(&l, "a 1 12 2");
    lab_nodes(&l, "2");
    lab_run_policy(&l, &policy);
    cr_assert_float_eq(lab_jct_s(&l, "a"), 12, 1e-9);
    cr_assert_eq(l.jobs.start_us[0], US_PER_S);
    cr_assert_float_eq((double)l.jobs.attained_milli_us[0], 24e9, 1);
    lab_free(&l);
}

static enum status named_nodes(void *state, const struct view *v, struct plan *plan,
                               struct error *err)
{
    static const int32_t nodes[] = {3, 1};
    (void)state, (void)err;
    plan->rules.nodes = nodes;
    plan->rules.n_nodes = 2;
    for (int32_t i = 0; i < v->n_arrived; i++)
        cr_assert_eq(plan_start(plan, v->arrived[i]), v->arrived[i] < 4, "job %d", v->arrived[i]);
    return ST_OK;
}

/* Nodes of 2 cards: 3 and 1 are listed, so the fifth job of one GPU finds nothing although 0 and 2
 * are idle. Ties go to the first of the list. */
static const struct {
    enum place_mode mode;
    int node[4];
} listed[] = {
    {PLACE_FIRST_FIT, {3, 3, 1, 1}},
    {PLACE_BEST_FIT, {3, 3, 1, 1}},
    {PLACE_SPREAD, {3, 1, 3, 1}},
    {PLACE_CONSOLIDATE, {3, 3, 1, 1}},
};

Test(aside, a_list_of_nodes_is_tried_in_its_order_and_nothing_else_is)
{
    const struct policy policy = {.name = "test", .decide = named_nodes};
    for (size_t i = 0; i < sizeof listed / sizeof *listed; i++) {
        struct lab l = {.rules.mode = listed[i].mode};
        lab_jobs(&l, "a 0 1 1\nb 0 1 1\nc 0 1 1\nd 0 1 1\ne 0 1 1");
        lab_nodes(&l, "2+2+2+2");
        lab_run_policy(&l, &policy);
        cr_assert_eq(l.jobs.status[4], JOB_UNFINISHED);
        for (size_t s = 0; s < l.log.n_spans; s++)
            cr_expect_eq(l.log.span[s].node, listed[i].node[l.log.span[s].task], "mode %d, job %d",
                         listed[i].mode, l.log.span[s].task);
        lab_free(&l);
    }
    for (int round = 0; round < 20; round++) {
        struct lab l = {.rules.mode = PLACE_RANDOM};
        lab_jobs(&l, "a 0 1 1\nb 0 1 1\nc 0 1 1\nd 0 1 1\ne 0 1 1");
        lab_nodes(&l, "2+2+2+2");
        lab_run_policy(&l, &policy);
        for (size_t s = 0; s < l.log.n_spans; s++)
            cr_assert(l.log.span[s].node == 3 || l.log.span[s].node == 1);
        lab_free(&l);
    }
}

static enum status only_start(void *state, const struct view *v, struct plan *plan,
                              struct error *err)
{
    (void)state, (void)err;
    start_all(v, plan);
    return ST_OK;
}

Test(aside, a_ticking_run_takes_a_tick_more_for_every_task)
{
    const struct policy policy = {.name = "test", .tick_us = US_PER_S, .decide = only_start};
    struct lab l = {0};
    lab_jobs(&l, "a 0 10 1\nb 3 0 1\nc 3 10 1\nc 3 4 1");
    lab_nodes(&l, "4");
    lab_run_policy(&l, &policy);
    cr_assert_float_eq(lab_jct_s(&l, "a"), 11, 1e-9);
    cr_assert_float_eq(lab_jct_s(&l, "b"), 1, 1e-9);
    cr_assert_float_eq(lab_jct_s(&l, "c"), 11, 1e-9);
    cr_assert_eq(l.log.span[1].end_us, 8 * US_PER_S, "the short task of c");
    lab_free(&l);
}

/* a runs at .7 until 10, then at full speed, is sent back at 20 and starts again at 30. */
static enum status change_speed(void *state, const struct view *v, struct plan *plan,
                                struct error *err)
{
    (void)state, (void)err;
    start_all(v, plan);
    if (v->now_us == 0)
        plan_speed(plan, 0, 0.7);
    if (v->now_us == 10 * US_PER_S)
        plan_speed(plan, 0, 1);
    if (v->now_us == 20 * US_PER_S)
        plan_evict(plan, 0, 5 * US_PER_S);
    if (v->now_us == 30 * US_PER_S)
        cr_assert(plan_start(plan, 0));
    for (int64_t t = 10; t <= 30; t += 10)
        if (t * US_PER_S > v->now_us)
            plan_wake(plan, t * US_PER_S);
    return ST_OK;
}

Test(aside, a_ticking_run_adds_a_restart_to_the_work)
{
    const struct policy policy = {
        .name = "test", .tick_us = US_PER_S, .sets_speed = true, .decide = change_speed};
    struct lab l = {0};
    lab_jobs(&l, "a 0 100 1");
    lab_nodes(&l, "1");
    lab_run_policy(&l, &policy);
    /* 7 and 10 done, 83 + 5 left at 30. */
    cr_assert_float_eq(lab_jct_s(&l, "a"), 30 + 88 + 1, 1e-9);
    lab_free(&l);
}

static void take_away(const void *config, bool *sets_speed, int64_t *tick_us)
{
    cr_assert_not_null(config);
    *sets_speed = false;
    *tick_us = 0;
}

Test(aside, settings_may_take_back_what_a_policy_declares)
{
    const struct policy policy = {.name = "test",
                                  .tick_us = US_PER_S,
                                  .sets_speed = true,
                                  .pace = take_away,
                                  .decide = change_speed};
    struct lab l = {0};
    lab_jobs(&l, "a 0 100 1");
    lab_nodes(&l, "1");
    l.config = "";
    lab_run_policy(&l, &policy);
    cr_assert_float_eq(lab_jct_s(&l, "a"), 30 + 5 + 80, 1e-9, "20 s done; the restart is a delay");
    lab_free(&l);
}

/* One tick after another, as the simulators that tick do it. */
static int64_t plain_ticks(double *left, double speed, int64_t most)
{
    int64_t n = 0;
    for (; n<most && * left> 0; n++)
        *left -= speed;
    return n;
}

Test(aside, many_ticks_at_once_have_the_bits_of_one_after_another)
{
    gsl_rng *rng = gsl_rng_alloc(gsl_rng_mt19937);
    for (int i = 0; i < 20000; i++) {
        double left = gsl_rng_uniform(rng) * (i % 3 == 0 ? 1e5 : 1e3), plain, speed;
        switch (i % 4) {
        case 0: speed = (double)(400 + gsl_rng_uniform_int(rng, 1100)) / 1000; break;
        case 1: speed = (double)(1 + gsl_rng_uniform_int(rng, 4096)) / 2048; break; /* halfway */
        case 2: speed = 1; break;
        default: speed = 0.05 + gsl_rng_uniform(rng); break;
        }
        if (i % 5 == 0)
            left = floor(left);
        plain = left;
        int64_t n = plain_ticks(&plain, speed, INT64_MAX);
        cr_assert_eq(ticks_to_end(left, speed), n + 1, "%.17g at %.17g", left, speed);
        int64_t some = n > 0 ? (int64_t)gsl_rng_uniform_int(rng, (unsigned long)n) : 0;
        plain = left;
        plain_ticks(&plain, speed, some);
        cr_assert(ticks_advance(left, speed, some) == plain, "%.17g at %.17g, %ld ticks", left,
                  speed, (long)some);
    }
    gsl_rng_free(rng);
}
