#include "calib/solo_rates.h"

#include "tests/leak.h"
#include "tests/temp.h"
#include "traces/table_file.h"

#include <math.h>

TestSuite(solo_rates, .fini = abort_on_leak);

static enum status read_text(struct solo_rates *r, const char *text, struct error *err)
{
    struct temp_file file = temp_text(".csv", text);
    struct table t;
    cr_assert_eq(table_read(file.path, &t, err), ST_OK, "%s", err->text);
    enum status status = solo_rates_read(r, &t, err);
    table_free(&t);
    temp_remove(&file);
    return status;
}

Test(solo_rates, throttled_samples_are_left_out_and_the_median_of_the_rest_counts)
{
    struct solo_rates r = {0};
    struct error err = {""};
    cr_assert_eq(read_text(&r,
                           "i,iter_ms,throttled\n0,10.0,0\n1,10.2,0\n2,9.8,0\n3,10.0,0\n4,25.0,1\n",
                           &err),
                 ST_OK, "%s", err.text);
    cr_assert_eq(r.n, 1);
    cr_assert_eq(r.at[0].n_used, 4);
    cr_assert_eq(r.at[0].n_left_out, 1);
    cr_assert_float_eq(r.at[0].step_s, .010, 1e-12);
    solo_rates_free(&r);
    cr_assert_eq(read_text(&r, "i,iter_ms,throttled\n0,24.0,1\n1,25.0,1\n", &err), ST_INPUT);
    cr_assert_str_eq(err.text, "every sample was taken while the card was throttled");
    solo_rates_free(&r);
}

Test(solo_rates, configurations_are_told_by_columns_or_by_the_jobs_name)
{
    static const struct {
        const char *text, *workload;
        double bs, rate, step_s;
        bool amp, ck;
    } cases[] = {
        {"workload,bs,amp,ck,rate\nx,64,1,1,320\n", "x", 64, 320, .2, true, true},
        {"model,dataset,batchsize,amp,speed\nR,C,32,0,64\n", "R-C", 32, 64, .5, false, false},
        {"model,local_bsz,step_time\nbert,4,.5\n", "bert", 4, 8, .5, false, false},
        {"job,samples_per_s,steps_per_s\nnet-b8-amp-ck,80,10\n", "net", 8, 80, .1, true, true},
        {"job,samples_per_s,steps_per_s\nllm-decode-b4-c2048,40,10\n", "llm-decode-c2048", 4, 40,
         .1, false, false},
        {"job,steps_per_s\nnet-b8-tf32,10\n", "net", 8, 80, .1, false, false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct solo_rates r = {0};
        struct error err = {""};
        cr_assert_eq(read_text(&r, cases[i].text, &err), ST_OK, "%s", err.text);
        cr_assert_eq(r.n, 1);
        cr_assert_str_eq(names_text(&r.workloads, r.at[0].workload), cases[i].workload);
        cr_assert_float_eq(r.at[0].bs, cases[i].bs, 0);
        cr_assert_float_eq(r.at[0].rate, cases[i].rate, 1e-9, "%zu: %g", i, r.at[0].rate);
        cr_assert_float_eq(r.at[0].step_s, cases[i].step_s, 1e-12);
        cr_assert_eq(r.at[0].amp, cases[i].amp);
        cr_assert_eq(r.at[0].ck, cases[i].ck);
        solo_rates_free(&r);
    }
}

Test(solo_rates, samples_of_one_configuration_come_together_in_the_order_of_first_sight)
{
    struct solo_rates r = {0};
    struct error err = {""};
    cr_assert_eq(read_text(&r,
                           "workload,bs,amp,step_s\na,8,0,1\nb,8,0,5\na,8,0,3\na,8,1,7\na,16,0,9\n"
                           "a,8,0,2\n",
                           &err),
                 ST_OK);
    cr_assert_eq(r.n, 4);
    static const double step_s[] = {2, 5, 7, 9};
    for (int i = 0; i < 4; i++)
        cr_assert_float_eq(r.at[i].step_s, step_s[i], 1e-12);
    cr_assert_eq(r.at[0].n_used, 3);
    solo_rates_free(&r);
}

Test(solo_rates, what_is_wrong_is_named)
{
    static const char *const cases[][2] = {
        {"workload,bs\nx,1\n", "there is no column of speeds"},
        {"workload,bs,rate\nx,0,1\n", "line 2: bs is '0'"},
        {"workload,bs,rate\nx,1,fast\n", "line 2: rate is 'fast'"},
        {"workload,bs,amp,rate\nx,1,yes,1\n", "line 2: amp is 'yes'"},
        {"workload,bs,step_s,throttled\nx,1,1,0\ny,1,1,1\n", "y: every sample"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct solo_rates r = {0};
        struct error err = {""};
        cr_assert_eq(read_text(&r, cases[i][0], &err), ST_INPUT);
        cr_assert(strstr(err.text, cases[i][1]) != NULL, "%s", err.text);
        solo_rates_free(&r);
    }
}
