#include "sim/cmd/measured.h"

#include "calib/pair_tables.h"
#include "core/cluster/gpus.h"
#include "core/elastico/catalog_file.h"
#include "sim/cmd/reading.h"
#include "traces/table_file.h"

#include <string.h>

enum {
    KEY_CARD = 256,
    KEY_CATALOG,
    KEY_NETWORKS,
    KEY_PAIRS,
    KEY_QUIET,
    KEY_SEED,
    KEY_SET,
    KEY_SOLO,
    KEY_WHERE
};

// clang-format off
static const struct argp_option options[] = {
    {NULL, 0, NULL, 0, "What was measured:", 8},
    {"pairs", KEY_PAIRS, "FILE", 0, "a table of pairs, repeatable: with both sides' features in its columns, or job_a, job_b, retain_a, retain_b", 8},
    {"solo", KEY_SOLO, "FILE", 0, "the jobs that such a table names, alone", 8},
    {"catalog", KEY_CATALOG, "NAME", 0, "or a catalog whose workloads they are: an embedded one (h200) or a JSON file", 8},
    {"card", KEY_CARD, "NAME", 0, "what it was measured on (colosim describe gpus); unless given, the catalog's, else a100-40g", 8},
    {"where", KEY_WHERE, "COLUMN=VALUE", 0, "only these rows of the tables of pairs, as gpu=p100", 8},
    {NULL, 0, NULL, 0, "How to learn from it:", 9},
    {"networks", KEY_NETWORKS, "N", 0, "of an ensemble, 1 to 16; 5 unless given", 9},
    {"seed", KEY_SEED, "N", 0, "of every random stream; 1 unless given", 9},
    {"set", KEY_SET, "KEY=VALUE", 0, "a setting of the training or of the fit of the physics, as train.epochs=800 or fit.ridge=0.1 (docs/predictor.md)", 9},
    {NULL, 'j', "N", 0, "threads; the result does not depend on it", 9},
    {"quiet", KEY_QUIET, NULL, 0, "nothing on stderr", 9},
    {0},
};
// clang-format on

void measured_init(struct measured *m)
{
    *m = (struct measured){.seed = 1,
                           .n_threads = 1,
                           .n_nets = 5,
                           .train = train_defaults(),
                           .queueing = queueing_defaults()};
}

struct score_options measured_options(const struct measured *m)
{
    return (struct score_options){m->train, m->queueing, m->n_nets, (uint64_t)m->seed};
}

error_t option_setting(const struct argp_state *state, const struct param_group *groups, size_t n,
                       const char *pair)
{
    struct arena arena = {0};
    struct error err;
    enum status status = param_set_pair(groups, n, pair, &arena, &err);
    arena_free(&arena);
    if (status == ST_USAGE)
        argp_error(state, "%s", err.text);
    return status == ST_OK ? 0 : ENOMEM;
}

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
    struct measured *m = state->input;
    switch (key) {
    case KEY_CARD: m->card = arg; return 0;
    case KEY_CATALOG: m->catalog = arg; return 0;
    case KEY_NETWORKS:
        m->n_nets = (int)option_whole(state, "--networks", arg, 1, IAC_NETS_MAX);
        return 0;
    case KEY_PAIRS:
        if (m->n_pairs == MEASURED_PAIRS_MAX)
            argp_error(state, "more than %d tables of pairs", MEASURED_PAIRS_MAX);
        m->pairs[m->n_pairs++] = arg;
        return 0;
    case KEY_QUIET: m->quiet = true; return 0;
    case KEY_SEED: m->seed = option_whole(state, "--seed", arg, 0, 9007199254740992); return 0;
    case KEY_SET: {
        const struct param_group groups[] = {{"fit", queueing_params, &m->queueing},
                                             {"train", train_params, &m->train}};
        return option_setting(state, groups, 2, arg);
    }
    case KEY_SOLO: m->solo = arg; return 0;
    case KEY_WHERE:
        if (strchr(arg, '=') == NULL)
            argp_error(state, "--where %s: want COLUMN=VALUE", arg);
        m->where = arg;
        return 0;
    case 'j': m->n_threads = (int)option_whole(state, "-j", arg, 1, 1024); return 0;
    case ARGP_KEY_ARG: argp_error(state, "'%s' is one argument too many", arg); return 0;
    case ARGP_KEY_END:
        if (m->n_pairs == 0 && !m->pairs_optional)
            argp_error(state, "which pairs? --pairs FILE");
        if (m->solo != NULL && m->catalog != NULL)
            argp_error(state, "--solo and --catalog: give one of them");
        return 0;
    default: return ARGP_ERR_UNKNOWN;
    }
}

