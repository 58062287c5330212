#include "core/elastico/iac.h"

#include "tests/leak.h"
#include "tests/nets.h"
#include "tests/shared.h"
#include "traces/table_file.h"

#include <string.h>

TestSuite(iac, .init = dense_one_thread, .fini = abort_on_leak);

/* The columns of design/calib.md's data sets, which follow section 3.3.1: five counters, three
 * numbers of every task, three of training, three of inference, for both; then the pair's eight. */
static const char *const names[IAC_FEATURES_MAX] = {
    "sm_i",           "occ_i",        "dram_i",         "fb_mib_i",
    "tensor_i",       "is_train_i",   "log10_params_i", "T_i",
    "bs_i",           "ck_i",         "amp_i",          "isl_i",
    "osl_i",          "rho_i",        "sm_j",           "occ_j",
    "dram_j",         "fb_mib_j",     "tensor_j",       "is_train_j",
    "log10_params_j", "T_j",          "bs_j",           "ck_j",
    "amp_j",          "isl_j",        "osl_j",          "rho_j",
    "mean_sm",        "mean_occ",     "mean_dram",      "mean_tensor",
    "kind_pair",      "mem_pressure", "sm_balance",     "mem_intensity_diff",
    "kernel_s_i",     "step_s_i",     "kernel_s_j",     "step_s_j"};

Test(iac, there_are_36_features_in_the_papers_order_and_four_more)
{
    char name[32];
    cr_assert_eq(IAC_FEATURES, 36);
    for (int32_t f = 0; f < IAC_FEATURES_MAX; f++)
        cr_assert_str_eq(iac_feature_name(f, name), names[f]);
}

static const struct iac_side train = {.sm = .8,
                                      .occ = .4,
                                      .dram = .2,
                                      .tensor = .1,
                                      .fb_mib = 10240,
                                      .card_mib = 40960,
                                      .kind = KIND_TRAIN,
                                      .log10_params = 7,
                                      .rate = 1000,
                                      .bs = 64,
                                      .ck = 1,
                                      .amp = 0,
                                      .isl = 77, /* of no meaning in training */
                                      .osl = 77,
                                      .rho = 77,
                                      .kernel_s = 2e-5,
                                      .step_s = .06};
static const struct iac_side infer = {.sm = .4,
                                      .occ = .1,
                                      .dram = .6,
                                      .tensor = .3,
                                      .fb_mib = 20480,
                                      .card_mib = 40960,
                                      .kind = KIND_INFER,
                                      .log10_params = 9,
                                      .rate = 90,
                                      .bs = 55, /* of no meaning in inference */
                                      .ck = 55,
                                      .amp = 55,
                                      .isl = 768,
                                      .osl = 256,
                                      .rho = .25};

Test(iac, features_are_those_of_a_pair_worked_out_by_hand)
{
    static const double want[IAC_FEATURES_MAX] = {
        .8,   .4,  .2, 10240, .1, 1,   7,  1000, 64, 1, 0, 0,   0,   0,   /* i */
        .4,   .1,  .6, 20480, .3, 0,   9,  90,   0,  0, 0, 768, 256, .25, /* j */
        .6,   .25, .4, .2,    1,  .75, .5, 1.25,                          /* .6/.4 - .2/.8 = 1.25 */
        2e-5, .06, 0,  0};
    double x[IAC_FEATURES_MAX];
    iac_features(&train, &infer, true, x);
    for (int32_t f = 0; f < IAC_FEATURES_MAX; f++)
        cr_assert_float_eq(x[f], want[f], 1e-12, "%s: %g, want %g", names[f], x[f], want[f]);
    x[IAC_FEATURES] = -1;
    iac_features(&train, &infer, false, x);
    cr_assert_float_eq(x[IAC_FEATURES], -1, 0, "no extras");
}

