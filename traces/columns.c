#include "traces/columns.h"

#include "core/base/param.h"
#include "core/base/units.h"
#include "traces/dates.h"

#include <stdio.h>
#include <string.h>

const struct column *columns_find(const struct column *columns, const char *text, size_t length)
{
    for (const struct column *c = columns; c->header != NULL; c++)
        if (strlen(c->header) == length && memcmp(c->header, text, length) == 0)
            return c;
    return NULL;
}

size_t columns_known(const struct column *columns, const struct field *field, size_t n)
{
    size_t n_known = 0;
    for (size_t i = 0; i < n; i++)
        n_known += columns_find(columns, field[i].text, field[i].length) != NULL;
    return n_known;
}

static void bind(struct binding *b, const struct column *column, const char *name, size_t field)
{
    if (column->type != COLUMN_UNUSED)
        b->at[b->n++] = (struct bound){column, name, field, -1};
}

void columns_by_position(const struct column *columns, struct binding *b)
{
    *b = (struct binding){0};
    for (const struct column *c = columns; c->header != NULL; c++)
        bind(b, c, c->header, b->n_fields++);
}

static bool is_bound(const struct binding *b, const struct column *column)
{
    for (size_t i = 0; i < b->n; i++)
        if (b->at[i].column == column)
            return true;
    return false;
}

static const struct column *missing(const struct column *columns, const struct binding *b)
{
    for (const struct column *c = columns; c->header != NULL; c++)
        if (c->required && !is_bound(b, c))
            return c;
    return NULL;
}

enum status columns_by_header(const struct column *columns, const struct csv *header,
                              struct binding *b, struct error *err)
{
    *b = (struct binding){.n_fields = header->n};
    for (size_t i = 0; i < header->n; i++) {
        const struct field *f = &header->field[i];
        const struct column *c = columns_find(columns, f->text, f->length);
        if (c == NULL)
            continue;
        if (is_bound(b, c))
            return fail(err, ST_INPUT, "column '%s' is there twice", c->header);
        bind(b, c, c->header, i);
    }
    const struct column *c = missing(columns, b);
    if (c != NULL)
        return fail(err, ST_INPUT, "no column '%s'", c->header);
    return ST_OK;
}

/* "a" or "a, b, c" of all headers, for a message. */
static const char *list_fields(const struct csv *header, char buffer[256])
{
    size_t used = 0;
    buffer[0] = '\0';
    for (size_t i = 0; i < header->n && used < 200; i++)
        used += (size_t)snprintf(buffer + used, 256 - used, "%s%.*s", i > 0 ? ", " : "",
                                 header->field[i].length < 40 ? (int)header->field[i].length : 40,
                                 header->field[i].text);
    return buffer;
}

static enum status unknown_ours(const struct column *columns, const char *word, struct error *err)
{
    const char *known[COLUMNS_MAX];
    size_t n = 0;
    for (const struct column *c = columns; c->header != NULL && n < COLUMNS_MAX; c++)
        known[n++] = c->header;
    const char *near = nearest_word(word, known, n);
    return fail(err, ST_USAGE, "columns: '%s' is no column of ours%s%s%s", word,
                near ? " (nearest: '" : "", near ? near : "", near ? "')" : "");
}

/* One "ours=theirs". */
static enum status bind_pair(const struct column *columns, char *pair, const struct csv *header,
                             struct binding *b, struct error *err)
{
    char *theirs = strchr(pair, '='), list[256];
    if (theirs == NULL || theirs == pair || theirs[1] == '\0')
        return fail(err, ST_USAGE, "columns: '%s' is not OURS=THEIRS", pair);
    *theirs++ = '\0';
    const struct column *c = columns_find(columns, pair, strlen(pair));
    if (c == NULL)
        return unknown_ours(columns, pair, err);
    if (is_bound(b, c))
        return fail(err, ST_USAGE, "columns: '%s' is given twice", pair);
    for (size_t i = 0; i < header->n; i++)
        if (header->field[i].length == strlen(theirs) &&
            memcmp(header->field[i].text, theirs, strlen(theirs)) == 0) {
            bind(b, c, theirs, i);
            return ST_OK;
        }
    return fail(err, ST_INPUT, "no column '%s' (there are: %s)", theirs, list_fields(header, list));
}

enum status columns_by_mapping(const struct column *columns, const char *mapping,
                               const struct csv *header, struct arena *arena, struct binding *b,
                               struct error *err)
{
    *b = (struct binding){.n_fields = header->n};
    char *pairs = arena_text(arena, mapping, strlen(mapping));
    if (pairs == NULL)
        return fail_memory(err);
    for (char *pair = strsep(&pairs, ","); pair != NULL; pair = strsep(&pairs, ","))
        TRY(bind_pair(columns, pair, header, b, err));
    const struct column *c = missing(columns, b);
    if (c != NULL)
        return fail(err, ST_USAGE, "columns: '%s' is required: add %s=THEIRS", c->header,
                    c->header);
    return ST_OK;
}

int32_t columns_field(const struct binding *b, const char *header)
{
    for (size_t i = 0; i < b->n; i++)
        if (strcmp(b->at[i].column->header, header) == 0)
            return (int32_t)b->at[i].field + 1;
    return 0;
}

