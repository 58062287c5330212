#include "core/elastico/catalog_file.h"

#include "core/base/param.h"
#include "core/cluster/job.h"
#include "core/elastico/cards.h"

#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { VALUES_MAX = 64, CONFIGS_MAX = 1 << 20, WORKLOADS_MAX = 1 << 16 };
static const char marks[] = "MSDFAP";

#define X(name) #name,
static const char *const train_names[] = {TRAIN_COEFFICIENTS(X)};
static const char *const infer_names[] = {INFER_COEFFICIENTS(X)};
static const char *const measure_names[] = {MEASURES(X)};
static const char *const parallel_names[] = {PARALLEL_COEFFICIENTS(X)};
#undef X
enum {
    N_TRAIN = sizeof train_names / sizeof *train_names,
    N_INFER = sizeof infer_names / sizeof *infer_names,
    N_MEASURES = sizeof measure_names / sizeof *measure_names
};
_Static_assert((int)N_TRAIN <= (int)COEFFICIENTS_MAX &&
                   sizeof(struct train_model) == N_TRAIN * sizeof(double),
               "the coefficients are doubles side by side");
_Static_assert(sizeof(struct infer_model) == N_INFER * sizeof(double), "likewise");
_Static_assert(sizeof(struct parallel) == PARALLEL_MARKS * sizeof(double), "likewise");
_Static_assert(sizeof(struct measures) == N_MEASURES * sizeof(double *), "likewise");

static enum status known_keys(json_t *object, const char *const *keys, size_t n, struct error *err)
{
    for (void *at = json_object_iter(object); at != NULL; at = json_object_iter_next(object, at)) {
        const char *key = json_object_iter_key(at);
        size_t i = 0;
        while (i < n && strcmp(key, keys[i]) != 0)
            i++;
        const char *near = i < n ? NULL : nearest_word(key, keys, n);
        if (i == n)
            return fail(err, ST_INPUT, "unknown key '%.60s'%s%s%s", key,
                        near ? ": did you mean '" : "", near ? near : "", near ? "'?" : "");
    }
    return ST_OK;
}

static enum status text_of(const json_t *object, const char *key, const char *initial,
                           struct arena *arena, const char **out, struct error *err)
{
    const json_t *value = json_object_get(object, key);
    if (!json_is_string(value) && (value != NULL || initial == NULL))
        return fail(err, ST_INPUT, "%s must be a text", key);
    *out = value == NULL ? initial
                         : arena_text(arena, json_string_value(value), json_string_length(value));
    return *out == NULL ? fail_memory(err) : ST_OK;
}

static enum status choice_of(const json_t *object, const char *key, const char *const *words, int n,
                             int *out, struct error *err)
{
    const char *text = json_string_value(json_object_get(object, key));
    for (*out = 0; text != NULL && *out < n; ++*out)
        if (strcmp(text, words[*out]) == 0)
            return ST_OK;
    return fail(err, ST_INPUT, "%s is %.60s, want %s, %s%s%s", key, text == NULL ? "missing" : text,
                words[0], words[1], n > 2 ? " or " : "", n > 2 ? words[2] : "");
}

/* A number of an object that must lie in lo..hi; NAN where it is missing or null. */
static enum status number_of(const json_t *object, const char *key, double lo, double hi,
                             double *out, struct error *err)
{
    const json_t *value = json_object_get(object, key);
    *out = json_is_number(value) ? json_number_value(value) : NAN;
    if (value == NULL || json_is_null(value) || (*out >= lo && *out <= hi))
        return ST_OK;
    return fail(err, ST_INPUT, "%s must be a number from %g to %g", key, lo, hi);
}

static void knob_range(int knob, double *lo, double *hi)
{
    bool flag = knob == KNOB_CK || knob == KNOB_AMP || knob == KNOB_PC;
    bool degree = knob == KNOB_TP || knob == KNOB_PP;
    *lo = flag ? 0 : knob == KNOB_MU ? 1e-3 : 1;
    *hi = flag || knob == KNOB_MU ? 1 : degree ? 1024 : 1e9;
}

