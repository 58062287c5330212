#include "calib/samples.h"

#include "tests/leak.h"

#include <criterion/criterion.h>
#include <string.h>

TestSuite(samples, .fini = abort_on_leak);

static const struct iac_side train = {.sm = .5, .card_mib = 1, .kind = KIND_TRAIN};
static const struct iac_side infer = {.sm = .25, .card_mib = 1, .kind = KIND_INFER};

static void add(struct samples *s, const struct iac_side *a, const struct iac_side *b,
                double slowdown, int32_t experiment, const char *name_a, const char *name_b)
{
    struct error err;
    int32_t wl_a = names_add(&s->workloads, name_a, strlen(name_a));
    int32_t wl_b = names_add(&s->workloads, name_b, strlen(name_b));
    cr_assert_eq(
        samples_add(s, a, b, (struct pair_row){slowdown, 0, experiment, {wl_a, wl_b}, 0}, &err),
        ST_OK);
}

Test(samples, rows_keep_their_sides_and_labels_below_1_count_as_1)
{
    struct samples s = {0};
    add(&s, &train, &train, 1.5, 0, "a", "b");
    add(&s, &train, &infer, .8, 1, "a", "c");
    add(&s, &infer, &train, 2, 1, "c", "a");
    add(&s, &infer, &infer, 3, 2, "c", "c");
    cr_assert_eq(s.n, 4);
    cr_assert_eq(s.n_experiments, 3);
    cr_assert_float_eq(s.row[1].slowdown, 1, 0);
    cr_assert_float_eq(s.row[2].slowdown, 2, 0);
    cr_assert_eq(samples_kind(&s, 0), PAIR_TT);
    cr_assert_eq(samples_kind(&s, 1), PAIR_TI);
    cr_assert_eq(samples_kind(&s, 2), PAIR_TI);
    cr_assert_eq(samples_kind(&s, 3), PAIR_II);
    struct iac_pair pair = samples_pair(1);
    cr_assert_eq(s.side[pair.of].kind, KIND_TRAIN);
    cr_assert_eq(s.side[pair.beside].kind, KIND_INFER);
    samples_free(&s);
}

Test(samples, the_hash_sees_every_label_and_side)
{
    struct samples s = {0};
    add(&s, &train, &infer, 1.5, 0, "a", "b");
    uint64_t hash = samples_hash(&s);
    cr_assert_eq(samples_hash(&s), hash);
    s.row[0].slowdown = 1.5000001;
    cr_assert_neq(samples_hash(&s), hash);
    s.row[0].slowdown = 1.5;
    s.side[1].dram = .5;
    cr_assert_neq(samples_hash(&s), hash);
    samples_free(&s);
}
