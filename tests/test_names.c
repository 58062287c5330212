#include "core/base/names.h"

#include "tests/leak.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

TestSuite(names, .fini = abort_on_leak);

Test(names, the_same_bytes_get_the_same_id_in_order_of_first_sight)
{
    struct names s = {0};
    cr_assert_eq(names_add(&s, "alice", 5), 0);
    cr_assert_eq(names_add(&s, "bob", 3), 1);
    cr_assert_eq(names_add(&s, "alice", 5), 0);
    cr_assert_eq(names_add(&s, "bobby", 3), 1, "the length counts");
    cr_assert_eq(s.n, 2);
    cr_assert_str_eq(names_text(&s, 0), "alice");
    cr_assert_str_eq(names_text(&s, 1), "bob");
    cr_assert_eq(names_length(&s, 0), 5);
    cr_assert_eq(names_length(&s, 1), 3);
    names_free(&s);
}

Test(names, a_name_is_found_or_not)
{
    struct names s = {0};
    cr_assert_eq(names_find(&s, "alice", 5), -1, "an empty set holds nothing");
    names_add(&s, "alice", 5);
    cr_assert_eq(names_find(&s, "alice", 5), 0);
    cr_assert_eq(names_find(&s, "alic", 4), -1);
    cr_assert_eq(names_find(&s, "alice\0", 6), -1);
    cr_assert_eq(names_find(&s, "", 0), -1);
    names_free(&s);
}

Test(names, bytes_are_opaque)
{
    struct names s = {0};
    static const struct {
        const char *bytes;
        size_t length;
    } rows[] = {{"", 0},     {"\0", 1},       {"\0\0", 2}, {"a\0b", 3},
                {"a\0c", 3}, {"\xff\xfe", 2}, {"a", 1}};
    for (int32_t i = 0; i < 7; i++)
        cr_assert_eq(names_add(&s, rows[i].bytes, rows[i].length), i);
    for (int32_t i = 0; i < 7; i++) {
        cr_assert_eq(names_find(&s, rows[i].bytes, rows[i].length), i);
        cr_assert_eq(names_length(&s, i), rows[i].length);
        cr_assert_eq(memcmp(names_text(&s, i), rows[i].bytes, rows[i].length + 1), 0);
    }
    names_free(&s);
}

Test(names, a_hundred_thousand_names_keep_their_ids)
{
    enum { N = 100000 };
    struct names s = {0};
    char text[32];
    for (int32_t i = 0; i < N; i++) {
        int n = snprintf(text, sizeof text, "job-%d", i * 7);
        cr_assert_eq(names_add(&s, text, (size_t)n), i);
    }
    for (int32_t i = 0; i < N; i++) {
        int n = snprintf(text, sizeof text, "job-%d", i * 7);
        cr_assert_eq(names_find(&s, text, (size_t)n), i);
        cr_assert_str_eq(names_text(&s, i), text);
        n = snprintf(text, sizeof text, "job-%d", i * 7 + 1);
        cr_assert_eq(names_find(&s, text, (size_t)n), -1);
    }
    names_free(&s);
}

Test(names, a_very_long_name_is_a_name)
{
    enum { LENGTH = 70000 };
    struct names s = {0};
    char *text = malloc(LENGTH);
    cr_assert_not_null(text);
    memset(text, 'x', LENGTH);
    cr_assert_eq(names_add(&s, text, LENGTH), 0);
    cr_assert_eq(names_add(&s, text, LENGTH - 1), 1);
    cr_assert_eq(names_find(&s, text, LENGTH), 0);
    cr_assert_eq(names_length(&s, 0), LENGTH);
    free(text);
    names_free(&s);
}

Test(names, freeing_twice_is_safe_and_leaves_an_empty_set)
{
    struct names s = {0};
    names_free(&s);
    names_add(&s, "a", 1);
    names_free(&s);
    names_free(&s);
    cr_assert_eq(s.n, 0);
    cr_assert_eq(names_add(&s, "b", 1), 0);
    names_free(&s);
}

/* Avalanche: a hash whose bits hardly move cannot seed independent streams. Over 64 one-bit flips
 * the mean number of changed bits of a good hash is 32 +- 0.5. */
Test(names, a_hash_depends_on_every_bit_of_bytes_and_seed)
{
    uint64_t base = 0x0123456789abcdefu, changed = 0, changed_by_seed = 0;
    uint64_t h = bytes_hash(&base, sizeof base, 1);
    for (int bit = 0; bit < 64; bit++) {
        uint64_t flipped = base ^ (UINT64_C(1) << bit);
        changed += (uint64_t)__builtin_popcountll(h ^ bytes_hash(&flipped, sizeof flipped, 1));
        changed_by_seed += (uint64_t)__builtin_popcountll(
            h ^ bytes_hash(&base, sizeof base, 1 ^ (UINT64_C(1) << bit)));
    }
    cr_assert(changed > 64 * 20 && changed < 64 * 44, "%lu", (unsigned long)changed);
    cr_assert(changed_by_seed > 64 * 12, "%lu", (unsigned long)changed_by_seed);
    cr_assert_eq(bytes_hash("ab", 2, 5), bytes_hash("ab", 2, 5));
    cr_assert_neq(bytes_hash("ab", 2, 5), bytes_hash("a", 1, 5));
}
