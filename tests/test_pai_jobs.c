#include "traces/pai.h"

#include "tests/leak.h"
#include "tests/shared.h"
#include "tests/trace_files.h"

TestSuite(pai_jobs, .fini = abort_on_leak);

static const char estimate[] =
    "job_id,user,num_gpu,num_cpu,num_pod,duration,submit_time,group,gpu_type,wait_time,user_dur,"
    "group_dur,group_gpu_dur,read_count\n"
    "0,d4d5,0,2,1,34,0,31d2,CPU,3,386.0,6793.5,34.0,1\n"
    "1,d4d5,25.0,72.5,50,15748,3,31d2,T4,2,386.0,6793.5,15199.0,2\n"
    "2,,0.25,6,1,5,4,,,9,,,,3\n";

Test(pai_jobs, a_row_is_a_job_with_what_it_asks_per_instance_and_three_estimates)
{
    struct trace t = read_text(estimate, (struct trace_options){0});
    const struct job_table *j = &t.jobs;
    cr_assert_str_eq(t.report.format, "pai-jobs");
    cr_assert(j->n_jobs == 3 && j->n_tasks == 3 && t.report.n_kept == 3);
    cr_assert_str_eq(names_text(&j->job_names, 1), "1");
    cr_assert(j->submit_us[1] == 3000000 && j->duration_us[1] == INT64_C(15748000000));
    cr_assert(j->n_inst[1] == 1 && j->gpu_milli[1] == 25000 && j->cpu_milli[1] == 72500);
    cr_assert_str_eq(name_of(&t, j->gpu_type[0]), "CPU");
    cr_assert_str_eq(name_of(&t, j->user[1]), "d4d5");
    cr_assert_str_eq(name_of(&t, j->group[1]), "31d2");
    cr_assert(j->hint_us[1][HINT_USER] == 386000000 && j->hint_us[1][HINT_GROUP] == 6793500000);
    cr_assert_eq(j->hint_us[1][HINT_GROUP_GPU], 15199000000);
    cr_assert(j->user[2] == -1 && j->group[2] == -1 && j->gpu_type[2] == -1);
    cr_assert_eq(j->hint_us[2][HINT_USER], -1);
    cr_assert(isnan(t.clock_hour_at_0));
    cr_assert(has_note(&t.report, "includes the wait"));
    cr_assert(has_note(&t.report, "num_pod") && has_note(&t.report, "1 rows give totals"));
    cr_assert(has_note(&t.report, "read_count"));
    trace_free(&t);
}

Test(pai_jobs, the_wait_can_be_taken_off_down_to_zero)
{
    struct trace t = read_text(estimate, (struct trace_options){.duration = DURATION_MINUS_WAIT});
    cr_assert_eq(t.jobs.duration_us[0], 31000000);
    cr_assert_eq(t.jobs.duration_us[1], INT64_C(15746000000));
    cr_assert_eq(t.jobs.duration_us[2], 0);
    cr_assert(has_note(&t.report, "duration - wait_time in the 3 rows"));
    trace_free(&t);
}

Test(pai_jobs, the_sample_without_estimates_counts_instances)
{
    static const char text[] =
        "job_id,user,num_gpu,num_cpu,num_inst,duration,submit_time,gpu_type\n"
        "22,,0.5,6,4,37,22,MISC\n25,u,,,,180,25,\n";
    static const char *const formats[] = {NULL, "pai", "pai-jobs"};
    for (int i = 0; i < 3; i++) {
        struct trace t = read_text(text, (struct trace_options){.format = formats[i]});
        cr_assert_str_eq(t.report.format, "pai-jobs");
        cr_assert(t.jobs.n_inst[0] == 4 && t.jobs.gpu_milli[0] == 500);
        cr_assert(t.jobs.n_inst[1] == 1 && t.jobs.gpu_milli[1] == 0 && t.jobs.cpu_milli[1] == 0);
        cr_assert(has_note(&t.report, "no wait_time to subtract"));
        cr_assert_not(has_note(&t.report, "num_pod"));
        trace_free(&t);
    }
}

Test(pai_jobs, a_bad_row_is_dropped_and_a_missing_column_refused)
{
    struct trace t = read_text("job_id,num_gpu,duration,submit_time\n"
                               "1,1,-5,0\n2,1,5,\n3,-1,5,0\n4,1,5,0\n4,1,6,0\n",
                               (struct trace_options){0});
    cr_assert(t.report.n_rows == 5 && t.report.n_kept == 1 && t.report.n_conflicts == 1);
    cr_assert(account_adds_up(&t.report));
    trace_free(&t);
    refuse_text("job_id,num_gpu,num_inst,submit_time\n1,1,1,0\n", (struct trace_options){0},
                ST_INPUT, "no column 'duration'", ".csv:1");
}

static int64_t total_s(const char *path, enum trace_duration duration, int32_t n_jobs)
{
    struct trace t;
    struct error err = {{0}};
    int64_t sum = 0;
    cr_assert_eq(read_path(path, (struct trace_options){.duration = duration}, &t, &err), ST_OK,
                 "%s", err.text);
    cr_assert(t.jobs.n_jobs == n_jobs && t.report.n_kept == n_jobs);
    for (int32_t j = 0; j < n_jobs; j++)
        sum += t.jobs.duration_us[j];
    trace_free(&t);
    return sum / US_PER_S;
}

/* Row counts are those of the files. In the first the durations sum to 1,928,266 s (526 times the
 * official simulator's mean completion less its mean wait, 5713.5608 - 2047.6559 s), of which
 * 14,064 s are waits. */
Test(pai_jobs, the_real_samples_are_read_whole)
{
    char path[SHARED_PATH_MAX];
    if (!shared_path(path, "data/pai/pai_est_first526.csv"))
        cr_skip_test("no reference data");
    cr_assert_eq(total_s(path, DURATION_AS_GIVEN, 526), 1928266);
    cr_assert_eq(total_s(path, DURATION_MINUS_WAIT, 526), 1928266 - 14064);
    cr_assert(shared_path(path, "data/pai/pai100k_sample3046.csv"));
    total_s(path, DURATION_AS_GIVEN, 3046);
    cr_assert(shared_path(path, "data/pai/SYNTHETIC_pai_est_100k.csv.gz"));
    total_s(path, DURATION_AS_GIVEN, 100000);
}
