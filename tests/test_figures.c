/* The list of figures: each answers a database of the schema, is found by its name and fits the
 * help. What they show is checked by hand in tests/cases/studies.py. */
#include "sim/results/figures.h"

#include "sim/results/lanes.h"
#include "sim/results/pair_table.h"
#include "sim/results/quantile.h"
#include "tests/leak.h"
#include "tests/stored_run.h"

TestSuite(figures, .fini = abort_on_leak);

Test(figures, each_has_a_name_of_its_own_and_a_line_that_fits_the_help)
{
    int n = 0;
    for (; figures[n] != NULL; n++) {
        cr_expect_eq(figure_find(figures[n]->name), figures[n], "%s", figures[n]->name);
        cr_expect(strlen(figures[n]->name) <= 20 && strlen(figures[n]->summary) <= 55, "%s",
                  figures[n]->name);
        cr_expect_not_null(strstr(figures[n]->draw, "plot "), "%s", figures[n]->name);
    }
    cr_expect_eq(n, 13);
    cr_expect_null(figure_find("jct"));
}

Test(figures, each_of_a_run_asks_what_the_database_has)
{
    struct stored_run r;
    stored_run(&r, NULL);
    cr_assert_eq(quantile_register(r.store.db), SQLITE_OK);
    cr_assert_eq(lanes_register(r.store.db), SQLITE_OK);
    for (int i = 0; figures[i] != NULL; i++) {
        sqlite3_stmt *row = NULL;
        if (figures[i]->of == FIGURE_PAIRS)
            continue;
        cr_assert_eq(sqlite3_prepare_v2(r.store.db, figures[i]->sql, -1, &row, NULL), SQLITE_OK,
                     "%s: %s", figures[i]->name, sqlite3_errmsg(r.store.db));
        sqlite3_bind_text(row, 1, "[1]", -1, SQLITE_STATIC);
        int code = sqlite3_step(row);
        cr_expect(code == SQLITE_ROW || code == SQLITE_DONE, "%s: %s", figures[i]->name,
                  sqlite3_errmsg(r.store.db));
        sqlite3_finalize(row);
    }
    stored_run_free(&r);
}

/* One number of a question. */
static double number(sqlite3 *db, const char *sql)
{
    sqlite3_stmt *row = NULL;
    cr_assert_eq(sqlite3_prepare_v2(db, sql, -1, &row, NULL), SQLITE_OK, "%s", sqlite3_errmsg(db));
    cr_assert_eq(sqlite3_step(row), SQLITE_ROW);
    double value = sqlite3_column_double(row, 0);
    sqlite3_finalize(row);
    return value;
}

Test(figures, the_models_pairs_are_all_pairs_of_all_variants)
{
    sqlite3 *db = NULL;
    struct error err = {""};
    cr_assert_eq(pair_table_model(&db, "table2", "a100-40g", SET_H200, &err), ST_OK, "%s",
                 err.text);
    double n = number(db, "SELECT count(*) FROM workload");
    cr_expect(n >= 12 + 8, "%g: flags make more than the twelve", n);
    cr_expect_eq(number(db, "SELECT count(DISTINCT name) FROM workload"), n);
    cr_expect_eq(number(db, "SELECT count(*) FROM pair"), n * (n + 1) / 2);
    cr_expect_eq(number(db, "SELECT count(*) FROM pair WHERE keep_a > 1 OR keep_a <= 0"), 0);
    cr_expect_eq(number(db, "SELECT count(*) FROM pair WHERE a = b AND keep_a <> keep_b"), 0,
                 "beside itself both are slowed alike");
    sqlite3_close(db);
    cr_expect_eq(pair_table_model(&db, "table2", "gpu9", SET_H200, &err), ST_USAGE);
    sqlite3_close(db);
}

Test(figures, each_of_pairs_asks_what_their_table_has)
{
    struct temp_file f = temp_text(".csv", "job_a,job_b,retain_a,retain_b\nx,y,0.5,0.7\n");
    sqlite3 *db = NULL;
    struct error err = {""};
    cr_assert_eq(pair_table_read(&db, f.path, &err), ST_OK, "%s", err.text);
    cr_assert_eq(quantile_register(db), SQLITE_OK);
    for (int i = 0; figures[i] != NULL; i++) {
        sqlite3_stmt *row = NULL;
        if (figures[i]->of != FIGURE_PAIRS)
            continue;
        cr_assert_eq(sqlite3_prepare_v2(db, figures[i]->sql, -1, &row, NULL), SQLITE_OK, "%s: %s",
                     figures[i]->name, sqlite3_errmsg(db));
        cr_expect_eq(sqlite3_step(row), SQLITE_ROW);
        sqlite3_finalize(row);
    }
    sqlite3_close(db);
    temp_remove(&f);
}
