/* Philly's job log: case 29, attempts that differ, and JSON that is none. */
#include "tests/leak.h"
#include "tests/trace_files.h"

TestSuite(philly, .fini = abort_on_leak);

#define AT(clock_) "\"2017-10-10 " clock_ "\""
#define GPUS_2     "{\"ip\": \"m1\", \"gpus\": [\"gpu0\", \"gpu1\"]}"
#define GPUS_4     "{\"ip\": \"m5\", \"gpus\": [\"gpu0\", \"gpu1\", \"gpu2\", \"gpu3\"]}"
#define GPUS_8     "{\"ip\": \"m2\", \"gpus\": [\"0\",\"1\",\"2\",\"3\",\"4\",\"5\",\"6\",\"7\"]}"
#define ATTEMPT(start_, end_, detail_)                                                             \
    "{\"start_time\": " start_ ", \"end_time\": " end_ ", \"detail\": [" detail_ "]}"
#define JOB(id_, submitted_, attempts_)                                                            \
    "{\"status\": \"Pass\", \"vc\": \"v0\", \"jobid\": \"" id_ "\", \"attempts\": [" attempts_     \
    "],\n\"submitted_time\": " submitted_ ", \"user\": \"u0\"}"

static const char odd[] = "[\n" JOB("p1", AT("01:00:00"), ATTEMPT(AT("01:00:30"), AT("01:10:30"), GPUS_2)) ",\n" JOB(
    "p2", AT("01:59:00"),
    ATTEMPT(AT("02:00:00"), AT("02:01:14"), GPUS_8) "," ATTEMPT(
        AT("02:02:00"), AT("02:12:00"),
        GPUS_8)) ",\n" JOB("p3", AT("02:30:00"),
                           "") ",\n" JOB("p4", AT("02:40:00"),
                                         ATTEMPT(
                                             AT("02:41:00"), "null",
                                             GPUS_2)) ",\n" JOB("p5", AT("02:50:00"),
                                                                ATTEMPT(
                                                                    "\"None\"", AT("02:55:00"),
                                                                    GPUS_2)) ",\n" JOB("p6",
                                                                                       AT("02:59:"
                                                                                          "00"),
                                                                                       ATTEMPT(
                                                                                           AT("03:"
                                                                                              "00:"
                                                                                              "00"),
                                                                                           AT("03:"
                                                                                              "30:"
                                                                                              "00"),
                                                                                           GPUS_8
                                                                                           "," GPUS_4)) ",\n" JOB("p7",
                                                                                                                  AT("03:00:00"),
                                                                                                                  ATTEMPT(
                                                                                                                      AT("03:00:10"),
                                                                                                                      AT("03:05:10"),
                                                                                                                      "")) ",\n" JOB("p8",
                                                                                                                                     "null",
                                                                                                                                     ATTEMPT(
                                                                                                                                         AT("03:10:00"),
                                                                                                                                         AT("03:11:00"),
                                                                                                                                         GPUS_2)) "\n]\n";

static const struct trace_options off = {0};

Test(philly, odd_attempts_each_have_their_reason)
{
    struct trace t = read_text(odd, off);
    cr_assert_str_eq(t.report.format, "philly");
    cr_assert(t.report.n_rows == 8 && t.report.n_kept == 3 && t.report.n_dropped == 5);
    cr_assert(account_adds_up(&t.report) && t.jobs.n_jobs == 3);
    static const char *const reasons[] = {"no attempt", "no end_time of an attempt",
                                          "no start_time of an attempt", "no GPU",
                                          "no submitted_time"};
    static const int lines[] = {6, 8, 10, 14, 16}; /* two lines a job, from line 2 */
    for (int i = 0; i < 5; i++) {
        cr_assert_str_eq(t.report.reason[i].text, reasons[i]);
        cr_assert(t.report.reason[i].n == 1 && t.report.reason[i].at[0].line == lines[i], "%s: %ld",
                  reasons[i], (long)t.report.reason[i].at[0].line);
    }
    trace_free(&t);
}

Test(philly, a_job_runs_for_the_sum_of_its_attempts_on_the_gpus_of_one)
{
    struct trace t = read_text(odd, off);
    static const struct {
        const char *name;
        int run_s, gpus;
    } jobs[] = {{"p1", 600, 2}, {"p2", 674, 8}, {"p6", 1800, 12}};
    double gpu_s = 0;
    for (int i = 0; i < 3; i++) {
        int32_t job = job_of(&t, jobs[i].name);
        cr_assert_eq(job_duration_us(&t.jobs, job), jobs[i].run_s * US_PER_S);
        cr_assert_eq(job_gpu_milli(&t.jobs, job), jobs[i].gpus * 1000);
        gpu_s += job_work_gpu_s(&t.jobs, job);
    }
    cr_assert_float_eq(gpu_s, 28192, 1e-9);
    cr_assert_eq(t.jobs.submit_us[0], INT64_C(1507597200) * US_PER_S);
    cr_assert_str_eq(name_of(&t, t.jobs.queue[0]), "v0");
    cr_assert_str_eq(name_of(&t, t.jobs.user[0]), "u0");
    cr_assert_eq(t.jobs.kind[0], KIND_TRAIN);
    cr_assert(has_note(&t.report, "the sum of their run times: 1"));
    round_trip(&t);
    trace_free(&t);
}

