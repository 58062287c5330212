/* GenTD26 requests: case 01, batches by hand, and the published table with its counts. */
#include "core/base/table.h"
#include "tests/leak.h"
#include "tests/shared.h"
#include "tests/trace_files.h"
#include "traces/table_file.h"

TestSuite(genai, .fini = abort_on_leak, .timeout = 120);

#define HEAD                                                                                       \
    "gmt_create,predict_type,predict_status,exec_time_seconds,groupId,prompt_length,"              \
    "negative_prompt_length,num_images_per_prompt,num_inference_steps,"                            \
    "checkpoint_model_version_id,num_lora\n"

static const char requests[] =
    HEAD "2024-11-20 10:00:00,TXT_2_IMG,SUCCEED,30.0,G1,40.0,,1.0,30.0,M1,0\n"
         "2024-11-20 10:00:00,TXT_2_IMG,SUCCEED,10.0,G1,40.0,12.0,1.0,30.0,M2,1\n"
         "2024-11-20 10:00:01,TXT_2_IMG,FAILED,84.0,G2,40.0,,1.0,30.0,M1,0\n"
         "2024-11-20 10:00:05,IMG_2_IMG,SUCCEED,20.0,G1,10.0,,4.0,30.0,M1,0\n"
         "2024-11-20 10:00:30,TXT_2_IMG,PENDING,0.0,G3,,,,,,0\n"
         "2024-11-20 10:01:10,TXT_2_IMG,PROCESSING,43.0,G4,10.0,,1.0,20.0,M1,0\n"
         "2024-11-20 10:02:00,TXT_2_IMG,SUCCEED,8.0,G5,,,,,,0\n";

static const struct trace_options off = {0};

Test(genai, only_requests_that_succeeded_are_served_and_the_others_counted_by_status)
{
    struct trace t = read_text(requests, off);
    cr_assert_str_eq(t.report.format, "genai");
    cr_assert(t.report.n_rows == 7 && t.report.n_kept == 4 && t.report.n_dropped == 3);
    cr_assert(account_adds_up(&t.report));
    cr_assert_eq(dropped_for(&t.report, "predict_status is FAILED"), 1);
    cr_assert_eq(dropped_for(&t.report, "predict_status is PENDING"), 1);
    cr_assert_eq(dropped_for(&t.report, "predict_status is PROCESSING"), 1);
    cr_assert_eq(t.jobs.n_jobs, 4);
    cr_assert_eq(t.jobs.submit_us[2] - t.jobs.submit_us[0], 5 * US_PER_S);
    cr_assert(t.jobs.duration_us[0] == 30 * US_PER_S && t.jobs.duration_us[3] == 8 * US_PER_S);
    cr_assert(t.jobs.gpu_milli[0] == 1000 && t.jobs.kind[0] == KIND_INFER);
    cr_assert_str_eq(name_of(&t, t.jobs.user[1]), "G1");
    cr_assert_str_eq(name_of(&t, t.jobs.group[1]), "M2");
    cr_assert_eq(t.jobs.group[3], -1, "no model is no group");
    cr_assert_eq(t.jobs.workload[0], -1);
    cr_assert(isnan(t.clock_hour_at_0), "the published clock is shifted");
    round_trip(&t);
    trace_free(&t);
}

Test(genai, equal_rows_are_two_requests_and_strict_takes_no_offence_at_a_status)
{
    struct trace_options strict = {.strict = true};
    struct trace t = read_text(HEAD "2024-11-20 10:00:00,T,SUCCEED,1,G,,,,,M,0\n"
                                    "2024-11-20 10:00:00,T,SUCCEED,1,G,,,,,M,0\n"
                                    "2024-11-20 10:00:00,T,FAILED,1,G,,,,,M,0\n",
                               strict);
    cr_assert(t.jobs.n_jobs == 2 && t.report.n_duplicates == 0 && t.report.n_dropped == 1);
    trace_free(&t);
    refuse_text(HEAD "2024-11-20 10:00,T,SUCCEED,1,G,,,,,M,0\n", strict, ST_INPUT,
                ":2:1:", "is no date");
    refuse_text(HEAD "2024-11-20 10:00:00,T,LOST,1,G,,,,,M,0\n", strict, ST_INPUT,
                ":2:3:", "predict_status is not known");
    refuse_text(HEAD "2024-11-20 10:00:00,T,SUCCEED,,G,,,,,M,0\n", strict, ST_INPUT,
                ":2:4:", "exec_time_seconds is empty");
}

