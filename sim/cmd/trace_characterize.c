/* colosim trace characterize: what a paper says of a trace, and what the trace says. */
#include "sim/cmd/reading.h"
#include "sim/cmd/trace_commands.h"

#include "sim/results/claims.h"
#include "sim/results/output.h"
#include "traces/account.h"

#include <stdlib.h>

struct characterize {
    const char **path; /* (n) */
    size_t n, capacity;
    const char *format;
    bool json, quiet;
};

enum { KEY_TRACE = 256, KEY_FORMAT, KEY_JSON, KEY_QUIET };

static const struct argp_option options[] = {
    {"trace", KEY_TRACE, "FILE", 0, "a table, a folder or an archive of tables; repeatable", 1},
    {"format", KEY_FORMAT, "genai|pai", 0, "which trace it is; guessed without it", 1},
    {"json", KEY_JSON, NULL, 0, "one JSON object", 2},
    {"quiet", KEY_QUIET, NULL, 0, "no account of what was read", 2},
    {0},
};

static const char doc[] =
    "Computes what section 2 of the ElastiCo paper says of Alibaba PAI and of GenTD26: the paper's "
    "number, that of the files, how many rows are behind it, and the definition. Where the paper "
    "leaves it open, each reading is shown. What the files do not carry is absent.\v"
    "PAI: pai_task_table, pai_job_table (users), pai_group_tag_table (groups), pai_sensor_table "
    "(utilisation), or a job sample of the official simulator. GenTD26: qps and "
    "pod_gpu_duty_cycle.\n\n"
    "Examples:\n"
    "  colosim trace characterize --format genai --trace genai/\n"
    "  colosim trace characterize pai_task_table.csv.gz --json";

static error_t add_path(struct characterize *o, const char *path)
{
    if (!ARRAY_GROW(o->path, o->capacity, o->n + 1))
        return ENOMEM;
    o->path[o->n++] = path;
    return 0;
}

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
    struct characterize *o = state->input;
    switch (key) {
    case KEY_TRACE:
    case ARGP_KEY_ARG: return add_path(o, arg);
    case KEY_FORMAT: o->format = arg; return 0;
    case KEY_JSON: o->json = true; return 0;
    case KEY_QUIET: o->quiet = true; return 0;
    case ARGP_KEY_END:
        if (o->n == 0)
            argp_error(state, "which trace? FILE or --trace FILE");
        return 0;
    default: return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp argp = {options, parse_option, "[FILE...]", doc, NULL, NULL, NULL};

static enum status print_claims(const struct characterize *o, const struct claims *c,
                                struct error *err)
{
    struct output out;
    TRY(output_open(&out, "-", err));
    return output_close(&out, claims_print(c, o->json, out.file, err), err);
}

int trace_characterize(int argc, char **argv)
{
    struct characterize o = {0};
    struct claims claims = {0};
    struct import_report report = {0};
    struct error err = {""};
    enum status status = parse_command(&argp, argc, argv, &o, &err);
    if (status == ST_OK)
        status = claims_read(&claims, o.path, (int)o.n, o.format, &report, &err);
    if (status == ST_OK && !o.quiet)
        import_report_print(&report, stderr);
    if (status == ST_OK)
        status = print_claims(&o, &claims, &err);
    claims_free(&claims);
    account_free(&report);
    free(o.path);
    return report_error(status, &err);
}
