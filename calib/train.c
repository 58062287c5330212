#include "calib/train.h"

#include "core/base/rng.h"

#include <assert.h>
#include <gsl/gsl_linalg.h>
#include <gsl/gsl_randist.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

const struct param train_params[] = {
    PARAM_INT(struct train_options, batch, "rows", 64, 2, 65536, "rows of one step"),
    PARAM_REAL(struct train_options, decay, "1", 1e-4, 0, 1, "L2 penalty on weights"),
    PARAM_REAL(struct train_options, dropout, "1", .2, 0, .9,
               "share of hidden numbers left out while learning [paper, 3.3]"),
    PARAM_INT(struct train_options, epochs, "1", 400, 1, 1000000, "passes over the rows, at least"),
    PARAM_REAL(struct train_options, held_out, "1", .1, .01, .5,
               "share of rows held out to tell when to stop"),
    PARAM_INT(struct train_options, hidden_1, "1", 64, 1, 4096, "width of the first hidden layer"),
    PARAM_INT(struct train_options, hidden_2, "1", 64, 1, 4096, "width of the second"),
    PARAM_REAL(struct train_options, patience, "1", .15, .001, 1,
               "share of the epochs after which no better state ends it"),
    PARAM_REAL(struct train_options, rate, "1", 2e-3, 1e-8, 1, "Adam's step size at the start"),
    PARAM_INT(struct train_options, steps, "1", 5000, 1, 1000000000,
              "batches, at least: few rows make more epochs"),
    PARAM_END,
};

