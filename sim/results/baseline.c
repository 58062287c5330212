#include "sim/results/baseline.h"

#include "core/base/param.h"
#include "core/base/units.h"
#include "sim/results/quote.h"

#include <inttypes.h>
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { BASELINE_VERSION = 1 };

void baseline_free(struct baseline *b)
{
    free(b->metric);
    arena_free(&b->arena);
    *b = (struct baseline){0};
}

/* false when memory is out; NULL stays NULL. */
static bool keep(struct baseline *b, const char *text, const char **out)
{
    *out = text != NULL ? arena_text(&b->arena, text, strlen(text)) : NULL;
    return text == NULL || *out != NULL;
}

static bool add(struct baseline *b, const char *name, double value, struct tolerance tolerance)
{
    if (!ARRAY_GROW(b->metric, b->capacity, b->n + 1) || !keep(b, name, &b->metric[b->n].name))
        return false;
    b->metric[b->n].value = value;
    b->metric[b->n++].tolerance = tolerance;
    return true;
}

enum status baseline_of(struct baseline *b, const struct summary *s, struct error *err)
{
    struct tolerance usual, none = {0};
    bool ok = tolerance_parse(BASELINE_TOLERANCE, strlen(BASELINE_TOLERANCE), &usual);
    *b = (struct baseline){.seed = s->seed};
    ok = ok && keep(b, s->name, &b->run) && keep(b, s->policy, &b->policy) &&
         keep(b, s->truth, &b->truth) && keep(b, s->cluster, &b->cluster) &&
         keep(b, s->trace_hash, &b->trace_hash) && keep(b, s->program, &b->program);
    for (int i = 0; i < N_METRICS && ok; i++)
        ok = add(b, metric_infos[i].name, s->metric[i], metric_infos[i].better ? usual : none);
    for (int i = 0; i < s->n_extra && ok; i++)
        ok = add(b, s->extra_name[i], s->extra[i], none);
    if (ok)
        return ST_OK;
    baseline_free(b);
    return fail_memory(err);
}

static enum status load_metric(struct baseline *b, const char *name, const json_t *entry,
                               struct error *err)
{
    const json_t *value = json_object_get(entry, "value");
    const json_t *tolerance = json_object_get(entry, "tolerance");
    struct tolerance t = {0};
    if (!json_is_number(value) && !json_is_null(value))
        return fail(err, ST_INPUT, "metric %s: \"value\" must be a number or null", name);
    if (tolerance != NULL && !json_is_null(tolerance)) {
        const char *text = json_string_value(tolerance);
        if (text == NULL || !tolerance_parse(text, strlen(text), &t))
            return fail(err, ST_INPUT,
                        "metric %s: \"tolerance\" must be null or a text like \"5%%\", \"0.5\" or "
                        "\"\xc2\xb1"
                        "2%%\"",
                        name);
    }
    if (!add(b, name, json_is_number(value) ? json_number_value(value) : NAN, t))
        return fail_memory(err);
    return ST_OK;
}

static enum status load_root(struct baseline *b, json_t *root, struct error *err)
{
    const json_t *version = json_object_get(root, "colosim_baseline");
    const json_t *run = json_object_get(root, "run");
    json_t *metrics = json_object_get(root, "metrics"), *entry;
    const char *name;
    if (!json_is_integer(version) || !json_is_object(metrics))
        return fail(err, ST_INPUT,
                    "not a baseline: \"colosim_baseline\" and \"metrics\" expected "
                    "(colosim check --save FILE writes one)");
    if (json_integer_value(version) != BASELINE_VERSION)
        return fail(err, ST_INPUT,
                    "baseline version %" JSON_INTEGER_FORMAT ", this program knows %d",
                    json_integer_value(version), BASELINE_VERSION);
    b->seed = json_integer_value(json_object_get(run, "seed"));
    if (!keep(b, json_string_value(json_object_get(run, "name")), &b->run) ||
        !keep(b, json_string_value(json_object_get(run, "policy")), &b->policy) ||
        !keep(b, json_string_value(json_object_get(run, "truth")), &b->truth) ||
        !keep(b, json_string_value(json_object_get(run, "cluster")), &b->cluster) ||
        !keep(b, json_string_value(json_object_get(run, "trace_hash")), &b->trace_hash) ||
        !keep(b, json_string_value(json_object_get(run, "program")), &b->program))
        return fail_memory(err);
    json_object_foreach(metrics, name, entry) TRY(load_metric(b, name, entry, err));
    return b->n > 0 ? ST_OK : fail(err, ST_INPUT, "the baseline holds no metric");
}

