#include "sim/cmd/commands.h"

#include "sim/cmd/options.h"
#include "sim/results/chrome.h"
#include "sim/results/export.h"

#include <string.h>

enum {
    KEY_DB = 256,
    KEY_RUN,
    KEY_FORMAT,
    KEY_JOBS,
    KEY_SPANS,
    KEY_METRICS,
    KEY_SAMPLES,
    KEY_EVENTS,
    KEY_EPOCHS,
    KEY_CHROME
};
enum { N_TABLES = KEY_EPOCHS - KEY_JOBS + 1, TARGETS_MAX = 32 };

/* One file asked for. */
struct target {
    int key;
    const char *path;
};

struct export_options {
    const char *db, *run, *format;
    struct target target[TARGETS_MAX];
    int n_targets;
};

static const struct argp_option options[] = {
    {"db", KEY_DB, "FILE", 0, "the results database", 1},
    {"run", KEY_RUN, "NAME", 0, "a name from colosim ls; the newest run without it", 1},
    {"jobs", KEY_JOBS, "FILE", 0, "one row a job: times, wait, JCT, what it asked for", 2},
    {"spans", KEY_SPANS, "FILE", 0, "one row a stretch of cards held: the Gantt", 2},
    {"metrics", KEY_METRICS, "FILE", 0, "one row a metric", 2},
    {"samples", KEY_SAMPLES, "FILE", 0, "the time series: GPUs held, jobs waiting and running", 2},
    {"events", KEY_EVENTS, "FILE", 0, "rejections, evictions, stalls", 2},
    {"epochs", KEY_EPOCHS, "FILE", 0, "passes of elastico: rounds, prices, bound, gap, pairs, time",
     2},
    {"chrome-trace", KEY_CHROME, "FILE", 0, "the spans for chrome://tracing or Perfetto", 2},
    {"format", KEY_FORMAT, "csv|json", 0,
     "of the tables; without it json where FILE ends in .json, csv elsewhere", 3},
    {0},
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
    struct export_options *o = state->input;
    switch (key) {
    case KEY_DB: o->db = arg; return 0;
    case KEY_RUN: o->run = arg; return 0;
    case KEY_FORMAT:
        if (strcmp(arg, "csv") != 0 && strcmp(arg, "json") != 0)
            argp_error(state, "--format is csv or json, not '%s'", arg);
        o->format = arg;
        return 0;
    case KEY_JOBS:
    case KEY_SPANS:
    case KEY_METRICS:
    case KEY_SAMPLES:
    case KEY_EVENTS:
    case KEY_EPOCHS:
    case KEY_CHROME:
        if (o->n_targets == TARGETS_MAX)
            argp_error(state, "more than %d files", TARGETS_MAX);
        o->target[o->n_targets++] = (struct target){key, arg};
        return 0;
    case ARGP_KEY_ARG: argp_error(state, "'%s' is one argument too many", arg); return 0;
    case ARGP_KEY_END:
        if (o->db == NULL)
            argp_error(state, "which database? --db FILE");
        if (o->n_targets == 0)
            argp_error(state, "what? --jobs, --spans, --metrics, --samples, --events, --epochs "
                              "or --chrome-trace FILE ('-' is standard output)");
        return 0;
    default: return ARGP_ERR_UNKNOWN;
    }
}

static enum export_format format_of(const struct export_options *o, const char *path)
{
    size_t n = strlen(path);
    bool json = o->format != NULL ? strcmp(o->format, "json") == 0
                                  : n > 5 && strcmp(path + n - 5, ".json") == 0;
    return json ? EXPORT_JSON : EXPORT_CSV;
}

static enum status export_one(const struct export_options *o, const struct target *t,
                              struct store *store, int64_t run, struct error *err)
{
    static const enum export_table table[N_TABLES] = {EXPORT_JOBS,    EXPORT_SPANS,  EXPORT_METRICS,
                                                      EXPORT_SAMPLES, EXPORT_EVENTS, EXPORT_EPOCHS};
    struct output out;
    TRY(output_open(&out, t->path, err));
    enum status status = t->key == KEY_CHROME ? chrome_export(store, run, &out, err)
                                              : export_rows(store, run, table[t->key - KEY_JOBS],
                                                            format_of(o, t->path), &out, err);
    return output_close(&out, status, err);
}

static enum status export_all(const struct export_options *o, struct error *err)
{
    struct store store;
    int64_t run;
    TRY(store_open_read(&store, o->db, err));
    enum status status = store_find(&store, o->run != NULL ? o->run : "last", &run, err);
    for (int i = 0; i < o->n_targets && status == ST_OK; i++)
        status = export_one(o, &o->target[i], &store, run, err);
    store_close(&store);
    return status;
}

int cmd_export(int argc, char **argv)
{
    static const struct argp argp = {
        options,
        parse,
        NULL,
        "Writes a stored run as CSV, JSON or a Chrome trace. FILE '-' is standard output; a file "
        "appears whole or not at all. Times are seconds on the trace's clock; a value that does "
        "not exist is an empty field, or null.\v"
        "In JSON a byte of a name that is no UTF-8 is written \\xNN, and a backslash of the name "
        "itself is doubled, so that every name can be had back.\n\n"
        "Examples:\n"
        "  colosim export --db r.db --run base --jobs - | head\n"
        "  colosim export --db r.db --run base --jobs jobs.json --spans spans.csv\n"
        "  colosim export --db r.db --chrome-trace gantt.json",
        NULL,
        NULL,
        NULL};
    struct export_options o = {0};
    struct error err;
    enum status status = ST_OK;
    if (argp_parse(&argp, argc, argv, 0, NULL, &o) != 0)
        status = fail_memory(&err); /* argp ends the program for a usage error itself */
    if (status == ST_OK)
        status = export_all(&o, &err);
    return status == ST_OK ? 0 : report_error(status, &err);
}