Test(philly, of_attempts_that_differ_in_width_the_first_with_gpus_counts)
{
    struct trace t = read_text(
        "[" JOB("a", AT("01:00:00"),
                ATTEMPT(AT("01:00:00"), AT("01:00:10"), "") "," ATTEMPT(
                    AT("01:00:00"), AT("01:00:20"),
                    GPUS_4) "," ATTEMPT(AT("01:00:00"), AT("01:00:30"),
                                        GPUS_8)) "," JOB("b", AT("01:00:00"),
                                                         ATTEMPT(AT("01:00:00"), AT("01:00:30"),
                                                                 GPUS_8) "," ATTEMPT(AT("01:00:00"),
                                                                                     AT("00:59:30"),
                                                                                     GPUS_8)) "]",
        off);
    cr_assert(t.jobs.n_jobs == 1 && dropped_for(&t.report, "end before start") == 1);
    cr_assert_eq(job_gpu_milli(&t.jobs, 0), 4000);
    cr_assert_eq(job_duration_us(&t.jobs, 0), 60 * US_PER_S);
    cr_assert(has_note(&t.report, "of which the first stands: 1"));
    trace_free(&t);
}

Test(philly, what_is_no_job_is_dropped_and_the_rest_read)
{
    struct trace t =
        read_text("[1, null, {\"jobid\": 5}, {\"user\": \"u\"}, {broken}, \"\xff\", "
                  "{\"jobid\": \"x\", \"user\": 3},\n"
                  "{\"jobid\": \"y\", \"submitted_time\": \"soon\", \"attempts\": []},\n" JOB(
                      "p1", AT("01:00:00"), ATTEMPT(AT("01:00:30"), AT("01:10:30"), GPUS_2)) "]",
                  off);
    cr_assert(t.jobs.n_jobs == 1 && t.report.n_rows == 9 && account_adds_up(&t.report));
    cr_assert_eq(dropped_for(&t.report, "no jobid"), 4); /* 1, null, {"user"}, "\xff" */
    cr_assert_eq(dropped_for(&t.report, "no JSON value"), 1);
    cr_assert_eq(dropped_for(&t.report, "jobid, user, vc, status or submitted_time is no text"), 2);
    cr_assert_eq(dropped_for(&t.report, "submitted_time is no date"), 1);
    trace_free(&t);
    struct trace_options strict = {.strict = true};
    refuse_text("[{\"jobid\": \"a\"}]", strict, ST_INPUT, ":1:0: no submitted_time", "");
    refuse_text("[{\"jobid\": \"a\"}", off, ST_INPUT, ":1: incomplete", "");
    refuse_text("[]", off, ST_INPUT, "no rows", "");
}

Test(philly, names_are_bytes_whatever_their_encoding)
{
    struct trace t = read_text(
        "[" JOB("n\xff", AT("01:00:00"), ATTEMPT(AT("01:00:00"), AT("01:00:10"), GPUS_2)) ", " JOB(
            "n\xfe", AT("01:00:00"),
            ATTEMPT(AT("01:00:00"), AT("01:00:10"),
                    GPUS_2)) ", " JOB("\\u00e9", AT("01:00:00"),
                                      ATTEMPT(AT("01:00:00"), AT("01:00:10"), GPUS_2)) "]",
        off);
    cr_assert_eq(t.jobs.n_jobs, 3);
    cr_assert_str_eq(names_text(&t.jobs.job_names, 1), "n\xfe");
    cr_assert_str_eq(names_text(&t.jobs.job_names, 2), "\u00e9");
    trace_free(&t);
}

Test(philly, a_job_named_again_is_a_repeat_or_a_contradiction)
{
    struct trace t = read_text(
        "[" JOB("a", AT("01:00:00"), ATTEMPT(AT("01:00:00"), AT("01:00:10"), GPUS_2)) ",\n" JOB(
            "a", AT("01:00:00"),
            ATTEMPT(AT("01:00:00"), AT("01:00:10"),
                    GPUS_2)) ",\n" JOB("a", AT("01:00:00"),
                                       ATTEMPT(AT("01:00:00"), AT("01:00:11"), GPUS_2)) "]",
        off);
    cr_assert(t.jobs.n_jobs == 1 && t.report.n_duplicates == 1 && t.report.n_conflicts == 1);
    cr_assert_str_eq(t.report.reason[0].at[0].value, "line 1");
    cr_assert_eq(t.report.reason[0].at[0].line, 5);
    trace_free(&t);
}

Test(philly, gzip_is_read_as_well_and_a_log_cut_short_is_refused)
{
    struct temp_file f = temp_gzip(".gz", odd);
    struct trace t;
    struct error err = {{0}};
    cr_assert_eq(read_path(f.path, off, &t, &err), ST_OK, "%s", err.text);
    cr_assert_eq(t.jobs.n_jobs, 3);
    trace_free(&t);
    temp_remove(&f);
    for (size_t cut = 1; cut < strlen(odd) - 2; cut += 41) {
        f = temp_file("", odd, cut);
        cr_assert_eq(read_path(f.path, off, &t, &err), ST_INPUT, "cut at %zu", cut);
        trace_free(&t);
        temp_remove(&f);
    }
}
