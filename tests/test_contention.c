/* The physics of sharing: closed forms, limits, and what must hold whatever the numbers. */
#include "core/elastico/contention.h"
#include "tests/catalogs.h"
#include "tests/leak.h"

#include <criterion/criterion.h>
#include <criterion/logging.h>
#include <gsl/gsl_rng.h>
#include <math.h>
#include <string.h>

TestSuite(contention, .fini = abort_on_leak, .timeout = 60);

/* Frank's copula as it is written, in long doubles, for kappa < 0, where nothing cancels; for more
 * than 0 by its reflection, C(u, v; k) = u - C(u, 1 - v; -k). */
static double frank_written(double u, double v, double k)
{
    if (k > 0)
        return u - frank_written(u, 1 - v, -k);
    long double a = expm1l(-(long double)k * u), b = expm1l(-(long double)k * v);
    return (double)(-log1pl(a * b / expm1l(-(long double)k)) / k);
}

Test(contention, the_overlap_is_franks_copula)
{
    static const double kappas[] = {-30,  -19.8, -5,  -1.01, -1,   -0.99, -1e-3, -1e-7,
                                    1e-9, 1e-7,  0.5, 1,     1.01, 7,     30};
    for (size_t k = 0; k < sizeof kappas / sizeof *kappas; k++)
        for (int i = 0; i <= 20; i++)
            for (int j = 0; j <= 20; j++) {
                double u = i / 20., v = j / 20., c = frank_overlap(u, v, kappas[k]);
                cr_assert_float_eq(c, frank_written(u, v, kappas[k]), 2e-11, "C(%g, %g; %g) is %g",
                                   u, v, kappas[k], c);
            }
}

Test(contention, the_overlap_has_its_limits)
{
    for (int i = 0; i <= 20; i++)
        for (int j = 0; j <= 20; j++) {
            double u = i / 20., v = j / 20.;
            cr_assert_eq(frank_overlap(u, v, 0), u * v, "independent");
            cr_assert_float_eq(frank_overlap(u, v, -1e6), u + v > 1 ? u + v - 1 : 0, 1e-6);
            cr_assert_float_eq(frank_overlap(u, v, 1e6), u < v ? u : v, 1e-6);
            cr_assert_float_eq(frank_overlap(u, v, -1e300), u + v > 1 ? u + v - 1 : 0, 1e-12);
            cr_assert_float_eq(frank_overlap(u, v, 1e300), u < v ? u : v, 1e-12);
        }
}

Test(contention, the_overlap_is_symmetric_bounded_and_grows_with_both)
{
    static const double kappas[] = {-1e3, -19.8, -1, -1e-9, 0, 1e-3, 2, 40, 1e4};
    for (size_t k = 0; k < sizeof kappas / sizeof *kappas; k++)
        for (int i = 0; i <= 50; i++)
            for (int j = 0; j <= 50; j++) {
                double u = i / 50., v = j / 50., c = frank_overlap(u, v, kappas[k]);
                cr_assert_float_eq(c, frank_overlap(v, u, kappas[k]), 1e-11);
                cr_assert(c >= 0 && c <= u && c <= v && c >= u + v - 1 - 1e-15);
                cr_assert_float_eq(frank_overlap(u, 1, kappas[k]), u, 1e-11);
                cr_assert_float_eq(frank_overlap(u, 0, kappas[k]), 0, 1e-11);
                cr_assert(i == 0 || c >= frank_overlap((i - 1) / 50., v, kappas[k]) - 1e-11);
            }
}

/* Workloads of one measured configuration each, on an A100: "sm tensor dram host" rows. */
static void open_jobs(struct catalog *c, const double (*u)[N_CONTENDED], int n)
{
    char json[8192] = "{\"workloads\": [";
    for (int i = 0; i < n; i++) {
        size_t used = strlen(json);
        snprintf(json + used, sizeof json - used,
                 "%s{\"name\": \"w%d\", \"kind\": \"train\", \"model\": \"measured\", "
                 "\"card\": \"a100-40g\", \"unit\": \"img\", \"knobs\": {\"bs\": [8]}, "
                 "\"profiles\": [{\"rate\": 1, \"sm\": %g, \"tensor\": %g, \"dram\": %g, "
                 "\"host\": %g, \"fb_mib\": 100}]}",
                 i > 0 ? ", " : "", i, u[i][0], u[i][1], u[i][2], u[i][3]);
    }
    strcat(json, "]}");
    catalog_open_text(c, json);
}

