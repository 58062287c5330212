/* Quasi-shortest service first, by hand. */
#include "tests/leak.h"
#include "tests/lucid_lab.h"

#include <criterion/criterion.h>

TestSuite(qssf, .fini = abort_on_leak, .timeout = 60);

static struct lab run(const char *jobs, const char *estimates, const char *settings)
{
    struct lab l = {0};
    lab_jobs(&l, jobs);
    lab_pools(&l, "p:1");
    if (estimates != NULL)
        lab_table(&l, 0, estimates);
    lab_settings(&l, "qssf", settings);
    lab_run(&l, "qssf");
    return l;
}

Test(qssf, the_least_estimated_gpu_time_goes_first_and_holds_up_the_rest)
{
    /* At 1 three wait: b 8 x 30 = 240, c 4 x 50 = 200, d 1 x 300 = 300; true durations play no
     * part. */
    struct lab l = run("a 0 100 8\nb 1 10 8\nc 1 999 4\nd 1 1 1",
                       "job_id,priority\na,1\nb,30\nc,50\nd,300\n", "");
    cr_assert_float_eq(lab_start_s(&l, "c"), 100, 1e-9);
    cr_assert_float_eq(lab_start_s(&l, "b"), 1099, 1e-9);
    cr_assert_float_eq(lab_start_s(&l, "d"), 1109, 1e-9, "behind b, though it would fit");
    lab_free(&l);
}

/* An idle node, and two that come at once: by GPU time w (8 GPUs, 80 GPU-s) is ahead of n (1 GPU,
 * 1000 GPU-s). */
Test(qssf, the_artifact_tries_those_that_find_an_empty_line_by_gpus_alone)
{
    static const char estimates[] = "job_id,priority\nn,1000\nw,10\nx,40\n";
    struct lab l = run("n 0 50 1\nw 0 50 8", estimates, "");
    cr_assert_float_eq(lab_start_s(&l, "w"), 0, 1e-9);
    cr_assert_float_eq(lab_start_s(&l, "n"), 50, 1e-9);
    lab_free(&l);
    l = run("n 0 50 1\nw 0 50 8", estimates, "semantics=artifact");
    cr_assert_float_eq(lab_start_s(&l, "n"), 0, 1e-9);
    cr_assert_float_eq(lab_start_s(&l, "w"), 50, 1e-9);
    lab_free(&l);
    /* With one that waits from before, priorities count at once. */
    l = run("a 0 50 8\nw 1 50 8\nn 2 50 1\nx 2 50 1", estimates, "semantics=artifact");
    cr_assert_float_eq(lab_start_s(&l, "x"), 50, 1e-9);
    cr_assert_float_eq(lab_start_s(&l, "w"), 100, 1e-9);
    cr_assert_float_eq(lab_start_s(&l, "n"), 150, 1e-9);
    lab_free(&l);
}

Test(qssf, without_a_table_it_learns_from_those_that_have_ended)
{
    /* Of user-less workloads "short" and "long" one each has run; then one of each waits. */
    struct lab l = run("s 0 10 1 1 short\nl 0 90 1 1 long\nf 95 100 8\nl2 96 90 8 1 long\n"
                       "s2 97 10 8 1 short",
                       NULL, "");
    cr_assert_float_eq(lab_start_s(&l, "s2"), 195, 1e-9);
    cr_assert_float_eq(lab_start_s(&l, "l2"), 205, 1e-9);
    lab_free(&l);
}
