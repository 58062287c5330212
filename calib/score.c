#include "calib/score.h"

#include "core/base/rng.h"

#include <gsl/gsl_randist.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

const char *const score_by_name[] = {"experiment", "pair", "workload", NULL};
const char *const score_model_name[] = {"dnn",    "dnn+steps",  "dnn+physics",
                                        "gbdt",   "gbdt+steps", "gbdt+physics",
                                        "linear", "queueing",   NULL};

static int32_t *shuffled(int32_t n, uint64_t seed)
{
    gsl_rng *rng = rng_stream(seed, "folds");
    int32_t *order = malloc((size_t)n * sizeof *order + 1);
    for (int32_t i = 0; order != NULL && i < n; i++)
        order[i] = i;
    if (rng != NULL && order != NULL)
        gsl_ran_shuffle(rng, order, (size_t)n, sizeof *order);
    if (rng == NULL) {
        free(order);
        return NULL;
    }
    gsl_rng_free(rng);
    return order;
}

/* The groups of experiments that stay together: group[e], counted from 0. -1 when memory is out. */
static int32_t group_experiments(const struct samples *s, enum score_by by, int32_t *group)
{
    char name[32];
    struct names pairs = {0};
    for (int32_t k = 0; k < s->n; k++) {
        int32_t a = s->row[k].workload[0], b = s->row[k].workload[1], e = s->row[k].experiment;
        int length = snprintf(name, sizeof name, "%d %d", a < b ? a : b, a < b ? b : a);
        group[e] = by == SCORE_BY_EXPERIMENT ? e : names_add(&pairs, name, (size_t)length);
        if (group[e] < 0) {
            names_free(&pairs);
            return -1;
        }
    }
    int32_t n = by == SCORE_BY_EXPERIMENT ? s->n_experiments : pairs.n;
    names_free(&pairs);
    return n;
}

enum status score_plan_init(struct score_plan *p, const struct samples *s, enum score_by by,
                            int32_t n_folds, uint64_t seed, struct error *err)
{
    *p = (struct score_plan){by, by == SCORE_BY_WORKLOAD ? s->workloads.n : n_folds, NULL};
    if (by == SCORE_BY_WORKLOAD)
        return ST_OK;
    p->fold = malloc((size_t)s->n_experiments * sizeof *p->fold + 1);
    int32_t n_groups = p->fold == NULL ? -1 : group_experiments(s, by, p->fold);
    int32_t *order = n_groups < 0 ? NULL : shuffled(n_groups, seed);
    int32_t *place = order == NULL ? NULL : malloc((size_t)n_groups * sizeof *place + 1);
    enum status status = ST_OK;
    if (place == NULL) {
        status = fail_memory(err);
    } else if (n_folds < 2 || n_groups < n_folds) {
        status = fail(err, ST_USAGE, "%d folds of %d %ss", n_folds, n_groups, score_by_name[by]);
    } else {
        for (int32_t i = 0; i < n_groups; i++)
            place[order[i]] = i;
        for (int32_t e = 0; e < s->n_experiments; e++)
            p->fold[e] = place[p->fold[e]] % n_folds;
    }
    free(order);
    free(place);
    return status;
}

void score_plan_free(struct score_plan *p)
{
    free(p->fold);
    *p = (struct score_plan){0};
}

static bool is_tested(const struct score_plan *p, const struct pair_row *row, int32_t fold)
{
    if (p->by == SCORE_BY_WORKLOAD)
        return row->workload[0] == fold || row->workload[1] == fold;
    return p->fold[row->experiment] == fold;
}

static bool wants_physics(enum score_model m)
{
    return m == SCORE_DNN_PHYSICS || m == SCORE_GBDT_PHYSICS || m == SCORE_QUEUEING;
}

static bool wants_steps(enum score_model m)
{
    return wants_physics(m) || m == SCORE_DNN_STEPS || m == SCORE_GBDT_STEPS;
}

static bool is_gbdt(enum score_model m)
{
    return m == SCORE_GBDT || m == SCORE_GBDT_STEPS || m == SCORE_GBDT_PHYSICS;
}

bool score_model_applies(enum score_model model, const struct samples *s)
{
    bool steps = false;
    for (int32_t i = 0; i < 2 * s->n; i++)
        steps = steps || s->side[i].step_s > 0;
    return model == SCORE_QUEUEING ||
           ((!is_gbdt(model) || gbdt_built()) && (!wants_steps(model) || steps) &&
            (!wants_physics(model) || s->named_jobs));
}

/* Rows of the other folds and of this one. */
static enum status split(const struct samples *s, const struct score_plan *p, int32_t fold,
                         struct score_fold *out, int32_t **learn, int32_t *n_learn,
                         struct error *err)
{
    size_t n = (size_t)s->n + 1;
    *out = (struct score_fold){0, malloc(n * sizeof *out->row), malloc(n * sizeof *out->slowdown)};
    *learn = malloc(n * sizeof **learn);
    *n_learn = 0;
    if (out->row == NULL || out->slowdown == NULL || *learn == NULL)
        return fail_memory(err);
    for (int32_t k = 0; k < s->n; k++)
        if (is_tested(p, &s->row[k], fold))
            out->row[out->n++] = k;
        else
            (*learn)[(*n_learn)++] = k;
    return ST_OK;
}

static enum status train_nets(struct iac_model *m, const struct train_set *set, int32_t fold,
                              const struct score_options *o, struct error *err)
{
    char purpose[48];
    struct train_report report;
    for (int32_t k = 0; k < o->n_nets; k++) {
        snprintf(purpose, sizeof purpose, "net %d of fold %d", k, fold);
        TRY(train_net(&m->net[k], set, &o->train, o->seed, purpose, &report, err));
        m->n_nets++;
    }
    return iac_fold(m, err);
}

