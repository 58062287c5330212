/* The SQL aggregate quantile: values by hand, linear between order statistics. */
#include "sim/results/quantile.h"

#include "tests/leak.h"

#include <criterion/criterion.h>

TestSuite(quantile, .fini = abort_on_leak);

static const struct {
    const char *sql;
    double value;
} rows[] = {
    {"SELECT quantile(column1, 0.5) FROM (VALUES (4), (1), (2), (3))", 2.5},
    {"SELECT quantile(column1, 0) FROM (VALUES (4), (1), (NULL))", 1},
    {"SELECT quantile(column1, 1) FROM (VALUES (4), (1), (NULL))", 4},
    {"SELECT quantile(column1, 0.95) FROM (VALUES (0), (10))", 9.5},
    {"SELECT quantile(column1, 0.3) FROM (VALUES (7))", 7},
};

Test(quantile, interpolates_and_passes_over_nulls)
{
    sqlite3 *db;
    cr_assert_eq(sqlite3_open(":memory:", &db), SQLITE_OK);
    cr_assert_eq(quantile_register(db), SQLITE_OK);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        sqlite3_stmt *row;
        cr_assert_eq(sqlite3_prepare_v2(db, rows[i].sql, -1, &row, NULL), SQLITE_OK, "%s",
                     rows[i].sql);
        cr_assert_eq(sqlite3_step(row), SQLITE_ROW);
        cr_expect_float_eq(sqlite3_column_double(row, 0), rows[i].value, 1e-12, "%s", rows[i].sql);
        sqlite3_finalize(row);
    }
    sqlite3_close(db);
}

Test(quantile, is_null_where_nothing_is_left)
{
    static const char *const empty[] = {
        "SELECT quantile(NULL, 0.5)",
        "SELECT quantile(column1, 0.5) FROM (VALUES (1)) WHERE column1 > 1"};
    sqlite3 *db;
    cr_assert_eq(sqlite3_open(":memory:", &db), SQLITE_OK);
    cr_assert_eq(quantile_register(db), SQLITE_OK);
    for (size_t i = 0; i < 2; i++) {
        sqlite3_stmt *row;
        cr_assert_eq(sqlite3_prepare_v2(db, empty[i], -1, &row, NULL), SQLITE_OK);
        cr_assert_eq(sqlite3_step(row), SQLITE_ROW);
        cr_expect_eq(sqlite3_column_type(row, 0), SQLITE_NULL, "%s", empty[i]);
        sqlite3_finalize(row);
    }
    sqlite3_close(db);
}
