#include "calib/score.h"

#include "calib/pair_tables.h"
#include "tests/leak.h"
#include "tests/shared.h"
#include "traces/table_file.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <time.h>

TestSuite(score, .init = dense_one_thread, .fini = abort_on_leak);

/* n jobs in all pairs, two rows each; S of a beside b is 1 + (b + 1) / (a + 1). */
static struct samples made(int n)
{
    struct samples s = {.named_jobs = true};
    struct error err;
    for (int a = 0; a < n; a++) {
        char name[8];
        names_add(&s.workloads, name, (size_t)snprintf(name, sizeof name, "%d", a));
    }
    for (int a = 0; a < n; a++)
        for (int b = 0; b <= a; b++)
            for (int k = 0; k < 2; k++) {
                int i = k ? b : a, j = k ? a : b;
                struct iac_side side[2] = {
                    {.sm = (i + 1.) / n, .card_mib = 1, .kind = i % 2 ? KIND_TRAIN : KIND_INFER},
                    {.sm = (j + 1.) / n, .card_mib = 1, .kind = j % 2 ? KIND_TRAIN : KIND_INFER}};
                struct pair_row row = {1 + (j + 1.) / (i + 1), 0, s.n_experiments - k, {i, j}, 0};
                cr_assert_eq(samples_add(&s, &side[0], &side[1], row, &err), ST_OK);
            }
    return s;
}

static struct score_fold linear_fold(const struct samples *s, const struct score_plan *p, int32_t f)
{
    struct score_options o = {train_defaults(), queueing_defaults(), 1, 1};
    struct score_fold fold;
    struct error err = {""};
    cr_assert_eq(score_run(&fold, s, p, f, SCORE_LINEAR, &o, &err), ST_OK, "%s", err.text);
    return fold;
}

Test(score, every_row_is_left_out_once_and_with_what_belongs_to_it)
{
    static const enum score_by by[] = {SCORE_BY_EXPERIMENT, SCORE_BY_PAIR};
    struct samples s = made(12);
    struct error err = {""};
    for (int b = 0; b < 2; b++) {
        struct score_plan p;
        int *n_tested = calloc((size_t)s.n, sizeof *n_tested), fold_of[12][12];
        cr_assert_eq(score_plan_init(&p, &s, by[b], 5, 3, &err), ST_OK, "%s", err.text);
        for (int32_t f = 0; f < p.n_folds; f++) {
            struct score_fold fold = linear_fold(&s, &p, f);
            cr_assert(fold.n >= 2 * (78 / 5) && fold.n <= 2 * (78 / 5 + 1), "%d", fold.n);
            for (int32_t i = 0; i < fold.n; i++) {
                const struct pair_row *row = &s.row[fold.row[i]];
                n_tested[fold.row[i]]++;
                fold_of[row->workload[0]][row->workload[1]] = f;
            }
            score_fold_free(&fold);
        }
        for (int32_t k = 0; k < s.n; k++)
            cr_assert_eq(n_tested[k], 1);
        for (int i = 0; i < 12; i++)
            for (int j = 0; j < 12; j++)
                cr_assert_eq(fold_of[i][j], fold_of[j][i]);
        free(n_tested);
        score_plan_free(&p);
    }
    samples_free(&s);
}

Test(score, by_workload_every_row_of_it_is_tested_and_none_learned_from)
{
    struct samples s = made(8);
    struct score_plan p;
    struct error err = {""};
    cr_assert_eq(score_plan_init(&p, &s, SCORE_BY_WORKLOAD, 5, 1, &err), ST_OK);
    cr_assert_eq(p.n_folds, 8);
    for (int32_t f = 0; f < p.n_folds; f++) {
        struct score_fold fold = linear_fold(&s, &p, f);
        cr_assert_eq(fold.n, 16);
        for (int32_t i = 0; i < fold.n; i++)
            cr_assert(s.row[fold.row[i]].workload[0] == f || s.row[fold.row[i]].workload[1] == f);
        score_fold_free(&fold);
    }
    score_plan_free(&p);
    samples_free(&s);
}

