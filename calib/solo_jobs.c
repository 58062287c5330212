#include "calib/solo_jobs.h"

#include "calib/solo_rates.h"
#include "calib/wanted.h"
#include "core/base/units.h"
#include "core/elastico/sides.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct solo_columns {
    int32_t job, samples_per_s, steps_per_s, peak_alloc_mib, sm, occ, tensor, dram, params;
};

static enum status find_solo(const struct table *t, struct solo_columns *c, struct error *err)
{
    TRY(wanted_column(t, "job", &c->job, err));
    TRY(wanted_column(t, "samples_per_s", &c->samples_per_s, err));
    TRY(wanted_column(t, "steps_per_s", &c->steps_per_s, err));
    TRY(wanted_column(t, "peak_alloc_mib", &c->peak_alloc_mib, err));
    TRY(wanted_column(t, "sm", &c->sm, err));
    TRY(wanted_column(t, "occ", &c->occ, err));
    TRY(wanted_column(t, "tensor", &c->tensor, err));
    TRY(wanted_column(t, "dram", &c->dram, err));
    c->params = table_column(t, "params");
    return ST_OK;
}

/* Is the word one letter and a whole number, as b64? */
static bool word_number(const char *word, size_t length, char letter, double *out)
{
    return length > 1 && word[0] == letter && parse_real(word + 1, length - 1, out) && *out >= 0;
}

static bool word_is(const char *word, size_t length, const char *text)
{
    return length == strlen(text) && memcmp(word, text, length) == 0;
}

static void read_name(const char *name, struct iac_side *side)
{
    double tokens = 0, number;
    side->kind = KIND_TRAIN;
    for (const char *word = name; *word != '\0';) {
        size_t length = strcspn(word, "-");
        if (word_number(word, length, 'b', &number))
            side->bs = number;
        if (word_number(word, length, 'c', &number) || word_number(word, length, 't', &number))
            tokens = number;
        if (word_is(word, length, "amp"))
            side->amp = 1;
        if (word_is(word, length, "ck"))
            side->ck = 1;
        if (word_is(word, length, "decode") || word_is(word, length, "prefill"))
            side->kind = KIND_INFER;
        word += length + (word[length] == '-');
    }
    if (side->kind == KIND_INFER) {
        side->isl = 0.75 * tokens;
        side->osl = 0.25 * tokens;
    }
}

static enum status read_percent(const struct table *t, int32_t row, int32_t column, double *out,
                                struct error *err)
{
    TRY(wanted_number(t, row, column, 0, 100, out, err));
    *out /= 100;
    return ST_OK;
}

static enum status read_solo(const struct table *t, int32_t row, const struct solo_columns *c,
                             double card_mib, struct iac_side *side, struct error *err)
{
    double steps_per_s, params;
    *side = (struct iac_side){.card_mib = card_mib};
    read_name(table_cell(t, row, c->job), side);
    TRY(read_percent(t, row, c->sm, &side->sm, err));
    TRY(read_percent(t, row, c->occ, &side->occ, err));
    TRY(read_percent(t, row, c->tensor, &side->tensor, err));
    TRY(read_percent(t, row, c->dram, &side->dram, err));
    TRY(wanted_number(t, row, c->peak_alloc_mib, 0, 1e9, &side->fb_mib, err));
    TRY(wanted_number(t, row, c->samples_per_s, 1e-9, 1e15, &side->rate, err));
    TRY(wanted_number(t, row, c->steps_per_s, 1e-9, 1e12, &steps_per_s, err));
    side->step_s = 1 / steps_per_s;
    if (c->params < 0)
        return ST_OK;
    TRY(wanted_number(t, row, c->params, 1, 1e18, &params, err));
    side->log10_params = log10(params);
    return ST_OK;
}

/* Adds one job; a name that is there already is refused. */
static enum status add_job(struct solo_jobs *jobs, const char *name, size_t length,
                           const struct iac_side *side, struct error *err)
{
    int32_t n_before = jobs->names.n, id = names_add(&jobs->names, name, length);
    if (id < 0 || !ARRAY_GROW(jobs->side, jobs->capacity, jobs->names.n))
        return fail_memory(err);
    if (id < n_before)
        return fail(err, ST_INPUT, "job '%s' is there twice", name);
    jobs->side[id] = *side;
    return ST_OK;
}

/* Jobs of which only iteration times are known. */
static enum status add_timed(struct solo_jobs *jobs, const struct table *t, double card_mib,
                             struct error *err)
{
    struct solo_rates rates = {0};
    enum status status = solo_rates_read(&rates, t, err);
    for (int32_t i = 0; i < rates.n && status == ST_OK; i++) {
        const struct solo_rate *at = &rates.at[i];
        struct iac_side side = {.card_mib = card_mib, .kind = KIND_TRAIN, .step_s = at->step_s};
        status = add_job(jobs, names_text(&rates.jobs, at->job), names_length(&rates.jobs, at->job),
                         &side, err);
    }
    solo_rates_free(&rates);
    return status;
}

enum status solo_jobs_of_table(struct solo_jobs *jobs, const struct table *t, double card_mib,
                               struct error *err)
{
    struct solo_columns columns;
    struct iac_side side;
    if (table_column(t, "iter_ms") >= 0)
        return add_timed(jobs, t, card_mib, err);
    TRY(find_solo(t, &columns, err));
    for (int32_t row = 0; row < t->n_rows; row++) {
        const char *name = table_cell(t, row, columns.job);
        TRY(read_solo(t, row, &columns, card_mib, &side, err));
        TRY(add_job(jobs, name, strlen(name), &side, err));
    }
    return ST_OK;
}

enum status solo_jobs_of_profiles(struct solo_jobs *jobs, const struct profiles *p, int32_t card,
                                  struct error *err)
{
    for (int32_t i = 0; i < p->w->n; i++) {
        struct iac_side side = side_of_profile(p, p->w->initial[i], card);
        TRY(add_job(jobs, names_text(&p->w->names, i), names_length(&p->w->names, i), &side, err));
    }
    return ST_OK;
}

enum status solo_mps_overhead(const struct table *t, struct estimate *m, struct error *err)
{
    int32_t without = table_column(t, "steps_per_s_without_mps"), with;
    double sum = 0, square = 0, rate[2], n = t->n_rows;
    if (without < 0 || t->n_rows == 0)
        return ST_OK;
    TRY(wanted_column(t, "steps_per_s", &with, err));
    for (int32_t row = 0; row < t->n_rows; row++) {
        TRY(wanted_number(t, row, without, 1e-9, 1e12, &rate[0], err));
        TRY(wanted_number(t, row, with, 1e-9, 1e12, &rate[1], err));
        double log_ratio = log(rate[0] / rate[1]);
        sum += log_ratio;
        square += log_ratio * log_ratio;
    }
    m->value = exp(sum / n);
    m->se = n > 1 ? m->value * sqrt(fmax(0, square - sum * sum / n) / (n - 1) / n) : 0;
    return ST_OK;
}

void solo_jobs_free(struct solo_jobs *jobs)
{
    names_free(&jobs->names);
    free(jobs->side);
    *jobs = (struct solo_jobs){0};
}
