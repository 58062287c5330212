#include "core/elastico/model_file.h"

#include "core/elastico/catalog_file.h"
#include "core/elastico/contention.h"
#include "core/elastico/sides.h"
#include "tests/ask.h"
#include "tests/leak.h"
#include "tests/nets.h"
#include "tests/temp.h"

TestSuite(model_file, .init = dense_one_thread, .fini = abort_on_leak);

static const struct model_note note = {
    .date = "2026-11-30",
    .program = "colosim test",
    .card = "h200",
    .data = "a \"quoted\" table\\of pairs",
    .data_hash = 0x0123456789abcdefu,
    .n_rows = 1088,
    .seed = 9007199254740992,
    .n_folds = 5,
    .n_errors = 2,
    .error = {{"T+T", 384, 6.8, .91}, {"all", 1088, 7.6, NAN}},
};

/* The text of a model; the caller frees. */
static char *written(const struct iac_model *m)
{
    struct printing p;
    struct error err = {""};
    cr_assert_eq(model_write(m, &note, printing_start(&p), &err), ST_OK, "%s", err.text);
    printing_end(&p);
    return p.text;
}

Test(model_file, a_model_read_back_predicts_the_same_and_remembers_where_it_is_from)
{
    enum { N = 100 };
    struct error err = {""};
    gsl_rng *rng = gsl_rng_alloc(gsl_rng_mt19937);
    for (int extras = 0; extras < 2; extras++) {
        struct iac_model m = random_model(rng, extras == 1, 2), back;
        struct model_note read;
        struct iac_reader before, after;
        struct iac_side side[N];
        struct iac_pair pair[N];
        double s[N], again[N];
        char *text = written(&m);
        cr_assert_eq(model_read(&back, &read, text, strlen(text), &err), ST_OK, "%s", err.text);
        cr_assert_eq(iac_reader_init(&before, &m, &err), ST_OK);
        cr_assert_eq(iac_reader_init(&after, &back, &err), ST_OK);
        for (int i = 0; i < N; i++) {
            side[i] = random_side(rng);
            pair[i] = (struct iac_pair){i, (i * 7 + 3) % N};
        }
        iac_predict(&before, side, N, pair, s, NULL);
        iac_predict(&after, side, N, pair, again, NULL);
        for (int i = 0; i < N; i++)
            cr_assert_float_eq(again[i], s[i], 2e-6 * s[i], "%.9g, %.9g", again[i], s[i]);
        cr_assert_str_eq(read.date, note.date);
        cr_assert_str_eq(read.program, note.program);
        cr_assert_str_eq(read.card, note.card);
        cr_assert_str_eq(read.data, note.data);
        cr_assert_eq(read.data_hash, note.data_hash);
        cr_assert_eq(read.n_rows, note.n_rows);
        cr_assert_eq(read.seed, note.seed);
        cr_assert_eq(read.n_folds, 5);
        cr_assert_eq(read.n_errors, 2);
        cr_assert_str_eq(read.error[1].name, "all");
        cr_assert_float_eq(read.error[0].r2, .91, 1e-9);
        cr_assert(isnan(read.error[1].r2));
        char *second = written(&back);
        cr_assert_str_eq(second, text, "what was read is written as it was");
        free(second);
        free(text);
        iac_reader_free(&before);
        iac_reader_free(&after);
        iac_model_free(&m);
        iac_model_free(&back);
    }
    gsl_rng_free(rng);
}

Test(model_file, a_linear_model_is_read_back)
{
    struct error err = {""};
    struct iac_model m = {.form = IAC_LINEAR, .bias = .25}, back;
    double knot[] = {1, 2};
    for (int32_t i = 0; i < IAC_MAPS; i++) {
        m.map[i] = (struct iac_map){iac_map_kind_of(i), i, 1, 0, NULL};
        if (m.map[i].kind == IAC_MAP_RANK) {
            m.map[i].n_knots = 2;
            m.map[i].knot = knot;
        }
    }
    for (int32_t f = 0; f < IAC_FEATURES; f++)
        m.weight[f] = f / 8.0;
    char *text = written(&m);
    cr_assert_eq(model_read(&back, NULL, text, strlen(text), &err), ST_OK, "%s", err.text);
    cr_assert_eq(back.form, IAC_LINEAR);
    cr_assert_float_eq(back.bias, .25, 0);
    for (int32_t f = 0; f < IAC_FEATURES; f++)
        cr_assert_float_eq(back.weight[f], f / 8.0, 0);
    free(text);
    iac_model_free(&back);
}

/* The text with the first `from` replaced. */
static char *replaced(const char *text, const char *from, const char *to)
{
    char *out = NULL;
    const char *at = strstr(text, from);
    cr_assert_not_null(at, "'%s'", from);
    cr_assert(asprintf(&out, "%.*s%s%s", (int)(at - text), text, to, at + strlen(from)) > 0);
    return out;
}

