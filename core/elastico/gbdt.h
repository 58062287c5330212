/* gbdt.h - gradient-boosted trees through XGBoost's C interface, beside the networks.
 *
 * Optional: without the library at build time (HAVE_XGBOOST) every call says so with ST_HELPER.
 * One thread, so equal inputs give equal trees. */
#ifndef COLOSIM_GBDT_H
#define COLOSIM_GBDT_H

#include "core/base/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* All-zero is a valid empty one. */
struct gbdt {
    void *booster;
};

bool gbdt_built(void);
/* Regression of y (n) on x (n x width) with squared loss: 300 rounds of depth 5, eta .05, subsample
 * and columns .8, at least 3 cases a leaf. */
enum status gbdt_train(struct gbdt *g, int32_t n, int32_t width, const double *x, const double *y,
                       uint64_t seed, struct error *err) MUST_USE;
/* y (n) of x (n x width). INFINITY in all of y when memory is out: nothing is known then. */
void gbdt_predict(const struct gbdt *g, int32_t n, int32_t width, const double *x, double *y);
/* XGBoost's own JSON; the caller frees. */
enum status gbdt_text(const struct gbdt *g, char **text, size_t *length,
                      struct error *err) MUST_USE;
enum status gbdt_of_text(struct gbdt *g, const char *text, size_t length,
                         struct error *err) MUST_USE;
void gbdt_free(struct gbdt *g);

#endif
