/* Catalogs as JSON: what is read, and what is said of a wrong one. */
#include "core/elastico/catalog_file.h"
#include "tests/leak.h"
#include "tests/temp.h"

#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

TestSuite(catalog_file, .fini = abort_on_leak, .timeout = 60);

#define TRAIN                                                                                      \
    "\"rate_inf\": [100, \"M\"], \"amp_speedup\": [2, \"S\"], \"bs_half\": [8, \"A\"], "           \
    "\"launch_amp\": [1, \"A\"], \"ck_cost\": [0.25, \"A\"], \"flop\": [1e9, \"D\"], "             \
    "\"fb_static\": [1, \"A\"], \"fb_batch\": [2, \"A\"], \"fb_amp\": [0.5, \"A\"], "              \
    "\"fb_ck\": [0.5, \"A\"], \"fb_floor\": [0, \"P\"], \"sm\": [0.9, \"A\"], "                    \
    "\"sm_launch\": [0.3, \"A\"], \"occupancy\": [0.4, \"A\"], \"dram\": [0.5, \"A\"], "           \
    "\"dram_amp\": [0.6, \"A\"], \"tensor_eff\": [0.8, \"A\"], \"host\": [0.1, \"A\"], "           \
    "\"cpu\": [1, \"A\"], \"cpu_rate\": [50, \"A\"], \"ram\": [4, \"F\"]"
#define HEAD(knobs)                                                                                \
    "\"name\": \"x\", \"kind\": \"train\", \"model\": \"train\", \"unit\": \"img\", "              \
    "\"knobs\": {" knobs "}, "
#define CATALOG(inside) "{\"name\": \"mine\", \"workloads\": [{" inside "}]}"
#define MEASURED(card, profiles)                                                                   \
    CATALOG("\"name\": \"x\", \"kind\": \"infer\", \"model\": \"measured\", \"unit\": \"token\", " \
            "\"card\": \"" card "\", \"knobs\": {\"bs\": [1, 2]}, \"profiles\": [" profiles "]")

#define PARALLEL(batch, layers, spans)                                                             \
    "\"parallel\": {\"batch\": [" batch ", \"A\"], \"layers\": [" layers                           \
    ", \"A\"], \"grad_bytes\": [1, \"A\"], \"act_bytes\": [1, \"A\"], \"state_bytes\": [1, "       \
    "\"A\"], \"dp_exposed\": [1, \"A\"], \"tp_spans\": [" spans ", \"A\"]}"
#define LAID(knobs, batch, layers, spans)                                                          \
    CATALOG(HEAD(knobs) "\"coefficients\": {" TRAIN "}, " PARALLEL(batch, layers, spans))

static enum status read_text(const char *text, struct workloads *w, struct error *err)
{
    struct temp_file file = temp_text(".json", text);
    enum status status = catalog_read(file.path, w, err);
    temp_remove(&file);
    return status;
}

Test(catalog_file, a_model_is_read_with_its_marks_and_its_default)
{
    struct workloads w;
    struct error err = {{0}};
    cr_assert_eq(
        read_text(CATALOG(HEAD("\"bs\": [8, 16], \"amp\": [0, 1]") "\"params\": 1e6, "
                                                                   "\"default\": {\"bs\": 16}, "
                                                                   "\"coefficients\": {" TRAIN "}"),
                  &w, &err),
        ST_OK, "%s", err.text);
    cr_assert_str_eq(w.name, "mine");
    cr_assert_eq(w.n_configs, 4);
    cr_assert_eq(w.initial[0], 2, "bs=16 amp=0");
    cr_assert_eq(w.params[0], 1e6);
    cr_assert_eq(w.model[0].train.rate_inf, 100);
    cr_assert_eq(w.model[0].train.ram, 4);
    cr_assert_eq(w.mark[0][0], 'M');
    cr_assert_eq(w.mark[0][1], 'S');
    cr_assert_eq(w.mark[0][20], 'F');
    cr_assert(isnan(w.value[0][KNOB_SL]));
    workloads_free(&w);
}