Test(score, labels_left_out_have_no_influence_on_what_is_predicted_for_them)
{
    struct samples s = made(10);
    struct score_plan p;
    struct error err = {""};
    cr_assert_eq(score_plan_init(&p, &s, SCORE_BY_EXPERIMENT, 5, 1, &err), ST_OK);
    struct score_fold before = linear_fold(&s, &p, 2);
    for (int32_t i = 0; i < before.n; i++)
        s.row[before.row[i]].slowdown *= 3;
    struct score_fold after = linear_fold(&s, &p, 2);
    for (int32_t i = 0; i < before.n; i++)
        cr_assert_float_eq(after.slowdown[i], before.slowdown[i], 0);
    score_fold_free(&before);
    score_fold_free(&after);
    score_plan_free(&p);
    samples_free(&s);
}

Test(score, errors_are_those_worked_out_by_hand)
{
    /* Labels 1, 2, 3 predicted as 1.1, 2, 2.4: |errors| .1, 0, .2; squares .01, 0, .36 over a
     * spread of 2. Retained 1, .5, .333 as .909, .5, .4167. */
    struct samples s = made(2);
    int32_t row[] = {0, 1, 2};
    double predicted[] = {1.1, 2, 2.4};
    struct score score = {0};
    for (int i = 0; i < 3; i++)
        s.row[i].slowdown = s.row[i].measured = 1 + i;
    s.row[0].measured = .8; /* kept 1.25 of its rate, predicted 1 / 1.1 */
    score_add(&score, &s, &(struct score_fold){3, row, predicted});
    const struct score_sums *all = &score.slow[N_PAIR_KINDS], *kept = &score.kept[N_PAIR_KINDS];
    cr_assert_eq(all->n, 3);
    cr_assert_float_eq(score_mape_pct(all), 10, 1e-9);
    cr_assert_float_eq(score_r2(all), 1 - .37 / 2, 1e-9);
    cr_assert_float_eq(score_mape_pct(kept), (1 / 11. + 0 + .25) / 3 * 100, 1e-9);
    cr_assert_float_eq(score_mape_pct(&score.raw), (1 - 1 / 1.1 / 1.25 + 0 + .25) / 3 * 100, 1e-9);
    int n = 0;
    for (int kind = 0; kind < N_PAIR_KINDS; kind++)
        n += score.slow[kind].n;
    cr_assert_eq(n, 3);
    cr_assert(isnan(score_mape_pct(&(struct score_sums){0})));
    cr_assert(isnan(score_r2(&(struct score_sums){0})));
    samples_free(&s);
}

Test(score, more_folds_than_groups_are_a_usage_error)
{
    struct samples s = made(2);
    struct score_plan p;
    struct error err = {""};
    cr_assert_eq(score_plan_init(&p, &s, SCORE_BY_EXPERIMENT, 4, 1, &err), ST_USAGE);
    score_plan_free(&p);
    samples_free(&s);
}

Test(score, models_apply_where_what_they_need_is_there)
{
    struct samples s = made(3);
    cr_assert(score_model_applies(SCORE_DNN, &s));
    cr_assert(score_model_applies(SCORE_LINEAR, &s));
    cr_assert_eq(score_model_applies(SCORE_GBDT, &s), gbdt_built());
    cr_assert_not(score_model_applies(SCORE_DNN_STEPS, &s), "no step times");
    cr_assert_not(score_model_applies(SCORE_DNN_PHYSICS, &s));
    cr_assert(score_model_applies(SCORE_QUEUEING, &s));
    s.side[0].step_s = 1;
    cr_assert(score_model_applies(SCORE_DNN_PHYSICS, &s));
    s.named_jobs = false;
    cr_assert(score_model_applies(SCORE_DNN_STEPS, &s));
    cr_assert_not(score_model_applies(SCORE_DNN_PHYSICS, &s), "no weights without names");
    cr_assert(score_model_applies(SCORE_QUEUEING, &s), "then all weigh alike");
    samples_free(&s);
}