static void open_set(struct contention *t, const struct catalog *c, enum contention_set set)
{
    cr_assert_eq(contention_init(t, &c->p, &contention_sets[set], 1, NULL), ST_OK);
}

Test(contention, a_pair_by_hand)
{
    static const double u[][N_CONTENDED] = {{0.5, 0.2, 0.1, 0.4}, {0.8, 0.1, 0.3, 0}};
    struct catalog c = {0};
    struct contention t;
    open_jobs(&c, u, 2);
    open_set(&t, &c, SET_QUEUE_PRIOR);
    double q = 0.3 * 0.5 * 0.8 + 0.2 * 0.1 + 0.1 * 0.3;
    cr_assert_float_eq(contention_pair(&t, 0, 1), 1 + q, 1e-12);
    cr_assert_float_eq(contention_pair(&t, 1, 0), 1 + q, 1e-12, "equal weights: alike");
    t.weight[1] = 3;
    cr_assert_float_eq(contention_pair(&t, 0, 1), 1 + 3 * q, 1e-12);
    cr_assert_float_eq(contention_pair(&t, 1, 0), 1 + q / 3, 1e-12);
    t.m = 1.02;
    cr_assert_float_eq(contention_pair(&t, 0, 1), 1.02 * (1 + 3 * q), 1e-12);
    contention_free(&t);
    catalog_close(&c);
}

Test(contention, two_saturating_jobs_wait_for_each_other_once)
{
    static const double u[][N_CONTENDED] = {{1, 1, 1, 1}, {1, 1, 1, 1}};
    struct catalog c = {0};
    struct contention t;
    open_jobs(&c, u, 2);
    for (int set = SET_H200; set <= SET_FRANK_L2; set++) {
        open_set(&t, &c, (enum contention_set)set);
        cr_assert_float_eq(contention_pair(&t, 0, 1), 2, 1e-12, "%s", contention_set_names[set]);
        contention_free(&t);
    }
    catalog_close(&c);
}

Test(contention, with_equal_weights_both_sides_suffer_alike_and_nobody_gains)
{
    gsl_rng *rng = gsl_rng_alloc(gsl_rng_mt19937);
    double u[20][N_CONTENDED];
    for (int i = 0; i < 20; i++)
        for (int r = 0; r < N_CONTENDED; r++)
            u[i][r] = gsl_rng_uniform(rng);
    struct catalog c = {0};
    open_jobs(&c, (const double(*)[N_CONTENDED])u, 20);
    for (int set = SET_H200; set <= SET_FRANK_L2; set++) {
        struct contention t;
        open_set(&t, &c, (enum contention_set)set);
        for (int32_t i = 0; i < 20; i++)
            for (int32_t j = 0; j < 20; j++) {
                double s = contention_pair(&t, i, j);
                cr_assert(s >= 1 && s <= 2);
                cr_assert_float_eq(s, contention_pair(&t, j, i), 1e-12);
            }
        contention_free(&t);
    }
    catalog_close(&c);
    gsl_rng_free(rng);
}

Test(contention, more_of_anything_slows_no_less)
{
    gsl_rng *rng = gsl_rng_alloc(gsl_rng_mt19937);
    double u[3][N_CONTENDED] = {{0}};
    struct catalog c = {0};
    struct contention t;
    open_jobs(&c, (const double(*)[N_CONTENDED])u, 3);
    for (int set = SET_H200; set <= SET_FRANK_L2; set++) {
        open_set(&t, &c, (enum contention_set)set);
        for (int n = 0; n < 2000; n++) {
            const int32_t row[] = {0, 1, 2};
            for (int i = 0; i < 3; i++)
                for (int r = 0; r < N_CONTENDED; r++)
                    t.u[i][r] = gsl_rng_uniform(rng);
            double pair = contention_pair(&t, 0, 1), among = contention_among(&t, row, 3, 0);
            double *raised = &t.u[gsl_rng_uniform_int(rng, 2)][gsl_rng_uniform_int(rng, 4)];
            *raised += gsl_rng_uniform(rng) * (1 - *raised);
            cr_assert_geq(contention_pair(&t, 0, 1), pair - 1e-12);
            cr_assert_geq(contention_among(&t, row, 3, 0), among - 1e-12);
            cr_assert_geq(among, pair - 1e-9, "a third resident helps nobody");
        }
        contention_free(&t);
    }
    catalog_close(&c);
    gsl_rng_free(rng);
}

