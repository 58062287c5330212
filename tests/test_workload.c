/* Workloads and their configurations: the product of the knobs, and names for its rows. */
#include "core/cluster/job.h"
#include "tests/catalogs.h"
#include "tests/leak.h"

#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

TestSuite(workload, .fini = abort_on_leak, .timeout = 60);

Test(workload, the_twelve_of_table_2_have_768_configurations)
{
    static const struct {
        const char *name;
        int32_t n;
    } rows[] = {{"ResNet-50", 20},      {"BERT", 12},       {"DCGAN", 20},      {"PointNet", 20},
                {"Transformer", 20},    {"LSTM", 32},       {"NCF-NeuMF", 36},  {"PPO", 32},
                {"DeepSeek-1.5b", 198}, {"Qwen-1.7b", 198}, {"Mistral-7b", 90}, {"LLaMA-3-7b", 90}};
    struct workloads w;
    cr_assert_eq(catalog_read("table2", &w, NULL), ST_OK);
    cr_assert_eq(w.n, 12);
    cr_assert_eq(w.n_configs, 768);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        int32_t wl = workload_find(&w, rows[i].name, strlen(rows[i].name));
        cr_assert_eq(wl, (int32_t)i);
        cr_assert_eq(w.config_begin[wl + 1] - w.config_begin[wl], rows[i].n, "%s", rows[i].name);
        cr_assert_eq(w.kind[wl], i < 8 ? KIND_TRAIN : KIND_INFER);
    }
    cr_assert_eq(workload_find(&w, "BERT-large", 10), -1);
    workloads_free(&w);
}

Test(workload, every_configuration_differs_and_is_found_again_by_its_text)
{
    struct workloads w;
    char text[96], before[96] = "";
    bool exact;
    cr_assert_eq(catalog_read("table2", &w, NULL), ST_OK);
    for (int32_t c = 0; c < w.n_configs; c++) {
        config_text(&w, c, text);
        cr_assert_str_neq(text, before);
        cr_assert_eq(config_parse(&w, w.workload[c], text, strlen(text), &exact), c, "%s", text);
        cr_assert(exact);
        strcpy(before, text);
    }
    workloads_free(&w);
}

Test(workload, later_knobs_vary_fastest)
{
    static const char *const first[] = {"bs=32 ck=0 amp=0", "bs=32 ck=0 amp=1", "bs=32 ck=1 amp=0",
                                        "bs=32 ck=1 amp=1", "bs=64 ck=0 amp=0"};
    struct workloads w;
    char text[96];
    cr_assert_eq(catalog_read("table2", &w, NULL), ST_OK);
    for (int32_t c = 0; c < 5; c++)
        cr_assert_str_eq(config_text(&w, c, text), first[c]);
    int32_t qwen = workload_find(&w, "Qwen-1.7b", 9), c = w.config_begin[qwen];
    cr_assert_str_eq(config_text(&w, c, text), "bs=1 sl=4096 pc=0 mu=0.4");
    cr_assert_str_eq(config_text(&w, c + 11, text), "bs=1 sl=4096 pc=1 mu=0.4");
    cr_assert_str_eq(config_text(&w, c + 197, text), "bs=4 sl=16384 pc=1 mu=0.9");
    workloads_free(&w);
}

Test(workload, one_knob_changes_alone)
{
    struct workloads w;
    cr_assert_eq(catalog_read("table2", &w, NULL), ST_OK);
    for (int32_t c = 0; c < w.n_configs; c++)
        for (int k = 0; k < N_KNOBS; k++)
            for (int32_t i = 0; i < w.n_values[w.workload[c]][k]; i++) {
                int32_t other = config_with(&w, c, (enum knob)k, i);
                cr_assert_eq(config_index(&w, other, (enum knob)k), i);
                for (int q = 0; q < N_KNOBS; q++)
                    if (q != k && !isnan(w.value[c][q]))
                        cr_assert_eq(w.value[other][q], w.value[c][q]);
            }
    workloads_free(&w);
}

