#include "policies/pai_sample.h"

#include "tests/leak.h"

#include <criterion/criterion.h>
#include <stdlib.h>

TestSuite(pai_sample, .fini = abort_on_leak);

static int32_t *numbers(int32_t n)
{
    int32_t *items = malloc((size_t)n * sizeof *items);

    cr_assert_not_null(items);
    for (int32_t i = 0; i < n; i++)
        items[i] = i;
    return items;
}

/* random.seed(s); random.getrandbits(32), thrice. Seeds above 2^32 are two words of key. */
Test(pai_sample, words_are_those_of_cpython_for_seeds_of_one_and_two_words)
{
    static const struct {
        uint64_t seed;
        uint32_t word[3];
    } rows[] = {
        {0, {3626764237, 1654615998, 3255389356}},
        {42, {2746317213, 478163327, 107420369}},
        {(UINT64_C(5) << 32) + 7, {334492092, 130243341, 731690660}},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct pai_rng rng;
        pai_rng_seed(&rng, rows[i].seed);
        for (int k = 0; k < 3; k++)
            cr_expect_eq(pai_rng_next(&rng), rows[i].word[k], "seed %llu, word %d",
                         (unsigned long long)rows[i].seed, k);
    }
}

Test(pai_sample, shuffle_of_ten_with_seed_42_is_the_official_one)
{
    static const int32_t want[10] = {7, 3, 2, 8, 5, 6, 9, 4, 0, 1};
    struct pai_rng rng;
    int32_t *items = numbers(10);

    pai_rng_seed(&rng, 42);
    pai_rng_shuffle(&rng, items, 10);
    cr_expect_arr_eq(items, want, sizeof want);
    free(items);
}

Test(pai_sample, shuffle_of_100000_and_the_two_draws_after_it_are_the_official_ones)
{
    static const int32_t want[8] = {3813, 99183, 80737, 65674, 53670, 97104, 38743, 36888};
    struct pai_rng rng;
    int32_t *items = numbers(100000);

    pai_rng_seed(&rng, 42);
    pai_rng_shuffle(&rng, items, 100000);
    cr_expect_arr_eq(items, want, sizeof want);
    cr_expect_eq(1000 + pai_rng_below(&rng, 9000), 2419);
    cr_expect_eq(1000 + pai_rng_below(&rng, 9000), 4113);
    free(items);
}

Test(pai_sample, shuffle_of_nothing_and_of_one_draws_nothing)
{
    struct pai_rng rng, fresh;
    int32_t item = 9;

    pai_rng_seed(&rng, 3);
    pai_rng_seed(&fresh, 3);
    pai_rng_shuffle(&rng, &item, 0);
    pai_rng_shuffle(&rng, &item, 1);
    cr_expect_eq(item, 9);
    cr_expect_eq(pai_rng_next(&rng), pai_rng_next(&fresh));
}

Test(pai_sample, draws_below_n_reach_every_number_and_no_other)
{
    struct pai_rng rng;
    int32_t seen[7] = {0};

    pai_rng_seed(&rng, 1);
    for (int i = 0; i < 7000; i++) {
        uint32_t draw = pai_rng_below(&rng, 7);
        cr_assert(draw < 7);
        seen[draw]++;
    }
    for (int k = 0; k < 7; k++)
        cr_expect(seen[k] > 850 && seen[k] < 1150, "%d came %d times of 7000", k, seen[k]);
    cr_expect_eq(pai_rng_below(&rng, 1), 0);
}
