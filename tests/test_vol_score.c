/* Node scores by hand; the table of the vectors (D17) is transcribed in part. */
#include "policies/volcano/vol_config.h"
#include "policies/volcano/vol_nodes.h"
#include "tests/leak.h"

#include <criterion/criterion.h>

TestSuite(vol_score, .fini = abort_on_leak);

/* A node of 128 cores, 1 TiB and 8 GPUs, and a pod of 8 cores, 64 GiB and one. */
static const struct amounts size = {{128000, 1024, 8000, 0, 110}};
static const struct amounts pod = {{8000, 64, 1000, 0, 1}};

static struct amounts used_by(double pods)
{
    struct amounts used = {{0}};
    amounts_add(&used, &pod, pods);
    return used;
}

Test(vol_score, least_and_most_are_whole_means_of_whole_per_cents)
{
    struct amounts used = used_by(0), odd = {{33000, 500, 0, 0, 1}};
    /* 120 of 128 left: 93.75; 960 of 1024 left: 93.75 */
    cr_assert_float_eq(vol_score_least(&size, &used, &pod), 93, 1e-12);
    cr_assert_float_eq(vol_score_most(&size, &used, &pod), 6, 1e-12);
    /* 95 of 128: 74.2 and 524 of 1024: 51.2, so (74 + 51) / 2 */
    cr_assert_float_eq(vol_score_least(&size, &used, &odd), 62, 1e-12);
    /* 25.8 and 48.8 */
    cr_assert_float_eq(vol_score_most(&size, &used, &odd), 36, 1e-12);
}

Test(vol_score, balanced_counts_gpus_only_for_those_who_ask)
{
    struct amounts none = {{0}}, cpu = {{32000, 512, 0, 0, 1}};
    /* shares 1/4 and 1/2: 100 (1 - 1/8); GPUs would make it three */
    cr_assert_float_eq(vol_score_balanced(VOL_BALANCED_OLD, &size, &none, &cpu), 87, 1e-12);
    /* 1/16, 1/16, 1/8: deviation sqrt(2)/48 = .0295 */
    cr_assert_float_eq(vol_score_balanced(VOL_BALANCED_OLD, &size, &none, &pod), 97, 1e-12);
    /* 50 + (50 + 97 - 100) / 2 in whole numbers */
    cr_assert_float_eq(vol_score_balanced(VOL_BALANCED_1_36, &size, &none, &pod), 73, 1e-12);
    /* unchanged balance is 75 */
    struct amounts even = {{64000, 512, 0, 0, 1}};
    cr_assert_float_eq(vol_score_balanced(VOL_BALANCED_1_36, &size, &none, &even), 75, 1e-12);
}

Test(vol_score, binpack_is_a_weighted_mean_over_what_is_asked_for)
{
    const double pack[N_AMOUNTS] = {2, 3, 7, 8, 0};
    struct amounts small = {{2, 4, 0, 0, 9}}, half = {{1, 1, 0, 0, 0}}, ask = {{1, 1, 0, 0, 1}};
    cr_assert_float_eq(vol_score_binpack(pack, &small, &half, &ask), 70, 1e-9);
    /* one that the node lacks adds nothing, but its weight counts: 2 (1) + 3 (2/4) over 13 */
    struct amounts foo = {{1, 1, 0, 3, 1}};
    cr_assert_float_eq(vol_score_binpack(pack, &small, &half, &foo), 100 * 3.5 / 13, 1e-9);
    struct amounts wide = {{2, 1, 0, 0, 1}}, nothing = {{0, 0, 0, 0, 1}};
    cr_assert_float_eq(vol_score_binpack(pack, &small, &half, &wide), 0, 1e-12, "it overflows");
    cr_assert_float_eq(vol_score_binpack(pack, &small, &half, &nothing), 0, 1e-12);
}

/* With 0 to 7 GPUs in use, in thousandths. */
static const struct {
    enum vol_profile profile;
    enum vol_balanced how;
    double score[8];
} totals[] = {
    {VOL_COMPILED, VOL_BALANCED_OLD, {190, 181, 172, 163, 153, 144, 135, 126}},
    {VOL_HELM, VOL_BALANCED_OLD, {196.25, 193.5, 190.75, 188, 184.25, 181.5, 178.75, 176}},
    {VOL_HELM, VOL_BALANCED_1_36, {172.25, 172.5, 172.75, 173, 172.25, 172.5, 172.75, 173}},
    {VOL_HELM_GPUBINPACK,
     VOL_BALANCED_OLD,
     {201.458, 203.917, 206.375, 208.833, 210.292, 212.75, 215.208, 217.667}},
};

Test(vol_score, the_default_spreads_and_gpus_in_binpack_pack)
{
    for (size_t i = 0; i < sizeof totals / sizeof *totals; i++)
        for (int used = 0; used < 8; used++) {
            struct vol_config config;
            struct vol_nodes nodes;
            struct arena arena = {0};
            struct vol_ask ask = {.amounts = pod, .labels = VOL_ANY_LABEL};
            vol_profile(totals[i].profile, 0, &config);
            struct vol_liking how = {.weights = config.weights};
            how.weights.how = totals[i].how;
            how.weights.binpack = totals[i].profile == VOL_COMPILED ? 0 : 1;
            cr_assert(vol_nodes_init(&nodes, 1, NULL, &arena));
            vol_nodes_size(&nodes, 0, &size, 0);
            vol_nodes_take(&nodes, 0, &pod, used);
            cr_expect_float_eq(vol_liked(&nodes, &how, &ask, 0), totals[i].score[used], 5e-4,
                               "row %zu, %d used", i, used);
            arena_free(&arena);
        }
}
