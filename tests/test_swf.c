/* The Standard Workload Format. */
#include "tests/leak.h"
#include "tests/shared.h"
#include "tests/trace_files.h"

TestSuite(swf, .fini = abort_on_leak);

static const char sample[] = "; Version: 2.2\n"
                             ";   UnixStartTime:  97200\n"
                             "; Note: -1 means unknown, and a \"quote\n"
                             "1 0 0 100 8 -1 -1 8 200 -1 1 1 1 -1 1 -1 -1 -1\n"
                             "  2\t10 -1 50 64 -1 -1 64 60 -1 1 2 1 -1 1 -1 -1 -1  \n"
                             "; in between\n"
                             "3 10 -1 30 4 -1 -1 6 30 -1 0 2 1 -1 1 -1 -1 -1\n"
                             "4 20 -1 -1 4 -1 -1 4 30 -1 5 3 2 -1 1 -1 -1 -1\n"
                             "\n"
                             "5 30 -1 20 20 -1 -1 -1 -1 -1 1 3 2 -1 -1 -1 -1 -1\n"
                             "6 40 -1 0 -1 -1 -1 1 10 -1 1 -1 1 -1 1 -1 -1 -1\n"
                             "7 40.5 -1 5 -1 -1 -1 -1 10 -1 1 1 1 -1 1 -1 -1 -1\n"
                             "8 41 -1 5 1 -1 -1 1 10 -1 3 1 1 -1 1 -1 -1 -1\n"
                             "9 42 -1 5 1\n";

static const struct trace_options off = {0};

Test(swf, eighteen_numbers_are_a_job_and_processors_are_gpus)
{
    struct trace t = read_text(sample, off);
    cr_assert_str_eq(t.report.format, "swf");
    cr_assert(t.report.n_rows == 9 && t.report.n_kept == 5 && account_adds_up(&t.report));
    cr_assert_eq(dropped_for(&t.report, "no run time: it never ran"), 1);
    cr_assert_eq(dropped_for(&t.report, "no number of processors"), 1);
    cr_assert_eq(dropped_for(&t.report, "part of a job (status 2 to 4)"), 1);
    cr_assert_eq(dropped_for(&t.report, "5 fields, want 18"), 1);
    cr_assert_eq(t.report.reason[0].at[0].line, 8);
    cr_assert_eq(t.report.reason[0].at[0].column, 4);
    int32_t job = job_of(&t, "2");
    cr_assert_eq(t.jobs.submit_us[job], 10 * US_PER_S);
    cr_assert(t.jobs.n_inst[t.jobs.task_begin[job]] == 8 && job_gpu_milli(&t.jobs, job) == 64000);
    cr_assert_eq(job_gpu_milli(&t.jobs, job_of(&t, "3")), 4000, "allocated, not requested");
    cr_assert_eq(job_gpu_milli(&t.jobs, job_of(&t, "5")), 20000);
    cr_assert_eq(job_gpu_milli(&t.jobs, job_of(&t, "6")), 1000, "requested where not allocated");
    cr_assert_eq(t.jobs.hint_us[job][HINT_USER], 60 * US_PER_S);
    cr_assert_eq(t.jobs.hint_us[job_of(&t, "5")][HINT_USER], -1);
    cr_assert_str_eq(name_of(&t, t.jobs.user[job]), "2");
    cr_assert_eq(t.jobs.user[job_of(&t, "6")], -1);
    cr_assert_eq(t.jobs.queue[job_of(&t, "5")], -1);
    cr_assert_eq(t.jobs.kind[job], KIND_UNKNOWN);
    cr_assert(has_note(&t.report, "processors are read as GPUs"));
    round_trip(&t);
    trace_free(&t);
}

Test(swf, the_clock_comes_from_the_comments)
{
    struct trace t = read_text(sample, off); /* 97,200 s: Friday, 2 January 1970, 03:00 */
    cr_assert_float_eq(t.clock_hour_at_0, 4 * 24 + 3, 1e-9);
    cr_assert_str_eq(t.zone, "UTC");
    trace_free(&t);
    t = read_text("1 0 0 100 8 -1 -1 8 200 -1 1 1 1 -1 1 -1 -1 -1\n", off);
    cr_assert(isnan(t.clock_hour_at_0) && t.jobs.n_jobs == 1);
    trace_free(&t);
    t = read_text("; UnixStartTime: 0\n1 0 0 100 8 -1 -1 8 200 -1 1 1 1 -1 1 -1 -1 -1\n", off);
    cr_assert(isnan(t.clock_hour_at_0), "0 says nothing");
    trace_free(&t);
}

Test(swf, successful_only_keeps_status_1)
{
    struct trace t = read_text(sample, (struct trace_options){.successful_only = true});
    cr_assert_eq(t.jobs.n_jobs, 4);
    trace_free(&t);
}

Test(swf, sixteen_numbers_are_not_guessed_to_be_a_job)
{
    refuse_text("1 0 0 100 8 -1 -1 8 200 -1 1 1 1 -1 1 -1\n", off, ST_INPUT, "cannot tell", "");
    refuse_text("1 0 0 100 8 -1 -1 8 200 -1 1 1 1 -1 1 x -1 -1\n", off, ST_INPUT, "cannot tell",
                "");
}

Test(swf, the_sample_file_is_read)
{
    char path[SHARED_PATH_MAX];
    struct trace t;
    struct error err = {{0}};
    if (!shared_path(path, "data/swf/sample.swf"))
        cr_skip_test("no data/swf in the shared folder");
    cr_assert_eq(read_path(path, off, &t, &err), ST_OK, "%s", err.text);
    cr_assert(t.report.n_rows == 6 && t.report.n_kept == 5);
    cr_assert_eq(job_gpu_milli(&t.jobs, job_of(&t, "5")), 56000);
    trace_free(&t);
}
