/* Lucid's log of Venus: columns, widths beyond a node, and telling it from its relatives. */
#include "tests/leak.h"
#include "tests/shared.h"
#include "tests/trace_files.h"

TestSuite(venus, .fini = abort_on_leak, .timeout = 60);

#define HEAD                                                                                       \
    "job_id,user,vc,jobname,gpu_num,cpu_num,state,submit_time,duration,dataset,model,batchsize,"   \
    "amp,speed,gpu_util,gmem_util,gmem\n"

static const char job_log[] =
    HEAD "11,u1,vcA,,1,1,COMPLETED,13219203,97,CIFAR-10,ResNet18,64,1,4038.5,62.0,34.0,3642.0\n"
         "12,u1,vcA,train,16,64,FAILED,13219300,92,MovieLens,NeuMF,128,0,29773,10.4,2.0,2050.1\n"
         "13,u2,vcB,,14,1,CANCELLED,13219304,7643,CIFAR-10,ResNet18,64,1,67.4,14.0,0.0,2059.9\n"
         "14,u2,vcB,,0,1,COMPLETED,13219305,5,CIFAR-10,ResNet18,64,1,67.4,14.0,0.0,0\n"
         "15,u2,vcB,,1,1,COMPLETED,13219306,-5,CIFAR-10,ResNet18,64,1,67.4,14.0,0.0,2059.0\n"
         "16,u2,vcB,,1,1,COMPLETED,13219307,5,,ResNet18,64,1,67.4,14.0,0.0,2059.0\n";

static const struct trace_options off = {0};

Test(venus, a_workload_is_model_dataset_batchsize_and_amp_and_the_vc_its_queue)
{
    struct trace t = read_text(job_log, off);
    const struct job_table *j = &t.jobs;
    cr_assert_str_eq(t.report.format, "venus");
    cr_assert(t.report.n_rows == 6 && t.report.n_kept == 3 && t.report.n_apart == 1);
    cr_assert(t.report.n_dropped == 2 && account_adds_up(&t.report));
    cr_assert_eq(dropped_for(&t.report, "duration is negative"), 1);
    cr_assert_eq(dropped_for(&t.report, "dataset is empty"), 1);
    cr_assert(j->submit_us[0] == INT64_C(13219203000000) && j->duration_us[0] == 97000000);
    cr_assert(j->gpu_milli[0] == 1000 && j->cpu_milli[0] == 0 && j->kind[0] == KIND_TRAIN);
    cr_assert_str_eq(name_of(&t, j->workload[0]), "ResNet18/CIFAR-10/64/1");
    cr_assert_str_eq(name_of(&t, j->queue[0]), "vcA");
    cr_assert_str_eq(name_of(&t, j->user[0]), "u1");
    cr_assert_eq(j->group[0], -1);
    cr_assert_str_eq(name_of(&t, j->group[1]), "train");
    cr_assert_eq(j->workload[0], j->workload[2]);
    cr_assert_float_eq(t.clock_hour_at_0, 48 + 151 / 3600., 1e-9);
    trace_free(&t);
}

Test(venus, memory_is_rounded_up_and_wide_jobs_are_cut_by_the_node)
{
    struct trace t = read_text(job_log, off);
    const struct job_table *j = &t.jobs;
    int32_t wide = j->task_begin[1], rest = j->task_begin[2];
    cr_assert(j->gpu_mem_mib[0] == 3642 && j->gpu_mem_mib[wide] == 2051);
    cr_assert(j->task_begin[2] - wide == 1 && j->n_inst[wide] == 2 && j->gpu_milli[wide] == 8000);
    cr_assert(j->task_begin[3] - rest == 2, "14 GPUs are 8 and 6");
    cr_assert(j->n_inst[rest] == 1 && j->gpu_milli[rest] == 8000);
    cr_assert(j->n_inst[rest + 1] == 1 && j->gpu_milli[rest + 1] == 6000);
    cr_assert_eq(j->gpu_mem_mib[rest + 1], 2060);
    round_trip(&t);
    trace_free(&t);
}

Test(venus, only_completed_jobs_where_that_is_asked_for)
{
    struct trace t = read_text(job_log, (struct trace_options){.successful_only = true});
    cr_assert_eq(t.jobs.n_jobs, 1);
    cr_assert_eq(dropped_for(&t.report, "state is not COMPLETED"), 2);
    trace_free(&t);
}

Test(venus, a_workload_of_endless_name_is_dropped_and_the_rest_is_read)
{
    char text[2048], model[701];
    memset(model, 'm', 700);
    model[700] = '\0';
    snprintf(text, sizeof text, "%s99,u,v,,1,1,COMPLETED,1,2,d,%s,8,0,1,1,1,5\n", job_log, model);
    struct trace t = read_text(text, off);
    cr_assert_eq(dropped_for(&t.report, "the name of the workload is too long"), 1);
    cr_assert(t.jobs.n_jobs == 3 && account_adds_up(&t.report));
    trace_free(&t);
}

Test(venus, a_job_sample_of_pai_is_still_one)
{
    struct trace t = read_text("job_id,user,num_gpu,duration,submit_time\n1,u,1,10,0\n", off);
    cr_assert_str_eq(t.report.format, "pai-jobs");
    trace_free(&t);
}

Test(venus, the_september_log_has_every_row)
{
    char path[SHARED_PATH_MAX];
    struct trace t;
    if (!shared_path(path, "data/lucid/venus_sept_trace.csv.gz"))
        cr_skip_test("no data/lucid/venus_sept_trace.csv.gz (COLOSIM_SHARED)");
    cr_assert_eq(read_path(path, off, &t, NULL), ST_OK);
    cr_assert(t.report.n_rows == 23859 && t.report.n_kept == 23859 && t.report.n_jobs == 23859);
    int n_wide = 0, n_rest = 0;
    for (int32_t j = 0; j < t.jobs.n_jobs; j++) {
        n_wide += job_gpu_milli(&t.jobs, j) > 8000;
        n_rest += t.jobs.task_begin[j + 1] - t.jobs.task_begin[j] > 1;
    }
    cr_assert(n_wide == 2442 && n_rest == 2, "%d wide, %d with a rest", n_wide, n_rest);
    trace_free(&t);
}