static enum status parse_values(struct workloads *w, int32_t wl, int knob, const json_t *list,
                                struct error *err)
{
    size_t n = json_array_size(list);
    double lo, hi, *value = arena_alloc(&w->arena, n + 1, sizeof *value);
    if (value == NULL)
        return fail_memory(err);
    knob_range(knob, &lo, &hi);
    for (size_t i = 0; i < n; i++) {
        value[i] = json_number_value(json_array_get(list, i));
        if (n > VALUES_MAX || !(value[i] >= lo && value[i] <= hi) ||
            (knob >= KNOB_TP && value[i] != floor(value[i])) || (i > 0 && value[i] <= value[i - 1]))
            return fail(err, ST_INPUT, "knobs.%s: want up to %d ascending %snumbers from %g to %g",
                        knob_names[knob], VALUES_MAX, knob >= KNOB_TP ? "whole " : "", lo, hi);
    }
    if (n == 0)
        return fail(err, ST_INPUT, "knobs.%s: want a list of numbers", knob_names[knob]);
    w->values[wl][knob] = value;
    w->n_values[wl][knob] = (int32_t)n;
    return ST_OK;
}

/* Values, strides, and where the workload's configurations end. */
static enum status parse_knobs(struct workloads *w, int32_t wl, json_t *knobs, struct error *err)
{
    int64_t n = 1;
    if (!json_is_object(knobs))
        return fail(err, ST_INPUT, "knobs must be an object: {\"bs\": [32, 64]}");
    TRY(known_keys(knobs, knob_names, N_KNOBS, err));
    for (int k = N_KNOBS - 1; k >= 0; k--) {
        const json_t *list = json_object_get(knobs, knob_names[k]);
        w->n_values[wl][k] = 1;
        if (list != NULL)
            TRY(parse_values(w, wl, k, list, err));
        w->stride[wl][k] = (int32_t)n;
        n *= w->n_values[wl][k];
        if (n > CONFIGS_MAX)
            return fail(err, ST_INPUT, "knobs: more than %d configurations", CONFIGS_MAX);
    }
    n += w->config_begin[wl];
    if (n > CONFIGS_MAX)
        return fail(err, ST_INPUT, "more than %d configurations in all", CONFIGS_MAX);
    w->config_begin[wl + 1] = (int32_t)n;
    return ST_OK;
}

/* The configuration that an object's knobs mean; those left out have their first value. Other keys
 * are the caller's. */
static enum status config_of(const struct workloads *w, int32_t wl, const json_t *object,
                             int32_t *out, struct error *err)
{
    *out = w->config_begin[wl];
    for (int k = 0; k < N_KNOBS; k++) {
        const json_t *value = json_object_get(object, knob_names[k]);
        int32_t n = w->values[wl][k] == NULL ? 0 : w->n_values[wl][k], i = 0;
        if (value == NULL)
            continue;
        while (i < n && w->values[wl][k][i] != json_number_value(value))
            i++;
        if (i == n)
            return fail(err, ST_INPUT, "%s is none of the values under knobs", knob_names[k]);
        *out += i * w->stride[wl][k];
    }
    return ST_OK;
}

/* Could the formulas of profile.c divide by nothing, or miss a knob? */
static enum status check_model(const struct workloads *w, int32_t wl, struct error *err)
{
    static const enum knob needed[] = {KNOB_BS, KNOB_SL, KNOB_MU};
    bool train = w->source[wl] == SOURCE_TRAIN;
    const struct train_model *t = &w->model[wl].train;
    const struct infer_model *i = &w->model[wl].infer;
    for (int k = 0; k < (train ? 1 : 3); k++)
        if (w->values[wl][needed[k]] == NULL)
            return fail(err, ST_INPUT, "knobs.%s is missing", knob_names[needed[k]]);
    if (train && !(t->rate_inf > 0 && t->amp_speedup > 0 && t->sm > 0 && t->tensor_eff > 0 &&
                   t->cpu_rate > 0 && t->ck_cost < 1))
        return fail(err, ST_INPUT,
                    "coefficients: rate_inf, amp_speedup, sm, tensor_eff and "
                    "cpu_rate must be more than 0, ck_cost less than 1");
    if (!train && !(i->weight_bytes > 0 && i->kv_bytes > 0 && i->bw_eff > 0 && i->flop_eff > 0 &&
                    w->params[wl] > 0))
        return fail(err, ST_INPUT, "params and all coefficients but host_s must be more than 0");
    return ST_OK;
}

