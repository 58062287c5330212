#include "sim/results/feed.h"

#include "tests/ask.h"
#include "tests/leak.h"

TestSuite(feed, .fini = abort_on_leak);

struct pair {
    int number;
    const char *text;
};

static void pair_cell(const void *rows, int64_t row, int column, sqlite3_context *out)
{
    const struct pair *p = (const struct pair *)rows + row;
    if (column == 0)
        sqlite3_result_int(out, p->number);
    else if (p->text != NULL)
        sqlite3_result_text(out, p->text, -1, SQLITE_STATIC);
}

static sqlite3 *memory(void)
{
    sqlite3 *db = NULL;
    cr_assert_eq(sqlite3_open(":memory:", &db), SQLITE_OK);
    cr_assert_eq(sqlite3_exec(db, "CREATE TABLE t(run, \"group\" UNIQUE, b)", NULL, NULL, NULL),
                 SQLITE_OK);
    return db;
}

Test(feed, rows_arrive_in_order_behind_their_key)
{
    static const struct pair pair[] = {{3, "x"}, {1, NULL}, {2, "z"}};
    const struct feed feed = {3, "\"group\",\"b\"", pair_cell, pair, NULL};
    char answer[4096];
    sqlite3 *db = memory();
    cr_assert_eq(feed_into(db, "t", "run", 42, &feed), SQLITE_OK);
    cr_assert_str_eq(ask(db, "SELECT * FROM t", answer), "42|3|x\n42|1|null\n42|2|z");
    sqlite3_close(db);
}

Test(feed, no_rows_are_no_failure_and_two_feeds_follow_each_other)
{
    static const struct pair pair[] = {{1, "x"}};
    const struct feed none = {0, "\"b\"", pair_cell, NULL, NULL};
    const struct feed one = {1, "\"group\",\"b\"", pair_cell, pair, NULL};
    char answer[4096];
    sqlite3 *db = memory();
    cr_assert_eq(feed_into(db, "t", "run", 1, &none), SQLITE_OK);
    cr_assert_eq(feed_into(db, "t", "run", 2, &one), SQLITE_OK);
    cr_assert_str_eq(ask(db, "SELECT * FROM t", answer), "2|1|x");
    sqlite3_close(db);
}

Test(feed, a_broken_constraint_is_told_and_no_row_stays)
{
    static const struct pair pair[] = {{1, "x"}, {2, "y"}, {1, "z"}};
    const struct feed feed = {3, "\"group\",\"b\"", pair_cell, pair, NULL};
    char answer[4096];
    sqlite3 *db = memory();
    cr_assert_eq(feed_into(db, "t", "run", 1, &feed), SQLITE_CONSTRAINT);
    cr_assert_str_eq(sqlite3_errmsg(db), "UNIQUE constraint failed: t.group");
    cr_assert_str_eq(ask(db, "SELECT count(*) FROM t", answer), "0");
    sqlite3_close(db);
}
