#include "sim/cmd/commands.h"

#include "sim/cmd/options.h"
#include "sim/results/output.h"
#include "sim/results/report.h"
#include "sim/results/show.h"

#include <stdlib.h>

enum { KEY_DB = 256, KEY_JSON };

struct list_options {
    const char *db, *run;
    bool json, takes_run;
};

static const struct argp_option list_options[] = {
    {"db", KEY_DB, "FILE", 0, "the results database", 0},
    {"json", KEY_JSON, NULL, 0, "one JSON object a run", 0},
    {0},
};

static error_t parse_list(int key, char *arg, struct argp_state *state)
{
    struct list_options *o = state->input;
    switch (key) {
    case KEY_DB: o->db = arg; return 0;
    case KEY_JSON: o->json = true; return 0;
    case ARGP_KEY_ARG:
        if (!o->takes_run || o->run != NULL)
            argp_error(state, "'%s' is one argument too many", arg);
        o->run = arg;
        return 0;
    case ARGP_KEY_END:
        if (o->db == NULL)
            argp_error(state, "which database? --db FILE");
        if (o->takes_run && o->run == NULL)
            argp_error(state, "which run? colosim ls --db %s lists them; 'last' is the newest",
                       o->db);
        return 0;
    default: return ARGP_ERR_UNKNOWN;
    }
}

/* Every run of the database, oldest first. The caller frees runs[0 .. *n - 1] and the array. */
static enum status read_runs(struct store *s, struct summary **runs, size_t *n, struct error *err)
{
    sqlite3_stmt *statement;
    bool row = false;
    size_t capacity = 0;
    TRY(store_select(s, "SELECT id FROM run ORDER BY id", 0, &statement, err));
    enum status status = store_step(s, statement, &row, err);
    while (status == ST_OK && row) {
        if (!ARRAY_GROW(*runs, capacity, *n + 1))
            status = fail_memory(err);
        else
            status = summary_read(&(*runs)[*n], s, sqlite3_column_int64(statement, 0), err);
        *n += status == ST_OK;
        if (status == ST_OK)
            status = store_step(s, statement, &row, err);
    }
    sqlite3_finalize(statement);
    return status;
}

static enum status list(const struct list_options *o, struct store *store, struct error *err)
{
    enum status status = ST_OK;
    struct summary *runs = NULL;
    size_t n = 0;
    struct output out = {0};
    TRY_OUT(read_runs(store, &runs, &n, err));
    TRY_OUT(output_open(&out, "-", err));
    if (!o->json)
        report_list(out.file, runs, (int)n);
    for (size_t i = 0; i < n && o->json; i++)
        report_json(out.file, &runs[i]);
    status = output_close(&out, status, err);
out:
    for (size_t i = 0; i < n; i++)
        summary_free(&runs[i]);
    free(runs);
    return status;
}

static enum status show(const struct list_options *o, struct store *store, struct error *err)
{
    int64_t run;
    struct summary s;
    struct output out;
    TRY(store_find(store, o->run, &run, err));
    TRY(summary_read(&s, store, run, err));
    enum status status = summary_read_jobs(&s, store, run, err);
    if (status == ST_OK)
        status = output_open(&out, "-", err);
    if (status == ST_OK) {
        status = o->json ? show_json(out.file, store, run, &s, err)
                         : show_run(out.file, store, run, &s, err);
        status = output_close(&out, status, err);
    }
    summary_free(&s);
    return status;
}

typedef enum status (*act_fn)(const struct list_options *, struct store *, struct error *);

static int read_and(act_fn act, const struct argp *argp, struct list_options *o, int argc,
                    char **argv)
{
    struct error err;
    struct store store;
    enum status status = ST_OK;
    if (argp_parse(argp, argc, argv, 0, NULL, o) != 0)
        status = fail_memory(&err); /* argp ends the program for a usage error itself */
    if (status == ST_OK)
        status = store_open_read(&store, o->db, &err);
    if (status == ST_OK) {
        status = act(o, &store, &err);
        store_close(&store);
    }
    return status == ST_OK ? 0 : report_error(status, &err);
}

int cmd_ls(int argc, char **argv)
{
    static const struct argp argp = {
        list_options,
        parse_list,
        NULL,
        "Lists the runs of a results database, oldest first: name, policy, seed, how it ended, "
        "jobs completed, mean JCT, when it was made.\v"
        "Examples:\n"
        "  colosim ls --db r.db\n"
        "  colosim ls --db r.db --json | jq -r 'select(.status == \"complete\") | .run'",
        NULL,
        NULL,
        NULL};
    struct list_options o = {0};
    return read_and(list, &argp, &o, argc, argv);
}

int cmd_show(int argc, char **argv)
{
    static const struct argp argp = {
        list_options,
        parse_list,
        "RUN",
        "Shows one run of a results database: its summary, where it came from, and its settings, "
        "those that differ from their defaults first. RUN is a name from colosim ls, or 'last'.\v"
        "Examples:\n"
        "  colosim show base --db r.db\n"
        "  colosim show last --db r.db --json | jq .metrics.jct_mean_s",
        NULL,
        NULL,
        NULL};
    struct list_options o = {.takes_run = true};
    return read_and(show, &argp, &o, argc, argv);
}