Test(iac, kinds_of_pairs_count_inference_and_idle_sides_divide_by_nothing)
{
    double x[IAC_FEATURES_MAX];
    struct iac_side idle = {.card_mib = 1, .kind = KIND_TRAIN};
    iac_features(&train, &train, false, x);
    cr_assert_float_eq(x[32], 0, 0);
    cr_assert_float_eq(x[34], 1, 0);
    cr_assert_float_eq(x[35], 0, 0);
    iac_features(&infer, &infer, false, x);
    cr_assert_float_eq(x[32], 2, 0);
    iac_features(&idle, &idle, false, x);
    cr_assert_float_eq(x[34], 1, 0, "nothing beside nothing is balanced");
    cr_assert_float_eq(x[35], 0, 0);
    iac_features(&train, &idle, false, x);
    cr_assert_float_eq(x[34], 0, 0);
    cr_assert_float_eq(x[35], .25, 1e-12);
}

Test(iac, swapping_the_sides_swaps_their_blocks_and_leaves_the_pair)
{
    gsl_rng *rng = gsl_rng_alloc(gsl_rng_mt19937);
    for (int n = 0; n < 200; n++) {
        struct iac_side a = random_side(rng), b = random_side(rng);
        double ab[IAC_FEATURES_MAX], ba[IAC_FEATURES_MAX];
        iac_features(&a, &b, true, ab);
        iac_features(&b, &a, true, ba);
        for (int f = 0; f < IAC_SIDE; f++) {
            cr_assert_float_eq(ab[f], ba[IAC_SIDE + f], 0);
            cr_assert_float_eq(ba[f], ab[IAC_SIDE + f], 0);
            cr_assert_eq(iac_map_of(f), iac_map_of(IAC_SIDE + f), "one map serves both");
        }
        for (int f = 2 * IAC_SIDE; f < IAC_FEATURES; f++)
            cr_assert_float_eq(ab[f], ba[f], 1e-15);
        for (int f = 0; f < IAC_EXTRAS; f++)
            cr_assert_float_eq(ab[IAC_FEATURES + f], ba[IAC_FEATURES + IAC_EXTRAS + f], 0);
    }
    gsl_rng_free(rng);
}

/* A value that maps to y. */
static double invert(const struct iac_map *map, double y)
{
    double at = map->mean + y * map->sd, place = at * (map->n_knots - 1);
    switch (map->kind) {
    case IAC_MAP_PLAIN: return at;
    case IAC_MAP_LOG1P: return expm1(at);
    case IAC_MAP_LOG: return exp(at);
    case IAC_MAP_RANK:
        return map->knot[(int)place] +
               (place - (int)place) * (map->knot[(int)place + 1] - map->knot[(int)place]);
    case N_IAC_MAP_KINDS: break;
    }
    return NAN;
}

Test(iac, maps_round_trip)
{
    double knot[] = {1, 2, 4, 8, 1000};
    const struct iac_map map[] = {{IAC_MAP_PLAIN, 3, 2, 0, NULL},
                                  {IAC_MAP_LOG1P, 3, 2, 0, NULL},
                                  {IAC_MAP_LOG, 3, 2, 0, NULL},
                                  {IAC_MAP_RANK, .5, .25, 5, knot}};
    static const double x[] = {1, 1.5, 2, 3, 7.9, 8, 500, 999};
    for (size_t m = 0; m < sizeof map / sizeof *map; m++)
        for (size_t i = 0; i < sizeof x / sizeof *x; i++)
            cr_assert_float_eq(invert(&map[m], iac_map_apply(&map[m], x[i])), x[i], 1e-9 * x[i],
                               "%s of %g", iac_map_name[map[m].kind], x[i]);
}

