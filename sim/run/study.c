#include "sim/run/study.h"

#include "core/base/units.h"

#include <errno.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

void study_free(struct study *s)
{
    free(s->base.pair);
    for (int a = 0; a < s->n_axes; a++)
        for (int i = 0; i < s->axis[a].n; i++)
            free(s->axis[a].pairs[i].pair);
    arena_free(&s->arena);
    *s = (struct study){0};
}

static enum status fail_seeds(const char *text, struct error *err)
{
    return fail(err, ST_USAGE, "seeds '%s': want up to %d numbers from 0, as 1..5 or 1,2,7", text,
                STUDY_SEEDS_MAX);
}

enum status seeds_parse(const char *text, struct arena *arena, int64_t **seed, int *n_seeds,
                        struct error *err)
{
    *n_seeds = 0;
    *seed = arena_alloc(arena, STUDY_SEEDS_MAX, sizeof **seed);
    if (*seed == NULL)
        return fail_memory(err);
    for (const char *p = text;;) {
        size_t length = strcspn(p, ",");
        const char *dots = memmem(p, length, "..", 2);
        size_t first = dots != NULL ? (size_t)(dots - p) : length;
        int64_t lo, hi;
        if (!parse_scaled(p, first, 0, &lo) || lo < 0)
            return fail_seeds(text, err);
        hi = lo;
        if (dots != NULL && (!parse_scaled(dots + 2, length - first - 2, 0, &hi) || hi < lo))
            return fail_seeds(text, err);
        if (hi - lo >= STUDY_SEEDS_MAX - *n_seeds)
            return fail_seeds(text, err);
        for (int64_t i = lo; i <= hi; i++)
            (*seed)[(*n_seeds)++] = i;
        if (p[length] == '\0')
            return ST_OK;
        p += length + 1;
    }
}

enum status study_seeds(struct study *s, const char *text, struct error *err)
{
    return seeds_parse(text, &s->arena, &s->seed, &s->n_seeds, err);
}

enum status study_seed(struct study *s, int64_t seed, struct error *err)
{
    s->seed = arena_alloc(&s->arena, 1, sizeof *s->seed);
    if (s->seed == NULL)
        return fail_memory(err);
    s->seed[0] = seed;
    s->n_seeds = 1;
    return ST_OK;
}

static enum status add_pair(struct study *s, struct pair_list *to, const char *key,
                            const char *value, struct error *err)
{
    size_t n = strlen(key) + strlen(value) + 2;
    char *text = arena_alloc(&s->arena, n, 1);
    if (text == NULL || !ARRAY_GROW(to->pair, to->capacity, to->n + 1))
        return fail_memory(err);
    snprintf(text, n, "%s=%s", key, value);
    to->pair[to->n++] = text;
    return ST_OK;
}

/* The axis of that name, emptied, or a new one with room for n values. */
static enum status new_axis(struct study *s, const char *name, int n, struct axis **out,
                            struct error *err)
{
    int at = 0;
    while (at < s->n_axes && strcmp(s->axis[at].name, name) != 0)
        at++;
    if (at == STUDY_AXES_MAX)
        return fail(err, ST_USAGE, "more than %d settings vary", STUDY_AXES_MAX);
    struct axis axis = {.name = arena_text(&s->arena, name, strlen(name)),
                        .value = arena_alloc(&s->arena, (size_t)n, sizeof *axis.value),
                        .pairs = arena_alloc(&s->arena, (size_t)n, sizeof *axis.pairs)};
    if (axis.name == NULL || axis.value == NULL || axis.pairs == NULL)
        return fail_memory(err);
    for (int i = 0; at < s->n_axes && i < s->axis[at].n; i++)
        free(s->axis[at].pairs[i].pair);
    s->axis[at] = axis;
    s->n_axes += at == s->n_axes;
    *out = &s->axis[at];
    return ST_OK;
}

static enum status add_value(struct study *s, struct axis *axis, const char *text,
                             struct error *err)
{
    for (int i = 0; i < axis->n; i++)
        if (strcmp(axis->value[i], text) == 0)
            return fail(err, ST_USAGE, "%s=%s is there twice", axis->name, text);
    const char *copy = arena_text(&s->arena, text, strlen(text));
    if (copy == NULL)
        return fail_memory(err);
    axis->value[axis->n++] = copy;
    return ST_OK;
}

/* A seed is no axis: points that differ in it alone are what a mean is taken over. */
static enum status check_key(const char *key, struct error *err)
{
    if (strcmp(key, "seed") == 0)
        return fail(err, ST_USAGE, "seeds are given by --seeds, or \"seeds\" in the study file");
    if (strcmp(key, "label") == 0)
        return fail(err, ST_USAGE,
                    "points get their labels from what varies; --label goes in "
                    "front of them");
    return ST_OK;
}