/* An object of [number, mark] by these names, all of them. */
static enum status parse_marked(json_t *object, const char *what, const char *const *names, int n,
                                double *value, char *mark_of, struct error *err)
{
    if (!json_is_object(object))
        return fail(err, ST_INPUT, "%s must be an object", what);
    TRY(known_keys(object, names, (size_t)n, err));
    for (int i = 0; i < n; i++) {
        const json_t *pair = json_object_get(object, names[i]);
        const char *mark = json_string_value(json_array_get(pair, 1));
        value[i] = json_number_value(json_array_get(pair, 0));
        if (mark == NULL || mark[0] == '\0' || mark[1] != '\0' || strchr(marks, mark[0]) == NULL ||
            !(value[i] >= 0) || !isfinite(value[i]))
            return fail(err, ST_INPUT, "%s.%s: want [number, mark], 0 or more, marked one of %s",
                        what, names[i], marks);
        mark_of[i] = mark[0];
    }
    return ST_OK;
}

static enum status parse_model(struct workloads *w, int32_t wl, json_t *object, struct error *err)
{
    bool train = w->source[wl] == SOURCE_TRAIN;
    double *value = train ? &w->model[wl].train.rate_inf : &w->model[wl].infer.weight_bytes;
    TRY(parse_marked(object, "coefficients", train ? train_names : infer_names,
                     train ? N_TRAIN : N_INFER, value, w->mark[wl], err));
    return check_model(w, wl, err);
}

/* Do whole micro-batches make the batch, and whole layers the stages? */
static enum status check_parallel(const struct workloads *w, int32_t wl, struct error *err)
{
    const struct parallel *p = &w->parallel[wl];
    const double *bs = w->values[wl][KNOB_BS], *pp = w->values[wl][KNOB_PP];
    if (w->kind[wl] != KIND_TRAIN || bs == NULL)
        return fail(err, ST_INPUT, "parallel is for training with knobs.bs");
    if (w->scaling[wl].n > 0)
        return fail(err, ST_INPUT, "want scaling or parallel, not both");
    if (p->batch != floor(p->batch) || p->batch < 1 || p->layers != floor(p->layers) ||
        p->layers < 1)
        return fail(err, ST_INPUT, "parallel: batch and layers must be whole, 1 or more");
    if (p->dp_exposed > 1 || (p->tp_spans != 0 && p->tp_spans != 1))
        return fail(err, ST_INPUT, "parallel: want dp_exposed from 0 to 1, tp_spans 0 or 1");
    for (int32_t i = 0; i < w->n_values[wl][KNOB_BS]; i++)
        if (fmod(p->batch, bs[i]) != 0)
            return fail(err, ST_INPUT, "knobs.bs: %g does not divide parallel.batch, %g", bs[i],
                        p->batch);
    for (int32_t i = 0; pp != NULL && i < w->n_values[wl][KNOB_PP]; i++)
        if (fmod(p->layers, pp[i]) != 0)
            return fail(err, ST_INPUT, "knobs.pp: %g does not divide parallel.layers, %g", pp[i],
                        p->layers);
    return ST_OK;
}

static enum status parse_parallel(struct workloads *w, int32_t wl, json_t *object,
                                  struct error *err)
{
    bool degrees = w->values[wl][KNOB_TP] != NULL || w->values[wl][KNOB_PP] != NULL;
    if (object == NULL && degrees)
        return fail(err, ST_INPUT, "knobs.tp and knobs.pp need parallel (docs/parallel.md)");
    if (object == NULL)
        return ST_OK;
    TRY(parse_marked(object, "parallel", parallel_names, PARALLEL_MARKS, &w->parallel[wl].batch,
                     w->parallel_mark[wl], err));
    return check_parallel(w, wl, err);
}

