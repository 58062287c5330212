/* Who runs under vc-srtf and tiresias: by hand, as the artifact does it and repaired. */
#include "tests/leak.h"
#include "tests/lucid_lab.h"

#include <criterion/criterion.h>
#include <string.h>

TestSuite(selection, .fini = abort_on_leak, .timeout = 60);

static struct lab run(const char *jobs, const char *pools, const char *policy, const char *settings)
{
    struct lab l = {0};
    lab_jobs(&l, jobs);
    lab_pools(&l, pools);
    lab_settings(&l, policy, settings);
    lab_run(&l, policy);
    return l;
}

static int evicted(const struct lab *l, const char *name)
{
    return l->jobs.n_evicted[lab_job(l, name)];
}

Test(selection, a_preempted_job_works_longer_and_every_job_of_the_artifact_a_second_more)
{
    struct lab l = run("a 0 100 8\nb 10 20 8", "p:1", "vc-srtf", "");
    cr_assert_float_eq(lab_jct_s(&l, "b"), 20, 1e-9);
    cr_assert_float_eq(lab_jct_s(&l, "a"), 20 + 100 + 40, 1e-9);
    lab_free(&l);
    l = run("a 0 100 8\nb 10 20 8", "p:1", "vc-srtf", "semantics=artifact");
    cr_assert_float_eq(lab_jct_s(&l, "b"), 20 + 1, 1e-9);
    cr_assert_float_eq(lab_jct_s(&l, "a"), 21 + 100 + 40 + 1, 1e-9);
    lab_free(&l);
    l = run("a 0 100 8 2\nb 10 20 8 2", "p:2", "vc-srtf", "ckpt_s=7 ckpt_wide_s=9");
    cr_assert_float_eq(lab_jct_s(&l, "a"), 20 + 100 + 9, 1e-9, "wider than 8 GPUs");
    lab_free(&l);
}

/* Node 0 holds a (2 GPUs) and b (6), node 1 holds d (4). c wants 8 for a short while: by number it
 * fits beside a and d, for which b has to go; but 6 and 4 free GPUs are on two nodes. */
static const char scattered[] = "a 0 50 2\nb 1 1000 6\nd 2 100 4\nc 5 10 8";

Test(selection, the_artifact_preempts_by_number_and_in_vain)
{
    struct lab l = run(scattered, "p:2", "vc-srtf", "semantics=artifact");
    cr_assert_eq(evicted(&l, "b"), 1);
    cr_assert_float_eq(lab_start_s(&l, "c"), 51, 1e-9, "when a has ended");
    /* c ends at 62; only then is there quota for b: 996 + 40 left. */
    cr_assert_float_eq(lab_jct_s(&l, "b"), 62 + 1036 + 1 - 1, 1e-9);
    lab_free(&l);
}

Test(selection, repaired_only_those_leave_without_whom_the_job_fits)
{
    /* Node 0 holds a (2) and b (5), node 1 d (7). c can only have node 1; b is behind d in the
     * order, but of no use, and d finds no place without it either. */
    struct lab l = run("a 0 50 2\nb 1 1000 5\nd 2 100 7\nc 5 10 8", "p:2", "vc-srtf", "");
    cr_assert_float_eq(lab_start_s(&l, "c"), 5, 1e-9);
    cr_assert_eq(evicted(&l, "d"), 1);
    cr_assert_eq(evicted(&l, "b"), 0);
    cr_assert_float_eq(lab_jct_s(&l, "b"), 1000, 1e-9);
    cr_assert_float_eq(lab_jct_s(&l, "d"), 10 + 100 + 40, 1e-9);
    lab_free(&l);
    /* Two nodes of short jobs: nobody has less left than a newcomer, nobody leaves. */
    l = run("a 0 30 5\nb 0 30 5\nc 1 40 8", "p:2", "vc-srtf", "");
    cr_assert_eq(l.log.n_evictions, 0);
    cr_assert_float_eq(lab_start_s(&l, "c"), 30, 1e-9);
    lab_free(&l);
}

Test(selection, in_the_artifact_a_longer_job_waits_until_it_is_the_shorter)
{
    /* w wants 9 of 16 GPUs and has 60 left; a (8 GPUs) has 100 at 0, 50 at 50. In the first second
     * w is ahead: 16 - 9 leaves 7, a has to go; b (8 GPUs, 50 s) is ahead of both. */
    struct lab l =
        run("a 0 100 8\nb 0 50 8\nw 10 60 8\nw 10 60 1", "p:2", "vc-srtf", "semantics=artifact");
    /* At 10: b 40, w 60, a 90: b has quota, w has not (9 of 8), a has. */
    cr_assert_float_eq(lab_jct_s(&l, "b"), 51, 1e-9);
    /* At 51 b has ended: w 60, a 49: a keeps its place, and w fits no more than before. */
    cr_assert_float_eq(lab_jct_s(&l, "a"), 101, 1e-9);
    cr_assert_float_eq(lab_start_s(&l, "w"), 101, 1e-9);
    lab_free(&l);
}

