#include "sim/results/export.h"

#include "sim/results/quote.h"
#include "tests/leak.h"
#include "tests/stored_run.h"

#include <jansson.h>

TestSuite(export, .fini = abort_on_leak);

/* What the export wrote; the caller frees it. */
static char *exported(struct stored_run *r, enum export_table table, enum export_format format)
{
    struct temp_file t = temp_text("", "");
    struct output out;
    cr_assert_eq(output_open(&out, t.path, &r->err), ST_OK);
    enum status status = export_rows(&r->store, 1, table, format, &out, &r->err);
    cr_assert_eq(output_close(&out, status, &r->err), ST_OK, "%s", r->err.text);
    char *text = calloc(1, 65536);
    FILE *file = fopen(t.path, "rb");
    cr_assert(fread(text, 1, 65535, file) < 65535);
    fclose(file);
    temp_remove(&t);
    return text;
}

static void expect_csv(enum export_table table, const char *want)
{
    struct stored_run r;
    stored_run(&r, NULL);
    char *text = exported(&r, table, EXPORT_CSV);
    cr_assert_str_eq(text, want);
    free(text);
    stored_run_free(&r);
}

Test(export, jobs_as_csv_have_seconds_quotes_bytes_and_empty_fields)
{
    expect_csv(EXPORT_JOBS,
               "job,status,submit_s,start_s,finish_s,wait_s,jct_s,duration_s,gpu,instances,"
               "work_gpu_s,held_gpu_s,evicted,priority,kind,gpu_type,user,group,queue,workload,"
               "config\n"
               "a,done,0,0,10,0,10,10,1,1,10,0,0,0,train,A100,u1,\"g,1\",,,\n"
               "\"b,\"\"2\"\"\",done,1,10,20.5,9,19.5,10.5,4,2,42,0,0,0,,,,,,,\n"
               "n\xff,done,-2,-2,3.25,0,5.25,5.25,0.5,1,2.625,0,0,0,,,,,,,\n"
               "n\xfe,done,-1,-1,4,0,5,5,0.5,1,2.5,0,0,0,,,,,,,\n"
               "big,rejected,5,,,,,1,16,1,16,0,0,0,,,,,,,\n"
               "late,unfinished,6,,,,,1,1,1,1,0,0,0,,,,,,,\n");
}

Test(export, spans_samples_and_events_as_csv)
{
    expect_csv(EXPORT_SPANS, "job,task,start_s,end_s,node,gpu,gpus,instances,share\n"
                             "n\xff,0,-2,3.25,1,0,1,1,0.5\n"
                             "n\xfe,0,-1,4,1,0,1,1,0.5\n"
                             "a,0,0,10,0,0,1,1,1\n"
                             "\"b,\"\"2\"\"\",0,10,20.5,0,0,2,1,2\n"
                             "\"b,\"\"2\"\"\",0,10,20.5,1,0,2,1,2\n");
    expect_csv(EXPORT_SAMPLES, "start_s,gpu_held,jobs_waiting,jobs_running,sm_busy\n"
                               "-2,1.5,0,2,0.75\n9.25,4,1,1,2.5\n");
    expect_csv(EXPORT_EVENTS, "time_s,kind,job,text\n"
                              "5,reject,big,too wide\n20.5,stall,,nothing moves\n");
}

Test(export, metrics_keep_every_digit_and_an_unknown_one_is_empty)
{
    struct stored_run r;
    stored_run(&r, NULL);
    char *text = exported(&r, EXPORT_METRICS, EXPORT_CSV);
    cr_assert(strncmp(text, "metric,value,unit\n", 18) == 0);
    cr_assert_not_null(strstr(text, "\njct_mean_s,9.9375,s\n"));
    cr_assert_not_null(strstr(text, "\nmade_up,0.1,\n"));
    cr_assert_not_null(strstr(text, "\nslowdown_mean,,1\n"));
    free(text);
    stored_run_free(&r);
}

Test(export, names_that_are_no_utf8_stay_apart_in_json_that_is)
{
    struct stored_run r;
    stored_run(&r, NULL);
    char *text = exported(&r, EXPORT_JOBS, EXPORT_JSON);
    cr_assert(utf8_valid(text, strlen(text)));
    json_error_t problem;
    json_t *rows = json_loads(text, 0, &problem);
    cr_assert_not_null(rows, "%s", problem.text);
    cr_assert_eq(json_array_size(rows), 6);
    static const char *const name[] = {"a", "b,\"2\"", "n\\xFF", "n\\xFE", "big", "late"};
    for (size_t i = 0; i < 6; i++)
        cr_assert_str_eq(json_string_value(json_object_get(json_array_get(rows, i), "job")),
                         name[i]);
    const json_t *b = json_array_get(rows, 1), *big = json_array_get(rows, 4);
    cr_assert_float_eq(json_number_value(json_object_get(b, "jct_s")), 19.5, 0);
    cr_assert(json_is_null(json_object_get(big, "jct_s")));
    cr_assert(json_is_null(json_object_get(b, "user")));
    json_decref(rows);
    free(text);
    stored_run_free(&r);
}

static void no_spans(struct made_run *m) { m->result.log.n_spans = 0; }

Test(export, a_table_without_rows_is_a_header_or_an_empty_array)
{
    struct stored_run r;
    stored_run(&r, no_spans);
    char *csv = exported(&r, EXPORT_SPANS, EXPORT_CSV),
         *json = exported(&r, EXPORT_SPANS, EXPORT_JSON);
    cr_assert_str_eq(csv, "job,task,start_s,end_s,node,gpu,gpus,instances,share\n");
    cr_assert_str_eq(json, "[\n]\n");
    free(csv);
    free(json);
    stored_run_free(&r);
}

Test(export, to_a_full_device_fails_and_says_so)
{
    struct stored_run r;
    struct output out;
    stored_run(&r, NULL);
    cr_assert_eq(output_open(&out, "/dev/full", &r.err), ST_OK);
    enum status status = export_rows(&r.store, 1, EXPORT_JOBS, EXPORT_CSV, &out, &r.err);
    cr_assert_eq(output_close(&out, status, &r.err), ST_OUTPUT);
    cr_assert_str_eq(r.err.text, "/dev/full: No space left on device");
    stored_run_free(&r);
}
