#include "core/base/arena.h"

#include "tests/leak.h"

#include <criterion/criterion.h>
#include <stdalign.h>
#include <stdint.h>
#include <string.h>

TestSuite(arena, .fini = abort_on_leak);

static bool all_zero(const unsigned char *p, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (p[i] != 0)
            return false;
    return true;
}

Test(arena, memory_is_zeroed_and_aligned_also_after_a_reset)
{
    struct arena a = {0};
    struct arena_mark mark = arena_mark(&a);
    for (int round = 0; round < 3; round++) {
        for (size_t size = 1; size < 3000; size += 7) {
            unsigned char *p = arena_alloc(&a, 1, size);
            cr_assert_not_null(p);
            cr_assert_eq((uintptr_t)p % alignof(max_align_t), 0);
            cr_assert(all_zero(p, size));
            memset(p, 0xff, size);
        }
        if (round == 0)
            mark = arena_mark(&a);
        arena_reset(&a, mark);
    }
    arena_free(&a);
}

Test(arena, pieces_do_not_overlap_and_stay_where_they_are)
{
    enum { N = 2000 };
    struct arena a = {0};
    unsigned char *piece[N];
    for (int i = 0; i < N; i++) {
        piece[i] = arena_alloc(&a, 1, (size_t)(i % 257) + 1);
        memset(piece[i], i % 251, (size_t)(i % 257) + 1);
    }
    for (int i = 0; i < N; i++)
        for (int j = 0; j <= i % 257; j++)
            cr_assert_eq(piece[i][j], i % 251);
    arena_free(&a);
}

Test(arena, a_reset_gives_back_what_came_after_the_mark_and_nothing_before)
{
    struct arena a = {0};
    char *kept = arena_text(&a, "kept", 4);
    struct arena_mark mark = arena_mark(&a);
    void *first = arena_alloc(&a, 100, 1);
    cr_assert_not_null(arena_alloc(&a, 1000000, 1), "a block of its own");
    arena_reset(&a, mark);
    cr_assert_eq(arena_alloc(&a, 100, 1), first, "the room is used again");
    cr_assert_str_eq(kept, "kept");
    arena_free(&a);
}

Test(arena, the_largest_block_that_a_reset_gives_back_serves_again_and_is_zero)
{
    enum { LARGE = 1000000 };
    struct arena a = {0};
    struct arena_mark mark = arena_mark(&a);
    cr_assert_not_null(arena_alloc(&a, 100, 1));
    unsigned char *large = arena_alloc(&a, LARGE, 1);
    memset(large, 0xff, LARGE);
    for (int round = 0; round < 3; round++) {
        arena_reset(&a, mark);
        unsigned char *first = arena_alloc(&a, 100, 1), *second = arena_alloc(&a, LARGE - 1000, 1);
        cr_assert_eq(first, large);
        cr_assert(second > first && second < first + LARGE, "in the same block");
        cr_assert(all_zero(first, 100) && all_zero(second, LARGE - 1000));
        memset(second, 0xff, LARGE - 1000);
    }
    arena_free(&a);
}

Test(arena, a_text_is_copied_with_a_nul_behind_it)
{
    struct arena a = {0};
    char source[] = "abcdef";
    char *copy = arena_text(&a, source, 3);
    source[0] = 'X';
    cr_assert_str_eq(copy, "abc");
    cr_assert_str_eq(arena_text(&a, NULL, 0), "");
    cr_assert_eq(memcmp(arena_text(&a, "a\0b", 3), "a\0b", 4), 0);
    arena_free(&a);
}

Test(arena, a_size_of_zero_gives_a_pointer_and_an_impossible_one_gives_null)
{
    struct arena a = {0};
    cr_assert_not_null(arena_alloc(&a, 0, 8));
    cr_assert_not_null(arena_alloc(&a, 8, 0));
    cr_assert_null(arena_alloc(&a, SIZE_MAX / 4, 8));
    cr_assert_null(arena_alloc(&a, SIZE_MAX, SIZE_MAX));
    cr_assert_not_null(arena_alloc(&a, 1, 1), "and is of use afterwards");
    arena_free(&a);
    arena_free(&a);
}

Test(arena, an_array_grows_by_doubling_and_new_room_is_zero)
{
    int32_t *array = NULL;
    size_t capacity = 0;
    int n_moves = 0;
    for (int32_t i = 0; i < 100000; i++) {
        size_t before = capacity;
        cr_assert(ARRAY_GROW(array, capacity, i + 1));
        n_moves += capacity != before;
        cr_assert_eq(array[i], 0);
        array[i] = i;
    }
    for (int32_t i = 0; i < 100000; i++)
        cr_assert_eq(array[i], i);
    cr_assert_leq(n_moves, 14, "100,000 is less than 16 x 2^13");
    cr_assert(all_zero((unsigned char *)(array + 100000), (capacity - 100000) * sizeof *array));
    free(array);
}

Test(arena, an_array_that_cannot_grow_is_as_it_was)
{
    int64_t *array = NULL;
    size_t capacity = 0;
    cr_assert(ARRAY_GROW(array, capacity, 16));
    int64_t *before = array;
    array[15] = 42;
    cr_assert_not(ARRAY_GROW(array, capacity, SIZE_MAX));
    cr_assert_not(ARRAY_GROW(array, capacity, SIZE_MAX / 8));
    cr_assert_eq(array, before);
    cr_assert_eq(capacity, 16);
    cr_assert_eq(array[15], 42);
    free(array);
}
