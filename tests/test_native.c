#include "traces/native.h"

#include "tests/leak.h"
#include "tests/trace_files.h"

TestSuite(native, .fini = abort_on_leak);

static const struct trace_options plain = {0};

Test(native, every_column_is_read_in_our_unit)
{
    struct trace t = read_text(
        "priority,min_rate_frac,task,job,submit_s,duration_s,gpu,instances,gpu_min,gpu_max,cpu,"
        "mem_mib,gpu_mem_mib,gpu_type,kind,workload,config,user,group,queue,user_dur_s,group_dur_s,"
        "group_gpu_dur_s\n"
        "-3,0.5,worker,j,-1.5,2.25,0.125,4,1,8,2.5,1024,4096,V100,infer,bert,bs=8,u,g,q,1.5,2,3\n",
        plain);
    const struct job_table *j = &t.jobs;
    cr_assert_str_eq(t.report.format, "native");
    cr_assert(j->n_jobs == 1 && j->n_tasks == 1);
    cr_assert_str_eq(names_text(&j->job_names, 0), "j");
    cr_assert_eq(j->submit_us[0], -1500000);
    cr_assert_eq(j->duration_us[0], 2250000);
    cr_assert(j->gpu_milli[0] == 125 && j->n_inst[0] == 4 && j->cpu_milli[0] == 2500);
    cr_assert(j->mem_mib[0] == 1024 && j->gpu_mem_mib[0] == 4096);
    cr_assert(j->gpu_min[0] == 1 && j->gpu_max[0] == 8 && j->priority[0] == -3);
    cr_assert_eq(j->kind[0], KIND_INFER);
    cr_assert_float_eq(j->min_rate_frac[0], 0.5, 1e-15);
    cr_assert_str_eq(name_of(&t, j->task_name[0]), "worker");
    cr_assert_str_eq(name_of(&t, j->gpu_type[0]), "V100");
    cr_assert_str_eq(name_of(&t, j->workload[0]), "bert");
    cr_assert_str_eq(name_of(&t, j->config[0]), "bs=8");
    cr_assert_str_eq(name_of(&t, j->user[0]), "u");
    cr_assert_str_eq(name_of(&t, j->group[0]), "g");
    cr_assert_str_eq(name_of(&t, j->queue[0]), "q");
    cr_assert_eq(j->hint_us[0][HINT_USER], 1500000);
    cr_assert_eq(j->hint_us[0][HINT_GROUP], 2000000);
    cr_assert_eq(j->hint_us[0][HINT_GROUP_GPU], 3000000);
    cr_assert(isnan(t.clock_hour_at_0) && t.zone == NULL && t.n_nodes == 0);
    trace_free(&t);
}

Test(native, what_is_not_said_is_one_instance_and_nothing_asked)
{
    struct trace t = read_text("job,submit_s,duration_s,gpu\nj,0,1,2\n", plain);
    const struct job_table *j = &t.jobs;
    cr_assert(j->n_inst[0] == 1 && j->gpu_milli[0] == 2000);
    cr_assert(j->cpu_milli[0] == 0 && j->mem_mib[0] == 0 && j->gpu_mem_mib[0] == 0);
    cr_assert(j->task_name[0] == -1 && j->gpu_type[0] == -1 && j->user[0] == -1);
    cr_assert(j->group[0] == -1 && j->queue[0] == -1 && j->workload[0] == -1);
    cr_assert(j->config[0] == -1 && j->gpu_min[0] == 0 && j->gpu_max[0] == 0);
    cr_assert(j->kind[0] == KIND_UNKNOWN && isnan(j->min_rate_frac[0]) && j->priority[0] == 0);
    for (int h = 0; h < N_HINTS; h++)
        cr_assert_eq(j->hint_us[0][h], -1);
    trace_free(&t);
}

Test(native, rows_with_different_tasks_are_one_job_submitted_at_the_earliest)
{
    struct trace t = read_text("job,task,submit_s,duration_s,gpu,cpu,instances\n"
                               "j1,worker,3,100,0.5,4,2\n"
                               "j2,,10,50,1,1,1\n"
                               "j1,ps,0,90,0,6,1\n",
                               plain);
    cr_assert(t.jobs.n_jobs == 2 && t.jobs.n_tasks == 3 && t.report.n_kept == 3);
    cr_assert_eq(t.jobs.submit_us[0], 0);
    cr_assert_eq(job_gpu_milli(&t.jobs, 0), 1000);
    cr_assert_eq(job_n_inst(&t.jobs, 0), 3);
    cr_assert_eq(job_duration_us(&t.jobs, 0), 100000000);
    int64_t cores = 0;
    for (int32_t k = t.jobs.task_begin[0]; k < t.jobs.task_begin[1]; k++)
        cores += (int64_t)t.jobs.n_inst[k] * t.jobs.cpu_milli[k];
    cr_assert_eq(cores, 14000);
    trace_free(&t);
}