/* One group and model at 0, 300, 601 and 601 s; another model, another group; times on the hour. */
static const char sessions[] = HEAD "2024-11-20 10:00:00,T,SUCCEED,1,G1,,,,,M1,0\n"
                                    "2024-11-20 10:00:00,T,SUCCEED,2,G1,,,,,M2,0\n"
                                    "2024-11-20 10:05:00,T,SUCCEED,4,G1,,,,,M1,0\n"
                                    "2024-11-20 10:10:01,T,SUCCEED,8,G1,,,,,M1,0\n"
                                    "2024-11-20 10:10:01,T,SUCCEED,16,G2,,,,,M1,0\n"
                                    "2024-11-20 11:00:00,T,SUCCEED,32,G1,,,,,M1,0\n"
                                    "2024-11-20 10:15:00,T,SUCCEED,64,G1,,,,,M1,0\n";
static const int64_t ten_us = INT64_C(1732096800) * US_PER_S;

static struct trace batched(enum trace_batch how)
{
    return read_text(sessions, (struct trace_options){.batch = how});
}

static void expect_batch(const struct trace *t, int32_t job, int submit_s, int work_s)
{
    cr_assert_eq(t->jobs.submit_us[job], ten_us + submit_s * US_PER_S, "job %d: %ld", job,
                 (long)((t->jobs.submit_us[job] - ten_us) / US_PER_S));
    cr_assert_eq(t->jobs.duration_us[job], work_s * US_PER_S, "job %d", job);
}

Test(genai, a_session_ends_after_a_gap_of_more_than_300_s_and_is_submitted_with_its_last_request)
{
    struct trace t = batched(BATCH_SESSION);
    cr_assert_eq(t.jobs.n_jobs, 6);
    expect_batch(&t, 0, 300, 1 + 4);
    expect_batch(&t, 1, 0, 2);
    expect_batch(&t, 2, 601, 8);
    expect_batch(&t, 3, 601, 16);
    expect_batch(&t, 4, 3600, 32);
    expect_batch(&t, 5, 900, 64); /* out of order: another session, not the one at 11:00 */
    cr_assert(t.report.n_kept == 7 && account_adds_up(&t.report));
    cr_assert(has_note(&t.report, "7 requests became 6 jobs"));
    round_trip(&t);
    trace_free(&t);
}

Test(genai, an_interval_of_the_clock_is_submitted_as_it_ends)
{
    struct trace t = batched(BATCH_GROUP_5MIN);
    cr_assert_eq(t.jobs.n_jobs, 6);
    expect_batch(&t, 0, 300, 1 + 2);
    expect_batch(&t, 1, 600, 4);
    expect_batch(&t, 2, 900, 8);
    cr_assert_eq(t.jobs.group[0], -1, "two models are none");
    cr_assert_str_eq(name_of(&t, t.jobs.user[0]), "G1");
    trace_free(&t);
    t = batched(BATCH_MODEL_HOUR);
    cr_assert_eq(t.jobs.n_jobs, 3);
    expect_batch(&t, 0, 3600, 1 + 4 + 8 + 16 + 64);
    expect_batch(&t, 1, 3600, 2);
    expect_batch(&t, 2, 7200, 32);
    cr_assert_eq(t.jobs.user[0], -1, "two users are none");
    cr_assert_str_eq(name_of(&t, t.jobs.group[0]), "M1");
    trace_free(&t);
    t = batched(BATCH_GROUP_DAY);
    cr_assert_eq(t.jobs.n_jobs, 2);
    expect_batch(&t, 0, 14 * 3600, 127 - 16);
    trace_free(&t);
}

Test(genai, a_folder_is_read_for_its_request_table_alone)
{
    struct temp_folder f = temp_folder();
    struct trace t;
    struct error err = {{0}};
    folder_text(&f, "lora_request_trace.csv", requests);
    folder_text(&f, "qps.csv", "timestamp_anon,value,container_ip,request_type\n1,2,,x\n");
    cr_assert_eq(read_path(f.path, off, &t, &err), ST_OK, "%s", err.text);
    cr_assert_eq(t.jobs.n_jobs, 4);
    cr_assert(has_note(&t.report, "not read: qps.csv"));
    trace_free(&t);
    folder_remove(&f);
}

