/* What was seen of pairs: the mean, of those pairs alone. */
#include "core/elastico/seen.h"
#include "tests/leak.h"

#include <criterion/criterion.h>

TestSuite(seen, .fini = abort_on_leak, .timeout = 60);

Test(seen, the_mean_of_what_was_seen_stands_for_the_belief)
{
    struct seen s = {0};
    bool news;
    const struct iac_pair pair = {3, 7}, back = {7, 3};
    cr_assert_float_eq(seen_or(&s, pair, 1.25), 1.25, 0);
    cr_assert(seen_add(&s, pair, 1.5, &news) && news);
    cr_assert_float_eq(seen_or(&s, pair, 1.25), 1.5, 0);
    cr_assert(seen_add(&s, pair, 1.5, &news) && !news, "the same again");
    cr_assert(seen_add(&s, pair, 1.8, &news) && news);
    cr_assert_float_eq(seen_or(&s, pair, 1.25), 1.6, 1e-12, "(1.5 + 1.5 + 1.8) / 3");
    cr_assert_float_eq(seen_or(&s, back, 1.25), 1.25, 0, "of the other direction nothing was seen");
    cr_assert(seen_add(&s, back, 0.9, &news) && news);
    cr_assert_float_eq(seen_or(&s, back, 1.25), 1, 0, "nobody is faster beside another");
    seen_free(&s);
}

Test(seen, thousands_of_pairs_are_kept_apart)
{
    struct seen s = {0};
    bool news;
    for (int32_t i = 0; i < 50; i++)
        for (int32_t k = 0; k < 50; k++)
            cr_assert(seen_add(&s, (struct iac_pair){i, k}, 1 + i + k / 64., &news) && news);
    cr_assert_eq(s.n, 2500);
    for (int32_t i = 0; i < 50; i++)
        for (int32_t k = 0; k < 50; k++)
            cr_assert_float_eq(seen_or(&s, (struct iac_pair){i, k}, 0), 1 + i + k / 64., 1e-12);
    seen_free(&s);
}
