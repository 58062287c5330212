#include "core/elastico/gbdt.h"

#ifdef HAVE_XGBOOST

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xgboost/c_api.h>

enum { N_ROUNDS = 300 };

bool gbdt_built(void) { return true; }

static enum status fail_xgboost(struct error *err)
{
    return fail(err, ST_OUTPUT, "XGBoost: %s", XGBGetLastError());
}

static enum status set_all(struct gbdt *g, uint64_t seed, struct error *err)
{
    char seed_text[24];
    snprintf(seed_text, sizeof seed_text, "%" PRIu64, seed & INT32_MAX);
    const char *const setting[][2] = {
        {"objective", "reg:squarederror"},
        {"max_depth", "5"},
        {"eta", "0.05"},
        {"subsample", "0.8"},
        {"colsample_bytree", "0.8"},
        {"min_child_weight", "3"},
        {"nthread", "1"},
        {"verbosity", "0"},
        {"seed", seed_text},
    };
    for (size_t i = 0; i < sizeof setting / sizeof *setting; i++)
        if (XGBoosterSetParam(g->booster, setting[i][0], setting[i][1]) != 0)
            return fail_xgboost(err);
    return ST_OK;
}

static float *to_float(const double *x, size_t n)
{
    float *out = malloc((n + 1) * sizeof *out);
    for (size_t i = 0; out != NULL && i < n; i++)
        out[i] = (float)x[i];
    return out;
}

static enum status train_rounds(struct gbdt *g, DMatrixHandle rows, uint64_t seed,
                                struct error *err)
{
    if (XGBoosterCreate(&rows, 1, &g->booster) != 0)
        return fail_xgboost(err);
    TRY(set_all(g, seed, err));
    for (int i = 0; i < N_ROUNDS; i++)
        if (XGBoosterUpdateOneIter(g->booster, i, rows) != 0)
            return fail_xgboost(err);
    return ST_OK;
}

enum status gbdt_train(struct gbdt *g, int32_t n, int32_t width, const double *x, const double *y,
                       uint64_t seed, struct error *err)
{
    enum status status = ST_OK;
    DMatrixHandle rows = NULL;
    *g = (struct gbdt){0};
    float *in = to_float(x, (size_t)n * (size_t)width), *label = to_float(y, (size_t)n);
    if (in == NULL || label == NULL) {
        status = fail_memory(err);
        goto out;
    }
    if (XGDMatrixCreateFromMat(in, (bst_ulong)n, (bst_ulong)width, NAN, &rows) != 0 ||
        XGDMatrixSetFloatInfo(rows, "label", label, (bst_ulong)n) != 0)
        status = fail_xgboost(err);
    else
        status = train_rounds(g, rows, seed, err);
out:
    if (rows != NULL)
        XGDMatrixFree(rows);
    free(in);
    free(label);
    if (status != ST_OK)
        gbdt_free(g);
    return status;
}

void gbdt_predict(const struct gbdt *g, int32_t n, int32_t width, const double *x, double *y)
{
    char values[160];
    const bst_ulong *shape;
    bst_ulong dim;
    const float *out = NULL;
    snprintf(values, sizeof values,
             "{\"data\":[%" PRIuPTR ",true],\"shape\":[%d,%d],\"typestr\":\"<f8\",\"version\":3}",
             (uintptr_t)x, n, width);
    static const char how[] = "{\"type\":0,\"iteration_begin\":0,\"iteration_end\":0,"
                              "\"strict_shape\":false,\"missing\":NaN,\"cache_id\":0}";
    int code = XGBoosterPredictFromDense(g->booster, values, how, NULL, &shape, &dim, &out);
    for (int32_t i = 0; i < n; i++)
        y[i] = code == 0 ? (double)out[i] : INFINITY;
}

enum status gbdt_text(const struct gbdt *g, char **text, size_t *length, struct error *err)
{
    bst_ulong n;
    const char *borrowed;
    if (XGBoosterSaveModelToBuffer(g->booster, "{\"format\":\"json\"}", &n, &borrowed) != 0)
        return fail_xgboost(err);
    *length = (size_t)n;
    *text = malloc(*length + 1);
    if (*text == NULL)
        return fail_memory(err);
    memcpy(*text, borrowed, *length);
    (*text)[*length] = '\0';
    return ST_OK;
}

enum status gbdt_of_text(struct gbdt *g, const char *text, size_t length, struct error *err)
{
    *g = (struct gbdt){0};
    if (XGBoosterCreate(NULL, 0, &g->booster) != 0)
        return fail_xgboost(err);
    if (XGBoosterLoadModelFromBuffer(g->booster, text, (bst_ulong)length) == 0 &&
        XGBoosterSetParam(g->booster, "nthread", "1") == 0)
        return ST_OK;
    gbdt_free(g);
    return fail(err, ST_INPUT, "XGBoost cannot read these trees: %.200s", XGBGetLastError());
}

void gbdt_free(struct gbdt *g)
{
    if (g->booster != NULL)
        XGBoosterFree(g->booster);
    *g = (struct gbdt){0};
}

#else

bool gbdt_built(void) { return false; }

static enum status missing(struct error *err)
{
    return fail(err, ST_HELPER,
                "built without XGBoost: install libxgboost-dev and build again for the trees");
}

enum status gbdt_train(struct gbdt *g, int32_t n, int32_t width, const double *x, const double *y,
                       uint64_t seed, struct error *err)
{
    (void)g, (void)n, (void)width, (void)x, (void)y, (void)seed;
    return missing(err);
}

void gbdt_predict(const struct gbdt *g, int32_t n, int32_t width, const double *x, double *y)
{
    (void)g, (void)n, (void)width, (void)x, (void)y;
}

enum status gbdt_text(const struct gbdt *g, char **text, size_t *length, struct error *err)
{
    (void)g, (void)text, (void)length;
    return missing(err);
}

enum status gbdt_of_text(struct gbdt *g, const char *text, size_t length, struct error *err)
{
    (void)g, (void)text, (void)length;
    return missing(err);
}

void gbdt_free(struct gbdt *g) { *g = (struct gbdt){0}; }

#endif