Test(contention, residents_add_up_where_they_are_independent)
{
    static const double u[][N_CONTENDED] = {
        {0.4, 0, 0, 0}, {0.5, 0, 0, 0}, {0.6, 0, 0, 0}, {0.9, 0, 0, 0}};
    static const int32_t row[] = {0, 1, 2, 3};
    struct catalog c = {0};
    struct contention t;
    open_jobs(&c, u, 4);
    open_set(&t, &c, SET_QUEUE_PRIOR);
    cr_assert_eq(contention_among(&t, row, 1, 0), 1, "alone");
    cr_assert_eq(contention_among(&t, row, 2, 0), contention_pair(&t, 0, 1));
    cr_assert_float_eq(contention_among(&t, row, 4, 0), 1 + 0.3 * 0.4 * (0.5 + 0.6 + 0.9), 1e-12);
    t.m = 1.1;
    cr_assert_eq(contention_among(&t, row, 1, 0), 1, "alone there is no overhead");
    contention_free(&t);
    catalog_close(&c);
}

Test(contention, three_that_keep_apart_in_pairs_cannot_all_three)
{
    /* kappa -> -inf: .4 and .4 do not meet, but three of them ask for 1.2 of the resource. The two
     * others hold .8: overlap max(0, .4 + .8 - 1) = .2, no more than one whole resource. */
    static const double u[][N_CONTENDED] = {{0.4, 0, 0, 0}, {0.4, 0, 0, 0}, {0.4, 0, 0, 0}};
    static const int32_t row[] = {0, 1, 2};
    struct catalog c = {0};
    struct contention t;
    open_jobs(&c, u, 3);
    open_set(&t, &c, SET_QUEUE_PRIOR);
    t.kappa = -1e6;
    t.alpha[CONTENDED_SM] = 1;
    cr_assert_float_eq(contention_among(&t, row, 2, 0), 1, 1e-5);
    cr_assert_float_eq(contention_among(&t, row, 3, 0), 1.2, 1e-5);
    for (int i = 0; i < 3; i++)
        t.u[i][CONTENDED_SM] = 0.8; /* pairs .6 each; together 1 of .8, and .8 x .6 beyond it */
    cr_assert_float_eq(contention_among(&t, row, 3, 0), 1 + 0.8 + 0.8 * 0.6, 1e-5);
    contention_free(&t);
    catalog_close(&c);
}

Test(contention, unknown_activity_counts_as_none)
{
    static const char json[] =
        "{\"workloads\": [{\"name\": \"m\", \"kind\": \"train\", \"model\": \"measured\", "
        "\"card\": \"a100-40g\", \"unit\": \"img\", \"knobs\": {\"bs\": [8]}, "
        "\"profiles\": [{\"rate\": 1, \"sm\": 0.5, \"fb_mib\": 100}]}]}";
    struct catalog c = {0};
    struct contention t;
    catalog_open_text(&c, json);
    open_set(&t, &c, SET_QUEUE_PRIOR);
    cr_assert_float_eq(contention_pair(&t, 0, 0), 1 + 0.3 * 0.25, 1e-12);
    contention_free(&t);
    catalog_close(&c);
}