Test(iac, maps_give_what_can_be_worked_out_by_hand)
{
    double knot[] = {1, 2, 4, 8, 1000}, one[] = {5};
    const struct {
        struct iac_map map;
        double x, want;
    } row[] = {
        {{IAC_MAP_PLAIN, 3, 2, 0, NULL}, 7, 2},
        {{IAC_MAP_LOG1P, 0, 1, 0, NULL}, M_E - 1, 1},
        {{IAC_MAP_LOG, 1, 2, 0, NULL}, exp(5), 2},
        {{IAC_MAP_LOG, 1, 2, 0, NULL}, 0, 0}, /* not known: the mean */
        {{IAC_MAP_RANK, 0, 1, 5, knot}, 4, .5},
        {{IAC_MAP_RANK, 0, 1, 5, knot}, 6, .625},
        {{IAC_MAP_RANK, 0, 1, 5, knot}, -3, 0},
        {{IAC_MAP_RANK, 0, 1, 5, knot}, 1, 0},
        {{IAC_MAP_RANK, 0, 1, 5, knot}, 2000, 1},
        {{IAC_MAP_RANK, 0, 1, 1, one}, 7, 0},
        {{IAC_MAP_PLAIN, 3, 0, 0, NULL}, 7, 0}, /* constant when it was learned */
    };
    for (size_t i = 0; i < sizeof row / sizeof *row; i++)
        cr_assert_float_eq(iac_map_apply(&row[i].map, row[i].x), row[i].want, 1e-12, "row %zu", i);
}

/* The mean of the networks' answers, each worked out without BLAS, folding or batches. */
static double plain_prediction(const struct iac_model *m, const struct iac_side *a,
                               const struct iac_side *b, double *spread)
{
    double x[IAC_FEATURES_MAX], y[IAC_NETS_MAX], sum = 0, square = 0;
    iac_features(a, b, m->extras, x);
    for (int32_t f = 0; f < iac_n_features(m); f++)
        x[f] = iac_map_apply(&m->map[iac_map_of(f)], x[f]);
    for (int32_t k = 0; k < m->n_nets; k++) {
        y[k] = plain_answer(&m->net[k], x);
        sum += y[k] / m->n_nets;
    }
    for (int32_t k = 0; k < m->n_nets; k++)
        square += pow(y[k] - sum, 2);
    *spread = m->n_nets > 1 ? sqrt(square / (m->n_nets - 1)) : 0;
    return sum;
}

Test(iac, predictions_equal_a_straightforward_reference_to_1e_6)
{
    enum { SIDES = 30, N = SIDES * SIDES };
    struct error err;
    gsl_rng *rng = gsl_rng_alloc(gsl_rng_mt19937);
    for (int n = 0; n < 6; n++) {
        struct iac_model m = random_model(rng, n % 2 == 1, 1 + n);
        struct iac_reader reader;
        struct iac_side side[SIDES];
        struct iac_pair pair[N];
        double s[N], spread[N], want_spread;
        for (int i = 0; i < SIDES; i++)
            side[i] = random_side(rng);
        for (int i = 0; i < N; i++)
            pair[i] = (struct iac_pair){i / SIDES, i % SIDES};
        cr_assert_eq(iac_reader_init(&reader, &m, &err), ST_OK);
        iac_predict(&reader, side, N, pair, s, spread);
        for (int i = 0; i < N; i++) {
            double want =
                plain_prediction(&m, &side[pair[i].of], &side[pair[i].beside], &want_spread);
            cr_assert_float_eq(s[i], want, 1e-6);
            cr_assert_float_eq(spread[i], want_spread, 1e-6);
            cr_assert(s[i] >= 1);
            cr_assert_float_eq(s[i] * 1e6, nearbyint(s[i] * 1e6), 1e-3, "a multiple of 1e-6");
        }
        iac_reader_free(&reader);
        iac_model_free(&m);
    }
    gsl_rng_free(rng);
}

/* Makes a network read i's numbers where it read j's. */
static void swap_blocks(struct dense_net *net, bool extras)
{
    struct dense_layer first = dense_layer(net, 0);
    for (int32_t k = 0; k < first.n_out; k++) {
        double *w = first.weight + k * first.n_in;
        for (int32_t f = 0; f < IAC_SIDE + (extras ? IAC_EXTRAS : 0); f++) {
            const int32_t i = f < IAC_SIDE ? f : IAC_FEATURES + f - IAC_SIDE;
            const int32_t j = f < IAC_SIDE ? IAC_SIDE + f : i + IAC_EXTRAS;
            double keep = w[i];
            w[i] = w[j];
            w[j] = keep;
        }
    }
}

