/* What a layout's communication costs: by hand, in the limits, and as laws. */
#include "core/elastico/parallel.h"

#include "core/base/rng.h"
#include "tests/leak.h"

#include <criterion/criterion.h>
#include <math.h>

TestSuite(parallel, .fini = abort_on_leak, .timeout = 60);

/* 64 samples a step; 14 GB of gradients, 1 GB between layers, 112 GB of state. */
static const struct parallel network = {64, 8, 14e9, 1e9, 112e9, 1, 0};
static const struct links fast = {INFINITY, INFINITY};

static double step_s(struct degrees d, double bs, bool recompute, struct links l, int32_t on_node)
{
    struct footprint f = footprint_packed(d, on_node);
    return parallel_step_s(&network, d, bs, 0.5 * bs, recompute, &l, &f);
}

Test(parallel, one_card_takes_its_micro_batches_one_after_the_other)
{
    cr_assert_float_eq(step_s((struct degrees){1, 1, 1}, 2, true, (struct links){1, 1}, 8), 32,
                       1e-12, "32 micro-batches of 1 s, and nothing to send");
}

Test(parallel, without_communication_all_scales_but_for_the_bubble)
{
    static const struct degrees rows[] = {{2, 1, 1}, {16, 1, 1}, {1, 8, 1}, {4, 4, 1},
                                          {1, 1, 2}, {1, 1, 8},  {2, 2, 4}, {8, 8, 8}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct degrees d = rows[i];
        double m = 64.0 / d.dp, n = d.dp * d.tp * d.pp;
        double bubble = (d.pp - 1) / (m + d.pp - 1); /* Narayanan et al. 2021, over the whole */
        cr_assert_float_eq(step_s(d, 1, false, fast, 8), 32 / n / (1 - bubble), 1e-12, "row %zu",
                           i);
    }
}

Test(parallel, gradients_go_by_rings_over_the_slowest_link)
{
    /* A card's link has 100 GB/s, its part of the NIC 2.5; a node of 8 has 20. */
    const struct links l = {100e9, 2.5e9};
    static const struct {
        struct degrees d;
        int32_t on_node;
        double reduce_s;
    } rows[] = {
        {{8, 1, 1}, 8, 2 * 7.0 / 8 * 14 / 100},     /* within a node */
        {{16, 1, 1}, 8, 2 * 15.0 / 16 * 14 / 20},   /* one ring through both nodes has all of it */
        {{4, 1, 1}, 1, 2 * 3.0 / 4 * 14 / 2.5},     /* one card on each of four */
        {{2, 8, 1}, 8, 2 * 1.0 / 2 * 14 / 8 / 2.5}, /* eight rings share the NIC */
        {{4, 2, 2}, 8, 2 * 3.0 / 4 * 14 / 4 / 100}, /* each stage has a node: no ring leaves it */
        /* Nodes of 4: a stage of 8 lies on two, its two rings share 10. */
        {{4, 2, 1}, 4, 2 * 3.0 / 4 * 14 / 2 / 5},
        /* Nodes of 6, stages of 4: 4 + half a stage, half + 4: one ring each, of 15 GB/s. */
        {{4, 1, 3}, 6, 2 * 3.0 / 4 * 14 / 3 / 15},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct degrees d = rows[i].d;
        struct footprint f = footprint_packed(d, rows[i].on_node);
        double with = parallel_step_s(&network, d, 1, 0.5, false, &l, &f);
        struct parallel silent = network;
        silent.grad_bytes = 0;
        double without = parallel_step_s(&silent, d, 1, 0.5, false, &l, &f);
        cr_assert_float_eq(with - without, rows[i].reduce_s, 1e-9, "row %zu: %g", i,
                           with - without);
        silent = network;
        silent.dp_exposed = 0.25;
        double hidden = parallel_step_s(&silent, d, 1, 0.5, false, &l, &f);
        cr_assert_float_eq(hidden - without, rows[i].reduce_s / 4, 1e-9);
    }
}

