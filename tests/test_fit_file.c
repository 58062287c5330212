#include "calib/fit_file.h"

#include "core/elastico/physics_file.h"
#include "tests/leak.h"
#include "tests/temp.h"

#include <gsl/gsl_randist.h>
#include <jansson.h>
#include <math.h>

TestSuite(fit_file, .fini = abort_on_leak);

enum { JOBS = 8 };
/* The last is no UTF-8; the first two stand for workloads, as embedded anchors do. */
static const char *const job_name[JOBS] = {
    "resnet50-b64-amp", "llm8b-decode-b4-c2048", "c", "d", "e", "f", "g", "h\xff"};

/* All pairs of jobs of random counters, ln w = .4 ln(step), S exact. */
static struct samples made(bool counters)
{
    struct samples s = {.named_jobs = true};
    struct iac_side side[JOBS];
    struct error err;
    gsl_rng *rng = gsl_rng_alloc(gsl_rng_mt19937);
    for (int i = 0; i < JOBS; i++) {
        side[i] = (struct iac_side){.sm = gsl_rng_uniform(rng),
                                    .tensor = gsl_rng_uniform(rng),
                                    .dram = gsl_rng_uniform(rng),
                                    .step_s = exp(gsl_ran_gaussian(rng, 1) - 3),
                                    .bs = 64,
                                    .amp = i == 0,
                                    .card_mib = 1};
        names_add(&s.workloads, job_name[i], strlen(job_name[i]));
    }
    for (int i = 0; i < JOBS; i++)
        for (int j = 0; j <= i; j++)
            for (int k = 0; k < 2; k++) {
                int a = k ? j : i, b = k ? i : j;
                double q = .5 * side[a].sm * side[b].sm + .3 * side[a].tensor * side[b].tensor +
                           .2 * side[a].dram * side[b].dram;
                struct pair_row row = {1 + pow(side[b].step_s / side[a].step_s, .4) * q,
                                       0,
                                       s.n_experiments - k,
                                       {a, b},
                                       0};
                struct iac_side shown[2] = {side[a], side[b]};
                for (int n = 0; n < 2 && !counters; n++)
                    shown[n] = (struct iac_side){.card_mib = 1};
                cr_assert_eq(samples_add(&s, &shown[0], &shown[1], row, &err), ST_OK);
            }
    gsl_rng_free(rng);
    return s;
}

/* What is fitted to the samples, in a file. */
static struct temp_file written(const struct samples *s, bool latents, struct fit_file *f,
                                struct queueing *q)
{
    struct queueing_options o = queueing_defaults();
    struct error err = {""};
    int32_t row[JOBS * JOBS + JOBS];
    struct temp_file file = temp_text(".json", "");
    for (int32_t k = 0; k < s->n; k++)
        row[k] = k;
    o.latents = latents;
    cr_assert_eq(queueing_fit(q, s, row, s->n, &o, &err), ST_OK, "%s", err.text);
    *f = (struct fit_file){
        .note = {"2026-01-02", "colosim", "a card", "a driver", "\"some\" data", 7},
        .samples = s,
        .q = q,
        .m = q->m};
    cr_assert_eq(fit_file_jobs(f, &err), ST_OK);
    f->error[f->n_errors++] = (struct fit_error){"pair", 5, 5, 72, 5, 4.5, 5.5, .9, 6, .8};
    FILE *to = fopen(file.path, "wb");
    cr_assert_eq(fit_file_write(f, to, &err), ST_OK, "%s", err.text);
    cr_assert_eq(fclose(to), 0);
    return file;
}

Test(fit_file, a_run_reads_what_the_fit_found)
{
    struct samples s = made(true);
    struct fit_file f;
    struct queueing q;
    struct physics p;
    struct error err = {""};
    struct temp_file file = written(&s, false, &f, &q);
    cr_assert_eq(physics_load(&p, file.path, &err), ST_OK, "%s", err.text);
    static const double alpha[N_CONTENDED] = {.5, .3, .2, 0};
    for (int r = 0; r < N_CONTENDED; r++)
        cr_assert_float_eq(p.numbers.alpha[r], alpha[r], 1e-3, "%g", p.numbers.alpha[r]);
    cr_assert_float_eq(p.numbers.kappa, 0, 0);
    cr_assert_float_eq(p.m, 1, 0);
    cr_assert_float_eq(p.numbers.step_slope, .4, 1e-3, "%g", p.numbers.step_slope);
    cr_assert_eq(p.numbers.n_anchors, JOBS);
    double sum = 0;
    for (int i = 0; i < JOBS; i++) { /* on the line of the weights, whose mean is 0 */
        double line = p.numbers.step_at_1_s + p.numbers.step_slope * log(f.job[i].side.step_s);
        cr_assert_float_eq(p.numbers.anchor[i].log_w, line, 2e-3);
        sum += p.numbers.anchor[i].log_w;
    }
    cr_assert_float_eq(sum, 0, 1e-6);
    cr_assert_str_eq(p.numbers.anchor[0].workloads, "ResNet-50");
    cr_assert(p.numbers.anchor[0].amp);
    cr_assert_eq(p.numbers.anchor[1].phase, PHASE_DECODE);
    cr_assert_str_eq(p.numbers.anchor[2].workloads, "");
    cr_assert_str_eq(p.numbers.anchor[7].job, "h?");
    physics_free(&p);
    fit_file_free(&f);
    queueing_free(&q);
    samples_free(&s);
    temp_remove(&file);
}

Test(fit_file, it_says_where_it_is_from_and_how_good_it_is)
{
    struct samples s = made(true);
    struct fit_file f;
    struct queueing q;
    struct temp_file file = written(&s, false, &f, &q);
    json_t *root = json_load_file(file.path, 0, NULL);
    static const char *const texts[][2] = {{"date", "2026-01-02"},
                                           {"gpu", "a card"},
                                           {"driver", "a driver"},
                                           {"data", "\"some\" data"}};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        cr_assert_str_eq(json_string_value(json_object_get(root, texts[i][0])), texts[i][1]);
    cr_assert_eq(json_integer_value(json_object_get(root, "rows")), 72);
    cr_assert_eq(strlen(json_string_value(json_object_get(root, "data_hash"))), 16);
    json_t *error = json_array_get(json_object_get(root, "held_out"), 0);
    cr_assert_float_eq(json_real_value(json_object_get(error, "mape_max_pct")), 5.5, 1e-9);
    json_t *sm = json_object_get(json_object_get(root, "alpha"), "sm");
    cr_assert(json_is_real(json_object_get(sm, "se")), "its error is stated");
    json_decref(root);
    fit_file_free(&f);
    queueing_free(&q);
    samples_free(&s);
    temp_remove(&file);
}

Test(fit_file, latents_are_written_for_people_and_refused_by_a_run)
{
    struct samples s = made(false);
    struct fit_file f;
    struct queueing q;
    struct physics p;
    struct error err = {""};
    struct temp_file file = written(&s, true, &f, &q);
    json_t *root = json_load_file(file.path, 0, NULL);
    json_t *job = json_array_get(json_object_get(root, "jobs"), 3);
    cr_assert_eq(json_array_size(json_object_get(job, "latents")), N_LATENTS);
    json_decref(root);
    cr_assert_eq(physics_load(&p, file.path, &err), ST_INPUT);
    cr_assert(strstr(err.text, "latents") != NULL, "%s", err.text);
    physics_free(&p);
    fit_file_free(&f);
    queueing_free(&q);
    samples_free(&s);
    temp_remove(&file);
}
