/* colosim trace synth: a made-up trace. */
#include "sim/cmd/reading.h"
#include "sim/cmd/trace_commands.h"

#include "sim/run/cluster_file.h"
#include "traces/synth.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct synth {
    struct reading from; /* only --from goes into it: the trace to draw durations from */
    const char *cluster, *config, *output;
    const char **pair; /* (n_pairs) KEY=VALUE in order */
    size_t n_pairs, pair_capacity;
    int64_t seed;
    bool quiet;
    struct synth_settings settings;
    struct arena arena; /* owns the settings' texts */
};

enum { KEY_CLUSTER = 512, KEY_CONFIG, KEY_FORMAT, KEY_FROM, KEY_QUIET, KEY_SEED, KEY_SET };

static const struct argp_option options[] = {
    {"set", KEY_SET, "KEY=VALUE", 0,
     "a setting of the generator (colosim describe settings synth); repeatable", 1},
    {"config", KEY_CONFIG, "FILE", 0, "settings of the generator as JSON, the same keys", 1},
    {"cluster", KEY_CLUSTER, "SPEC", 0,
     "whose GPUs the load is offered to, and how wide a node is; " EMBEDDED_CLUSTER " unless given",
     1},
    {"seed", KEY_SEED, "N", 0, "of every random stream; 1 unless given", 1},
    {"from", KEY_FROM, "FILE", 0, "draw durations from this trace (duration=empirical)", 1},
    {"format", KEY_FORMAT, "NAME", 0, "of that trace; guessed where its header allows it", 1},
    {"output", 'o', "FILE", 0, "where to write; gzip where it ends in .gz; - is stdout (default)",
     1},
    {"quiet", KEY_QUIET, NULL, 0, "nothing on stderr", 1},
    {0},
};

static const char doc[] =
    "Makes a trace and writes it in the native format. Work is drawn first and submissions are "
    "then stretched so that the offered load (GPU-seconds asked over GPUs x span from the first "
    "submission to the last) is exactly what was set. Set jobs, and the span follows; leave it 0, "
    "and as many jobs are drawn as fill the hours; set load=0, and the load follows. Without "
    "options it makes the embedded trace that colosim run replays. Equal seeds give equal bytes; "
    "every purpose has its own random stream."
    "\v"
    "Examples:\n"
    "  colosim trace synth --seed 3 -o t.csv\n"
    "  colosim trace synth --set jobs=1000000 --cluster 128x8:a100-40g -o big.csv.gz\n"
    "  colosim trace synth --set arrivals=diurnal --set hours=168 -o week.csv\n"
    "  colosim trace synth --set gpus=.5:.3,1:.5,8:.2 -o fractions.csv\n"
    "  colosim trace synth --from pai.csv.gz -o like-pai.csv";

static error_t add_pair(struct synth *s, const char *pair)
{
    if (!ARRAY_GROW(s->pair, s->pair_capacity, s->n_pairs + 1))
        return ENOMEM;
    s->pair[s->n_pairs++] = pair;
    return 0;
}

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
    struct synth *s = state->input;
    switch (key) {
    case KEY_CLUSTER: s->cluster = arg; return 0;
    case KEY_CONFIG: s->config = arg; return 0;
    case KEY_FORMAT: return reading_add_setting(&s->from, "format=", arg);
    case KEY_FROM: return reading_add_trace(&s->from, arg);
    case KEY_QUIET: s->quiet = true; return 0;
    case KEY_SEED: s->seed = option_whole(state, "--seed", arg, 0, 9007199254740992); return 0;
    case KEY_SET: return add_pair(s, arg);
    case 'o': s->output = arg; return 0;
    case ARGP_KEY_END: s->from.options.quiet = s->quiet; return 0;
    default: return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp argp = {options, parse_option, NULL, doc, NULL, NULL, NULL};

/* Defaults, then what the cluster and --from say, then --config, then --set. */
static enum status resolve(struct synth *s, int64_t *n_gpus, struct error *err)
{
    const struct param_group group = {"", synth_params, &s->settings};
    struct cluster_desc desc;
    int64_t widest = 0;
    param_defaults(&group);
    enum status status = cluster_parse(s->cluster, &desc, err);
    for (int32_t i = 0; status == ST_OK && i < desc.n_nodes; i++) {
        *n_gpus += (int64_t)desc.nodes[i].count * desc.nodes[i].n_gpus;
        widest = desc.nodes[i].n_gpus > widest ? desc.nodes[i].n_gpus : widest;
    }
    cluster_desc_free(&desc);
    TRY(status);
    if (widest > 0)
        s->settings.node_gpus = widest;
    if (s->from.options.n_traces > 0)
        s->settings.duration = SYNTH_EMPIRICAL;
    if (s->config != NULL)
        TRY(param_load(&group, 1, s->config, &s->arena, err));
    for (size_t i = 0; i < s->n_pairs; i++)
        TRY(param_set_pair(&group, 1, s->pair[i], &s->arena, err));
    return ST_OK;
}

static void say(const struct job_table *t, const char *output)
{
    int32_t n_infer = 0;
    for (int32_t j = 0; j < t->n_jobs; j++)
        n_infer += t->kind[j] == KIND_INFER;
    fprintf(stderr, "%s: %d jobs over %.2f hours, %d of them inference\n",
            strcmp(output, "-") == 0 ? "standard output" : output, t->n_jobs,
            s_of_us(t->submit_us[t->n_jobs - 1]) / 3600, n_infer);
}

static enum status make(struct synth *s, struct error *err)
{
    enum status status = ST_OK;
    int64_t n_gpus = 0;
    struct trace from = {0};
    struct job_table jobs = {0};
    TRY_OUT(resolve(s, &n_gpus, err));
    if (s->from.options.n_traces > 0)
        TRY_OUT(reading_open(&s->from, &from, err));
    TRY_OUT(synth_jobs(&s->settings, n_gpus, (uint64_t)s->seed,
                       s->from.options.n_traces > 0 ? &from.jobs : NULL, &jobs, err));
    TRY_OUT(trace_write(&jobs, s->output, err));
    if (!s->quiet)
        say(&jobs, s->output);
out:
    trace_free(&from);
    jobs_free(&jobs);
    return status;
}

int trace_synth(int argc, char **argv)
{
    struct synth s = {.cluster = EMBEDDED_CLUSTER, .output = "-", .seed = 1};
    struct error err = {""};
    enum status status = parse_command(&argp, argc, argv, &s, &err);
    if (status == ST_OK)
        status = make(&s, &err);
    reading_free(&s.from);
    free(s.pair);
    arena_free(&s.arena);
    return report_error(status, &err);
}
