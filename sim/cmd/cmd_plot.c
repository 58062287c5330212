#include "sim/cmd/commands.h"

#include "core/base/param.h"
#include "core/elastico/catalog_file.h"
#include "sim/cmd/options.h"
#include "sim/results/chosen.h"
#include "sim/results/figure.h"
#include "sim/results/pair_table.h"

#include <stdlib.h>
#include <string.h>

enum {
    KEY_DB = 256,
    KEY_RUN,
    KEY_FIGURE,
    KEY_METRIC,
    KEY_TITLE,
    KEY_KEEP,
    KEY_PAIRS,
    KEY_CATALOG,
    KEY_CARD,
    KEY_CONTENTION
};
enum { WORDS_MAX = 64 };

struct plot_options {
    const char *db, *out, *title, *pairs, *catalog, *card;
    char *metric; /* "X" or "X,Y", taken apart in place */
    const struct figure *figure;
    enum contention_set set;
    const char *run[WORDS_MAX];
    size_t n_runs;
    bool keep;
};

static const struct argp_option options[] = {
    {"figure", KEY_FIGURE, "NAME", 0, "which figure; they are listed below", 1},
    {"output", 'o', "FILE", 0, "where to, in the format its name says: .svg, .png or .pdf", 1},
    {"db", KEY_DB, "FILE", 0, "the results database", 1},
    {"run", KEY_RUN, "NAME[,NAME...]", 0, "these runs, in this order; all complete ones without it",
     1},
    {"metric", KEY_METRIC, "NAME[,NAME]", 0,
     "load, scale: the metric; pareto: two of them, across and up", 2},
    {"title", KEY_TITLE, "TEXT", 0, "above the figure", 2},
    {"keep", KEY_KEEP, NULL, 0, "leave the data (FILE.dat) and the script (FILE.gp) beside it", 2},
    {"pairs", KEY_PAIRS, "FILE", 0, "interference-*: measured pairs instead of the model", 3},
    {"catalog", KEY_CATALOG, "NAME", 0, "interference-*: of workloads; " EMBEDDED_CATALOG, 3},
    {"card", KEY_CARD, "TYPE", 0, "interference-*: the model's card; a100-40g", 3},
    {"contention", KEY_CONTENTION, "SET", 0, "interference-*: the model's numbers; h200", 3},
    {0},
};

static void set_figure(struct plot_options *o, const char *name, const struct argp_state *state)
{
    const char *names[32];
    size_t n = 0;
    o->figure = figure_find(name);
    for (; figures[n] != NULL && n < 32; n++)
        names[n] = figures[n]->name;
    const char *near = o->figure == NULL ? nearest_word(name, names, n) : NULL;
    if (o->figure == NULL)
        argp_error(state, "there is no figure '%s'%s%s%s", name,
                   near != NULL ? ": did you mean '" : "", near != NULL ? near : "",
                   near != NULL ? "'?" : " (--help lists them)");
}

static void set_contention(struct plot_options *o, const char *name, const struct argp_state *state)
{
    for (int i = 0; contention_set_names[i] != NULL; i++)
        if (strcmp(contention_set_names[i], name) == 0) {
            o->set = (enum contention_set)i;
            return;
        }
    argp_error(state, "--contention: '%s' is none of h200, queue_prior, queue_l2, frank_l2", name);
}

static bool draws(const char *path)
{
    static const char *const ends[] = {".svg", ".png", ".pdf"};
    const char *dot = strrchr(path, '.');
    for (int i = 0; i < 3 && dot != NULL; i++)
        if (strcmp(dot, ends[i]) == 0)
            return true;
    return false;
}

static void check_options(const struct plot_options *o, const struct argp_state *state)
{
    if (o->figure == NULL)
        argp_error(state, "which figure? --figure NAME (--help lists them)");
    else if (o->figure->of != FIGURE_PAIRS && o->db == NULL)
        argp_error(state, "which database? --db FILE");
    if (o->out == NULL || !draws(o->out))
        argp_error(state, "where to? -o FILE.svg, FILE.png or FILE.pdf");
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
    struct plot_options *o = state->input;
    switch (key) {
    case KEY_DB: o->db = arg; return 0;
    case KEY_FIGURE: set_figure(o, arg, state); return 0;
    case 'o': o->out = arg; return 0;
    case KEY_METRIC: o->metric = arg; return 0;
    case KEY_TITLE: o->title = arg; return 0;
    case KEY_KEEP: o->keep = true; return 0;
    case KEY_PAIRS: o->pairs = arg; return 0;
    case KEY_CATALOG: o->catalog = arg; return 0;
    case KEY_CARD: o->card = arg; return 0;
    case KEY_CONTENTION: set_contention(o, arg, state); return 0;
    case KEY_RUN:
        if (o->n_runs == WORDS_MAX)
            argp_error(state, "more than %d times --run", WORDS_MAX);
        o->run[o->n_runs++] = arg;
        return 0;
    case ARGP_KEY_ARG: argp_error(state, "'%s' is one argument too many", arg); return 0;
    case ARGP_KEY_END: check_options(o, state); return 0;
    default: return ARGP_ERR_UNKNOWN;
    }
}