/* Unlike parse_scaled alone, keeps what rounding would hide: a fraction of a whole number, a
 * share that would become 0. One more digit group is read and taken off again. */
static const char *read_rounded(const struct bound *at, const struct field *f, int64_t *value)
{
    const struct column *c = at->column;
    if (!parse_scaled(f->text, f->length, c->shift + 3, value))
        return "is not a number";
    int64_t fine = *value, rest = fine % 1000;
    *value = fine / 1000 + (rest >= 500) - (rest <= -500);
    if (c->type == COLUMN_WHOLE && rest != 0)
        return "is not a whole number";
    if (c->type == COLUMN_MILLI && *value == 0 && fine != 0)
        return "is too small";
    return NULL;
}

static const char *in_range(const struct column *c, double value)
{
    if (value >= c->lo && value <= c->hi)
        return NULL;
    return c->lo == 0 && value < 0 ? "is negative" : "is out of range";
}

/* Integers of every kind; NULL or what is wrong. */
static const char *read_integer(const struct bound *at, const struct field *f, char *target)
{
    const struct column *c = at->column;
    int64_t value;
    const char *wrong = NULL;
    if (c->type != COLUMN_US)
        wrong = read_rounded(at, f, &value);
    else if (!parse_scaled(f->text, f->length, c->shift, &value))
        wrong = "is not a number";
    if (wrong == NULL)
        wrong = in_range(c, (double)value);
    if (wrong != NULL)
        return wrong;
    if (c->type == COLUMN_US)
        *(int64_t *)(void *)target = value;
    else
        *(int32_t *)(void *)target = (int32_t)value;
    return NULL;
}

static const char *read_gib(const struct bound *at, const struct field *f, char *target)
{
    double gib;
    if (!parse_real(f->text, f->length, &gib))
        return "is not a number";
    const char *wrong = in_range(at->column, gib * 1024);
    if (wrong == NULL)
        *(int32_t *)(void *)target = (int32_t)lround(gib * 1024);
    return wrong;
}

static const char *read_real(const struct bound *at, const struct field *f, char *target)
{
    double value;
    if (!parse_real(f->text, f->length, &value))
        return "is not a number";
    *(double *)(void *)target = value;
    return in_range(at->column, value);
}

static const char *read_date(const struct field *f, char *target)
{
    if (f->length == 4 && memcmp(f->text, "None", 4) == 0)
        return NULL;
    return parse_date(f->text, f->length, (int64_t *)(void *)target)
               ? NULL
               : "is no date (YYYY-MM-DD hh:mm:ss)";
}

static const char *read_word(const struct bound *at, const struct field *f, char *target)
{
    const char *const *words = at->column->words;
    for (int i = 0; words[i] != NULL; i++)
        if (strlen(words[i]) == f->length && memcmp(words[i], f->text, f->length) == 0) {
            *(int *)(void *)target = i;
            return NULL;
        }
    return "is not known";
}

/* Names come in runs: the one before is compared before the table is asked. */
static bool read_name(struct bound *at, const struct field *f, struct names *names, char *target)
{
    if (at->last < 0 || names_length(names, at->last) != f->length ||
        memcmp(names_text(names, at->last), f->text, f->length) != 0)
        at->last = names_add(names, f->text, f->length);
    *(int32_t *)(void *)target = at->last;
    return at->last >= 0;
}

/* A field that is not empty; NULL or what is wrong. False when memory is out. */
static bool read_field(struct bound *at, const struct field *f, struct names *names, char *target,
                       const char **wrong)
{
    switch (at->column->type) {
    case COLUMN_UNUSED: break;
    case COLUMN_TEXT: *(struct field *)(void *)target = *f; break;
    case COLUMN_NAME: return read_name(at, f, names, target);
    case COLUMN_WORD: *wrong = read_word(at, f, target); break;
    case COLUMN_US:
    case COLUMN_WHOLE:
    case COLUMN_MILLI: *wrong = read_integer(at, f, target); break;
    case COLUMN_GIB: *wrong = read_gib(at, f, target); break;
    case COLUMN_REAL: *wrong = read_real(at, f, target); break;
    case COLUMN_DATE: *wrong = read_date(f, target); break;
    }
    return true;
}

enum status columns_read(struct binding *b, const struct csv *row, struct names *names,
                         void *target, struct fault *fault, struct error *err)
{
    fault->text[0] = '\0';
    fault->field = 0;
    if (row->fault != NULL) {
        snprintf(fault->text, sizeof fault->text, "%s", row->fault);
        return ST_OK;
    }
    if (row->n != b->n_fields) {
        snprintf(fault->text, sizeof fault->text, "%zu fields, want %zu", row->n, b->n_fields);
        return ST_OK;
    }
    for (size_t i = 0; i < b->n; i++) {
        struct bound *at = &b->at[i];
        const struct field *f = &row->field[at->field];
        const char *wrong = f->length == 0 && at->column->required ? "is empty" : NULL;
        if (f->length > 0 && !read_field(at, f, names, (char *)target + at->column->offset, &wrong))
            return fail_memory(err);
        if (wrong != NULL) {
            snprintf(fault->text, sizeof fault->text, "%.40s %s", at->name, wrong);
            fault->field = (int32_t)at->field + 1;
            return ST_OK;
        }
    }
    return ST_OK;
}
