#include "sim/results/image.h"

#include "sim/results/rows.h"
#include "sim/results/schema.h"

#include <stdint.h>
#include <string.h>

enum status image_make(const struct run_request *q, const struct run_result *r,
                       unsigned char **bytes, size_t *n, struct error *err)
{
    struct store s = {.path = (char[]){"run in memory"}};
    char name[128], created[32];
    struct run_rows rows = {q, r, store_base_name(q, r, name), rows_created(created)};
    enum status status = ST_OK;
    sqlite3_int64 size = 0;
    *bytes = NULL;
    if (sqlite3_open(":memory:", &s.db) != SQLITE_OK ||
        sqlite3_exec(s.db, schema_sql, NULL, NULL, NULL) != SQLITE_OK ||
        sqlite3_exec(s.db, "BEGIN", NULL, NULL, NULL) != SQLITE_OK ||
        rows_write(s.db, 1, &rows) != SQLITE_OK ||
        sqlite3_exec(s.db, "COMMIT", NULL, NULL, NULL) != SQLITE_OK)
        status = store_fail(&s, "cannot be made", err);
    else
        *bytes = sqlite3_serialize(s.db, "main", &size, 0);
    if (status == ST_OK && *bytes == NULL)
        status = fail_memory(err);
    *n = (size_t)size;
    sqlite3_close_v2(s.db);
    return status;
}

void image_free(unsigned char *bytes) { sqlite3_free(bytes); }

/* Into a buffer of SQLite's: the columns of a table that are stored, its key apart, and as many
 * question marks. */
static char *columns_of(sqlite3 *db, const char *table, const char *what)
{
    char *sql = sqlite3_mprintf("SELECT group_concat(%s) FROM pragma_table_info(%Q) WHERE name <> "
                                "'run' AND NOT (%Q = 'run' AND name IN ('id', 'name'))",
                                what, table, table);
    sqlite3_stmt *find = NULL;
    char *list = NULL;
    if (sql != NULL && sqlite3_prepare_v2(db, sql, -1, &find, NULL) == SQLITE_OK &&
        sqlite3_step(find) == SQLITE_ROW)
        list = sqlite3_mprintf("%s", sqlite3_column_text(find, 0));
    sqlite3_finalize(find);
    sqlite3_free(sql);
    return list;
}

static int prepare(sqlite3 *db, char *sql, sqlite3_stmt **out)
{
    int code = sql != NULL ? sqlite3_prepare_v2(db, sql, -1, out, NULL) : SQLITE_NOMEM;
    sqlite3_free(sql);
    return code;
}

/* Every row of a query becomes one of the insert, behind its first n parameters. */
static int copy_rows(sqlite3_stmt *from, sqlite3_stmt *to, int n)
{
    int code;
    while ((code = sqlite3_step(from)) == SQLITE_ROW) {
        for (int i = 0; i < sqlite3_column_count(from); i++)
            sqlite3_bind_value(to, n + 1 + i, sqlite3_column_value(from, i));
        code = sqlite3_step(to);
        if (sqlite3_reset(to) != SQLITE_OK || code != SQLITE_DONE)
            return code != SQLITE_DONE ? code : SQLITE_ERROR;
    }
    return code == SQLITE_DONE ? SQLITE_OK : code;
}

/* Under the id, and in table run the name, that they get here. */
static int copy_table(sqlite3 *db, sqlite3 *image, const char *table, int64_t run, const char *name)
{
    bool is_run = strcmp(table, "run") == 0;
    sqlite3_stmt *from = NULL, *to = NULL;
    char *list = columns_of(image, table, "'\"' || name || '\"'");
    char *marks = columns_of(image, table, "'?'");
    int code = list != NULL && marks != NULL ? SQLITE_OK : SQLITE_NOMEM;
    if (code == SQLITE_OK)
        code = prepare(image, sqlite3_mprintf("SELECT %s FROM \"%w\"", list, table), &from);
    if (code == SQLITE_OK)
        code = prepare(db,
                       sqlite3_mprintf("INSERT INTO \"%w\"(%s,%s) VALUES(?,%s%s)", table,
                                       is_run ? "id,name" : "run", list, is_run ? "?," : "", marks),
                       &to);
    if (code == SQLITE_OK)
        code = sqlite3_bind_int64(to, 1, run);
    if (code == SQLITE_OK && is_run)
        code = sqlite3_bind_text(to, 2, name, -1, SQLITE_STATIC);
    if (code == SQLITE_OK)
        code = copy_rows(from, to, is_run ? 2 : 1);
    sqlite3_finalize(from);
    sqlite3_finalize(to);
    sqlite3_free(list);
    sqlite3_free(marks);
    return code;
}

static int copy_image(sqlite3 *db, int64_t run, const char *name, const void *context)
{
    static const char sql[] = "SELECT name FROM sqlite_schema WHERE type = 'table'"
                              " ORDER BY name <> 'run', name"; /* what others refer to first */
    sqlite3 *image = (sqlite3 *)(uintptr_t)context;
    sqlite3_stmt *tables = NULL;
    int code = sqlite3_prepare_v2(image, sql, -1, &tables, NULL);
    while (code == SQLITE_OK && (code = sqlite3_step(tables)) == SQLITE_ROW)
        code = copy_table(db, image, (const char *)sqlite3_column_text(tables, 0), run, name);
    sqlite3_finalize(tables);
    return code == SQLITE_DONE ? SQLITE_OK : code;
}

/* Under the name it would like to have, unless its label is there. */
static enum status add_image(struct store *s, struct store *image, char name[128],
                             struct error *err)
{
    sqlite3_stmt *find;
    bool row = false;
    TRY(store_select(image, "SELECT name, label FROM run", 0, &find, err));
    enum status status = store_step(image, find, &row, err);
    if (status == ST_OK && !row)
        status = fail(err, ST_OUTPUT, "a rank has sent no run");
    if (status == ST_OK) {
        snprintf(name, 128, "%s", (const char *)sqlite3_column_text(find, 0));
        status = store_add(s, copy_image, image->db, (const char *)sqlite3_column_text(find, 1),
                           name, err);
    }
    sqlite3_finalize(find);
    return status;
}

enum status image_store(struct store *s, unsigned char *bytes, size_t n, char name[128],
                        struct error *err)
{
    struct store image = {.path = (char[]){"run from another rank"}};
    enum status status = ST_OK;
    if (sqlite3_open(":memory:", &image.db) != SQLITE_OK ||
        sqlite3_deserialize(image.db, "main", bytes, (sqlite3_int64)n, (sqlite3_int64)n,
                            SQLITE_DESERIALIZE_READONLY) != SQLITE_OK)
        status = store_fail(&image, "cannot be read", err);
    if (status == ST_OK)
        status = add_image(s, &image, name, err);
    sqlite3_close_v2(image.db);
    return status;
}
