#include "policies/pai_place.h"

#include "tests/leak.h"

#include <criterion/criterion.h>
#include <stdio.h>

TestSuite(pai_place, .fini = abort_on_leak);

enum { MAX_NODES = 8, MAX_INST = 16 };

/* A node with what is idle on it; in thousandths, of GPUs and of cores. */
struct node_row {
    int32_t n_gpus, n_cores, gpu_idle, cpu_idle;
    const char *type;
};

static void make(struct cluster *c, const struct node_row *rows, int32_t n)
{
    struct node_spec spec[MAX_NODES];
    struct error err;

    for (int32_t i = 0; i < n; i++)
        spec[i] = (struct node_spec){.count = 1,
                                     .n_gpus = rows[i].n_gpus,
                                     .gpu_type = rows[i].type != NULL ? rows[i].type : "",
                                     .cpu_milli = rows[i].n_cores * 1000,
                                     .mem_mib = -1};
    cr_assert_eq(cluster_init(c, spec, n, SHARE_NODE_SUM, &err), ST_OK, "%s", err.text);
    c->gpu_idle_milli = c->cpu_idle_milli = 0;
    for (int32_t i = 0; i < n; i++) {
        c->gpu_free_milli[i] = rows[i].gpu_idle;
        c->cpu_free_milli[i] = rows[i].cpu_idle;
        c->gpu_idle_milli += rows[i].gpu_idle;
        c->cpu_idle_milli += rows[i].cpu_idle;
    }
}

Test(pai_place, util_rate_is_the_mean_in_per_cent_with_halves_to_the_even_number)
{
    static const struct {
        struct node_row node;
        int32_t want;
    } rows[] = {
        {{8, 96, 8000, 96000, NULL}, 0},    /* idle */
        {{8, 96, 0, 0, NULL}, 100},         /* full */
        {{4, 100, 3000, 100000, NULL}, 12}, /* (25 + 0) / 2 = 12.5 */
        {{4, 100, 1000, 100000, NULL}, 38}, /* (75 + 0) / 2 = 37.5 */
        {{4, 100, 3000, 50000, NULL}, 38},  /* (25 + 50) / 2 = 37.5 */
        {{4, 100, 2000, 52000, NULL}, 49},  /* (50 + 48) / 2 */
        {{0, 8, 0, 7000, NULL}, 12},        /* no GPU: 12.5 */
        {{0, 8, 0, 5000, NULL}, 38},        /* 37.5 */
        {{0, 8, 0, 0, NULL}, 100},
        /* (99.375 + 15.625) / 2 is 57.5, but its doubles come to 57.49999999999999, in CPython too
         */
        {{8, 96, 50, 81000, NULL}, 57},
        {{8, 0, 4000, 0, NULL}, 25}, /* no CPU at all: none of it is used */
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct cluster c;
        make(&c, &rows[i].node, 1);
        cr_expect_eq(pai_util_rate(&c, 0), rows[i].want, "row %zu: %d", i, pai_util_rate(&c, 0));
        cluster_free(&c);
    }
}

Test(pai_place, cores_without_a_limit_count_as_unused)
{
    struct node_spec spec = {
        .count = 1, .n_gpus = 4, .gpu_type = "", .cpu_milli = -1, .mem_mib = -1};
    struct cluster c;
    struct error err;

    cr_assert_eq(cluster_init(&c, &spec, 1, SHARE_NODE_SUM, &err), ST_OK);
    c.gpu_free_milli[0] = 1000;
    cr_expect_eq(pai_util_rate(&c, 0), 38);
    cluster_free(&c);
}

/* Types are ids in order of first sight. */
static const struct node_row mixed[6] = {
    {8, 96, 2000, 50000, "MISC"}, /* util (75 + 47.9) / 2 = 61 */
    {8, 96, 1000, 96000, "T4"},   /* (87.5 + 0) / 2 = 44 */
    {8, 96, 6000, 10000, "MISC"}, /* (25 + 89.6) / 2 = 57 */
    {8, 96, 1000, 96000, "V100"}, /* 44 */
    {8, 96, 6000, 10000, "V100"}, /* 57 */
    {0, 96, 0, 90000, "CPU"},     /* 6.25 = 6 */
};
enum { MISC, T4, V100, CPU };

