#include "traces/pai.h"

#include "tests/leak.h"
#include "tests/shared.h"
#include "tests/tars.h"
#include "tests/trace_files.h"

TestSuite(pai, .fini = abort_on_leak);

static const struct trace_options plain = {0};
#define ROW(job_, start_, end_) job_ ",worker,1,Terminated," start_ "," end_ ",100.0,1.0,100,V100\n"

Test(pai, a_task_row_is_in_percent_gigabytes_and_seconds)
{
    struct trace t =
        read_text("j,worker,4.0,Terminated,1.5e3,1500.25,600.0,29.296875,50.0,T4\n", plain);
    const struct job_table *j = &t.jobs;
    cr_assert_str_eq(t.report.format, "pai");
    cr_assert_eq(j->submit_us[0], 1500000000);
    cr_assert_eq(j->duration_us[0], 250000);
    cr_assert(j->n_inst[0] == 4 && j->cpu_milli[0] == 6000 && j->mem_mib[0] == 30000);
    cr_assert_eq(j->gpu_milli[0], 500);
    cr_assert_str_eq(name_of(&t, j->gpu_type[0]), "T4");
    cr_assert_str_eq(name_of(&t, j->task_name[0]), "worker");
    trace_free(&t);
}

Test(pai, rows_of_one_name_are_tasks_of_one_job)
{
    struct trace t = read_text("j1,ps,1,Terminated,0,100,600.0,1.0,,\n"
                               "j1,worker,2,Terminated,0,100,400.0,1.0,50,V100\n"
                               "j2,worker,1,Terminated,10,60,100.0,1.0,100,V100\n",
                               plain);
    cr_assert(t.report.n_rows == 3 && t.jobs.n_jobs == 2 && t.jobs.n_tasks == 3);
    cr_assert_eq(job_gpu_milli(&t.jobs, 0), 1000);
    cr_assert_eq(t.jobs.cpu_milli[0] + 2 * t.jobs.cpu_milli[1], 14000);
    cr_assert_eq(t.jobs.gpu_type[0], -1);
    trace_free(&t);
}

Test(pai, more_than_one_gpu_is_whole_gpus_and_what_was_rounded_is_told)
{
    struct trace t = read_text("a,w,1,Terminated,0,10,100,1,25,V100\n"
                               "b,w,1,Terminated,0,10,100,1,100,V100\n"
                               "c,w,1,Terminated,0,10,100,1,800,V100\n"
                               "d,w,4.0,Terminated,0,10,100,1,100,V100\n"
                               "e,w,1,Terminated,0,10,100,1,,\n"
                               "g,w,1,Terminated,0,10,100,1,150,V100\n"
                               "h,w,1,Terminated,0,10,100,1,100.5,V100\n",
                               plain);
    static const int64_t milli[] = {250, 1000, 8000, 4000, 0, 2000, 2000};
    for (int32_t i = 0; i < 7; i++)
        cr_assert_eq(job_gpu_milli(&t.jobs, i), milli[i]);
    cr_assert(has_note(&t.report, "tasks: 2") && has_note(&t.report, "job g, plan_gpu 150"));
    cr_assert(has_note(&t.report, ".csv:6"));
    trace_free(&t);
}

