#include "core/elastico/belief.h"

#include "tests/leak.h"
#include "tests/nets.h"

#include <string.h>

TestSuite(belief, .init = dense_one_thread, .fini = abort_on_leak);

/* Answers 1 + of + beside / 1000 and counts. */
static void count(void *context, const struct iac_side *side, int32_t n,
                  const struct iac_pair *pair, double *s, double *spread)
{
    int *n_asked = context;
    (void)side;
    cr_assert(n >= 1 && n <= IAC_BATCH);
    *n_asked += n;
    for (int32_t i = 0; i < n; i++) {
        s[i] = 1 + pair[i].of + pair[i].beside / 1000.0;
        spread[i] = .5;
    }
}

Test(belief, a_pair_is_asked_once_however_often_it_is_wanted)
{
    struct error err;
    struct belief b;
    int n_asked = 0;
    struct iac_pair pair[700];
    double s[700];
    cr_assert_eq(belief_init(&b, count, &n_asked, &(struct belief_options){0}, &err), ST_OK);
    for (int i = 0; i < 700; i++) /* 350 pairs, each twice, the second in another order */
        pair[i] = (struct iac_pair){(i * 9) % 350 / 10, i % 10};
    for (int round = 0; round < 3; round++) {
        memset(s, 0, sizeof s);
        belief_ask(&b, NULL, 700, pair, s);
        for (int i = 0; i < 700; i++) {
            cr_assert_float_eq(s[i], 1 + pair[i].of + pair[i].beside / 1000.0, 1e-9);
        }
    }
    int distinct = 0;
    for (int i = 0; i < 700; i++) {
        int first = 0;
        while (pair[first].of != pair[i].of || pair[first].beside != pair[i].beside)
            first++;
        distinct += first == i;
    }
    cr_assert_eq(n_asked, distinct);
    cr_assert_eq(b.n_misses, distinct);
    cr_assert_eq(b.n_emptied, 0);
    belief_forget(&b);
    belief_ask(&b, NULL, 1, pair, s);
    cr_assert_eq(n_asked, distinct + 1);
    belief_free(&b);
}

Test(belief, a_full_cache_is_emptied_and_answers_stay_right)
{
    struct error err;
    struct belief b;
    int n_asked = 0;
    static struct iac_pair pair[5000];
    static double s[5000];
    cr_assert_eq(belief_init(&b, count, &n_asked, &(struct belief_options){.n_slots = 1}, &err),
                 ST_OK);
    for (int i = 0; i < 5000; i++)
        pair[i] = (struct iac_pair){i, 4999 - i};
    belief_ask(&b, NULL, 5000, pair, s);
    for (int i = 0; i < 5000; i++)
        cr_assert_float_eq(s[i], 1 + i + (4999 - i) / 1000.0, 1e-9);
    cr_assert_eq(n_asked, 5000);
    cr_assert_eq(b.n_emptied, 6, "768 of 1,024 slots at a time: %lld", (long long)b.n_emptied);
    belief_free(&b);
}

Test(belief, of_a_model_hits_equal_misses_and_both_equal_the_model)
{
    enum { SIDES = 40, N = 3000 };
    struct error err;
    gsl_rng *rng = gsl_rng_alloc(gsl_rng_mt19937);
    struct iac_model m = random_model(rng, false, 3);
    struct iac_reader reader;
    struct belief b;
    const struct belief_options options = {.n_slots = 4000, .caution = 1.5};
    struct iac_side side[SIDES];
    static struct iac_pair pair[N];
    static double direct[N], first[N], second[N], spread[N];
    for (int i = 0; i < SIDES; i++)
        side[i] = random_side(rng);
    for (int i = 0; i < N; i++)
        pair[i] = (struct iac_pair){(int32_t)gsl_rng_uniform_int(rng, SIDES),
                                    (int32_t)gsl_rng_uniform_int(rng, SIDES)};
    cr_assert_eq(iac_reader_init(&reader, &m, &err), ST_OK);
    cr_assert_eq(belief_init(&b, belief_of_model, &reader, &options, &err), ST_OK);
    iac_predict(&reader, side, N, pair, direct, spread);
    belief_ask(&b, side, N, pair, first);
    int64_t n_misses = b.n_misses;
    belief_ask(&b, side, N, pair, second);
    cr_assert(n_misses > 0 && n_misses <= SIDES * SIDES);
    cr_assert_eq(b.n_misses, n_misses, "nothing is asked twice");
    for (int i = 0; i < N; i++) {
        cr_assert_float_eq(first[i], iac_round(direct[i] + 1.5 * spread[i]), 1.001e-6);
        cr_assert_float_eq(second[i], first[i], 0);
    }
    belief_free(&b);
    iac_reader_free(&reader);
    iac_model_free(&m);
    gsl_rng_free(rng);
}

