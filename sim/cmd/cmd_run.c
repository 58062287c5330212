#include "sim/cmd/commands.h"

#include "sim/cmd/options.h"
#include "sim/cmd/watch.h"
#include "sim/results/output.h"
#include "sim/results/profiles_csv.h"
#include "sim/results/report.h"

static const char run_doc[] =
    "Replays one trace on one cluster under one policy and prints what came of it."
    "\v"
    "Without options: the embedded 24-hour trace on 64 GPUs under elastico, contention as\n"
    "the physics.\n\n"
    "  colosim run --trace pai_task_table.csv.gz --format pai --cluster 64x8:a100-40g \\\n"
    "              --policy fifo-skip --db r.db\n"
    "  colosim run --policy sjf --load 1.6 --set place=consolidate --json --quiet\n\n"
    "Exit codes: 0 ok, 2 usage or settings, 3 trace refused, 4 output or database, 5 nothing ran,\n"
    "130/143 interrupted (what was finished is kept and marked).";

enum { KEY_PROFILES = 1 };
static const struct argp_option run_options[] = {
    {"profiles", KEY_PROFILES, "FILE", 0,
     "write what was profiled by the end as CSV, for elastico.profiling.store", 4},
    {0},
};
static const struct argp_child run_children[] = {
    {&options_argp, 0, NULL, 0}, {&policy_argp, 0, NULL, 0}, {0}};

struct asked {
    struct options options;
    const char *profiles; /* NULL for none */
};

static error_t parse_run(int key, char *arg, struct argp_state *state)
{
    struct asked *asked = state->input;
    switch (key) {
    case ARGP_KEY_INIT: state->child_inputs[0] = state->child_inputs[1] = &asked->options; return 0;
    case KEY_PROFILES: asked->profiles = arg; return 0;
    case ARGP_KEY_ARG:
        argp_error(state, "'%s': options begin with --; a trace is named by --trace", arg);
        return 0;
    default: return ARGP_ERR_UNKNOWN;
    }
}

/* What is said once the run is over; the exit code where it is not simply 0. */
static enum status tell(const struct options *o, const struct run_request *q,
                        const struct run_result *r, const char *name, struct error *err)
{
    struct summary s = {0};
    struct output out = {0};
    enum status status = summary_of_result(&s, q, r, name, o->db, err);
    if (status == ST_OK)
        status = output_open(&out, "-", err);
    if (status == ST_OK && o->json)
        report_json(out.file, &s);
    else if (status == ST_OK)
        report_run(out.file, &s);
    status = output_close(&out, status, err);
    summary_free(&s);
    if (status != ST_OK)
        return status;
    if (r->log.interrupted) {
        char time[32];
        return fail(err, ST_INTERRUPTED,
                    "interrupted at t = %s s; what was done until then is %s%s",
                    format_us(r->log.end_us, time), name == NULL ? "above" : "stored as run ",
                    name == NULL ? "" : name);
    }
    if (r->nothing_ran)
        return fail(err, ST_NOTHING, "0 of %d jobs could be placed", r->trace.jobs.n_jobs);
    return ST_OK;
}

static enum status run_once(const struct asked *asked, struct run_request *q, struct error *err)
{
    const struct options *o = &asked->options;
    struct store store = {0};
    struct run_result result = {0};
    struct watcher watcher;
    char name[128];
    const struct policy *policy;
    enum status status = ST_OK;
    TRY_OUT(options_resolve(o, q, err));
    TRY_OUT(run_policy(q, &policy, err));
    if (o->db != NULL)
        TRY_OUT(store_open(&store, o->db, err));
    struct run_watch watch = watch_begin(&watcher, o->quiet);
    status = run_execute(q, &watch, &result, err);
    watch_end(&watcher);
    if (status == ST_OK && asked->profiles != NULL)
        status = profiles_csv(&result, asked->profiles, err);
    if (status == ST_OK && o->db != NULL)
        status = store_run(&store, q, &result, name, err);
    if (status == ST_OK)
        status = tell(o, q, &result, o->db == NULL ? NULL : name, err);
    if (store.note != NULL)
        fprintf(stderr, "colosim: %s\n", store.note);
out:
    store_close(&store);
    run_result_free(&result);
    return status;
}

int cmd_run(int argc, char **argv)
{
    static const struct argp argp = {
        .options = run_options, .parser = parse_run, .doc = run_doc, .children = run_children};
    struct asked asked = {0};
    struct run_request request = {0};
    struct error err = {{0}};
    enum status status = ST_OK;
    if (argp_parse(&argp, argc, argv, 0, NULL, &asked) != 0)
        status = fail_memory(&err);
    watch_signals();
    if (status == ST_OK)
        status = run_request_init(&request, &err);
    if (status == ST_OK)
        status = run_once(&asked, &request, &err);
    run_request_free(&request);
    options_free(&asked.options);
    int code = report_error(status, &err);
    return status == ST_INTERRUPTED ? watch_exit_code() : code;
}