enum status study_grid(struct study *s, const char *text, struct error *err)
{
    const char *equals = strchr(text, '=');
    char key[128];
    int n = 1;
    if (equals == NULL || equals == text || (size_t)(equals - text) >= sizeof key)
        return fail(err, ST_USAGE, "--grid %s: want KEY=a,b,c", text);
    snprintf(key, sizeof key, "%.*s", (int)(equals - text), text);
    for (char *p = key; *p != '\0'; p++)
        *p = *p == '-' ? '_' : *p; /* the long options' spelling */
    TRY(check_key(key, err));
    for (const char *p = equals; *p != '\0'; p++)
        n += *p == ',';
    struct axis *axis;
    TRY(new_axis(s, key, n, &axis, err));
    char *list = arena_text(&s->arena, equals + 1, strlen(equals + 1));
    if (list == NULL)
        return fail_memory(err);
    while (list != NULL) {
        const char *value = strsep(&list, ",");
        TRY(add_value(s, axis, value, err));
        TRY(add_pair(s, &axis->pairs[axis->n - 1], key, value, err));
    }
    return ST_OK;
}

/* As param_set reads it; NULL for an array or an object. */
static const char *text_of(const json_t *json, char buffer[32])
{
    switch (json_typeof(json)) {
    case JSON_STRING: return json_string_value(json);
    case JSON_TRUE: return "true";
    case JSON_FALSE: return "false";
    case JSON_NULL: return "";
    case JSON_INTEGER:
        snprintf(buffer, 32, "%" JSON_INTEGER_FORMAT, json_integer_value(json));
        return buffer;
    case JSON_REAL: return format_real(json_real_value(json), buffer);
    case JSON_ARRAY:
    case JSON_OBJECT: return NULL;
    }
    return NULL;
}

/* An object of settings, dotted keys or one level of nesting, as in --config. */
static enum status load_settings(struct study *s, struct pair_list *to, const char *prefix,
                                 json_t *json, struct error *err)
{
    if (!json_is_object(json))
        return fail(err, ST_USAGE, "want an object of settings: {\"load\": 1.2, …}");
    for (void *at = json_object_iter(json); at != NULL; at = json_object_iter_next(json, at)) {
        json_t *value = json_object_iter_value(at);
        char key[128], buffer[32];
        snprintf(key, sizeof key, "%s%s%s", prefix, prefix[0] != '\0' ? "." : "",
                 json_object_iter_key(at));
        TRY(check_key(key, err));
        if (json_is_object(value) && prefix[0] == '\0') {
            TRY(load_settings(s, to, key, value, err));
            continue;
        }
        const char *text = text_of(value, buffer);
        if (text == NULL)
            return fail(err, ST_USAGE, "%s: want one value", key);
        TRY(add_pair(s, to, key, text, err));
    }
    return ST_OK;
}

static enum status load_grid(struct study *s, json_t *grid, struct error *err)
{
    if (!json_is_object(grid))
        return fail(err, ST_USAGE, "want {\"load\": [0.8, 1.2], …}");
    for (void *at = json_object_iter(grid); at != NULL; at = json_object_iter_next(grid, at)) {
        const char *key = json_object_iter_key(at);
        json_t *list = json_object_iter_value(at);
        struct axis *axis;
        if (!json_is_array(list) || json_array_size(list) == 0)
            return fail(err, ST_USAGE, "%s: want an array of values", key);
        TRY(check_key(key, err));
        TRY(new_axis(s, key, (int)json_array_size(list), &axis, err));
        for (size_t i = 0; i < json_array_size(list); i++) {
            char buffer[32];
            const char *text = text_of(json_array_get(list, i), buffer);
            if (text == NULL)
                return fail(err, ST_USAGE, "%s[%zu]: want one value", key, i);
            TRY(add_value(s, axis, text, err));
            TRY(add_pair(s, &axis->pairs[i], key, text, err));
        }
    }
    return ST_OK;
}

static enum status load_variants(struct study *s, json_t *variants, struct error *err)
{
    struct axis *axis;
    if (!json_is_object(variants) || json_object_size(variants) == 0)
        return fail(err, ST_USAGE, "want {\"NAME\": {settings}, …}");
    TRY(new_axis(s, "variant", (int)json_object_size(variants), &axis, err));
    for (void *at = json_object_iter(variants); at != NULL;
         at = json_object_iter_next(variants, at)) {
        TRY(add_value(s, axis, json_object_iter_key(at), err));
        enum status status =
            load_settings(s, &axis->pairs[axis->n - 1], "", json_object_iter_value(at), err);
        if (status != ST_OK) {
            fail_in(err, "%s", json_object_iter_key(at));
            return status;
        }
    }
    return ST_OK;
}