static bool shared_trace(enum trace_batch how, struct trace *t)
{
    char path[SHARED_PATH_MAX];
    struct error err = {{0}};
    if (!shared_path(path, "data/genai/lora_request_trace.csv.gz"))
        return false;
    struct trace_options o = {.batch = how};
    cr_assert_eq(read_path(path, o, t, &err), ST_OK, "%s", err.text);
    return true;
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Counts, median and largest work of every rule as they were measured from the same table by other
 * means. */
Test(genai, the_published_table_gives_the_known_number_of_jobs_and_work_for_every_rule)
{
    static const struct {
        enum trace_batch how;
        int n_jobs, median_s, most_s;
    } rows[] = {
        {BATCH_REQUEST, 26392, 23, 567},     {BATCH_SESSION, 12032, 33, 2905},
        {BATCH_GROUP_5MIN, 12735, 45, 1410}, {BATCH_GROUP_HOUR, 6554, 54, 2594},
        {BATCH_GROUP_DAY, 5207, 53, 12129},  {BATCH_MODEL_15MIN, 6284, 58, 2639},
        {BATCH_MODEL_HOUR, 3179, 80, 4975},  {BATCH_MODEL_DAY, 775, 125, 26000},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct trace t;
        if (!shared_trace(rows[i].how, &t))
            cr_skip_test("no data/genai in the shared folder");
        cr_assert_eq(t.report.n_rows, 26823);
        cr_assert_eq(t.report.n_kept, 26392);
        cr_assert_eq(t.jobs.n_jobs, rows[i].n_jobs, "rule %zu: %d jobs", i, t.jobs.n_jobs);
        double *work_s = malloc((size_t)t.jobs.n_jobs * sizeof *work_s), sum_s = 0;
        for (int32_t j = 0; j < t.jobs.n_jobs; j++)
            sum_s += work_s[j] = s_of_us(t.jobs.duration_us[j]);
        qsort(work_s, (size_t)t.jobs.n_jobs, sizeof *work_s, by_value);
        double median_s = (work_s[(t.jobs.n_jobs - 1) / 2] + work_s[t.jobs.n_jobs / 2]) / 2;
        cr_assert_float_eq(median_s, rows[i].median_s, 1e-9, "rule %zu", i);
        cr_assert_float_eq(work_s[t.jobs.n_jobs - 1], rows[i].most_s, 1e-9, "rule %zu", i);
        cr_assert_float_eq(sum_s / 3600, 211.9, 0.06, "all of them hold the same work");
        free(work_s);
        trace_free(&t);
    }
}

/* A derived file has one row a job: when and how much, in the order of submission. */
static void compare_with(const char *file, enum trace_batch how)
{
    char path[SHARED_PATH_MAX];
    struct trace t;
    struct table table;
    struct error err = {{0}};
    if (!shared_path(path, file) || !shared_trace(how, &t))
        cr_skip_test("no data/genai in the shared folder");
    cr_assert_eq(table_read(path, &table, &err), ST_OK, "%s", err.text);
    cr_assert_eq(table.n_rows, t.jobs.n_jobs);
    const int64_t first_us = INT64_C(1731689870) * US_PER_S; /* 2024-11-15 16:57:50 */
    int32_t at = table_column(&table, "submit_s"), work = table_column(&table, "work_s");
    int32_t model = table_column(&table, "checkpoint_model_version_id");
    bool *seen = calloc((size_t)t.jobs.n_jobs, sizeof *seen);
    for (int32_t row = 0; row < table.n_rows; row++) {
        int32_t j = 0; /* the job with these numbers that was not met yet */
        for (; j < t.jobs.n_jobs; j++)
            if (!seen[j] &&
                t.jobs.submit_us[j] - first_us == us_of_s(table_number(&table, row, at)) &&
                t.jobs.duration_us[j] == us_of_s(table_number(&table, row, work)) &&
                strcmp(name_of(&t, t.jobs.group[j]), table_cell(&table, row, model)) == 0)
                break;
        cr_assert_lt(j, t.jobs.n_jobs, "%s: no job for row %d", file, row + 2);
        seen[j] = true;
    }
    free(seen);
    table_free(&table);
    trace_free(&t);
}

Test(genai, sessions_are_those_of_the_derived_file)
{
    compare_with("data/genai/genai_offline_jobs_session300.csv", BATCH_SESSION);
}

Test(genai, model_hours_are_those_of_the_derived_file)
{
    compare_with("data/genai/genai_offline_jobs_model_hour.csv", BATCH_MODEL_HOUR);
}
