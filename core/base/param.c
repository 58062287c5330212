#include "core/base/param.h"

#include "core/base/units.h"

#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <string.h>

enum { KEY_BYTES = 128, WORD_MAX = 64 };

/* A value between reading and storing; which member holds is the param's type. */
struct value {
    bool flag;
    int64_t whole;
    double real;
    const char *text;
    int choice;
};

/* One key found in a file, to be stored once the whole file is known to be right. */
struct assignment {
    const struct param *param;
    void *config;
    struct value value;
};

struct loading {
    const struct param_group *groups;
    size_t n_groups;
    struct arena *arena;
    struct assignment *list;
    size_t n, capacity;
};

static void store(const struct param *p, void *config, const struct value *v)
{
    void *field = (char *)config + p->offset;
    switch (p->type) {
    case PARAM_TYPE_BOOL: *(bool *)field = v->flag; break;
    case PARAM_TYPE_INT: *(int64_t *)field = v->whole; break;
    case PARAM_TYPE_REAL: *(double *)field = v->real; break;
    case PARAM_TYPE_TEXT: *(const char **)field = v->text; break;
    case PARAM_TYPE_CHOICE: *(int *)field = v->choice; break;
    }
}

void param_defaults(const struct param_group *group)
{
    for (const struct param *p = group->params; p != NULL && p->name != NULL; p++) {
        struct value v = {.flag = p->initial > 0,
                          .whole = (int64_t)p->initial,
                          .real = p->initial,
                          .text = p->initial_text,
                          .choice = (int)p->initial};
        store(p, group->config, &v);
    }
}

const char *param_key(const struct param_group *group, const struct param *param, char buffer[128])
{
    const char *point = group->prefix[0] != '\0' ? "." : "";
    snprintf(buffer, KEY_BYTES, "%s%s%s", group->prefix, point, param->name);
    return buffer;
}

static const char *choices_text(const char *const *choice, char buffer[256])
{
    size_t n = 0;
    buffer[0] = '\0';
    for (int i = 0; choice[i] != NULL && n < 256; i++) {
        const char *joint = i == 0 ? "" : choice[i + 1] == NULL ? " or " : ", ";
        n += (size_t)snprintf(buffer + n, 256 - n, "%s%s", joint, choice[i]);
    }
    return buffer;
}

const char *param_initial(const struct param *p, char buffer[64])
{
    union {
        bool flag;
        int choice;
        int64_t count;
        double real;
        const char *text;
    } field = {0};
    struct param alone = *p;
    alone.offset = 0;
    struct param table[] = {alone, PARAM_END};
    struct param_group group = {"", table, &field};
    param_defaults(&group);
    return param_text(&alone, &field, buffer);
}

const char *param_range(const struct param *p, char buffer[256])
{
    char low[32], high[32];
    bool pure = p->unit[0] == '\0' || strcmp(p->unit, "1") == 0;
    const char *gap = pure ? "" : " ", *unit = pure ? "" : p->unit;
    switch (p->type) {
    case PARAM_TYPE_BOOL: return strcpy(buffer, "true or false");
    case PARAM_TYPE_TEXT: return strcpy(buffer, "text");
    case PARAM_TYPE_CHOICE: return choices_text(p->choices, buffer);
    case PARAM_TYPE_INT:
    case PARAM_TYPE_REAL:
        format_real(p->min, low);
        if (isinf(p->max))
            snprintf(buffer, 256, "%s%s%s or more", low, gap, unit);
        else
            snprintf(buffer, 256, "%s to %s%s%s", low, format_real(p->max, high), gap, unit);
    }
    return buffer;
}

const char *param_text(const struct param *p, const void *config, char buffer[64])
{
    const void *field = (const char *)config + p->offset;
    const char *text;
    switch (p->type) {
    case PARAM_TYPE_BOOL: return strcpy(buffer, *(const bool *)field ? "true" : "false");
    case PARAM_TYPE_CHOICE: return p->choices[*(const int *)field];
    case PARAM_TYPE_REAL: return format_real(*(const double *)field, buffer);
    case PARAM_TYPE_TEXT: text = *(const char *const *)field; return text != NULL ? text : "";
    case PARAM_TYPE_INT: snprintf(buffer, 64, "%" PRId64, *(const int64_t *)field);
    }
    return buffer;
}

