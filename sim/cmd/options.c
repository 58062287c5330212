#include "sim/cmd/options.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { KEY_CONFIG = 256, KEY_DB, KEY_JSON, KEY_QUIET, KEY_SET, KEY_TRACE, KEY_SETTING };

/* KEY_SETTING + i stands for the i-th of the settings that are long options too. */
static const char *const setting_options[] = {
    "cluster", "columns", "format", "label",  "load",    "pairs",  "policy", "rate-scale",
    "seed",    "strict",  "truth",  "window", "catalog", "belief", "model",  "policy-timeout-s"};
enum { N_SETTING_OPTIONS = sizeof setting_options / sizeof *setting_options };

// clang-format off
static const struct argp_option options_table[] = {
    {"trace", KEY_TRACE, "FILE", 0, "trace file or folder, plain or .gz; repeat for several, of different formats too; without one, the embedded 24-hour trace", 1},
    {"format", KEY_SETTING + 2, "NAME", 0, "native, csv, pai, …; guessed where the header allows it", 1},
    {"columns", KEY_SETTING + 1, "LIST", 0, "for csv: job=job_name,submit_s=start_s,…", 1},
    {"strict", KEY_SETTING + 9, NULL, 0, "the first bad row is an error", 1},
    {"load", KEY_SETTING + 4, "X", 0, "stretch submissions to this offered load", 1},
    {"rate-scale", KEY_SETTING + 7, "X", 0, "arrivals X times as fast", 1},
    {"cluster", KEY_SETTING + 0, "SPEC", 0, "8x8:a100-40g, FILE.json, a PAI machine table", 2},
    {"policy-timeout-s", KEY_SETTING + 15, "S", 0, "of one answer of exec:PROGRAM", 2},
    {"seed", KEY_SETTING + 8, "N", 0, "of every random stream", 2},
    {"truth", KEY_SETTING + 10, "NAME", 0, "physics of sharing: none, table, contention, iac", 2},
    {"belief", KEY_SETTING + 13, "NAME", 0, "what the policy thinks of it: iac, oracle, table", 2},
    {"model", KEY_SETTING + 14, "FILE", 0, "predictor for iac (colosim calib train) or physics of contention (calib fit)", 2},
    {"pairs", KEY_SETTING + 5, "FILE", 0, "measured pair speeds for --truth or --belief table", 2},
    {"catalog", KEY_SETTING + 12, "NAME|FILE", 0, "workloads: table2, h200, or a .json file", 2},
    {"set", KEY_SET, "KEY=VALUE", 0, "any setting (colosim describe settings); repeatable", 3},
    {"config", KEY_CONFIG, "FILE", 0, "settings as JSON, the same keys", 3},
    {"window", KEY_SETTING + 11, "A..B", 0, "seconds over which rates and utilisations are taken", 3},
    {"db", KEY_DB, "FILE", 0, "store the run in this results database", 4},
    {"label", KEY_SETTING + 3, "NAME", 0, "name of the run there", 4},
    {"json", KEY_JSON, NULL, 0, "one JSON object per run on stdout", 4},
    {"quiet", KEY_QUIET, NULL, 0, "no progress, no import report", 4},
    {"jobs", 'j', "N", 0, "threads, where there are several runs", 4},
    {0},
};
static const struct argp_option policy_table[] = {
    {"policy", KEY_SETTING + 6, "NAME", 0, "colosim describe policies", 2},
    {0},
};
// clang-format on

static error_t add_pair(struct options *o, const char *key, const char *value)
{
    size_t n = strlen(key) + 1 + strlen(value);
    char *text = arena_alloc(&o->arena, n + 1, 1);
    if (text == NULL || !ARRAY_GROW(o->pair, o->pair_capacity, o->n_pairs + 1))
        return ENOMEM;
    snprintf(text, n + 1, "%s=%s", key, value);
    for (char *p = text; *p != '=' && *p != '\0'; p++)
        *p = *p == '-' ? '_' : *p;
    o->pair[o->n_pairs++] = text;
    return 0;
}

static error_t add_trace(struct options *o, const char *path)
{
    if (!ARRAY_GROW(o->trace, o->trace_capacity, o->n_traces + 1))
        return ENOMEM;
    o->trace[o->n_traces++] = path;
    return 0;
}

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
    struct options *o = state->input;
    if (key >= KEY_SETTING && key < KEY_SETTING + N_SETTING_OPTIONS)
        return add_pair(o, setting_options[key - KEY_SETTING], arg == NULL ? "true" : arg);
    switch (key) {
    case KEY_CONFIG: o->config = arg; return 0;
    case KEY_DB: o->db = arg; return 0;
    case KEY_JSON: o->json = true; return 0;
    case KEY_QUIET: o->quiet = true; return 0;
    case KEY_TRACE: return add_trace(o, arg);
    case KEY_SET:
        if (!ARRAY_GROW(o->pair, o->pair_capacity, o->n_pairs + 1))
            return ENOMEM;
        o->pair[o->n_pairs++] = arg;
        return 0;
    case 'j': {
        char *end;
        long n = strtol(arg, &end, 10);
        if (*end != '\0' || n < 1 || n > 1024)
            argp_error(state, "-j %s: want a number of threads, 1 to 1024", arg);
        o->n_threads = (int)n;
        return 0;
    }
    default: return ARGP_ERR_UNKNOWN;
    }
}

const struct argp options_argp = {.options = options_table, .parser = parse_option};
const struct argp policy_argp = {.options = policy_table, .parser = parse_option};

enum status options_resolve(const struct options *o, struct run_request *q, struct error *err)
{
    struct param_group groups[GROUPS_MAX];
    size_t n = (size_t)run_all_groups(q, groups);
    if (o->config != NULL) {
        TRY(param_load(groups, n, o->config, &q->arena, err));
        TRY(run_choose_policy(q, q->run.policy != NULL ? q->run.policy : "", err));
    }
    for (size_t i = 0; i < o->n_pairs; i++)
        TRY(run_set(q, o->pair[i], err));
    if (o->n_traces == 0)
        return ST_OK;
    q->run.trace = o->trace[0];
    q->more_traces = o->trace + 1;
    q->n_more_traces = (int)o->n_traces - 1;
    return ST_OK;
}

void options_free(struct options *o)
{
    free(o->pair);
    free(o->trace);
    arena_free(&o->arena);
    *o = (struct options){0};
}

int report_error(enum status status, const struct error *err)
{
    if (status != ST_OK && err->text[0] != '\0')
        fprintf(stderr, "colosim: %s\n", err->text);
    return (int)status;
}