/* Gbit/s in thousandths; as it was where the key is missing. */
static enum status bandwidth_of(const json_t *object, const char *key, int32_t *mbps,
                                struct error *err)
{
    double gbps;
    TRY(number_of(object, key, 0, 1e6, &gbps, err));
    if (!isnan(gbps))
        *mbps = (int32_t)ceil(gbps * 1000 - 1e-9);
    return ST_OK;
}

/* What all configurations of a workload take, as far as their profiles say nothing else. */
static enum status parse_bandwidths(struct workloads *w, int32_t wl, const json_t *object,
                                    struct error *err)
{
    int32_t nic = 0, storage = 0;
    TRY(bandwidth_of(object, "nic_gbps", &nic, err));
    TRY(bandwidth_of(object, "storage_gbps", &storage, err));
    for (int32_t c = w->config_begin[wl]; c < w->config_begin[wl + 1]; c++) {
        w->nic_mbps[c] = nic;
        w->storage_mbps[c] = storage;
    }
    return ST_OK;
}

static enum status parse_profile(struct workloads *w, int32_t wl, json_t *object, struct error *err)
{
    const char *keys[3 + N_MEASURES + N_KNOBS] = {"fb_mib", "nic_gbps", "storage_gbps"};
    double **column = &w->measured.rate, fb_mib;
    int32_t c;
    memcpy(keys + 3, measure_names, sizeof measure_names);
    memcpy(keys + 3 + N_MEASURES, knob_names, N_KNOBS * sizeof *knob_names);
    if (!json_is_object(object))
        return fail(err, ST_INPUT, "want an object");
    TRY(known_keys(object, keys, sizeof keys / sizeof *keys, err));
    if (json_object_get(object, "tp") != NULL || json_object_get(object, "pp") != NULL)
        return fail(err, ST_INPUT, "profiles are of one card: leave out tp and pp");
    TRY(config_of(w, wl, object, &c, err));
    if (w->profiled[c])
        return fail(err, ST_INPUT, "a second profile of one configuration");
    TRY(number_of(object, "fb_mib", 0, 1e9, &fb_mib, err));
    TRY(bandwidth_of(object, "nic_gbps", &w->nic_mbps[c], err));
    TRY(bandwidth_of(object, "storage_gbps", &w->storage_mbps[c], err));
    for (int i = 0; i < N_MEASURES; i++) {
        bool frac = i >= 1 && i <= 5; /* sm .. host */
        TRY(number_of(object, measure_names[i], 0, frac ? 1 : 1e18, &column[i][c], err));
    }
    if (!(w->measured.rate[c] > 0) || isnan(fb_mib) || isnan(w->measured.sm[c]))
        return fail(err, ST_INPUT, "rate (more than 0), sm and fb_mib must be there");
    w->fb_mib[c] = (int32_t)ceil(fb_mib);
    w->profiled[c] = true;
    return ST_OK;
}

static enum status parse_profiles(struct workloads *w, int32_t wl, const json_t *list,
                                  struct error *err)
{
    if (json_array_size(list) == 0)
        return fail(err, ST_INPUT, "profiles must be a list");
    for (size_t i = 0; i < json_array_size(list); i++) {
        enum status status = parse_profile(w, wl, json_array_get(list, i), err);
        if (status != ST_OK) {
            fail_in(err, "profiles[%zu]", i);
            return status;
        }
    }
    return ST_OK;
}

/* [[GPUs, speed], …] */
static enum status parse_scaling(struct workloads *w, int32_t wl, const json_t *list,
                                 struct error *err)
{
    struct scaling *s = &w->scaling[wl];
    size_t n = json_array_size(list);
    s->gpus = arena_alloc(&w->arena, n, sizeof *s->gpus);
    s->speed = arena_alloc(&w->arena, n, sizeof *s->speed);
    if (s->gpus == NULL || s->speed == NULL)
        return fail_memory(err);
    for (size_t i = 0; i < n; i++) {
        const json_t *pair = json_array_get(list, i);
        s->gpus[i] = json_number_value(json_array_get(pair, 0));
        s->speed[i] = json_number_value(json_array_get(pair, 1));
        if (!(s->gpus[i] > (i > 0 ? s->gpus[i - 1] : 0)) ||
            !(s->speed[i] > (i > 0 ? s->speed[i - 1] : 0)))
            n = 0;
    }
    if (n < 2 || n > VALUES_MAX)
        return fail(err, ST_INPUT, "scaling: want [[GPUs, speed], …], two to %d, both ascending",
                    VALUES_MAX);
    s->n = (int32_t)n;
    return ST_OK;
}