Test(native, shares_are_thousandths_that_add_up)
{
    struct trace t = read_text("job,submit_s,duration_s,gpu\n"
                               "a,0,1,0.1\nb,0,1,0.15\nc,0,1,0.33\nd,0,1,1\ne,0,1,2.5\nf,0,1,0\n"
                               "g,0,1,0.001\nh,0,1,1e-1\n",
                               plain);
    static const int32_t milli[] = {100, 150, 330, 1000, 2500, 0, 1, 100};
    for (int i = 0; i < 8; i++)
        cr_assert_eq(t.jobs.gpu_milli[i], milli[i]);
    trace_free(&t);
}

Test(native, a_bad_row_is_dropped_under_its_reason)
{
    static const struct {
        const char *row, *reason;
        int column;
    } rows[] = {
        {",0,1,1,,,,,", "job is empty", 1},
        {"j,,1,1,,,,,", "submit_s is empty", 2},
        {"j,nan,1,1,,,,,", "submit_s is not a number", 2},
        {"j,0,-1,1,,,,,", "duration_s is negative", 3},
        {"j,0,1e400,1,,,,,", "duration_s is not a number", 3},
        {"j,0,1,-1,,,,,", "gpu is negative", 4},
        {"j,0,1,,,,,,", "gpu is empty", 4},
        {"j,0,1,0.0001,,,,,", "gpu is too small", 4},
        {"j,0,1,1e7,,,,,", "gpu is out of range", 4},
        {"j,0,1,1,0,,,,", "instances is out of range", 5},
        {"j,0,1,1,1.5,,,,", "instances is not a whole number", 5},
        {"j,0,1,1,,batch,,,", "kind is not known", 6},
        {"j,0,1,1,,,0,,", "min_rate_frac is out of range", 7},
        {"j,0,1,1,,,1.1,,", "min_rate_frac is out of range", 7},
        {"j,0,1,1,,,,4,2", "gpu_min is above gpu_max", 8},
        {"j,0,1,1,,,,4,", "gpu_min and gpu_max must be given together", 8},
        {"j,0,1,1,,,,,4", "gpu_min and gpu_max must be given together", 8},
        {"j,0,1,1,,,,", "8 fields, want 9", 0},
        {"\"j\"j,0,1,1,,,,,", "text after a closing quote", 0},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char text[512];
        sprintf(text,
                "job,submit_s,duration_s,gpu,instances,kind,min_rate_frac,gpu_min,gpu_max\n"
                "ok,0,1,1,,,,,\n%s\nok2,0,0,0,1,train,1,1,1\n",
                rows[i].row);
        struct trace t = read_text(text, plain);
        cr_assert(t.report.n_rows == 3 && t.report.n_kept == 2 && t.report.n_reasons == 1, "%s",
                  rows[i].row);
        cr_assert_str_eq(t.report.reason[0].text, rows[i].reason);
        cr_assert_eq(t.report.reason[0].at[0].line, 3);
        cr_assert_eq(t.report.reason[0].at[0].column, rows[i].column);
        trace_free(&t);
    }
}

Test(native, an_unknown_column_is_refused_with_the_nearest_one_and_a_mapping)
{
    refuse_text("job,submit_s,duration_s,gpus\na,0,1,1\n", plain, ST_INPUT,
                ":1:4: unknown column 'gpus' (nearest: 'gpu')", "gpu=gpus");
    refuse_text(
        "job_id,submit_s,duration_s,gpu\na,0,1,1\n", plain, ST_INPUT,
        ":1:1: unknown column 'job_id'",
        "--format csv --columns job=job_id,submit_s=submit_s,duration_s=duration_s,gpu=gpu");
    refuse_text("job,submit_s,duration_s\na,0,1\n", plain, ST_INPUT, "no column 'gpu'", "");
    refuse_text("job,submit_s,duration_s,gpu,gpu\na,0,1,1,1\n", plain, ST_INPUT, "twice", "'gpu'");
}

Test(native, any_csv_is_read_by_naming_its_columns)
{
    struct trace_options o = {
        .format = "csv",
        .columns =
            "job=job_name,task=task_name,submit_s=start_s,duration_s=duration_s,gpu=gpu_total"};
    struct trace t = read_text("task_row,job_name,task_name,start_s,duration_s,gpu_total\n"
                               "384494,e292,worker,948222,167731,8\n"
                               "319385,5d38,worker,956040,172800,2\n",
                               o);
    cr_assert_str_eq(t.report.format, "csv");
    cr_assert(t.jobs.n_jobs == 2 && t.jobs.gpu_milli[0] == 8000);
    cr_assert_eq(t.jobs.submit_us[1], INT64_C(956040000000));
    cr_assert_str_eq(name_of(&t, t.jobs.task_name[1]), "worker");
    trace_free(&t);
    o.format = NULL; /* the mapping alone says it, too */
    t = read_text("job_name,task_name,start_s,duration_s,gpu_total\ne,w,1,2,3\n", o);
    cr_assert_str_eq(t.report.format, "csv");
    trace_free(&t);
    refuse_text("job_name,start_s\ne,1\n", o, ST_INPUT, ":1: no column 'task_name'", "start_s");
    o.format = "csv";
    o.columns = NULL;
    refuse_text("a,b\n1,2\n", o, ST_USAGE, "--columns", "job=");
}
