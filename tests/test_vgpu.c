/* Which cards a task that shares gets. */
#include "policies/volcano/vgpu.h"
#include "tests/leak.h"

#include <criterion/criterion.h>

TestSuite(vgpu, .fini = abort_on_leak);

static const struct vgpu_ask quarter = {.n = 1, .mem = 4096, .cores = 25};

static struct vgpu_card card_of(int32_t used_mem, int32_t used_cores, int32_t shares)
{
    return (struct vgpu_card){.mem = 16384,
                              .max_shares = 4,
                              .used_mem = used_mem,
                              .used_cores = used_cores,
                              .shares = shares};
}

Test(vgpu, the_order_of_the_cards_is_the_policys)
{
    struct vgpu_card card[] = {card_of(4096, 25, 1), card_of(0, 0, 0), card_of(8192, 50, 2)};
    int32_t picked = -1;
    cr_assert(vgpu_pick(VGPU_BINPACK, card, 3, &quarter, NULL, &picked));
    cr_assert_eq(picked, 2, "the fullest");
    cr_assert(vgpu_pick(VGPU_SPREAD, card, 3, &quarter, NULL, &picked));
    cr_assert_eq(picked, 1, "the emptiest");
    cr_assert(vgpu_pick(VGPU_UNSET, card, 2, &quarter, NULL, &picked));
    cr_assert_eq(picked, 1, "the highest");
}

Test(vgpu, a_card_is_limited_in_shares_memory_and_cores)
{
    const struct vgpu_ask whole = {.n = 1, .mem_percent = 100, .cores = 100};
    const struct vgpu_ask coreless = {.n = 1, .mem = 1};
    struct vgpu_card full = card_of(0, 100, 1), some = card_of(1, 10, 1), many = card_of(0, 0, 4),
                     none = card_of(0, 0, 0), wide = card_of(13000, 10, 1);
    cr_assert(vgpu_fits(&some, &quarter) && vgpu_fits(&none, &whole));
    cr_assert(!vgpu_fits(&full, &quarter), "cores");
    cr_assert(!vgpu_fits(&many, &quarter), "shares");
    cr_assert(!vgpu_fits(&wide, &quarter), "memory");
    cr_assert(!vgpu_fits(&some, &whole), "all cores is a card of one's own");
    cr_assert(!vgpu_fits(&full, &coreless), "none left for one who asks for none");
    cr_assert(vgpu_fits(&some, &coreless));
}

Test(vgpu, several_cards_are_different_ones_and_what_is_barred_is_not_taken)
{
    struct vgpu_card card[] = {card_of(0, 0, 0), card_of(0, 0, 0), card_of(0, 0, 0)};
    const struct vgpu_ask two = {.n = 2, .mem = 1, .cores = 1}, four = {.n = 4, .cores = 1};
    const bool barred[] = {true, false, false};
    int32_t picked[4];
    cr_assert(vgpu_pick(VGPU_SPREAD, card, 3, &two, NULL, picked));
    cr_assert(picked[0] == 0 && picked[1] == 1);
    cr_assert(vgpu_pick(VGPU_SPREAD, card, 3, &two, barred, picked));
    cr_assert(picked[0] == 1 && picked[1] == 2);
    cr_assert(!vgpu_pick(VGPU_SPREAD, card, 3, &four, NULL, picked));
}

Test(vgpu, what_is_taken_is_given_back)
{
    const struct vgpu_ask part = {.n = 1, .mem_percent = 25, .cores = 30};
    struct vgpu_card card = card_of(0, 0, 0);
    vgpu_take(&card, &part, 1);
    cr_assert(card.used_mem == 4096 && card.used_cores == 30 && card.shares == 1);
    cr_assert_float_eq(vgpu_score(VGPU_BINPACK, &card), 25, 1e-12);
    cr_assert_float_eq(vgpu_score(VGPU_SPREAD, &card), 0, 1e-12);
    vgpu_take(&card, &part, -1);
    cr_assert(card.used_mem == 0 && card.used_cores == 0 && card.shares == 0);
    cr_assert_float_eq(vgpu_score(VGPU_SPREAD, &card), 100, 1e-12);
}
