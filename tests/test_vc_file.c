/* Tables of virtual clusters as clusters. */
#include "sim/run/cluster_file.h"
#include "tests/leak.h"
#include "tests/temp.h"

#include <criterion/criterion.h>
#include <string.h>

TestSuite(vc_file, .fini = abort_on_leak);

static enum status parse(const char *table, const char *extra, struct cluster_desc *d,
                         struct error *err)
{
    struct temp_file file = temp_text(".csv", table);
    char text[512];
    snprintf(text, sizeof text, "vc:%s%s", file.path, extra);
    enum status status = cluster_parse(text, d, err);
    temp_remove(&file);
    return status;
}

Test(vc_file, a_row_is_a_pool_of_nodes_of_eight)
{
    struct cluster_desc d;
    struct cluster c;
    cr_assert_eq(parse(",num\nvcA,2\nvcB,1\n", "", &d, NULL), ST_OK);
    cr_assert_eq(cluster_init(&c, d.nodes, d.n_nodes, d.share, NULL), ST_OK);
    cr_assert(c.n_nodes == 3 && c.n_cards == 24 && c.pools.n == 2);
    cr_assert_str_eq(names_text(&c.pools, c.node_pool[1]), "vcA");
    cr_assert_str_eq(names_text(&c.pools, c.node_pool[2]), "vcB");
    cr_assert_eq(c.card_gpu_mem_mib[0], INT32_MAX, "not known");
    cluster_free(&c);
    cluster_desc_free(&d);
}

Test(vc_file, pools_can_be_added)
{
    struct cluster_desc d;
    cr_assert_eq(parse("name,num\nvcA,2\n", "+spare:1+b:3", &d, NULL), ST_OK);
    cr_assert_eq(d.n_nodes, 3);
    cr_assert(strcmp(d.nodes[1].pool, "spare") == 0 && d.nodes[1].count == 1);
    cr_assert(strcmp(d.nodes[2].pool, "b") == 0 && d.nodes[2].count == 3);
    cluster_desc_free(&d);
}

static const struct {
    const char *table, *extra, *said;
    enum status status;
} refused[] = {
    {",num\nvcA,two\n", "", "row 1", ST_USAGE},
    {",num\nvcA,1\nvcB,0\n", "", "row 2", ST_USAGE},
    {",num\nvcA,1.5\n", "", "row 1", ST_USAGE},
    {",num\n,1\n", "", "row 1", ST_USAGE},
    {",nodes\nvcA,1\n", "", "column num", ST_USAGE},
    {",num\n", "", "rows of a pool", ST_USAGE},
    {",num\nvcA,1\n", "+spare:", "No such file", ST_INPUT},
    {",num\nvcA,1\n", "+:1", "No such file", ST_INPUT},
    {",num\nvcA,1\n", "+spare:1x", "No such file", ST_INPUT},
};

Test(vc_file, what_is_no_such_table_is_refused)
{
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        struct cluster_desc d;
        struct error err = {{0}};
        cr_expect_eq(parse(refused[i].table, refused[i].extra, &d, &err), refused[i].status, "%s%s",
                     refused[i].table, refused[i].extra);
        cr_expect_not_null(strstr(err.text, refused[i].said), "'%s', not '%s'", err.text,
                           refused[i].said);
        cluster_desc_free(&d);
    }
}
