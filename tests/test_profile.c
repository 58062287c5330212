/* Profiles: the formulas against the study they are from, against published anchors, against our
 * own measurements on another card, and by hand. */
#include "core/cluster/gpus.h"
#include "core/elastico/profile.h"
#include "tests/catalogs.h"
#include "tests/leak.h"
#include "tests/shared.h"

#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

TestSuite(profile, .fini = abort_on_leak, .timeout = 60);

static int32_t reference_row(const struct catalog *c, const char *workload, const char *text)
{
    return profile_row(&c->p, config_named(&c->w, workload, text), CARD_REFERENCE);
}

/* Equal to six significant digits. */
static void assert_printed(double value, double printed, const char *what, int line)
{
    cr_assert(fabs(value - printed) <= 5.1e-6 * fabs(printed), "line %d: %s is %.8g, want %.6g",
              line, what, value, printed);
}

Test(profile, all_768_rows_of_the_study_come_out_to_their_printed_digits)
{
    char path[SHARED_PATH_MAX], row[256];
    if (!shared_path(path, "data/calib/profiles_768.csv"))
        cr_skip_test("no data/calib/profiles_768.csv");
    struct catalog c = {0};
    catalog_open(&c, "table2");
    FILE *file = fopen(path, "r");
    cr_assert_not_null(file);
    cr_assert_not_null(fgets(row, sizeof row, file));
    int32_t config = 0;
    for (; fgets(row, sizeof row, file) != NULL; config++) {
        char *cell[18] = {row};
        for (int i = 1; i < 18; i++) {
            cell[i] = strchr(cell[i - 1], ',');
            cr_assert_not_null(cell[i]);
            *cell[i]++ = '\0';
        }
        int32_t r = profile_row(&c.p, config, CARD_REFERENCE);
        int line = config + 2;
        cr_assert_str_eq(names_text(&c.w.names, c.w.workload[config]), cell[0], "line %d", line);
        const int knob_cell[] = {2, 5, 3, 4, 6, 7}; /* in the order of enum knob */
        for (int k = 0; k <= KNOB_MU; k++)
            if (*cell[knob_cell[k]] != '\0')
                cr_assert_float_eq(c.w.value[config][k], atof(cell[knob_cell[k]]), 1e-9);
        assert_printed(c.p.m.rate[r], atof(cell[8]), "rate", line);
        cr_assert(fabs(c.p.fb_mib[config] - 1024 * atof(cell[9])) <= 0.6, "line %d: memory", line);
        assert_printed(c.p.m.sm[r], atof(cell[10]), "sm", line);
        assert_printed(c.p.m.occupancy[r], atof(cell[11]), "occupancy", line);
        assert_printed(c.p.m.dram[r], atof(cell[12]), "dram", line);
        assert_printed(c.p.m.tensor[r], atof(cell[13]), "tensor", line);
        assert_printed(c.p.m.host[r], atof(cell[14]), "host", line);
        assert_printed(c.p.m.cpu[r], atof(cell[15]), "cpu", line);
        assert_printed(c.p.m.ram_mib[r], 1024 * atof(cell[16]), "ram", line);
    }
    cr_assert_eq(config, 768);
    cr_assert_eq(fclose(file), 0);
    catalog_close(&c);
}