Test(catalog_file, the_h200_jobs_are_workloads_of_one_measured_configuration)
{
    struct workloads w;
    cr_assert_eq(catalog_read("h200", &w, NULL), ST_OK);
    cr_assert_eq(w.n, 23);
    cr_assert_eq(w.n_configs, 23);
    int32_t c = workload_find(&w, "bert-b128-amp", 13);
    cr_assert_eq(w.value[c][KNOB_BS], 128);
    cr_assert_eq(w.value[c][KNOB_AMP], 1);
    cr_assert_float_eq(w.measured.rate[c], 3125.5074, 1e-4);
    cr_assert_float_eq(w.measured.sm[c], 0.8041, 1e-9);
    cr_assert_float_eq(w.measured.dram[c], 0.4083, 1e-9);
    cr_assert_eq(w.fb_mib[c], 7270, "7269.5 rounded up");
    cr_assert_float_eq(w.measured.step_s[c], 1 / 24.41803, 1e-6);
    cr_assert(isnan(w.measured.host[c]));
    c = workload_find(&w, "llm8b-decode-b32-c2048", 22);
    cr_assert_eq(w.value[c][KNOB_SL], 2048);
    cr_assert_eq(w.fb_mib[c], 8320 + 13562, "with the weights it shared while measured");
    workloads_free(&w);
}

