/* Virtual clusters: who may run where, and in which place. */
#include "policies/lucid/vc.h"
#include "tests/leak.h"
#include "tests/lucid_lab.h"

#include <criterion/criterion.h>
#include <string.h>

TestSuite(vc, .fini = abort_on_leak, .timeout = 60);

/* Where a run put a job: "0x8 1x8 2x3", a node and its cards in turn. */
static const char *places(const struct lab *l, const char *name, char text[256])
{
    int32_t job = lab_job(l, name), cards[64] = {0};
    text[0] = '\0';
    for (size_t i = 0; i < l->log.n_spans; i++)
        if (l->jobs.task_job[l->log.span[i].task] == job)
            cards[l->log.span[i].node] += l->log.span[i].n_gpus;
    for (int node = 0; node < l->cluster.n_nodes; node++)
        if (cards[node] > 0)
            sprintf(text + strlen(text), "%s%dx%d", text[0] == '\0' ? "" : " ", node, cards[node]);
    return text;
}

/* Consolidate, on four nodes of 8, of which the jobs before take 5 of node 0 (a, b) and 6 of
 * node 1 (c): "a" 4, "b" 1 beside it, "c" 6 does not fit there. */
static const struct {
    const char *job, *at;
    const char *why;
} consolidate[] = {
    {"2", "1x2", "the fullest that can hold it: 2 free"},
    {"3", "0x3", "3 free are enough, and fewer than 8"},
    {"4", "2x4", "nodes 0 and 1 have 3 and 2; the first of the idle ones"},
    {"8", "2x8", "the first of the idle ones"},
    {"8 2", "2x8 3x8", "whole nodes"},
    {"8 1\nx 0 9 2", "2x8 3x2", "the rest goes to the emptiest node left, not to the fullest"},
    {"8 1\nx 0 9 5", "2x8 3x5", "and there it has room"},
    {"8 3", "", "three whole nodes are not free"},
    {"9", "", "no node has nine"},
};

Test(vc, a_job_goes_to_the_fullest_node_and_wide_ones_to_the_emptiest)
{
    for (size_t i = 0; i < sizeof consolidate / sizeof *consolidate; i++) {
        struct lab l = {0};
        char jobs[128], text[256];
        snprintf(jobs, sizeof jobs, "a 0 9 4\nb 0 9 1\nc 0 9 6\nx 0 9 %s", consolidate[i].job);
        lab_jobs(&l, jobs);
        lab_pools(&l, "p:4");
        lab_run(&l, "vc-fifo");
        cr_assert_str_eq(places(&l, "a", text), "0x4");
        cr_assert_str_eq(places(&l, "b", text), "0x1");
        cr_assert_str_eq(places(&l, "c", text), "1x6");
        bool starts = l.jobs.start_us[lab_job(&l, "x")] == 0;
        cr_expect_str_eq(starts ? places(&l, "x", text) : "", consolidate[i].at, "%s: %s",
                         consolidate[i].job, consolidate[i].why);
        lab_free(&l);
    }
}

Test(vc, a_queue_is_the_pool_of_its_name_and_none_is_all_nodes)
{
    struct lab l = {0};
    char text[256];
    lab_jobs(&l, "a 0 10 8 1 - 0 - 0 0 p\nb 0 10 8 1 - 0 - 0 0 p\nc 0 10 8 1 - 0 - 0 0 q\n"
                 "d 1 10 8 1 - 0 - 0 0 elsewhere\ne 2 10 8\nf 3 10 8 1 - 0 - 0 0 q");
    lab_pools(&l, "p:1 q:2");
    lab_run(&l, "vc-fifo");
    cr_assert_str_eq(places(&l, "a", text), "0x8");
    cr_assert_str_eq(places(&l, "b", text), "0x8");
    cr_assert_float_eq(lab_start_s(&l, "b"), 10, 1e-9, "q is idle, and not for b");
    cr_assert_str_eq(places(&l, "c", text), "1x8");
    cr_assert_str_eq(places(&l, "d", text), "2x8", "any node");
    cr_assert_float_eq(lab_start_s(&l, "f"), 10, 1e-9, "d has q's second node until 11");
    cr_assert_float_eq(lab_start_s(&l, "e"), 11, 1e-9, "at one instant pools come first");
    lab_free(&l);
}

