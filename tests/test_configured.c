#include "sim/results/configured.h"

#include "tests/leak.h"

#include <criterion/criterion.h>

TestSuite(configured, .fini = abort_on_leak);

/* Sets KEY=VALUE pairs, and compares with what is said of the policy and of all. */
static void expect(const char *const *pairs, const char *policy, const char *others)
{
    struct run_request q;
    struct param_group groups[GROUPS_MAX];
    struct error err = {{0}};
    struct arena arena = {0};
    cr_assert_eq(run_request_init(&q, &err), ST_OK);
    size_t n = (size_t)run_all_groups(&q, groups);
    for (int i = 0; pairs[i] != NULL; i++)
        cr_assert_eq(param_set_pair(groups, n, pairs[i], &q.arena, &err), ST_OK, "%s", err.text);
    cr_assert_str_eq(configured_policy(&q, &arena), policy);
    cr_assert_str_eq(configured_others(&q, &arena), others);
    arena_free(&arena);
    run_request_free(&q);
}

Test(configured, names_what_is_not_as_by_default)
{
    expect((const char *const[]){"policy=las", NULL}, "", "");
    expect((const char *const[]){"policy=las", "las.queues=3", "las.ratio=2.5", NULL},
           "queues=3, ratio=2.5", "");
    expect((const char *const[]){"policy=las", "las.queues=2", NULL}, "",
           "");                                                 /* given, and as by default */
    expect((const char *const[]){"policy=fifo", NULL}, "", ""); /* has no settings */
}

Test(configured, settings_of_other_policies_and_of_the_trace_have_no_part_in_it)
{
    expect((const char *const[]){"policy=las", "sjf.strict=on", "seed=9", "label=x", "cluster=1x1",
                                 "trace=t.csv", "trace.node_gpus=4", NULL},
           "", "");
}

Test(configured, what_bears_on_every_policy_is_said_apart)
{
    expect((const char *const[]){"policy=sjf", "sjf.strict=on", "place=spread",
                                 "preempt.restart_s=5", "load=1.5", NULL},
           "strict=true", "load=1.5, place=spread, preempt.restart_s=5");
}
