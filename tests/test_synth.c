#include "traces/synth.h"

#include "core/base/units.h"
#include "tests/leak.h"

#include <criterion/criterion.h>
#include <gsl/gsl_cdf.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

TestSuite(synth, .fini = abort_on_leak);

static struct synth_settings defaults(void)
{
    struct synth_settings s;
    param_defaults(&(struct param_group){"", synth_params, &s});
    return s;
}

static struct job_table make(const struct synth_settings *s, int64_t n_gpus, uint64_t seed)
{
    struct job_table t;
    struct error err = {""};
    cr_assert_eq(synth_jobs(s, n_gpus, seed, NULL, &t, &err), ST_OK, "%s", err.text);
    return t;
}

static double work_gpu_s(const struct job_table *t)
{
    double sum = 0;
    for (int32_t j = 0; j < t->n_jobs; j++)
        sum += (double)t->n_inst[j] * t->gpu_milli[j] / 1e3 * (double)t->duration_us[j] / 1e6;
    return sum;
}

static double offered_load(const struct job_table *t, double n_gpus)
{
    double span_s = (double)(t->submit_us[t->n_jobs - 1] - t->submit_us[0]) / 1e6;
    return work_gpu_s(t) / (n_gpus * span_s);
}

/* The share of jobs that satisfy something lies within five standard deviations of p. */
static void assert_share(int32_t n_hits, int32_t n, double p, const char *what)
{
    double sigma = sqrt(p * (1 - p) / n);
    cr_assert_float_eq((double)n_hits / n, p, 5 * sigma, "%s: %d of %d, want %g", what, n_hits, n,
                       p);
}

static bool same_columns(const struct job_table *a, const struct job_table *b)
{
    size_t n = (size_t)a->n_jobs;
    return a->n_jobs == b->n_jobs && a->n_tasks == b->n_tasks && a->job_names.n == b->job_names.n &&
           a->names.n == b->names.n &&
           memcmp(a->names.bytes, b->names.bytes, a->names.end[a->names.n - 1]) == 0 &&
           memcmp(a->submit_us, b->submit_us, n * sizeof *a->submit_us) == 0 &&
           memcmp(a->duration_us, b->duration_us, n * sizeof *a->duration_us) == 0 &&
           memcmp(a->gpu_milli, b->gpu_milli, n * sizeof *a->gpu_milli) == 0 &&
           memcmp(a->n_inst, b->n_inst, n * sizeof *a->n_inst) == 0 &&
           memcmp(a->group, b->group, n * sizeof *a->group) == 0 &&
           memcmp(a->user, b->user, n * sizeof *a->user) == 0 &&
           memcmp(a->queue, b->queue, n * sizeof *a->queue) == 0 &&
           memcmp(a->workload, b->workload, n * sizeof *a->workload) == 0 &&
           memcmp(a->kind, b->kind, n) == 0 &&
           memcmp(a->min_rate_frac, b->min_rate_frac, n * sizeof *a->min_rate_frac) == 0;
}

Test(synth, the_defaults_make_a_day_of_about_a_thousand_jobs_at_load_1_2_on_64_gpus)
{
    struct synth_settings s = defaults();
    for (uint64_t seed = 1; seed <= 5; seed++) {
        struct job_table t = make(&s, 64, seed);
        double span_h = (double)(t.submit_us[t.n_jobs - 1] - t.submit_us[0]) / 3.6e9;
        cr_assert_float_eq(offered_load(&t, 64), 1.2, 1e-9);
        /* half a job: at most 16 GPUs x 5 h / 2 = 40 GPU-h of 64 x 1.2 x 24 = 1843 */
        cr_assert_float_eq(span_h, 24, 24 * 40 / 1843.2);
        cr_assert(t.n_jobs > 700 && t.n_jobs < 1300, "%d", t.n_jobs);
        jobs_free(&t);
    }
}

Test(synth, submissions_start_at_zero_and_never_go_back)
{
    struct synth_settings s = defaults();
    s.jobs = 20000;
    for (s.arrivals = 0; s.arrivals < 3; s.arrivals++) {
        struct job_table t = make(&s, 64, 3);
        cr_assert_eq(t.n_jobs, 20000);
        cr_assert_eq(t.submit_us[0], 0);
        for (int32_t j = 1; j < t.n_jobs; j++)
            cr_assert_geq(t.submit_us[j], t.submit_us[j - 1]);
        cr_assert_float_eq(offered_load(&t, 64), 1.2, 1e-9);
        jobs_free(&t);
    }
}