/* A model of the rows learned from. */
static enum status train_model(struct iac_model *m, const struct samples *s, const int32_t *learn,
                               int32_t n_learn, int32_t fold, enum score_model model,
                               const struct score_options *o, struct error *err)
{
    struct train_set set = {0};
    enum status status = ST_OK;
    m->extras = wants_steps(model);
    TRY(train_maps(m, s, learn, n_learn, err));
    TRY_OUT(train_set_init(&set, m, s, learn, n_learn, err));
    if (is_gbdt(model)) {
        m->form = IAC_GBDT;
        status = gbdt_train(&m->trees, set.n, set.width, set.x, set.log_s, o->seed, err);
    } else if (model == SCORE_LINEAR) {
        status = train_linear(m, &set, err);
    } else {
        m->form = IAC_DNN;
        status = train_nets(m, &set, fold, o, err);
    }
out:
    train_set_free(&set);
    return status;
}

/* Asks the model for the rows of the fold. */
static enum status ask(struct score_fold *f, const struct iac_model *m, const struct samples *s,
                       struct error *err)
{
    struct iac_reader reader;
    TRY(iac_reader_init(&reader, m, err));
    for (int32_t i = 0; i < f->n; i++) {
        struct iac_pair pair = samples_pair(f->row[i]);
        iac_predict(&reader, s->side, 1, &pair, &f->slowdown[i], NULL);
    }
    iac_reader_free(&reader);
    return ST_OK;
}

/* What a predictor of S over the physics' S is scaled by: networks answer 1 and more, which then
 * stands for half of the physics' S. */
static const double OVER_PHYSICS = 2;

/* The samples with the jobs' weights in place of their kernel lengths, and labels over the physics;
 * rows and sides are copies that the caller frees. */
static enum status beside_physics(struct samples *out, const struct samples *s,
                                  const struct queueing *q, struct error *err)
{
    size_t n = (size_t)s->n;
    *out = *s;
    out->row = malloc(n * sizeof *out->row + 1);
    out->side = malloc(2 * n * sizeof *out->side + 1);
    if (out->row == NULL || out->side == NULL)
        return fail_memory(err);
    for (int32_t i = 0; i < 2 * s->n; i++) {
        out->side[i] = s->side[i];
        out->side[i].kernel_s = queueing_weight(q, &s->side[i], s->row[i / 2].workload[i % 2]);
    }
    for (int32_t k = 0; k < s->n; k++) {
        out->row[k] = s->row[k];
        out->row[k].slowdown *= OVER_PHYSICS / queueing_slowdown(q, s, k);
    }
    return ST_OK;
}

enum status score_run(struct score_fold *out, const struct samples *s, const struct score_plan *p,
                      int32_t fold, enum score_model model, const struct score_options *o,
                      struct error *err)
{
    enum status status = ST_OK;
    struct queueing q = {0};
    struct iac_model m = {0};
    struct samples beside = {0};
    const struct samples *in = s;
    int32_t *learn = NULL, n_learn = 0;
    TRY_OUT(split(s, p, fold, out, &learn, &n_learn, err));
    if (wants_physics(model)) {
        TRY_OUT(queueing_fit(&q, s, learn, n_learn, &o->queueing, err));
        TRY_OUT(beside_physics(&beside, s, &q, err));
        in = &beside;
    }
    if (model == SCORE_QUEUEING) {
        for (int32_t i = 0; i < out->n; i++)
            out->slowdown[i] = queueing_slowdown(&q, s, out->row[i]);
    } else {
        TRY_OUT(train_model(&m, in, learn, n_learn, fold, model, o, err));
        TRY_OUT(ask(out, &m, in, err));
        for (int32_t i = 0; wants_physics(model) && i < out->n; i++) {
            double over = out->slowdown[i] / OVER_PHYSICS;
            out->slowdown[i] = fmax(1, over * queueing_slowdown(&q, s, out->row[i]));
        }
    }
out:
    free(learn);
    free(beside.row);
    free(beside.side);
    queueing_free(&q);
    iac_model_free(&m);
    return status;
}

void score_fold_free(struct score_fold *f)
{
    free(f->row);
    free(f->slowdown);
    *f = (struct score_fold){0};
}

static void add(struct score_sums *s, double label, double predicted)
{
    s->n++;
    s->error += fabs(predicted / label - 1);
    s->sum += label;
    s->square += label * label;
    s->rest += (predicted - label) * (predicted - label);
}

void score_add(struct score *score, const struct samples *s, const struct score_fold *f)
{
    for (int32_t i = 0; i < f->n; i++) {
        double label = s->row[f->row[i]].slowdown, predicted = f->slowdown[i];
        enum pair_kind kind = samples_kind(s, f->row[i]);
        add(&score->slow[kind], label, predicted);
        add(&score->slow[N_PAIR_KINDS], label, predicted);
        add(&score->kept[kind], 1 / label, 1 / predicted);
        add(&score->kept[N_PAIR_KINDS], 1 / label, 1 / predicted);
        add(&score->raw, 1 / s->row[f->row[i]].measured, 1 / predicted);
    }
}

double score_mape_pct(const struct score_sums *s) { return s->n > 0 ? 100 * s->error / s->n : NAN; }

double score_r2(const struct score_sums *s)
{
    double spread = s->n > 0 ? s->square - s->sum * s->sum / s->n : 0;
    return spread > 0 ? 1 - s->rest / spread : NAN;
}