Test(pai, a_row_without_both_times_is_dropped_and_counted)
{
    static const char text[] = "r1,w,1,Terminated,0.0,100.0,100,1,100,V100\n"
                               "r2,w,1,Running,10.0,,100,1,100,V100\n"
                               "r3,w,1,Failed,20.0,50.0,100,1,100,V100\n"
                               "r4,w,1,Waiting,,,100,1,100,V100\n"
                               "r5,w,1,Terminated,,80.0,100,1,100,V100\n"
                               "r6,w,1,Terminated,30.0,,100,1,100,V100\n";
    struct trace t = read_text(text, plain);
    cr_assert(t.report.n_rows == 6 && t.report.n_kept == 2 && t.report.n_reasons == 1);
    cr_assert_str_eq(t.report.reason[0].text, "no start or end time");
    cr_assert_eq(t.report.reason[0].n, 4);
    cr_assert(account_adds_up(&t.report));
    trace_free(&t);
    t = read_text(text, (struct trace_options){.successful_only = true});
    cr_assert(t.report.n_kept == 1 && account_adds_up(&t.report));
    cr_assert_str_eq(names_text(&t.jobs.job_names, 0), "r1");
    trace_free(&t);
    /* leaving out what is not wanted is no fault */
    t = read_text("r1,w,1,Terminated,0,1,,,,\nr2,w,1,Failed,0,1,,,,\n",
                  (struct trace_options){.successful_only = true, .strict = true});
    cr_assert_eq(t.report.n_kept, 1);
    trace_free(&t);
}

Test(pai, an_end_before_the_start_is_no_run_time_and_an_equal_one_is)
{
    struct trace t = read_text(ROW("a", "0", "100") ROW("b", "50", "0") ROW("c", "30", "20")
                                   ROW("d", "40", "40") ROW("e", "-50", "50"),
                               plain);
    cr_assert(t.report.n_rows == 5 && t.report.n_kept == 3 && t.report.n_reasons == 1);
    cr_assert_str_eq(t.report.reason[0].text, "end before start");
    cr_assert(t.report.reason[0].at[0].line == 2 && t.report.reason[0].at[1].line == 3);
    cr_assert_eq(t.jobs.duration_us[job_of(&t, "d")], 0);
    cr_assert_eq(t.jobs.submit_us[job_of(&t, "e")], -50000000);
    trace_free(&t);
}

Test(pai, text_that_strtod_takes_for_a_number_is_refused_with_its_place)
{
    struct trace t = read_text(ROW("ok1", "0", "100") ROW("n1", "nan", "100") ROW("n2", "0", "inf")
                                   ROW("n3", "0", "1e400") ROW("n4", "0x10", "100")
                                       ROW("n5", "5", "12abc") ROW("ok2", "10", "30"),
                               plain);
    static const int lines[2][3] = {{2, 5}, {3, 4, 6}};
    static const char *const values[2][3] = {{"nan", "0x10"}, {"inf", "1e400", "12abc"}};
    cr_assert(t.report.n_rows == 7 && t.report.n_kept == 2 && t.report.n_reasons == 2);
    cr_assert(t.report.reason[0].n == 2 && t.report.reason[1].n == 3);
    for (int r = 0; r < 2; r++)
        for (int i = 0; i < t.report.reason[r].n; i++) {
            cr_assert_eq(t.report.reason[r].at[i].line, lines[r][i]);
            cr_assert_eq(t.report.reason[r].at[i].column, 5 + r);
            cr_assert_str_eq(t.report.reason[r].at[i].value, values[r][i]);
        }
    trace_free(&t);
}

Test(pai, an_unknown_status_is_dropped_and_an_empty_one_is_not_known)
{
    static const char text[] = "a,w,1,Terminated,0,1,,,,\nb,w,1,Exploded,0,1,,,,\nc,w,,,0,1,,,,\n";
    struct trace t = read_text(text, plain);
    cr_assert(t.report.n_kept == 2 && t.report.n_dropped == 1);
    cr_assert_str_eq(t.report.reason[0].text, "status is not known");
    cr_assert(has_note(&t.report, "one instance: 1"));
    trace_free(&t);
    t = read_text(text, (struct trace_options){.successful_only = true});
    cr_assert_eq(t.report.n_kept, 1);
    trace_free(&t);
}

