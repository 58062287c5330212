#include "sim/run/study.h"

#include "tests/leak.h"
#include "tests/temp.h"

TestSuite(study, .fini = abort_on_leak);

Test(study, seeds_are_lists_and_ranges)
{
    static const struct {
        const char *text;
        int n;
        int64_t seed[6];
    } row[] = {
        {"7", 1, {7}},
        {"1..5", 5, {1, 2, 3, 4, 5}},
        {"1,2,7", 3, {1, 2, 7}},
        {"3..4,9", 3, {3, 4, 9}},
        {"0", 1, {0}},
        {"9,1..2", 3, {9, 1, 2}},
        {"", 0, {0}},
        {"5..1", 0, {0}},
        {"1..", 0, {0}},
        {"-1", 0, {0}},
        {"1,,2", 0, {0}},
        {"x", 0, {0}},
        {"0..10000", 0, {0}},
        {"1,", 0, {0}},
    };
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        struct arena arena = {0};
        int64_t *seed;
        int n;
        struct error err;
        enum status status = seeds_parse(row[i].text, &arena, &seed, &n, &err);
        cr_assert_eq(status, row[i].n > 0 ? ST_OK : ST_USAGE, "'%s'", row[i].text);
        if (status == ST_OK)
            cr_assert_eq(n, row[i].n, "'%s'", row[i].text);
        for (int k = 0; k < row[i].n; k++)
            cr_assert_eq(seed[k], row[i].seed[k], "'%s'", row[i].text);
        arena_free(&arena);
    }
}

static void must(enum status status, const struct error *err)
{
    cr_assert_eq(status, ST_OK, "%s", err->text);
}

Test(study, a_point_is_one_value_of_each_and_the_last_varies_fastest)
{
    struct study s = {0};
    struct error err;
    struct run_request q;
    int n;
    must(study_grid(&s, "policy=fifo,sjf", &err), &err);
    must(study_grid(&s, "rate-scale=1,2,4", &err), &err);
    must(study_seeds(&s, "5,9", &err), &err);
    must(study_count(&s, &n, &err), &err);
    cr_assert_eq(n, 6);
    must(run_request_init(&q, &err), &err);
    must(study_set_base(&s, &q, &err), &err);
    must(study_set_point(&s, 9, &q, &err), &err); /* group 4 = sjf, 2; its second seed */
    cr_assert_str_eq(q.run.policy, "sjf");
    cr_assert_eq(q.run.rate_scale, 2);
    cr_assert_eq(q.run.seed, 9);
    cr_assert_str_eq(q.run.label, "policy=sjf,rate_scale=2,seed=9");
    run_request_free(&q);
    study_free(&s);
}

Test(study, the_command_line_replaces_an_axis_of_the_file)
{
    struct temp_file file = temp_text(
        ".json",
        "{\"name\": \"n\", \"settings\": {\"place\": \"spread\", \"share\": {\"max_jobs\": 2}},\n"
        " \"variants\": {\"a\": {\"load\": 1.5, \"strict\": true}, \"b\": {\"trace\": null}},\n"
        " \"grid\": {\"policy\": [\"fifo\", \"las\"]}, \"seeds\": \"1..3\"}");
    struct study s = {0};
    struct error err;
    struct run_request q;
    int n;
    must(study_load(&s, file.path, &err), &err);
    must(study_grid(&s, "policy=srtf", &err), &err);
    must(study_count(&s, &n, &err), &err);
    cr_assert_eq(n, 2, "two variants under one policy");
    cr_assert_eq(s.n_seeds, 3);
    must(run_request_init(&q, &err), &err);
    must(study_set_base(&s, &q, &err), &err);
    must(study_set_point(&s, 2, &q, &err), &err);
    cr_assert_str_eq(q.run.label, "n,variant=a,policy=srtf,seed=3");
    cr_assert_eq(q.run.load, 1.5);
    cr_assert(q.run.strict);
    cr_assert_eq(q.share.max_jobs, 2);
    run_request_free(&q);
    study_free(&s);
    temp_remove(&file);
}

Test(study, more_points_than_anybody_means_are_refused)
{
    struct study s = {0};
    struct error err;
    int n;
    char grid[4096] = "seed_of_none=0";
    for (int i = 1; i < 1000; i++)
        sprintf(grid + strlen(grid), ",%d", i % 1000);
    must(study_grid(&s, grid, &err), &err);
    grid[0] = 't';
    must(study_grid(&s, grid, &err), &err);
    must(study_seeds(&s, "1..2", &err), &err);
    cr_assert_eq(study_count(&s, &n, &err), ST_USAGE);
    study_free(&s);
}