/* Edit distance in which swapping two neighbours is one step (optimal string alignment), or
 * SIZE_MAX where a word is too long for a name. Three rows of the usual table. Cost O(|a| |b|). */
static size_t distance(const char *a, const char *b)
{
    size_t row[3][WORD_MAX + 1], n = strlen(a), m = strlen(b);
    if (n > WORD_MAX || m > WORD_MAX)
        return SIZE_MAX;
    size_t *above = row[0], *here = row[1], *before = row[2];
    for (size_t j = 0; j <= m; j++)
        above[j] = before[j] = j;
    for (size_t i = 1; i <= n; i++) {
        here[0] = i;
        for (size_t j = 1; j <= m; j++) {
            size_t best = above[j - 1] + (a[i - 1] != b[j - 1]);
            best = best < above[j] + 1 ? best : above[j] + 1;
            best = best < here[j - 1] + 1 ? best : here[j - 1] + 1;
            bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
            if (swapped && before[j - 2] + 1 < best)
                best = before[j - 2] + 1;
            here[j] = best;
        }
        size_t *free_row = before;
        before = above;
        above = here;
        here = free_row;
    }
    return above[m];
}

/* How far a word may be from what was meant: a third of its length, and never all of it. */
static size_t distance_limit(const char *word)
{
    size_t length = strlen(word), limit = (length + 2) / 3;
    return limit < length ? limit : 0;
}

const char *nearest_word(const char *word, const char *const *words, size_t n)
{
    const char *nearest = NULL;
    size_t best = distance_limit(word) + 1;
    for (size_t i = 0; i < n; i++) {
        size_t d = distance(word, words[i]);
        if (d < best) {
            best = d;
            nearest = words[i];
        }
    }
    return nearest;
}

static const struct param *find(const struct param_group *groups, size_t n_groups, const char *key,
                                void **config)
{
    char full[KEY_BYTES];
    for (size_t g = 0; g < n_groups; g++) {
        for (const struct param *p = groups[g].params; p != NULL && p->name != NULL; p++) {
            if (strcmp(param_key(&groups[g], p, full), key) == 0) {
                *config = groups[g].config;
                return p;
            }
        }
    }
    return NULL;
}

/* The nearest key counts whole, or as its name where the prefix was left out. */
static enum status fail_unknown(const struct param_group *groups, size_t n_groups, const char *key,
                                struct error *err)
{
    char full[KEY_BYTES], nearest[KEY_BYTES] = "";
    size_t best = distance_limit(key) + 1;
    for (size_t g = 0; g < n_groups; g++) {
        for (const struct param *p = groups[g].params; p != NULL && p->name != NULL; p++) {
            size_t d = distance(key, param_key(&groups[g], p, full));
            if (strcmp(key, p->name) == 0)
                d = 0;
            if (d < best) {
                best = d;
                strcpy(nearest, full);
            }
        }
    }
    if (nearest[0] != '\0')
        return fail(err, ST_USAGE, "unknown setting '%s': did you mean '%s'?", key, nearest);
    return fail(err, ST_USAGE, "unknown setting '%s'", key);
}

/* mark: what stands around the value. */
static enum status fail_value(const struct param *p, const char *key, const char *value,
                              const char *mark, struct error *err)
{
    char range[256];
    const char *kind = p->type == PARAM_TYPE_INT    ? "a whole number, "
                       : p->type == PARAM_TYPE_REAL ? "a number, "
                                                    : "";
    return fail(err, ST_USAGE, "setting '%s' is %s%.100s%s, want %s%s", key, mark, value, mark,
                kind, param_range(p, range));
}