static enum status load_seeds(struct study *s, json_t *seeds, struct error *err)
{
    if (json_is_string(seeds))
        return study_seeds(s, json_string_value(seeds), err);
    size_t n = json_array_size(seeds);
    if (n == 0 || n > STUDY_SEEDS_MAX)
        return fail(err, ST_USAGE, "want \"1..5\" or [1, 2, 7]");
    s->seed = arena_alloc(&s->arena, n, sizeof *s->seed);
    if (s->seed == NULL)
        return fail_memory(err);
    for (size_t i = 0; i < n; i++) {
        json_t *seed = json_array_get(seeds, i);
        if (!json_is_integer(seed) || json_integer_value(seed) < 0)
            return fail(err, ST_USAGE, "want \"1..5\" or [1, 2, 7]");
        s->seed[s->n_seeds++] = json_integer_value(seed);
    }
    return ST_OK;
}

static enum status load_name(struct study *s, json_t *name, struct error *err)
{
    if (!json_is_string(name))
        return fail(err, ST_USAGE, "want a text");
    s->name = arena_text(&s->arena, json_string_value(name), json_string_length(name));
    return s->name != NULL ? ST_OK : fail_memory(err);
}

static enum status load_part(struct study *s, const char *key, json_t *value, struct error *err)
{
    if (strcmp(key, "name") == 0)
        return load_name(s, value, err);
    if (strcmp(key, "settings") == 0)
        return load_settings(s, &s->base, "", value, err);
    if (strcmp(key, "variants") == 0)
        return load_variants(s, value, err);
    if (strcmp(key, "grid") == 0)
        return load_grid(s, value, err);
    if (strcmp(key, "seeds") == 0)
        return load_seeds(s, value, err);
    return fail(err, ST_USAGE, "unknown; a study has name, settings, variants, grid and seeds");
}

enum status study_load(struct study *s, const char *path, struct error *err)
{
    enum status status = ST_OK;
    json_error_t where;
    errno = 0; /* jansson calls memory that ran out a syntax error */
    json_t *root = json_load_file(path, JSON_REJECT_DUPLICATES, &where);
    if (root == NULL && errno == ENOMEM)
        return fail_memory(err);
    if (root == NULL && where.line > 0)
        return fail(err, ST_USAGE, "%s: line %d, column %d: %s", path, where.line, where.column,
                    where.text);
    if (root == NULL)
        return fail(err, ST_USAGE, "%s", where.text); /* names the path */
    if (!json_is_object(root))
        status = fail(err, ST_USAGE, "%s: want {\"grid\": {…}, \"seeds\": \"1..5\"}", path);
    for (void *at = json_object_iter(root); at != NULL && status == ST_OK;
         at = json_object_iter_next(root, at)) {
        const char *key = json_object_iter_key(at);
        status = load_part(s, key, json_object_iter_value(at), err);
        if (status != ST_OK)
            fail_in(err, "%s: %s", path, key);
    }
    json_decref(root);
    return status;
}

enum status study_count(const struct study *s, int *n_groups, struct error *err)
{
    int64_t n = 1;
    for (int a = 0; a < s->n_axes; a++) {
        n *= s->axis[a].n;
        if (n * s->n_seeds > STUDY_POINTS_MAX)
            return fail(err, ST_USAGE, "more than %d points", STUDY_POINTS_MAX);
    }
    *n_groups = (int)n;
    return ST_OK;
}

int study_value(const struct study *s, int group, int axis)
{
    for (int a = s->n_axes - 1; a > axis; a--)
        group /= s->axis[a].n;
    return group % s->axis[axis].n;
}

static enum status set_pairs(const struct pair_list *pairs, struct run_request *q,
                             struct error *err)
{
    for (size_t i = 0; i < pairs->n; i++)
        TRY(run_set(q, pairs->pair[i], err));
    return ST_OK;
}

enum status study_set_base(const struct study *s, struct run_request *q, struct error *err)
{
    q->run.label = s->name;
    return set_pairs(&s->base, q, err);
}

/* Behind the label so far, which is the study's name or --label. */
static enum status set_label(const struct study *s, int group, struct run_request *q,
                             struct error *err)
{
    const char *front = q->run.label != NULL ? q->run.label : "";
    size_t size = strlen(front) + 64;
    for (int a = 0; a < s->n_axes; a++)
        size += strlen(s->axis[a].name) + strlen(s->axis[a].value[study_value(s, group, a)]) + 2;
    char *text = arena_alloc(&q->arena, size, 1);
    if (text == NULL)
        return fail_memory(err);
    char *end = stpcpy(text, front);
    for (int a = 0; a < s->n_axes; a++)
        end += sprintf(end, "%s%s=%s", end > text ? "," : "", s->axis[a].name,
                       s->axis[a].value[study_value(s, group, a)]);
    sprintf(end, "%sseed=%lld", end > text ? "," : "", (long long)q->run.seed);
    q->run.label = text;
    return ST_OK;
}

enum status study_set_point(const struct study *s, int point, struct run_request *q,
                            struct error *err)
{
    int group = point / s->n_seeds;
    for (int a = 0; a < s->n_axes; a++)
        TRY(set_pairs(&s->axis[a].pairs[study_value(s, group, a)], q, err));
    q->run.seed = s->seed[point % s->n_seeds];
    return set_label(s, group, q, err);
}
