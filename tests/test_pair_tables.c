#include "calib/pair_tables.h"

#include "core/elastico/catalog_file.h"
#include "tests/leak.h"
#include "tests/shared.h"
#include "tests/solo_table.h"

#include <math.h>

TestSuite(pair_tables, .fini = abort_on_leak);

Test(pair_tables, two_jobs_together_are_two_rows_and_only_repetition_0_counts)
{
    struct table solo = table_of(SOLO),
                 pairs = table_of("job_a,job_b,retain_a,retain_b,rep\n"
                                  "net-b64-amp-ck,llm-decode-b4-c2048,0.8,0.5,0\n"
                                  "net-b64-amp-ck,llm-decode-b4-c2048,0.7,0.4,1\n"
                                  "net-b64-amp-ck,net-b64-amp-ck,0.5,1.05,0\n");
    struct solo_jobs jobs = {0};
    struct samples s = {0};
    struct error err = {""};
    cr_assert(pair_table_is_jobs(&pairs));
    cr_assert_not(pair_table_is_jobs(&solo));
    cr_assert_eq(solo_jobs_of_table(&jobs, &solo, 1000, &err), ST_OK);
    cr_assert_eq(pair_table_jobs(&s, &pairs, &jobs, &err), ST_OK, "%s", err.text);
    cr_assert_eq(s.n, 4);
    cr_assert_eq(s.n_experiments, 2);
    cr_assert(s.named_jobs);
    cr_assert_float_eq(s.row[0].slowdown, 1.25, 1e-12, "a slowdown, not a speed");
    cr_assert_float_eq(s.row[1].slowdown, 2, 1e-12);
    cr_assert_float_eq(s.row[2].slowdown, 2, 1e-12);
    cr_assert_float_eq(s.row[3].slowdown, 1, 0, "kept more than alone");
    cr_assert_eq(s.side[0].kind, KIND_TRAIN);
    cr_assert_eq(s.side[1].kind, KIND_INFER);
    cr_assert_eq(s.side[2].kind, KIND_INFER);
    cr_assert_eq(s.row[1].workload[0], 1);
    cr_assert_eq(s.row[1].workload[1], 0);
    samples_free(&s);
    solo_jobs_free(&jobs);
    table_free(&solo);
    table_free(&pairs);
}

Test(pair_tables, what_is_wrong_is_named)
{
    static const struct {
        const char *solo, *pairs, *said;
    } row[] = {
        {"job,sm\na,1\n", NULL, "there is no column 'samples_per_s'"},
        {SOLO_HEAD "a,1,1,50,50,101,1,1,1\n", NULL,
         "line 2: sm is '101', want a number in 0 to 100"},
        {SOLO_HEAD "a,1,1,50,50,1,1,1,1\na,1,1,50,50,1,1,1,1\n", NULL, "job 'a' is there twice"},
        {SOLO_HEAD "a,1,1,0,50,1,1,1,1\n", NULL, "line 2: steps_per_s is '0'"},
        {SOLO, "job_a,job_b,retain_a\n", "there is no column 'retain_b'"},
        {SOLO, "job_a,job_b,retain_a,retain_b\nnet-b64-amp-ck,x,1,1\n",
         "line 2: 'x' is not among the jobs alone"},
        {SOLO, "job_a,job_b,retain_a,retain_b\nnet-b64-amp-ck,net-b64-amp-ck,1,0\n",
         "line 2: retain_b is '0', want a number in 0.001 to 10"},
        {SOLO, "job_a,job_b,retain_a,retain_b\nnet-b64-amp-ck,net-b64-amp-ck,nan,1\n",
         "line 2: retain_a is 'nan'"},
    };
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        struct table solo = table_of(row[i].solo), pairs = {0};
        struct solo_jobs jobs = {0};
        struct samples s = {0};
        struct error err = {""};
        enum status status = solo_jobs_of_table(&jobs, &solo, 1000, &err);
        if (row[i].pairs != NULL) {
            cr_assert_eq(status, ST_OK, "%s", err.text);
            pairs = table_of(row[i].pairs);
            status = pair_table_jobs(&s, &pairs, &jobs, &err);
        }
        cr_assert_eq(status, ST_INPUT, "row %zu", i);
        cr_assert(strstr(err.text, row[i].said) != NULL, "row %zu: %s", i, err.text);
        samples_free(&s);
        solo_jobs_free(&jobs);
        table_free(&solo);
        table_free(&pairs);
    }
}