Test(parallel, activations_cross_tensor_groups_and_stages)
{
    const struct links l = {10e9, 1e9};
    static const struct {
        struct degrees d;
        bool recompute;
        int32_t on_node;
        double slot_s;
    } rows[] = {
        /* 4 all-reduces in each of 8 layers, 2 (tp - 1) / tp of 1 GB at 10 GB/s; 1 where they go
         * over the NIC. */
        {{1, 2, 1}, false, 8, 0.25 + 4 * 8 * 1 * 0.1},
        {{1, 4, 1}, true, 8, 0.125 + 6 * 8 * 1.5 * 0.1},
        {{1, 4, 1}, false, 2, 0.125 + 4 * 8 * 1.5 * 1},
        /* A stage receives 1 GB and sends 1 GB, of gradients as of activations. */
        {{1, 1, 4}, false, 8, 0.125 + 2 * 0.1},
        {{1, 1, 4}, false, 2, 0.125 + 2 * 1},
        {{1, 2, 2}, false, 8, 0.125 + 4 * 4 * 1 * 0.1 + 2 * 0.05},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        cr_assert_float_eq(step_s(rows[i].d, 1, rows[i].recompute, l, rows[i].on_node),
                           (64 + rows[i].d.pp - 1) * rows[i].slot_s, 1e-9, "row %zu", i);
}

Test(parallel, tensor_slices_divide_memory_and_stages_only_state)
{
    const double state = 112e9 / 1048576, card = state + 20000;
    cr_assert_float_eq(parallel_mem_mib(&network, card, 1, 1), card, 1e-9);
    cr_assert_float_eq(parallel_mem_mib(&network, card, 2, 1), card / 2, 1e-9);
    cr_assert_float_eq(parallel_mem_mib(&network, card, 1, 4), state / 4 + 20000, 1e-9);
    cr_assert_float_eq(parallel_mem_mib(&network, card, 2, 4), state / 8 + 10000, 1e-9);
    cr_assert_float_eq(parallel_mem_mib(&network, 1000, 2, 2), 250, 1e-9, "no more than there is");
}

Test(parallel, replicas_divide_the_batch_into_whole_micro_batches)
{
    static const struct {
        double bs;
        int32_t size, n, dp;
    } rows[] = {{1, 1, 8, 8}, {1, 1, 7, 4},   {1, 4, 16, 4},  {1, 4, 15, 2},
                {1, 4, 3, 0}, {32, 1, 64, 2}, {64, 1, 64, 1}, {1, 1, 1000, 64}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        cr_assert_eq(parallel_replicas(&network, rows[i].bs, rows[i].size, rows[i].n), rows[i].dp,
                     "row %zu", i);
}

/* Node of each rank, and by it what leaves a node. */
static void count_leaving(struct degrees d, const int32_t *node, const int32_t *cards, int32_t n,
                          bool *tp_leaves, double *rings_per_card)
{
    *tp_leaves = false;
    *rings_per_card = 0;
    for (int32_t k = 0; cards[k] > 0; k++) {
        int32_t rings = 0;
        for (int32_t stage = 0; stage < d.pp; stage++)
            for (int32_t slice = 0; slice < d.tp; slice++) {
                bool in = false, out = false;
                for (int32_t replica = 0; replica < d.dp; replica++) {
                    int32_t at = node[(stage * d.dp + replica) * d.tp + slice];
                    in = in || at == k;
                    out = out || at != k;
                }
                rings += in && out;
            }
        *rings_per_card = fmax(*rings_per_card, (double)rings / cards[k]);
    }
    for (int32_t rank = 0; rank < n; rank++)
        *tp_leaves = *tp_leaves || node[rank] != node[rank / d.tp * d.tp];
}

Test(parallel, what_leaves_a_node_is_what_a_walk_over_all_ranks_counts)
{
    gsl_rng *rng = gsl_rng_alloc(gsl_rng_mt19937);
    for (int trial = 0; trial < 20000; trial++) {
        struct degrees d = {1 + (int32_t)gsl_rng_uniform_int(rng, 5),
                            1 + (int32_t)gsl_rng_uniform_int(rng, 4),
                            1 + (int32_t)gsl_rng_uniform_int(rng, 4)};
        int32_t n = d.dp * d.tp * d.pp, node[80], cards[81] = {0}, n_nodes = 0;
        struct footprint f = {0};
        for (int32_t at = 0; at < n; n_nodes++) {
            int32_t here = 1 + (int32_t)gsl_rng_uniform_int(rng, 9);
            here = here < n - at ? here : n - at;
            cards[n_nodes] = here;
            footprint_add(&f, d, here);
            for (int32_t i = 0; i < here; i++)
                node[at++] = n_nodes;
        }
        bool leaves;
        double rings;
        count_leaving(d, node, cards, n, &leaves, &rings);
        cr_assert_eq(f.tp_leaves, leaves, "%d x %d x %d", d.dp, d.tp, d.pp);
        cr_assert_float_eq(f.rings_per_card, rings, 1e-12, "%d x %d x %d", d.dp, d.tp, d.pp);
        cr_assert_eq(f.n_nodes, n_nodes);
        cr_assert_eq(f.n_cards, n);
    }
    gsl_rng_free(rng);
}

/* A node cut in two, a slower link, more bytes: never a faster step. */
Test(parallel, worse_is_never_faster)
{
    gsl_rng *rng = gsl_rng_alloc(gsl_rng_mt19937);
    for (int trial = 0; trial < 5000; trial++) {
        struct degrees d = {1 << gsl_rng_uniform_int(rng, 4), 1 << gsl_rng_uniform_int(rng, 4),
                            1 << gsl_rng_uniform_int(rng, 3)};
        struct links l = {1e9 * (1 + gsl_rng_uniform(rng)), 1e9 * gsl_rng_uniform_pos(rng)};
        struct footprint whole = {0}, cut = {0};
        for (int32_t n = d.dp * d.tp * d.pp; whole.n_cards < n;) {
            int32_t here = 1 + (int32_t)gsl_rng_uniform_int(rng, 16);
            here = here < n - whole.n_cards ? here : n - whole.n_cards;
            footprint_add(&whole, d, here);
            int32_t part = here > 1 ? 1 + (int32_t)gsl_rng_uniform_int(rng, here - 1) : here;
            footprint_add(&cut, d, part);
            if (part < here)
                footprint_add(&cut, d, here - part);
        }
        double base = parallel_step_s(&network, d, 1, 0.5, false, &l, &whole);
        cr_assert_geq(parallel_step_s(&network, d, 1, 0.5, false, &l, &cut), base * (1 - 1e-12));
        cr_assert_geq(parallel_step_s(&network, d, 1, 0.5, true, &l, &whole), base);
        cr_assert_geq(parallel_step_s(&network, d, 1, 0.6, false, &l, &whole), base);
        struct links slower = {l.card * 0.9, l.nic * 0.9};
        cr_assert_geq(parallel_step_s(&network, d, 1, 0.5, false, &slower, &whole), base);
        struct parallel more = network;
        more.grad_bytes *= 1.1;
        more.act_bytes *= 1.1;
        cr_assert_geq(parallel_step_s(&more, d, 1, 0.5, false, &l, &whole), base);
    }
    gsl_rng_free(rng);
}

/* Transformers of Korthikanti et al. 2022 (arXiv:2205.05198), sequences of 2048, A100s of 80 GB in
 * nodes of eight; without interleaved stages, which are not modelled. */
static const struct published {
    double hidden, layers;
    int32_t pp; /* tp = 8 */
    double bs, batch, state_gib, act_gib, step_s;
} published[] = {
    {6144, 48, 1, 4, 4, 45.5625, 9.5625, 1.42},
    {25600, 128, 64, 1, 512, 32.958984375, 26.5625, 94.42},
};

/* Fig. 1: 18 bytes for each of 12 l h^2 parameters; activations of 34 s b h bytes a layer, cut by
 * sequence parallelism. */
Test(parallel, memory_is_that_of_published_transformers)
{
    for (size_t i = 0; i < sizeof published / sizeof *published; i++) {
        const struct published *x = &published[i];
        double h = x->hidden, l = x->layers;
        double state = 18 * 12 * l * h * h, act = 34 * 2048 * x->bs * h * l;
        struct parallel p = {.state_bytes = state};
        cr_assert_float_eq(parallel_mem_mib(&p, (state + act) / 1048576, 8, x->pp),
                           1024 * (x->state_gib + x->act_gib), 1e-6, "row %zu", i);
    }
}

/* Table 5, everything recomputed. The part of its peak that a card reaches is fitted to the first,
 * on one node; the larger network's larger matrices reach more, so that its step comes out long. */
Test(parallel, steps_are_near_those_of_published_transformers)
{
    const struct links l = {0.6 * 300e9, 0.9 * 25e9};
    double flops = 0;
    for (size_t i = 0; i < sizeof published / sizeof *published; i++) {
        const struct published *x = &published[i];
        double h = x->hidden, n = x->layers, s = 2048, v = 51200;
        double flop = 96 * x->bs * s * n * h * h * (1 + s / (6 * h) + v / (16 * n * h));
        struct parallel p = {x->batch, n, 0, 2 * s * h, 0, 1, 0};
        struct degrees d = {1, 8, x->pp};
        struct footprint f = footprint_packed(d, 8);
        double talk_s = parallel_step_s(&p, d, x->bs, 0, true, &l, &f);
        if (i == 0)
            flops = flop / (8 * (x->step_s - talk_s));
        double step = parallel_step_s(&p, d, x->bs, flop / flops, true, &l, &f);
        cr_assert_float_eq(step / x->step_s, 1.14, 0.15, "%.3g TFLOP/s a card: %g s for %g",
                           flops / 1e12, step, x->step_s);
    }
}
