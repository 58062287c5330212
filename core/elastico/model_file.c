#include "core/elastico/model_file.h"

#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define FORMAT "colosim predictor"
enum { KNOTS_MAX = 1 << 20, WIDTH_MAX = 4096, COLUMNS = 100 };

/* Writing. */

static void write_text(FILE *file, const char *text)
{
    putc('"', file);
    for (; *text != '\0'; text++)
        if (*text == '"' || *text == '\\')
            fprintf(file, "\\%c", *text);
        else if ((unsigned char)*text < ' ')
            fprintf(file, "\\u%04x", (unsigned)*text);
        else
            putc(*text, file);
    putc('"', file);
}

static void write_number(FILE *file, double value)
{
    fprintf(file, isfinite(value) ? "%.9g" : "null", value);
}

/* A named array in lines of at most COLUMNS. */
static void write_array(FILE *file, const char *name, const double *value, size_t n)
{
    int column = fprintf(file, "\"%s\": [", name);
    for (size_t i = 0; i < n; i++) {
        char text[32];
        int length = snprintf(text, sizeof text, "%.9g%s", value[i], i + 1 < n ? "," : "");
        if (column + length > COLUMNS)
            column = 0;
        column += fprintf(file, "%s%s", column == 0 ? "\n" : "", text);
    }
    putc(']', file);
}

static void write_note(const struct model_note *n, FILE *file)
{
    fprintf(file, "\"date\": ");
    write_text(file, n->date);
    fprintf(file, ", \"program\": ");
    write_text(file, n->program);
    fprintf(file, ",\n\"card\": ");
    write_text(file, n->card);
    fprintf(file, ",\n\"data\": ");
    write_text(file, n->data);
    fprintf(file, ",\n\"data_hash\": \"%016" PRIx64 "\", \"rows\": %d, \"seed\": %" PRId64 ",\n",
            n->data_hash, n->n_rows, n->seed);
    fprintf(file, "\"held_out\": {\"folds\": %d, \"by\": \"experiment\", \"errors\": [",
            n->n_folds);
    for (int32_t i = 0; i < n->n_errors; i++) {
        fprintf(file, "%s\n {\"pairs\": \"%s\", \"rows\": %d, \"mape_pct\": ", i > 0 ? "," : "",
                n->error[i].name, n->error[i].n_rows);
        write_number(file, n->error[i].mape_pct);
        fprintf(file, ", \"r2\": ");
        write_number(file, n->error[i].r2);
        putc('}', file);
    }
    fprintf(file, "]},\n");
}

static void write_maps(const struct iac_model *m, FILE *file)
{
    fprintf(file, "\"maps\": [");
    for (int32_t i = 0; i < IAC_MAPS; i++) {
        const struct iac_map *map = &m->map[i];
        fprintf(file, "%s\n {\"feature\": \"%s\", \"map\": \"%s\", \"mean\": %.9g, \"sd\": %.9g",
                i > 0 ? "," : "", iac_map_title(i), iac_map_name[map->kind], map->mean, map->sd);
        if (map->kind == IAC_MAP_RANK) {
            fprintf(file, ",\n  ");
            write_array(file, "knots", map->knot, (size_t)map->n_knots);
        }
        putc('}', file);
    }
    fprintf(file, "]");
}

static void write_layer(const struct dense_layer *l, FILE *file)
{
    size_t n_out = (size_t)l->n_out;
    write_array(file, "weight", l->weight, n_out * (size_t)l->n_in);
    fprintf(file, ",\n   ");
    write_array(file, "bias", l->bias, n_out);
    if (l->gamma == NULL)
        return;
    const struct {
        const char *name;
        const double *value;
    } norm[] = {{"gamma", l->gamma}, {"beta", l->beta}, {"mean", l->mean}, {"var", l->var}};
    for (size_t i = 0; i < sizeof norm / sizeof *norm; i++) {
        fprintf(file, ",\n   ");
        write_array(file, norm[i].name, norm[i].value, n_out);
    }
}

static void write_nets(const struct iac_model *m, FILE *file)
{
    fprintf(file, ",\n\"networks\": [");
    for (int32_t k = 0; k < m->n_nets; k++) {
        fprintf(file, "%s\n [", k > 0 ? "," : "");
        for (int32_t l = 0; l < DENSE_LAYERS; l++) {
            struct dense_layer layer = dense_layer(&m->net[k], l);
            fprintf(file, "%s\n  {\"in\": %d, \"out\": %d,\n   ", l > 0 ? "," : "", layer.n_in,
                    layer.n_out);
            write_layer(&layer, file);
            putc('}', file);
        }
        putc(']', file);
    }
    putc(']', file);
}

