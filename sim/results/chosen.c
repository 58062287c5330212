#include "sim/results/chosen.h"

#include "core/base/arena.h"

#include <stdlib.h>
#include <string.h>

static enum status add(struct chosen *c, int64_t run, struct error *err)
{
    for (size_t i = 0; i < c->n; i++)
        if (c->run[i] == run)
            return ST_OK;
    if (!ARRAY_GROW(c->run, c->capacity, c->n + 1))
        return fail_memory(err);
    c->run[c->n++] = run;
    return ST_OK;
}

static enum status add_name(struct chosen *c, struct store *s, const char *name, struct error *err)
{
    int64_t run;
    TRY(store_find(s, name, &run, err));
    return add(c, run, err);
}

/* A label may hold a comma: the whole word is looked for first. */
static enum status add_word(struct chosen *c, struct store *s, const char *word, struct error *err)
{
    int64_t run;
    if (strchr(word, ',') == NULL || store_find(s, word, &run, NULL) == ST_OK)
        return add_name(c, s, word, err);
    char *copy = strdup(word);
    enum status status = copy != NULL ? ST_OK : fail_memory(err);
    for (char *next = copy; next != NULL && status == ST_OK;) {
        const char *name = strsep(&next, ",");
        if (name[0] != '\0')
            status = add_name(c, s, name, err);
    }
    free(copy);
    return status;
}

static enum status add_complete(struct chosen *c, struct store *s, struct error *err)
{
    sqlite3_stmt *row = NULL;
    bool more = false;
    TRY(store_select(s, "SELECT id FROM run WHERE status = 'complete' ORDER BY id", 0, &row, err));
    enum status status = store_step(s, row, &more, err);
    while (status == ST_OK && more) {
        status = add(c, sqlite3_column_int64(row, 0), err);
        if (status == ST_OK)
            status = store_step(s, row, &more, err);
    }
    sqlite3_finalize(row);
    if (status == ST_OK && c->n == 0)
        status = fail(err, ST_INPUT, "%s: no complete run in it", s->path);
    return status;
}

static enum status write_json(struct chosen *c, struct error *err)
{
    size_t size = 0;
    FILE *to = open_memstream(&c->json, &size);
    if (to == NULL)
        return fail_memory(err);
    fputc('[', to);
    for (size_t i = 0; i < c->n; i++)
        fprintf(to, "%s%lld", i > 0 ? "," : "", (long long)c->run[i]);
    fputc(']', to);
    bool whole = ferror(to) == 0;
    return fclose(to) == 0 && whole ? ST_OK : fail_memory(err);
}

enum status chosen_find(struct chosen *c, struct store *s, const char *const *word, size_t n_words,
                        struct error *err)
{
    *c = (struct chosen){0};
    for (size_t i = 0; i < n_words; i++)
        TRY(add_word(c, s, word[i], err));
    if (n_words == 0)
        TRY(add_complete(c, s, err));
    return write_json(c, err);
}

void chosen_free(struct chosen *c)
{
    free(c->run);
    free(c->json);
    *c = (struct chosen){0};
}