Test(pair_tables, features_computed_here_are_those_in_the_columns_of_the_published_set)
{
    char path[SHARED_PATH_MAX], name[32];
    struct table t;
    struct samples s = {0};
    struct error err = {""};
    if (!shared_path(path, "data/calib/pairs_1088_queue_l2.csv"))
        cr_skip_test("no shared data; set COLOSIM_SHARED");
    cr_assert_eq(table_read(path, &t, &err), ST_OK, "%s", err.text);
    cr_assert_eq(pair_table_features(&s, &t, 1, &err), ST_OK, "%s", err.text);
    cr_assert_eq(s.n, 1088);
    cr_assert_eq(s.n_experiments, 544);
    cr_assert_eq(s.workloads.n, 12);
    for (int32_t k = 0; k < s.n; k++) {
        double x[IAC_FEATURES_MAX];
        iac_features(&s.side[2 * k], &s.side[2 * k + 1], false, x);
        for (int32_t f = 0; f < IAC_FEATURES; f++) {
            int32_t column = table_column(&t, iac_feature_name(f, name));
            cr_assert(column >= 0, "%s", name);
            double want = table_number(&t, k, column); /* six digits */
            cr_assert_float_eq(x[f], want, 2e-5 * fmax(1, fabs(want)), "row %d, %s: %g, %g", k,
                               name, x[f], want);
        }
        cr_assert_float_eq(s.side[2 * k].card_mib, 80 * 1024, .5, "the set's card: %g",
                           s.side[2 * k].card_mib);
    }
    samples_free(&s);
    table_free(&t);
}

Test(pair_tables, tables_of_others_are_read_in_their_own_spelling)
{
    static const struct {
        const char *text, *name[2];
        double slowdown[2], step_s;
        int n_rows, n_dropped;
    } cases[] = {
        /* Gavel: steps/s alone and together; 0 did not run */
        {"gpu,job1,job2,solo1_steps_s,solo2_steps_s,colo1_steps_s,colo2_steps_s\n"
         "p100,A (batch size 16),B,4,10,2,8\np100,A (batch size 16),C,4,10,0,0\n",
         {"A (batch size 16)", "B"},
         {2, 1.25},
         .25,
         2,
         1},
        /* Lucid: retained rates, above 1 as well */
        {",model1,dataset1,batchsize1,amp1,speed1,model2,dataset2,batchsize2,amp2,speed2\n"
         "0,M,Img,32,1,0.8,R,C-10,64,0,1.25\n",
         {"M-Img-b32-amp", "R-C-10-b64"},
         {1.25, .8},
         0,
         2,
         0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct table t = table_of(cases[i].text);
        struct solo_jobs jobs = {0};
        struct samples s = {0};
        struct error err = {""};
        cr_assert(pair_table_is_jobs(&t) && pair_table_is_bare(&t));
        cr_assert_eq(pair_table_jobs(&s, &t, &jobs, &err), ST_OK, "%s", err.text);
        cr_assert_eq(s.n, cases[i].n_rows);
        cr_assert_eq(s.n_dropped, cases[i].n_dropped);
        for (int k = 0; k < 2; k++) {
            cr_assert_str_eq(names_text(&s.workloads, s.row[k].workload[0]), cases[i].name[k]);
            cr_assert_float_eq(s.row[k].measured, cases[i].slowdown[k], 1e-12);
            cr_assert_float_eq(s.row[k].slowdown, fmax(1, cases[i].slowdown[k]), 1e-12);
        }
        cr_assert_float_eq(s.side[0].step_s, cases[i].step_s, 1e-12);
        samples_free(&s);
        table_free(&t);
    }
}

Test(pair_tables, iteration_times_alone_and_together_make_slowdowns)
{
    struct table solo = table_of("model,iter_ms\nx,100.0\ny,50.0\n"),
                 pairs = table_of("model_a,model_b,iter_ms_a,iter_ms_b\nx,y,125.0,100.0\n");
    struct solo_jobs jobs = {0};
    struct samples s = {0};
    struct error err = {""};
    cr_assert_eq(solo_jobs_of_table(&jobs, &solo, 1000, &err), ST_OK, "%s", err.text);
    cr_assert(pair_table_is_jobs(&pairs));
    cr_assert_not(pair_table_is_bare(&pairs));
    cr_assert_eq(pair_table_jobs(&s, &pairs, &jobs, &err), ST_OK, "%s", err.text);
    cr_assert_float_eq(s.row[0].slowdown, 1.25, 1e-12);
    cr_assert_float_eq(s.row[1].slowdown, 2, 1e-12);
    samples_free(&s);
    solo_jobs_free(&jobs);
    table_free(&solo);
    table_free(&pairs);
}
