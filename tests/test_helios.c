/* Helios logs: case 50, the derived table, and widths beyond a node. */
#include "tests/leak.h"
#include "tests/shared.h"
#include "tests/trace_files.h"

TestSuite(helios, .fini = abort_on_leak, .timeout = 60);

#define HEAD                                                                                       \
    "job_id,user,vc,gpu_num,cpu_num,node_num,state,submit_time,start_time,end_time,duration,"      \
    "queue\n"
#define DAY "2020-06-09 "

static const char job_log[] =
    HEAD "1,u1,vcA,1,4,1,COMPLETED," DAY "09:00:00," DAY "09:00:00," DAY "09:10:00,600,0\n"
         "2,u1,vcA,0,4,1,COMPLETED," DAY "09:00:01," DAY "09:00:01," DAY "09:10:01,600,0\n"
         "3,u2,vcA,12,48,2,CANCELLED," DAY "09:00:02," DAY "09:05:00," DAY "09:15:00,600,298\n"
         "4,u2,vcB,8,32,1,NODE_FAIL," DAY "09:01:00," DAY "09:01:00," DAY "09:06:00,300,0\n"
         "5,u3,vcB,1,4,1,FAILED," DAY "09:02:30," DAY "09:02:00," DAY "09:03:00,60,-30\n"
         "6,u3,vcB,2,4,1,TIMEOUT," DAY "09:03:00," DAY "09:03:00," DAY "09:05:40,100,0\n"
         "7,u3,vcB,1,4,1,RUNNING," DAY "09:04:00," DAY "09:04:00,,,0\n";

static const struct trace_options off = {0};

static double work_of(const struct trace *t)
{
    double sum = 0;
    for (int32_t j = 0; j < t->jobs.n_jobs; j++)
        sum += job_work_gpu_s(&t->jobs, j);
    return sum;
}

Test(helios, cpu_jobs_are_kept_apart_and_times_win_over_the_duration_column)
{
    struct trace t = read_text(job_log, off);
    cr_assert_str_eq(t.report.format, "helios");
    cr_assert(t.report.n_rows == 7 && t.report.n_kept == 5 && t.report.n_apart == 1);
    cr_assert(t.report.n_dropped == 1 && account_adds_up(&t.report));
    cr_assert_eq(dropped_for(&t.report, "no end_time"), 1);
    cr_assert(has_note(&t.report, "the times stand, rows: 1 (the first: job 6, line 7: 160 s, not "
                                  "100)"));
    cr_assert(has_note(&t.report, "start before submission, rows: 1 (the first: job 5, line 6)"));
    cr_assert_float_eq(work_of(&t), 10580, 1e-9);
    cr_assert_eq(job_duration_us(&t.jobs, job_of(&t, "6")), 160 * US_PER_S);
    cr_assert_str_eq(name_of(&t, t.jobs.queue[job_of(&t, "4")]), "vcB");
    cr_assert_str_eq(name_of(&t, t.jobs.user[job_of(&t, "4")]), "u2");
    cr_assert_eq(t.jobs.kind[0], KIND_TRAIN);
    cr_assert_float_eq(t.clock_hour_at_0, 72, 0);
    round_trip(&t);
    trace_free(&t);
}

Test(helios, a_job_wider_than_a_node_is_cut_into_nodes_and_what_is_left)
{
    struct trace_options four = {.node_gpus = 4};
    struct trace t = read_text(job_log, off);
    int32_t job = job_of(&t, "3"), task = t.jobs.task_begin[job];
    cr_assert_eq(t.jobs.task_begin[job + 1] - task, 2);
    cr_assert(t.jobs.n_inst[task] == 1 && t.jobs.gpu_milli[task] == 8000);
    cr_assert(t.jobs.n_inst[task + 1] == 1 && t.jobs.gpu_milli[task + 1] == 4000);
    cr_assert(t.jobs.cpu_milli[task] == 32000 && t.jobs.cpu_milli[task + 1] == 16000);
    cr_assert_str_eq(name_of(&t, t.jobs.task_name[task + 1]), "rest");
    cr_assert(has_note(&t.report, "more than 8 GPUs, cut into instances of 8"));
    trace_free(&t);
    t = read_text(job_log, four);
    job = job_of(&t, "3");
    task = t.jobs.task_begin[job];
    cr_assert_eq(t.jobs.task_begin[job + 1] - task, 1);
    cr_assert(t.jobs.n_inst[task] == 3 && t.jobs.gpu_milli[task] == 4000);
    cr_assert(has_note(&t.report, "(trace.node_gpus): 2"));
    cr_assert_float_eq(work_of(&t), 10580, 1e-9);
    trace_free(&t);
}