Test(synth, two_of_jobs_hours_and_load_fix_the_third)
{
    struct synth_settings s = defaults();
    s.jobs = 500;
    s.load = 0.7;
    struct job_table t = make(&s, 32, 1);
    cr_assert_eq(t.n_jobs, 500);
    cr_assert_float_eq(offered_load(&t, 32), 0.7, 1e-9);
    jobs_free(&t);

    s.load = 0;
    s.hours = 10;
    t = make(&s, 32, 1);
    cr_assert_eq(t.n_jobs, 500);
    cr_assert_eq(t.submit_us[499], INT64_C(36000000000));
    jobs_free(&t);

    s.jobs = 0;
    s.load = 3;
    s.hours = 1000;
    t = make(&s, 32, 1);
    cr_assert_float_eq(offered_load(&t, 32), 3, 1e-9);
    cr_assert_float_eq((double)t.submit_us[t.n_jobs - 1] / 3.6e9, 1000, 1000 * 40 / (32 * 3e3));
    jobs_free(&t);
}

Test(synth, equal_seeds_give_equal_tables_and_other_seeds_others)
{
    struct synth_settings s = defaults();
    char queues[] = "prod:.5,batch:.5";
    s.queues = queues;
    for (s.arrivals = 0; s.arrivals < 3; s.arrivals++) {
        struct job_table a = make(&s, 64, 7), b = make(&s, 64, 7), c = make(&s, 64, 8);
        cr_assert(same_columns(&a, &b));
        cr_assert_not(same_columns(&a, &c));
        jobs_free(&a);
        jobs_free(&b);
        jobs_free(&c);
    }
}

Test(synth, another_gpu_mix_changes_nothing_but_the_gpus)
{
    struct synth_settings s = defaults();
    s.jobs = 5000;
    s.load = 0; /* with a load the span would follow the mix */
    struct job_table a = make(&s, 64, 1);
    s.gpus = "2:1,4:1";
    struct job_table b = make(&s, 64, 1);
    cr_assert_neq(memcmp(a.gpu_milli, b.gpu_milli, 5000 * sizeof *a.gpu_milli), 0);
    memcpy(b.gpu_milli, a.gpu_milli, 5000 * sizeof *a.gpu_milli);
    memcpy(b.n_inst, a.n_inst, 5000 * sizeof *a.n_inst);
    cr_assert(same_columns(&a, &b));
    jobs_free(&a);
    jobs_free(&b);
}

Test(synth, another_arrival_law_changes_nothing_but_the_submissions)
{
    struct synth_settings s = defaults();
    s.jobs = 5000;
    struct job_table a = make(&s, 64, 1);
    s.arrivals = ARRIVALS_GAMMA;
    struct job_table b = make(&s, 64, 1);
    cr_assert_neq(memcmp(a.submit_us, b.submit_us, 5000 * sizeof *a.submit_us), 0);
    memcpy(b.submit_us, a.submit_us, 5000 * sizeof *a.submit_us);
    cr_assert(same_columns(&a, &b));
    jobs_free(&a);
    jobs_free(&b);
}

