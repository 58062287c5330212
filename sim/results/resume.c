#include "sim/results/resume.h"

#include <stdlib.h>
#include <string.h>

static const char *text_at(sqlite3_stmt *row, int column)
{
    const char *text = (const char *)sqlite3_column_text(row, column);
    return text != NULL ? text : "";
}

/* Whether the run was made with the same value; a setting it did not know had its default. */
static enum status same_setting(struct store *s, sqlite3_stmt *find, const char *key,
                                const char *value, const char *initial, const char *name,
                                struct error *err)
{
    bool row = false;
    sqlite3_reset(find);
    if (sqlite3_bind_text(find, 2, key, -1, SQLITE_STATIC) != SQLITE_OK)
        return store_fail(s, "cannot be read", err);
    TRY(store_step(s, find, &row, err));
    const char *then = row ? text_at(find, 0) : initial;
    if (strcmp(then, value) == 0)
        return ST_OK;
    return fail(err, ST_USAGE,
                "%s: run %s was made with %s = %s, this study has %s; give it another --label or "
                "--db",
                s->path, name, key, then[0] != '\0' ? then : "none",
                value[0] != '\0' ? value : "none");
}

static enum status same_settings(struct store *s, int64_t run, const char *name,
                                 const struct run_request *q, struct error *err)
{
    struct param_group groups[GROUPS_MAX];
    sqlite3_stmt *find;
    char key[128], value[64], initial[64];
    int n = run_groups(q, groups);
    TRY(store_select(s, "SELECT value FROM setting WHERE run = ?1 AND key = ?2", run, &find, err));
    enum status status = ST_OK;
    for (int g = 0; g < n; g++)
        for (const struct param *p = groups[g].params;
             status == ST_OK && p != NULL && p->name != NULL; p++)
            status = same_setting(s, find, param_key(&groups[g], p, key),
                                  param_text(p, groups[g].config, value), param_initial(p, initial),
                                  name, err);
    sqlite3_finalize(find);
    return status;
}

/* A statement whose one parameter is a text, at its first row; the caller finalizes it. */
static enum status find_by_text(struct store *s, const char *sql, const char *text,
                                sqlite3_stmt **find, bool *row, struct error *err)
{
    *row = false;
    TRY(store_select(s, sql, 0, find, err));
    if (sqlite3_bind_text(*find, 1, text, -1, SQLITE_STATIC) != SQLITE_OK)
        return store_fail(s, "cannot be read", err);
    return store_step(s, *find, row, err);
}

enum status resume_run(struct store *s, const char *label, int64_t *run, struct error *err)
{
    sqlite3_stmt *find = NULL;
    bool row;
    enum status status = find_by_text(s,
                                      "SELECT id FROM run WHERE label = ?1"
                                      " AND status <> 'interrupted' ORDER BY id LIMIT 1",
                                      label, &find, &row, err);
    *run = status == ST_OK && row ? sqlite3_column_int64(find, 0) : 0;
    sqlite3_finalize(find);
    return status;
}

enum status resume_find(struct store *s, const struct run_request *q, struct stored_point *out,
                        struct error *err)
{
    sqlite3_stmt *find = NULL;
    bool row;
    char name[128] = "";
    *out = (struct stored_point){0};
    TRY(resume_run(s, q->run.label, &out->run, err));
    if (out->run == 0)
        return ST_OK;
    TRY(store_select(s, "SELECT name, status, trace_hash, program FROM run WHERE id = ?1", out->run,
                     &find, err));
    enum status status = store_step(s, find, &row, err);
    if (status == ST_OK && row) {
        snprintf(name, sizeof name, "%s", text_at(find, 0));
        out->failed = strcmp(text_at(find, 1), "failed") == 0;
        snprintf(out->trace_hash, sizeof out->trace_hash, "%s", text_at(find, 2));
        snprintf(out->program, sizeof out->program, "%s", text_at(find, 3));
    }
    sqlite3_finalize(find);
    return status == ST_OK ? same_settings(s, out->run, name, q, err) : status;
}

enum status resume_why(struct store *s, int64_t run, struct arena *arena, const char **why,
                       struct error *err)
{
    static const char sql[] =
        "SELECT coalesce((SELECT text FROM event WHERE run = ?1 AND kind = 'error'),"
        " 'no job could be placed') FROM run WHERE id = ?1 AND status = 'failed'";
    sqlite3_stmt *find;
    bool row;
    *why = NULL;
    TRY(store_select(s, sql, run, &find, err));
    enum status status = store_step(s, find, &row, err);
    if (status == ST_OK && row) {
        *why = arena_text(arena, text_at(find, 0), strlen(text_at(find, 0)));
        if (*why == NULL)
            status = fail_memory(err);
    }
    sqlite3_finalize(find);
    return status;
}

enum status resume_drop(struct store *s, int64_t run, struct error *err)
{
    sqlite3_stmt *drop;
    bool row;
    if (sqlite3_exec(s->db, "PRAGMA foreign_keys=1", NULL, NULL, NULL) != SQLITE_OK)
        return store_fail(s, "cannot be written", err);
    TRY(store_select(s, "DELETE FROM run WHERE id = ?1", run, &drop, err)); /* the rest cascades */
    enum status status = store_step(s, drop, &row, err);
    sqlite3_finalize(drop);
    return status;
}
