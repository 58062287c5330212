#include "sim/results/feed.h"

#include <stdlib.h>

/* A virtual table without CREATE VIRTUAL TABLE: its module's name can be selected from. */
struct feed_table {
    sqlite3_vtab base; /* SQLite's part, first */
    const struct feed *feed;
};
struct feed_cursor {
    sqlite3_vtab_cursor base;
    const struct feed *feed;
    int64_t row;
};

static int feed_connect(sqlite3 *db, void *client, int argc, const char *const *argv,
                        sqlite3_vtab **out, char **message)
{
    (void)argc;
    (void)argv;
    (void)message;
    const struct feed *feed = client;
    char *sql = sqlite3_mprintf("CREATE TABLE feed(%s)", feed->columns);
    if (sql == NULL)
        return SQLITE_NOMEM;
    int code = sqlite3_declare_vtab(db, sql);
    sqlite3_free(sql);
    if (code != SQLITE_OK)
        return code;
    struct feed_table *table = calloc(1, sizeof *table);
    if (table == NULL)
        return SQLITE_NOMEM;
    table->feed = feed;
    *out = &table->base;
    return SQLITE_OK;
}

static int feed_disconnect(sqlite3_vtab *base)
{
    free((struct feed_table *)base);
    return SQLITE_OK;
}

static int feed_best_index(sqlite3_vtab *base, sqlite3_index_info *info)
{
    info->estimatedRows = ((struct feed_table *)base)->feed->n_rows;
    info->estimatedCost = (double)info->estimatedRows;
    return SQLITE_OK;
}

static int feed_open(sqlite3_vtab *base, sqlite3_vtab_cursor **out)
{
    struct feed_cursor *cursor = calloc(1, sizeof *cursor);
    if (cursor == NULL)
        return SQLITE_NOMEM;
    cursor->feed = ((struct feed_table *)base)->feed;
    *out = &cursor->base;
    return SQLITE_OK;
}

static int feed_close(sqlite3_vtab_cursor *base)
{
    free((struct feed_cursor *)base);
    return SQLITE_OK;
}

static int feed_filter(sqlite3_vtab_cursor *base, int plan, const char *plan_text, int argc,
                       sqlite3_value **argv)
{
    (void)plan;
    (void)plan_text;
    (void)argc;
    (void)argv;
    ((struct feed_cursor *)base)->row = 0;
    return SQLITE_OK;
}

static int feed_next(sqlite3_vtab_cursor *base)
{
    ((struct feed_cursor *)base)->row++;
    return SQLITE_OK;
}

static int feed_eof(sqlite3_vtab_cursor *base)
{
    const struct feed_cursor *cursor = (struct feed_cursor *)base;
    return cursor->row >= cursor->feed->n_rows;
}

static int feed_column(sqlite3_vtab_cursor *base, sqlite3_context *out, int column)
{
    const struct feed_cursor *cursor = (struct feed_cursor *)base;
    cursor->feed->cell(cursor->feed->rows, cursor->row, column, out);
    return SQLITE_OK;
}

static int feed_rowid(sqlite3_vtab_cursor *base, sqlite3_int64 *row)
{
    *row = ((struct feed_cursor *)base)->row;
    return SQLITE_OK;
}

static const sqlite3_module feed_module = {
    .xConnect = feed_connect,
    .xBestIndex = feed_best_index,
    .xDisconnect = feed_disconnect,
    .xOpen = feed_open,
    .xClose = feed_close,
    .xFilter = feed_filter,
    .xNext = feed_next,
    .xEof = feed_eof,
    .xColumn = feed_column,
    .xRowid = feed_rowid,
};

int feed_into(sqlite3 *db, const char *table, const char *key_column, int64_t key,
              const struct feed *feed)
{
    char *sql = sqlite3_mprintf("INSERT INTO %s(%s,%s) SELECT %lld,* FROM colosim_feed WHERE %s",
                                table, key_column, feed->columns, (long long)key,
                                feed->only != NULL ? feed->only : "1");
    if (sql == NULL)
        return SQLITE_NOMEM;
    struct feed copy = *feed; /* the module wants it without const */
    int code = sqlite3_create_module(db, "colosim_feed", &feed_module, &copy);
    if (code == SQLITE_OK) {
        code = sqlite3_exec(db, sql, NULL, NULL, NULL);
        sqlite3_create_module(db, "colosim_feed", NULL, NULL);
    }
    sqlite3_free(sql);
    return code;
}
