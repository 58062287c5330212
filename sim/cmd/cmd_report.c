#include "sim/cmd/commands.h"

#include "sim/cmd/options.h"
#include "sim/results/page.h"

enum { KEY_DB = 256, KEY_RUN, WORDS_MAX = 64 };

struct report_options {
    const char *db, *out;
    const char *run[WORDS_MAX];
    size_t n_runs;
};

static const struct argp_option options[] = {
    {"db", KEY_DB, "FILE", 0, "the results database", 1},
    {"output", 'o', "FILE", 0, "the page; '-' is standard output", 1},
    {"run", KEY_RUN, "NAME[,NAME...]", 0, "these runs, in this order; all complete ones without it",
     1},
    {0},
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
    struct report_options *o = state->input;
    switch (key) {
    case KEY_DB: o->db = arg; return 0;
    case 'o': o->out = arg; return 0;
    case KEY_RUN:
        if (o->n_runs == WORDS_MAX)
            argp_error(state, "more than %d times --run", WORDS_MAX);
        o->run[o->n_runs++] = arg;
        return 0;
    case ARGP_KEY_ARG: argp_error(state, "'%s' is one argument too many", arg); return 0;
    case ARGP_KEY_END:
        if (o->db == NULL)
            argp_error(state, "which database? --db FILE");
        if (o->out == NULL)
            argp_error(state, "where to? -o FILE.html");
        return 0;
    default: return ARGP_ERR_UNKNOWN;
    }
}

static enum status write_report(const struct report_options *o, struct error *err)
{
    struct store store;
    struct chosen chosen = {0};
    struct output out = {.fd = -1};
    TRY(store_open_read(&store, o->db, err));
    enum status status = chosen_find(&chosen, &store, o->run, o->n_runs, err);
    if (status == ST_OK)
        status = output_open(&out, o->out, err);
    if (status == ST_OK)
        status = output_close(&out, page_write(&store, &chosen, &out, err), err);
    chosen_free(&chosen);
    store_close(&store);
    return status;
}

int cmd_report(int argc, char **argv)
{
    static const struct argp argp = {
        options,
        parse,
        NULL,
        "Writes one HTML page about runs: their metrics, figures, settings, every job in a table "
        "that sorts and filters, and a Gantt to zoom into. The page needs no network and no other "
        "file.\v"
        "Example:\n"
        "  colosim report --db r.db --run base,lucid -o report.html",
        NULL,
        NULL,
        NULL};
    struct report_options o = {0};
    struct error err;
    enum status status = ST_OK;
    if (argp_parse(&argp, argc, argv, 0, NULL, &o) != 0)
        status = fail_memory(&err); /* argp ends the program for a usage error itself */
    if (status == ST_OK)
        status = write_report(&o, &err);
    return status == ST_OK ? 0 : report_error(status, &err);
}
