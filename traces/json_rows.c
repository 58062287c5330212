#include "traces/json_rows.h"

#include "core/base/arena.h"

#include <stdlib.h>
#include <string.h>

enum { BLOCK_BYTES = 1 << 16, AT_END = -1 };

/* The byte that comes next, left where it is; AT_END at the end of the file. */
static enum status peek(struct json_rows *r, struct lines *l, int *byte, struct error *err)
{
    if (r->at == r->n_block) {
        TRY(lines_block(l, BLOCK_BYTES, &r->block, &r->n_block, err));
        r->at = 0;
    }
    *byte = r->at < r->n_block ? (unsigned char)r->block[r->at] : AT_END;
    return ST_OK;
}

static void pass(struct json_rows *r) { r->n_lines += r->block[r->at++] == '\n'; }

static enum status peek_past_blanks(struct json_rows *r, struct lines *l, int *byte,
                                    struct error *err)
{
    for (;;) {
        TRY(peek(r, l, byte, err));
        if (*byte != ' ' && *byte != '\t' && *byte != '\r' && *byte != '\n')
            return ST_OK;
        pass(r);
    }
}

static enum status refuse(const struct json_rows *r, const struct lines *l, const char *what,
                          struct error *err)
{
    return fail(err, ST_INPUT, "%s:%lld: %s", l->name, (long long)r->n_lines + 1, what);
}

/* Where inside an element the scan stands. */
struct scan {
    int depth;
    bool in_string, escaped;
};

/* Does the element end before this byte? */
static bool ends_before(const struct scan *s, int byte)
{
    return s->depth == 0 && !s->in_string && (byte == ',' || byte == ']');
}

static void scan_byte(struct scan *s, int byte)
{
    if (s->in_string) {
        s->in_string = s->escaped || byte != '"';
        s->escaped = !s->escaped && byte == '\\';
    } else if (byte == '"') {
        s->in_string = true;
    } else if (byte == '{' || byte == '[') {
        s->depth++;
    } else if (byte == '}' || byte == ']') {
        s->depth--;
    }
}

static enum status read_element(struct json_rows *r, struct lines *l, struct error *err)
{
    struct scan scan = {0};
    int byte;
    r->n = 0;
    r->line = r->n_lines + 1;
    for (;;) {
        TRY(peek(r, l, &byte, err));
        if (byte == AT_END)
            return refuse(r, l, "incomplete: the array is never closed", err);
        if (ends_before(&scan, byte))
            return ST_OK;
        if (r->n == LINE_LIMIT)
            return refuse(r, l, "one element of the array is too long", err);
        if (r->n == r->capacity && !ARRAY_GROW(r->text, r->capacity, r->n + 1))
            return fail_memory(err);
        r->text[r->n++] = (char)byte;
        scan_byte(&scan, byte);
        pass(r);
    }
}

/* Behind the array only blanks are left. */
static enum status end_array(struct json_rows *r, struct lines *l, struct error *err)
{
    int byte;
    pass(r);
    TRY(peek_past_blanks(r, l, &byte, err));
    return byte == AT_END ? ST_OK : refuse(r, l, "something follows the array", err);
}

enum status json_rows_next(struct json_rows *r, struct lines *l, bool *more, struct error *err)
{
    int byte;
    bool first = !r->begun;
    TRY(peek_past_blanks(r, l, &byte, err));
    if (byte == AT_END)
        return refuse(r, l, first ? "no JSON array" : "incomplete: the array is never closed", err);
    if (first && byte != '[')
        return refuse(r, l, "no JSON array", err);
    *more = byte != ']';
    if (!*more)
        return end_array(r, l, err);
    r->begun = true; /* what is passed now is the bracket, or the comma behind an element */
    pass(r);
    TRY(peek_past_blanks(r, l, &byte, err));
    *more = !(first && byte == ']');
    return *more ? read_element(r, l, err) : end_array(r, l, err);
}

void json_rows_free(struct json_rows *r)
{
    free(r->text);
    *r = (struct json_rows){0};
}
