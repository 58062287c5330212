#include "sim/results/groups.h"

#include <stdlib.h>
#include <string.h>

void group_free(struct run_group *g)
{
    free(g->run);
    free(g->seed);
    *g = (struct run_group){0};
}

static enum status add(struct run_group *g, int64_t run, int64_t seed, struct error *err)
{
    if (!ARRAY_GROW(g->run, g->run_capacity, g->n + 1) ||
        !ARRAY_GROW(g->seed, g->seed_capacity, g->n + 1))
        return fail_memory(err);
    g->run[g->n] = run;
    g->seed[g->n++] = seed;
    return ST_OK;
}

/* Every row of a query by one or two texts: id, seed. */
static enum status collect(struct store *s, const char *sql, const char *text, const char *second,
                           struct run_group *g, struct error *err)
{
    sqlite3_stmt *find;
    bool row = false;
    TRY(store_select(s, sql, 0, &find, err));
    enum status status = ST_OK;
    if (sqlite3_bind_text(find, 1, text, -1, SQLITE_TRANSIENT) != SQLITE_OK ||
        (second != NULL && sqlite3_bind_text(find, 2, second, -1, SQLITE_TRANSIENT) != SQLITE_OK))
        status = store_fail(s, "cannot be read", err);
    if (status == ST_OK)
        status = store_step(s, find, &row, err);
    while (status == ST_OK && row) {
        status = add(g, sqlite3_column_int64(find, 0), sqlite3_column_int64(find, 1), err);
        if (status == ST_OK)
            status = store_step(s, find, &row, err);
    }
    sqlite3_finalize(find);
    return status;
}

/* Leaves those that were made with KEY=VALUE too. */
static enum status keep_with(struct store *s, const char *key, const char *value,
                             struct run_group *g, struct error *err)
{
    struct run_group with = {0};
    enum status status =
        collect(s,
                "SELECT id, seed FROM run JOIN setting ON run = id WHERE"
                " status = 'complete' AND key = ?1 AND value = ?2 ORDER BY seed, id",
                key, value, &with, err);
    int n = 0;
    for (int i = 0; i < g->n && status == ST_OK; i++) {
        bool there = false;
        for (int k = 0; k < with.n; k++)
            there = there || with.run[k] == g->run[i];
        if (!there)
            continue;
        g->run[n] = g->run[i];
        g->seed[n++] = g->seed[i];
    }
    g->n = n;
    group_free(&with);
    return status;
}

static enum status by_settings(struct store *s, const char *name, struct run_group *g,
                               struct error *err)
{
    enum status status = collect(
        s, "SELECT id, seed FROM run WHERE status = 'complete' AND ?1 <> '' ORDER BY seed, id",
        name, NULL, g, err);
    char *list = strdup(name), *next = list;
    if (list == NULL)
        return fail_memory(err);
    while (status == ST_OK && next != NULL) {
        char *value = strsep(&next, ",");
        const char *key = strsep(&value, "=");
        if (value == NULL)
            g->n = 0; /* no setting: nothing has it */
        else
            status = keep_with(s, key, value, g, err);
    }
    free(list);
    return status;
}

static enum status one_a_seed(struct store *s, const char *name, const struct run_group *g,
                              struct error *err)
{
    for (int i = 1; i < g->n; i++)
        if (g->seed[i] == g->seed[i - 1])
            return fail(err, ST_USAGE,
                        "%s: '%s' means several runs of seed %lld; say more of what they were made "
                        "with (KEY=VALUE,...)",
                        s->path, name, (long long)g->seed[i]);
    return ST_OK;
}

enum status group_find(struct store *s, const char *name, struct run_group *out, struct error *err)
{
    *out = (struct run_group){0};
    TRY(collect(s,
                "SELECT id, seed FROM run WHERE name = ?1"
                " OR (?1 = 'last' AND id = (SELECT max(id) FROM run))",
                name, NULL, out, err));
    if (out->n > 0)
        return ST_OK;
    TRY(collect(s,
                "SELECT id, seed FROM run WHERE status = 'complete' AND"
                " (label IN (?1, ?1 || ',seed=' || seed, ?1 || '-' || seed)"
                " OR name = ?1 || '-' || seed) ORDER BY seed, id",
                name, NULL, out, err));
    if (out->n == 0 && strchr(name, '=') != NULL)
        TRY(by_settings(s, name, out, err));
    int64_t unused;
    if (out->n == 0)
        return store_find(s, name, &unused, err); /* says what is there */
    return one_a_seed(s, name, out, err);
}
