/* Each policy: its own table, and an oracle that enumerates where the world is small enough. */
#include "policies/registry.h"
#include "tests/lab.h"
#include "tests/leak.h"

#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

TestSuite(policies, .fini = abort_on_leak, .timeout = 120);

/* jobs, nodes, and when each job starts: one row, one behaviour. */
static const struct {
    const char *policy, *jobs, *nodes;
    double start_s[6];
    const char *why;
} rows[] = {
    {"fifo", "a 0 10 2\nb 1 5 2\nc 2 5 1", "3", {0, 10, 10}, "c waits behind b"},
    {"fifo-skip", "a 0 10 2\nb 1 5 2\nc 2 5 1", "3", {0, 10, 2}, "c fits beside a"},
    {"sjf", "a 0 10 1\nb 1 9 1\nc 2 3 1\nd 3 6 1", "1", {0, 19, 10, 13}, "by duration"},
    {"sjf", "a 0 10 1\nb 1 5 1\nc 2 5 1", "1", {0, 10, 15}, "ties by row"},
    {"srtf", "a 0 10 1\nb 2 3 1", "1", {0, 2}, "8 s left against 3"},
    {"srtf", "a 0 10 1\nb 8 3 1", "1", {0, 10}, "2 s left against 3"},
    {"srtf", "a 0 10 1\nb 0 20 1\nc 1 5 2", "2", {0, 0, 1}, "both make room for a gang"},
    {"srtf", "a 0 3 1\nb 0 20 1\nc 1 5 2", "2", {0, 0, 3}, "evicting b alone does not help"},
    {"easy-backfill",
     "a 0 10 3\nb 1 10 4\nc 2 8 1\nd 2 9 1",
     "4",
     {0, 10, 2, 20},
     "c ends with a; d would hold up b"},
    {"easy-backfill", "a 0 10 3\nb 1 10 3\nc 2 99 1", "4", {0, 10, 2}, "c needs nothing b needs"},
    {"las", "a 0 6 1\nb 1 6 1", "1", {0, 6}, "one queue is first come, first served"},
};

Test(policies, each_row_of_the_table_holds)
{
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct lab l = {0};
        lab_jobs(&l, rows[i].jobs);
        lab_nodes(&l, rows[i].nodes);
        lab_run(&l, rows[i].policy);
        for (int32_t j = 0; j < l.jobs.n_jobs; j++) {
            if (l.jobs.status[j] == JOB_REJECTED)
                continue;
            cr_expect_float_eq(s_of_us(l.jobs.start_us[j]), rows[i].start_s[j], 1e-9,
                               "%s, %s: job %d starts at %g", rows[i].policy, rows[i].why, j,
                               s_of_us(l.jobs.start_us[j]));
        }
        lab_free(&l);
    }
}

Test(policies, las_serves_a_newcomer_before_a_job_that_fell_to_the_second_queue)
{
    struct las_config_like {
        double first_gpu_s, ratio;
        int64_t queues;
    } config = {4, 10, 2};
    struct lab l = {.config = &config};
    /* a falls after 4 s of 1 GPU; b has waited since 1 and runs 2..: at 4 it evicts a. */
    lab_jobs(&l, "a 0 10 1\nb 1 3 1");
    lab_nodes(&l, "1");
    lab_run(&l, "las");
    cr_assert_float_eq(lab_start_s(&l, "b"), 4, 1e-9);
    cr_assert_float_eq(lab_jct_s(&l, "a"), 13, 1e-9);
    cr_assert_eq(l.log.n_evictions, 1);
    lab_free(&l);
}