Test(vc, a_pool_looks_again_when_a_job_without_one_leaves_its_nodes)
{
    struct lab l = {0};
    lab_jobs(&l, "a 0 10 8\nb 1 10 8 1 - 0 - 0 0 p\nc 2 10 8");
    lab_pools(&l, "p:1");
    lab_run(&l, "vc-fifo");
    cr_assert_float_eq(lab_start_s(&l, "b"), 10, 1e-9);
    cr_assert_float_eq(lab_start_s(&l, "c"), 20, 1e-9);
    lab_free(&l);
}

Test(vc, a_job_wider_than_its_pool_waits_for_ever_and_holds_up_nobody)
{
    static const char *const all[] = {"vc-fifo", "vc-sjf", "vc-srtf", "qssf", "tiresias", "lucid"};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        struct lab l = {0};
        lab_jobs(&l, "wide 0 1 8 2 - 0 - 0 0 p\na 0 10 8 1 - 0 - 0 0 p\nb 0 10 8 2 - 0 - 0 0 q");
        lab_pools(&l, "p:1 q:2");
        lab_run(&l, all[i]);
        cr_assert_eq(l.jobs.status[0], JOB_UNFINISHED, "%s", all[i]);
        cr_assert(l.log.stalled);
        cr_assert_float_eq(lab_jct_s(&l, "a"), 10, 1e-9, "%s", all[i]);
        cr_assert_float_eq(lab_jct_s(&l, "b"), 10, 1e-9, "%s", all[i]);
        lab_free(&l);
    }
}

Test(vc, the_first_in_line_holds_up_its_own_pool_only)
{
    struct lab l = {0};
    lab_jobs(&l, "a 0 100 4 1 - 0 - 0 0 p\nb 1 10 8 1 - 0 - 0 0 p\nc 2 10 1 1 - 0 - 0 0 p\n"
                 "d 3 10 1 1 - 0 - 0 0 q");
    lab_pools(&l, "p:1 q:1");
    lab_run(&l, "vc-fifo");
    cr_assert_float_eq(lab_start_s(&l, "b"), 100, 1e-9);
    cr_assert_float_eq(lab_start_s(&l, "c"), 110, 1e-9);
    cr_assert_float_eq(lab_start_s(&l, "d"), 3, 1e-9);
    lab_run(&l, "vc-sjf");
    cr_assert_float_eq(lab_start_s(&l, "b"), 100, 1e-9, "as short as c, and first");
    lab_free(&l);
}

Test(vc, nodes_come_and_go_in_a_list)
{
    int32_t node[4] = {4, 7, 9};
    struct vc vc = {.node = node, .n_nodes = 3, .whole = true};
    vc_remove_node(&vc, 8);
    cr_assert(vc.n_nodes == 3 && !vc.whole);
    vc_remove_node(&vc, 7);
    vc_add_node(&vc, 2);
    vc_add_node(&vc, 7);
    cr_assert(vc.n_nodes == 4 && node[0] == 4 && node[1] == 9 && node[2] == 2 && node[3] == 7);
}

Test(vc, the_next_multiple_is_at_or_after_the_time_on_both_sides_of_zero)
{
    static const int64_t at[][3] = {{0, 60, 0},  {1, 60, 60},    {60, 60, 60},  {61, 60, 120},
                                    {-1, 60, 0}, {-60, 60, -60}, {-61, 60, -60}};
    for (size_t i = 0; i < sizeof at / sizeof *at; i++)
        cr_expect_eq(next_multiple(at[i][0], at[i][1]), at[i][2], "%ld", (long)at[i][0]);
}

Test(vc, what_ticks_by_the_second_refuses_a_submission_between_two)
{
    static const char *const all[] = {"vc-srtf", "qssf", "tiresias", "lucid"};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        struct lab l = {0};
        struct error err = {{0}};
        lab_jobs(&l, "a 0 1 1\nb 0.5 1 1");
        cr_assert_eq(vcs_want_seconds(&l.jobs, all[i], &err), ST_INPUT);
        cr_assert_not_null(strstr(err.text, "job b is submitted between two"), "%s", err.text);
        cr_assert_not_null(strstr(err.text, all[i]));
        lab_free(&l);
    }
}
