/* colosim calib train: measured pairs into a model file. */
#include "sim/cmd/calib_commands.h"

#include "calib/score.h"
#include "core/elastico/model_file.h"
#include "sim/cmd/measured.h"
#include "sim/cmd/reading.h"
#include "sim/results/output.h"
#include "sim/run/crew.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { KEY_DATE = 512, KEY_FOLDS, KEY_FORM, KEY_INPUTS };

struct training {
    struct measured measured;
    const char *output, *date;
    int32_t n_folds;
    struct samples samples;
    struct iac_model model;
    struct train_set set;
    struct score_plan plan;
    struct score_options options;
    struct score score;
    int32_t n_pieces; /* of the model: its networks, or 1 */
};

// clang-format off
static const struct argp_option options[] = {
    {"form", KEY_FORM, "NAME", 0, "dnn (default), gbdt or linear", 1},
    {"inputs", KEY_INPUTS, "WHICH", 0, "paper (default): its 36; steps: kernel lengths and step times of both besides", 1},
    {"folds", KEY_FOLDS, "N", 0, "parts for the held-out errors that the file states; 5 unless given, 0 for none", 1},
    {"date", KEY_DATE, "DATE", 0, "what the file says of when it was made; today unless given", 1},
    {"output", 'o', "FILE", 0, "the model file; - is stdout (default)", 1},
    {0},
};

static const char doc[] =
    "Makes a predictor of co-location slowdowns from measured pairs and writes it as a model file: "
    "JSON with the maps of its inputs, weights, what it was made from, and its errors on "
    "experiments left out. Equal pairs, settings and seed give the same file, at any number of "
    "threads, on processors for which the BLAS has the same kernels."
    "\v"
    "Examples:\n"
    "  colosim calib train --pairs syn.csv -o model.json\n"
    "  colosim calib train --pairs job_pairs.csv --solo job_solo.csv --inputs steps -o h200.json";
// clang-format on

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
    struct training *t = state->input;
    switch (key) {
    case ARGP_KEY_INIT: state->child_inputs[0] = &t->measured; return 0;
    case KEY_DATE: t->date = arg; return 0;
    case KEY_FOLDS: t->n_folds = (int32_t)option_whole(state, "--folds", arg, 0, 1000); return 0;
    case KEY_FORM:
        for (int form = 0; form < N_IAC_FORMS; form++)
            if (strcmp(arg, iac_form_name[form]) == 0) {
                t->model.form = (enum iac_form)form;
                return 0;
            }
        argp_error(state, "--form %s: want dnn, gbdt or linear", arg);
        return 0;
    case KEY_INPUTS:
        t->model.extras = strcmp(arg, "steps") == 0;
        if (!t->model.extras && strcmp(arg, "paper") != 0)
            argp_error(state, "--inputs %s: want paper or steps", arg);
        return 0;
    case 'o': t->output = arg; return 0;
    default: return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp_child children[] = {{&measured_argp, 0, NULL, 0}, {0}};
static const struct argp argp = {options, parse_option, NULL, doc, children, NULL, NULL};

static enum score_model scored_as(const struct iac_model *m)
{
    switch (m->form) {
    case IAC_DNN: return m->extras ? SCORE_DNN_STEPS : SCORE_DNN;
    case IAC_GBDT: return m->extras ? SCORE_GBDT_STEPS : SCORE_GBDT;
    case IAC_LINEAR:
    case N_IAC_FORMS: break;
    }
    return SCORE_LINEAR;
}

/* One network of the model, or all of another form. */
static enum status train_piece(struct training *t, int i, struct error *err)
{
    char purpose[48];
    struct train_report report;
    switch (t->model.form) {
    case IAC_DNN:
        snprintf(purpose, sizeof purpose, "net %d", i);
        TRY(train_net(&t->model.net[i], &t->set, &t->measured.train, t->options.seed, purpose,
                      &report, err));
        if (!t->measured.quiet)
            fprintf(stderr, "network %d: %lld epochs, best %lld, held-out loss %.3g\n", i + 1,
                    (long long)report.n_epochs, (long long)report.best_epoch + 1,
                    report.held_out_loss);
        return ST_OK;
    case IAC_GBDT:
        return gbdt_train(&t->model.trees, t->set.n, t->set.width, t->set.x, t->set.log_s,
                          t->options.seed, err);
    case IAC_LINEAR: return train_linear(&t->model, &t->set, err);
    case N_IAC_FORMS: break;
    }
    return ST_OK;
}

/* Pieces: those of the model, then the folds. */
static enum status work(void *context, int worker, int i, void **product, struct error *err)
{
    struct training *t = context;
    (void)worker;
    *product = NULL;
    if (i < t->n_pieces)
        return train_piece(t, i, err);
    struct score_fold *fold = calloc(1, sizeof *fold);
    if (fold == NULL)
        return fail_memory(err);
    enum status status = score_run(fold, &t->samples, &t->plan, i - t->n_pieces,
                                   scored_as(&t->model), &t->options, err);
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
    struct training *t = context;
    struct score_fold *fold = product;
    (void)err;
    if (fold == NULL)
        return ST_OK;
    if (i >= 0) {
        score_add(&t->score, &t->samples, fold);
        if (!t->measured.quiet)
            fprintf(stderr, "fold %d of %d\n", i - t->n_pieces + 1, t->plan.n_folds);
    }
    score_fold_free(fold);
    free(fold);
    return ST_OK;
}

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash != NULL ? slash + 1 : path;
}

