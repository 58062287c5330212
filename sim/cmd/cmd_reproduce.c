#include "sim/cmd/commands.h"

#include "core/base/param.h"
#include "sim/cmd/reading.h"
#include "sim/cmd/reproduce.h"
#include "sim/results/output.h"
#include "sim/run/study.h"

#include <argp.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

static const char doc[] =
    "Puts the tables of the ElastiCo paper's evaluation beside ours: for each number the paper's, "
    "the median, least and most over seeds, and the deviation, under three physics of sharing and "
    "two ways of submitting. TABLE is one of table4, table5, load, table8, table9, order (what "
    "these say of direction and order, and whether ours do), instances, sensitivity, baseline, "
    "sizes, table7, figures; all is every one."
    "\v"
    "  colosim reproduce all --quick\n"
    "  colosim reproduce table4 load --seeds 1..12 -j 2\n"
    "  colosim reproduce table5 --json\n"
    "  colosim reproduce order --load 2 --set volcano.profile=compiled\n\n"
    "One workload for all of them: the generator's day (24 h, load 1.2, sizes\n"
    "1:.6,2:.12,4:.12,8:.13,16:.03) on nodes of eight A100-40GB; only the load study, the\n"
    "sensitivity and the scale of Table 8 say otherwise. Each seed draws a day. --quick takes "
    "three\n"
    "seeds and leaves out 512 GPUs. docs/reproduction.md has the results.";

enum { KEY_QUICK = 256, KEY_SEEDS, KEY_HOURS, KEY_LOAD, KEY_SET, KEY_WORLD, KEY_JSON, KEY_QUIET };

static const struct argp_option options[] = {
    {"quick", KEY_QUICK, NULL, 0, "seeds 1..3, up to 256 GPUs: minutes", 0},
    {"seeds", KEY_SEEDS, "LIST", 0, "1..5 or 1,2,7; 1..12 unless given or --quick", 0},
    {"hours", KEY_HOURS, "H", 0, "length of the day that is drawn; 24", 0},
    {"load", KEY_LOAD, "X", 0, "offered load where no table has its own; 1.2", 0},
    {"set", KEY_SET, "KEY=VALUE", 0, "a setting of all runs; repeatable", 0},
    {"world", KEY_WORLD, "PHYSICS,SUBMITTED", 0,
     "only this, as in frank_l2,peak; repeatable; all six unless given", 0},
    {"threads", 'j', "N", 0, "threads; every processor unless given", 0},
    {"json", KEY_JSON, NULL, 0, "one JSON object a line for each number", 0},
    {"quiet", KEY_QUIET, NULL, 0, "nothing on stderr but errors", 0},
    {0},
};

/* What can be asked for that is no table of runs. */
static const char *const more_names[] = {"order", "instances", "table7", "figures", "all"};
enum { MORE_ORDER, MORE_INSTANCES, MORE_TABLE7, MORE_FIGURES, MORE_ALL, N_MORE };
enum { ASKED_MAX = 16 };

struct asked {
    struct reproduction r;
    const char *seeds;
    size_t set_capacity;
    bool some_worlds;
    bool table[ASKED_MAX]; /* of paper_tables */
    bool more[N_MORE];
};

static void ask(struct asked *a, const char *word, const struct argp_state *state)
{
    const char *names[ASKED_MAX + N_MORE];
    size_t n = 0;
    for (; paper_tables[n].name != NULL; n++) {
        names[n] = paper_tables[n].name;
        if (strcmp(word, names[n]) == 0) {
            a->table[n] = true;
            return;
        }
    }
    for (int i = 0; i < N_MORE; i++) {
        names[n++] = more_names[i];
        if (strcmp(word, more_names[i]) == 0) {
            a->more[i] = true;
            return;
        }
    }
    const char *near = nearest_word(word, names, n);
    argp_error(state, "there is no table '%s'%s%s%s", word, near != NULL ? ": did you mean '" : "",
               near != NULL ? near : "", near != NULL ? "'?" : "");
}

static void show_world(struct asked *a, const char *word, const struct argp_state *state)
{
    char name[64];
    for (int i = 0; i < N_WORLDS; i++) {
        snprintf(name, sizeof name, "%s,%s", worlds[i].physics, worlds[i].submitted);
        if (strcmp(word, name) == 0) {
            a->r.shown[i] = a->some_worlds = true;
            return;
        }
    }
    argp_error(state, "--world %s: want h200, queue_prior or frank_l2, a comma, peak or default",
               word);
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
    struct asked *a = state->input;
    switch (key) {
    case KEY_QUICK: a->r.quick = true; return 0;
    case KEY_SEEDS: a->seeds = arg; return 0;
    case KEY_HOURS: a->r.hours = option_real(state, "--hours", arg, 0.01, 1000); return 0;
    case KEY_LOAD: a->r.load = option_real(state, "--load", arg, 0.01, 1000); return 0;
    case KEY_SET:
        if (!ARRAY_GROW(a->r.set, a->set_capacity, (size_t)a->r.n_set + 1))
            return ENOMEM;
        a->r.set[a->r.n_set++] = arg;
        return 0;
    case KEY_WORLD: show_world(a, arg, state); return 0;
    case KEY_JSON: a->r.json = true; return 0;
    case KEY_QUIET: a->r.quiet = true; return 0;
    case 'j': a->r.n_threads = (int)option_whole(state, "-j", arg, 1, 1024); return 0;
    case ARGP_KEY_ARG: ask(a, arg, state); return 0;
    case ARGP_KEY_NO_ARGS: argp_error(state, "which table? table4, …, or all"); return 0;
    default: return ARGP_ERR_UNKNOWN;
    }
}

