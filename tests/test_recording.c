#include "calib/recording.h"

#include "core/base/units.h"
#include "tests/leak.h"
#include "tests/temp.h"
#include "traces/table_file.h"

#include <math.h>

TestSuite(recording, .fini = abort_on_leak);

/* Jobs a, b, c submitted at 0, 10 and 20 s, of 100, 200 and 400 GPU-seconds. */
static struct job_table made(void)
{
    struct job_table t = {0};
    struct error err;
    for (int j = 0; j < 3; j++) {
        struct job_row row = job_row_empty();
        row.name = (const char *[]){"a", "b", "c"}[j];
        row.name_length = 1;
        row.submit_us = j * 10 * US_PER_S;
        row.duration_us = (100 << j) * US_PER_S;
        row.gpu_milli = 1000;
        cr_assert_geq(jobs_add(&t, &row), 0);
    }
    cr_assert_eq(jobs_close(&t, &err), ST_OK);
    return t;
}

static enum status read_text(struct recording *r, const char *text, const struct job_table *jobs,
                             struct error *err)
{
    struct temp_file file = temp_text(".csv", text);
    struct table t;
    cr_assert_eq(table_read(file.path, &t, err), ST_OK, "%s", err->text);
    enum status status = recording_read(r, &t, jobs, err);
    table_free(&t);
    temp_remove(&file);
    return status;
}

static void outcome(struct job_table *t, int32_t job, double start_s, double finish_s)
{
    t->start_us[job] = us_of_s(start_s);
    t->finish_us[job] = us_of_s(finish_s);
}

/* Recorded JCTs 15, 40; replayed 12, 50; c ended in the replay alone. */
Test(recording, a_replay_is_compared_over_the_jobs_that_ended_in_both)
{
    struct job_table t = made();
    struct recording r;
    struct comparison c;
    struct error err = {""};
    cr_assert_eq(
        read_text(&r, "job,end_s,start_s,note\nb,50,12,\na,15,5,\nz,1,1,\nc,,30,\n", &t, &err),
        ST_OK, "%s", err.text);
    outcome(&t, 0, 2, 12);
    outcome(&t, 1, 20, 60);
    outcome(&t, 2, 30, 70);
    cr_assert_eq(r.n_unknown, 1);
    cr_assert_eq(recording_compare(&r, &t, &c, &err), ST_OK);
    cr_assert_eq(c.n, 2);
    cr_assert_eq(c.n_only_simulated, 1);
    cr_assert_eq(c.n_only_recorded, 0);
    static const double want[N_FIDELITIES][2] = {
        [FIDELITY_JCT_MEAN_S] = {27.5, 31},
        [FIDELITY_JCT_P50_S] = {27.5, 31},
        [FIDELITY_JCT_P90_S] = {15 + .9 * 25, 12 + .9 * 38},
        [FIDELITY_JCT_P99_S] = {15 + .99 * 25, 12 + .99 * 38},
        [FIDELITY_WAIT_MEAN_S] = {(5 + 2) / 2., (2 + 10) / 2.},
        [FIDELITY_MAKESPAN_S] = {50, 60},
        [FIDELITY_THROUGHPUT_ENDED_GPUS] = {100 / 20., 100 / 20.}, /* a alone ended by 20 s */
    };
    for (int f = 0; f < N_FIDELITIES; f++) {
        cr_assert_float_eq(c.recorded[f], want[f][0], 1e-9, "%s: %g", fidelity_name[f],
                           c.recorded[f]);
        cr_assert_float_eq(c.simulated[f], want[f][1], 1e-9, "%s: %g", fidelity_name[f],
                           c.simulated[f]);
    }
    cr_assert_float_eq(comparison_error_pct(&c, FIDELITY_JCT_MEAN_S), 100 * (31 / 27.5 - 1), 1e-9);
    cr_assert_float_eq(c.job_error_mean_pct, (20 + 25) / 2., 1e-9);
    cr_assert_float_eq(c.job_error_p50_pct, 22.5, 1e-9);
    recording_free(&r);
    jobs_free(&t);
}

Test(recording, jobs_submitted_at_once_are_counted_over_the_makespan)
{
    struct job_table t = made();
    struct recording r;
    struct comparison c;
    struct error err = {""};
    for (int j = 0; j < 3; j++)
        t.submit_us[j] = 0;
    cr_assert_eq(read_text(&r, "job,start_s,finish_s\na,0,100\nb,0,200\nc,0,350\n", &t, &err),
                 ST_OK);
    outcome(&t, 0, 0, 100);
    outcome(&t, 1, 0, 200);
    outcome(&t, 2, 0, 400);
    cr_assert_eq(recording_compare(&r, &t, &c, &err), ST_OK);
    cr_assert_float_eq(c.recorded[FIDELITY_THROUGHPUT_ENDED_GPUS], 2, 1e-9);
    cr_assert_float_eq(c.simulated[FIDELITY_THROUGHPUT_ENDED_GPUS], 700 / 400., 1e-9);
    recording_free(&r);
    jobs_free(&t);
}

Test(recording, what_cannot_have_been_is_refused_by_its_line)
{
    static const char *const cases[][2] = {
        {"job,start_s\na,1\n", "there is no column 'end_s'"},
        {"job,start_s,end_s\nb,5,50\n",
         "line 2: job 'b' starts at 5 s, before its submission at 10"},
        {"job,start_s,end_s\na,5,6\nb,50,20\n", "line 3: job 'b' ends at 20 s, before its start"},
        {"job,start_s,end_s\na,5,6\na,5,7\n", "line 3: job 'a' is there twice"},
        {"job,start_s,end_s\na,soon,6\n", "line 2: start_s is 'soon', want seconds"},
    };
    struct job_table t = made();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct recording r;
        struct error err = {""};
        cr_assert_eq(read_text(&r, cases[i][0], &t, &err), ST_INPUT);
        cr_assert(strstr(err.text, cases[i][1]) != NULL, "%s", err.text);
        recording_free(&r);
    }
    jobs_free(&t);
}