static int compare_doubles(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Largest distance between the sample's distribution function and F. Sorts x. */
static double kolmogorov(double *x, int n, double (*cdf)(double, double, double), double p,
                         double q)
{
    double worst = 0;
    qsort(x, (size_t)n, sizeof *x, compare_doubles);
    for (int i = 0; i < n; i++) {
        double f = cdf(x[i], p, q);
        worst = fmax(worst, fmax(f - (double)i / n, (double)(i + 1) / n - f));
    }
    return worst;
}

/* Kolmogorov's bound at one in a million, for fixed seeds: sqrt(ln(2e6) / 2) = 2.693. */
static double kolmogorov_bound(int n) { return 2.693 / sqrt(n); }

static double *gaps_of(const struct job_table *t)
{
    double *gap = malloc((size_t)t->n_jobs * sizeof *gap);
    cr_assert_not_null(gap);
    double mean = (double)t->submit_us[t->n_jobs - 1] / (t->n_jobs - 1);
    for (int32_t j = 1; j < t->n_jobs; j++)
        gap[j - 1] = (double)(t->submit_us[j] - t->submit_us[j - 1]) / mean;
    return gap;
}

static double exponential_cdf(double x, double mean, double unused)
{
    (void)unused;
    return gsl_cdf_exponential_P(x, mean);
}

Test(synth, poisson_gaps_are_exponential)
{
    struct synth_settings s = defaults();
    s.jobs = 50001;
    struct job_table t = make(&s, 64, 11);
    double *gap = gaps_of(&t);
    cr_assert_lt(kolmogorov(gap, 50000, exponential_cdf, 1, 0), kolmogorov_bound(50000));
    free(gap);
    jobs_free(&t);
}

/* Far burstier gaps would be zero too often, as times are whole microseconds. */
Test(synth, gamma_gaps_follow_the_gamma_law_of_their_cv)
{
    static const double cvs[] = {0.5, 1, 2};
    for (int i = 0; i < 3; i++) {
        struct synth_settings s = defaults();
        s.jobs = 20001;
        s.arrivals = ARRIVALS_GAMMA;
        s.cv = cvs[i];
        struct job_table t = make(&s, 64, 11);
        double *gap = gaps_of(&t), shape = 1 / (s.cv * s.cv);
        double d = kolmogorov(gap, 20000, gsl_cdf_gamma_P, shape, s.cv * s.cv);
        cr_assert_lt(d, kolmogorov_bound(20000), "cv %g: %g", s.cv, d);
        free(gap);
        jobs_free(&t);
    }
}

/* The rate is 1 + a cos(2 pi (h - peak) / 24) with a = (ratio - 1) / (ratio + 1), so the share of
 * submissions in hours [h, h + 1) of whole days is known in closed form. */
Test(synth, diurnal_submissions_follow_the_hour)
{
    struct synth_settings s = defaults();
    s.jobs = 100000;
    s.load = 0;
    s.hours = 240;
    s.arrivals = ARRIVALS_DIURNAL;
    s.peak_ratio = 5;
    s.peak_hour = 14;
    struct job_table t = make(&s, 64, 2);
    int32_t count[24] = {0};
    for (int32_t j = 0; j < t.n_jobs - 1; j++)
        count[t.submit_us[j] / INT64_C(3600000000) % 24]++;
    for (int h = 0; h < 24; h++) {
        double a = 4.0 / 6, w = 2 * M_PI / 24;
        double share = (1 + a / w * (sin(w * (h + 1 - 14)) - sin(w * (h - 14)))) / 24;
        assert_share(count[h], t.n_jobs - 1, share, "an hour");
    }
    jobs_free(&t);
}

/* Poisson on the clock that ticks with the rate: the same closed form, inverted. */
Test(synth, a_flat_day_is_a_poisson_process)
{
    struct synth_settings s = defaults();
    s.jobs = 3000;
    struct job_table a = make(&s, 64, 2);
    s.arrivals = ARRIVALS_DIURNAL;
    s.peak_ratio = 1;
    struct job_table b = make(&s, 64, 2);
    for (int32_t j = 0; j < 3000; j++)
        cr_assert_leq(llabs(a.submit_us[j] - b.submit_us[j]), 1);
    jobs_free(&a);
    jobs_free(&b);
}

static double normal_cdf(double x, double mean, double sigma)
{
    return gsl_cdf_gaussian_P(x - mean, sigma);
}

Test(synth, durations_are_lognormal_about_their_median)
{
    enum { N = 50000 };
    struct synth_settings s = defaults();
    s.jobs = N;
    s.median_s = 600;
    s.sigma = 1.2;
    s.min_s = 0.001;
    s.max_s = 1e9;
    struct job_table t = make(&s, 64, 5);
    double *ln = malloc(N * sizeof *ln);
    cr_assert_not_null(ln);
    for (int32_t j = 0; j < N; j++)
        ln[j] = log((double)t.duration_us[j] / 1e6);
    cr_assert_lt(kolmogorov(ln, N, normal_cdf, log(600), 1.2), kolmogorov_bound(N));
    /* the median of N normal draws has a standard deviation of sigma sqrt(pi / 2 / N) */
    cr_assert_float_eq(ln[N / 2], log(600), 5 * 1.2 * sqrt(M_PI / 2 / N));
    free(ln);
    jobs_free(&t);
}

Test(synth, durations_stay_between_min_and_max_and_keep_the_median)
{
    struct synth_settings s = defaults();
    s.jobs = 20000;
    struct job_table t = make(&s, 64, 5);
    int32_t n_low = 0, n_high = 0, n_below_median = 0;
    for (int32_t j = 0; j < t.n_jobs; j++) {
        cr_assert_geq(t.duration_us[j], INT64_C(60000000));
        cr_assert_leq(t.duration_us[j], INT64_C(18000000000));
        n_low += t.duration_us[j] == INT64_C(60000000);
        n_high += t.duration_us[j] == INT64_C(18000000000);
        n_below_median += t.duration_us[j] < INT64_C(1800000000);
    }
    assert_share(n_low, t.n_jobs, gsl_cdf_gaussian_P(log(60 / 1800.0), 1.5), "at min");
    assert_share(n_high, t.n_jobs, gsl_cdf_gaussian_Q(log(10), 1.5), "at max");
    assert_share(n_below_median, t.n_jobs, 0.5, "below the median");
    jobs_free(&t);
}

Test(synth, training_jobs_have_the_gpu_mix_and_inference_jobs_their_one_size)
{
    struct synth_settings s = defaults();
    s.jobs = 40000;
    s.gpus = ".25:1,1:5,8:3,16:1";
    s.infer_frac = 0.3;
    s.infer_gpu = 0.5;
    s.elastic_frac = 0;
    struct job_table t = make(&s, 64, 9);
    int32_t n_train = 0, n_size[4] = {0};
    for (int32_t j = 0; j < t.n_jobs; j++) {
        if (t.kind[j] == KIND_INFER) {
            cr_assert_eq(t.gpu_milli[j], 500);
            cr_assert_eq(t.n_inst[j], 1);
            continue;
        }
        cr_assert_eq(t.kind[j], KIND_TRAIN);
        n_train++;
        n_size[0] += t.gpu_milli[j] == 250 && t.n_inst[j] == 1;
        n_size[1] += t.gpu_milli[j] == 1000 && t.n_inst[j] == 1;
        n_size[2] += t.gpu_milli[j] == 8000 && t.n_inst[j] == 1;
        n_size[3] += t.gpu_milli[j] == 8000 && t.n_inst[j] == 2;
    }
    cr_assert_eq(n_size[0] + n_size[1] + n_size[2] + n_size[3], n_train);
    assert_share(n_train, t.n_jobs, 0.7, "train");
    assert_share(n_size[0], n_train, 0.1, "quarters");
    assert_share(n_size[1], n_train, 0.5, "ones");
    assert_share(n_size[2], n_train, 0.3, "eights");
    assert_share(n_size[3], n_train, 0.1, "sixteens");
    jobs_free(&t);
}

Test(synth, wide_jobs_are_gangs_of_the_nodes_width)
{
    struct synth_settings s = defaults();
    s.jobs = 10;
    s.gpus = "16:1";
    s.infer_frac = 0;
    s.node_gpus = 4;
    s.elastic_frac = 0;
    struct job_table t = make(&s, 64, 9);
    for (int32_t j = 0; j < t.n_jobs; j++) {
        cr_assert_eq(t.n_inst[j], 4);
        cr_assert_eq(t.gpu_milli[j], 4000);
    }
    jobs_free(&t);
}

Test(synth, a_part_of_the_wide_training_jobs_is_elastic_and_nothing_else_changes)
{
    struct synth_settings s = defaults();
    s.jobs = 20000;
    s.elastic_frac = 0.25;
    struct job_table t = make(&s, 64, 9);
    s.elastic_frac = 0;
    struct job_table rigid = make(&s, 64, 9);
    int32_t n_wide = 0, n_elastic = 0;
    for (int32_t j = 0; j < t.n_jobs; j++) {
        bool wide = job_gpu_milli(&t, j) > 1000;
        n_wide += wide;
        n_elastic += t.gpu_max[j] > 0;
        cr_assert_eq(job_gpu_milli(&t, j), job_gpu_milli(&rigid, j));
        cr_assert_eq(t.submit_us[j], rigid.submit_us[j]);
        cr_assert_eq(job_duration_us(&t, j), job_duration_us(&rigid, j));
        cr_assert_eq(rigid.gpu_max[j], 0);
        if (t.gpu_max[j] == 0)
            continue;
        cr_assert(wide && t.kind[j] == KIND_TRAIN);
        cr_assert_eq(t.gpu_min[j], 1);
        cr_assert_eq(t.gpu_max[j] * 1000, job_gpu_milli(&t, j));
    }
    assert_share(n_elastic, n_wide, 0.25, "elastic");
    jobs_free(&t);
    jobs_free(&rigid);
}

Test(synth, a_group_has_one_user_one_workload_and_one_kind)
{
    struct synth_settings s = defaults();
    s.jobs = 10000;
    struct job_table t = make(&s, 64, 4);
    int32_t first[200], n_groups = 0, n_workloads = 0;
    memset(first, -1, sizeof first);
    bool seen[200] = {false};
    for (int32_t j = 0; j < t.n_jobs; j++) {
        cr_assert(t.group[j] >= 0 && t.group[j] < 200);
        int32_t *f = &first[t.group[j]];
        if (*f < 0) {
            *f = j;
            n_groups++;
        }
        cr_assert_eq(t.user[j], t.user[*f]);
        cr_assert_eq(t.workload[j], t.workload[*f]);
        cr_assert_eq(t.kind[j], t.kind[*f]);
        n_workloads += !seen[t.workload[j]];
        seen[t.workload[j]] = true;
        bool infer = strchr("DQML", names_text(&t.names, t.workload[j])[0]) != NULL &&
                     strcmp(names_text(&t.names, t.workload[j]), "DCGAN") != 0 &&
                     strcmp(names_text(&t.names, t.workload[j]), "LSTM") != 0;
        cr_assert_eq(t.kind[j], infer ? KIND_INFER : KIND_TRAIN);
    }
    cr_assert_eq(n_groups, 40);
    cr_assert_eq(n_workloads, 12);
    jobs_free(&t);
}

Test(synth, targets_and_queues_have_their_shares)
{
    struct synth_settings s = defaults();
    s.jobs = 30000;
    s.queues = "prod:3,batch:1";
    struct job_table t = make(&s, 64, 4);
    int32_t n_rate[3] = {0}, n_prod = 0;
    for (int32_t j = 0; j < t.n_jobs; j++) {
        const char *queue = names_text(&t.names, t.queue[j]);
        n_prod += strcmp(queue, "prod") == 0;
        cr_assert(strcmp(queue, "prod") == 0 || strcmp(queue, "batch") == 0);
        for (int i = 0; i < 3; i++)
            n_rate[i] += fabs(t.min_rate_frac[j] - (0.3 + 0.2 * i)) < 1e-12;
    }
    assert_share(n_prod, t.n_jobs, 0.75, "prod");
    for (int i = 0; i < 3; i++)
        assert_share(n_rate[i], t.n_jobs, 1.0 / 3, "a target");
    jobs_free(&t);
}

Test(synth, what_is_not_asked_for_is_left_out)
{
    struct synth_settings s = defaults();
    struct job_table t = make(&s, 64, 4);
    for (int32_t j = 0; j < t.n_jobs; j++) {
        cr_assert_eq(t.queue[j], -1);
        cr_assert_eq(t.gpu_type[j], -1);
        cr_assert_eq(t.gpu_mem_mib[j], 0);
        cr_assert_eq(t.cpu_milli[j], 0);
    }
    jobs_free(&t);
}

static struct job_table table_of(const int64_t *duration_us, int n)
{
    struct job_table t = {0};
    struct error err;
    for (int i = 0; i < n; i++) {
        struct job_row row = job_row_empty();
        char name[16];
        row.name = name;
        row.name_length = (size_t)snprintf(name, sizeof name, "%d", i);
        row.duration_us = duration_us[i];
        cr_assert_eq(jobs_add(&t, &row), i);
    }
    cr_assert_eq(jobs_close(&t, &err), ST_OK);
    return t;
}

Test(synth, empirical_durations_are_drawn_from_the_trace_given)
{
    static const int64_t duration_us[] = {5000001, 7000002, 7000002, 86400000000};
    struct job_table from = table_of(duration_us, 4), t;
    struct synth_settings s = defaults();
    struct error err = {""};
    s.jobs = 20000;
    s.duration = SYNTH_EMPIRICAL;
    cr_assert_eq(synth_jobs(&s, 64, 1, &from, &t, &err), ST_OK, "%s", err.text);
    int32_t n[3] = {0};
    for (int32_t j = 0; j < t.n_jobs; j++) {
        n[0] += t.duration_us[j] == 5000001;
        n[1] += t.duration_us[j] == 7000002;
        n[2] += t.duration_us[j] == 86400000000;
    }
    cr_assert_eq(n[0] + n[1] + n[2], t.n_jobs);
    assert_share(n[0], t.n_jobs, 0.25, "5 s");
    assert_share(n[1], t.n_jobs, 0.5, "7 s");
    jobs_free(&t);
    jobs_free(&from);
}

Test(synth, settings_that_contradict_each_other_are_refused)
{
    static const struct {
        const char *key, *value, *text;
    } rows[] = {
        {"load", "0", "'jobs' and 'load' are both 0"},
        {"jobs", "1", "a load needs two jobs"},
        {"min_s", "20000", "'min_s' is 20000 s, more than max_s = 18000 s"},
        {"duration", "empirical", "needs a trace"},
        {"gpus", "", "add up to nothing"},
        {"gpus", "1:0", "add up to nothing"},
        {"gpus", "1", "'1' is no WORD:WEIGHT"},
        {"gpus", "1:x", "'1:x' is no WORD:WEIGHT"},
        {"gpus", "1:1,:2", "':2' is no WORD:WEIGHT"},
        {"gpus", "1:-1", "'1:-1' is no WORD:WEIGHT"},
        {"gpus", "1:1,2:nan", "'2:nan' is no WORD:WEIGHT"},
        {"gpus", "1.5:1", "'1.5' is neither a share"},
        {"gpus", "0:1", "'0' is neither a share"},
        {"gpus", "x:1", "'x' is neither a share"},
        {"gpus", "12:1", "12 GPUs are no multiple of a node's 8"},
        {"queues", "prod", "'prod' is no WORD:WEIGHT"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct synth_settings s = defaults();
        struct param_group group = {"", synth_params, &s};
        struct arena arena = {0};
        struct error err = {""};
        struct job_table t;
        cr_assert_eq(param_set(&group, 1, rows[i].key, rows[i].value, &arena, &err), ST_OK);
        cr_assert_eq(synth_jobs(&s, 64, 1, NULL, &t, &err), ST_USAGE, "%s", rows[i].value);
        cr_assert_not_null(strstr(err.text, rows[i].text), "%s", err.text);
        jobs_free(&t);
        arena_free(&arena);
    }
    struct synth_settings s = defaults();
    struct job_table t;
    struct error err;
    cr_assert_eq(synth_jobs(&s, 0, 1, NULL, &t, &err), ST_USAGE);
    jobs_free(&t);
}

Test(synth, more_than_64_sizes_are_refused)
{
    struct synth_settings s = defaults();
    struct job_table t;
    struct error err;
    char text[65 * 4 + 1] = "";
    for (int i = 0; i < 65; i++)
        strcat(text, "1:1,");
    s.gpus = text;
    cr_assert_eq(synth_jobs(&s, 64, 1, NULL, &t, &err), ST_USAGE);
    cr_assert_not_null(strstr(err.text, "more than 64"), "%s", err.text);
    jobs_free(&t);
    text[64 * 4] = '\0';
    t = make(&s, 64, 1);
    jobs_free(&t);
}

Test(synth, the_settings_are_sorted_and_within_their_ranges)
{
    for (const struct param *p = synth_params; p[1].name != NULL; p++)
        cr_assert_lt(strcmp(p[0].name, p[1].name), 0, "%s", p[1].name);
    for (const struct param *p = synth_params; p->name != NULL; p++)
        if (p->type == PARAM_TYPE_INT || p->type == PARAM_TYPE_REAL)
            cr_assert(p->initial >= p->min && p->initial <= p->max, "%s", p->name);
}
