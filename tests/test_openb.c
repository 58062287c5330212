/* Alibaba v2023: pods, nodes, and requests that list GPU types. */
#include "tests/lab.h"
#include "tests/leak.h"
#include "tests/shared.h"
#include "tests/trace_files.h"

TestSuite(openb, .fini = abort_on_leak);

#define HEAD                                                                                       \
    "name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec,qos,pod_phase,creation_time,"            \
    "deletion_time,scheduled_time\n"

static const char pods[] =
    HEAD "p0,12000,16384,1,1000,,LS,Running,0,12537496,0\n"
         "p1,6000,12288,1,460,T4,BE,Succeeded,427061,427100,427070\n"
         "p2,1000,1024,8,1000,V100M16|V100M32,LS,Failed,500000,500100,500010\n"
         "p3,20000,65536,0,0,,LS,Running,600000,600050,600000\n"
         "p4,11908,47104,1,1000,,BE,Pending,700000,700125,\n"
         "p5,1000,1024,2,500,,BE,Running,800000,800125,800000\n";
static const char nodes[] = "sn,cpu_milli,memory_mib,gpu,model\n"
                            "n0,64000,262144,2,P100\nn1,96000,393216,8,V100M32\n";

static const struct trace_options off = {0};

Test(openb, a_pod_is_a_job_that_runs_from_scheduling_to_deletion)
{
    struct trace t = read_text(pods, off);
    cr_assert_str_eq(t.report.format, "openb");
    cr_assert(t.report.n_rows == 6 && t.report.n_kept == 4 && account_adds_up(&t.report));
    cr_assert_eq(dropped_for(&t.report, "no scheduled_time: it never ran"), 1);
    cr_assert_eq(dropped_for(&t.report, "parts of several GPUs"), 1);
    int32_t p1 = job_of(&t, "p1"), task = t.jobs.task_begin[p1];
    cr_assert_eq(t.jobs.submit_us[p1], INT64_C(427061) * US_PER_S);
    cr_assert_eq(t.jobs.duration_us[task], 30 * US_PER_S);
    cr_assert(t.jobs.gpu_milli[task] == 460 && t.jobs.cpu_milli[task] == 6000);
    cr_assert_eq(t.jobs.mem_mib[task], 12288);
    cr_assert_str_eq(name_of(&t, t.jobs.gpu_type[task]), "T4");
    cr_assert_str_eq(name_of(&t, t.jobs.queue[p1]), "BE");
    cr_assert_eq(job_gpu_milli(&t.jobs, job_of(&t, "p2")), 8000);
    cr_assert_eq(job_gpu_milli(&t.jobs, job_of(&t, "p3")), 0);
    round_trip(&t);
    trace_free(&t);
    t = read_text(pods, (struct trace_options){.successful_only = true});
    cr_assert_eq(t.jobs.n_jobs, 1);
    trace_free(&t);
}

Test(openb, the_node_list_beside_the_pods_is_the_cluster)
{
    struct temp_folder f = temp_folder();
    struct trace t;
    struct error err = {{0}};
    folder_text(&f, "openb_node_list_gpu_node.csv", nodes);
    folder_text(&f, "openb_pod_list_default.csv", pods);
    folder_text(&f, "notes.csv", "a,b\n1,2\n");
    cr_assert_eq(read_path(f.path, off, &t, &err), ST_OK, "%s", err.text);
    cr_assert(t.jobs.n_jobs == 4 && t.n_nodes == 2 && t.report.n_rows == 6);
    cr_assert_str_eq(t.nodes[1].name, "n1");
    cr_assert_str_eq(t.nodes[1].gpu_type, "V100M32");
    cr_assert(t.nodes[1].n_gpus == 8 && t.nodes[1].cpu_milli == 96000);
    cr_assert(t.nodes[1].mem_mib == 393216 && t.nodes[1].gpu_mem_mib == 32768);
    cr_assert(has_note(&t.report, "not read: notes.csv"));
    trace_free(&t);
    folder_remove(&f);
}

Test(openb, the_node_list_alone_is_a_cluster_and_a_bad_row_spoils_it)
{
    struct node_spec *node = NULL;
    int32_t n = 0;
    struct error err = {{0}};
    struct temp_file f = temp_text(".csv", nodes);
    cr_assert_eq(trace_read_machines(f.path, &node, &n, &err), ST_OK, "%s", err.text);
    cr_assert(n == 2 && node[0].n_gpus == 2);
    node_specs_free(node, n);
    temp_remove(&f);
    f = temp_text(".csv", "sn,cpu_milli,memory_mib,gpu,model\nn0,64000,x,2,P100\n");
    cr_assert_eq(trace_read_machines(f.path, &node, &n, &err), ST_INPUT);
    cr_assert_not_null(strstr(err.text, ":2:3:"), "%s", err.text);
    temp_remove(&f);
}

/* a takes the only T4, b may have a T4 or a P100, c only what is not there, d one of two. */
Test(openb, a_list_of_types_is_served_by_any_of_them)
{
    struct lab l = {0};
    lab_jobs(&l, "a 0 100 1 1 - 0 T4\nb 0 10 1 1 - 0 T4|P100\nc 0 10 1 1 - 0 A10|A100\n"
                 "d 0 10 1 1 - 0 A10|P100\ne 0 10 1 1 - 0 T4|P100|V100");
    lab_nodes(&l, "1:T4+1:P100");
    lab_run(&l, "fifo-skip");
    cr_assert_float_eq(lab_start_s(&l, "b"), 0, 1e-9);
    cr_assert_eq(l.jobs.status[lab_job(&l, "c")], JOB_REJECTED);
    cr_assert_float_eq(lab_start_s(&l, "d"), 10, 1e-9);
    cr_assert_float_eq(lab_start_s(&l, "e"), 20, 1e-9, "the P100 again: the T4 is taken until 100");
    lab_free(&l);
}

Test(openb, the_published_lists_have_the_known_size)
{
    char path[SHARED_PATH_MAX];
    struct trace t;
    struct node_spec *node = NULL;
    int32_t n = 0, n_gpus = 0;
    struct error err = {{0}};
    if (!shared_path(path, "data/other/openb_pod_list_default.csv.gz"))
        cr_skip_test("no data/other in the shared folder");
    cr_assert_eq(read_path(path, off, &t, &err), ST_OK, "%s", err.text);
    cr_assert(t.report.n_rows == 8152 && t.report.n_kept == 7255);
    cr_assert_eq(dropped_for(&t.report, "no scheduled_time: it never ran"), 897);
    trace_free(&t);
    cr_assert(shared_path(path, "data/other/openb_node_list_gpu_node.csv"));
    cr_assert_eq(trace_read_machines(path, &node, &n, &err), ST_OK, "%s", err.text);
    for (int32_t i = 0; i < n; i++)
        n_gpus += node[i].n_gpus;
    cr_assert(n == 1213 && n_gpus == 6212, "%d nodes, %d GPUs", n, n_gpus);
    node_specs_free(node, n);
}