enum status baseline_load(struct baseline *b, const char *path, struct error *err)
{
    json_error_t problem;
    *b = (struct baseline){0};
    if (access(path, F_OK) != 0)
        return fail(err, ST_INPUT,
                    "%s: there is no baseline; colosim check --save %s writes one from a run", path,
                    path);
    json_t *root = json_load_file(path, JSON_REJECT_DUPLICATES, &problem);
    if (root == NULL) {
        if (json_error_code(&problem) == json_error_out_of_memory)
            return fail_memory(err);
        return problem.line > 0 ? fail(err, ST_INPUT, "%s:%d:%d: %s", path, problem.line,
                                       problem.column, problem.text)
                                : fail(err, ST_INPUT, "%s: %s", path, problem.text);
    }
    enum status status = load_root(b, root, err);
    if (status == ST_INPUT)
        fail_in(err, "%s", path);
    if (status != ST_OK)
        baseline_free(b);
    json_decref(root);
    return status;
}

static enum status unknown_metric(const struct baseline *b, const char *name, struct error *err)
{
    const char **words = calloc(b->n, sizeof *words);
    if (words == NULL)
        return fail_memory(err);
    for (size_t i = 0; i < b->n; i++)
        words[i] = b->metric[i].name;
    const char *near = nearest_word(name, words, b->n);
    enum status status =
        near != NULL
            ? fail(err, ST_USAGE, "the baseline has no metric '%s'; is '%s' meant?", name, near)
            : fail(err, ST_USAGE, "the baseline has no metric '%s'", name);
    free(words);
    return status;
}

enum status baseline_tolerate(struct baseline *b, const char *text, struct error *err)
{
    const char *equals = strchr(text, '='), *amount = equals != NULL ? equals + 1 : text;
    size_t length = equals != NULL ? (size_t)(equals - text) : 0;
    struct tolerance t;
    bool found = equals == NULL;
    if (!tolerance_parse(amount, strlen(amount), &t))
        return fail(err, ST_USAGE,
                    "tolerance '%s': METRIC=3%%, METRIC=0.5 (in its unit) or METRIC=\xc2\xb1"
                    "3%% (either way) expected",
                    text);
    for (size_t i = 0; i < b->n; i++) {
        struct baseline_metric *m = &b->metric[i];
        bool named =
            equals != NULL && strlen(m->name) == length && memcmp(m->name, text, length) == 0;
        if (named || (equals == NULL && m->tolerance.set))
            m->tolerance = t;
        found = found || named;
    }
    if (found)
        return ST_OK;
    char name[128];
    snprintf(name, sizeof name, "%.*s", (int)(length < 127 ? length : 127), text);
    return unknown_metric(b, name, err);
}

static void write_text(FILE *to, const char *key, const char *text)
{
    fprintf(to, ",\n    \"%s\": ", key);
    if (text != NULL)
        quote_json(to, text);
    else
        fputs("null", to);
}

void baseline_write(const struct baseline *b, FILE *to)
{
    char value[32], tolerance[48];
    fprintf(to, "{\n  \"colosim_baseline\": %d,\n  \"run\": {\n    \"seed\": %" PRId64,
            BASELINE_VERSION, b->seed);
    write_text(to, "name", b->run);
    write_text(to, "policy", b->policy);
    write_text(to, "truth", b->truth);
    write_text(to, "cluster", b->cluster);
    write_text(to, "trace_hash", b->trace_hash);
    write_text(to, "program", b->program);
    fputs("\n  },\n  \"metrics\": {", to);
    for (size_t i = 0; i < b->n; i++) {
        const struct baseline_metric *m = &b->metric[i];
        fputs(i > 0 ? ",\n    " : "\n    ", to);
        quote_json(to, m->name);
        fprintf(to, ": {\"value\": %s, \"tolerance\": ", format_real(m->value, value));
        if (m->tolerance.set)
            quote_json(to, tolerance_text(&m->tolerance, tolerance));
        else
            fputs("null", to);
        fputc('}', to);
    }
    fputs("\n  }\n}\n", to);
}
