#include "traces/choose.h"

#include "tests/leak.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

TestSuite(choose, .fini = abort_on_leak);

static int32_t name_of(struct job_table *t, const char *text)
{
    return names_add(&t->names, text, strlen(text));
}

/* Three jobs: "a" with two tasks and every column set, "b" with nothing, "c" with a NUL in its
 * name. */
static struct job_table three_jobs(void)
{
    struct job_table t = {0};
    struct error err;
    struct job_row row = {.name = "a",
                          .name_length = 1,
                          .submit_us = -5,
                          .duration_us = 70,
                          .hint_us = {11, 12, 13},
                          .n_inst = 2,
                          .gpu_milli = 500,
                          .cpu_milli = 6000,
                          .mem_mib = 1024,
                          .gpu_mem_mib = 2048,
                          .gpu_min = 1,
                          .gpu_max = 4,
                          .priority = -3,
                          .kind = KIND_INFER,
                          .min_rate_frac = 0.7};
    row.gpu_type = name_of(&t, "T4");
    row.task = name_of(&t, "worker");
    row.user = name_of(&t, "u");
    row.group = name_of(&t, "g");
    row.queue = name_of(&t, "q");
    row.workload = name_of(&t, "w");
    row.config = name_of(&t, "c");
    cr_assert_eq(jobs_add(&t, &row), 0);
    row.task = name_of(&t, "ps");
    row.gpu_milli = 0;
    row.duration_us = 60;
    cr_assert_eq(jobs_add(&t, &row), 0);
    row = job_row_empty();
    row.name = "b";
    row.name_length = 1;
    cr_assert_eq(jobs_add(&t, &row), 1);
    row.name = "c\0c";
    row.name_length = 3;
    row.user = name_of(&t, "late");
    cr_assert_eq(jobs_add(&t, &row), 2);
    cr_assert_eq(jobs_close(&t, &err), ST_OK);
    return t;
}

static const char *text_of(const struct job_table *t, int32_t id)
{
    return id < 0 ? NULL : names_text(&t->names, id);
}

Test(choose, a_copied_job_keeps_every_column_and_all_its_tasks)
{
    struct job_table t = three_jobs(), copy;
    struct error err;
    bool keep[3] = {true, false, false};
    cr_assert_eq(jobs_copy(&t, keep, &copy, &err), ST_OK);
    cr_assert_eq(copy.n_jobs, 1);
    cr_assert_eq(copy.n_tasks, 2);
    cr_assert_str_eq(names_text(&copy.job_names, 0), "a");
    cr_assert_eq(copy.submit_us[0], -5);
    cr_assert_eq(copy.hint_us[0][2], 13);
    cr_assert_eq(copy.kind[0], KIND_INFER);
    cr_assert_eq(copy.gpu_min[0], 1);
    cr_assert_eq(copy.gpu_max[0], 4);
    cr_assert_eq(copy.priority[0], -3);
    cr_assert_float_eq(copy.min_rate_frac[0], 0.7, 0);
    cr_assert_str_eq(text_of(&copy, copy.user[0]), "u");
    cr_assert_str_eq(text_of(&copy, copy.group[0]), "g");
    cr_assert_str_eq(text_of(&copy, copy.queue[0]), "q");
    cr_assert_str_eq(text_of(&copy, copy.workload[0]), "w");
    cr_assert_str_eq(text_of(&copy, copy.config[0]), "c");
    /* shortest task first */
    cr_assert_str_eq(text_of(&copy, copy.task_name[0]), "ps");
    cr_assert_str_eq(text_of(&copy, copy.task_name[1]), "worker");
    cr_assert_eq(copy.duration_us[1], 70);
    cr_assert_eq(copy.n_inst[1], 2);
    cr_assert_eq(copy.gpu_milli[1], 500);
    cr_assert_eq(copy.cpu_milli[1], 6000);
    cr_assert_eq(copy.mem_mib[1], 1024);
    cr_assert_eq(copy.gpu_mem_mib[1], 2048);
    cr_assert_str_eq(text_of(&copy, copy.gpu_type[1]), "T4");
    jobs_free(&copy);
    jobs_free(&t);
}

Test(choose, only_names_that_are_used_are_copied_and_none_stays_none)
{
    struct job_table t = three_jobs(), copy;
    struct error err;
    bool keep[3] = {false, true, true};
    cr_assert_eq(jobs_copy(&t, keep, &copy, &err), ST_OK);
    cr_assert_eq(copy.n_jobs, 2);
    cr_assert_eq(copy.names.n, 1);
    cr_assert_eq(copy.user[0], -1);
    cr_assert(isnan(copy.min_rate_frac[0]));
    cr_assert_str_eq(text_of(&copy, copy.user[1]), "late");
    cr_assert_eq(names_length(&copy.job_names, 1), 3);
    cr_assert_eq(memcmp(names_text(&copy.job_names, 1), "c\0c", 3), 0);
    jobs_free(&copy);
    jobs_free(&t);
}

Test(choose, so_many_are_kept_as_asked_for_and_only_candidates)
{
    struct error err;
    for (int32_t wanted = 0; wanted <= 60; wanted++) {
        bool keep[100];
        int32_t n = 0;
        for (int j = 0; j < 100; j++)
            keep[j] = j % 2 == 0;
        cr_assert_eq(choose_jobs(keep, 100, wanted, 5, &err), ST_OK);
        for (int j = 0; j < 100; j++) {
            cr_assert(j % 2 == 0 || !keep[j]);
            n += keep[j];
        }
        cr_assert_eq(n, wanted < 50 ? wanted : 50);
    }
}

/* Each of the 10 pairs of 5 jobs should come up in a tenth of 5,000 seeds: 500 +- 5 x 21. */
Test(choose, every_set_is_equally_likely)
{
    int count[32] = {0};
    struct error err;
    for (uint64_t seed = 0; seed < 5000; seed++) {
        bool keep[5] = {true, true, true, true, true};
        int set = 0;
        cr_assert_eq(choose_jobs(keep, 5, 2, seed, &err), ST_OK);
        for (int j = 0; j < 5; j++)
            set |= keep[j] << j;
        count[set]++;
    }
    for (int set = 0; set < 32; set++)
        if (__builtin_popcount((unsigned)set) == 2)
            cr_assert(abs(count[set] - 500) < 106, "%d: %d", set, count[set]);
        else
            cr_assert_eq(count[set], 0);
}

Test(choose, equal_seeds_choose_the_same_jobs)
{
    bool a[1000], b[1000], c[1000];
    struct error err;
    memset(a, true, sizeof a);
    memset(b, true, sizeof b);
    memset(c, true, sizeof c);
    cr_assert_eq(choose_jobs(a, 1000, 300, 1, &err), ST_OK);
    cr_assert_eq(choose_jobs(b, 1000, 300, 1, &err), ST_OK);
    cr_assert_eq(choose_jobs(c, 1000, 300, 2, &err), ST_OK);
    cr_assert_eq(memcmp(a, b, sizeof a), 0);
    cr_assert_neq(memcmp(a, c, sizeof a), 0);
}