Test(helios, a_second_row_of_a_wide_job_is_compared_by_its_whole_width)
{
    static const char row[] =
        "1,u,v,20,0,3,COMPLETED," DAY "09:00:00," DAY "09:00:00," DAY "09:10:00,600,0\n";
    static const char wider[] =
        "1,u,v,21,0,3,COMPLETED," DAY "09:00:00," DAY "09:00:00," DAY "09:10:00,600,0\n";
    char text[1000];
    snprintf(text, sizeof text, HEAD "%s%s%s", row, row, wider);
    struct trace t = read_text(text, off);
    cr_assert(t.report.n_duplicates == 1 && t.report.n_conflicts == 1 && t.report.n_kept == 1);
    cr_assert(t.jobs.n_jobs == 1 && t.jobs.n_tasks == 2 && account_adds_up(&t.report));
    cr_assert_eq(job_gpu_milli(&t.jobs, 0), 20000);
    trace_free(&t);
}

Test(helios, columns_may_stand_in_any_order_and_odd_rows_have_their_reason)
{
    struct trace t = read_text(
        "end_time,start_time,submit_time,gpu_num,job_id\n" DAY "10:00:00," DAY "09:00:00," DAY
        "09:00:00,1,a\n" DAY "08:00:00," DAY "09:00:00," DAY "09:00:00,1,b\n" DAY
        "10:00:00,None," DAY "09:00:00,1,c\n"
        "None," DAY "09:00:00," DAY "09:00:00,1,d\n" DAY "10:00:00," DAY "09:00:00,soon,1,e\n",
        off);
    cr_assert(t.report.n_kept == 1 && t.report.n_dropped == 4);
    cr_assert_eq(dropped_for(&t.report, "end before start"), 1);
    cr_assert_eq(dropped_for(&t.report, "no start_time"), 1);
    cr_assert_eq(dropped_for(&t.report, "no end_time"), 1);
    cr_assert_eq(dropped_for(&t.report, "submit_time is no date (YYYY-MM-DD hh:mm:ss)"), 1);
    trace_free(&t);
}

Test(helios, successful_only_keeps_what_was_completed)
{
    struct trace t = read_text(job_log, (struct trace_options){.successful_only = true});
    cr_assert_eq(t.jobs.n_jobs, 1);
    cr_assert_eq(dropped_for(&t.report, "state is not COMPLETED"), 4);
    trace_free(&t);
}

Test(helios, the_derived_table_has_seconds_and_says_where_it_was_cut)
{
    struct trace t = read_text("job_id,arrival_s,service_sec,gpu_count\n"
                               "363167#0,0.0,172800.0,32\n394948#2,651507.0,10.5,8\n",
                               off);
    cr_assert_str_eq(t.report.format, "helios");
    cr_assert(t.jobs.n_inst[0] == 4 && t.jobs.gpu_milli[0] == 8000);
    cr_assert_eq(t.jobs.submit_us[1], INT64_C(651507) * US_PER_S);
    cr_assert_eq(t.jobs.duration_us[1], 10500000);
    cr_assert(has_note(&t.report, "172800 s, where this table cuts them: 1"));
    cr_assert(isnan(t.clock_hour_at_0));
    round_trip(&t);
    trace_free(&t);
}

Test(helios, the_venus_table_is_read_whole)
{
    char path[SHARED_PATH_MAX];
    struct trace t;
    struct error err = {{0}};
    if (!shared_path(path, "data/other/helios_venus_derived125303.csv.gz"))
        cr_skip_test("no data/other in the shared folder");
    cr_assert_eq(read_path(path, off, &t, &err), ST_OK, "%s", err.text);
    cr_assert(t.report.n_kept == 125303 && t.jobs.n_jobs == 125303);
    cr_assert(has_note(&t.report, "cuts them: 2379"));
    cr_assert_float_eq(work_of(&t), 8.72426e9, 5e3); /* sum of service_sec x gpu_count */
    trace_free(&t);
}