/* One network, five folds by experiment; the CPU time is part of what is promised. */
static struct score score_all(const struct samples *s, enum score_model model, double *cpu_s)
{
    struct score_options o = {train_defaults(), queueing_defaults(), 1, 1};
    struct score_plan p;
    struct score score = {0};
    struct error err = {""};
    clock_t begin = clock();
    cr_assert_eq(score_plan_init(&p, s, SCORE_BY_EXPERIMENT, 5, 1, &err), ST_OK);
    for (int32_t f = 0; f < p.n_folds; f++) {
        struct score_fold fold;
        cr_assert_eq(score_run(&fold, s, &p, f, model, &o, &err), ST_OK, "%s", err.text);
        score_add(&score, s, &fold);
        score_fold_free(&fold);
    }
    score_plan_free(&p);
    *cpu_s = (double)(clock() - begin) / CLOCKS_PER_SEC;
    return score;
}

static struct table shared_table(const char *file)
{
    char path[SHARED_PATH_MAX];
    struct table t;
    struct error err = {""};
    if (!shared_path(path, file))
        cr_skip_test("no shared data; set COLOSIM_SHARED");
    cr_assert_eq(table_read(path, &t, &err), ST_OK, "%s", err.text);
    return t;
}

Test(score, one_network_is_as_good_on_the_published_set_as_another_implementation_was)
{
    struct table t = shared_table("data/calib/pairs_1088_queue_l2.csv");
    struct samples s = {0};
    struct error err = {""};
    double cpu_s;
    cr_assert_eq(pair_table_features(&s, &t, 40960, &err), ST_OK, "%s", err.text);
    struct score score = score_all(&s, SCORE_DNN, &cpu_s);
    const struct score_sums *all = &score.slow[N_PAIR_KINDS];
    cr_assert_eq(all->n, 1088);
    cr_assert(score_mape_pct(all) <= 5.11, "%.2f %%", score_mape_pct(all));
    cr_assert(score_r2(all) >= .836, "%.3f", score_r2(all));
#ifndef __SANITIZE_ADDRESS__
    cr_assert(cpu_s < 20, "%.1f s", cpu_s);
#endif
    samples_free(&s);
    table_free(&t);
}

Test(score, on_the_h200s_pairs_network_and_physics_are_as_good_as_stated)
{
    struct table pairs = shared_table("data/h200/job_pairs.csv");
    struct table solo = shared_table("data/h200/job_solo.csv");
    struct samples s = {0};
    struct solo_jobs jobs = {0};
    struct error err = {""};
    double cpu_s;
    cr_assert_eq(solo_jobs_of_table(&jobs, &solo, 143771, &err), ST_OK, "%s", err.text);
    cr_assert_eq(pair_table_jobs(&s, &pairs, &jobs, &err), ST_OK, "%s", err.text);
    cr_assert_eq(s.n, 552);
    struct score net = score_all(&s, SCORE_DNN_STEPS, &cpu_s);
    struct score physics = score_all(&s, SCORE_QUEUEING, &cpu_s);
    const struct score_sums *all = &net.kept[N_PAIR_KINDS];
    cr_assert(score_mape_pct(all) <= 7.7, "network: %.2f %%", score_mape_pct(all));
    cr_assert(score_r2(all) >= .88, "network: %.3f", score_r2(all));
    all = &physics.kept[N_PAIR_KINDS];
    cr_assert(score_mape_pct(all) <= 5.5, "physics: %.2f %%", score_mape_pct(all));
    cr_assert(score_r2(all) >= .93, "physics: %.3f", score_r2(all));
    samples_free(&s);
    solo_jobs_free(&jobs);
    table_free(&pairs);
    table_free(&solo);
}