Test(catalog_file, a_wrong_catalog_is_refused_and_the_place_is_named)
{
    static const struct {
        const char *text, *says;
    } rows[] = {
        {"", "line 1"},
        {"[1, 2", "line 1 column"},
        {"{\"a\": 1, \"a\": 2}", "duplicate"},
        {"[]", "want an object with a list of \"workloads\""},
        {"{\"workloads\": []}", "want an object with a list of \"workloads\""},
        {"{\"workloads\": [3]}", "workloads[0]: want an object"},
        {"{\"workload\": [], \"workloads\": [{}]}", "did you mean 'workloads'"},
        {CATALOG("\"kind\": \"train\""), "workloads[0]: name must be a text"},
        {CATALOG("\"name\": \"x\""), "workloads[0] x: kind is missing, want train, infer"},
        {CATALOG("\"name\": \"x\", \"kinds\": 1"), "did you mean 'kind'"},
        {CATALOG("\"name\": \"x\", \"kind\": \"train\", \"model\": \"none\""),
         "model is none, want train, infer or measured"},
        {CATALOG(HEAD("\"bs\": [2, 1]") "\"note\": \"\""),
         "knobs.bs: want up to 64 ascending numbers"},
        {CATALOG(HEAD("\"bs\": []") "\"note\": \"\""), "knobs.bs: want a list of numbers"},
        {CATALOG(HEAD("\"amp\": [0, 2]") "\"note\": \"\""),
         "knobs.amp: want up to 64 ascending numbers from 0 to 1"},
        {CATALOG(HEAD("\"bz\": [1]") "\"note\": \"\""), "did you mean 'bs'"},
        {CATALOG(HEAD("\"bs\": [1]") "\"coefficients\": 1"), "coefficients must be an object"},
        {CATALOG(HEAD("\"bs\": [1]") "\"coefficients\": {\"rate_inf\": 1}"),
         "coefficients.rate_inf: want [number, mark]"},
        {CATALOG(HEAD("\"bs\": [1]") "\"coefficients\": {\"rate_inf\": [1, \"Z\"]}"),
         "coefficients.rate_inf: want [number, mark]"},
        {CATALOG(HEAD("\"amp\": [0]") "\"coefficients\": {" TRAIN "}"), "knobs.bs is missing"},
        {CATALOG(HEAD("\"bs\": [1]") "\"default\": {\"bs\": 2}, \"coefficients\": {" TRAIN "}"),
         "bs is none of the values under knobs"},
        {CATALOG(HEAD("\"bs\": [1]") "\"scaling\": [[1, 1]], \"coefficients\": {" TRAIN "}"),
         "scaling: want [[GPUs, speed]"},
        {CATALOG(HEAD("\"bs\": [1]") "\"scaling\": [[1, 2], [2, 1]]"),
         "scaling: want [[GPUs, speed]"},
        {CATALOG(HEAD("\"bs\": [1], \"tp\": [1, 2]") "\"coefficients\": {" TRAIN "}"),
         "knobs.tp and knobs.pp need parallel"},
        {CATALOG(HEAD("\"bs\": [1], \"tp\": [1, 1.5]") "\"note\": \"\""),
         "knobs.tp: want up to 64 ascending whole numbers from 1 to 1024"},
        {LAID("\"bs\": [3]", "8", "4", "0"), "knobs.bs: 3 does not divide parallel.batch, 8"},
        {LAID("\"bs\": [1], \"pp\": [1, 3]", "8", "4", "0"),
         "knobs.pp: 3 does not divide parallel.layers, 4"},
        {LAID("\"bs\": [1]", "8", "0", "0"), "batch and layers must be whole, 1 or more"},
        {LAID("\"bs\": [1]", "8.5", "4", "0"), "batch and layers must be whole, 1 or more"},
        {LAID("\"bs\": [1]", "8", "4", "2"), "want dp_exposed from 0 to 1, tp_spans 0 or 1"},
        {LAID("\"bs\": [1]", "8", "4", "-1"), "parallel.tp_spans: want [number, mark], 0 or more"},
        {CATALOG(HEAD("\"bs\": [1]") "\"parallel\": {\"batches\": 1}, \"coefficients\": {" TRAIN
                                     "}"),
         "did you mean 'batch'"},
        {CATALOG(HEAD("\"bs\": [1]") "\"parallel\": 3, \"coefficients\": {" TRAIN "}"),
         "parallel must be an object"},
        {CATALOG(HEAD("\"bs\": [1]") "\"scaling\": [[1, 1], [2, 2]], \"coefficients\": {" TRAIN
                                     "}, " PARALLEL("8", "4", "0")),
         "want scaling or parallel, not both"},
        {CATALOG("\"name\": \"x\", \"kind\": \"infer\", \"model\": \"measured\", \"unit\": "
                 "\"s\", \"card\": \"h200\", \"knobs\": {\"bs\": [1]}, " PARALLEL("8", "4", "0")),
         "parallel is for training with knobs.bs"},
        {CATALOG("\"name\": \"x\", \"kind\": \"train\", \"model\": \"measured\", \"unit\": "
                 "\"s\", \"card\": \"h200\", \"knobs\": {\"bs\": [1], \"tp\": [1, 2]}, " PARALLEL(
                     "8", "4", "0") ", \"profiles\": [{\"tp\": 2, \"rate\": 1, \"sm\": 0.1, "
                                    "\"fb_mib\": 1}]"),
         "profiles[0]: profiles are of one card: leave out tp and pp"},
        {MEASURED("h201", "{\"rate\": 1, \"sm\": 0.1, \"fb_mib\": 1}"), "card is 'h201'"},
        {MEASURED("h200", ""), "profiles must be a list"},
        {MEASURED("h200", "{\"bs\": 1, \"rate\": 1, \"sm\": 0.1}"),
         "workloads[0] x: profiles[0]: rate (more than 0), sm and fb_mib must be there"},
        {MEASURED("h200", "{\"bs\": 1, \"rate\": 1, \"sm\": 1.5, \"fb_mib\": 1}"),
         "profiles[0]: sm must be a number from 0 to 1"},
        {MEASURED("h200", "{\"bs\": 2, \"rate\": 1, \"sm\": 0.1, \"fb_mib\": 1}, "
                          "{\"bs\": 2, \"rate\": 1, \"sm\": 0.1, \"fb_mib\": 1}"),
         "profiles[1]: a second profile of one configuration"},
        {MEASURED("h200", "{\"bs\": 3, \"rate\": 1, \"sm\": 0.1, \"fb_mib\": 1}"),
         "profiles[0]: bs is none of the values under knobs"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct workloads w;
        struct error err = {{0}};
        cr_assert_eq(read_text(rows[i].text, &w, &err), ST_INPUT, "%s", rows[i].text);
        cr_assert_not_null(strstr(err.text, rows[i].says), "row %zu: '%s' lacks '%s'", i, err.text,
                           rows[i].says);
        cr_assert_not_null(strstr(err.text, ".json: "), "%s", err.text);
        workloads_free(&w);
    }
}

Test(catalog_file, two_workloads_of_one_name_are_refused)
{
    static const char text[] =
        "{\"workloads\": [{" HEAD("\"bs\": [1]") "\"coefficients\": {" TRAIN "}}, "
                                                 "{" HEAD("\"bs\": [1]") "\"coefficients\": {" TRAIN
                                                                         "}}]}";
    struct workloads w;
    struct error err = {{0}};
    cr_assert_eq(read_text(text, &w, &err), ST_INPUT);
    cr_assert_not_null(strstr(err.text, "the name x is there already"), "%s", err.text);
    workloads_free(&w);
}

Test(catalog_file, a_name_that_is_no_file_lists_the_embedded_catalogs)
{
    struct workloads w;
    struct error err = {{0}};
    cr_assert_eq(catalog_read("table3", &w, &err), ST_INPUT);
    cr_assert_not_null(strstr(err.text, "table2, h200"), "%s", err.text);
    workloads_free(&w);
}
