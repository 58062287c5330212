/* colosim calib synth: made-up co-location experiments. */
#include "sim/cmd/calib_commands.h"

#include "calib/experiments.h"
#include "core/elastico/catalog_file.h"
#include "sim/cmd/measured.h"
#include "sim/cmd/reading.h"
#include "sim/results/output.h"

#include <stdio.h>
#include <string.h>

enum { KEY_CARD = 512, KEY_CATALOG, KEY_QUIET, KEY_SEED, KEY_SET };

struct synth {
    const char *catalog, *output;
    bool quiet;
    struct experiment_options options;
};

// clang-format off
static const struct argp_option options[] = {
    {"catalog", KEY_CATALOG, "NAME", 0, "whose configurations are paired: an embedded catalog or a JSON file; " EMBEDDED_CATALOG " unless given", 1},
    {"card", KEY_CARD, "NAME", 0, "the type of card, repeatable: each experiment draws one; a100-40g unless given", 1},
    {"set", KEY_SET, "KEY=VALUE", 0, "how many of each kind, the physics and the noise, as experiments.n_tt=768; a wrong KEY lists them", 1},
    {"seed", KEY_SEED, "N", 0, "of the draws; 1 unless given", 1},
    {"output", 'o', "FILE", 0, "where to write; - is stdout (default)", 1},
    {"quiet", KEY_QUIET, NULL, 0, "nothing on stderr", 1},
    {0},
};
// clang-format on

static const char doc[] =
    "Makes co-location experiments as a testbed would have measured them if the contention physics "
    "were the truth: two configurations of a catalog at random on one card, and the slowdown of "
    "each beside the other with a log-normal error. Writes one row for each job of a pair, with "
    "the predictor's 36 inputs in columns; slowdown_true is without the error."
    "\v"
    "Examples:\n"
    "  colosim calib synth --seed 3 -o syn.csv\n"
    "  colosim calib synth --set experiments.physics=frank_l2 -o frank.csv\n"
    "  colosim calib synth --card a100-40g --card h200 --set experiments.n_tt=768 -o two.csv";

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
    struct synth *s = state->input;
    switch (key) {
    case KEY_CARD: {
        int32_t card = card_find(arg);
        if (card < 0)
            argp_error(state, "--card %s: no catalog knows this card", arg);
        s->options.cards |= 1u << card;
        return 0;
    }
    case KEY_CATALOG: s->catalog = arg; return 0;
    case KEY_QUIET: s->quiet = true; return 0;
    case KEY_SEED:
        s->options.seed = option_whole(state, "--seed", arg, 0, 9007199254740992);
        return 0;
    case KEY_SET:
        return option_setting(
            state, &(struct param_group){"experiments", experiment_params, &s->options}, 1, arg);
    case 'o': s->output = arg; return 0;
    case ARGP_KEY_ARG: argp_error(state, "'%s' is one argument too many", arg); return 0;
    case ARGP_KEY_END:
        if (s->options.cards == 0)
            s->options.cards = 1u << CARD_REFERENCE;
        return 0;
    default: return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp argp = {options, parse_option, NULL, doc, NULL, NULL, NULL};

static void write_samples(const struct samples *s, FILE *file)
{
    char name[32];
    double x[IAC_FEATURES_MAX];
    fputs("experiment,kind,workloads", file);
    for (int32_t f = 0; f < IAC_FEATURES_MAX; f++)
        fprintf(file, ",%s", iac_feature_name(f, name));
    fputs(",slowdown_true,slowdown\n", file);
    for (int32_t k = 0; k < s->n; k++) {
        const struct pair_row *row = &s->row[k];
        fprintf(file, "%d,%s,%s|%s", row->experiment, pair_kind_name[samples_kind(s, k)],
                names_text(&s->workloads, row->workload[0]),
                names_text(&s->workloads, row->workload[1]));
        iac_features(&s->side[2 * k], &s->side[2 * k + 1], true, x);
        for (int32_t f = 0; f < IAC_FEATURES_MAX; f++)
            fprintf(file, ",%.9g", x[f]);
        fprintf(file, ",%.9g,%.9g\n", row->slowdown_true, row->slowdown);
    }
}

static enum status make(const struct synth *s, struct samples *samples, struct error *err)
{
    enum status status;
    struct workloads workloads = {0};
    struct profiles profiles = {0};
    struct contention physics = {0};
    TRY_OUT(catalog_read(s->catalog, &workloads, err));
    TRY_OUT(profiles_init(&profiles, &workloads, err));
    TRY_OUT(contention_init(&physics, &profiles, &contention_sets[s->options.physics], 1, err));
    TRY_OUT(experiments_make(samples, &profiles, &physics, &s->options, err));
out:
    contention_free(&physics);
    profiles_free(&profiles);
    workloads_free(&workloads);
    return status;
}

static enum status write_all(const struct synth *s, struct error *err)
{
    struct samples samples = {0};
    struct output out = {0};
    enum status status = make(s, &samples, err);
    if (status == ST_OK)
        status = output_open(&out, s->output, err);
    if (status == ST_OK) {
        write_samples(&samples, out.file);
        status = output_close(&out, ST_OK, err);
    }
    if (status == ST_OK && !s->quiet)
        fprintf(stderr, "%d rows of %d experiments\n", samples.n, samples.n_experiments);
    samples_free(&samples);
    return status;
}

int calib_synth(int argc, char **argv)
{
    struct synth s = {.catalog = EMBEDDED_CATALOG, .output = "-"};
    struct error err = {""};
    param_defaults(&(struct param_group){"experiments", experiment_params, &s.options});
    s.options.seed = 1;
    enum status status = parse_command(&argp, argc, argv, &s, &err);
    if (status == ST_OK)
        status = write_all(&s, &err);
    return report_error(status, &err);
}
