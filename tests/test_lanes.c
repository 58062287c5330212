/* Bars that meet on a card: lanes and parts by hand. */
#include "sim/results/lanes.h"

#include "tests/leak.h"

#include <criterion/criterion.h>
#include <stdio.h>

TestSuite(lanes, .fini = abort_on_leak);

/* Bars in the order of their starts: card, cards, from, to; then what is expected. */
static const struct row {
    int card, n, from, to, lane, parts;
} alone[] = {{0, 1, -5, 10, 0, 1}, {0, 1, 10, 20, 0, 1}, {1, 1, 0, 30, 0, 1}},
  pair[] = {{0, 1, 0, 10, 0, 2}, {0, 1, 5, 15, 1, 2}, {0, 1, 12, 20, 0, 2}, {0, 1, 20, 30, 0, 1}},
  gang[] = {{0, 1, 0, 10, 0, 2}, {0, 3, 1, 5, 1, 2}, {2, 1, 2, 3, 0, 2}, {1, 1, 6, 7, 0, 1}},
  three[] = {{0, 1, 0, 9, 0, 3}, {0, 1, 1, 9, 1, 3}, {0, 1, 2, 9, 2, 3}};

static int number(sqlite3 *db, const char *name, int i)
{
    char sql[64];
    sqlite3_stmt *row = NULL;
    snprintf(sql, sizeof sql, "SELECT %s(%d)", name, i);
    cr_assert_eq(sqlite3_prepare_v2(db, sql, -1, &row, NULL), SQLITE_OK);
    cr_assert_eq(sqlite3_step(row), SQLITE_ROW);
    int value = sqlite3_column_int(row, 0);
    sqlite3_finalize(row);
    return value;
}

static void expect(const struct row *rows, int n, const char *what)
{
    sqlite3 *db;
    char sql[96];
    cr_assert_eq(sqlite3_open(":memory:", &db), SQLITE_OK);
    cr_assert_eq(lanes_register(db), SQLITE_OK);
    for (int i = 0; i < n; i++) {
        snprintf(sql, sizeof sql, "SELECT place(%d, %d, %d, %d)", rows[i].card, rows[i].n,
                 rows[i].from, rows[i].to);
        cr_assert_eq(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
    }
    for (int i = 0; i < n; i++) {
        cr_expect_eq(number(db, "lane", i), rows[i].lane, "%s: lane of bar %d", what, i);
        cr_expect_eq(number(db, "parts", i), rows[i].parts, "%s: parts of bar %d", what, i);
    }
    sqlite3_close(db);
}

Test(lanes, bars_one_after_the_other_have_their_card_to_themselves) { expect(alone, 3, "alone"); }

Test(lanes, two_that_meet_halve_it_while_they_are_there) { expect(pair, 4, "pair"); }

Test(lanes, a_gang_takes_a_lane_that_is_free_on_all_its_cards) { expect(gang, 4, "gang"); }

Test(lanes, three_part_it_in_three) { expect(three, 3, "three"); }
