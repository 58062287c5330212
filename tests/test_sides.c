#include "core/elastico/sides.h"

#include "core/elastico/catalog_file.h"
#include "tests/leak.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

TestSuite(sides, .fini = abort_on_leak);

struct lab {
    struct workloads w;
    struct profiles p;
};

static struct lab open_lab(const char *catalog)
{
    struct lab l = {0};
    struct error err = {""};
    cr_assert_eq(catalog_read(catalog, &l.w, &err), ST_OK, "%s", err.text);
    return l;
}

static void profile(struct lab *l)
{
    struct error err = {""};
    cr_assert_eq(profiles_init(&l->p, &l->w, &err), ST_OK, "%s", err.text);
}

static void close_lab(struct lab *l)
{
    profiles_free(&l->p);
    workloads_free(&l->w);
}

static int32_t config_of(const struct lab *l, const char *workload, const char *knobs)
{
    bool exact;
    int32_t wl = workload_find(&l->w, workload, strlen(workload));
    cr_assert(wl >= 0);
    int32_t c = config_parse(&l->w, wl, knobs, strlen(knobs), &exact);
    cr_assert(c >= 0 && exact);
    return c;
}

Test(sides, a_training_configuration_has_its_knobs_and_no_lengths)
{
    struct lab l = open_lab("table2");
    profile(&l);
    int32_t c = config_of(&l, "ResNet-50", "bs=128 ck=1 amp=0"), row = profile_row(&l.p, c, 0);
    struct iac_side s = side_of_profile(&l.p, c, 0);
    cr_assert_eq(s.kind, KIND_TRAIN);
    cr_assert_float_eq(s.bs, 128, 0);
    cr_assert_float_eq(s.ck, 1, 0);
    cr_assert_float_eq(s.amp, 0, 0);
    cr_assert_float_eq(s.isl + s.osl + s.rho, 0, 0);
    cr_assert_float_eq(s.log10_params, log10(2.56e7), 1e-12);
    cr_assert_float_eq(s.card_mib, 40960, 0);
    cr_assert_float_eq(s.fb_mib, l.p.fb_mib[c], 0);
    cr_assert_float_eq(s.rate, l.p.m.rate[row], 0);
    cr_assert_float_eq(s.sm, l.p.m.sm[row], 0);
    cr_assert_float_eq(s.tensor, l.p.m.tensor[row], 0);
    cr_assert_float_eq(s.step_s, 128 / s.rate, 1e-9);
    cr_assert_float_eq(s.kernel_s, 0, 0, "not known");
    close_lab(&l);
}

Test(sides, an_inference_configuration_has_lengths_and_the_share_of_its_prompt_in_the_cache)
{
    struct lab l = open_lab("table2");
    profile(&l);
    int32_t with = config_of(&l, "LLaMA-3-7b", "bs=2 sl=1024 pc=1 mu=0.9");
    int32_t without = config_of(&l, "LLaMA-3-7b", "bs=2 sl=1024 pc=0 mu=0.9");
    struct iac_side s = side_of_profile(&l.p, with, 0);
    cr_assert_eq(s.kind, KIND_INFER);
    cr_assert_float_eq(s.isl, 768, 0);
    cr_assert_float_eq(s.osl, 256, 0);
    /* .5 (1 - e^(-(.9 40e9 - 16.06e9 - 1.5e9) / 4e9)) */
    cr_assert_float_eq(s.rho, .5 * (1 - exp(-18.44 / 4)), 1e-6);
    cr_assert_float_eq(side_of_profile(&l.p, without, 0).rho, 0, 0);
    close_lab(&l);
}

Test(sides, all_stand_by_their_rows)
{
    struct lab l = open_lab("h200");
    struct error err = {""};
    struct iac_side *side;
    profile(&l);
    cr_assert_eq(sides_of_profiles(&l.p, &side, &err), ST_OK);
    for (int32_t card = 0; card < N_CARDS; card++)
        for (int32_t c = 0; c < l.p.n_configs; c++) {
            struct iac_side one = side_of_profile(&l.p, c, card);
            const struct iac_side *there = &side[profile_row(&l.p, c, card)];
            cr_assert_float_eq(there->rate, one.rate, 0);
            cr_assert_float_eq(there->card_mib, one.card_mib, 0);
            cr_assert(isfinite(one.occ) && isfinite(one.kernel_s) && one.card_mib > 0);
        }
    free(side);
    close_lab(&l);
}
