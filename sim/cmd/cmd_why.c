#include "sim/cmd/commands.h"

#include "sim/cmd/options.h"
#include "sim/cmd/reading.h"
#include "sim/results/output.h"
#include "sim/results/why.h"

enum { KEY_DB = 256, KEY_JSON };

struct why_options {
    const char *db, *run, *job;
    bool json;
};

static const struct argp_option why_options[] = {
    {"db", KEY_DB, "FILE", 0, "the results database", 0},
    {"json", KEY_JSON, NULL, 0, "one JSON object", 0},
    {0},
};

static const char why_doc[] = "Says what a job of a stored run waited for, and when: too few GPUs "
                              "free, enough but not in the "
                              "pieces it needs, or room for it while the policy held it back; who "
                              "was ahead of it, who overtook "
                              "it, who held the GPUs."
                              "\v"
                              "RUN is a name from colosim ls, or 'last'; JOB is the job's name.\n\n"
                              "  colosim why base job-588 --db r.db";

static error_t parse_why(int key, char *arg, struct argp_state *state)
{
    struct why_options *o = state->input;
    switch (key) {
    case KEY_DB: o->db = arg; return 0;
    case KEY_JSON: o->json = true; return 0;
    case ARGP_KEY_ARG:
        if (o->job != NULL)
            argp_error(state, "'%s' is one argument too many", arg);
        *(o->run == NULL ? &o->run : &o->job) = arg;
        return 0;
    case ARGP_KEY_END:
        if (o->db == NULL)
            argp_error(state, "which database? --db FILE");
        if (o->job == NULL)
            argp_error(state, "which job of which run? colosim why RUN JOB --db %s", o->db);
        return 0;
    default: return ARGP_ERR_UNKNOWN;
    }
}

static enum status why(const struct why_options *o, struct error *err)
{
    struct store store;
    struct why w = {0};
    struct output out = {0};
    int64_t run;
    enum status status = ST_OK;
    TRY(store_open_read(&store, o->db, err));
    TRY_OUT(store_find(&store, o->run, &run, err));
    TRY_OUT(why_read(&w, &store, run, o->job, err));
    TRY_OUT(output_open(&out, "-", err));
    if (o->json)
        why_json(out.file, &w);
    else
        why_print(out.file, &w);
out:
    status = output_close(&out, status, err);
    why_free(&w);
    store_close(&store);
    return status;
}

int cmd_why(int argc, char **argv)
{
    static const struct argp argp = {
        .options = why_options, .parser = parse_why, .args_doc = "RUN JOB", .doc = why_doc};
    struct why_options o = {0};
    struct error err = {{0}};
    enum status status = parse_command(&argp, argc, argv, &o, &err);
    if (status == ST_OK)
        status = why(&o, &err);
    return report_error(status, &err);
}