static void print_head(const struct reproduction *r, FILE *to)
{
    fprintf(to, "workload: the generator's, %g h, load %g where no other is said; %d seeds\n",
            r->hours, r->load, r->n_seeds);
    fprintf(to, "%-20s %s", "all", REPRODUCE_SETTINGS);
    for (int i = 0; i < r->n_set; i++)
        fprintf(to, " %s", r->set[i]);
    fputc('\n', to);
    for (int i = 0; i < N_SYSTEMS; i++)
        fprintf(to, "%-20s %s\n", system_names[i], system_settings[i]);
    fputs(
        "ours: median over seeds, of ratios seed by seed; [least, most] hold the true median with\n"
        "1 - 2^(1 - seeds) (three seeds: 75 %, twelve: 99.95 %); deviation: ours / paper - 1\n",
        to);
}

static const char table7_text[] =
    "\nTable 7: the predictor's error, cross-validated. No run of a cluster: colosim calib score,\n"
    "with results in docs/predictor.md. Paper: MAPE 6.8 % training + training, 8.2 % training +\n"
    "inference, 7.5 % inference + inference, 7.6 % overall; R2 0.91, 0.88, 0.89, 0.89.\n";

static const char figures_text[] =
    "\nFigures 1-4: colosim trace characterize (docs/characterize.md). Figures 6-9 are drawn from\n"
    "stored runs (docs/figures.md):\n"
    "  colosim compare --policy volcano,lucid,elastico --db r.db \\\n"
    "    --set volcano.profile=helm-gpubinpack --set volcano.queues=one \\\n"
    "    --set lucid.estimate=oracle --set lucid.sharing=on\n"
    "  6a  colosim plot --db r.db --figure jct-cdf -o 6a.svg\n"
    "  6b  colosim plot --db r.db --figure wait-by-job -o 6b.svg\n"
    "  7   colosim plot --db r.db --figure sm-util -o 7.svg\n"
    "  8a  colosim plot --figure interference-cdf -o 8a.svg\n"
    "  8b  colosim plot --db r.db --figure gantt -o 8b.svg\n"
    "  9   colosim plot --figure interference-heatmap -o 9.svg\n";

static enum status print_all(struct asked *a, FILE *to, struct error *err)
{
    struct reproduction *r = &a->r;
    if (!r->json)
        print_head(r, to);
    for (int i = 0; paper_tables[i].name != NULL; i++)
        if (a->table[i])
            TRY(paper_table_print(r, &paper_tables[i], to, err));
    if (a->more[MORE_ORDER])
        TRY(order_print(r, to, err));
    if (a->more[MORE_INSTANCES])
        TRY(instances_print(r, to, err));
    if (a->more[MORE_TABLE7] && !r->json)
        fputs(table7_text, to);
    if (a->more[MORE_FIGURES] && !r->json)
        fputs(figures_text, to);
    return ST_OK;
}

static int processors(void)
{
    cpu_set_t set;
    return sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;
}

static enum status reproduce(struct asked *a, struct error *err)
{
    struct reproduction *r = &a->r;
    struct output out = {0};
    const char *seeds = a->seeds != NULL ? a->seeds : r->quick ? "1..3" : "1..12";
    TRY(seeds_parse(seeds, &r->arena, &r->seed, &r->n_seeds, err));
    r->n_threads = r->n_threads > 0 ? r->n_threads : processors();
    for (int i = 0; i < N_WORLDS; i++)
        r->shown[i] = r->shown[i] || !a->some_worlds;
    for (int i = 0; i < N_MORE; i++)
        a->more[i] = a->more[i] || a->more[MORE_ALL];
    for (int i = 0; paper_tables[i].name != NULL; i++) {
        a->table[i] = a->table[i] || a->more[MORE_ALL];
        if (a->table[i])
            TRY(paper_table_want(r, &paper_tables[i], err));
    }
    if (a->more[MORE_ORDER])
        TRY(order_want(r, err));
    r->watch = watch_begin(&r->watcher, r->quiet);
    TRY(reproduction_run(r, err));
    TRY(output_open(&out, "-", err));
    return output_close(&out, print_all(a, out.file, err), err);
}

int cmd_reproduce(int argc, char **argv)
{
    static const struct argp argp = {
        .options = options, .parser = parse, .args_doc = "TABLE...", .doc = doc};
    struct asked a = {.r = {.hours = 24, .load = 1.2}};
    struct error err = {{0}};
    enum status status = parse_command(&argp, argc, argv, &a, &err);
    watch_signals();
    if (status == ST_OK)
        status = reproduce(&a, &err);
    free(a.r.outcome);
    free(a.r.set);
    arena_free(&a.r.arena);
    int code = report_error(status, &err);
    return status == ST_INTERRUPTED ? watch_exit_code() : code;
}
