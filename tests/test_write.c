#include "tests/leak.h"
#include "tests/trace_files.h"

#include <errno.h>
#include <sys/stat.h>

TestSuite(write, .fini = abort_on_leak);

static const struct trace_options plain = {0};

/* The file's bytes, decompressed. The caller frees them. */
static char *content(const char *path)
{
    char *text = calloc(1, 1 << 20);
    gzFile f = gzopen(path, "rb");
    cr_assert(gzread(f, text, (1 << 20) - 1) >= 0);
    cr_assert_eq(gzclose(f), Z_OK);
    return text;
}

static const char everything[] =
    "job,task,submit_s,duration_s,gpu,instances,gpu_min,gpu_max,cpu,mem_mib,gpu_mem_mib,gpu_type,"
    "kind,workload,config,user,group,queue,priority,min_rate_frac,user_dur_s,group_dur_s,"
    "group_gpu_dur_s\n"
    "j,worker,-1.5,2.25,0.125,4,1,8,2.5,1024,4096,V100,infer,bert,bs=8,u,g,q,-3,0.1,1.5,2,3\n"
    "\"a,b\",\"say \"\"hi\"\"\",1000000.000001,0,2,1,,,0,0,0,,,,,\"two\nlines\",,,0,,,0,\n"
    "k,,7,8,0,1,,,0,0,0,,train,,,,,,0,0.30000000000000004,,,\n";

Test(write, what_is_written_reads_back_as_the_same_table)
{
    static const char *const names[] = {"t.csv", "t.csv.gz"};
    struct trace t = read_text(everything, plain);
    cr_assert_eq(t.report.n_kept, 3);
    char *before = trace_said(&t);
    for (int i = 0; i < 2; i++) {
        struct temp_folder f = temp_folder();
        struct trace again;
        struct error err = {{0}};
        const char *path = folder_path(&f, names[i]);
        cr_assert_eq(trace_write(&t.jobs, path, &err), ST_OK, "%s", err.text);
        char *text = content(path);
        cr_assert_str_eq(text, everything);
        free(text);
        cr_assert_eq(read_path(path, plain, &again, &err), ST_OK, "%s", err.text);
        char *after = trace_said(&again);
        cr_assert_str_eq(after, before);
        free(after);
        trace_free(&again);
        cr_assert_eq(folder_count(&f), 1);
        folder_remove(&f);
    }
    free(before);
    trace_free(&t);
}

Test(write, columns_that_say_nothing_are_left_out)
{
    struct trace t = read_text("job,submit_s,duration_s,gpu,instances,cpu,user,kind,priority\n"
                               "a,0,1,1,1,0,,,0\nb,0,1,0.5,1,0,u,,0\n",
                               plain);
    struct temp_folder f = temp_folder();
    const char *path = folder_path(&f, "t.csv");
    cr_assert_eq(trace_write(&t.jobs, path, NULL), ST_OK);
    char *text = content(path);
    cr_assert_str_eq(text, "job,submit_s,duration_s,gpu,user\na,0,1,1,\nb,0,1,0.5,u\n");
    free(text);
    folder_remove(&f);
    trace_free(&t);
}

Test(write, a_pai_trace_becomes_a_native_one)
{
    struct trace t = read_text("j1,ps,1,Terminated,0,100,600.0,1.0,,\n"
                               "j1,worker,2,Terminated,0,90,400.0,1.0,50,V100\n",
                               plain);
    struct temp_folder f = temp_folder();
    const char *path = folder_path(&f, "t.csv");
    cr_assert_eq(trace_write(&t.jobs, path, NULL), ST_OK);
    char *text = content(path);
    cr_assert_str_eq(text, "job,task,submit_s,duration_s,gpu,instances,cpu,mem_mib,gpu_type\n"
                           "j1,worker,0,90,0.5,2,4,1024,V100\n" /* the shorter task first */
                           "j1,ps,0,100,0,1,6,1024,\n");
    free(text);
    folder_remove(&f);
    trace_free(&t);
}

Test(write, a_file_that_is_there_is_replaced_as_a_whole_and_through_a_link)
{
    struct trace t = read_text("job,submit_s,duration_s,gpu\na,0,1,1\n", plain);
    struct temp_folder f = temp_folder();
    struct stat what;
    folder_text(&f, "t.csv", "a much longer text that was there before the trace was written\n");
    cr_assert_eq(symlink("t.csv", folder_path(&f, "link.csv")), 0);
    cr_assert_eq(trace_write(&t.jobs, folder_path(&f, "link.csv"), NULL), ST_OK);
    cr_assert(lstat(folder_path(&f, "link.csv"), &what) == 0 && S_ISLNK(what.st_mode));
    char *text = content(folder_path(&f, "t.csv"));
    cr_assert_str_eq(text, "job,submit_s,duration_s,gpu\na,0,1,1\n");
    cr_assert_eq(folder_count(&f), 2);
    free(text);
    folder_remove(&f);
    trace_free(&t);
}

Test(write, a_full_disk_and_a_missing_folder_are_reported_and_leave_nothing)
{
    struct trace t = read_text("job,submit_s,duration_s,gpu\na,0,1,1\n", plain);
    struct temp_folder f = temp_folder();
    struct error err = {{0}};
    cr_assert_eq(trace_write(&t.jobs, folder_path(&f, "no/t.csv"), &err), ST_OUTPUT);
    cr_assert(strstr(err.text, "no/t.csv") && strstr(err.text, strerror(ENOENT)), "%s", err.text);
    if (access("/dev/full", W_OK) == 0) {
        cr_assert_eq(trace_write(&t.jobs, "/dev/full", &err), ST_OUTPUT);
        cr_assert(strstr(err.text, strerror(ENOSPC)), "%s", err.text);
        cr_assert_eq(symlink("/dev/full", folder_path(&f, "t.csv.gz")), 0);
        cr_assert_eq(trace_write(&t.jobs, folder_path(&f, "t.csv.gz"), &err), ST_OUTPUT);
        cr_assert(strstr(err.text, strerror(ENOSPC)), "%s", err.text);
    }
    cr_assert(folder_count(&f) <= 1);
    folder_remove(&f);
    trace_free(&t);
}