/* Lists the figures at the end of --help. */
static char *list_figures(int key, const char *text, void *input)
{
    (void)input;
    char *list = NULL;
    size_t size = 0;
    FILE *to = key == ARGP_KEY_HELP_POST_DOC ? open_memstream(&list, &size) : NULL;
    if (to == NULL)
        return (char *)(uintptr_t)text; /* argp takes it back as it is */
    fputs("Figures:\n", to);
    for (int i = 0; figures[i] != NULL; i++)
        fprintf(to, "  %-20s %s\n", figures[i]->name, figures[i]->summary);
    fprintf(to, "\n%s", text);
    return fclose(to) == 0 ? list : NULL;
}

/* The metrics, from --metric or the figure's own. */
static enum status set_metrics(const struct plot_options *o, struct figure_request *q,
                               struct error *err)
{
    q->metric_x = o->figure->metric_x;
    q->metric_y = o->figure->metric_y;
    if (o->metric == NULL)
        return ST_OK;
    if (o->figure->metric_y == NULL)
        return fail(err, ST_USAGE, "--metric: figure %s shows no metric", o->figure->name);
    char *second = o->metric;
    char *first = strsep(&second, ",");
    if ((second != NULL) != (o->figure->metric_x != NULL))
        return fail(err, ST_USAGE, "--metric: figure %s wants %s", o->figure->name,
                    o->figure->metric_x != NULL ? "two, as jct_mean_s,throughput_gpus" : "one");
    if (second == NULL)
        q->metric_y = first;
    else {
        q->metric_x = first;
        q->metric_y = second;
    }
    return ST_OK;
}

static enum status plot_runs(const struct plot_options *o, struct figure_request *q,
                             struct error *err)
{
    struct store store;
    struct chosen chosen = {0};
    TRY(store_open_read(&store, o->db, err));
    enum status status = chosen_find(&chosen, &store, o->run, o->n_runs, err);
    if (status == ST_OK && q->figure->of == FIGURE_RUN && chosen.n > 1)
        status = fail(err, ST_USAGE, "figure %s shows one run: which? --run NAME", q->figure->name);
    if (status == ST_OK) {
        q->db = store.db;
        q->runs = chosen.json;
        status = figure_make(q, err);
    }
    chosen_free(&chosen);
    store_close(&store);
    return status;
}

static enum status plot_pairs(const struct plot_options *o, struct figure_request *q,
                              struct error *err)
{
    q->runs = "[]";
    enum status status = o->pairs != NULL
                             ? pair_table_read(&q->db, o->pairs, err)
                             : pair_table_model(&q->db, o->catalog, o->card, o->set, err);
    if (status == ST_OK)
        status = figure_make(q, err);
    sqlite3_close(q->db);
    return status;
}

int cmd_plot(int argc, char **argv)
{
    static const struct argp argp = {
        options,
        parse,
        NULL,
        "Draws a figure with gnuplot. Figures can be read in black and white: lines are told apart "
        "by dashes and marks. Without gnuplot the exit code is 6, and the data and the script are "
        "there to be drawn elsewhere.\v"
        "Examples:\n"
        "  colosim plot --db r.db --figure jct-cdf --run base,lucid -o jct.svg\n"
        "  colosim plot --db s.db --figure load --metric wait_mean_s -o load.pdf\n"
        "  colosim plot --figure interference-heatmap -o heat.png",
        NULL,
        list_figures,
        NULL};
    struct plot_options o = {.catalog = EMBEDDED_CATALOG, .card = "a100-40g"};
    struct figure_request q = {0};
    struct error err;
    enum status status = ST_OK;
    if (argp_parse(&argp, argc, argv, 0, NULL, &o) != 0)
        status = fail_memory(&err); /* argp ends the program for a usage error itself */
    q = (struct figure_request){
        .figure = o.figure, .title = o.title, .path = o.out, .keep = o.keep};
    if (status == ST_OK)
        status = set_metrics(&o, &q, &err);
    if (status == ST_OK)
        status = o.figure->of == FIGURE_PAIRS ? plot_pairs(&o, &q, &err) : plot_runs(&o, &q, &err);
    return status == ST_OK ? 0 : report_error(status, &err);
}