Test(profile, a_training_step_by_hand)
{
    struct catalog c = {0};
    catalog_open(&c, "table2");
    int32_t r = reference_row(&c, "ResNet-50", "bs=128 ck=0 amp=0");
    double g = 128 / 135.; /* t0 is as long as 7 of the 128 images */
    cr_assert_float_eq(c.p.m.rate[r], 960 * g, 1e-9);
    cr_assert_float_eq(c.p.m.step_s[r], 135 / 960., 1e-12);
    cr_assert_float_eq(c.p.m.sm[r], 0.92 * (g + 0.35 * (1 - g)), 1e-12);
    cr_assert_float_eq(c.p.m.dram[r], 0.62 * (0.15 + 0.85 * g), 1e-12);
    cr_assert_float_eq(c.p.m.tensor[r], 960 * g * 24.6e9 / (156e12 * 0.85), 1e-12);
    cr_assert_float_eq(c.p.m.cpu[r], 1 + 960 * g / 250, 1e-12);
    cr_assert(isnan(c.p.m.kernel_s[r]));
    /* 4 + 20 x .5 GiB over a floor of 12: 12 + ln(1 + e^2) */
    cr_assert_eq(c.p.fb_mib[config_named(&c.w, "ResNet-50", "bs=512 ck=0 amp=1")],
                 (int32_t)lround(1024 * (12 + log(1 + exp(2)))));
    catalog_close(&c);
}

Test(profile, a_decode_step_by_hand)
{
    struct catalog c = {0};
    catalog_open(&c, "table2");
    int32_t r = reference_row(&c, "LLaMA-3-7b", "bs=1 sl=1024 pc=0 mu=0.7");
    double mem = (16.06e9 + (768 + 128) * 131072.) / (1.555e12 * 0.838), step = mem + 1e-3;
    double pre = 768 * 2 * 8.03e9 / (312e12 * 0.62), dec = 256 * step;
    cr_assert_float_eq(c.p.m.step_s[r], step, 1e-12);
    cr_assert_float_eq(c.p.m.rate[r], 256 / cbrt(pow(pow(pre, 1.5) + pow(dec, 1.5), 2)), 1e-9);
    cr_assert_float_eq(c.p.prefill_frac[r], pre / (pre + dec), 1e-12);
    cr_assert_eq(c.p.fb_mib[config_named(&c.w, "LLaMA-3-7b", "mu=0.7")], 28 * 1024);
    catalog_close(&c);
}

Test(profile, published_throughputs_of_an_a100_come_out)
{
    static const struct {
        const char *workload, *config;
        double per_unit, measured, within; /* relative */
    } rows[] = {
        {"ResNet-50", "bs=256 amp=0", 1, 938, 0.01},
        {"ResNet-50", "bs=256 amp=1", 1, 2470, 0.03},
        {"BERT", "bs=128 amp=0", 1, 317, 0.01},
        {"NCF-NeuMF", "bs=8192 amp=0", 1, 799e3, 0.1},
        {"LLaMA-3-7b", "bs=1 sl=1024 pc=0", 1, 75, 0.02},
    };
    struct catalog c = {0};
    catalog_open(&c, "table2");
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        double rate = c.p.m.rate[reference_row(&c, rows[i].workload, rows[i].config)];
        cr_assert_float_eq(rate * rows[i].per_unit / rows[i].measured, 1, rows[i].within,
                           "%s %s: %g, published %g", rows[i].workload, rows[i].config, rate,
                           rows[i].measured);
    }
    catalog_close(&c);
}

Test(profile, resnet_scaled_to_an_h200_is_within_15_percent_of_what_was_measured_there)
{
    static const struct {
        const char *config, *measured;
    } rows[] = {{"bs=64 amp=0", "resnet50-b64-tf32"},
                {"bs=64 amp=1", "resnet50-b64-amp"},
                {"bs=256 amp=1", "resnet50-b256-amp"}};
    struct catalog model = {0}, h200 = {0};
    catalog_open(&model, "table2");
    catalog_open(&h200, "h200");
    int32_t card = card_find("h200");
    for (int i = 0; i < 3; i++) {
        int32_t a =
            profile_row(&model.p, config_named(&model.w, "ResNet-50", rows[i].config), card);
        int32_t b = profile_row(&h200.p, config_named(&h200.w, rows[i].measured, ""), card);
        cr_assert_float_eq(model.p.m.rate[a] / h200.p.m.rate[b], 1, 0.15, "%s: %g for %g",
                           rows[i].config, model.p.m.rate[a], h200.p.m.rate[b]);
    }
    catalog_close(&model);
    catalog_close(&h200);
}