static enum status write_trees(const struct iac_model *m, FILE *file, struct error *err)
{
    char *text;
    size_t length;
    TRY(gbdt_text(&m->trees, &text, &length, err));
    fprintf(file, ",\n\"trees\": ");
    fwrite(text, 1, length, file);
    free(text);
    return ST_OK;
}

enum status model_write(const struct iac_model *m, const struct model_note *note, FILE *file,
                        struct error *err)
{
    fprintf(file, "{\"format\": \"" FORMAT "\", \"version\": %d, \"form\": \"%s\",\n",
            MODEL_VERSION, iac_form_name[m->form]);
    write_note(note, file);
    fprintf(file,
            "\"units\": {\"fb_mib\": \"MiB\", \"T\": \"the workload's own per second\", "
            "\"isl\": \"tokens\", \"osl\": \"tokens\", \"kernel_s\": \"s\", \"step_s\": "
            "\"s\"},\n\"extras\": %s,\n",
            m->extras ? "true" : "false");
    write_maps(m, file);
    switch (m->form) {
    case IAC_DNN: write_nets(m, file); break;
    case IAC_LINEAR:
        fprintf(file, ",\n");
        write_array(file, "weight", m->weight, (size_t)iac_n_features(m));
        fprintf(file, ",\n\"bias\": %.9g", m->bias);
        break;
    case IAC_GBDT: TRY(write_trees(m, file, err)); break;
    case N_IAC_FORMS: break;
    }
    fprintf(file, "}\n");
    return ST_OK;
}

/* Reading. Each takes what it wants from an object and says what is missing. */

static enum status want(json_t *object, const char *key, json_type type, json_t **out,
                        struct error *err)
{
    static const char *const type_name[] = {"an object", "an array", "a text", "a whole number",
                                            "a number"};
    *out = json_object_get(object, key);
    if (*out != NULL && (json_typeof(*out) == type || (type == JSON_REAL && json_is_number(*out))))
        return ST_OK;
    return fail(err, ST_INPUT, "'%s' is %s, want %s", key,
                *out == NULL ? "missing" : "something else", type_name[type]);
}

static enum status want_real(json_t *object, const char *key, double min, double max, double *out,
                             struct error *err)
{
    json_t *number;
    TRY(want(object, key, JSON_REAL, &number, err));
    *out = json_number_value(number);
    if (*out >= min && *out <= max)
        return ST_OK;
    return fail(err, ST_INPUT, "'%s' is %g, want %g to %g", key, *out, min, max);
}

static enum status want_int(json_t *object, const char *key, int32_t min, int32_t max, int32_t *out,
                            struct error *err)
{
    json_t *number;
    TRY(want(object, key, JSON_INTEGER, &number, err));
    json_int_t value = json_integer_value(number);
    if (value < min || value > max)
        return fail(err, ST_INPUT, "'%s' is %" JSON_INTEGER_FORMAT ", want %d to %d", key, value,
                    min, max);
    *out = (int32_t)value;
    return ST_OK;
}

/* n finite numbers: JSON has no others. */
static enum status want_array(json_t *object, const char *key, size_t n, double *out,
                              struct error *err)
{
    json_t *array;
    TRY(want(object, key, JSON_ARRAY, &array, err));
    if (json_array_size(array) != n)
        return fail(err, ST_INPUT, "'%s' has %zu numbers, want %zu", key, json_array_size(array),
                    n);
    for (size_t i = 0; i < n; i++) {
        json_t *number = json_array_get(array, i);
        if (!json_is_number(number))
            return fail(err, ST_INPUT, "'%s' has something else than numbers", key);
        out[i] = json_number_value(number);
    }
    return ST_OK;
}

static enum status want_one_of(json_t *object, const char *key, const char *const *names, int n,
                               int *out, struct error *err)
{
    json_t *text;
    TRY(want(object, key, JSON_STRING, &text, err));
    for (*out = 0; *out < n; ++*out)
        if (strcmp(json_string_value(text), names[*out]) == 0)
            return ST_OK;
    return fail(err, ST_INPUT, "'%s' is '%s', which this version does not know", key,
                json_string_value(text));
}

static void copy_text(json_t *object, const char *key, char *out, size_t size)
{
    const char *text = json_string_value(json_object_get(object, key));
    snprintf(out, size, "%s", text != NULL ? text : "");
}

