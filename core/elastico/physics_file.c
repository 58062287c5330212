#include "core/elastico/physics_file.h"

#include <jansson.h>
#include <math.h>
#include <stdbool.h>
#include <string.h>

static bool has_format(json_t *root, const char *format)
{
    const char *says = json_string_value(json_object_get(root, "format"));
    return says != NULL && strcmp(says, format) == 0;
}

enum status physics_is_file(const char *path, bool *is, struct error *err)
{
    json_error_t where;
    enum status status = ST_OK;
    json_t *root = json_load_file(path, 0, &where);
    *is = has_format(root, PHYSICS_FORMAT);
    if (root == NULL)
        status = fail(err, ST_INPUT, "%s: line %d: %s", path, where.line, where.text);
    else if (!*is && !has_format(root, "colosim predictor"))
        status = fail(err, ST_INPUT,
                      "%s: no model file: 'format' is neither '" PHYSICS_FORMAT
                      "' nor 'colosim predictor'",
                      path);
    json_decref(root);
    return status;
}

static enum status read_header(json_t *root, struct error *err)
{
    const char *format = json_string_value(json_object_get(root, "format"));
    json_t *version = json_object_get(root, "version");
    if (!has_format(root, PHYSICS_FORMAT))
        return fail(err, ST_INPUT, "'format' is '%s', want '" PHYSICS_FORMAT "'",
                    format == NULL ? "" : format);
    if (json_integer_value(version) != PHYSICS_VERSION)
        return fail(err, ST_INPUT, "'version' is %" JSON_INTEGER_FORMAT ", want %d",
                    json_integer_value(version), PHYSICS_VERSION);
    if (json_object_get(root, "latents") != NULL)
        return fail(err, ST_INPUT,
                    "it was fitted without counters, by latents of its own jobs: it tells nothing "
                    "of others");
    return ST_OK;
}

/* {"value": 1.5, "se": 0.1} in min .. max. */
static enum status estimate(json_t *object, const char *key, double min, double max, double *out,
                            struct error *err)
{
    json_t *value = json_object_get(json_object_get(object, key), "value");
    *out = json_is_number(value) ? json_number_value(value) : NAN;
    if (*out >= min && *out <= max)
        return ST_OK;
    return fail(err, ST_INPUT, "'%s' wants a 'value' in %g to %g", key, min, max);
}

static enum status read_line(json_t *root, struct set_numbers *n, struct error *err)
{
    json_t *line = json_object_get(root, "log_w_of_step");
    TRY(estimate(line, "at_1_s", -100, 100, &n->step_at_1_s, err));
    return estimate(line, "slope", -100, 100, &n->step_slope, err);
}

static enum status text(json_t *object, const char *key, struct arena *arena, const char **out,
                        struct error *err)
{
    json_t *value = json_object_get(object, key);
    if (!json_is_string(value))
        return fail(err, ST_INPUT, "'%s' is missing or no text", key);
    *out = arena_text(arena, json_string_value(value), json_string_length(value));
    return *out != NULL ? ST_OK : fail_memory(err);
}

static enum status read_job(json_t *object, struct anchor *a, struct arena *arena,
                            struct error *err)
{
    const char *phase;
    int p = 0;
    TRY(text(object, "job", arena, &a->job, err));
    TRY(estimate(object, "log_w", -100, 100, &a->log_w, err));
    TRY(text(object, "workloads", arena, &a->workloads, err));
    TRY(text(object, "phase", arena, &phase, err));
    while (phase_names[p] != NULL && strcmp(phase_names[p], phase) != 0)
        p++;
    if (phase_names[p] == NULL)
        return fail(err, ST_INPUT, "'phase' is '%s', want all, decode or prefill", phase);
    a->phase = (enum phase)p;
    a->bs = json_number_value(json_object_get(object, "bs"));
    a->amp = json_is_true(json_object_get(object, "amp"));
    if (a->workloads[0] == '\0' || a->bs > 0)
        return ST_OK;
    return fail(err, ST_INPUT, "a job that stands for workloads wants a 'bs' above 0");
}

static enum status read_jobs(json_t *root, struct physics *p, struct error *err)
{
    json_t *jobs = json_object_get(root, "jobs");
    size_t n = json_array_size(jobs);
    struct anchor *anchor = arena_alloc(&p->arena, n + 1, sizeof *anchor);
    if (!json_is_array(jobs))
        return fail(err, ST_INPUT, "'jobs' is missing or no list");
    if (anchor == NULL)
        return fail_memory(err);
    for (size_t i = 0; i < n; i++) {
        enum status status = read_job(json_array_get(jobs, i), &anchor[i], &p->arena, err);
        if (status != ST_OK) {
            fail_in(err, "job %zu", i + 1);
            return status;
        }
    }
    p->numbers.anchor = anchor;
    p->numbers.n_anchors = (int)n;
    return ST_OK;
}

static enum status read_root(json_t *root, struct physics *p, struct error *err)
{
    static const char *const resource[N_CONTENDED] = {"sm", "tensor", "dram", "host"};
    TRY(read_header(root, err));
    for (int r = 0; r < N_CONTENDED; r++) {
        enum status status = estimate(json_object_get(root, "alpha"), resource[r], 0, 1000,
                                      &p->numbers.alpha[r], err);
        if (status != ST_OK) {
            fail_in(err, "alpha");
            return status;
        }
    }
    TRY(estimate(root, "kappa", -1000, 1000, &p->numbers.kappa, err));
    TRY(estimate(root, "m", 1, 10, &p->m, err));
    TRY(read_line(root, &p->numbers, err));
    return read_jobs(root, p, err);
}

enum status physics_load(struct physics *p, const char *path, struct error *err)
{
    json_error_t where;
    *p = (struct physics){0};
    json_t *root = json_load_file(path, JSON_REJECT_DUPLICATES, &where);
    enum status status = root == NULL ? fail(err, ST_INPUT, "line %d: %s", where.line, where.text)
                                      : read_root(root, p, err);
    json_decref(root);
    if (status != ST_OK)
        fail_in(err, "%s", path);
    return status;
}

void physics_free(struct physics *p)
{
    arena_free(&p->arena);
    *p = (struct physics){0};
}
