#include "calib/solo_rates.h"

#include "calib/wanted.h"
#include "core/base/arena.h"
#include "core/base/units.h"

#include <gsl/gsl_statistics_double.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The first of these spellings that is a column; -1. */
static int32_t any_column(const struct table *t, const char *const *spelling)
{
    int32_t at = -1;
    for (int i = 0; spelling[i] != NULL && at < 0; i++)
        at = table_column(t, spelling[i]);
    return at;
}

struct columns {
    int32_t name, dataset, bs, amp, ck, speed, throttled;
    bool is_job;   /* the name tells batch, amp and ck */
    bool is_rate;  /* of samples; else of steps, or a time */
    bool is_steps; /* steps/s */
    double unit_s; /* of the time */
};

static enum status find_columns(const struct table *t, struct columns *c, struct error *err)
{
    static const char *const name[] = {"job", "workload", "model", NULL},
                             *const bs[] = {"bs", "batchsize", "local_bsz", NULL},
                             *const rate[] = {"rate", "speed", "samples_per_s", NULL},
                             *const time[] = {"step_s", "step_time", "iter_ms", NULL};
    *c = (struct columns){.name = any_column(t, name),
                          .dataset = table_column(t, "dataset"),
                          .bs = any_column(t, bs),
                          .amp = table_column(t, "amp"),
                          .ck = table_column(t, "ck"),
                          .speed = any_column(t, rate),
                          .throttled = table_column(t, "throttled")};
    c->is_job = c->bs < 0;
    c->is_steps = table_column(t, "steps_per_s") >= 0;
    c->is_rate = !c->is_steps && c->speed >= 0;
    if (c->is_steps)
        c->speed = table_column(t, "steps_per_s");
    else if (!c->is_rate)
        c->speed = any_column(t, time);
    if (c->speed < 0)
        return fail(err, ST_INPUT,
                    "there is no column of speeds: want steps_per_s, rate, speed or samples_per_s, "
                    "or step_s, step_time or iter_ms");
    c->unit_s = strcmp(t->column[c->speed], "iter_ms") == 0 ? 1e-3 : 1;
    return ST_OK;
}

static enum status want_flag(const struct table *t, int32_t row, int32_t column, bool *out,
                             struct error *err)
{
    double value = 0;
    if (column >= 0)
        TRY(wanted_number(t, row, column, 0, 1, &value, err));
    *out = value > .5;
    return ST_OK;
}

/* Takes bN, amp, tf32 and ck out of a job's name; the rest, joined by '-', is the workload. */
static void split_name(const char *name, struct solo_rate *at, char *workload, size_t size)
{
    size_t used = 0;
    workload[0] = '\0';
    for (const char *word = name; *word != '\0' && used < size;) {
        size_t length = strcspn(word, "-");
        double number;
        if (length > 1 && *word == 'b' && parse_real(word + 1, length - 1, &number) && number > 0)
            at->bs = number;
        else if (length == 3 && memcmp(word, "amp", 3) == 0)
            at->amp = true;
        else if (length == 2 && memcmp(word, "ck", 2) == 0)
            at->ck = true;
        else if (length != 4 || memcmp(word, "tf32", 4) != 0)
            used += (size_t)snprintf(workload + used, size - used, "%s%.*s", used > 0 ? "-" : "",
                                     (int)length, word);
        word += length + (word[length] == '-');
    }
}

/* One measurement: its configuration, and its rate or, of other columns, seconds a step; NAN where
 * it was throttled. */