/* One table as people hand it on. */
Test(pai, six_ways_to_write_a_table_are_one_trace)
{
    static const char head[] = "job_name,task_name,inst_num,status,start_time,end_time,plan_cpu,"
                               "plan_mem,plan_gpu,gpu_type\n";
    static const char mixed[] = "gpu_type,job_name,comment,start_time,end_time,plan_gpu\n"
                                "V100,a,x,0,100,100\nV100,b,y,10,30,100\n";
    char bom[512], bom_head[512];
    sprintf(bom, "\xef\xbb\xbf%s%s", ROW("a", "0.0", "100.0"), ROW("b", "10.0", "30.0"));
    sprintf(bom_head, "\xef\xbb\xbf%s%s%s", head, ROW("a", "0.0", "100.0"),
            ROW("b", "10.0", "30.0"));
    const char *const ways[] = {
        ROW("a", "0.0", "100.0") ROW("b", "10.0", "30.0"),
        "a,worker,1,Terminated,0.0,100.0,100.0,1.0,100,V100\r\n"
        "b,worker,1,Terminated,10.0,30.0,100.0,1.0,100,V100\r\n",
        "a,worker,1,Terminated,0.0,100.0,100.0,1.0,100,V100\n"
        "b,worker,1,Terminated,10.0,30.0,100.0,1.0,100,V100",
        "\"a\",\"worker\",\"1\",\"Terminated\",\"0.0\",\"100.0\",\"100.0\",\"1.0\",\"100\","
        "\"V100\"\n"
        "\"b\",\"worker\",\"1\",\"Terminated\",\"10.0\",\"30.0\",\"100.0\",\"1.0\",\"100\","
        "\"V100\"\n",
        bom,
        bom_head,
        mixed,
    };
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        struct trace t = read_text(ways[i], plain);
        cr_assert(t.report.n_rows == 2 && t.jobs.n_jobs == 2, "way %zu", i);
        cr_assert_str_eq(t.report.format, "pai");
        cr_assert_str_eq(names_text(&t.jobs.job_names, 0), "a");
        cr_assert_str_eq(name_of(&t, t.jobs.gpu_type[1]), "V100");
        cr_assert(t.jobs.submit_us[1] == 10000000 && t.jobs.duration_us[1] == 20000000);
        cr_assert(t.jobs.gpu_milli[0] == 1000 && t.jobs.n_inst[0] == 1);
        trace_free(&t);
    }
}

Test(pai, time_zero_is_thursday_eight_o_clock_in_china)
{
    struct trace t = read_text(ROW("a", "494319.0", "494419.0"), plain);
    double hour = fmod(t.clock_hour_at_0 + s_of_us(t.jobs.submit_us[0]) / 3600, 168);
    cr_assert_eq((int)(hour / 24), 2); /* Wednesday */
    cr_assert_eq((int)fmod(hour, 24), 1);
    cr_assert_str_eq(t.zone, "UTC+8");
    trace_free(&t);
}

/* All seven tables; the instance of job b's ps has no end. */
static void write_tables(struct temp_folder *f)
{
    folder_text(f, "pai_task_table.csv",
                "a,worker,2,Terminated,100,202,600,1,50,T4\n"
                "b,ps,1,Terminated,0,10,100,1,,\n"
                "b,worker,1,Failed,0,12,100,1,100,V100\n"
                "c,worker,1,Terminated,5,6,100,1,100,P100\n");
    folder_text(f, "pai_job_table.csv",
                "a,i1,alice,Terminated,90,203\n"
                "b,i2,bob,Failed,0,12\n"
                "c,i3,,Failed,0,12\n"
                "x,i9,eve,Failed,0,12\n");
    folder_text(f, "pai_group_tag_table.csv",
                "i1,alice,V100M32,g1,nmt\n"
                "i3,carol,,,\n"
                "i2,bobby,,g2,\n");
    folder_text(f, "pai_instance_table.csv",
                "a,worker,n1,w1,i1,Terminated,110,150,m1\n"
                "a,worker,n2,w2,i1,Terminated,120,200,m2\n"
                "b,ps,n3,w3,i2,Running,3,,m1\n"
                "b,worker,n4,w4,i2,Failed,4,x,m1\n"
                "b,worker,n5,w5,i2,Failed,5,11,m1\n");
    folder_text(f, "pai_machine_spec.csv", "m1,V100M32,96,384,8\nm2,CPU,96,512,0\n");
    folder_text(f, "pai_sensor_table.csv", "a,worker,w1,i1,m1,g,1,2,3,4,5,6,7,8,9,10\n");
    folder_text(f, "pai_machine_metric.csv", "w1,m1,0,1,2,3,4,5,6,7,8,9\n");
    folder_text(f, "my_copy.csv", ROW("z", "0", "1"));
}

