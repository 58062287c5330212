/* colosim trace convert: any format into the native one. */
#include "sim/cmd/reading.h"
#include "sim/cmd/trace_commands.h"

struct convert {
    struct reading reading;
    const char *output;
};

static const struct argp_option options[] = {
    {"output", 'o', "FILE", 0, "where to write; gzip where it ends in .gz; - is stdout (default)",
     1},
    {0},
};

static const char doc[] =
    "Reads a trace of any format and writes it as the native CSV, which has a header and these "
    "columns as far as they hold something: job, submit_s, duration_s, gpu (devices per instance), "
    "instances, cpu, mem_mib, gpu_mem_mib, gpu_type, kind, workload, user, group, queue, priority, "
    "min_rate_frac, task and others. What was dropped or assumed is said on stderr."
    "\v"
    "Examples:\n"
    "  colosim trace convert pai_task_table.csv.gz -o pai.csv.gz\n"
    "  colosim trace convert --columns job=id,submit_s=t,duration_s=d,gpu=n my.csv\n"
    "  colosim trace convert pai/ --set trace.duration=minus_wait -o pai.csv";

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
    struct convert *c = state->input;
    switch (key) {
    case ARGP_KEY_INIT: state->child_inputs[0] = &c->reading; return 0;
    case 'o': c->output = arg; return 0;
    default: return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp_child children[] = {{&reading_argp, 0, NULL, 0}, {0}};
static const struct argp argp = {options, parse_option, "[FILE...]", doc, children, NULL, NULL};

int trace_convert(int argc, char **argv)
{
    struct convert c = {.output = "-"};
    struct trace trace = {0};
    struct error err = {""};
    enum status status = parse_command(&argp, argc, argv, &c, &err);
    if (status == ST_OK)
        status = reading_open(&c.reading, &trace, &err);
    if (status == ST_OK)
        status = trace_write(&trace.jobs, c.output, &err);
    trace_free(&trace);
    reading_free(&c.reading);
    return report_error(status, &err);
}
