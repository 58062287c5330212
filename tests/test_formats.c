#include "tests/leak.h"
#include "tests/trace_files.h"

TestSuite(formats, .fini = abort_on_leak);

static const struct trace_options plain = {0};

Test(formats, are_listed_in_order_of_their_names_and_described)
{
    for (int i = 0; trace_formats[i] != NULL; i++) {
        cr_assert(i == 0 || strcmp(trace_formats[i - 1]->name, trace_formats[i]->name) < 0);
        cr_assert(trace_formats[i]->summary[0] != '\0' && trace_formats[i]->needs[0] != '\0');
    }
}

Test(formats, are_guessed_from_the_first_row)
{
    static const struct {
        const char *text, *format;
    } rows[] = {
        {"job,submit_s,duration_s,gpu\na,0,1,1\n", "native"},
        {"user,group,gpu_type,gpu,duration_s,submit_s,job\nu,g,T4,1,1,0,a\n", "native"},
        {"a,w,1,Terminated,0,1,100,1,100,V100\n", "pai"},
        {"job_name,task_name,start_time,end_time\na,w,0,1\n", "pai"},
        {"job_id,user,num_gpu,group,gpu_type,duration,submit_time\na,u,1,g,T4,1,0\n", "pai-jobs"},
        {"gmt_create,predict_status,exec_time_seconds\n2024-11-20 10:00:00,SUCCEED,1\n", "genai"},
        {"job_id,gpu_num,submit_time,start_time,end_time\n"
         "a,1,2020-06-09 09:00:00,2020-06-09 09:00:00,2020-06-09 09:00:01\n",
         "helios"},
        {"job_id,arrival_s,service_sec,gpu_count\na,0,1,1\n", "helios"},
        {"name,cpu_milli,memory_mib,num_gpu,gpu_milli,creation_time,deletion_time,scheduled_time\n"
         "a,1,1,1,1000,0,1,0\n",
         "openb"},
        {"[{\"jobid\": \"a\", \"submitted_time\": \"2017-10-10 01:00:00\", \"attempts\": "
         "[{\"start_time\": \"2017-10-10 01:00:00\", \"end_time\": \"2017-10-10 01:00:01\", "
         "\"detail\": [{\"gpus\": [\"0\"]}]}]}]",
         "philly"},
        {"; a comment\n1 0 0 100 8 -1 -1 8 200 -1 1 1 1 -1 1 -1 -1 -1\n", "swf"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct trace t = read_text(rows[i].text, plain);
        cr_assert_str_eq(t.report.format, rows[i].format);
        cr_assert(t.report.n_rows == 1 && t.jobs.n_jobs == 1);
        trace_free(&t);
    }
    refuse_text("x,y\n1,2\n", plain, ST_INPUT, "cannot tell the format from the first row (x, y)",
                "--format csv --columns");
    refuse_text("{\"jobs\": []}", plain, ST_INPUT, "cannot tell the format", "{\"jobs\"");
    refuse_text("job,x,y\n1,2,3\n", plain, ST_INPUT, "cannot tell the format", "(job, x, y)");
    refuse_text("", plain, ST_INPUT, "no rows", ".csv");
    refuse_text("\n\n", plain, ST_INPUT, "no rows", ".csv");
    refuse_text("x,y\n", (struct trace_options){.format = "natvie"}, ST_USAGE, "'natvie'",
                "nearest: 'native'");
}

Test(formats, a_trace_without_a_usable_row_is_refused_with_the_first_reason)
{
    refuse_text("job,submit_s,duration_s,gpu\n", plain, ST_INPUT, "no rows", ".csv");
    refuse_text("job,submit_s,duration_s,gpu\na,x,1,1\nb,0,y,1\n", plain, ST_INPUT,
                "no row is left of 2", ".csv:2: submit_s is not a number");
}

/* The report says what happened even then. */
Test(formats, a_refused_trace_keeps_its_report)
{
    struct temp_file f = temp_text(".csv", "job,submit_s,duration_s,gpu\na,x,1,1\n");
    struct trace t;
    struct error err;
    cr_assert_eq(read_path(f.path, plain, &t, &err), ST_INPUT);
    cr_assert(t.report.n_rows == 1 && t.report.n_dropped == 1 && account_adds_up(&t.report));
    trace_free(&t);
    trace_free(&t);
    temp_remove(&f);
}

Test(formats, files_of_a_folder_are_one_trace_whatever_order_they_were_made_in)
{
    uint64_t hash[2];
    for (int turn = 0; turn < 2; turn++) {
        struct temp_folder f = temp_folder();
        struct trace t;
        struct error err = {{0}};
        static const char *const names[] = {"part-a.csv", "part-b.csv"};
        static const char *const texts[] = {"job,submit_s,duration_s,gpu\na,0,10,1\n",
                                            "gpu,job,submit_s,duration_s\n1,b,0,20\n"};
        for (int i = 0; i < 2; i++)
            folder_text(&f, names[i ^ turn], texts[i ^ turn]);
        cr_assert_eq(read_path(f.path, plain, &t, &err), ST_OK, "%s", err.text);
        cr_assert(t.jobs.n_jobs == 2 && t.report.n_files == 2);
        cr_assert_str_eq(names_text(&t.jobs.job_names, 0), "a");
        cr_assert_eq(t.jobs.duration_us[1], 20000000);
        hash[turn] = t.hash;
        trace_free(&t);
        folder_remove(&f);
    }
    cr_assert_eq(hash[0], hash[1]);
}

Test(formats, several_paths_are_read_in_their_order_and_the_hash_is_of_the_bytes)
{
    struct temp_file a = temp_text(".csv", "job,submit_s,duration_s,gpu\na,0,10,1\n");
    struct temp_file b = temp_text(".csv", "job,submit_s,duration_s,gpu\nb,0,20,1\n");
    struct temp_file z = temp_gzip(".csv.gz", "job,submit_s,duration_s,gpu\nb,0,20,1\n");
    const char *const orders[3][2] = {{a.path, b.path}, {b.path, a.path}, {a.path, z.path}};
    uint64_t hash[3];
    for (int i = 0; i < 3; i++) {
        struct trace_options o = {.paths = orders[i], .n_paths = 2};
        struct trace t;
        struct error err = {{0}};
        cr_assert_eq(trace_read(&o, &t, &err), ST_OK, "%s", err.text);
        cr_assert_str_eq(names_text(&t.jobs.job_names, 0), i == 1 ? "b" : "a");
        hash[i] = t.hash;
        trace_free(&t);
    }
    cr_assert_neq(hash[0], hash[1]);
    cr_assert_eq(hash[0], hash[2]);
    temp_remove(&a);
    temp_remove(&b);
    temp_remove(&z);
}

Test(formats, a_gzip_file_cut_short_is_refused_by_name)
{
    char text[8000], *p = text;
    p += sprintf(p, "job,submit_s,duration_s,gpu\n");
    for (int i = 0; i < 200; i++)
        p += sprintf(p, "j%d,%d,10,1\n", i, i * 7 % 1000);
    size_t n;
    unsigned char *bytes = gzip_of(text, strlen(text), &n);
    for (size_t cut = 20; cut < n; cut += 97) {
        struct temp_file f = temp_file(".csv.gz", bytes, cut);
        struct trace t;
        struct error err = {{0}};
        cr_assert_eq(read_path(f.path, plain, &t, &err), ST_INPUT, "cut at %zu of %zu", cut, n);
        cr_assert(strstr(err.text, f.path) && strstr(err.text, "incomplete"), "%s", err.text);
        trace_free(&t);
        temp_remove(&f);
    }
    free(bytes);
}

/* A native table on a clock of its own, and requests of an evening in 2024. */
#define NATIVE_TEXT "job,submit_s,duration_s,gpu\na,100,10,1\nrequest-1,130,20,2\n"
#define REQUESTS_TEXT                                                                              \
    "gmt_create,predict_status,exec_time_seconds\n"                                                \
    "2024-11-20 10:00:07,SUCCEED,5\n2024-11-20 10:00:00,SUCCEED,6\n"

Test(formats, files_of_several_formats_are_one_trace_each_counted_from_its_first_submission)
{
    struct temp_file native = temp_text(".csv", NATIVE_TEXT);
    struct temp_file requests = temp_text(".csv", REQUESTS_TEXT);
    const char *const paths[] = {native.path, requests.path};
    struct trace_options o = {.paths = paths, .n_paths = 2};
    struct trace t;
    struct error err = {{0}};
    cr_assert_eq(trace_read(&o, &t, &err), ST_OK, "%s", err.text);
    cr_assert_str_eq(t.report.format, "native+genai");
    cr_assert(t.jobs.n_jobs == 4 && t.report.n_kept == 4 && account_adds_up(&t.report));
    cr_assert(isnan(t.clock_hour_at_0) && t.zone == NULL);
    cr_assert_eq(t.jobs.submit_us[job_of(&t, "a")], 0);
    cr_assert_eq(t.jobs.submit_us[job_of(&t, "request-1")], 30000000);
    /* a request's own name is taken */
    int32_t first = job_of(&t, "request-1@genai"), second = job_of(&t, "request-2");
    cr_assert(t.jobs.submit_us[first] == 7000000 && t.jobs.duration_us[first] == 5000000);
    cr_assert(t.jobs.submit_us[second] == 0 && t.jobs.duration_us[second] == 6000000);
    cr_assert(has_note(&t.report, "called NAME@FORMAT here: 1") &&
              has_note(&t.report, "counted from its first"));
    round_trip(&t);
    trace_free(&t);

    o.align = ALIGN_CLOCK;
    cr_assert_eq(trace_read(&o, &t, &err), ST_OK, "%s", err.text);
    cr_assert_eq(t.jobs.submit_us[job_of(&t, "a")], 100000000);
    cr_assert_eq(t.jobs.submit_us[job_of(&t, "request-2")], INT64_C(1732096800000000),
                 "date -u -d '2024-11-20 10:00:00' +%%s");
    trace_free(&t);
    temp_remove(&native);
    temp_remove(&requests);
}

/* Of three files the two of one format are read together, however they were given. */
Test(formats, a_job_of_two_files_of_one_format_is_one_job_with_another_format_between)
{
    struct temp_file one = temp_text(".csv", "job,submit_s,duration_s,gpu,task\na,9,10,1,x\n");
    struct temp_file requests = temp_text(".csv", REQUESTS_TEXT);
    struct temp_file two = temp_text(".csv", "job,submit_s,duration_s,gpu,task\na,5,30,1,y\n");
    const char *const paths[] = {one.path, requests.path, two.path};
    struct trace_options o = {.paths = paths, .n_paths = 3};
    struct trace t;
    struct error err = {{0}};
    cr_assert_eq(trace_read(&o, &t, &err), ST_OK, "%s", err.text);
    cr_assert_str_eq(t.report.format, "native+genai");
    cr_assert(t.jobs.n_jobs == 3 && t.jobs.n_tasks == 4 && t.report.n_files == 3);
    cr_assert_eq(t.jobs.submit_us[job_of(&t, "a")], 0);
    trace_free(&t);
    temp_remove(&one);
    temp_remove(&requests);
    temp_remove(&two);
}

Test(formats, a_file_that_looks_like_nothing_is_named_and_one_format_named_is_that_of_all)
{
    struct temp_file native = temp_text(".csv", NATIVE_TEXT);
    struct temp_file requests = temp_text(".csv", REQUESTS_TEXT);
    struct temp_file odd = temp_text(".csv", "x,y\n1,2\n");
    const char *const paths[] = {native.path, requests.path, odd.path};
    struct trace_options o = {.paths = paths, .n_paths = 3};
    struct trace t;
    struct error err = {{0}};
    cr_assert_eq(trace_read(&o, &t, &err), ST_INPUT);
    cr_assert(strstr(err.text, odd.path) && strstr(err.text, "cannot tell the format"), "%s",
              err.text);
    trace_free(&t);
    o = (struct trace_options){.paths = paths, .n_paths = 2, .format = "native"};
    cr_assert_eq(trace_read(&o, &t, &err), ST_INPUT);
    cr_assert(strstr(err.text, requests.path) != NULL, "%s", err.text);
    trace_free(&t);
    temp_remove(&native);
    temp_remove(&requests);
    temp_remove(&odd);
}