const struct argp measured_argp = {.options = options, .parser = parse_option};

static enum status read_solo(const struct measured *m, struct solo_jobs *jobs, double card_mib,
                             struct error *err)
{
    struct table table;
    enum status status = table_read(m->solo, &table, err);
    if (status == ST_OK) {
        status = solo_jobs_of_table(jobs, &table, card_mib, err);
        if (status != ST_OK)
            fail_in(err, "%s", m->solo);
    }
    table_free(&table);
    return status;
}

static enum status read_catalog(const struct measured *m, struct solo_jobs *jobs, struct error *err)
{
    enum status status;
    struct workloads workloads = {0};
    struct profiles profiles = {0};
    TRY_OUT(catalog_read(m->catalog, &workloads, err));
    TRY_OUT(profiles_init(&profiles, &workloads, err));
    int32_t card = m->card != NULL ? card_find(m->card) : workloads.n > 0 ? workloads.card[0] : -1;
    if (m->card != NULL && card < 0)
        status = fail(err, ST_USAGE, "--card %s: no catalog knows this card", m->card);
    else
        status = solo_jobs_of_profiles(jobs, &profiles, card < 0 ? CARD_REFERENCE : card, err);
out:
    profiles_free(&profiles);
    workloads_free(&workloads);
    return status;
}

enum status table_keep_where(struct table *t, const char *path, const char *where,
                             struct error *err)
{
    char name[128];
    const char *value = strchr(where, '=') + 1;
    snprintf(name, sizeof name, "%.*s", (int)(value - 1 - where), where);
    int32_t column = table_column(t, name), n = 0;
    if (column < 0)
        return fail(err, ST_USAGE, "--where %s: %s has no column '%s'", where, path, name);
    for (int32_t row = 0; row < t->n_rows; row++)
        if (strcmp(table_cell(t, row, column), value) == 0)
            memmove(t->cell + (size_t)n++ * (size_t)t->n_columns,
                    t->cell + (size_t)row * (size_t)t->n_columns,
                    (size_t)t->n_columns * sizeof *t->cell);
    t->n_rows = n;
    return n > 0 ? ST_OK : fail(err, ST_INPUT, "%s: no row where %s", path, where);
}

static enum status read_pairs(const char *path, const char *where, struct samples *s,
                              const struct solo_jobs *jobs, double card_mib, struct error *err)
{
    struct table table;
    enum status status = table_read(path, &table, err);
    if (status == ST_OK && where != NULL)
        status = table_keep_where(&table, path, where, err);
    if (status == ST_OK && pair_table_is_jobs(&table) && !pair_table_is_bare(&table) &&
        jobs->names.n == 0)
        status = fail(err, ST_USAGE, "%s names jobs: say what they are alone, --solo or --catalog",
                      path);
    else if (status == ST_OK) {
        status = pair_table_is_jobs(&table) ? pair_table_jobs(s, &table, jobs, err)
                                            : pair_table_features(s, &table, card_mib, err);
        if (status != ST_OK)
            fail_in(err, "%s", path);
    }
    table_free(&table);
    return status;
}

enum status measured_read(const struct measured *m, struct samples *out, struct error *err)
{
    struct solo_jobs jobs = {0};
    double card_mib = gpu_type_mem_mib(m->card != NULL ? m->card : "a100-40g");
    enum status status = ST_OK;
    if (!(card_mib > 0))
        return fail(err, ST_USAGE, "--card %s: its memory is not known", m->card);
    if (m->solo != NULL)
        TRY_OUT(read_solo(m, &jobs, card_mib, err));
    if (m->catalog != NULL)
        TRY_OUT(read_catalog(m, &jobs, err));
    for (int i = 0; i < m->n_pairs; i++)
        TRY_OUT(read_pairs(m->pairs[i], m->where, out, &jobs, card_mib, err));
    if (m->n_pairs > 0 && out->n == 0)
        status = fail(err, ST_INPUT, "%s: no pairs", m->pairs[0]);
out:
    solo_jobs_free(&jobs);
    return status;
}
