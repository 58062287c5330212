#include "core/elastico/iac.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum side_use { FOR_BOTH, FOR_TRAIN, FOR_INFER };

/* The features of a side in their order, the extras last. */
static const struct side_feature {
    const char *name;
    size_t offset;
    enum side_use use;
    enum iac_map_kind map;
} side_features[IAC_SIDE + IAC_EXTRAS] = {
    {"sm", offsetof(struct iac_side, sm), FOR_BOTH, IAC_MAP_PLAIN},
    {"occ", offsetof(struct iac_side, occ), FOR_BOTH, IAC_MAP_PLAIN},
    {"dram", offsetof(struct iac_side, dram), FOR_BOTH, IAC_MAP_PLAIN},
    {"fb_mib", offsetof(struct iac_side, fb_mib), FOR_BOTH, IAC_MAP_LOG1P},
    {"tensor", offsetof(struct iac_side, tensor), FOR_BOTH, IAC_MAP_PLAIN},
    {"is_train", 0, FOR_BOTH, IAC_MAP_PLAIN},
    {"log10_params", offsetof(struct iac_side, log10_params), FOR_BOTH, IAC_MAP_RANK},
    {"T", offsetof(struct iac_side, rate), FOR_BOTH, IAC_MAP_RANK},
    {"bs", offsetof(struct iac_side, bs), FOR_TRAIN, IAC_MAP_LOG1P},
    {"ck", offsetof(struct iac_side, ck), FOR_TRAIN, IAC_MAP_PLAIN},
    {"amp", offsetof(struct iac_side, amp), FOR_TRAIN, IAC_MAP_PLAIN},
    {"isl", offsetof(struct iac_side, isl), FOR_INFER, IAC_MAP_LOG1P},
    {"osl", offsetof(struct iac_side, osl), FOR_INFER, IAC_MAP_LOG1P},
    {"rho", offsetof(struct iac_side, rho), FOR_INFER, IAC_MAP_PLAIN},
    {"kernel_s", offsetof(struct iac_side, kernel_s), FOR_BOTH, IAC_MAP_LOG},
    {"step_s", offsetof(struct iac_side, step_s), FOR_BOTH, IAC_MAP_LOG},
};
enum { IS_TRAIN = 5 }; /* a number made of kind, not a field */

static const char *const pair_name[IAC_PAIR] = {"mean_sm",     "mean_occ",          "mean_dram",
                                                "mean_tensor", "kind_pair",         "mem_pressure",
                                                "sm_balance",  "mem_intensity_diff"};

const char *const iac_map_name[N_IAC_MAP_KINDS] = {"plain", "log1p", "log", "rank"};
const char *const iac_form_name[N_IAC_FORMS] = {"dnn", "linear", "gbdt"};

static double side_value(const struct iac_side *s, int32_t f)
{
    bool train = s->kind == KIND_TRAIN;
    if (f == IS_TRAIN)
        return train;
    const struct side_feature *feature = &side_features[f];
    bool applies = feature->use == FOR_BOTH || (feature->use == FOR_TRAIN) == train;
    double value;
    memcpy(&value, (const char *)s + feature->offset, sizeof value);
    return applies ? value : 0;
}

static double intensity(const struct iac_side *s) { return s->sm > 0 ? s->dram / s->sm : 0; }

static void pair_values(const struct iac_side *i, const struct iac_side *j, double *x)
{
    double most = fmax(i->sm, j->sm);
    x[0] = (i->sm + j->sm) / 2;
    x[1] = (i->occ + j->occ) / 2;
    x[2] = (i->dram + j->dram) / 2;
    x[3] = (i->tensor + j->tensor) / 2;
    x[4] = (i->kind != KIND_TRAIN) + (j->kind != KIND_TRAIN);
    x[5] = (i->fb_mib + j->fb_mib) / i->card_mib;
    x[6] = most > 0 ? fmin(i->sm, j->sm) / most : 1;
    x[7] = fabs(intensity(i) - intensity(j));
}

/* What a feature is: number `side` of one of the sides, or number `pair` of the pair; the other is
 * -1. */
struct place {
    bool second; /* of j */
    int32_t side, pair;
};

static struct place place_of(int32_t feature)
{
    assert(feature >= 0 && feature < IAC_FEATURES_MAX);
    if (feature < 2 * IAC_SIDE)
        return (struct place){feature >= IAC_SIDE, feature % IAC_SIDE, -1};
    if (feature < IAC_FEATURES)
        return (struct place){false, -1, feature - 2 * IAC_SIDE};
    int32_t extra = feature - IAC_FEATURES;
    return (struct place){extra >= IAC_EXTRAS, IAC_SIDE + extra % IAC_EXTRAS, -1};
}