static bool read_bool(const char *text, bool *out)
{
    static const char *const words[] = {"false", "true", "off", "on", "0", "1"};
    for (int i = 0; i < 6; i++) {
        if (strcmp(text, words[i]) == 0) {
            *out = i % 2 == 1;
            return true;
        }
    }
    return false;
}

static bool read_choice(const struct param *p, const char *text, int *out)
{
    for (int i = 0; p->choices[i] != NULL; i++) {
        if (strcmp(text, p->choices[i]) == 0) {
            *out = i;
            return true;
        }
    }
    return false;
}

static bool read_number(const struct param *p, const char *text, struct value *out)
{
    size_t length = strlen(text);
    if (!parse_real(text, length, &out->real) || out->real < p->min || out->real > p->max)
        return false;
    if (p->type == PARAM_TYPE_REAL)
        return true;
    return parse_scaled(text, length, 0, &out->whole) && (double)out->whole == out->real;
}

static enum status read_value(const struct param *p, const char *key, const char *text,
                              struct arena *arena, struct value *out, struct error *err)
{
    bool right = true;
    *out = (struct value){0};
    switch (p->type) {
    case PARAM_TYPE_BOOL: right = read_bool(text, &out->flag); break;
    case PARAM_TYPE_CHOICE: right = read_choice(p, text, &out->choice); break;
    case PARAM_TYPE_INT:
    case PARAM_TYPE_REAL: right = read_number(p, text, out); break;
    case PARAM_TYPE_TEXT:
        if (text[0] != '\0') {
            out->text = arena_text(arena, text, strlen(text));
            if (out->text == NULL)
                return fail_memory(err);
        }
    }
    return right ? ST_OK : fail_value(p, key, text, "'", err);
}

enum status param_set(const struct param_group *groups, size_t n_groups, const char *key,
                      const char *value, struct arena *arena, struct error *err)
{
    void *config;
    struct value v;
    const struct param *p = find(groups, n_groups, key, &config);
    if (p == NULL)
        return fail_unknown(groups, n_groups, key, err);
    TRY(read_value(p, key, value, arena, &v, err));
    store(p, config, &v);
    return ST_OK;
}

enum status param_set_pair(const struct param_group *groups, size_t n_groups, const char *pair,
                           struct arena *arena, struct error *err)
{
    const char *equals = strchr(pair, '=');
    if (equals == NULL || equals == pair)
        return fail(err, ST_USAGE, "'%s' is no setting, want KEY=VALUE", pair);
    char *key = arena_text(arena, pair, (size_t)(equals - pair));
    if (key == NULL)
        return fail_memory(err);
    return param_set(groups, n_groups, key, equals + 1, arena, err);
}

/* A JSON value as the text param_set would read; NULL where its type is not the setting's. */
static const char *json_text(const struct param *p, const json_t *json, char buffer[64])
{
    switch (p->type) {
    case PARAM_TYPE_BOOL:
        if (!json_is_boolean(json))
            return NULL;
        return json_is_true(json) ? "true" : "false";
    case PARAM_TYPE_TEXT: return json_is_null(json) ? "" : json_string_value(json);
    case PARAM_TYPE_CHOICE: return json_string_value(json);
    case PARAM_TYPE_INT:
    case PARAM_TYPE_REAL: break;
    }
    if (json_is_real(json))
        return format_real(json_real_value(json), buffer);
    if (!json_is_integer(json))
        return NULL;
    snprintf(buffer, 64, "%" JSON_INTEGER_FORMAT, json_integer_value(json));
    return buffer;
}

static enum status fail_type(const struct param *p, const char *key, const json_t *json,
                             struct error *err)
{
    char *found = json_dumps(json, JSON_ENCODE_ANY | JSON_COMPACT);
    if (found != NULL && strlen(found) > 40)
        strcpy(found + 36, "...");
    enum status status = fail_value(p, key, found != NULL ? found : "of another type", "", err);
    free(found);
    return status;
}