/* What a workload is, up to its knobs. */
static enum status parse_head(struct workloads *w, int32_t wl, json_t *object, struct error *err)
{
    static const char *const keys[] = {"card",     "coefficients", "default",      "kind",
                                       "knobs",    "mark",         "model",        "name",
                                       "nic_gbps", "note",         "parallel",     "params",
                                       "profiles", "scaling",      "storage_gbps", "unit"};
    static const char *const kinds[] = {"train", "infer"};
    static const char *const sources[] = {"train", "infer", "measured"};
    const char *name, *card, *mark;
    int kind, source;
    if (!json_is_object(object))
        return fail(err, ST_INPUT, "want an object");
    TRY(text_of(object, "name", NULL, &w->arena, &name, err));
    int32_t id = names_add(&w->names, name, strlen(name));
    if (id < 0)
        return fail_memory(err);
    if (id != wl)
        return fail(err, ST_INPUT, "the name %.60s is there already", name);
    TRY(known_keys(object, keys, sizeof keys / sizeof *keys, err));
    TRY(choice_of(object, "kind", kinds, 2, &kind, err));
    TRY(choice_of(object, "model", sources, 3, &source, err));
    TRY(text_of(object, "unit", NULL, &w->arena, &w->unit[wl], err));
    TRY(text_of(object, "note", "", &w->arena, &w->note[wl], err));
    TRY(text_of(object, "mark", "A", &w->arena, &mark, err));
    TRY(text_of(object, "card", "", &w->arena, &card, err));
    TRY(number_of(object, "params", 1, 1e18, &w->params[wl], err));
    w->kind[wl] = kind == 0 ? KIND_TRAIN : KIND_INFER;
    w->source[wl] = (uint8_t)source;
    w->card[wl] = source == SOURCE_MEASURED ? card_find(card) : -1;
    if (source == SOURCE_MEASURED && w->card[wl] < 0)
        return fail(err, ST_INPUT, "card is '%.60s', want one of those in docs/workloads.md", card);
    if (mark[0] == '\0' || mark[1] != '\0' || strchr(marks, mark[0]) == NULL)
        return fail(err, ST_INPUT, "mark must be one of %s", marks);
    w->mark[wl][0] = mark[0];
    return parse_knobs(w, wl, json_object_get(object, "knobs"), err);
}

static enum status parse_body(struct workloads *w, int32_t wl, const json_t *object,
                              struct error *err)
{
    json_t *initial = json_object_get(object, "default");
    if (initial != NULL)
        TRY(known_keys(initial, knob_names, N_KNOBS, err));
    TRY(config_of(w, wl, initial, &w->initial[wl], err));
    if (json_object_get(object, "scaling") != NULL)
        TRY(parse_scaling(w, wl, json_object_get(object, "scaling"), err));
    TRY(parse_bandwidths(w, wl, object, err));
    TRY(parse_parallel(w, wl, json_object_get(object, "parallel"), err));
    if (w->source[wl] == SOURCE_MEASURED)
        return parse_profiles(w, wl, json_object_get(object, "profiles"), err);
    return parse_model(w, wl, json_object_get(object, "coefficients"), err);
}

#define NEW(column, n)                                                                             \
    ((w->column = arena_alloc(&w->arena, (size_t)(n), sizeof *w->column)) != NULL)

