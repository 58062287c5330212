/* model_file.h - the predictor as a JSON file: maps, weights, BN, and where they are from.
 *
 * Numbers have nine significant digits, weights and maps too, so a model read back predicts what
 * the file says and not quite what was in memory; whoever trains reads back what was written.
 * Version 1; a file of another version or kind is refused. */
#ifndef COLOSIM_MODEL_FILE_H
#define COLOSIM_MODEL_FILE_H

#include "core/elastico/iac.h"

#include <stdio.h>

enum { MODEL_VERSION = 1, MODEL_ERRORS_MAX = 4 };

/* What is known of a model besides its numbers; for people, and for the record of a run. */
struct model_note {
    char date[16];      /* of the training, 2026-11-30 */
    char program[32];   /* and its version */
    char card[64];      /* what was measured on, in words; "" for synthetic */
    char data[256];     /* what was learned from, in words */
    uint64_t data_hash; /* of the samples */
    int32_t n_rows;
    int64_t seed;
    int32_t n_folds; /* of the held-out errors, by experiment; 0: there are none */
    int32_t n_errors;
    struct model_error {
        char name[8]; /* "T+T", "all" */
        int32_t n_rows;
        double mape_pct, r2; /* of S; r2 NAN where it has no meaning */
    } error[MODEL_ERRORS_MAX];
};

/* Whether writing failed is for the caller to see at the stream. */
enum status model_write(const struct iac_model *m, const struct model_note *note, FILE *file,
                        struct error *err) MUST_USE;
/* ST_INPUT says what is wrong and where. The model is ready for use; the caller frees it in any
 * case. note may be NULL. */
enum status model_read(struct iac_model *m, struct model_note *note, const char *text,
                       size_t length, struct error *err) MUST_USE;
/* The predictor that is part of the program: core/elastico/models/default.json, embedded by the
 * build. */
extern const unsigned char model_default_text[];
extern const size_t model_default_length;
enum status model_default(struct iac_model *m, struct model_note *note, struct error *err) MUST_USE;
/* From a file; errors name it. */
enum status model_load(struct iac_model *m, struct model_note *note, const char *path,
                       struct error *err) MUST_USE;

#endif