Test(belief, of_a_table_knows_what_was_measured_and_nothing_else)
{
    struct error err;
    struct pairs pairs = {0};
    static const int32_t workload[] = {0, 1, -1, 1};
    static const struct iac_pair pair[] = {{0, 1}, {1, 0}, {0, 0}, {2, 0}, {3, 0}, {1, 1}};
    static const double want[] = {1.25, 2, INFINITY, INFINITY, 2, 1};
    struct belief_table table = {&pairs, workload};
    struct belief b;
    double s[6];
    cr_assert_eq(pairs_add(&pairs, "x", 1, "y", 1, .8, .5, &err), ST_OK);
    cr_assert_eq(pairs_add(&pairs, "y", 1, "y", 1, 1.3, 1.3, &err), ST_OK);
    cr_assert_eq(
        belief_init(&b, belief_of_table, &table, &(struct belief_options){.error_frac = 0}, &err),
        ST_OK);
    belief_ask(&b, NULL, 6, pair, s);
    for (int i = 0; i < 6; i++)
        cr_assert(s[i] == want[i] || fabs(s[i] - want[i]) < 1e-9, "pair %d: %g", i, s[i]);
    belief_free(&b);
    pairs_free(&pairs);
}

Test(belief, a_seeded_error_has_the_stated_mean_at_every_slowdown_and_never_goes_below_1)
{
    static const double size[] = {.01, .076, .5}, slow[] = {1, 1.02, 1.2, 2, 6};
    enum { N = 200000 };
    for (size_t e = 0; e < sizeof size / sizeof *size; e++)
        for (size_t i = 0; i < sizeof slow / sizeof *slow; i++) {
            struct belief_options o = {.error_frac = size[e], .seed = 7};
            double sum = 0;
            int n_over = 0;
            for (int n = 0; n < N; n++) {
                double s = belief_err(&o, (struct iac_pair){n % 500, n / 500}, slow[i]);
                cr_assert(s >= 1);
                sum += fabs(s / slow[i] - 1);
                n_over += s > slow[i];
            }
            /* The standard error of the mean is below 1.6 size / sqrt(N) = .0036 size. */
            cr_assert_float_eq(sum / N, size[e], .015 * size[e], "size %g, S %g: %g", size[e],
                               slow[i], sum / N);
            cr_assert_float_eq(n_over / (double)N, .5, .005);
        }
}

Test(belief, a_seeded_error_belongs_to_its_pair_and_not_to_the_look)
{
    struct belief_options one = {.error_frac = .3, .seed = 1}, two = {.error_frac = .3, .seed = 2};
    double ab = belief_err(&one, (struct iac_pair){3, 4}, 2);
    cr_assert_float_eq(belief_err(&one, (struct iac_pair){3, 4}, 2), ab, 0);
    cr_assert(fabs(belief_err(&one, (struct iac_pair){4, 3}, 2) - ab) > 1e-6);
    cr_assert(fabs(belief_err(&two, (struct iac_pair){3, 4}, 2) - ab) > 1e-6);
    cr_assert_float_eq(belief_err(&(struct belief_options){0}, (struct iac_pair){3, 4}, 2), 2, 0);
    cr_assert(isinf(belief_err(&one, (struct iac_pair){3, 4}, INFINITY)));
}
