#include "traces/pai.h"

#include "tests/leak.h"
#include "tests/shared.h"
#include "tests/trace_files.h"

TestSuite(pai_tables, .fini = abort_on_leak);

Test(pai_tables, are_known_by_how_the_file_name_begins)
{
    static const struct {
        const char *name;
        enum pai_table table;
    } rows[] = {
        {"pai_task_table.csv", PAI_TASK},
        {"pai_task_table_sub60105.csv.gz", PAI_TASK},
        {"pai_job_table.csv", PAI_JOB},
        {"pai_instance_table.csv.gz", PAI_INSTANCE},
        {"pai_group_tag_table.csv", PAI_GROUP},
        {"pai_machine_spec.csv", PAI_MACHINE},
        {"pai_machine_metric.csv", PAI_METRIC},
        {"pai_sensor_table.csv", PAI_SENSOR},
        {"pai_job_duration_estimate_100K.csv", PAI_NONE},
        {"my_pai_task_table.csv", PAI_NONE},
        {"", PAI_NONE},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        cr_assert_eq(pai_by_name(rows[i].name), rows[i].table, "%s", rows[i].name);
}

/* The first row's fields as an input has them. */
static struct input input_of(const char *row, struct field *field)
{
    struct input in = {.first = field};
    for (const char *p = row; *row != '\0'; p = strchr(p, ',') + 1) {
        field[in.n_first++] = (struct field){p, strcspn(p, ",")};
        if (strchr(p, ',') == NULL)
            break;
    }
    return in;
}

Test(pai_tables, are_known_by_their_header_or_their_number_of_columns)
{
    static const struct {
        const char *row;
        enum pai_table named, guessed;
    } rows[] = {
        {"a,w,1,Terminated,0,1,100,1,100,V100", PAI_TASK, PAI_TASK},
        {"a,w,1,?,0,1,100,1,100,V100", PAI_TASK, PAI_NONE},
        {"a,i,u,Failed,0,1", PAI_JOB, PAI_JOB},
        {"a,b,c,d,e,f", PAI_JOB, PAI_NONE},
        {"a,t,n,w,i,Running,0,,m", PAI_INSTANCE, PAI_INSTANCE},
        {"m,V100,96,512,8", PAI_MACHINE, PAI_NONE},
        {"i,u,V100,g,w", PAI_GROUP, PAI_NONE},
        {"i,u,,,", PAI_GROUP, PAI_NONE},
        {"1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16", PAI_SENSOR, PAI_NONE},
        {"1,2,3,4,5,6,7,8,9,10,11,12", PAI_METRIC, PAI_NONE},
        {"a,b", PAI_NONE, PAI_NONE},
        {"", PAI_NONE, PAI_NONE},
        {"status,job_name,start_time", PAI_TASK, PAI_TASK},
        {"job_name,inst_id,user,status", PAI_JOB, PAI_JOB},
        {"job_name,task_name,inst_name,inst_id,start_time,end_time,machine", PAI_INSTANCE,
         PAI_INSTANCE},
        {"inst_id,user,group,workload", PAI_GROUP, PAI_GROUP},
        {"machine,gpu_type,cap_cpu,cap_mem,cap_gpu", PAI_MACHINE, PAI_MACHINE},
        {"job_id,user,num_gpu,duration,submit_time", PAI_SAMPLE, PAI_SAMPLE},
        {"job,submit_s,duration_s,gpu,user,group,gpu_type", PAI_NONE, PAI_NONE},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct field field[16];
        struct input in = input_of(rows[i].row, field);
        cr_assert_eq(pai_by_content(&in, false), rows[i].named, "%s", rows[i].row);
        cr_assert_eq(pai_by_content(&in, true), rows[i].guessed, "%s", rows[i].row);
    }
}

static enum status machines(const char *text, struct node_spec **nodes, int32_t *n,
                            struct error *err)
{
    struct temp_file f = temp_text(".csv", text);
    enum status status = trace_read_machines(f.path, nodes, n, err);
    temp_remove(&f);
    return status;
}

Test(pai_tables, the_machine_table_is_a_cluster_with_or_without_header)
{
    static const char *const texts[] = {"m1,V100M32,96,384,8\nm2,CPU,96,512,0\nm3,T4,95.5,512,2\n",
                                        "machine,gpu_type,cap_cpu,cap_mem,cap_gpu\n"
                                        "m1,V100M32,96,384,8\nm2,CPU,96,512,0\nm3,T4,95.5,512,2\n",
                                        "cap_gpu,machine,cap_mem,cap_cpu,gpu_type\n"
                                        "8,m1,384,96,V100M32\n0,m2,512,96,CPU\n2,m3,512,95.5,T4\n"};
    for (int i = 0; i < 3; i++) {
        struct node_spec *nodes;
        int32_t n;
        struct error err = {{0}};
        cr_assert_eq(machines(texts[i], &nodes, &n, &err), ST_OK, "%s", err.text);
        cr_assert_eq(n, 3);
        cr_assert_str_eq(nodes[0].name, "m1");
        cr_assert_str_eq(nodes[0].gpu_type, "V100M32");
        cr_assert(nodes[0].count == 1 && nodes[0].n_gpus == 8 && nodes[0].gpu_mem_mib == 32768);
        cr_assert(nodes[0].cpu_milli == 96000 && nodes[0].mem_mib == 384 * 1024);
        cr_assert(nodes[1].n_gpus == 0 && nodes[1].gpu_mem_mib == 0);
        cr_assert(nodes[2].cpu_milli == 95500 && nodes[2].n_gpus == 2);
        node_specs_free(nodes, n);
    }
}

Test(pai_tables, a_machine_table_with_a_bad_row_is_refused)
{
    static const struct {
        const char *text, *word;
    } rows[] = {
        {"m1,V100,96,512,8\nm2,V100,96,512,x\n", ":2:5: cap_gpu is not a number"},
        {"m1,V100,96,512,8\nm2,V100,96,512\n", ":2:0: 4 fields, want 5"},
        {"m1,V100,96,512,8\n,V100,96,512,8\n", ":2:1: machine is empty"},
        {"m1,V100,96,512,8\nm2,V100,-1,512,8\n", "cap_cpu is negative"},
        {"a,worker,1,Terminated,0,1,1,1,1,T4\n", "no machine table"},
        {"", "no machine table"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct node_spec *nodes = NULL;
        int32_t n = 7;
        struct error err = {{0}};
        cr_assert_eq(machines(rows[i].text, &nodes, &n, &err), ST_INPUT, "%s", rows[i].text);
        cr_assert(strstr(err.text, rows[i].word), "%s", err.text);
        cr_assert(nodes == NULL && n == 7);
    }
}

/* The published table: 1,897 machines, 6,742 GPUs. */
Test(pai_tables, the_real_machine_table_is_read_whole)
{
    char path[SHARED_PATH_MAX];
    struct node_spec *nodes;
    int32_t n;
    int64_t gpus = 0;
    struct error err = {{0}};
    if (!shared_path(path, "data/pai/pai_machine_spec.csv"))
        cr_skip_test("no reference data");
    cr_assert_eq(trace_read_machines(path, &nodes, &n, &err), ST_OK, "%s", err.text);
    for (int32_t i = 0; i < n; i++)
        gpus += nodes[i].n_gpus;
    cr_assert(n == 1897 && gpus == 6742);
    node_specs_free(nodes, n);
}