struct place_row {
    const char *what;
    struct pai_ask ask;
    int32_t want[4][MAX_INST]; /* by order of nodes; the first -1 where it does not fit */
};

static void check_place(const struct cluster *c, const struct place_row *row,
                        enum pai_node_order order)
{
    uint64_t ranks[MAX_NODES];
    int32_t node[MAX_INST];
    const int32_t *want = row->want[order];
    bool fits = pai_place(c, order, &row->ask, ranks, node);

    cr_expect_eq(fits, want[0] >= 0, "%s, order %d: %d", row->what, (int)order, fits);
    for (int32_t i = 0; fits && i < row->ask.n_inst; i++)
        cr_expect_eq(node[i], want[i], "%s, order %d: instance %d on node %d, not %d", row->what,
                     (int)order, i, node[i], want[i]);
}

enum { ANY = PAI_TYPE_ANY, NOWHERE = PAI_TYPE_NOWHERE };

/* clang-format off */
static const struct place_row place_rows[] = {
    /* what, {instances, GPU, CPU, type}, {by id, fewest idle, most idle, least util} */
    {"one GPU",              {1, 1000, 6000, ANY},  {{0}, {1}, {2}, {1}}},
    {"cores exclude",        {1, 1000, 60000, ANY}, {{1}, {1}, {1}, {1}}},
    {"four GPUs",            {1, 4000, 0, ANY},     {{2}, {2}, {2}, {2}}},
    {"more than any node",   {1, 7000, 0, ANY},     {{-1}, {-1}, {-1}, {-1}}},
    {"more than all",        {1, 17000, 0, ANY},    {{-1}, {-1}, {-1}, {-1}}},
    {"no GPU",               {1, 0, 6000, ANY},     {{0}, {5}, {2}, {5}}},
    {"nothing",              {1, 0, 0, ANY},        {{0}, {5}, {2}, {5}}},
    {"its type",             {1, 1000, 6000, V100}, {{3}, {3}, {4}, {3}}},
    {"its type is full",     {1, 2000, 6000, T4},   {{-1}, {-1}, {-1}, {-1}}},
    {"no such type",         {1, 0, 0, NOWHERE},    {{-1}, {-1}, {-1}, {-1}}},
    {"gang of one per node", {2, 1000, 46000, ANY}, {{0, 1}, {1, 3}, {0, 1}, {1, 3}}},
    {"gang of many a node",  {4, 1000, 6000, ANY},
     {{0, 0, 1, 2}, {1, 3, 0, 0}, {2, 4, 0, 0}, {1, 3, 2, 4}}},
    {"gang as wide as all",  {6, 1000, 6000, ANY},
     {{0, 0, 1, 2, 3, 4}, {1, 3, 0, 0, 2, 4}, {2, 4, 0, 0, 1, 3}, {1, 3, 2, 4, 0, 0}}},
    {"gang too wide",        {7, 1000, 6000, ANY},  {{-1}, {-1}, {-1}, {-1}}},
    {"gang without GPU",     {3, 0, 40000, ANY},    {{0, 1, 1}, {5, 5, 1}, {0, 1, 1}, {5, 5, 1}}},
    {"gang of nothing",      {3, 0, 0, ANY},        {{0, 0, 0}, {5, 5, 5}, {2, 2, 2}, {5, 5, 5}}},
    {"gang of its type",     {2, 1000, 6000, V100}, {{3, 4}, {3, 4}, {4, 3}, {3, 4}}},
    {"gang, type too small", {3, 1000, 6000, V100}, {{-1}, {-1}, {-1}, {-1}}},
};
/* clang-format on */

Test(pai_place, nodes_are_taken_in_the_order_asked_for_with_ties_to_the_lower_number)
{
    struct cluster c;

    make(&c, mixed, 6);
    for (size_t i = 0; i < sizeof place_rows / sizeof *place_rows; i++)
        for (int order = PAI_NODES_BY_ID; order <= PAI_NODES_LEAST_UTIL; order++)
            check_place(&c, &place_rows[i], (enum pai_node_order)order);
    cluster_free(&c);
}