/* a (8 GPUs) passes 18000 GPU-s after 2250 s: the choice at 2280 is the first to see it. */
static const char falling[] = "a 0 4000 8\nb 100 500 8";

Test(selection, a_job_falls_to_the_second_queue_when_it_has_had_more_than_the_limit)
{
    struct lab l = run(falling, "p:1", "tiresias", "");
    cr_assert_float_eq(lab_start_s(&l, "b"), 2280, 1e-9);
    cr_assert_float_eq(lab_jct_s(&l, "b"), 2180 + 500, 1e-9);
    /* b ends at 2780; a is chosen at 2820: 1720 + 40 left. */
    cr_assert_float_eq(lab_jct_s(&l, "a"), 2820 + 1760, 1e-9);
    lab_free(&l);
    l = run(falling, "p:1", "tiresias", "semantics=artifact");
    cr_assert_float_eq(lab_jct_s(&l, "b"), 2180 + 501, 1e-9);
    cr_assert_float_eq(lab_jct_s(&l, "a"), 2820 + 1761, 1e-9);
    lab_free(&l);
}

Test(selection, at_the_limit_a_job_is_still_in_the_first_queue)
{
    /* 8 x 2250 is the limit itself, at a multiple of the period. */
    struct lab l = run(falling, "p:1", "tiresias", "period_s=50");
    cr_assert_float_eq(lab_start_s(&l, "b"), 2300, 1e-9);
    lab_free(&l);
    l = run(falling, "p:1", "tiresias", "period_s=50 limit_gpu_s=17999");
    cr_assert_float_eq(lab_start_s(&l, "b"), 2250, 1e-9);
    lab_free(&l);
}

Test(selection, inside_a_queue_the_first_submitted_goes_first_and_nobody_comes_back_up)
{
    /* Both fall: a at 2280, b at 2280 + 2250 (or so): then a, submitted first, has its place. */
    struct lab l = run("a 0 9000 8\nb 100 9000 8", "p:1", "tiresias", "");
    cr_assert_eq(evicted(&l, "a"), 1);
    cr_assert_eq(evicted(&l, "b"), 1);
    /* b runs from 2280 to 4560, the first multiple of 60 past 2280 + 2250; a has 6720 + 40 left. */
    cr_assert_float_eq(lab_jct_s(&l, "a"), 4560 + 6760, 1e-9);
    cr_assert_float_eq(lab_jct_s(&l, "b"), 11340 + 9000 - 2280 + 40 - 100, 1e-9);
    lab_free(&l);
}

/* What a policy has of its own clock scales with it: twice everything is the same schedule. */
Test(selection, with_its_own_times_doubled_as_well_every_time_doubles)
{
    static const char *const policies_of[] = {"vc-srtf", "tiresias"};
    static const char *const once[] = {"", "limit_gpu_s=20 period_s=5"};
    static const char *const twice[] = {"ckpt_s=80 ckpt_wide_s=120",
                                        "ckpt_s=80 ckpt_wide_s=120 limit_gpu_s=40 period_s=10"};
    for (int p = 0; p < 2; p++) {
        int64_t n_evictions = 0;
        for (int round = 0; round < 10; round++) {
            struct lab l[2] = {{.rules = {0}}};
            for (int k = 0; k < 2; k++) {
                gsl_rng *rng = gsl_rng_alloc(gsl_rng_mt19937);
                gsl_rng_set(rng, (unsigned long)round);
                lab_random(&l[k], rng, 120, 6, 60, 4);
                gsl_rng_free(rng);
                for (int32_t j = 0; k == 1 && j < l[k].jobs.n_jobs; j++)
                    l[k].jobs.submit_us[j] *= 2;
                for (int32_t i = 0; k == 1 && i < l[k].jobs.n_tasks; i++)
                    l[k].jobs.duration_us[i] *= 2;
                lab_nodes(&l[k], "4+8+2");
                lab_settings(&l[k], policies_of[p], k == 0 ? once[p] : twice[p]);
                lab_run(&l[k], policies_of[p]);
            }
            for (int32_t j = 0; j < l[0].jobs.n_jobs; j++)
                if (l[0].jobs.status[j] == JOB_DONE)
                    cr_assert_eq(l[1].jobs.finish_us[j], 2 * l[0].jobs.finish_us[j],
                                 "%s, round %d, job %d", policies_of[p], round, j);
            n_evictions += l[0].log.n_evictions;
            lab_free(&l[0]);
            lab_free(&l[1]);
        }
        cr_assert_gt(n_evictions, 20);
    }
}