Test(profile, resnet_scaled_to_a_v100_is_within_12_percent_of_what_gavel_published)
{
    static const struct {
        const char *config;
        double published; /* images/s, FP32 */
    } rows[] = {{"bs=32 amp=0", 249.2}, {"bs=64 amp=0", 281.3}, {"bs=128 amp=0", 319.6}};
    struct catalog c = {0};
    catalog_open(&c, "table2");
    for (int i = 0; i < 3; i++) {
        int32_t config = config_named(&c.w, "ResNet-50", rows[i].config);
        double rate = c.p.m.rate[profile_row(&c.p, config, card_find("v100-32g"))];
        cr_assert_float_eq(rate / rows[i].published, 1, 0.12, "%s: %g for %g", rows[i].config, rate,
                           rows[i].published);
    }
    catalog_close(&c);
}

Test(profile, every_card_is_a_gpu_type_of_known_memory)
{
    for (int32_t k = 0; k < N_CARDS; k++) {
        cr_assert_gt(gpu_type_mem_mib(card_table[k].name), 0, "%s", card_table[k].name);
        cr_assert_eq(card_find(card_table[k].name), k);
    }
    cr_assert_eq(card_find("t4"), -1);
    cr_assert_str_eq(card_table[CARD_REFERENCE].name, "a100-40g");
}

Test(profile, an_h100_decodes_as_fast_as_was_published)
{
    struct catalog c = {0};
    catalog_open(&c, "table2");
    int32_t config = config_named(&c.w, "LLaMA-3-7b", "bs=1 sl=1024 pc=0");
    double step_s = c.p.m.step_s[profile_row(&c.p, config, card_find("h100-80g"))];
    cr_assert_float_eq(1 / step_s, 122.2, 2, "vLLM, one sequence: 122.2 tokens/s");
    catalog_close(&c);
}

/* One workload measured on an H200 with these activities. */
static void open_measured(struct catalog *c, double sm, double tensor, double dram)
{
    char json[512];
    snprintf(json, sizeof json,
             "{\"workloads\": [{\"name\": \"m\", \"kind\": \"train\", \"model\": \"measured\", "
             "\"card\": \"h200\", \"unit\": \"img\", \"knobs\": {\"bs\": [8], \"amp\": [1]}, "
             "\"profiles\": [{\"rate\": 100, \"sm\": %g, \"tensor\": %g, \"dram\": %g, "
             "\"fb_mib\": 100, \"step_s\": 0.08}]}]}",
             sm, tensor, dram);
    catalog_open_text(c, json);
}

Test(profile, what_was_measured_scales_by_what_bounds_it)
{
    static const struct {
        double sm, tensor, dram, slower; /* on an A100 of 40 GB */
    } rows[] = {
        {0, 0, 0, 1},                                  /* launch-bound: any card will do */
        {1, 0, 1, 4.8 * 0.76 / 1.555},                 /* bandwidth */
        {1, 1, 0, 989 / 312.},                         /* tensor pipes */
        {1, 0, 0, 132 * 1.98 / (108 * 1.41)},          /* the SMs' pace */
        {0.5, 0, 0.5, 0.5 + 0.5 * 4.8 * 0.76 / 1.555}, /* half of the time on the host */
        {0.8, 0.8, 0.8, 0.2 + 0.4 * 989 / 312 + 0.4 * 4.8 * 0.76 / 1.555}, /* overlapping */
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct catalog c = {0};
        open_measured(&c, rows[i].sm, rows[i].tensor, rows[i].dram);
        int32_t own = profile_row(&c.p, 0, card_find("h200")), a100 = 0;
        cr_assert_eq(c.p.m.rate[own], 100);
        cr_assert_float_eq(c.p.m.rate[a100], 100 / rows[i].slower, 1e-9, "row %zu", i);
        cr_assert_float_eq(c.p.m.step_s[a100], 0.08 * rows[i].slower, 1e-12, "row %zu", i);
        cr_assert(c.p.m.sm[a100] >= rows[i].sm - 1e-12 && c.p.m.sm[a100] <= 1);
        catalog_close(&c);
    }
}