Test(pai, tables_of_a_folder_are_joined)
{
    struct temp_folder f = temp_folder();
    struct trace t;
    struct error err = {{0}};
    write_tables(&f);
    cr_assert_eq(read_path(f.path, plain, &t, &err), ST_OK, "%s", err.text);
    int32_t a = job_of(&t, "a"), b = job_of(&t, "b"), c = job_of(&t, "c");
    cr_assert(t.report.n_rows == 4 && t.report.n_kept == 4 && t.jobs.n_jobs == 3);
    cr_assert_str_eq(name_of(&t, t.jobs.user[a]), "alice");
    cr_assert_str_eq(name_of(&t, t.jobs.group[a]), "g1");
    cr_assert_str_eq(name_of(&t, t.jobs.workload[a]), "nmt");
    cr_assert_str_eq(name_of(&t, t.jobs.gpu_type[t.jobs.task_begin[a]]), "V100M32");
    cr_assert_str_eq(name_of(&t, t.jobs.user[b]), "bob");
    cr_assert_str_eq(name_of(&t, t.jobs.group[b]), "g2");
    cr_assert_eq(t.jobs.workload[b], -1);
    cr_assert_str_eq(name_of(&t, t.jobs.gpu_type[t.jobs.task_begin[b] + 1]), "V100");
    cr_assert_str_eq(name_of(&t, t.jobs.user[c]), "carol");
    cr_assert_eq(t.jobs.group[c], -1);
    cr_assert_eq(job_duration_us(&t.jobs, a), 102000000); /* 202 - 100, wait included */
    cr_assert(has_note(&t.report, "my_copy.csv") && has_note(&t.report, "pai_sensor_table.csv"));
    cr_assert(has_note(&t.report, "the wait in the original cluster is part"));
    cr_assert(t.n_nodes == 2 && t.nodes[0].n_gpus == 8 && t.nodes[1].n_gpus == 0);
    cr_assert_str_eq(t.nodes[0].name, "m1");
    trace_free(&t);
    folder_remove(&f);
}

Test(pai, without_the_wait_a_task_runs_from_its_first_instance_to_its_last)
{
    struct temp_folder f = temp_folder();
    struct trace t;
    struct error err = {{0}};
    write_tables(&f);
    struct trace_options o = {.duration = DURATION_MINUS_WAIT};
    cr_assert_eq(read_path(f.path, o, &t, &err), ST_OK, "%s", err.text);
    int32_t a = job_of(&t, "a"), b = job_of(&t, "b"), c = job_of(&t, "c");
    cr_assert_eq(t.jobs.submit_us[a], 100000000);
    cr_assert_eq(t.jobs.duration_us[t.jobs.task_begin[a]], 90000000);     /* 200 - 110 */
    cr_assert_eq(t.jobs.duration_us[t.jobs.task_begin[b]], 6000000);      /* 11 - 5: worker */
    cr_assert_eq(t.jobs.duration_us[t.jobs.task_begin[b] + 1], 10000000); /* ps as given */
    cr_assert_eq(t.jobs.duration_us[t.jobs.task_begin[c]], 1000000);
    cr_assert(has_note(&t.report, "last instance end for 2 rows; for 2"));
    cr_assert(has_note(&t.report, "pai_instance_table.csv: 1 of 5 rows are not usable, the first "
                                  "is line 4: end_time is not a number ('x')"));
    trace_free(&t);
    o.strict = true;
    cr_assert_eq(read_path(f.path, o, &t, &err), ST_INPUT);
    cr_assert(strstr(err.text, "pai_instance_table.csv:4:8"), "%s", err.text);
    trace_free(&t);
    folder_remove(&f);
}