struct train_options train_defaults(void)
{
    struct train_options o;
    param_defaults(&(struct param_group){"train", train_params, &o});
    return o;
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The sorted distinct values (by more than a millionth) become the knots; of too many, as many as
 * there may be, evenly. */
static enum status fit_knots(struct iac_map *map, const double *value, int32_t n, struct error *err)
{
    free(map->knot);
    map->knot = malloc((size_t)n * sizeof *map->knot);
    if (map->knot == NULL)
        return fail_memory(err);
    memcpy(map->knot, value, (size_t)n * sizeof *map->knot);
    qsort(map->knot, (size_t)n, sizeof *map->knot, compare);
    map->n_knots = 1;
    for (int32_t i = 1; i < n; i++) {
        double last = map->knot[map->n_knots - 1];
        if (map->knot[i] > last + 1e-6 * fabs(last))
            map->knot[map->n_knots++] = map->knot[i];
    }
    if (map->n_knots <= TRAIN_KNOTS_MAX)
        return ST_OK;
    for (int32_t i = 0; i < TRAIN_KNOTS_MAX; i++)
        map->knot[i] = map->knot[(int64_t)i * (map->n_knots - 1) / (TRAIN_KNOTS_MAX - 1)];
    map->n_knots = TRAIN_KNOTS_MAX;
    return ST_OK;
}

/* Mean and standard deviation of what is known; a spread of rounding's size is none. */
static void fit_moments(struct iac_map *map, const double *value, int32_t n)
{
    double at, sum = 0, square = 0;
    int32_t n_known = 0;
    for (int32_t i = 0; i < n; i++)
        if (iac_map_transform(map, value[i], &at)) {
            sum += at;
            n_known++;
        }
    map->mean = n_known > 0 ? sum / n_known : 0;
    for (int32_t i = 0; i < n; i++)
        if (iac_map_transform(map, value[i], &at))
            square += (at - map->mean) * (at - map->mean);
    map->sd = n_known > 1 ? sqrt(square / n_known) : 0;
    if (map->sd < 1e-9 * (1 + fabs(map->mean)))
        map->sd = 0;
}

enum status train_maps(struct iac_model *model, const struct samples *s, const int32_t *row,
                       int32_t n, struct error *err)
{
    enum status status = ST_OK;
    int32_t width = iac_n_features(model);
    double x[IAC_FEATURES_MAX];
    double *value = malloc(2 * (size_t)n * sizeof *value);
    if (value == NULL)
        return fail_memory(err);
    for (int32_t m = 0; m < IAC_MAPS; m++) {
        int32_t n_values = 0;
        for (int32_t i = 0; i < n; i++) {
            iac_features(&s->side[2 * row[i]], &s->side[2 * row[i] + 1], model->extras, x);
            for (int32_t f = 0; f < width; f++)
                if (iac_map_of(f) == m)
                    value[n_values++] = x[f];
        }
        model->map[m].kind = iac_map_kind_of(m);
        if (n_values > 0 && model->map[m].kind == IAC_MAP_RANK)
            TRY_OUT(fit_knots(&model->map[m], value, n_values, err));
        fit_moments(&model->map[m], value, n_values);
    }
out:
    free(value);
    return status;
}

enum status train_set_init(struct train_set *t, const struct iac_model *model,
                           const struct samples *s, const int32_t *row, int32_t n,
                           struct error *err)
{
    int32_t width = iac_n_features(model);
    *t = (struct train_set){.n = n, .width = width};
    t->x = malloc(((size_t)n * (size_t)width + 1) * sizeof *t->x);
    t->log_s = malloc(((size_t)n + 1) * sizeof *t->log_s);
    t->experiment = malloc(((size_t)n + 1) * sizeof *t->experiment);
    if (t->x == NULL || t->log_s == NULL || t->experiment == NULL) {
        train_set_free(t);
        return fail_memory(err);
    }
    for (int32_t i = 0; i < n; i++) {
        struct iac_pair pair = samples_pair(row[i]);
        iac_map_rows(model, s->side, 1, &pair, t->x + (size_t)i * (size_t)width);
        t->log_s[i] = log(s->row[row[i]].slowdown);
        t->experiment[i] = s->row[row[i]].experiment;
    }
    return ST_OK;
}

void train_set_free(struct train_set *t)
{
    free(t->x);
    free(t->log_s);
    free(t->experiment);
    *t = (struct train_set){0};
}

/* What training one network needs besides the network. */
struct session {
    const struct train_set *set;
    const struct train_options *options;
    gsl_rng *rng;
    struct dense_work work;
    struct dense_adam adam;
    struct dense_net best;
    int32_t n_learn, n_watch;
    int32_t *learn, *watch;              /* rows learned from and held out; learn owns both */
    double *x, *y, *dy;                  /* one batch; x owns all three */
    double *watch_x, *watch_y, *scratch; /* the rows held out; watch_x owns all three */
};

/* Holds out whole experiments until the share of rows is reached. */
static enum status split(struct session *s, struct error *err)
{
    const struct train_set *t = s->set;
    int32_t n_experiments = 0, n_out = 0;
    for (int32_t i = 0; i < t->n; i++)
        n_experiments = t->experiment[i] >= n_experiments ? t->experiment[i] + 1 : n_experiments;
    int32_t *order = calloc(2 * (size_t)n_experiments + 1, sizeof *order);
    s->learn = malloc((size_t)t->n * sizeof *s->learn);
    if (order == NULL || s->learn == NULL) {
        free(order);
        return fail_memory(err);
    }
    int32_t *n_rows = order + n_experiments; /* of each experiment; -1: held out */
    for (int32_t e = 0; e < n_experiments; e++)
        order[e] = e;
    for (int32_t i = 0; i < t->n; i++)
        n_rows[t->experiment[i]]++;
    gsl_ran_shuffle(s->rng, order, (size_t)n_experiments, sizeof *order);
    for (int32_t e = 0; e < n_experiments && n_out < s->options->held_out * t->n; e++) {
        n_out += n_rows[order[e]];
        n_rows[order[e]] = -1;
    }
    s->n_learn = s->n_watch = 0;
    s->watch = s->learn + (t->n - n_out);
    for (int32_t i = 0; i < t->n; i++)
        if (n_rows[t->experiment[i]] < 0)
            s->watch[s->n_watch++] = i;
        else
            s->learn[s->n_learn++] = i;
    free(order);
    return ST_OK;
}

static void copy_rows(const struct train_set *t, const int32_t *row, int32_t n, double *x)
{
    size_t width = (size_t)t->width;
    for (int32_t i = 0; i < n; i++)
        memcpy(x + (size_t)i * width, t->x + (size_t)row[i] * width, width * sizeof *x);
}

static void he_init(struct dense_net *net, gsl_rng *rng)
{
    for (int32_t l = 0; l < DENSE_LAYERS; l++) {
        struct dense_layer layer = dense_layer(net, l);
        double sd = sqrt(2.0 / layer.n_in) * (l == DENSE_HIDDEN ? .3 : 1);
        for (size_t i = 0; i < (size_t)layer.n_out * (size_t)layer.n_in; i++)
            layer.weight[i] = gsl_ran_gaussian_ziggurat(rng, sd);
    }
    dense_layer(net, DENSE_HIDDEN).bias[0] = .5;
}

static enum status session_init(struct session *s, struct dense_net *net, struct error *err)
{
    const struct train_options *o = s->options;
    int32_t batch = (int32_t)o->batch;
    size_t n = (size_t)batch, width = (size_t)s->set->width;
    size_t hidden = (size_t)(o->hidden_1 + o->hidden_2);
    TRY(split(s, err));
    TRY(dense_init(net, s->set->width, (int32_t)o->hidden_1, (int32_t)o->hidden_2, err));
    he_init(net, s->rng);
    TRY(dense_copy(&s->best, net, err));
    TRY(dense_work_init(&s->work, net, batch, err));
    TRY(dense_adam_init(&s->adam, net, err));
    s->x = malloc(n * (width + 2) * sizeof *s->x);
    s->watch_x = malloc(((size_t)s->n_watch * (width + 1 + hidden) + 1) * sizeof *s->watch_x);
    if (s->x == NULL || s->watch_x == NULL)
        return fail_memory(err);
    s->y = s->x + n * width;
    s->dy = s->y + n;
    s->watch_y = s->watch_x + (size_t)s->n_watch * width;
    s->scratch = s->watch_y + s->n_watch;
    copy_rows(s->set, s->watch, s->n_watch, s->watch_x);
    return ST_OK;
}

static void session_free(struct session *s)
{
    dense_work_free(&s->work);
    dense_adam_free(&s->adam);
    dense_free(&s->best);
    free(s->learn);
    free(s->x);
    free(s->watch_x);
    if (s->rng != NULL)
        gsl_rng_free(s->rng);
}

static void draw_mask(struct session *s, const struct dense_net *net, int32_t n)
{
    double keep = 1 - s->options->dropout;
    size_t n_hidden = (size_t)n * (size_t)(net->width[1] + net->width[2]);
    for (size_t i = 0; i < n_hidden; i++)
        s->work.mask[i] = gsl_rng_uniform(s->rng) < keep ? 1 / keep : 0;
}

/* One pass over the rows learned from, in a new order. */
static void epoch(struct session *s, struct dense_net *net, double rate)
{
    int32_t n = (int32_t)s->options->batch;
    gsl_ran_shuffle(s->rng, s->learn, (size_t)s->n_learn, sizeof *s->learn);
    for (int32_t at = 0; at + n <= s->n_learn; at += n) {
        copy_rows(s->set, s->learn + at, n, s->x);
        draw_mask(s, net, n);
        dense_forward(net, &s->work, n, s->x, s->y);
        for (int32_t i = 0; i < n; i++)
            s->dy[i] = 2 * (log(s->y[i]) - s->set->log_s[s->learn[at + i]]) / (s->y[i] * n);
        dense_backward(net, &s->work, n, s->x, s->dy);
        dense_decay(net, s->options->decay, s->work.grad);
        dense_adam_step(&s->adam, net, s->work.grad, rate);
    }
}

static enum status held_out_loss(struct session *s, const struct dense_net *net, double *loss,
                                 struct error *err)
{
    struct dense_fold fold;
    TRY(dense_fold(&fold, net, err));
    dense_predict(&fold, s->n_watch, s->watch_x, s->scratch, s->watch_y);
    dense_fold_free(&fold);
    *loss = 0;
    for (int32_t i = 0; i < s->n_watch; i++) {
        double error = log(s->watch_y[i]) - s->set->log_s[s->watch[i]];
        *loss += error * error / s->n_watch;
    }
    return ST_OK;
}

static int64_t n_epochs(const struct train_options *o, int32_t n_rows)
{
    int64_t n_batches = n_rows / o->batch;
    int64_t for_steps = (o->steps + n_batches - 1) / n_batches;
    return for_steps > o->epochs ? for_steps : o->epochs;
}

static enum status learn(struct session *s, struct dense_net *net, struct train_report *report,
                         struct error *err)
{
    const struct train_options *o = s->options;
    size_t n_numbers = net->n_params + net->n_stats;
    int64_t epochs = n_epochs(o, s->n_learn);
    double patience = o->patience * (double)epochs;
    *report = (struct train_report){.held_out_loss = INFINITY};
    for (int64_t e = 0; e < epochs && (double)(e - report->best_epoch) <= patience; e++) {
        double loss;
        epoch(s, net, o->rate * .5 * (1 + cos(M_PI * (double)e / (double)epochs)));
        TRY(held_out_loss(s, net, &loss, err));
        report->n_epochs = e + 1;
        if (loss < report->held_out_loss) {
            report->held_out_loss = loss;
            report->best_epoch = e;
            memcpy(s->best.param, net->param, n_numbers * sizeof *net->param);
        }
    }
    memcpy(net->param, s->best.param, n_numbers * sizeof *net->param);
    return ST_OK;
}

enum status train_net(struct dense_net *net, const struct train_set *t,
                      const struct train_options *o, uint64_t seed, const char *purpose,
                      struct train_report *report, struct error *err)
{
    struct session s = {.set = t, .options = o, .rng = rng_stream(seed, purpose)};
    *net = (struct dense_net){0};
    enum status status = s.rng == NULL ? fail_memory(err) : session_init(&s, net, err);
    if (status == ST_OK && (s.n_learn < o->batch || s.n_watch < 1))
        status = fail(err, ST_INPUT,
                      "%d rows are too few to learn from: want %lld and some to "
                      "hold out",
                      t->n, (long long)o->batch);
    if (status == ST_OK)
        status = learn(&s, net, report, err);
    session_free(&s);
    if (status != ST_OK)
        dense_free(net);
    return status;
}

/* The normal equations of (x, 1), lower half, and their right side. */
static void normal_equations(const struct train_set *t, gsl_matrix *a, gsl_vector *b)
{
    size_t width = (size_t)t->width;
    double row[IAC_FEATURES_MAX + 1];
    for (int32_t i = 0; i < t->n; i++) {
        memcpy(row, t->x + (size_t)i * width, width * sizeof *row);
        row[width] = 1;
        for (size_t r = 0; r <= width; r++) {
            for (size_t c = 0; c <= r; c++)
                *gsl_matrix_ptr(a, r, c) += row[r] * row[c];
            *gsl_vector_ptr(b, r) += row[r] * t->log_s[i];
        }
    }
    for (size_t r = 0; r <= width; r++)
        *gsl_matrix_ptr(a, r, r) += 1e-6 * t->n;
}

enum status train_linear(struct iac_model *model, const struct train_set *t, struct error *err)
{
    enum status status = ST_OK;
    size_t width = (size_t)t->width;
    gsl_matrix *a = gsl_matrix_calloc(width + 1, width + 1);
    gsl_vector *b = gsl_vector_calloc(width + 1);
    if (a == NULL || b == NULL) {
        status = fail_memory(err);
        goto out;
    }
    normal_equations(t, a, b);
    if (gsl_linalg_cholesky_decomp1(a) != 0 || gsl_linalg_cholesky_svx(a, b) != 0) {
        status = fail(err, ST_INPUT, "the linear regression has no solution");
        goto out;
    }
    for (size_t f = 0; f < width; f++)
        model->weight[f] = gsl_vector_get(b, f);
    model->bias = gsl_vector_get(b, width);
    model->form = IAC_LINEAR;
out:
    if (a != NULL)
        gsl_matrix_free(a);
    if (b != NULL)
        gsl_vector_free(b);
    return status;
}