static enum status read_row(struct solo_rates *r, const struct table *t, int32_t row,
                            const struct columns *c, struct solo_rate *out, double *speed,
                            struct error *err)
{
    char job[256] = "", workload[256];
    bool throttled;
    *out = (struct solo_rate){0};
    if (c->name >= 0)
        snprintf(job, sizeof job, "%s%s%s", table_cell(t, row, c->name), c->dataset >= 0 ? "-" : "",
                 c->dataset >= 0 ? table_cell(t, row, c->dataset) : "");
    snprintf(workload, sizeof workload, "%s", job);
    if (c->is_job)
        split_name(job, out, workload, sizeof workload);
    else
        TRY(wanted_number(t, row, c->bs, 1e-9, 1e15, &out->bs, err));
    if (c->amp >= 0)
        TRY(want_flag(t, row, c->amp, &out->amp, err));
    if (c->ck >= 0)
        TRY(want_flag(t, row, c->ck, &out->ck, err));
    TRY(want_flag(t, row, c->throttled, &throttled, err));
    TRY(wanted_number(t, row, c->speed, 1e-12, 1e15, speed, err));
    *speed = throttled ? NAN : c->is_steps ? 1 / *speed : *speed * c->unit_s;
    out->workload = names_add(&r->workloads, workload, strlen(workload));
    out->job = names_add(&r->jobs, job, strlen(job));
    return out->workload < 0 || out->job < 0 ? fail_memory(err) : ST_OK;
}

static int32_t find_same(const struct solo_rates *r, const struct solo_rate *like)
{
    for (int32_t i = 0; i < r->n; i++)
        if (r->at[i].workload == like->workload && r->at[i].job == like->job &&
            fabs(r->at[i].bs - like->bs) <= 0 && r->at[i].amp == like->amp &&
            r->at[i].ck == like->ck)
            return i;
    return -1;
}

/* Every measurement of a table: which configuration it is of, and its speed; NAN if throttled. */
struct measurements {
    int32_t *of;   /* (rows) */
    double *speed; /* (rows) */
    double *same;  /* (rows) scratch */
};

static enum status gather(struct solo_rates *r, const struct table *t, const struct columns *c,
                          struct measurements *m, struct error *err)
{
    for (int32_t row = 0; row < t->n_rows; row++) {
        struct solo_rate at;
        TRY(read_row(r, t, row, c, &at, &m->speed[row], err));
        m->of[row] = find_same(r, &at);
        if (m->of[row] < 0) {
            if (!ARRAY_GROW(r->at, r->capacity, r->n + 1))
                return fail_memory(err);
            m->of[row] = r->n;
            r->at[r->n++] = at;
        }
    }
    return ST_OK;
}

static enum status take_medians(struct solo_rates *r, const struct table *t, int32_t first,
                                const struct columns *c, struct measurements *m, struct error *err)
{
    for (int32_t i = first; i < r->n; i++) {
        struct solo_rate *at = &r->at[i];
        for (int32_t row = 0; row < t->n_rows; row++)
            if (m->of[row] == i && isnan(m->speed[row]))
                at->n_left_out++;
            else if (m->of[row] == i)
                m->same[at->n_used++] = m->speed[row];
        if (at->n_used == 0)
            return fail(err, ST_INPUT, "%s%severy sample was taken while the card was throttled",
                        names_text(&r->jobs, at->job),
                        names_length(&r->jobs, at->job) > 0 ? ": " : "");
        double median = gsl_stats_median(m->same, 1, (size_t)at->n_used);
        at->step_s = c->is_rate ? at->bs / median : median;
        at->rate = c->is_rate ? median : at->bs / median;
    }
    return ST_OK;
}

enum status solo_rates_read(struct solo_rates *r, const struct table *t, struct error *err)
{
    struct columns c;
    int32_t first = r->n;
    size_t n = (size_t)t->n_rows + 1;
    TRY(find_columns(t, &c, err));
    struct measurements m = {malloc(n * sizeof *m.of), malloc(n * sizeof *m.speed),
                             malloc(n * sizeof *m.same)};
    enum status status = ST_OK;
    if (m.of == NULL || m.speed == NULL || m.same == NULL)
        status = fail_memory(err);
    if (status == ST_OK)
        status = gather(r, t, &c, &m, err);
    if (status == ST_OK)
        status = take_medians(r, t, first, &c, &m, err);
    free(m.of);
    free(m.speed);
    free(m.same);
    return status;
}

void solo_rates_free(struct solo_rates *r)
{
    free(r->at);
    names_free(&r->workloads);
    names_free(&r->jobs);
    *r = (struct solo_rates){0};
}