Test(workload, a_text_may_leave_knobs_out_and_separate_as_it_likes)
{
    static const struct {
        const char *text, *means;
        bool exact;
    } rows[] = {
        {"", "bs=128 ck=0 amp=0", true},
        {"amp=1", "bs=128 ck=0 amp=1", true},
        {"amp=1,bs=32;ck=1", "bs=32 ck=1 amp=1", true},
        {"  bs=64  ", "bs=64 ck=0 amp=0", true},
        {"bs=100", "bs=128 ck=0 amp=0", false},
        {"bs=95", "bs=64 ck=0 amp=0", false},
        {"bs=64 nonsense", NULL, false},
        {"bs=", NULL, false},
        {"sl=4096", NULL, false}, /* no knob of this workload */
        {"bs64", NULL, false},
    };
    struct workloads w;
    char text[96];
    cr_assert_eq(catalog_read("table2", &w, NULL), ST_OK);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        bool exact;
        int32_t c = config_parse(&w, 0, rows[i].text, strlen(rows[i].text), &exact);
        cr_assert_eq(c < 0, rows[i].means == NULL, "'%s'", rows[i].text);
        if (c < 0)
            continue;
        cr_assert_str_eq(config_text(&w, c, text), rows[i].means, "'%s'", rows[i].text);
        cr_assert_eq(exact, rows[i].exact, "'%s'", rows[i].text);
    }
    workloads_free(&w);
}

Test(workload, measured_scaling_is_a_straight_line_in_logarithms)
{
    static const char json[] =
        "{\"workloads\": [{\"name\": \"m\", \"kind\": \"train\", \"model\": \"measured\", "
        "\"card\": \"a100-40g\", \"unit\": \"img\", \"knobs\": {\"bs\": [1]}, \"scaling\": "
        "[[1, 100], [2, 180], [8, 720]], "
        "\"profiles\": [{\"rate\": 10, \"sm\": 0.1, \"fb_mib\": 1000}]}]}";
    struct catalog c = {0};
    catalog_open_text(&c, json);
    cr_assert_float_eq(workload_scaling(&c.w, 0, 2, 1), 1.8, 1e-12);
    cr_assert_float_eq(workload_scaling(&c.w, 0, 4, 1), 3.6, 1e-12, "slope 1 from 2 to 8");
    cr_assert_float_eq(workload_scaling(&c.w, 0, 16, 8), 2, 1e-12, "and on from there");
    cr_assert_float_eq(workload_scaling(&c.w, 0, 1, 4), 1 / 3.6, 1e-12);
    catalog_close(&c);
    catalog_open(&c, "table2");
    cr_assert(isnan(workload_scaling(&c.w, 0, 2, 1)), "nothing measured");
    catalog_close(&c);
}

static const char partly_measured[] =
    "{\"workloads\": [{\"name\": \"m\", \"kind\": \"train\", \"model\": \"measured\", "
    "\"card\": \"a100-40g\", \"unit\": \"img\", "
    "\"knobs\": {\"bs\": [1, 2, 4, 16, 256], \"amp\": [0, 1]}, \"profiles\": ["
    "{\"bs\": 1, \"rate\": 10, \"sm\": 0.1, \"fb_mib\": 1000}, "
    "{\"bs\": 256, \"rate\": 80, \"sm\": 0.9, \"fb_mib\": 3000.2}, "
    "{\"bs\": 256, \"amp\": 1, \"rate\": 90, \"sm\": 0.8, \"fb_mib\": 2000}]}]}";

Test(workload, the_nearest_profiled_configuration_is_measured_by_ratios_of_the_batch)
{
    /* ln(bs) / ln(256): 1 is 0, 2 is .125, 4 is .25, 16 is .5, 256 is 1; AMP is a whole step. */
    static const struct {
        const char *text, *nearest;
    } rows[] = {
        {"bs=1 amp=0", "bs=1 amp=0"},     {"bs=2 amp=0", "bs=1 amp=0"},
        {"bs=4 amp=0", "bs=1 amp=0"},     {"bs=16 amp=0", "bs=1 amp=0"}, /* a tie */
        {"bs=256 amp=0", "bs=256 amp=0"}, {"bs=1 amp=1", "bs=1 amp=0"},  /* 1 and 1: a tie */
        {"bs=4 amp=1", "bs=256 amp=1"}, /* 1.0625 to the first, .5625 to the last */
        {"bs=16 amp=1", "bs=256 amp=1"},
    };
    struct catalog c = {0};
    char text[96];
    catalog_open_text(&c, partly_measured);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        int32_t config = config_named(&c.w, "m", rows[i].text);
        cr_assert_str_eq(config_text(&c.w, config_nearest(&c.w, config, c.w.profiled), text),
                         rows[i].nearest, "%s", rows[i].text);
    }
    catalog_close(&c);
}
