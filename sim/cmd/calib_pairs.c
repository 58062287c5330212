/* colosim calib pairs: any commands, alone and in pairs. */
#include "sim/cmd/calib_commands.h"

#include "sim/cmd/campaign.h"
#include "sim/cmd/reading.h"

#include <stdio.h>

enum { KEY_NO_GPU = 512 };

struct pairs_command {
    struct campaign campaign;
    const char *jobs;
};

// clang-format off
static const struct argp_option options[] = {
    {"no-gpu", KEY_NO_GPU, NULL, 0, "the commands need no card: no MPS, no counters", 1},
    {0},
};

static const char doc[] =
    "Measures jobs alone and in pairs on one card under MPS and writes the tables that calib score "
    "and calib train read: FOLDER/job_solo.csv and job_pairs.csv, besides raw.csv with every window. "
    "JOBS is a JSON list of shell commands that print their rate:\n"
    "  [{\"name\": \"resnet50-b64-amp\", \"command\": \"python train.py --batch 64\"}, ...]\n"
    "A line 'rate 47.3' gives steps a second since the line before; \"rate\": \"([0-9.]+) tokens/s\" "
    "reads any other. docs/measuring.md has the rest."
    "\v"
    "Each job runs alone, then a part of the pairs (measure.fraction), stratified by training and inference "
    "and by workload; both run through warm-up and window, and all of it is repeated. A sentinel "
    "tells whether the machine has changed. Ctrl-C and --limit keep what there is, and the same "
    "command goes on.\n\n"
    "Examples:\n"
    "  colosim calib pairs jobs.json -o measured --limit 2h\n"
    "  colosim calib pairs jobs.json -o quick --set measure.window_s=10 --set measure.repeats=1\n"
    "  colosim calib score --pairs measured/job_pairs.csv --solo measured/job_solo.csv";
// clang-format on

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
    struct pairs_command *p = state->input;
    switch (key) {
    case ARGP_KEY_INIT: state->child_inputs[0] = &p->campaign; return 0;
    case KEY_NO_GPU: p->campaign.no_gpu = true; return 0;
    case ARGP_KEY_ARG:
        if (p->jobs != NULL)
            argp_error(state, "'%s' is one argument too many", arg);
        p->jobs = arg;
        return 0;
    case ARGP_KEY_END:
        if (p->jobs == NULL)
            argp_error(state, "which jobs? a JSON list of commands");
        if (p->campaign.folder == NULL)
            argp_error(state, "where to? -o FOLDER");
        return 0;
    default: return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp_child children[] = {{&campaign_argp, 0, NULL, 0}, {0}};
static const struct argp argp = {options, parse_option, "JOBS", doc, children, NULL, NULL};

int calib_pairs(int argc, char **argv)
{
    struct error err = {""};
    struct pairs_command p = {.jobs = NULL};
    struct joblist jobs = {0};
    struct pair_plan plan = {0};
    int code;
    campaign_init(&p.campaign);
    enum status status = parse_command(&argp, argc, argv, &p, &err);
    if (status == ST_OK)
        status = joblist_read(&jobs, p.jobs, &err);
    if (status == ST_OK)
        status = pair_plan_make(&plan, &jobs, p.campaign.options.fraction,
                                (uint64_t)p.campaign.seed, &err);
    if (status == ST_OK) {
        if (!p.campaign.quiet)
            fprintf(stderr, "%d of %d pairs, %d of %d pairs of workloads\n", plan.n, plan.n_all,
                    plan.n_seen, plan.n_workload_pairs);
        p.campaign.jobs = &jobs;
        p.campaign.pair = plan.pair;
        p.campaign.n_pairs = plan.n;
        code = campaign_run(&p.campaign);
    } else
        code = report_error(status, &err);
    pair_plan_free(&plan);
    joblist_free(&jobs);
    return code;
}