Test(model_file, what_is_wrong_is_named)
{
    static const struct {
        const char *from, *to, *said;
    } row[] = {
        {"\"version\": 1", "\"version\": 2", "'version' is 2, want 1 to 1"},
        {"colosim predictor", "another", "'format' is 'another'"},
        {"\"form\": \"dnn\"", "\"form\": \"svm\"", "'form' is 'svm'"},
        {"\"form\"", "\"farm\"", "'form' is missing"},
        {"\"feature\": \"sm\"", "\"feature\": \"ms\"", "map of sm: 'feature' is 'ms'"},
        {"\"map\": \"log1p\"", "\"map\": \"log2\"", "map of fb_mib: 'map' is 'log2'"},
        {"\"sd\": ", "\"sd\": -", "map of sm: 'sd' is -"},
        {"\"knots\": [", "\"knots\": [1e9,", "map of log10_params: 'knots' do not ascend"},
        {"\"in\": 36", "\"in\": 40", "network 1: 'in' is 40, want 36 to 36"},
        {"\"out\": 64", "\"out\": 63", "network 1: 'weight' has 2304 numbers, want 2268"},
        {"\"weight\": [", "\"weight\": [\"x\",", "network 1: 'weight' has 2305 numbers"},
        {"\"var\": [", "\"var\": [1,", "network 1: 'var' has 65 numbers, want 64"},
        {"\"extras\": false", "\"extras\": true", "network 1: 'in' is 36, want 40 to 40"},
        {"{", "[", "line "},
    };
    struct error err = {""};
    gsl_rng *rng = gsl_rng_alloc(gsl_rng_mt19937);
    struct iac_model m = random_model(rng, false, 1), back;
    char *text = written(&m);
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        char *wrong = replaced(text, row[i].from, row[i].to);
        cr_assert_eq(model_read(&back, NULL, wrong, strlen(wrong), &err), ST_INPUT, "row %zu", i);
        cr_assert(strstr(err.text, row[i].said) != NULL, "row %zu: %s", i, err.text);
        iac_model_free(&back);
        free(wrong);
    }
    for (size_t length = 0; length < strlen(text) - 2; length += 997) {
        cr_assert_eq(model_read(&back, NULL, text, length, &err), ST_INPUT, "cut at %zu", length);
        iac_model_free(&back);
    }
    free(text);
    iac_model_free(&m);
    gsl_rng_free(rng);
}

Test(model_file, a_file_is_named_in_its_errors)
{
    struct error err = {""};
    struct iac_model m;
    struct temp_file file = temp_text(".json", "{}");
    cr_assert_eq(model_load(&m, NULL, file.path, &err), ST_INPUT);
    cr_assert(strstr(err.text, file.path) != NULL && strstr(err.text, "'format' is missing"));
    iac_model_free(&m);
    temp_remove(&file);
    cr_assert_eq(model_load(&m, NULL, file.path, &err), ST_INPUT);
    cr_assert(strstr(err.text, "No such file") != NULL, "%s", err.text);
    iac_model_free(&m);
}

Test(model_file, the_default_predictor_comes_within_a_few_percent_of_the_physics_on_every_card)
{
    enum { N = 2000 };
    struct error err = {""};
    struct iac_model m;
    struct model_note read;
    struct iac_reader reader;
    struct workloads w;
    struct profiles p;
    struct contention physics;
    struct iac_side *side;
    gsl_rng *rng = gsl_rng_alloc(gsl_rng_mt19937);
    cr_assert_eq(model_default(&m, &read, &err), ST_OK, "%s", err.text);
    cr_assert_eq(iac_reader_init(&reader, &m, &err), ST_OK);
    cr_assert_eq(catalog_read("table2", &w, &err), ST_OK, "%s", err.text);
    cr_assert_eq(profiles_init(&p, &w, &err), ST_OK);
    cr_assert_eq(contention_init(&physics, &p, &contention_sets[SET_H200], 1, &err), ST_OK);
    cr_assert_eq(sides_of_profiles(&p, &side, &err), ST_OK);
    for (int32_t card = 0; card < N_CARDS; card++) {
        double off = 0;
        int n = 0;
        while (n < N) {
            struct iac_pair pair;
            double s;
            pair.of = profile_row(&p, (int32_t)gsl_rng_uniform_int(rng, (unsigned long)p.n_configs),
                                  card);
            pair.beside = profile_row(
                &p, (int32_t)gsl_rng_uniform_int(rng, (unsigned long)p.n_configs), card);
            if (!(p.m.rate[pair.of] > 0 && p.m.rate[pair.beside] > 0))
                continue;
            iac_predict(&reader, side, 1, &pair, &s, NULL);
            off += fabs(s / contention_pair(&physics, pair.of, pair.beside) - 1);
            n++;
        }
        /* The file states 4.3 % with the noise of measuring, 2.9 % of which is that noise. */
        cr_assert(off / N < .045, "%s: %.3f", card_table[card].name, off / N);
    }
    cr_assert_eq(read.n_errors, 4);
    free(side);
    contention_free(&physics);
    profiles_free(&p);
    workloads_free(&w);
    iac_reader_free(&reader);
    iac_model_free(&m);
    gsl_rng_free(rng);
}
