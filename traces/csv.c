#include "traces/csv.h"

#include "core/base/arena.h"

#include <stdlib.h>
#include <string.h>

static bool add_field(struct csv *c, const char *text, size_t length)
{
    if (c->n == c->capacity && !ARRAY_GROW(c->field, c->capacity, c->n + 1))
        return false;
    c->field[c->n++] = (struct field){text, length};
    return true;
}

static bool split_plain(struct csv *c, struct line line)
{
    const char *p = line.text, *end = p + line.length, *comma;
    for (; (comma = memchr(p, ',', (size_t)(end - p))) != NULL; p = comma + 1)
        if (!add_field(c, p, (size_t)(comma - p)))
            return false;
    return add_field(c, p, (size_t)(end - p));
}

static bool is_blank(char c) { return c == ' ' || c == '\t'; }

static bool split_blanks(struct csv *c, struct line line)
{
    const char *p = line.text, *end = p + line.length;
    for (;;) {
        while (p < end && is_blank(*p))
            p++;
        if (p == end)
            return true;
        const char *begin = p;
        while (p < end && !is_blank(*p))
            p++;
        if (!add_field(c, begin, (size_t)(p - begin)))
            return false;
    }
}

/* Is the line no row? */
static bool passed_over(const struct csv *c, struct line line)
{
    size_t i = 0;
    while (c->blanks && i < line.length && is_blank(line.text[i]))
        i++;
    return i == line.length || (c->blanks && line.text[i] == ';');
}

/* The field that begins with the quote at *at: its text goes to scratch behind *used, *at ends
 * behind the closing quote. The line grows while the quote is open. */
static enum status quoted_field(struct csv *c, struct lines *l, struct line *line, size_t *at,
                                size_t *used, struct error *err)
{
    size_t from = *at + 1;
    for (;;) {
        const char *quote = memchr(line->text + from, '"', line->length - from);
        size_t stop = quote != NULL ? (size_t)(quote - line->text) : line->length;
        if (!ARRAY_GROW(c->scratch, c->scratch_capacity, *used + (stop - from) + 1))
            return fail_memory(err);
        memcpy(c->scratch + *used, line->text + from, stop - from);
        *used += stop - from;
        from = stop;
        if (quote == NULL) {
            TRY(lines_join(l, line, err));
            if (line->text == NULL)
                return fail(err, ST_INPUT, "%s:%lld: a quote is never closed", l->name,
                            (long long)c->line);
        } else if (stop + 1 < line->length && line->text[stop + 1] == '"') {
            c->scratch[(*used)++] = '"';
            from = stop + 2;
        } else {
            break;
        }
    }
    *at = from + 1;
    return ST_OK;
}

/* Fields get their addresses last, as scratch may move. */
static enum status split_quoted(struct csv *c, struct lines *l, struct line line, struct error *err)
{
    size_t at = 0, used = 0;
    for (;;) {
        size_t begin = used;
        if (at < line.length && line.text[at] == '"') {
            TRY(quoted_field(c, l, &line, &at, &used, err));
            if (at < line.length && line.text[at] != ',') {
                c->fault = "text after a closing quote";
                return ST_OK;
            }
        } else {
            const char *comma = memchr(line.text + at, ',', line.length - at);
            size_t stop = comma != NULL ? (size_t)(comma - line.text) : line.length;
            if (!ARRAY_GROW(c->scratch, c->scratch_capacity, used + (stop - at) + 1))
                return fail_memory(err);
            memcpy(c->scratch + used, line.text + at, stop - at);
            used += stop - at;
            at = stop;
        }
        if (!add_field(c, NULL, used - begin))
            return fail_memory(err);
        if (at == line.length)
            break;
        at++;
    }
    const char *text = c->scratch;
    for (size_t i = 0; i < c->n; text += c->field[i++].length)
        c->field[i].text = text;
    return ST_OK;
}

enum status csv_next(struct csv *c, struct lines *l, bool *more, struct error *err)
{
    struct line line;
    do
        TRY(lines_next(l, &line, err));
    while (line.text != NULL && passed_over(c, line));
    *more = line.text != NULL;
    c->n = 0;
    c->fault = NULL;
    c->line = l->n;
    if (!*more)
        return ST_OK;
    if (c->blanks)
        return split_blanks(c, line) ? ST_OK : fail_memory(err);
    if (memchr(line.text, '"', line.length) != NULL)
        return split_quoted(c, l, line, err);
    return split_plain(c, line) ? ST_OK : fail_memory(err);
}

void csv_free(struct csv *c)
{
    free(c->field);
    free(c->scratch);
    *c = (struct csv){0};
}