Test(profile, a_card_without_tf32_uses_no_tensor_pipes_for_fp32)
{
    struct catalog c = {0};
    catalog_open(&c, "table2");
    int32_t card = card_find("V100-32G");
    cr_assert_geq(card, 0);
    int32_t fp32 = config_named(&c.w, "BERT", "amp=0"), amp = config_named(&c.w, "BERT", "amp=1");
    cr_assert_eq(c.p.m.tensor[profile_row(&c.p, fp32, card)], 0);
    cr_assert_gt(c.p.m.tensor[profile_row(&c.p, amp, card)], 0.3);
    for (int32_t config = 0; config < c.w.n_configs; config++)
        cr_assert_leq(c.p.m.rate[profile_row(&c.p, config, card)],
                      c.p.m.rate[profile_row(&c.p, config, CARD_REFERENCE)] * (1 + 1e-12));
    catalog_close(&c);
}

Test(profile, fractions_stay_fractions_on_every_card)
{
    static const char *const catalogs[] = {"table2", "h200"};
    for (int k = 0; k < 2; k++) {
        struct catalog c = {0};
        catalog_open(&c, catalogs[k]);
        const double *column[] = {c.p.m.sm, c.p.m.occupancy, c.p.m.tensor, c.p.m.dram, c.p.m.host};
        for (int32_t r = 0; r < N_CARDS * c.p.n_configs; r++) {
            cr_assert_gt(c.p.m.rate[r], 0);
            for (int i = 0; i < 5; i++)
                cr_assert(isnan(column[i][r]) || (column[i][r] >= 0 && column[i][r] <= 1));
        }
        catalog_close(&c);
    }
}

static const char pools[] =
    "{\"workloads\": [{\"name\": \"m\", \"kind\": \"infer\", \"model\": \"infer\", "
    "\"unit\": \"token\", \"params\": 1e9, "
    "\"knobs\": {\"bs\": [2, 8], \"sl\": [1000, 100000], \"mu\": [0.1, 0.5]}, "
    "\"coefficients\": {\"weight_bytes\": [2e9, \"D\"], \"kv_bytes\": [1e5, \"D\"], "
    "\"bw_eff\": [1, \"A\"], \"host_s\": [0, \"A\"], \"flop_eff\": [1, \"A\"]}}]}";

Test(profile, a_small_pool_runs_a_smaller_batch_or_none)
{
    /* .1 x 40e9 - 2e9 - 1.5e9 = 5e8 bytes: 5 sequences of 1000 tokens of 1e5 bytes, none of 1e5. */
    struct catalog c = {0};
    catalog_open_text(&c, pools);
    double small = c.p.m.rate[config_named(&c.w, "m", "bs=8 sl=1000 mu=0.1")];
    double step = (2e9 + 5 * 875 * 1e5) / 1.555e12, pre = 5 * 750 * 2e9 / 312e12;
    cr_assert_float_eq(small, 5 * 250 / cbrt(pow(pow(pre, 1.5) + pow(250 * step, 1.5), 2)), 1e-6);
    cr_assert_eq(c.p.m.rate[config_named(&c.w, "m", "bs=2 sl=100000 mu=0.1")], 0);
    cr_assert_gt(c.p.m.rate[config_named(&c.w, "m", "bs=2 sl=1000 mu=0.1")], 0);
    catalog_close(&c);
}