Test(iac, with_the_blocks_of_its_weights_swapped_a_network_answers_for_the_other_role)
{
    enum { SIDES = 12, N = SIDES * SIDES };
    struct error err;
    gsl_rng *rng = gsl_rng_alloc(gsl_rng_mt19937);
    for (int extras = 0; extras < 2; extras++) {
        struct iac_model m = random_model(rng, extras, 1);
        struct iac_side side[SIDES];
        struct iac_pair pair[N], turned[N];
        double as_asked[N], swapped[N];
        int n_above = 0;
        for (int i = 0; i < SIDES; i++)
            side[i] = random_side(rng);
        for (int i = 0; i < N; i++) {
            pair[i] = (struct iac_pair){i / SIDES, i % SIDES};
            turned[i] = (struct iac_pair){i % SIDES, i / SIDES};
        }
        struct iac_reader reader;
        cr_assert_eq(iac_reader_init(&reader, &m, &err), ST_OK);
        iac_predict(&reader, side, N, pair, as_asked, NULL);
        swap_blocks(&m.net[0], extras);
        cr_assert_eq(iac_fold(&m, &err), ST_OK);
        iac_predict(&reader, side, N, turned, swapped, NULL);
        for (int i = 0; i < N; i++) {
            cr_assert_float_eq(as_asked[i], swapped[i], 1.5e-6, "both rounded to 1e-6");
            n_above += as_asked[i] > 1;
        }
        cr_assert_gt(n_above, N / 10);
        iac_reader_free(&reader);
        iac_model_free(&m);
    }
    gsl_rng_free(rng);
}

Test(iac, a_linear_model_is_an_exponential_and_never_below_1)
{
    struct error err;
    struct iac_model m = {.form = IAC_LINEAR, .bias = .5};
    struct iac_reader reader;
    const struct iac_side side[] = {train, infer};
    const struct iac_pair pair[] = {{0, 1}, {1, 0}};
    double s[2];
    for (int32_t i = 0; i < IAC_MAPS; i++)
        m.map[i] = (struct iac_map){IAC_MAP_PLAIN, 0, 1, 0, NULL};
    m.weight[0] = 1;   /* sm_i */
    m.weight[14] = -3; /* sm_j */
    cr_assert_eq(iac_reader_init(&reader, &m, &err), ST_OK);
    iac_predict(&reader, side, 2, pair, s, NULL);
    cr_assert_float_eq(s[0], exp(.5 + .8 - 1.2), 1e-6);
    cr_assert_float_eq(s[1], 1, 0, "exp(.5 + .4 - 2.4) < 1");
    iac_reader_free(&reader);
}

Test(iac, tolerance_follows_11_in_both_readings)
{
    static const struct iac_tau ours = {IAC_TAU_FLOOR, 1.8, .5, .3, 1};
    static const struct iac_tau paper = {IAC_TAU_PAPER, 1.8, .5, .3, 1};
    static const struct {
        const struct iac_tau *tau;
        double rate_over_least, u, want;
    } row[] = {
        {&ours, INFINITY, 1, 1.8},  {&ours, INFINITY, 1.4, 2},
        {&ours, INFINITY, 9, 2.1},                             /* beta_max */
        {&ours, INFINITY, .6, 1.6}, {&ours, INFINITY, 0, 1.5}, /* -beta_max */
        {&ours, 1.25, 9, 1.25},                                /* T / L */
        {&ours, .9, 1, 1},                                     /* never below 1 */
        {&paper, INFINITY, 1, 1.8}, {&paper, INFINITY, 9, 2.1},
        {&paper, 1.25, 9, 1.55}, /* exceeds T / L, as written */
        {&paper, 1.25, 0, .75},  /* below 1 when idle, as written */
    };
    for (size_t i = 0; i < sizeof row / sizeof *row; i++)
        cr_assert_float_eq(iac_tau(row[i].tau, row[i].rate_over_least, row[i].u), row[i].want,
                           1e-12, "row %zu", i);
}
