#include "sim/cmd/commands.h"

#include "sim/cmd/options.h"
#include "sim/cmd/reading.h"
#include "sim/results/diff.h"
#include "sim/results/output.h"

#include <string.h>

enum { KEY_DB = 256, KEY_JSON };

struct diff_options {
    const char *db[2], *side[2];
    int n_dbs, n_sides;
    bool json;
};

static const struct argp_option diff_options[] = {
    {"db", KEY_DB, "FILE", 0, "the results database; a second one is where B is", 0},
    {"json", KEY_JSON, NULL, 0, "one JSON object", 0},
    {0},
};

static const char diff_doc[] =
    "Sets two runs, or two groups of runs, side by side: every metric, the difference B - A and "
    "the "
    "ratio B / A with their 95 % intervals."
    "\v"
    "A and B are runs (colosim ls; 'last'), what the names of runs of several seeds begin with, "
    "or\n"
    "settings, KEY=VALUE,..., for all runs made with these. Groups are paired by seed; two single\n"
    "runs are paired job by job.\n\n"
    "  colosim diff base new --db r.db\n"
    "  colosim diff policy=fifo,load=1.2 policy=srtf,load=1.2 --db s.db\n"
    "  colosim diff last last --db before.db --db after.db --json";

static error_t parse_diff(int key, char *arg, struct argp_state *state)
{
    struct diff_options *o = state->input;
    switch (key) {
    case KEY_DB:
        if (o->n_dbs == 2)
            argp_error(state, "--db %s: more than two databases", arg);
        o->db[o->n_dbs++] = arg;
        return 0;
    case KEY_JSON: o->json = true; return 0;
    case ARGP_KEY_ARG:
        if (o->n_sides == 2)
            argp_error(state, "'%s' is one argument too many", arg);
        o->side[o->n_sides++] = arg;
        return 0;
    case ARGP_KEY_END:
        if (o->n_sides < 2)
            argp_error(state, "which two runs, or groups of runs? colosim diff A B --db FILE");
        if (o->n_dbs == 0)
            argp_error(state, "which database? --db FILE");
        return 0;
    default: return ARGP_ERR_UNKNOWN;
    }
}

static enum status diff(const struct diff_options *o, struct error *err)
{
    struct store store[2] = {{0}};
    struct output out = {0};
    struct diff d;
    enum status status = ST_OK;
    bool two = o->n_dbs == 2 && strcmp(o->db[0], o->db[1]) != 0;
    TRY(store_open_read(&store[0], o->db[0], err));
    if (two)
        TRY_OUT(store_open_read(&store[1], o->db[1], err));
    TRY_OUT(diff_make(&d, &store[0], o->side[0], &store[two], o->side[1], err));
    TRY_OUT(output_open(&out, "-", err));
    if (o->json)
        diff_json(out.file, &d);
    else
        diff_print(out.file, &d);
out:
    status = output_close(&out, status, err);
    store_close(&store[0]);
    store_close(&store[1]);
    return status;
}

int cmd_diff(int argc, char **argv)
{
    static const struct argp argp = {
        .options = diff_options, .parser = parse_diff, .args_doc = "A B", .doc = diff_doc};
    struct diff_options o = {0};
    struct error err = {{0}};
    enum status status = parse_command(&argp, argc, argv, &o, &err);
    if (status == ST_OK)
        status = diff(&o, &err);
    return report_error(status, &err);
}
