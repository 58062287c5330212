#include "traces/import.h"

#include "tests/leak.h"
#include "tests/trace_files.h"

TestSuite(import, .fini = abort_on_leak);

#define HEAD "job,task,submit_s,duration_s,gpu\n"

Test(import, an_exact_repeat_is_counted_and_no_second_task)
{
    struct trace t = read_text(HEAD "a,,0,100,1\n"
                                    "a,,0.0,1e2,1.000\n" /* says the same */
                                    "b,,0,50,1\n"
                                    "a,,0,100,1\n",
                               (struct trace_options){0});
    cr_assert(t.report.n_rows == 4 && t.report.n_kept == 2 && t.report.n_duplicates == 2);
    cr_assert(t.report.n_dropped == 0 && t.report.n_conflicts == 0 && t.report.n_jobs == 2);
    cr_assert(account_adds_up(&t.report));
    cr_assert(t.jobs.n_jobs == 2 && t.jobs.n_tasks == 2);
    trace_free(&t);
}

Test(import, of_contradicting_rows_the_first_stays_and_both_lines_are_named)
{
    struct trace t = read_text(HEAD "a,x,0,100,1\n"
                                    "a,y,0,100,1\n"
                                    "a,z,0,100,1\n"
                                    "a,y,5,25,1\n"
                                    "a,x,0,100,2\n"
                                    "a,z,0,100,1\n",
                               (struct trace_options){0});
    cr_assert(t.report.n_rows == 6 && t.report.n_kept == 3 && t.report.n_duplicates == 1);
    cr_assert(t.report.n_dropped == 2 && t.report.n_conflicts == 2);
    cr_assert(account_adds_up(&t.report));
    cr_assert_eq(t.report.reason[0].at[0].line, 5);
    cr_assert_str_eq(t.report.reason[0].at[0].value, "line 3");
    cr_assert_eq(t.report.reason[0].at[1].line, 6);
    cr_assert_str_eq(t.report.reason[0].at[1].value, "line 2");
    cr_assert_eq(t.jobs.submit_us[0], 0);
    cr_assert_eq(job_gpu_milli(&t.jobs, 0), 3000);
    trace_free(&t);
}

/* Three thousand tasks of one job, each again a little later: hashing finds them all. */
Test(import, every_further_task_of_a_job_is_told_from_the_others)
{
    enum { N = 3000 };
    char *text = malloc(2 * N * 64), *p = text + sprintf(text, HEAD);
    for (int i = 0; i < 2 * N; i++)
        p += sprintf(p, "j,t%d,0,%d,0\n", i % N, i < N || i % 2 == 0 ? 10 : 20);
    struct trace t = read_text(text, (struct trace_options){0});
    cr_assert(t.jobs.n_jobs == 1 && t.jobs.n_tasks == N);
    cr_assert(t.report.n_duplicates == N / 2 && t.report.n_conflicts == N / 2);
    cr_assert(account_adds_up(&t.report));
    trace_free(&t);
    free(text);
}

Test(import, a_repeat_in_another_file_names_that_file)
{
    struct temp_folder f = temp_folder();
    struct trace t;
    struct error err = {{0}};
    folder_text(&f, "1.csv", HEAD "a,,0,100,1\n");
    folder_text(&f, "2.csv", HEAD "b,,0,1,1\na,,0,100,1\na,,1,100,1\n");
    cr_assert_eq(read_path(f.path, (struct trace_options){0}, &t, &err), ST_OK, "%s", err.text);
    cr_assert(t.report.n_files == 2 && t.report.n_duplicates == 1 && t.report.n_conflicts == 1);
    cr_assert_eq(t.report.reason[0].at[0].file, 1);
    cr_assert_eq(t.report.reason[0].at[0].line, 4);
    cr_assert(strncmp(t.report.reason[0].at[0].value, "line 2 of ", 10) == 0);
    trace_free(&t);
    folder_remove(&f);
}

Test(import, strict_ends_at_the_first_bad_row_and_says_where)
{
    struct trace_options strict = {.strict = true};
    refuse_text(HEAD "a,,0,1,1\nb,,x,1,1\nc,,y,1,1\n", strict, ST_INPUT, ".csv:3:3: submit_s",
                "'x'");
    refuse_text(HEAD "a,,0,1,1\n\nb,0,1,1\n", strict, ST_INPUT, ".csv:4:0: 4 fields, want 5", "");
    refuse_text(HEAD "a,,0,1,1\na,,0,2,1\n", strict, ST_INPUT, ".csv:3: contradicts line 2", "");
    struct trace t = read_text(HEAD "a,,0,1,1\na,,0,1,1\n", strict); /* a repeat is not bad */
    cr_assert_eq(t.report.n_duplicates, 1);
    trace_free(&t);
}

Test(import, names_that_differ_in_a_byte_that_is_not_utf8_are_two_jobs)
{
    struct trace t = read_text(HEAD "n\xfe,,0,1,1\nn\xff,,0,1,1\n", (struct trace_options){0});
    cr_assert_eq(t.jobs.n_jobs, 2);
    cr_assert_str_eq(names_text(&t.jobs.job_names, 0), "n\xfe");
    cr_assert_str_eq(names_text(&t.jobs.job_names, 1), "n\xff");
    trace_free(&t);
}

Test(import, a_name_of_seventy_thousand_bytes_is_whole)
{
    char *text = malloc(70200), *p = text + sprintf(text, HEAD "a,,0,10,1\n");
    memset(p, 'x', 70000);
    strcpy(p + 70000, ",,0,10,1\nc,,0,10,1\n");
    struct trace t = read_text(text, (struct trace_options){0});
    cr_assert(t.report.n_rows == 3 && t.jobs.n_jobs == 3);
    cr_assert_eq(names_length(&t.jobs.job_names, 1), 70000);
    trace_free(&t);
    free(text);
}

/* Whatever mixture of good, bad and repeated rows: nothing is lost and nothing is made up. */
Test(import, the_account_adds_up_over_random_rows)
{
    static const char *const times[] = {"0", "10", "x", "", "-5", "1e3"};
    uint32_t random = 1;
    for (int round = 0; round < 50; round++) {
        char text[8192], *p = text + sprintf(text, HEAD "good,,0,1,1\n");
        for (int i = 0; i < 100; i++) {
            random = random * 1664525 + 1013904223;
            p += sprintf(p, "j%d,t%d,%s,%s,%d%s\n", (int)(random >> 28), (int)(random >> 27 & 1),
                         times[(random >> 20) % 6], times[(random >> 12) % 6],
                         (int)(random >> 9 & 1), (random >> 5 & 15) == 0 ? ",more" : "");
        }
        struct trace t = read_text(text, (struct trace_options){0});
        cr_assert_eq(t.report.n_rows, 101);
        cr_assert(account_adds_up(&t.report));
        cr_assert_eq(t.report.n_kept, t.jobs.n_tasks);
        cr_assert_eq(t.report.n_jobs, t.jobs.n_jobs);
        trace_free(&t);
    }
}
