#include "core/elastico/physics_file.h"

#include "tests/leak.h"
#include "tests/temp.h"

TestSuite(physics_file, .fini = abort_on_leak);

#define HEAD "{\"format\": \"colosim physics\", \"version\": 1, "
#define ALPHA                                                                                      \
    "\"alpha\": {\"sm\": {\"value\": 0.9, \"se\": 0.1}, \"tensor\": {\"value\": 0.8}, \"dram\": "  \
    "{\"value\": 0.7}, \"host\": {\"value\": 0, \"se\": null}}, "
#define REST                                                                                       \
    "\"kappa\": {\"value\": -2}, \"m\": {\"value\": 1.05}, "                                       \
    "\"log_w_of_step\": {\"at_1_s\": {\"value\": 1.5}, \"slope\": {\"value\": 0.4}}, "
#define JOB                                                                                        \
    "{\"job\": \"net-b64-amp\", \"log_w\": {\"value\": 0.25}, \"workloads\": \"A|B\", \"phase\": " \
    "\"decode\", \"bs\": 64, \"amp\": true}"

static enum status load(struct physics *p, const char *text, struct error *err)
{
    struct temp_file file = temp_text(".json", text);
    enum status status = physics_load(p, file.path, err);
    temp_remove(&file);
    return status;
}

Test(physics_file, what_a_simulation_needs_is_read)
{
    struct physics p;
    struct error err = {""};
    cr_assert_eq(load(&p, HEAD ALPHA REST "\"jobs\": [" JOB "], \"more\": 1}", &err), ST_OK, "%s",
                 err.text);
    static const double alpha[N_CONTENDED] = {.9, .8, .7, 0};
    for (int r = 0; r < N_CONTENDED; r++)
        cr_assert_float_eq(p.numbers.alpha[r], alpha[r], 0);
    cr_assert_float_eq(p.numbers.kappa, -2, 0);
    cr_assert_float_eq(p.m, 1.05, 0);
    cr_assert_float_eq(p.numbers.step_at_1_s, 1.5, 0);
    cr_assert_float_eq(p.numbers.step_slope, .4, 0);
    cr_assert_eq(p.numbers.n_anchors, 1);
    const struct anchor *a = &p.numbers.anchor[0];
    cr_assert_str_eq(a->job, "net-b64-amp");
    cr_assert_str_eq(a->workloads, "A|B");
    cr_assert_float_eq(a->log_w, .25, 0);
    cr_assert_float_eq(a->bs, 64, 0);
    cr_assert(a->amp);
    cr_assert_eq(a->phase, PHASE_DECODE);
    physics_free(&p);
    physics_free(&p);
}

Test(physics_file, what_is_wrong_is_named_with_the_file)
{
    static const char *const cases[][2] = {
        {"{", "line 1"},
        {"[]", "'format' is ''"},
        {"{\"format\": \"colosim predictor\", \"version\": 1}",
         "'format' is 'colosim predictor', want 'colosim physics'"},
        {"{\"format\": \"colosim physics\", \"version\": 2}", "'version' is 2, want 1"},
        {HEAD "\"latents\": 2}", "by latents of its own jobs"},
        {HEAD REST "\"jobs\": []}", "alpha: 'sm' wants a 'value' in 0 to 1000"},
        {HEAD ALPHA "\"kappa\": 1, \"jobs\": []}", "'kappa' wants a 'value'"},
        {HEAD ALPHA "\"kappa\": {\"value\": 0}, \"m\": {\"value\": 0.9}}",
         "'m' wants a 'value' in 1"},
        {HEAD ALPHA "\"kappa\": {\"value\": 0}, \"m\": {\"value\": 1}}",
         "'at_1_s' wants a 'value'"},
        {HEAD ALPHA REST "\"more\": 1}", "'jobs' is missing or no list"},
        {HEAD ALPHA REST "\"jobs\": [{\"job\": 1}]}", "job 1: 'job' is missing or no text"},
        {HEAD ALPHA REST "\"jobs\": [" JOB ", {\"job\": \"x\", \"log_w\": {\"value\": 0}, "
                         "\"workloads\": \"\", \"phase\": \"noon\"}]}",
         "job 2: 'phase' is 'noon', want all, decode or prefill"},
        {HEAD ALPHA REST "\"jobs\": [{\"job\": \"x\", \"log_w\": {\"value\": 0}, \"workloads\": "
                         "\"A\", \"phase\": \"all\"}]}",
         "wants a 'bs' above 0"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct physics p;
        struct error err = {""};
        cr_assert_eq(load(&p, cases[i][0], &err), ST_INPUT, "%zu", i);
        cr_assert(strstr(err.text, cases[i][1]) != NULL, "%s", err.text);
        cr_assert(strstr(err.text, "colosim-test-") != NULL, "%s", err.text);
        physics_free(&p);
    }
    struct physics p;
    struct error err = {""};
    cr_assert_eq(physics_load(&p, "/nowhere/p.json", &err), ST_INPUT);
    cr_assert(strstr(err.text, "/nowhere/p.json") != NULL, "%s", err.text);
    physics_free(&p);
}

Test(physics_file, one_kind_of_model_file_is_told_from_the_other)
{
    static const struct {
        const char *text;
        enum status status;
        bool is;
    } cases[] = {
        {HEAD ALPHA REST "\"jobs\": []}", ST_OK, true},
        {"{\"format\": \"colosim physics\", \"version\": 9}", ST_OK, true},
        {"{\"format\": \"colosim predictor\", \"version\": 1}", ST_OK, false},
        {"{}", ST_INPUT, false},
        {"{\"format\": \"colosim\"}", ST_INPUT, false},
        {"[]", ST_INPUT, false},
        {"{\"format\"", ST_INPUT, false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct temp_file file = temp_text(".json", cases[i].text);
        struct error err = {""};
        bool is = !cases[i].is;
        cr_assert_eq(physics_is_file(file.path, &is, &err), cases[i].status, "%zu", i);
        cr_assert_eq(is, cases[i].is, "%zu", i);
        cr_assert_eq(strstr(err.text, file.path) != NULL, cases[i].status != ST_OK, "%s", err.text);
        temp_remove(&file);
    }
}