void iac_features(const struct iac_side *i, const struct iac_side *j, bool extras, double *x)
{
    for (int32_t f = 0; f < IAC_SIDE; f++) {
        x[f] = side_value(i, f);
        x[IAC_SIDE + f] = side_value(j, f);
    }
    pair_values(i, j, x + 2 * IAC_SIDE);
    for (int32_t f = 0; extras && f < IAC_EXTRAS; f++) {
        x[IAC_FEATURES + f] = side_value(i, IAC_SIDE + f);
        x[IAC_FEATURES + IAC_EXTRAS + f] = side_value(j, IAC_SIDE + f);
    }
}

/* Maps: those of a side's features, then those of the pair, then those of the extras. */
int32_t iac_map_of(int32_t feature)
{
    struct place p = place_of(feature);
    if (p.pair >= 0)
        return IAC_SIDE + p.pair;
    return p.side < IAC_SIDE ? p.side : p.side + IAC_PAIR;
}

const char *iac_map_title(int32_t map)
{
    if (map < IAC_SIDE)
        return side_features[map].name;
    return map < IAC_SIDE + IAC_PAIR ? pair_name[map - IAC_SIDE]
                                     : side_features[map - IAC_PAIR].name;
}

enum iac_map_kind iac_map_kind_of(int32_t map)
{
    if (map < IAC_SIDE)
        return side_features[map].map;
    return map < IAC_SIDE + IAC_PAIR ? IAC_MAP_PLAIN : side_features[map - IAC_PAIR].map;
}

const char *iac_feature_name(int32_t feature, char buffer[32])
{
    struct place p = place_of(feature);
    if (p.pair >= 0)
        snprintf(buffer, 32, "%s", pair_name[p.pair]);
    else
        snprintf(buffer, 32, "%s_%c", side_features[p.side].name, p.second ? 'j' : 'i');
    return buffer;
}

/* Linear between neighbouring knots; outside them 0 and 1. */
static double rank_of(const struct iac_map *map, double x)
{
    int32_t low = 0, high = map->n_knots - 1;
    if (high == 0 || x <= map->knot[0])
        return 0;
    if (x >= map->knot[high])
        return 1;
    while (high - low > 1) {
        int32_t middle = (low + high) / 2;
        if (map->knot[middle] <= x)
            low = middle;
        else
            high = middle;
    }
    double part = (x - map->knot[low]) / (map->knot[high] - map->knot[low]);
    return (low + part) / (map->n_knots - 1);
}

bool iac_map_transform(const struct iac_map *map, double x, double *out)
{
    *out = 0;
    switch (map->kind) {
    case IAC_MAP_PLAIN: *out = x; return true;
    case IAC_MAP_LOG1P: *out = log1p(x); return true;
    case IAC_MAP_LOG: *out = x > 0 ? log(x) : 0; return x > 0;
    case IAC_MAP_RANK: *out = rank_of(map, x); return true;
    case N_IAC_MAP_KINDS: break;
    }
    assert(false);
    return false;
}

double iac_map_apply(const struct iac_map *map, double x)
{
    double at;
    if (map->sd <= 0 || !iac_map_transform(map, x, &at))
        return 0;
    return (at - map->mean) / map->sd;
}

enum status iac_fold(struct iac_model *m, struct error *err)
{
    for (int32_t k = 0; k < m->n_nets; k++) {
        dense_fold_free(&m->fold[k]);
        TRY(dense_fold(&m->fold[k], &m->net[k], err));
    }
    return ST_OK;
}

void iac_model_free(struct iac_model *m)
{
    for (int32_t i = 0; i < IAC_MAPS; i++)
        free(m->map[i].knot);
    for (int32_t k = 0; k < m->n_nets; k++) {
        dense_free(&m->net[k]);
        dense_fold_free(&m->fold[k]);
    }
    gbdt_free(&m->trees);
    *m = (struct iac_model){0};
}

