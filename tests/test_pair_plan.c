#include "calib/measure/pair_plan.h"
#include "core/cluster/job.h"

#include "tests/leak.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

TestSuite(pair_plan, .fini = abort_on_leak);

/* n_train jobs of training and n_infer of inference, each kind of n_workloads workloads in turn. */
static void make_jobs(struct joblist *jobs, int n_train, int n_infer, int n_workloads)
{
    struct error err = {""};
    for (int i = 0; i < n_train + n_infer; i++) {
        char name[32], workload[32];
        bool train = i < n_train;
        snprintf(name, sizeof name, "%s-%d", train ? "train" : "decode", i);
        snprintf(workload, sizeof workload, "%s%d", train ? "t" : "i", i % n_workloads);
        struct measured_job job = {.name = name,
                                   .workload = workload,
                                   .command = "true",
                                   .samples_per_step = 1,
                                   .thread_pct = 100};
        cr_assert(eq(int, joblist_add(jobs, &job, &err), ST_OK), "%s", err.text);
    }
}

static int n_infer_of(const struct joblist *jobs, struct job_pair p)
{
    return (jobs->job[p.job[0]].kind == KIND_INFER) + (jobs->job[p.job[1]].kind == KIND_INFER);
}

Test(pair_plan, the_whole_list_has_every_pair_once)
{
    struct joblist jobs = {0};
    struct pair_plan p;
    struct error err = {""};
    bool seen[7][7] = {{false}};
    make_jobs(&jobs, 4, 3, 2);
    cr_assert(eq(int, pair_plan_make(&p, &jobs, 1, 1, &err), ST_OK));
    cr_expect(eq(i32, p.n, 7 * 8 / 2));
    for (int32_t i = 0; i < p.n; i++) {
        cr_expect(le(i32, p.pair[i].job[0], p.pair[i].job[1]));
        cr_expect(eq(int, seen[p.pair[i].job[0]][p.pair[i].job[1]], false));
        seen[p.pair[i].job[0]][p.pair[i].job[1]] = true;
    }
    pair_plan_free(&p);
    joblist_free(&jobs);
}

/* 8 + 6 jobs: 36 pairs T+T, 48 T+I, 21 I+I; a quarter is 9, 12 and 6 (5.25 rounded up). Workloads:
 * 4 and 3 that take turns, so 10 + 12 + 6 pairs of them; 9 of the 10 can be seen, and all others.
 */
Test(pair_plan, each_stratum_gives_its_part_and_workloads_take_turns)
{
    for (uint64_t seed = 1; seed <= 20; seed++) {
        struct joblist jobs = {0};
        struct pair_plan p;
        struct error err = {""};
        int n[3] = {0};
        make_jobs(&jobs, 8, 0, 4);
        for (int i = 0; i < 6; i++) {
            char name[32], workload[32];
            snprintf(name, sizeof name, "x-decode-%d", i);
            snprintf(workload, sizeof workload, "i%d", i % 3);
            struct measured_job job = {.name = name, .workload = workload, .command = "true"};
            cr_assert(eq(int, joblist_add(&jobs, &job, &err), ST_OK));
        }
        cr_assert(eq(int, pair_plan_make(&p, &jobs, .25, seed, &err), ST_OK));
        for (int32_t i = 0; i < p.n; i++)
            n[n_infer_of(&jobs, p.pair[i])]++;
        cr_expect(eq(int, n[0], 9));
        cr_expect(eq(int, n[1], 12));
        cr_expect(eq(int, n[2], 6));
        cr_expect(eq(i32, p.n_workload_pairs, 28));
        cr_expect(eq(i32, p.n_seen, 27));
        pair_plan_free(&p);
        joblist_free(&jobs);
    }
}

Test(pair_plan, equal_seeds_draw_equal_pairs_and_others_do_not)
{
    struct joblist jobs = {0};
    struct pair_plan p[3];
    struct error err = {""};
    make_jobs(&jobs, 10, 10, 5);
    for (int i = 0; i < 3; i++)
        cr_assert(eq(int, pair_plan_make(&p[i], &jobs, .3, i < 2 ? 1 : 2, &err), ST_OK));
    size_t size = (size_t)p[0].n * sizeof *p[0].pair;
    cr_expect(eq(int, memcmp(p[0].pair, p[1].pair, size), 0));
    cr_expect(ne(int, memcmp(p[0].pair, p[2].pair, size), 0));
    for (int i = 0; i < 3; i++)
        pair_plan_free(&p[i]);
    joblist_free(&jobs);
}

Test(pair_plan, no_part_is_no_pair)
{
    struct joblist jobs = {0};
    struct pair_plan p;
    struct error err = {""};
    make_jobs(&jobs, 1, 0, 1);
    cr_assert(eq(int, pair_plan_make(&p, &jobs, 0, 1, &err), ST_OK));
    cr_expect(eq(i32, p.n, 0));
    pair_plan_free(&p);
    joblist_free(&jobs);
}
