/* colosim calib score: held-out errors of the predictors. */
#include "sim/cmd/calib_commands.h"

#include "calib/score.h"
#include "sim/cmd/measured.h"
#include "sim/cmd/reading.h"
#include "sim/results/output.h"
#include "sim/run/crew.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { KEY_BY = 512, KEY_FOLDS, KEY_JSON, KEY_MODEL, KEY_REPEATS, REPEATS_MAX = 100 };

struct scoring {
    struct measured measured;
    enum score_by by;
    int32_t n_folds;
    bool json, wanted[N_SCORE_MODELS], any_wanted;
    struct samples samples;
    int32_t n_repeats, n_plans;
    struct score_plan plan[REPEATS_MAX]; /* (n_plans) all with as many folds */
    struct score_options options;
    int32_t n_models;
    enum score_model model[N_SCORE_MODELS]; /* those that apply */
    struct score score[N_SCORE_MODELS][REPEATS_MAX];
};

// clang-format off
static const struct argp_option options[] = {
    {"by", KEY_BY, "WHAT", 0, "what is left out together: experiment (default), pair of workloads, or workload, one at a time", 1},
    {"folds", KEY_FOLDS, "N", 0, "parts; 5 unless given; by workload there are as many as workloads", 1},
    {"model", KEY_MODEL, "LIST", 0, "only these, of dnn, dnn+steps, dnn+physics, gbdt, gbdt+steps, gbdt+physics, linear, queueing; all that apply unless given", 1},
    {"repeats", KEY_REPEATS, "N", 0, "how often it is all done, with seeds that count up from --seed; the means are printed; 1 unless given", 1},
    {"json", KEY_JSON, NULL, 0, "one JSON object instead of the table", 1},
    {0},
};

static const char doc[] =
    "Learns each predictor from a part of measured pairs and prints its errors on the rest, as "
    "Table 7 of the ElastiCo paper does, by pairs of training (T) and inference (I) jobs: mean "
    "absolute percentage error and R2 of the slowdown S, and of the retained rate 1/S. Slowdowns "
    "below 1 count as 1."
    "\v"
    "Predictors: dnn, an ensemble of networks on the paper's 36 inputs; gbdt, trees on the same; linear, "
    "regression of ln S on them; queueing, the physics S = 1 + (w_j/w_i) min(1, sum of alpha u_i u_j) "
    "with a weight for each job that a table names. With +steps the step times of both jobs are "
    "inputs too; with +physics also their weights in the queueing fit to the rows learned from, and "
    "what is learned is how far S is off that fit. Those that want step times, named jobs or a "
    "library that is not there are left out.\n\n"
    "Examples:\n"
    "  colosim calib score --pairs job_pairs.csv --solo job_solo.csv --json\n"
    "  colosim calib score --pairs job_pairs.csv --solo job_solo.csv --repeats 5 --networks 1\n"
    "  colosim calib score --pairs job_pairs.csv --solo job_solo.csv --by workload -j 2";
// clang-format on

static int index_of(const char *word, size_t length, const char *const *names)
{
    for (int i = 0; names[i] != NULL; i++)
        if (strlen(names[i]) == length && memcmp(names[i], word, length) == 0)
            return i;
    return -1;
}