enum status iac_reader_init(struct iac_reader *r, const struct iac_model *model, struct error *err)
{
    int32_t hidden = 0;
    for (int32_t k = 0; k < model->n_nets; k++) {
        int32_t width = model->fold[k].width[1] + model->fold[k].width[2];
        hidden = width > hidden ? width : hidden;
    }
    size_t n_x = (size_t)IAC_BATCH * IAC_FEATURES_MAX,
           n_scratch = (size_t)IAC_BATCH * (size_t)hidden;
    size_t n_y = (size_t)IAC_BATCH * IAC_NETS_MAX;
    *r = (struct iac_reader){.model = model, .x = calloc(n_x + n_scratch + n_y, sizeof *r->x)};
    if (r->x == NULL)
        return fail_memory(err);
    r->scratch = r->x + n_x;
    r->y = r->scratch + n_scratch;
    return ST_OK;
}

void iac_reader_free(struct iac_reader *r)
{
    free(r->x);
    *r = (struct iac_reader){0};
}

void iac_map_rows(const struct iac_model *m, const struct iac_side *side, int32_t n,
                  const struct iac_pair *pair, double *x)
{
    int32_t width = iac_n_features(m);
    for (int32_t i = 0; i < n; i++, x += width) {
        iac_features(&side[pair[i].of], &side[pair[i].beside], m->extras, x);
        for (int32_t f = 0; f < width; f++)
            x[f] = iac_map_apply(&m->map[iac_map_of(f)], x[f]);
    }
}

double iac_round(double s) { return nearbyint(s * 1e6) / 1e6; }

/* Mean and standard deviation over the networks of rows y[k * IAC_BATCH + i]. */
static void gather(int32_t n_nets, int32_t n, const double *y, double *s, double *spread)
{
    for (int32_t i = 0; i < n; i++) {
        double sum = 0, square = 0;
        for (int32_t k = 0; k < n_nets; k++)
            sum += y[k * IAC_BATCH + i];
        double mean = sum / n_nets;
        for (int32_t k = 0; k < n_nets; k++)
            square += (y[k * IAC_BATCH + i] - mean) * (y[k * IAC_BATCH + i] - mean);
        s[i] = iac_round(mean);
        if (spread != NULL)
            spread[i] = n_nets > 1 ? iac_round(sqrt(square / (n_nets - 1))) : 0;
    }
}

static void ask_linear(const struct iac_model *m, int32_t n, const double *x, double *y)
{
    int32_t width = iac_n_features(m);
    for (int32_t i = 0; i < n; i++, x += width) {
        double sum = m->bias;
        for (int32_t f = 0; f < width; f++)
            sum += m->weight[f] * x[f];
        y[i] = fmax(1, exp(sum));
    }
}

static void predict_batch(struct iac_reader *r, const struct iac_side *side, int32_t n,
                          const struct iac_pair *pair, double *s, double *spread)
{
    const struct iac_model *m = r->model;
    iac_map_rows(m, side, n, pair, r->x);
    switch (m->form) {
    case IAC_DNN:
        for (int32_t k = 0; k < m->n_nets; k++)
            dense_predict(&m->fold[k], n, r->x, r->scratch, r->y + k * IAC_BATCH);
        gather(m->n_nets, n, r->y, s, spread);
        return;
    case IAC_LINEAR:
        ask_linear(m, n, r->x, r->y);
        gather(1, n, r->y, s, spread);
        return;
    case IAC_GBDT:
        gbdt_predict(&m->trees, n, iac_n_features(m), r->x, r->y);
        for (int32_t i = 0; i < n; i++)
            r->y[i] = fmax(1, exp(r->y[i]));
        gather(1, n, r->y, s, spread);
        return;
    case N_IAC_FORMS: break;
    }
    assert(false);
}

void iac_predict(struct iac_reader *r, const struct iac_side *side, int32_t n,
                 const struct iac_pair *pair, double *s, double *spread)
{
    for (int32_t at = 0; at < n; at += IAC_BATCH) {
        int32_t step = n - at < IAC_BATCH ? n - at : IAC_BATCH;
        predict_batch(r, side, step, pair + at, s + at, spread != NULL ? spread + at : NULL);
    }
}

static double least_of(double x, double y) { return x < y ? x : y; }

static double most_of(double x, double y) { return x > y ? x : y; }

double iac_tau(const struct iac_tau *t, double rate_over_least, double u)
{
    double pressed = t->beta * (u / t->u_target - 1);
    switch (t->form) {
    case IAC_TAU_FLOOR:
        pressed = least_of(most_of(pressed, -t->beta_max), t->beta_max);
        return most_of(1, least_of(rate_over_least, t->base + pressed));
    case IAC_TAU_PAPER: return least_of(t->base, rate_over_least) + least_of(pressed, t->beta_max);
    }
    assert(false);
    return 1;
}