/* Its limits are a clock of its own, so they have to grow with the times. */
Test(policies, las_with_limits_twice_as_far_off_schedules_twice_the_time_alike)
{
    struct las_config_like {
        double first_gpu_s, ratio;
        int64_t queues;
    } config[2] = {{40, 10, 3}, {80, 10, 3}};
    int64_t finish_us[200];
    for (int twice = 0; twice < 2; twice++) {
        struct lab l = {.restart_s = 3 * (1 + twice), .config = &config[twice]};
        gsl_rng *rng = gsl_rng_alloc(gsl_rng_mt19937);
        lab_random(&l, rng, 200, 6, 60, 4);
        for (int32_t j = 0; j < l.jobs.n_jobs; j++)
            l.jobs.submit_us[j] *= 1 + twice;
        for (int32_t k = 0; k < l.jobs.n_tasks; k++)
            l.jobs.duration_us[k] *= 1 + twice;
        lab_nodes(&l, "4+8+2");
        lab_run(&l, "las");
        for (int32_t j = 0; j < l.jobs.n_jobs; j++) {
            if (twice == 1 && l.jobs.status[j] == JOB_DONE) /* a fall is rounded up to the us */
                cr_assert_float_eq(s_of_us(l.jobs.finish_us[j]), 2 * s_of_us(finish_us[j]), 1e-3,
                                   "job %d", j);
            finish_us[j] = l.jobs.finish_us[j];
        }
        gsl_rng_free(rng);
        lab_free(&l);
    }
}

/* The least total completion time over all ways to serve n jobs in unit steps on one GPU. */
static double least_total(const int *submit, int *left, int n, int now)
{
    bool any = false;
    double best = INFINITY;
    for (int i = 0; i < n; i++) {
        if (left[i] == 0)
            continue;
        any = true;
        if (submit[i] > now)
            continue;
        left[i]--;
        double total = (left[i] == 0 ? now + 1 : 0) + least_total(submit, left, n, now + 1);
        left[i]++;
        best = total < best ? total : best;
    }
    if (!any)
        return 0;
    return isinf(best) ? least_total(submit, left, n, now + 1) : best;
}

Test(policies, srtf_on_one_gpu_has_the_least_mean_jct_of_all_schedules)
{
    gsl_rng *rng = gsl_rng_alloc(gsl_rng_mt19937);
    for (int round = 0; round < 200; round++) {
        int submit[4], left[4];
        double total = 0;
        char text[256] = "";
        for (int i = 0; i < 4; i++) {
            submit[i] = (int)gsl_rng_uniform_int(rng, 6);
            left[i] = 1 + (int)gsl_rng_uniform_int(rng, 4);
            sprintf(text + strlen(text), "j%d %d %d 1\n", i, submit[i], left[i]);
        }
        struct lab l = {0};
        lab_jobs(&l, text);
        lab_nodes(&l, "1");
        lab_run(&l, "srtf");
        for (int i = 0; i < 4; i++)
            total += s_of_us(l.jobs.finish_us[i]);
        cr_assert_float_eq(total, least_total(submit, left, 4, 0), 1e-9, "%s", text);
        lab_free(&l);
    }
    gsl_rng_free(rng);
}

/* A walk over the whole queue at every event, written out, without shapes. */
static void naive_walk(const struct lab *l, bool by_duration, bool strict, double *start_s)
{
    int n = l->jobs.n_jobs, gpus = l->cluster.n_cards, free_gpus = gpus, n_started = 0;
    for (int j = 0; j < n; j++)
        start_s[j] = -1;
    for (int t = 0; n_started < n; t++) {
        free_gpus = gpus;
        for (int j = 0; j < n; j++)
            if (start_s[j] >= 0 && t < start_s[j] + s_of_us(l->jobs.duration_us[j]))
                free_gpus -= l->jobs.gpu_milli[j] / 1000;
        bool tried[64] = {false};
        for (int k = 0; k < n; k++) {
            int best = -1;
            for (int j = 0; j < n; j++) {
                if (start_s[j] >= 0 || tried[j] || s_of_us(l->jobs.submit_us[j]) > t)
                    continue;
                int64_t key = by_duration ? l->jobs.duration_us[j] : l->jobs.submit_us[j];
                int64_t least = best < 0      ? 0
                                : by_duration ? l->jobs.duration_us[best]
                                              : l->jobs.submit_us[best];
                if (best < 0 || key < least)
                    best = j;
            }
            if (best < 0)
                break;
            tried[best] = true;
            if (l->jobs.gpu_milli[best] / 1000 <= free_gpus) {
                free_gpus -= l->jobs.gpu_milli[best] / 1000;
                start_s[best] = t;
                n_started++;
            } else if (strict) {
                break;
            }
        }
    }
}

