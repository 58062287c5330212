/* colosim trace show: the first jobs as a table. */
#include "sim/cmd/reading.h"
#include "sim/cmd/trace_commands.h"

#include "sim/results/output.h"
#include "sim/results/quote.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { CELL_BYTES = 48 };

struct show {
    struct reading reading;
    int64_t n;
};

static const struct argp_option options[] = {
    {"number", 'n', "N", 0, "how many jobs; 20 unless given, 0 for all", 1},
    {0},
};

static const char doc[] =
    "Prints the first jobs of a trace, one a line. gpus is what the whole job asks for, each what "
    "one of its instances asks for; below 1 it is a share of one card. Columns in which nothing "
    "stands are left out. The last line is about the whole trace."
    "\v"
    "Examples:\n"
    "  colosim trace show -n 5 t.csv\n"
    "  colosim trace show pai_task_table.csv";

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
    struct show *s = state->input;
    switch (key) {
    case ARGP_KEY_INIT: state->child_inputs[0] = &s->reading; return 0;
    case 'n': s->n = option_whole(state, "-n", arg, 0, INT32_MAX); return 0;
    default: return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp_child children[] = {{&reading_argp, 0, NULL, 0}, {0}};
static const struct argp argp = {options, parse_option, "[FILE...]", doc, children, NULL, NULL};

/* A cell's text; empty where the trace has nothing. */
typedef const char *cell_fn(const struct job_table *t, int32_t job, char buffer[CELL_BYTES]);

static const char *name_cell(const struct job_table *t, int32_t id, char *buffer)
{
    if (id < 0)
        return "";
    return quote_shown(names_text(&t->names, id), names_length(&t->names, id), buffer, 32);
}

static const char *gpus_cell(int64_t milli, char *buffer)
{
    return format_real((double)milli / 1e3, buffer);
}

static const char *cell_job(const struct job_table *t, int32_t job, char buffer[CELL_BYTES])
{
    return quote_shown(names_text(&t->job_names, job), names_length(&t->job_names, job), buffer,
                       40);
}

static const char *cell_submit(const struct job_table *t, int32_t job, char buffer[CELL_BYTES])
{
    return format_us(t->submit_us[job], buffer);
}

static const char *cell_duration(const struct job_table *t, int32_t job, char buffer[CELL_BYTES])
{
    return format_us(job_duration_us(t, job), buffer);
}

static const char *cell_gpus(const struct job_table *t, int32_t job, char buffer[CELL_BYTES])
{
    return gpus_cell(job_gpu_milli(t, job), buffer);
}

static const char *cell_instances(const struct job_table *t, int32_t job, char buffer[CELL_BYTES])
{
    snprintf(buffer, CELL_BYTES, "%" PRId32, job_n_inst(t, job));
    return buffer;
}

static const char *cell_each(const struct job_table *t, int32_t job, char buffer[CELL_BYTES])
{
    if (t->task_begin[job + 1] - t->task_begin[job] > 1)
        return "differs";
    return gpus_cell(t->gpu_milli[t->task_begin[job]], buffer);
}

static const char *cell_type(const struct job_table *t, int32_t job, char buffer[CELL_BYTES])
{
    return name_cell(t, t->gpu_type[t->task_begin[job]], buffer);
}

static const char *cell_kind(const struct job_table *t, int32_t job, char buffer[CELL_BYTES])
{
    static const char *const kinds[] = {"", "train", "infer"};
    (void)buffer;
    return kinds[t->kind[job]];
}

static const char *cell_workload(const struct job_table *t, int32_t job, char buffer[CELL_BYTES])
{
    return name_cell(t, t->workload[job], buffer);
}

static const char *cell_user(const struct job_table *t, int32_t job, char buffer[CELL_BYTES])
{
    return name_cell(t, t->user[job], buffer);
}

static const char *cell_group(const struct job_table *t, int32_t job, char buffer[CELL_BYTES])
{
    return name_cell(t, t->group[job], buffer);
}

static const char *cell_queue(const struct job_table *t, int32_t job, char buffer[CELL_BYTES])
{
    return name_cell(t, t->queue[job], buffer);
}

static const char *cell_rate(const struct job_table *t, int32_t job, char buffer[CELL_BYTES])
{
    return isnan(t->min_rate_frac[job]) ? "" : format_real(t->min_rate_frac[job], buffer);
}

static const struct column {
    const char *name;
    bool number; /* set to the right */
    cell_fn *cell;
} columns[] = {
    {"job", false, cell_job},
    {"submit_s", true, cell_submit},
    {"duration_s", true, cell_duration},
    {"gpus", true, cell_gpus},
    {"instances", true, cell_instances},
    {"each", true, cell_each},
    {"gpu_type", false, cell_type},
    {"kind", false, cell_kind},
    {"workload", false, cell_workload},
    {"min_rate_frac", true, cell_rate},
    {"user", false, cell_user},
    {"group", false, cell_group},
    {"queue", false, cell_queue},
};
enum { N_COLUMNS = sizeof columns / sizeof *columns };

/* Characters that a terminal shows, UTF-8 being counted by its first bytes. */
static int shown_width(const char *text)
{
    int width = 0;
    for (; *text != '\0'; text++)
        width += ((unsigned char)*text & 0xc0) != 0x80;
    return width;
}

/* Padded to the width, to the left of a number and to the right of a word, with two blanks between
 * columns and none at the end of the line. */
static void print_row(FILE *to, const char *const *text, const int *width)
{
    int blanks = 0;
    for (int i = 0; i < N_COLUMNS; i++) {
        if (width[i] == 0)
            continue;
        int gap = width[i] - shown_width(text[i]);
        fprintf(to, "%*s%s", blanks + (columns[i].number ? gap : 0), "", text[i]);
        blanks = 2 + (columns[i].number ? 0 : gap);
    }
    fputc('\n', to);
}

/* 0: left out. */
static int column_width(const struct column *c, const struct job_table *t, int32_t n)
{
    char buffer[CELL_BYTES];
    int width = 0;
    for (int32_t j = 0; j < n; j++) {
        int this_width = shown_width(c->cell(t, j, buffer));
        width = this_width > width ? this_width : width;
    }
    int head = (int)strlen(c->name);
    return width == 0 ? 0 : width > head ? width : head;
}

static void print_jobs(const struct output *o, const struct job_table *t, int32_t n)
{
    int width[N_COLUMNS];
    const char *text[N_COLUMNS];
    char buffer[N_COLUMNS][CELL_BYTES];
    for (int i = 0; i < N_COLUMNS; i++) {
        width[i] = column_width(&columns[i], t, n);
        text[i] = columns[i].name;
    }
    print_row(o->file, text, width);
    for (int32_t j = 0; j < n && !output_broken(o); j++) {
        for (int i = 0; i < N_COLUMNS; i++)
            text[i] = columns[i].cell(t, j, buffer[i]);
        print_row(o->file, text, width);
    }
}

static enum status print_trace(const struct job_table *t, int64_t limit, struct error *err)
{
    struct output o;
    char gpus[32];
    int64_t milli = 0;
    for (int32_t j = 0; j < t->n_jobs; j++)
        milli += job_gpu_milli(t, j);
    TRY(output_open(&o, "-", err));
    print_jobs(&o, t, limit > 0 && limit < t->n_jobs ? (int32_t)limit : t->n_jobs);
    fprintf(o.file, "%" PRId32 " jobs ask for %s GPUs\n", t->n_jobs, gpus_cell(milli, gpus));
    return output_close(&o, ST_OK, err);
}

int trace_show(int argc, char **argv)
{
    struct show s = {.n = 20};
    struct trace trace = {0};
    struct error err = {""};
    enum status status = parse_command(&argp, argc, argv, &s, &err);
    if (status == ST_OK)
        status = reading_open(&s.reading, &trace, &err);
    if (status == ST_OK)
        status = print_trace(&trace.jobs, s.n, &err);
    trace_free(&trace);
    reading_free(&s.reading);
    return report_error(status, &err);
}
