/* colosim calib times: recorded iteration times into times and speeds. */
#include "sim/cmd/calib_commands.h"

#include "calib/measure/series.h"
#include "core/base/names.h"
#include "core/base/units.h"
#include "sim/cmd/reading.h"
#include "sim/results/output.h"
#include "sim/results/quote.h"
#include "traces/table_file.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { KEY_TOGETHER = 512 };

struct times {
    const char *alone, *together, *output;
    struct names jobs;
    struct recorded {
        struct series ms;
        int32_t n_left_out;
    } * job; /* (jobs.n) */
    size_t capacity;
};

// clang-format off
static const struct argp_option options[] = {
    {"together", KEY_TOGETHER, "FILE", 0, "times of pairs: model_a, model_b, iter_ms_a, iter_ms_b; then the speeds of pairs are written", 1},
    {"output", 'o', "FILE", 0, "where to write; - is stdout (default); an old file stays when something is wrong", 1},
    {0},
};
// clang-format on

static const char doc[] =
    "Reads iteration times that were recorded elsewhere: ALONE has iter_ms, one row a sample, and "
    "optionally model (whose it is) and throttled (1 where the card was slowed down by heat or "
    "power). "
    "Throttled samples are left out and counted; the estimate is the median of the rest. Writes "
    "model,iter_ms,used,left_out or, with --together, the table that colosim run --truth table "
    "--pairs reads: "
    "model_a,model_b,speed_a,speed_b, a speed being time alone over time together."
    "\v"
    "Examples:\n"
    "  colosim calib times iterations.csv\n"
    "  colosim calib times solo.csv --together together.csv -o pairs.csv";

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
    struct times *t = state->input;
    switch (key) {
    case KEY_TOGETHER: t->together = arg; return 0;
    case 'o': t->output = arg; return 0;
    case ARGP_KEY_ARG:
        if (t->alone != NULL)
            argp_error(state, "'%s' is one argument too many", arg);
        t->alone = arg;
        return 0;
    case ARGP_KEY_END:
        if (t->alone == NULL)
            argp_error(state, "which times? a CSV file with a column iter_ms");
        return 0;
    default: return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp argp = {options, parse_option, "ALONE", doc, NULL, NULL, NULL};

static enum status want_time(const struct table *t, int32_t row, const char *name, double *out,
                             struct error *err)
{
    int32_t column = table_column(t, name);
    if (column < 0)
        return fail(err, ST_INPUT, "there is no column '%s'", name);
    *out = table_number(t, row, column);
    return *out > 0 ? ST_OK
                    : fail(err, ST_INPUT, "line %d: %s is '%s', want a time above 0", row + 2, name,
                           table_cell(t, row, column));
}

static enum status add_time(struct times *s, const struct table *t, int32_t row, struct error *err)
{
    int32_t model = table_column(t, "model"), throttled = table_column(t, "throttled");
    const char *name = model >= 0 ? table_cell(t, row, model) : "";
    double ms, hot = throttled >= 0 ? table_number(t, row, throttled) : 0;
    TRY(want_time(t, row, "iter_ms", &ms, err));
    if (!(hot == 0 || hot == 1))
        return fail(err, ST_INPUT, "line %d: throttled is '%s', want 0 or 1", row + 2,
                    table_cell(t, row, throttled));
    int32_t id = names_add(&s->jobs, name, strlen(name));
    if (id < 0 || !ARRAY_GROW(s->job, s->capacity, s->jobs.n))
        return fail_memory(err);
    if (hot > 0)
        s->job[id].n_left_out++;
    else if (!series_add(&s->job[id].ms, ms))
        return fail_memory(err);
    return ST_OK;
}

/* Reads the times alone; each model has some left. */
static enum status read_alone(struct times *s, struct error *err)
{
    struct table table;
    enum status status = table_read(s->alone, &table, err);
    if (status == ST_OK && table.n_rows == 0)
        status = fail(err, ST_INPUT, "%s: no times", s->alone);
    else if (status == ST_OK) {
        for (int32_t row = 0; row < table.n_rows && status == ST_OK; row++)
            status = add_time(s, &table, row, err);
        for (int32_t i = 0; i < s->jobs.n && status == ST_OK; i++)
            if (s->job[i].ms.n == 0)
                status = fail(err, ST_INPUT,
                              "%s%sall %d samples were taken while the card was throttled",
                              names_text(&s->jobs, i), names_length(&s->jobs, i) > 0 ? ": " : "",
                              s->job[i].n_left_out);
        if (status != ST_OK)
            fail_in(err, "%s", s->alone);
    }
    table_free(&table);
    return status;
}

static void write_alone(struct times *s, FILE *to)
{
    char number[32];
    fputs("model,iter_ms,used,left_out\n", to);
    for (int32_t i = 0; i < s->jobs.n; i++) {
        quote_csv(to, names_text(&s->jobs, i), names_length(&s->jobs, i));
        fprintf(to, ",%s,%d,%d\n", format_real(series_median(&s->job[i].ms), number),
                s->job[i].ms.n, s->job[i].n_left_out);
    }
}

static enum status write_pair(struct times *s, const struct table *t, int32_t row, FILE *to,
                              struct error *err)
{
    static const char *const model[] = {"model_a", "model_b"};
    static const char *const time[] = {"iter_ms_a", "iter_ms_b"};
    const char *name[2];
    char number[32];
    double speed[2];
    for (int i = 0; i < 2; i++) {
        int32_t column = table_column(t, model[i]);
        if (column < 0)
            return fail(err, ST_INPUT, "there is no column '%s'", model[i]);
        name[i] = table_cell(t, row, column);
        int32_t id = names_find(&s->jobs, name[i], strlen(name[i]));
        if (id < 0)
            return fail(err, ST_INPUT, "line %d: '%s' is not among the times alone", row + 2,
                        name[i]);
        TRY(want_time(t, row, time[i], &speed[i], err));
        speed[i] = series_median(&s->job[id].ms) / speed[i];
    }
    for (int i = 0; i < 2; i++) {
        quote_csv(to, name[i], strlen(name[i]));
        putc(',', to);
    }
    fputs(format_real(speed[0], number), to);
    fprintf(to, ",%s\n", format_real(speed[1], number));
    return ST_OK;
}

static enum status write_together(struct times *s, FILE *to, struct error *err)
{
    struct table table;
    enum status status = table_read(s->together, &table, err);
    if (status == ST_OK) {
        fputs("model_a,model_b,speed_a,speed_b\n", to);
        for (int32_t row = 0; row < table.n_rows && status == ST_OK; row++)
            status = write_pair(s, &table, row, to, err);
        if (status != ST_OK)
            fail_in(err, "%s", s->together);
    }
    table_free(&table);
    return status;
}

/* On standard output nothing appears unless all is well. */
static enum status write_all(struct times *s, struct error *err)
{
    struct output out;
    char *text = NULL;
    size_t n = 0;
    FILE *to = open_memstream(&text, &n);
    if (to == NULL)
        return fail_memory(err);
    enum status status = ST_OK;
    if (s->together != NULL)
        status = write_together(s, to, err);
    else
        write_alone(s, to);
    if (fclose(to) != 0 && status == ST_OK)
        status = fail_memory(err);
    if (status == ST_OK)
        status = output_open(&out, s->output, err);
    if (status == ST_OK) {
        fwrite(text, 1, n, out.file);
        status = output_close(&out, ST_OK, err);
    }
    free(text);
    return status;
}

int calib_times(int argc, char **argv)
{
    struct error err = {""};
    struct times s = {.output = "-"};
    enum status status = parse_command(&argp, argc, argv, &s, &err);
    if (status == ST_OK)
        status = read_alone(&s, &err);
    if (status == ST_OK)
        status = write_all(&s, &err);
    for (int32_t i = 0; i < s.jobs.n && s.job != NULL; i++)
        series_free(&s.job[i].ms);
    free(s.job);
    names_free(&s.jobs);
    return report_error(status, &err);
}