/* Everything in a note may be missing: nothing is computed from it. */
static void read_note(json_t *root, struct model_note *n)
{
    char hash[32];
    *n = (struct model_note){0};
    copy_text(root, "date", n->date, sizeof n->date);
    copy_text(root, "program", n->program, sizeof n->program);
    copy_text(root, "card", n->card, sizeof n->card);
    copy_text(root, "data", n->data, sizeof n->data);
    copy_text(root, "data_hash", hash, sizeof hash);
    n->data_hash = strtoull(hash, NULL, 16);
    n->n_rows = (int32_t)json_integer_value(json_object_get(root, "rows"));
    n->seed = json_integer_value(json_object_get(root, "seed"));
    json_t *held_out = json_object_get(root, "held_out");
    n->n_folds = (int32_t)json_integer_value(json_object_get(held_out, "folds"));
    json_t *errors = json_object_get(held_out, "errors");
    for (size_t i = 0; i < json_array_size(errors) && i < MODEL_ERRORS_MAX; i++) {
        json_t *one = json_array_get(errors, i), *r2 = json_object_get(one, "r2");
        struct model_error *e = &n->error[n->n_errors++];
        copy_text(one, "pairs", e->name, sizeof e->name);
        e->n_rows = (int32_t)json_integer_value(json_object_get(one, "rows"));
        e->mape_pct = json_number_value(json_object_get(one, "mape_pct"));
        e->r2 = json_is_number(r2) ? json_number_value(r2) : NAN;
    }
}

static enum status read_knots(json_t *object, struct iac_map *map, struct error *err)
{
    size_t n = json_array_size(json_object_get(object, "knots"));
    if (n < 1 || n > KNOTS_MAX)
        return fail(err, ST_INPUT, "'knots' has %zu numbers, want 1 to %d", n, KNOTS_MAX);
    map->knot = malloc(n * sizeof *map->knot);
    if (map->knot == NULL)
        return fail_memory(err);
    map->n_knots = (int32_t)n;
    TRY(want_array(object, "knots", n, map->knot, err));
    for (size_t i = 1; i < n; i++)
        if (!(map->knot[i] >= map->knot[i - 1]))
            return fail(err, ST_INPUT, "'knots' do not ascend");
    return ST_OK;
}

static enum status read_map(json_t *object, int32_t i, struct iac_map *map, struct error *err)
{
    int kind, same;
    const char *title = iac_map_title(i);
    TRY(want_one_of(object, "feature", &title, 1, &same, err));
    TRY(want_one_of(object, "map", iac_map_name, N_IAC_MAP_KINDS, &kind, err));
    map->kind = (enum iac_map_kind)kind;
    TRY(want_real(object, "mean", -1e30, 1e30, &map->mean, err));
    TRY(want_real(object, "sd", 0, 1e30, &map->sd, err));
    return map->kind == IAC_MAP_RANK ? read_knots(object, map, err) : ST_OK;
}

static enum status read_maps(json_t *root, struct iac_model *m, struct error *err)
{
    json_t *maps;
    TRY(want(root, "maps", JSON_ARRAY, &maps, err));
    if (json_array_size(maps) != IAC_MAPS)
        return fail(err, ST_INPUT, "'maps' has %zu entries, want %d", json_array_size(maps),
                    IAC_MAPS);
    for (int32_t i = 0; i < IAC_MAPS; i++) {
        enum status status = read_map(json_array_get(maps, (size_t)i), i, &m->map[i], err);
        if (status != ST_OK) {
            fail_in(err, "map of %s", iac_map_title(i));
            return status;
        }
    }
    return ST_OK;
}

static enum status read_layer(json_t *object, const struct dense_layer *l, struct error *err)
{
    size_t n_out = (size_t)l->n_out;
    TRY(want_array(object, "weight", n_out * (size_t)l->n_in, l->weight, err));
    TRY(want_array(object, "bias", n_out, l->bias, err));
    if (l->gamma == NULL)
        return ST_OK;
    TRY(want_array(object, "gamma", n_out, l->gamma, err));
    TRY(want_array(object, "beta", n_out, l->beta, err));
    TRY(want_array(object, "mean", n_out, l->mean, err));
    TRY(want_array(object, "var", n_out, l->var, err));
    for (size_t k = 0; k < n_out; k++)
        if (!(l->var[k] >= 0))
            return fail(err, ST_INPUT, "'var' holds %g, want 0 or more", l->var[k]);
    return ST_OK;
}

