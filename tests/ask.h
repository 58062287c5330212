/* ask.h - what a database answers, and what a function prints, as text to compare with. */
#ifndef COLOSIM_TESTS_ASK_H
#define COLOSIM_TESTS_ASK_H

#include <criterion/criterion.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Rows on lines, columns between '|', NULL as "null". */
static inline const char *ask(sqlite3 *db, const char *sql, char answer[4096])
{
    sqlite3_stmt *statement = NULL;
    size_t n = 0;
    cr_assert_eq(sqlite3_prepare_v2(db, sql, -1, &statement, NULL), SQLITE_OK, "%s: %s", sql,
                 sqlite3_errmsg(db));
    answer[0] = '\0';
    while (sqlite3_step(statement) == SQLITE_ROW)
        for (int i = 0; i < sqlite3_column_count(statement); i++) {
            const char *text = (const char *)sqlite3_column_text(statement, i);
            n += (size_t)snprintf(answer + n, 4096 - n, "%s%s",
                                  i > 0   ? "|"
                                  : n > 0 ? "\n"
                                          : "",
                                  text != NULL ? text : "null");
        }
    cr_assert_eq(sqlite3_finalize(statement), SQLITE_OK, "%s", sqlite3_errmsg(db));
    return answer;
}

/* The same of a file, through a connection of its own. */
static inline const char *ask_file(const char *path, const char *sql, char answer[4096])
{
    sqlite3 *db = NULL;
    cr_assert_eq(sqlite3_open_v2(path, &db, SQLITE_OPEN_READONLY, NULL), SQLITE_OK);
    ask(db, sql, answer);
    sqlite3_close(db);
    return answer;
}

/* A stream into memory: printing_end gives the text, which stays until the next printing_end. */
struct printing {
    FILE *file;
    char *text;
    size_t n;
};

static inline FILE *printing_start(struct printing *p)
{
    *p = (struct printing){0};
    p->file = open_memstream(&p->text, &p->n);
    cr_assert_not_null(p->file);
    return p->file;
}

static inline const char *printing_end(struct printing *p)
{
    cr_assert_eq(fclose(p->file), 0);
    return p->text;
}

#endif