static bool workloads_new(struct workloads *w, int32_t n)
{
    w->n = n;
    return NEW(kind, n) && NEW(source, n) && NEW(params, n) && NEW(unit, n) &&
           NEW(config_begin, n + 1) && NEW(initial, n) && NEW(n_values, n) && NEW(stride, n) &&
           NEW(values, n) && NEW(model, n) && NEW(mark, n) && NEW(scaling, n) && NEW(card, n) &&
           NEW(note, n) && NEW(parallel, n) && NEW(parallel_mark, n);
}

/* The rows of all configurations, their knobs' values, and models counted as profiled. */
static bool configs_new(struct workloads *w)
{
    int32_t n = w->n_configs = w->config_begin[w->n];
#define X(name) &&NEW(measured.name, n)
    if (!(NEW(workload, n) && NEW(value, n) && NEW(profiled, n) && NEW(fb_mib, n) &&
          NEW(nic_mbps, n) && NEW(storage_mbps, n) MEASURES(X)))
        return false;
#undef X
    for (int32_t wl = 0; wl < w->n; wl++)
        for (int32_t c = w->config_begin[wl]; c < w->config_begin[wl + 1]; c++) {
            w->workload[c] = wl;
            w->profiled[c] = w->source[wl] != SOURCE_MEASURED;
            for (int k = 0; k < N_KNOBS; k++)
                w->value[c][k] = w->values[wl][k] == NULL
                                     ? NAN
                                     : w->values[wl][k][config_index(w, c, (enum knob)k)];
        }
    return true;
}

static enum status parse_catalog(struct workloads *w, json_t *root, struct error *err)
{
    static const char *const keys[] = {"about", "name", "workloads"};
    const json_t *list = json_object_get(root, "workloads");
    size_t n = json_array_size(list);
    const char *name;
    if (!json_is_object(root) || n == 0 || n > WORKLOADS_MAX)
        return fail(err, ST_INPUT, "want an object with a list of \"workloads\"");
    TRY(known_keys(root, keys, sizeof keys / sizeof *keys, err));
    TRY(text_of(root, "name", "", &w->arena, &name, err));
    snprintf(w->name, sizeof w->name, "%s", name);
    if (!workloads_new(w, (int32_t)n))
        return fail_memory(err);
    enum status status = ST_OK;
    int32_t wl = 0;
    for (; status == ST_OK && wl < w->n; wl++)
        status = parse_head(w, wl, json_array_get(list, (size_t)wl), err);
    if (status == ST_OK && !configs_new(w))
        return fail_memory(err);
    if (status == ST_OK)
        for (wl = 0; status == ST_OK && wl < w->n; wl++)
            status = parse_body(w, wl, json_array_get(list, (size_t)wl), err);
    if (status == ST_INPUT)
        fail_in(err, "workloads[%d]%s%s", wl - 1, wl - 1 < w->names.n ? " " : "",
                wl - 1 < w->names.n ? names_text(&w->names, wl - 1) : "");
    return status;
}

/* The text of an embedded catalog, or of a file; NULL and err where it is no JSON. */
static enum status load(const char *what, json_t **out, struct error *err)
{
    json_error_t where;
    const struct catalog_text *t = catalog_texts;
    while (t->name != NULL && strcmp(t->name, what) != 0)
        t++;
    errno = 0; /* jansson calls memory that ran out a syntax error */
    *out = t->name != NULL
               ? json_loadb((const char *)t->text, t->length, JSON_REJECT_DUPLICATES, &where)
               : json_load_file(what, JSON_REJECT_DUPLICATES, &where);
    if (*out != NULL)
        return ST_OK;
    if (errno == ENOMEM || t->name != NULL)
        return fail_memory(err);
    if (where.line < 0)
        return fail(err, ST_INPUT, "%s; embedded catalogs: table2, h200",
                    errno != 0 ? strerror(errno) : where.text);
    return fail(err, ST_INPUT, "line %d column %d: %s", where.line, where.column, where.text);
}

enum status catalog_read(const char *what, struct workloads *out, struct error *err)
{
    json_t *root = NULL;
    *out = (struct workloads){0};
    enum status status = load(what, &root, err);
    if (status == ST_OK)
        status = parse_catalog(out, root, err);
    json_decref(root);
    if (status == ST_INPUT)
        fail_in(err, "catalog %s", what);
    return status;
}
