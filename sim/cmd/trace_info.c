/* colosim trace info: what a trace holds. */
#include "sim/cmd/reading.h"
#include "sim/cmd/trace_commands.h"

#include "sim/results/census.h"
#include "sim/results/output.h"
#include "sim/run/cluster_file.h"

struct info {
    struct reading reading;
    const char *cluster;
    bool json;
};

enum { KEY_CLUSTER = 512, KEY_JSON };

static const struct argp_option options[] = {
    {"cluster", KEY_CLUSTER, "SPEC", 0,
     "offered load on this cluster, such as 8x8:a100-40g; without it, on the machines that come "
     "with the trace",
     1},
    {"json", KEY_JSON, NULL, 0, "one JSON object", 1},
    {0},
};

static const char doc[] =
    "Says what a trace holds: rows read, kept and dropped, jobs by size, durations, kinds and "
    "names, and when jobs are submitted. Hours and weekdays are those of the trace's own clock, "
    "whose zone is said (UTC+8 for PAI); the zone of this machine has no part in it. The offered "
    "load is GPU-seconds asked over GPUs x span from the first submission to the last."
    "\v"
    "Examples:\n"
    "  colosim trace info pai_task_table.csv.gz --cluster 64x8:a100-40g\n"
    "  colosim trace info t.csv --json";

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
    struct info *o = state->input;
    switch (key) {
    case ARGP_KEY_INIT: state->child_inputs[0] = &o->reading; return 0;
    case KEY_CLUSTER: o->cluster = arg; return 0;
    case KEY_JSON: o->json = true; return 0;
    default: return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp_child children[] = {{&reading_argp, 0, NULL, 0}, {0}};
static const struct argp argp = {options, parse_option, "[FILE...]", doc, children, NULL, NULL};

/* The cluster to compare with: the one named, else the trace's own. */
static enum status build_cluster(const char *text, const struct trace *t, struct cluster *out,
                                 struct error *err)
{
    if (text == NULL)
        return cluster_init(out, t->nodes, t->n_nodes, SHARE_CARD, err);
    struct cluster_desc desc;
    enum status status = cluster_parse(text, &desc, err);
    if (status == ST_OK)
        status = cluster_build(&desc, out, err);
    cluster_desc_free(&desc);
    return status;
}

static enum status print_info(const struct info *o, const struct trace *t, struct error *err)
{
    enum status status = ST_OK;
    struct cluster cluster = {0};
    struct census census;
    struct output out = {.fd = -1};
    const char *name = o->cluster != NULL ? o->cluster
                       : t->n_nodes > 0   ? "the trace's own machines"
                                          : NULL;
    if (name != NULL)
        TRY_OUT(build_cluster(o->cluster, t, &cluster, err));
    TRY_OUT(census_of(t, name != NULL ? &cluster : NULL, &census, err));
    TRY_OUT(output_open(&out, "-", err));
    (o->json ? census_json : census_print)(out.file, t, &census, name);
out:
    cluster_free(&cluster);
    return output_close(&out, status, err);
}

int trace_info(int argc, char **argv)
{
    struct info o = {0};
    struct trace trace = {0};
    struct error err = {""};
    enum status status = parse_command(&argp, argc, argv, &o, &err);
    if (status == ST_OK)
        status = reading_open(&o.reading, &trace, &err);
    if (status == ST_OK)
        status = print_info(&o, &trace, &err);
    trace_free(&trace);
    reading_free(&o.reading);
    return report_error(status, &err);
}