Test(pai, tables_with_other_names_are_known_by_their_columns)
{
    struct temp_folder f = temp_folder();
    struct trace t;
    struct error err = {{0}};
    folder_text(&f, "part-b.csv", ROW("b", "0", "20"));
    folder_text(&f, "part-a.csv", ROW("a", "0", "10"));
    folder_text(&f, "users.csv", "a,i1,alice,Terminated,0,1\n");
    folder_text(&f, "zoo.csv", "ant,1\n");
    cr_assert_eq(read_path(f.path, (struct trace_options){.format = "pai"}, &t, &err), ST_OK);
    cr_assert_str_eq(names_text(&t.jobs.job_names, 0), "a");
    cr_assert_str_eq(names_text(&t.jobs.job_names, 1), "b");
    cr_assert_str_eq(name_of(&t, t.jobs.user[0]), "alice");
    cr_assert(has_note(&t.report, "zoo.csv"));
    trace_free(&t);
    folder_remove(&f);
}

Test(pai, the_table_in_an_archive_is_read_and_nothing_written)
{
    struct temp_folder f = temp_folder();
    struct tar_bytes b = {0};
    struct trace t;
    struct error err = {{0}};
    tar_add(&b, "", "PaxHeader", 'x', "27 LIBARCHIVE.xattr.note=x\n");
    tar_add(&b, "", "._pai_task_table.csv", '0', "resource fork");
    tar_add(&b, "", "pai_task_table.csv", '0', ROW("a", "0", "10") ROW("b", "0", "10"));
    tar_add(&b, "", "../outside.csv", '0', "x,y\n");
    tar_end(&b);
    size_t n;
    unsigned char *zipped = gzip_of(b.bytes, b.n, &n);
    folder_file(&f, "trace.tar.gz", zipped, n);
    cr_assert_eq(read_path(folder_path(&f, "trace.tar.gz"), plain, &t, &err), ST_OK, "%s",
                 err.text);
    cr_assert(t.report.n_rows == 2 && t.jobs.n_jobs == 2);
    cr_assert(has_note(&t.report, "../outside.csv"));
    cr_assert_eq(folder_count(&f), 1);
    trace_free(&t);
    free(zipped);
    folder_remove(&f);
}

Test(pai, no_task_table_and_no_table_at_all_are_refused)
{
    struct temp_folder f = temp_folder();
    struct trace t;
    struct error err = {{0}};
    folder_text(&f, "pai_machine_spec.csv", "m1,V100,96,512,8\n");
    cr_assert_eq(read_path(f.path, plain, &t, &err), ST_INPUT);
    cr_assert(strstr(err.text, "no PAI task table"), "%s", err.text);
    trace_free(&t);
    folder_remove(&f);
    refuse_text("1,2,3\n", (struct trace_options){.format = "pai"}, ST_INPUT, "3 fields",
                "no PAI table");
}

/* 60,105 tasks of 59,994 jobs are in the real file. */
Test(pai, the_real_task_table_is_read_whole)
{
    char path[SHARED_PATH_MAX];
    struct trace t;
    struct error err = {{0}};
    if (!shared_path(path, "data/pai/pai_task_table_sub60105.csv.gz"))
        cr_skip_test("no reference data");
    cr_assert_eq(read_path(path, plain, &t, &err), ST_OK, "%s", err.text);
    cr_assert(t.report.n_rows == 60105 && t.report.n_kept == 60105 && t.jobs.n_jobs == 59994);
    trace_free(&t);
}