static enum status read_net(json_t *layers, struct iac_model *m, struct error *err)
{
    int32_t in, h1, h2, out;
    if (json_array_size(layers) != DENSE_LAYERS)
        return fail(err, ST_INPUT, "%zu layers, want %d", json_array_size(layers), DENSE_LAYERS);
    TRY(want_int(json_array_get(layers, 0), "in", iac_n_features(m), iac_n_features(m), &in, err));
    TRY(want_int(json_array_get(layers, 0), "out", 1, WIDTH_MAX, &h1, err));
    TRY(want_int(json_array_get(layers, 1), "out", 1, WIDTH_MAX, &h2, err));
    TRY(want_int(json_array_get(layers, 2), "out", 1, 1, &out, err));
    struct dense_net *net = &m->net[m->n_nets];
    TRY(dense_init(net, in, h1, h2, err));
    m->n_nets++;
    for (int32_t l = 0; l < DENSE_LAYERS; l++) {
        struct dense_layer layer = dense_layer(net, l);
        TRY(read_layer(json_array_get(layers, (size_t)l), &layer, err));
    }
    return ST_OK;
}

static enum status read_nets(json_t *root, struct iac_model *m, struct error *err)
{
    json_t *nets;
    TRY(want(root, "networks", JSON_ARRAY, &nets, err));
    size_t n = json_array_size(nets);
    if (n < 1 || n > IAC_NETS_MAX)
        return fail(err, ST_INPUT, "%zu networks, want 1 to %d", n, IAC_NETS_MAX);
    for (size_t k = 0; k < n; k++) {
        enum status status = read_net(json_array_get(nets, k), m, err);
        if (status != ST_OK) {
            fail_in(err, "network %zu", k + 1);
            return status;
        }
    }
    return iac_fold(m, err);
}

static enum status read_trees(json_t *root, struct iac_model *m, struct error *err)
{
    json_t *trees;
    TRY(want(root, "trees", JSON_OBJECT, &trees, err));
    char *text = json_dumps(trees, JSON_COMPACT);
    if (text == NULL)
        return fail_memory(err);
    enum status status = gbdt_of_text(&m->trees, text, strlen(text), err);
    free(text);
    return status;
}

static enum status read_root(json_t *root, struct iac_model *m, struct error *err)
{
    int form, same;
    int32_t version;
    const char *format = FORMAT;
    TRY(want_one_of(root, "format", &format, 1, &same, err));
    TRY(want_int(root, "version", MODEL_VERSION, MODEL_VERSION, &version, err));
    TRY(want_one_of(root, "form", iac_form_name, N_IAC_FORMS, &form, err));
    m->form = (enum iac_form)form;
    m->extras = json_is_true(json_object_get(root, "extras"));
    TRY(read_maps(root, m, err));
    switch (m->form) {
    case IAC_DNN: return read_nets(root, m, err);
    case IAC_LINEAR:
        TRY(want_array(root, "weight", (size_t)iac_n_features(m), m->weight, err));
        return want_real(root, "bias", -1e30, 1e30, &m->bias, err);
    case IAC_GBDT: return read_trees(root, m, err);
    case N_IAC_FORMS: break;
    }
    return ST_OK;
}

static enum status read_json(json_t *root, const json_error_t *fault, struct iac_model *m,
                             struct model_note *note, struct error *err)
{
    *m = (struct iac_model){0};
    if (root == NULL && errno == ENOMEM)
        return fail_memory(err);
    if (root == NULL)
        return fail(err, ST_INPUT, "line %d: %s", fault->line, fault->text);
    if (note != NULL)
        read_note(root, note);
    enum status status = read_root(root, m, err);
    json_decref(root);
    return status;
}

enum status model_read(struct iac_model *m, struct model_note *note, const char *text,
                       size_t length, struct error *err)
{
    json_error_t fault;
    errno = 0; /* jansson calls memory that ran out a syntax error */
    json_t *root = json_loadb(text, length, JSON_REJECT_DUPLICATES, &fault);
    return read_json(root, &fault, m, note, err);
}

enum status model_default(struct iac_model *m, struct model_note *note, struct error *err)
{
    return model_read(m, note, (const char *)model_default_text, model_default_length, err);
}

enum status model_load(struct iac_model *m, struct model_note *note, const char *path,
                       struct error *err)
{
    json_error_t fault;
    *m = (struct iac_model){0};
    FILE *file = fopen(path, "rb");
    if (file == NULL)
        return fail(err, ST_INPUT, "%s: %s", path, strerror(errno));
    errno = 0;
    json_t *root = json_loadf(file, JSON_REJECT_DUPLICATES, &fault);
    int problem = errno;
    fclose(file);
    errno = problem;
    enum status status = read_json(root, &fault, m, note, err);
    if (status != ST_OK)
        fail_in(err, "%s", path);
    return status;
}