static enum status read_json(const struct param *p, const char *key, const json_t *json,
                             struct arena *arena, struct value *out, struct error *err)
{
    char buffer[64];
    const char *text = json_text(p, json, buffer);
    return text == NULL ? fail_type(p, key, json, err) : read_value(p, key, text, arena, out, err);
}

enum status param_set_json(const struct param_group *groups, size_t n_groups, const char *key,
                           const struct json_t *json, struct arena *arena, struct error *err)
{
    void *config;
    struct value value;
    const struct param *p = find(groups, n_groups, key, &config);
    if (p == NULL)
        return fail_unknown(groups, n_groups, key, err);
    TRY(read_json(p, key, json, arena, &value, err));
    store(p, config, &value);
    return ST_OK;
}

static enum status load_value(struct loading *l, const char *key, const json_t *json,
                              struct error *err)
{
    struct assignment a;
    a.param = find(l->groups, l->n_groups, key, &a.config);
    if (a.param == NULL)
        return fail_unknown(l->groups, l->n_groups, key, err);
    for (size_t i = 0; i < l->n; i++)
        if (l->list[i].param == a.param && l->list[i].config == a.config)
            return fail(err, ST_USAGE, "setting '%s' is given twice", key);
    TRY(read_json(a.param, key, json, l->arena, &a.value, err));
    if (!ARRAY_GROW(l->list, l->capacity, l->n + 1))
        return fail_memory(err);
    l->list[l->n++] = a;
    return ST_OK;
}

static bool is_prefix(const struct loading *l, const char *word)
{
    for (size_t g = 0; g < l->n_groups; g++)
        if (l->groups[g].prefix[0] != '\0' && strcmp(l->groups[g].prefix, word) == 0)
            return true;
    return false;
}

static enum status load_group(struct loading *l, const char *prefix, json_t *json,
                              struct error *err)
{
    for (void *at = json_object_iter(json); at != NULL; at = json_object_iter_next(json, at)) {
        const char *name = json_object_iter_key(at);
        char key[KEY_BYTES];
        int n = snprintf(key, sizeof key, "%s.%s", prefix, name);
        if (n < 0 || (size_t)n >= sizeof key)
            return fail(err, ST_USAGE, "unknown setting '%.60s...' in '%s'", name, prefix);
        TRY(load_value(l, key, json_object_iter_value(at), err));
    }
    return ST_OK;
}

static enum status load_object(struct loading *l, json_t *json, struct error *err)
{
    if (!json_is_object(json))
        return fail(err, ST_USAGE, "want a JSON object of settings: {\"seed\": 7, ...}");
    for (void *at = json_object_iter(json); at != NULL; at = json_object_iter_next(json, at)) {
        const char *name = json_object_iter_key(at);
        json_t *value = json_object_iter_value(at);
        if (json_is_object(value) && is_prefix(l, name))
            TRY(load_group(l, name, value, err));
        else
            TRY(load_value(l, name, value, err));
    }
    return ST_OK;
}

enum status param_load(const struct param_group *groups, size_t n_groups, const char *path,
                       struct arena *arena, struct error *err)
{
    enum status status = ST_OK;
    struct loading l = {.groups = groups, .n_groups = n_groups, .arena = arena};
    json_error_t where;
    errno = 0;
    json_t *json = json_load_file(path, JSON_REJECT_DUPLICATES, &where);
    if (json == NULL && errno == ENOMEM) /* jansson takes it for a syntax error */
        return fail_memory(err);
    if (json == NULL && where.line > 0)
        return fail(err, ST_USAGE, "%s: line %d, column %d: %s", path, where.line, where.column,
                    where.text);
    if (json == NULL)
        return fail(err, ST_USAGE, "%s", where.text); /* names the path */
    status = load_object(&l, json, err);
    if (status != ST_OK)
        fail_in(err, "%s", path);
    for (size_t i = 0; status == ST_OK && i < l.n; i++)
        store(l.list[i].param, l.list[i].config, &l.list[i].value);
    free(l.list);
    json_decref(json);
    return status;
}