Test(policies, list_policies_agree_with_a_naive_walk_second_by_second)
{
    static const struct {
        const char *policy;
        bool by_duration, strict;
    } kinds[] = {{"fifo", false, true}, {"fifo-skip", false, false}, {"sjf", true, false}};
    gsl_rng *rng = gsl_rng_alloc(gsl_rng_mt19937);
    for (int round = 0; round < 300; round++) {
        struct lab l = {0};
        double start_s[64];
        char text[2048] = "";
        int t = 0;
        for (int i = 0; i < 40; i++)
            sprintf(text + strlen(text), "j%d %d %d %d\n", i, t += (int)gsl_rng_uniform_int(rng, 4),
                    1 + (int)gsl_rng_uniform_int(rng, 20), 1 + (int)gsl_rng_uniform_int(rng, 5));
        lab_jobs(&l, text);
        lab_nodes(&l, "6");
        naive_walk(&l, kinds[round % 3].by_duration, kinds[round % 3].strict, start_s);
        lab_run(&l, kinds[round % 3].policy);
        for (int j = 0; j < 40; j++)
            cr_assert_float_eq(s_of_us(l.jobs.start_us[j]), start_s[j], 1e-9, "%s job %d\n%s",
                               kinds[round % 3].policy, j, text);
        lab_free(&l);
    }
    gsl_rng_free(rng);
}

/* The promise of EASY: had the head's reservation been computed at any pass, it starts no later.
 * Stronger and simpler to check: on one pool of GPUs with true durations, no job starts later than
 * its wait under the reservation made when it first became head. Here: the first job that waits
 * starts exactly when strict FIFO would start it. */
Test(policies, backfilling_never_delays_the_first_job_that_waits)
{
    gsl_rng *rng = gsl_rng_alloc(gsl_rng_mt19937);
    int n_filled = 0;
    for (int round = 0; round < 300; round++) {
        struct lab easy = {0}, fifo = {0};
        char text[2048] = "";
        int t = 0;
        for (int i = 0; i < 30; i++)
            sprintf(text + strlen(text), "j%d %d %d %d\n", i, t += (int)gsl_rng_uniform_int(rng, 3),
                    1 + (int)gsl_rng_uniform_int(rng, 30), 1 + (int)gsl_rng_uniform_int(rng, 6));
        lab_jobs(&easy, text);
        lab_jobs(&fifo, text);
        lab_nodes(&easy, "6");
        lab_nodes(&fifo, "6");
        lab_run(&easy, "easy-backfill");
        lab_run(&fifo, "fifo");
        for (int j = 0; j < 30; j++) {
            if (fifo.jobs.start_us[j] == fifo.jobs.submit_us[j])
                continue;
            cr_assert_leq(easy.jobs.start_us[j], fifo.jobs.start_us[j], "job %d\n%s", j, text);
            break;
        }
        n_filled += easy.log.end_us < fifo.log.end_us;
        lab_free(&easy);
        lab_free(&fifo);
    }
    cr_assert_gt(n_filled, 100, "backfilling shortens most runs");
    gsl_rng_free(rng);
}

Test(policies, the_registry_is_sorted_and_every_setting_has_a_unit_and_a_text)
{
    for (int i = 0; policies[i] != NULL; i++) {
        cr_assert_eq(policies[i]->abi, POLICY_ABI);
        cr_assert_str_not_empty(policies[i]->summary);
        cr_assert_str_not_empty(policies[i]->source);
        cr_assert_not_null(policies[i]->decide);
        cr_assert(i == 0 || strcmp(policies[i - 1]->name, policies[i]->name) < 0);
        cr_assert_eq(policy_find(policies[i]->name), policies[i]);
        for (const struct param *p = policies[i]->params; p != NULL && p->name != NULL; p++) {
            cr_assert_str_not_empty(p->doc, "%s.%s", policies[i]->name, p->name);
            bool number = p->type == PARAM_TYPE_INT || p->type == PARAM_TYPE_REAL;
            cr_assert(!number || p->unit[0] != '\0', "%s.%s has no unit", policies[i]->name,
                      p->name);
        }
    }
    cr_assert_null(policy_find("fifoo"));
}

Test(policies, every_setting_of_volcano_names_its_source)
{
    for (const struct param *p = policy_find("volcano")->params; p->name != NULL; p++)
        cr_assert_eq(p->doc[strlen(p->doc) - 1], ']', "%s: %s", p->name, p->doc);
}