static const char partly_measured[] =
    "{\"workloads\": [{\"name\": \"m\", \"kind\": \"train\", \"model\": \"measured\", "
    "\"card\": \"a100-40g\", \"unit\": \"img\", "
    "\"knobs\": {\"bs\": [1, 2, 4, 16], \"amp\": [0, 1]}, \"profiles\": ["
    "{\"bs\": 1, \"rate\": 10, \"sm\": 0.1, \"fb_mib\": 1000}, "
    "{\"bs\": 1, \"amp\": 1, \"rate\": 15, \"sm\": 0.1, \"fb_mib\": 1200}, "
    "{\"bs\": 16, \"rate\": 80, \"sm\": 0.9, \"fb_mib\": 3000}]}]}";

Test(profile, a_neighbour_stands_in_for_what_was_not_profiled_with_the_larger_memory)
{
    struct catalog c = {0};
    catalog_open_text(&c, partly_measured);
    int32_t near_one = config_named(&c.w, "m", "bs=2 amp=0");
    cr_assert_eq(c.p.m.rate[near_one], 10);
    cr_assert_eq(c.p.fb_mib[near_one], 1200, "of bs=1 and its profiled neighbours");
    cr_assert_eq(c.p.m.rate[config_named(&c.w, "m", "bs=4 amp=0")], 10, "a tie: the first");
    int32_t measured = config_named(&c.w, "m", "bs=1 amp=0");
    cr_assert_eq(c.p.fb_mib[measured], 1000);
    catalog_close(&c);
}

static bool dominates(const struct profiles *p, int32_t a, int32_t b)
{
    return p->m.rate[a] >= p->m.rate[b] && p->fb_mib[a] <= p->fb_mib[b] &&
           round(1e3 * p->m.cpu[a]) <= round(1e3 * p->m.cpu[b]) &&
           p->m.ram_mib[a] <= p->m.ram_mib[b] && round(1e6 * p->m.sm[a]) <= round(1e6 * p->m.sm[b]);
}

static bool holds(const int32_t *list, int32_t n, int32_t value)
{
    for (int32_t i = 0; i < n; i++)
        if (list[i] == value)
            return true;
    return false;
}

Test(profile, the_frontier_leaves_out_exactly_what_is_dominated)
{
    struct catalog c = {0};
    catalog_open(&c, "table2");
    int32_t list[256], n_left = 0;
    for (int32_t wl = 0; wl < c.w.n; wl++) {
        int32_t first = c.w.config_begin[wl], n = c.w.config_begin[wl + 1] - first;
        for (int32_t i = 0; i < n; i++)
            list[i] = first + i;
        int32_t left = profile_frontier(&c.p, CARD_REFERENCE, list, n, -1);
        n_left += left;
        for (int32_t a = first; a < first + n; a++) {
            bool beaten = false; /* by another; of equals by a lower number */
            for (int32_t b = first; b < first + n; b++)
                beaten = beaten ||
                         (b != a && dominates(&c.p, b, a) && (b < a || !dominates(&c.p, a, b)));
            cr_assert_eq(holds(list, left, a), !beaten, "configuration %d", a);
        }
    }
    /* Counted apart from this code on the study's 768 rows, all lengths together. */
    cr_assert_eq(n_left, 244);
    catalog_close(&c);
}

Test(profile, what_is_to_be_kept_stays_on_the_frontier)
{
    struct catalog c = {0};
    catalog_open(&c, "table2");
    /* Checkpointing without need is dominated: slower, and no smaller at this batch. */
    int32_t list[12], n = 12, first = c.w.config_begin[1];
    int32_t keep = config_named(&c.w, "BERT", "bs=32 ck=1 amp=1");
    for (int32_t i = 0; i < n; i++)
        list[i] = first + i;
    int32_t without = profile_frontier(&c.p, CARD_REFERENCE, list, n, -1);
    cr_assert(!holds(list, without, keep));
    for (int32_t i = 0; i < n; i++)
        list[i] = first + i;
    int32_t with = profile_frontier(&c.p, CARD_REFERENCE, list, n, keep);
    cr_assert_eq(with, without + 1);
    cr_assert(holds(list, with, keep));
    catalog_close(&c);
}