static void parse_models(const struct argp_state *state, struct scoring *s, const char *list)
{
    for (const char *word = list; *word != '\0';) {
        size_t length = strcspn(word, ",");
        int model = index_of(word, length, score_model_name);
        if (model < 0)
            argp_error(state, "--model %s: '%.*s' is no predictor", list, (int)length, word);
        else
            s->wanted[model] = s->any_wanted = true;
        word += length + (word[length] == ',');
    }
}

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
    struct scoring *s = state->input;
    switch (key) {
    case ARGP_KEY_INIT: state->child_inputs[0] = &s->measured; return 0;
    case KEY_BY: {
        int by = index_of(arg, strlen(arg), score_by_name);
        if (by < 0)
            argp_error(state, "--by %s: want experiment, pair or workload", arg);
        s->by = (enum score_by)by;
        return 0;
    }
    case KEY_FOLDS: s->n_folds = (int32_t)option_whole(state, "--folds", arg, 2, 1000); return 0;
    case KEY_JSON: s->json = true; return 0;
    case KEY_MODEL: parse_models(state, s, arg); return 0;
    case KEY_REPEATS:
        s->n_repeats = (int32_t)option_whole(state, "--repeats", arg, 1, REPEATS_MAX);
        return 0;
    default: return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp_child children[] = {{&measured_argp, 0, NULL, 0}, {0}};
static const struct argp argp = {options, parse_option, NULL, doc, children, NULL, NULL};

/* Pieces go by repeat, then fold, then predictor: short and long ones take turns. */
struct piece {
    int32_t repeat, fold, model;
};

static struct piece piece_of(const struct scoring *s, int i)
{
    int32_t n_folds = s->plan[0].n_folds;
    return (struct piece){i / s->n_models / n_folds, i / s->n_models % n_folds, i % s->n_models};
}

static enum status work(void *context, int worker, int i, void **product, struct error *err)
{
    const struct scoring *s = context;
    (void)worker;
    struct piece p = piece_of(s, i);
    struct score_options learning = s->options;
    learning.seed += (uint64_t)p.repeat;
    struct score_fold *fold = calloc(1, sizeof *fold);
    if (fold == NULL)
        return fail_memory(err);
    enum status status =
        score_run(fold, &s->samples, &s->plan[p.repeat], p.fold, s->model[p.model], &learning, err);
    if (status != ST_OK) {
        score_fold_free(fold);
        free(fold);
        return status;
    }
    *product = fold;
    return ST_OK;
}

static enum status deliver(void *context, int i, void *product, struct error *err)
{
    struct scoring *s = context;
    struct score_fold *fold = product;
    (void)err;
    if (i >= 0) {
        struct piece p = piece_of(s, i);
        score_add(&s->score[p.model][p.repeat], &s->samples, fold);
        if (!s->measured.quiet && p.model == s->n_models - 1)
            fprintf(stderr, "fold %d of %d\n", p.repeat * s->plan[0].n_folds + p.fold + 1,
                    s->n_repeats * s->plan[0].n_folds);
    }
    score_fold_free(fold);
    free(fold);
    return ST_OK;
}

static enum status choose_models(struct scoring *s, struct error *err)
{
    for (int m = 0; m < N_SCORE_MODELS; m++) {
        bool applies = score_model_applies((enum score_model)m, &s->samples);
        if (s->wanted[m] && !applies)
            return fail(err, ST_USAGE, "--model %s: these pairs or this build lack what it needs",
                        score_model_name[m]);
        if (applies && (s->wanted[m] || !s->any_wanted))
            s->model[s->n_models++] = (enum score_model)m;
    }
    return ST_OK;
}

/* Table 7, and the two comparisons in its text. */
static const struct paper_row {
    const char *name;
    double mape_pct[N_PAIR_KINDS + 1], r2[N_PAIR_KINDS + 1];
} paper[] = {
    {"dnn, paper", {6.8, 8.2, 7.5, 7.6}, {.91, .88, .89, .89}},
    {"gbdt, paper", {NAN, NAN, NAN, 9.4}, {NAN, NAN, NAN, NAN}},
    {"linear, paper", {NAN, NAN, NAN, 18.7}, {NAN, NAN, NAN, NAN}},
};

/* "  5.11  .836", blanks where there is nothing. */
static void print_cell(FILE *file, double mape_pct, double r2)
{
    char text[16] = "";
    if (isfinite(mape_pct))
        fprintf(file, "  %6.2f", mape_pct);
    else
        fprintf(file, "  %6s", "");
    if (isfinite(r2))
        snprintf(text, sizeof text, "%.3f", r2);
    fprintf(file, " %6s", text);
}

/* One predictor's figure for a kind of pairs, over the repeats. */
struct figure {
    int32_t n_rows;
    double mape_pct, mape_min_pct, mape_max_pct, r2;
};

static struct figure figure_of(const struct scoring *s, int model, bool kept, int kind)
{
    struct figure f = {.mape_min_pct = INFINITY};
    for (int32_t i = 0; i < s->n_repeats; i++) {
        const struct score *score = &s->score[model][i];
        const struct score_sums *sums = kept ? &score->kept[kind] : &score->slow[kind];
        double mape_pct = score_mape_pct(sums);
        f.n_rows = sums->n;
        f.mape_pct += mape_pct / s->n_repeats;
        f.r2 += score_r2(sums) / s->n_repeats;
        f.mape_min_pct = fmin(f.mape_min_pct, mape_pct);
        f.mape_max_pct = fmax(f.mape_max_pct, mape_pct);
    }
    return f;
}

static void print_row(const struct scoring *s, int model, FILE *file)
{
    fprintf(file, "%-14s", score_model_name[s->model[model]]);
    for (int c = 0; c <= N_PAIR_KINDS; c++) {
        struct figure f = figure_of(s, model, false, c);
        print_cell(file, f.mape_pct, f.r2);
    }
    struct figure kept = figure_of(s, model, true, N_PAIR_KINDS);
    print_cell(file, kept.mape_pct, kept.r2);
    if (s->n_repeats > 1)
        fprintf(file, "  %6.2f ..%6.2f", kept.mape_min_pct, kept.mape_max_pct);
    putc('\n', file);
}

static void print_table(const struct scoring *s, FILE *file)
{
    const char *const column[] = {"S: T+T", "T+I", "I+I", "all", "1/S: all"};
    fprintf(file, "%d rows, %d experiments, %d workloads; %d folds by %s, seed %lld", s->samples.n,
            s->samples.n_experiments, s->samples.workloads.n, s->plan[0].n_folds,
            score_by_name[s->by], (long long)s->measured.seed);
    if (s->n_repeats > 1)
        fprintf(file, " to %lld: means", (long long)s->measured.seed + s->n_repeats - 1);
    fprintf(file, "\n%-14s", "MAPE %, R2");
    for (int c = 0; c < 5; c++)
        fprintf(file, "  %13s", column[c]);
    fprintf(file, "%s\n%-14s", s->n_repeats > 1 ? "    least .. most" : "", "rows");
    for (int c = 0; c < 5; c++)
        fprintf(file, "  %13d", figure_of(s, 0, false, c < 4 ? c : 3).n_rows);
    putc('\n', file);
    for (int m = 0; m < s->n_models; m++)
        print_row(s, m, file);
    for (size_t p = 0; p < sizeof paper / sizeof *paper; p++) {
        fprintf(file, "%-14s", paper[p].name);
        for (int c = 0; c <= N_PAIR_KINDS; c++)
            print_cell(file, paper[p].mape_pct[c], paper[p].r2[c]);
        putc('\n', file);
    }
    fprintf(file,
            "The paper's figures are of 1,088 samples of its own, which nobody else has: these "
            "rows are beside\nthem and no comparison.\n");
}

static void print_real(FILE *file, const char *name, double value)
{
    fprintf(file, "\"%s\": ", name);
    fprintf(file, isfinite(value) ? "%.6g" : "null", value);
}

static void print_figures(const struct scoring *s, int model, int kind, FILE *file)
{
    struct figure slow = figure_of(s, model, false, kind), kept = figure_of(s, model, true, kind);
    fprintf(file, "\"%s\": {\"rows\": %d, ", kind < N_PAIR_KINDS ? pair_kind_name[kind] : "all",
            slow.n_rows);
    print_real(file, "mape_pct", slow.mape_pct);
    fputs(", ", file);
    print_real(file, "r2", slow.r2);
    fputs(", ", file);
    print_real(file, "retained_mape_pct", kept.mape_pct);
    fputs(", ", file);
    print_real(file, "retained_mape_min_pct", kept.mape_min_pct);
    fputs(", ", file);
    print_real(file, "retained_mape_max_pct", kept.mape_max_pct);
    fputs(", ", file);
    print_real(file, "retained_r2", kept.r2);
    putc('}', file);
}

static void print_json(const struct scoring *s, FILE *file)
{
    fprintf(file,
            "{\"rows\": %d, \"experiments\": %d, \"workloads\": %d, \"by\": \"%s\", \"folds\": %d, "
            "\"networks\": %d, \"seed\": %lld, \"repeats\": %d, \"data_hash\": \"%016llx\", "
            "\"models\": {",
            s->samples.n, s->samples.n_experiments, s->samples.workloads.n, score_by_name[s->by],
            s->plan[0].n_folds, s->measured.n_nets, (long long)s->measured.seed, s->n_repeats,
            (unsigned long long)samples_hash(&s->samples));
    for (int m = 0; m < s->n_models; m++) {
        fprintf(file, "%s\n \"%s\": {", m > 0 ? "," : "", score_model_name[s->model[m]]);
        for (int c = 0; c <= N_PAIR_KINDS; c++) {
            fputs(c > 0 ? ", " : "", file);
            print_figures(s, m, c, file);
        }
        putc('}', file);
    }
    fputs("}}\n", file);
}

static enum status score(struct scoring *s, struct error *err)
{
    struct output out;
    s->options = measured_options(&s->measured);
    TRY(measured_read(&s->measured, &s->samples, err));
    TRY(choose_models(s, err));
    while (s->n_plans < s->n_repeats) {
        uint64_t seed = s->options.seed + (uint64_t)s->n_plans;
        TRY(score_plan_init(&s->plan[s->n_plans++], &s->samples, s->by, s->n_folds, seed, err));
    }
    TRY(crew_run(&(struct crew_job){s, work, deliver},
                 s->n_repeats * s->plan[0].n_folds * s->n_models, s->measured.n_threads, err));
    TRY(output_open(&out, "-", err));
    if (s->json)
        print_json(s, out.file);
    else
        print_table(s, out.file);
    return output_close(&out, ST_OK, err);
}

int calib_score(int argc, char **argv)
{
    struct error err = {""};
    struct scoring *s = calloc(1, sizeof *s);
    if (s == NULL)
        return report_error(fail_memory(&err), &err);
    s->n_folds = 5;
    s->n_repeats = 1;
    measured_init(&s->measured);
    enum status status = parse_command(&argp, argc, argv, s, &err);
    if (status == ST_OK)
        status = score(s, &err);
    for (int32_t i = 0; i < s->n_plans; i++)
        score_plan_free(&s->plan[i]);
    samples_free(&s->samples);
    free(s);
    return report_error(status, &err);
}