Test(contention, weights_come_from_the_anchor_the_kernels_or_the_step)
{
    static const char json[] =
        "{\"workloads\": ["
        "{\"name\": \"by-kernel\", \"kind\": \"train\", \"model\": \"measured\", "
        "\"card\": \"a100-40g\", \"unit\": \"img\", \"knobs\": {\"bs\": [8]}, \"profiles\": "
        "[{\"rate\": 1, \"sm\": 0.5, \"fb_mib\": 100, \"step_s\": 1, \"kernel_s\": 0.0005}]}, "
        "{\"name\": \"by-step\", \"kind\": \"train\", \"model\": \"measured\", "
        "\"card\": \"a100-40g\", \"unit\": \"img\", \"knobs\": {\"bs\": [8]}, \"profiles\": "
        "[{\"rate\": 1, \"sm\": 0.5, \"fb_mib\": 100, \"step_s\": 0.01}]}, "
        "{\"name\": \"unknown\", \"kind\": \"train\", \"model\": \"measured\", "
        "\"card\": \"a100-40g\", \"unit\": \"img\", \"knobs\": {\"bs\": [8]}, \"profiles\": "
        "[{\"rate\": 1, \"sm\": 0.5, \"fb_mib\": 100}]}]}";
    struct catalog c = {0};
    struct contention t;
    catalog_open_text(&c, json);
    open_set(&t, &c, SET_H200);
    cr_assert_float_eq(t.weight[0], pow(10, 0.85), 1e-9, "ten times 50 us");
    cr_assert_float_eq(t.weight[1], exp(1.7831 + 0.4082 * log(0.01)), 1e-9);
    cr_assert_eq(t.weight[2], 1);
    contention_free(&t);
    catalog_close(&c);
    catalog_open(&c, "table2");
    open_set(&t, &c, SET_H200);
#define WEIGHT(workload, text) log(t.weight[config_named(&c.w, workload, text)])
    cr_assert_float_eq(WEIGHT("ResNet-50", "bs=64 amp=0"), 0.2782, 1e-9);
    cr_assert_float_eq(WEIGHT("ResNet-50", "bs=64 amp=1"), 0.0489, 1e-9);
    cr_assert_float_eq(WEIGHT("ResNet-50", "bs=128 amp=1"), (0.0489 + 0.9684) / 2, 1e-9);
    cr_assert_float_eq(WEIGHT("ResNet-50", "bs=512 amp=1"), 0.9684 + 0.1 * log(2), 1e-9);
    cr_assert_float_eq(WEIGHT("PPO", "bs=32 amp=0"), -0.1315 + 0.1 * log(1 / 16.), 1e-9);
    int32_t llama = config_named(&c.w, "LLaMA-3-7b", "bs=4");
    double f = c.p.prefill_frac[llama];
    cr_assert(f > 0.02 && f < 0.2);
    cr_assert_float_eq(t.weight[llama], f * exp(1.0692 + 0.1 * log(4)) + (1 - f) * exp(-0.6108),
                       1e-9);
    contention_free(&t);
    open_set(&t, &c, SET_FRANK_L2);
    cr_assert_float_eq(WEIGHT("BERT", "bs=32"), -0.0533 + 0.1 * log(32 / 128.), 1e-9);
    cr_assert_float_eq(WEIGHT("DCGAN", "bs=128"), 0, 1e-9, "in no pair of Table 6");
#undef WEIGHT
    contention_free(&t);
    catalog_close(&c);
}

Test(contention, a_fitted_shift_moves_the_logit)
{
    struct catalog c = {0};
    struct contention t;
    catalog_open(&c, "table2");
    open_set(&t, &c, SET_FRANK_L2);
    int32_t row = config_named(&c.w, "BERT", "bs=128 ck=0 amp=0");
    double u = c.p.m.tensor[row], moved = t.u[row][CONTENDED_TENSOR];
    cr_assert_float_eq(log(moved / (1 - moved)) - log(u / (1 - u)), 0.8959, 1e-9);
    contention_free(&t);
    catalog_close(&c);
}

/* The next comma-separated cell of a line, written to out. */
static const char *cell(const char *p, char out[64])
{
    size_t n = strcspn(p, ",\r\n");
    snprintf(out, 64, "%.*s", (int)n, p);
    return p + n + (p[n] != '\0');
}