static void note_errors(struct model_note *n, const struct score *score)
{
    for (int i = 0; i <= N_PAIR_KINDS; i++) {
        const struct score_sums *sums = &score->slow[i];
        struct model_error *e = &n->error[n->n_errors++];
        snprintf(e->name, sizeof e->name, "%s", i < N_PAIR_KINDS ? pair_kind_name[i] : "all");
        e->n_rows = sums->n;
        e->mape_pct = score_mape_pct(sums);
        e->r2 = score_r2(sums);
    }
}

static struct model_note note_of(const struct training *t)
{
    struct model_note n = {.data_hash = samples_hash(&t->samples),
                           .n_rows = t->samples.n,
                           .seed = t->measured.seed,
                           .n_folds = t->n_folds};
    const struct measured *m = &t->measured;
    size_t used = 0;
    for (int i = 0; i < m->n_pairs && used < sizeof n.data; i++)
        used += (size_t)snprintf(n.data + used, sizeof n.data - used, "%s%s", i > 0 ? ", " : "",
                                 base_name(m->pairs[i]));
    snprintf(n.card, sizeof n.card, "%s", m->card != NULL ? m->card : "");
    snprintf(n.program, sizeof n.program, "colosim %s", COLOSIM_VERSION);
    time_t now = time(NULL);
    struct tm day;
    if (t->date != NULL)
        snprintf(n.date, sizeof n.date, "%s", t->date);
    else if (gmtime_r(&now, &day) != NULL)
        strftime(n.date, sizeof n.date, "%Y-%m-%d", &day);
    if (t->n_folds > 0)
        note_errors(&n, &t->score);
    return n;
}

static enum status prepare(struct training *t, struct error *err)
{
    enum status status = ST_OK;
    TRY(measured_read(&t->measured, &t->samples, err));
    int32_t *all = malloc((size_t)t->samples.n * sizeof *all);
    if (all == NULL)
        return fail_memory(err);
    for (int32_t k = 0; k < t->samples.n; k++)
        all[k] = k;
    t->model.n_nets = t->model.form == IAC_DNN ? t->measured.n_nets : 0;
    t->n_pieces = t->model.form == IAC_DNN ? t->measured.n_nets : 1;
    t->options = measured_options(&t->measured);
    TRY_OUT(train_maps(&t->model, &t->samples, all, t->samples.n, err));
    TRY_OUT(train_set_init(&t->set, &t->model, &t->samples, all, t->samples.n, err));
    if (t->n_folds > 0)
        status = score_plan_init(&t->plan, &t->samples, SCORE_BY_EXPERIMENT, t->n_folds,
                                 t->options.seed, err);
out:
    free(all);
    return status;
}

static enum status train(struct training *t, struct error *err)
{
    struct output out;
    TRY(prepare(t, err));
    TRY(crew_run(&(struct crew_job){t, work, deliver}, t->n_pieces + t->n_folds,
                 t->measured.n_threads, err));
    struct model_note note = note_of(t);
    TRY(output_open(&out, t->output, err));
    return output_close(&out, model_write(&t->model, &note, out.file, err), err);
}

int calib_train(int argc, char **argv)
{
    struct error err = {""};
    struct training *t = calloc(1, sizeof *t);
    if (t == NULL)
        return report_error(fail_memory(&err), &err);
    t->n_folds = 5;
    t->output = "-";
    measured_init(&t->measured);
    enum status status = parse_command(&argp, argc, argv, t, &err);
    if (status == ST_OK)
        status = train(t, &err);
    score_plan_free(&t->plan);
    train_set_free(&t->set);
    iac_model_free(&t->model);
    samples_free(&t->samples);
    free(t);
    return report_error(status, &err);
}
