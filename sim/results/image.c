#include "sim/results/image.h"

#include "sim/results/rows.h"
#include "sim/results/schema.h"

#include <stdlib.h>
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

/* Into a buffer of SQLite's: the columns of a table that are stored, without those given here. */
static char *columns_of(sqlite3 *db, const char *table, const char *key, const char *other)
{
    static const char sql[] = "SELECT group_concat('\"' || name || '\"') FROM"
                              " pragma_table_info(?1, 'image') WHERE name NOT IN (?2, ?3)";
    sqlite3_stmt *find = NULL;
    char *list = NULL;
    if (sqlite3_prepare_v2(db, sql, -1, &find, NULL) == SQLITE_OK &&
        sqlite3_bind_text(find, 1, table, -1, SQLITE_STATIC) == SQLITE_OK &&
        sqlite3_bind_text(find, 2, key, -1, SQLITE_STATIC) == SQLITE_OK &&
        sqlite3_bind_text(find, 3, other, -1, SQLITE_STATIC) == SQLITE_OK &&
        sqlite3_step(find) == SQLITE_ROW)
        list = sqlite3_mprintf("%s", sqlite3_column_text(find, 0));
    sqlite3_finalize(find);
    return list;
}

/* All its rows, under the id they get here. */
static int copy_table(sqlite3 *db, const char *table, int64_t run)
{
    char *list = columns_of(db, table, "run", "run"), *sql = NULL;
    if (list != NULL)
        sql = sqlite3_mprintf("INSERT INTO main.\"%w\"(run,%s) SELECT %lld,%s FROM image.\"%w\"",
                              table, list, (long long)run, list, table);
    int code = sql != NULL ? sqlite3_exec(db, sql, NULL, NULL, NULL) : SQLITE_NOMEM;
    sqlite3_free(list);
    sqlite3_free(sql);
    return code;
}

static int copy_run(sqlite3 *db, int64_t run, const char *name)
{
    char *list = columns_of(db, "run", "id", "name"), *sql = NULL;
    if (list != NULL)
        sql = sqlite3_mprintf("INSERT INTO main.run(id,name,%s) SELECT %lld,%Q,%s FROM image.run",
                              list, (long long)run, name, list);
    int code = sql != NULL ? sqlite3_exec(db, sql, NULL, NULL, NULL) : SQLITE_NOMEM;
    sqlite3_free(list);
    sqlite3_free(sql);
    return code;
}

static int copy_image(sqlite3 *db, int64_t run, const char *name, const void *context)
{
    sqlite3_stmt *tables = NULL;
    (void)context;
    int code = copy_run(db, run, name);
    if (code == SQLITE_OK)
        code = sqlite3_prepare_v2(db,
                                  "SELECT name FROM image.sqlite_schema"
                                  " WHERE type = 'table' AND name <> 'run' ORDER BY name",
                                  -1, &tables, NULL);
    while (code == SQLITE_OK && (code = sqlite3_step(tables)) == SQLITE_ROW)
        code = copy_table(db, (const char *)sqlite3_column_text(tables, 0), run);
    sqlite3_finalize(tables);
    return code == SQLITE_DONE ? SQLITE_OK : code;
}

/* Under the name it would like to have. */
static enum status add_image(struct store *s, char name[128], struct error *err)
{
    sqlite3_stmt *find;
    bool row = false;
    TRY(store_select(s, "SELECT name, label FROM image.run", 0, &find, err));
    enum status status = store_step(s, find, &row, err);
    if (status == ST_OK && !row)
        status = fail(err, ST_OUTPUT, "a rank has sent no run");
    const char *text = row ? (const char *)sqlite3_column_text(find, 0) : NULL;
    const char *label = row ? (const char *)sqlite3_column_text(find, 1) : NULL;
    char *kept = label != NULL ? strdup(label) : NULL;
    snprintf(name, 128, "%s", text != NULL ? text : "run");
    sqlite3_finalize(find); /* before the transaction */
    if (status == ST_OK && label != NULL && kept == NULL)
        status = fail_memory(err);
    if (status == ST_OK)
        status = store_add(s, copy_image, NULL, kept, name, err);
    free(kept);
    return status;
}

enum status image_store(struct store *s, unsigned char *bytes, size_t n, char name[128],
                        struct error *err)
{
    enum status status = ST_OK;
    if (sqlite3_exec(s->db, "ATTACH ':memory:' AS image", NULL, NULL, NULL) != SQLITE_OK)
        return store_fail(s, "the run cannot be stored", err);
    /* Not as read-only: BEGIN IMMEDIATE begins to write in every database that is attached. */
    if (sqlite3_deserialize(s->db, "image", bytes, (sqlite3_int64)n, (sqlite3_int64)n, 0) !=
        SQLITE_OK)
        status = store_fail(s, "the run cannot be stored", err);
    if (status == ST_OK)
        status = add_image(s, name, err);
    if (sqlite3_exec(s->db, "DETACH image", NULL, NULL, NULL) != SQLITE_OK && status == ST_OK)
        status = store_fail(s, "the run cannot be stored", err);
    return status;
}