Test(contention, the_h200_set_is_the_fit_of_the_pairs_it_came_from)
{
    struct catalog c = {0};
    struct contention t;
    catalog_open(&c, "h200");
    open_set(&t, &c, SET_H200);
    FILE *file = fopen(SOURCE_ROOT "/core/elastico/catalogs/h200_pairs.csv", "r");
    char line[256], text[9][64];
    double error = 0, rest = 0, sum = 0, square = 0;
    int n = 0;
    cr_assert_not_null(file);
    cr_assert_not_null(fgets(line, sizeof line, file));
    while (fgets(line, sizeof line, file) != NULL) {
        const char *p = line;
        for (int i = 0; i < 9; i++)
            p = cell(p, text[i]);
        int32_t a = workload_find(&c.w, text[0], strlen(text[0]));
        int32_t b = workload_find(&c.w, text[1], strlen(text[1]));
        cr_assert(a >= 0 && b >= 0);
        if (strcmp(text[8], "0") != 0)
            continue;
        int32_t card = card_find("h200");
        for (int side = 0; side < 2; side++) {
            double kept = fmin(1, atof(text[6 + side]));
            int32_t own = profile_row(&c.p, side == 0 ? a : b, card);
            int32_t other = profile_row(&c.p, side == 0 ? b : a, card);
            double model = 1 / contention_pair(&t, own, other);
            error += fabs(model / kept - 1);
            rest += (model - kept) * (model - kept);
            sum += kept;
            square += kept * kept;
            n++;
        }
    }
    cr_assert_eq(fclose(file), 0);
    cr_assert_eq(n, 552);
    double r2 = 1 - rest / (square - sum * sum / n);
    cr_log_info("H200 pairs: mean error %.2f %%, R2 %.3f", 100 * error / n, r2);
    /* What scripts/fit_contention says of its fit. */
    cr_assert_float_eq(100 * error / n, 4.70, 0.05);
    cr_assert_float_eq(r2, 0.942, 0.002);
    contention_free(&t);
    catalog_close(&c);
}

Test(contention, table_6_is_reported_under_every_set)
{
    static const struct {
        const char *a, *config_a, *b, *config_b;
        double kept_a, kept_b;
    } rows[] = {
        {"Qwen-1.7b", "bs=4 sl=16384 mu=0.9", "ResNet-50", "bs=512 amp=1", .48, .55},
        {"BERT", "", "BERT", "ck=1", .47, .57},
        {"DeepSeek-1.5b", "bs=4 pc=1", "ResNet-50", "ck=1", .50, .56},
        {"Qwen-1.7b", "bs=4 pc=1", "ResNet-50", "", .52, .57},
        {"PPO", "", "ResNet-50", "", .54, .72},
        {"Qwen-1.7b", "", "ResNet-50", "ck=1", .66, .57},
        {"DeepSeek-1.5b", "", "ResNet-50", "ck=1", .67, .61},
        {"Qwen-1.7b", "", "ResNet-50", "", .71, .68},
        {"DeepSeek-1.5b", "", "PPO", "", .56, .89},
        {"LSTM", "", "ResNet-50", "ck=1", .70, .70},
        {"LSTM", "", "NCF-NeuMF", "", .75, .55},
        {"Qwen-1.7b", "bs=4 pc=1", "DeepSeek-1.5b", "bs=4 pc=1", .60, .62},
        {"LLaMA-3-7b", "bs=4 pc=1", "Mistral-7b", "bs=4 pc=1", .58, .61},
        {"Qwen-1.7b", "", "NCF-NeuMF", "", .93, .95},
        {"BERT", "ck=1", "DeepSeek-1.5b", "", .95, .96},
        {"NCF-NeuMF", "", "PPO", "", .97, .98},
        {"BERT", "", "PPO", "", .98, .98},
        {"NCF-NeuMF", "", "BERT", "", .99, .99},
    };
    struct catalog c = {0};
    catalog_open(&c, "table2");
    for (int set = SET_H200; set <= SET_FRANK_L2; set++) {
        struct contention t;
        double error = 0;
        open_set(&t, &c, (enum contention_set)set);
        for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
            int32_t a = config_named(&c.w, rows[i].a, rows[i].config_a);
            int32_t b = config_named(&c.w, rows[i].b, rows[i].config_b);
            double kept_a = 1 / contention_pair(&t, a, b), kept_b = 1 / contention_pair(&t, b, a);
            error += (fabs(kept_a / rows[i].kept_a - 1) + fabs(kept_b / rows[i].kept_b - 1)) / 36;
            cr_log_info("%-11s %s %s / %s %s: %.2f %.2f, paper %.2f %.2f",
                        contention_set_names[set], rows[i].a, rows[i].config_a, rows[i].b,
                        rows[i].config_b, kept_a, kept_b, rows[i].kept_a, rows[i].kept_b);
            cr_assert(kept_a > 0 && kept_a <= 1 && kept_b > 0 && kept_b <= 1);
        }
        cr_log_info("%-11s mean error %.1f %%", contention_set_names[set], 100 * error);
        if (set == SET_FRANK_L2) /* it was fitted on this table: 7.5 % */
            cr_assert_float_eq(100 * error, 7.5, 0.1);
        contention_free(&t);
    }
    catalog_close(&c);
}
