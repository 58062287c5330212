/* colosim calib fit: the physics of measured pairs, probes and profiles. */
#include "sim/cmd/calib_commands.h"

#include "calib/fit_file.h"
#include "calib/pair_tables.h"
#include "sim/cmd/measured.h"
#include "sim/cmd/reading.h"
#include "sim/results/fit_report.h"
#include "sim/results/output.h"
#include "sim/run/crew.h"
#include "traces/table_file.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
    KEY_DATE = 512,
    KEY_DRIVER,
    KEY_FOLDS,
    KEY_GPU,
    KEY_INSTANCES,
    KEY_PROBES,
    KEY_PROFILES,
    KEY_REPEATS,
    KEY_SENSORS,
    KEY_SPEEDS
};
enum { REPEATS_MAX = 100, PLANS_MAX = REPEATS_MAX + 1 };

struct fitting {
    struct measured measured;
    const char *output, *speeds, *probes, *profiles, *instances, *sensors, *date, *gpu, *driver;
    int32_t n_folds, n_repeats;
    struct samples samples;
    struct queueing q;
    struct score_options options;
    int32_t n_plans;
    struct score_plan plan[PLANS_MAX]; /* (n_plans) pairs left out, again and again; then jobs */
    struct score score[PLANS_MAX];
    struct kernel_pairs kernels;
    struct estimate (*slope)[2]; /* (groups of kernels) */
    struct solo_rates rates;
    struct saturation *saturation; /* (workloads of rates) */
    struct sensor_census busy;
    struct fit_file file;
    char today[16], data[256];
};

// clang-format off
static const struct argp_option options[] = {
    {"probes", KEY_PROBES, "FILE", 0, "pairs of probes: how slowdowns grow with the ratio of kernel lengths", 1},
    {"profiles", KEY_PROFILES, "FILE", 0, "configurations alone: medians, and speeds over batch sizes", 1},
    {"instances", KEY_INSTANCES, "FILE", 0, "PAI's instance table: how busy instances were, by --sensors", 1},
    {"sensors", KEY_SENSORS, "FILE", 0, "PAI's sensor table; instances that it lacks are unknown and not idle", 1},
    {"folds", KEY_FOLDS, "N", 0, "parts for the held-out errors, by pair; 5 unless given, 0 for none", 1},
    {"repeats", KEY_REPEATS, "N", 0, "how often the parts are drawn anew; 5 unless given", 1},
    {"gpu", KEY_GPU, "TEXT", 0, "what the file says of the card it was measured on", 2},
    {"driver", KEY_DRIVER, "TEXT", 0, "and of the driver", 2},
    {"date", KEY_DATE, "DATE", 0, "and of when it was made; today unless given", 2},
    {"output", 'o', "FILE", 0, "the model file, JSON; - puts it on stdout in place of the tables", 2},
    {"speeds", KEY_SPEEDS, "FILE", 0, "the measured pairs as colosim run --truth table --pairs reads them", 2},
    {0},
};

static const char doc[] =
    "Fits the physics of sharing a card to measured pairs: S_i = m (1 + (w_j / w_i) min(1, sum of "
    "alpha_r C(u_ir, u_jr; kappa))), with a weight for each job, by least squares on ln S. Prints "
    "what it found with standard errors, and errors of retained rates on pairs and on jobs left out. "
    "Slowdowns below 1 count as 1. Where the jobs' counters are not known, two latent demands of "
    "each job are fitted in their place."
    "\v"
    "Settings: --set fit.ridge, fit.steps, fit.kappa, fit.m, fit.latent_ridge (docs/calibration.md).\n\n"
    "Examples:\n"
    "  colosim calib fit --pairs job_pairs.csv --solo job_solo.csv -o h200.json\n"
    "  colosim calib fit --pairs gavel_simulation_pairs.csv --where gpu=p100\n"
    "  colosim calib fit --probes probe_pairs.csv --profiles iterations.csv\n"
    "  colosim run --truth contention --model h200.json";
// clang-format on

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
    struct fitting *f = state->input;
    switch (key) {
    case ARGP_KEY_INIT: state->child_inputs[0] = &f->measured; return 0;
    case KEY_DATE: f->date = arg; return 0;
    case KEY_DRIVER: f->driver = arg; return 0;
    case KEY_FOLDS: f->n_folds = (int32_t)option_whole(state, "--folds", arg, 0, 1000); return 0;
    case KEY_GPU: f->gpu = arg; return 0;
    case KEY_INSTANCES: f->instances = arg; return 0;
    case KEY_SENSORS: f->sensors = arg; return 0;
    case KEY_PROBES: f->probes = arg; return 0;
    case KEY_PROFILES: f->profiles = arg; return 0;
    case KEY_REPEATS:
        f->n_repeats = (int32_t)option_whole(state, "--repeats", arg, 1, REPEATS_MAX);
        return 0;
    case KEY_SPEEDS: f->speeds = arg; return 0;
    case 'o': f->output = arg; return 0;
    case ARGP_KEY_END:
        if (f->measured.n_pairs == 0 && f->probes == NULL && f->profiles == NULL &&
            f->sensors == NULL)
            argp_error(state, "what to fit? --pairs, --probes, --profiles or --sensors FILE");
        if ((f->sensors == NULL) != (f->instances == NULL))
            argp_error(state, "--instances and --sensors go together");
        if (f->speeds != NULL && f->measured.n_pairs == 0)
            argp_error(state, "--speeds %s: of which pairs? --pairs FILE", f->speeds);
        return 0;
    default: return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp_child children[] = {{&measured_argp, 0, NULL, 0}, {0}};
static const struct argp argp = {options, parse_option, NULL, doc, children, NULL, NULL};

/* Pieces are the folds of all plans, one after the other. */
static enum status work(void *context, int worker, int i, void **product, struct error *err)
{
    (void)worker;
    const struct fitting *f = context;
    int32_t plan = 0;
    for (; i >= f->plan[plan].n_folds; plan++)
        i -= f->plan[plan].n_folds;
    struct score_fold *fold = calloc(1, sizeof *fold);
    if (fold == NULL)
        return fail_memory(err);
    enum status status =
        score_run(fold, &f->samples, &f->plan[plan], i, SCORE_QUEUEING, &f->options, err);
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
    struct fitting *f = context;
    struct score_fold *fold = product;
    int32_t plan = 0;
    (void)err;
    for (; i >= 0 && i >= f->plan[plan].n_folds; plan++)
        i -= f->plan[plan].n_folds;
    if (i >= 0)
        score_add(&f->score[plan], &f->samples, fold);
    score_fold_free(fold);
    free(fold);
    return ST_OK;
}

/* The mean of n scores, which are of the same rows. */
static struct fit_error error_of(const struct score *score, int32_t n, const char *left_out,
                                 int32_t n_folds)
{
    struct fit_error e = {left_out, n_folds, n, score->raw.n, 0, INFINITY, 0, 0, 0, 0};
    for (int32_t i = 0; i < n; i++) {
        const struct score_sums *kept = &score[i].kept[N_PAIR_KINDS], *raw = &score[i].raw;
        double mape_pct = score_mape_pct(kept);
        e.mape_pct += mape_pct / n;
        e.mape_min_pct = fmin(e.mape_min_pct, mape_pct);
        e.mape_max_pct = fmax(e.mape_max_pct, mape_pct);
        e.r2 += score_r2(kept) / n;
        e.raw_mape_pct += score_mape_pct(raw) / n;
        e.raw_r2 += score_r2(raw) / n;
    }
    return e;
}

static enum status hold_out(struct fitting *f, struct error *err)
{
    int32_t n_pieces = 0;
    bool by_pair = f->n_folds > 0 && f->samples.n_experiments >= f->n_folds;
    for (int32_t i = 0; by_pair && i < f->n_repeats; i++)
        TRY(score_plan_init(&f->plan[f->n_plans++], &f->samples, SCORE_BY_PAIR, f->n_folds,
                            f->options.seed + (uint64_t)i, err));
    if (by_pair && f->samples.named_jobs && f->samples.workloads.n >= 3)
        TRY(score_plan_init(&f->plan[f->n_plans++], &f->samples, SCORE_BY_WORKLOAD, 0, 0, err));
    for (int32_t i = 0; i < f->n_plans; i++)
        n_pieces += f->plan[i].n_folds;
    TRY(crew_run(&(struct crew_job){f, work, deliver}, n_pieces, f->measured.n_threads, err));
    if (by_pair)
        f->file.error[f->file.n_errors++] = error_of(f->score, f->n_repeats, "pair", f->n_folds);
    if (f->n_plans > f->n_repeats)
        f->file.error[f->file.n_errors++] =
            error_of(&f->score[f->n_repeats], 1, "job", f->samples.workloads.n);
    return ST_OK;
}

static bool any_counters(const struct samples *s)
{
    for (int32_t i = 0; i < 2 * s->n; i++)
        if (s->side[i].sm > 0 || s->side[i].tensor > 0 || s->side[i].dram > 0)
            return true;
    return false;
}

/* What MPS costs: measured where the jobs alone were run without it as well, else as fitted. It
 * does not speed up. */
static enum status overhead(const struct fitting *f, struct estimate *m, struct error *err)
{
    struct table solo = {0};
    enum status status = ST_OK;
    *m = f->q.m;
    if (f->measured.solo != NULL) {
        status = table_read(f->measured.solo, &solo, err);
        if (status == ST_OK)
            status = solo_mps_overhead(&solo, m, err);
        table_free(&solo);
    }
    m->value = fmax(1, m->value);
    return status;
}

static enum status fit_pairs(struct fitting *f, struct error *err)
{
    TRY(measured_read(&f->measured, &f->samples, err));
    f->options = measured_options(&f->measured);
    f->options.queueing.latents = !any_counters(&f->samples);
    int32_t *all = malloc((size_t)f->samples.n * sizeof *all + 1);
    if (all == NULL)
        return fail_memory(err);
    for (int32_t k = 0; k < f->samples.n; k++)
        all[k] = k;
    enum status status =
        queueing_fit(&f->q, &f->samples, all, f->samples.n, &f->options.queueing, err);
    free(all);
    TRY(status);
    f->file.samples = &f->samples;
    f->file.q = &f->q;
    TRY(overhead(f, &f->file.m, err));
    TRY(fit_file_jobs(&f->file, err));
    return hold_out(f, err);
}

static enum status fit_probes(struct fitting *f, struct error *err)
{
    struct table table;
    enum status status = table_read(f->probes, &table, err);
    if (status == ST_OK) {
        status = kernel_pairs_read(&f->kernels, &table, err);
        if (status != ST_OK)
            fail_in(err, "%s", f->probes);
    }
    table_free(&table);
    TRY(status);
    f->slope = calloc((size_t)f->kernels.groups.n + 1, sizeof *f->slope);
    if (f->slope == NULL)
        return fail_memory(err);
    for (int32_t g = 0; g < f->kernels.groups.n; g++)
        for (int both = 0; both < 2; both++)
            TRY(kernel_slope(&f->kernels, g, both == 1, &f->slope[g][both], err));
    f->file.kernels = &f->kernels;
    f->file.kernel_slope = (const struct estimate(*)[2])f->slope;
    return ST_OK;
}

static enum status fit_profiles(struct fitting *f, struct error *err)
{
    struct table table;
    enum status status = table_read(f->profiles, &table, err);
    if (status == ST_OK && f->measured.where != NULL)
        status = table_keep_where(&table, f->profiles, f->measured.where, err);
    if (status == ST_OK) {
        status = solo_rates_read(&f->rates, &table, err);
        if (status != ST_OK)
            fail_in(err, "%s", f->profiles);
    }
    table_free(&table);
    TRY(status);
    f->saturation = calloc((size_t)f->rates.workloads.n + 1, sizeof *f->saturation);
    if (f->saturation == NULL)
        return fail_memory(err);
    for (int32_t w = 0; w < f->rates.workloads.n; w++)
        TRY(saturation_fit(&f->saturation[w], &f->rates, w, err));
    f->file.rates = &f->rates;
    f->file.saturation = f->saturation;
    return ST_OK;
}

static enum status join_sensors(struct fitting *f, struct error *err)
{
    struct table instances = {0}, sensors = {0};
    enum status status = ST_OK;
    TRY_OUT(table_read(f->instances, &instances, err));
    TRY_OUT(table_read(f->sensors, &sensors, err));
    status = sensors_join(&f->busy, &instances, &sensors, err);
    if (status != ST_OK)
        fail_in(err, "%s, %s", f->instances, f->sensors);
    f->file.busy = &f->busy;
out:
    table_free(&instances);
    table_free(&sensors);
    return status;
}

static void add_name(char *list, size_t size, const char *path)
{
    const char *slash = path == NULL ? NULL : strrchr(path, '/');
    size_t used = strlen(list);
    if (path != NULL)
        snprintf(list + used, size - used, "%s%s", used > 0 ? ", " : "",
                 slash != NULL ? slash + 1 : path);
}

static void note(struct fitting *f)
{
    time_t now = time(NULL);
    struct tm day;
    if (gmtime_r(&now, &day) != NULL)
        strftime(f->today, sizeof f->today, "%Y-%m-%d", &day);
    for (int i = 0; i < f->measured.n_pairs; i++)
        add_name(f->data, sizeof f->data, f->measured.pairs[i]);
    add_name(f->data, sizeof f->data, f->probes);
    add_name(f->data, sizeof f->data, f->profiles);
    add_name(f->data, sizeof f->data, f->sensors);
    f->file.note = (struct fit_note){.date = f->date != NULL ? f->date : f->today,
                                     .program = "colosim " COLOSIM_VERSION,
                                     .gpu = f->gpu,
                                     .driver = f->driver,
                                     .data = f->data,
                                     .seed = f->measured.seed};
}

/* Both rows of an experiment follow each other. */
static enum status write_speeds(const struct fitting *f, struct error *err)
{
    struct output out;
    const struct samples *s = &f->samples;
    if (f->speeds == NULL)
        return ST_OK;
    TRY(output_open(&out, f->speeds, err));
    fputs("model_a,model_b,speed_a,speed_b\n", out.file);
    for (int32_t k = 0; k + 1 < s->n; k += 2)
        fprintf(out.file, "%s,%s,%.9g,%.9g\n", names_text(&s->workloads, s->row[k].workload[0]),
                names_text(&s->workloads, s->row[k].workload[1]), 1 / s->row[k].measured,
                1 / s->row[k + 1].measured);
    return output_close(&out, ST_OK, err);
}

static enum status write_all(const struct fitting *f, struct error *err)
{
    struct output out;
    bool tables = f->output == NULL || strcmp(f->output, "-") != 0;
    TRY(write_speeds(f, err));
    if (f->output != NULL) {
        TRY(output_open(&out, f->output, err));
        TRY(output_close(&out, fit_file_write(&f->file, out.file, err), err));
    }
    if (!tables)
        return ST_OK;
    TRY(output_open(&out, "-", err));
    fit_report_print(&f->file, out.file);
    return output_close(&out, ST_OK, err);
}

static enum status fit(struct fitting *f, struct error *err)
{
    if (f->measured.n_pairs > 0)
        TRY(fit_pairs(f, err));
    if (f->probes != NULL)
        TRY(fit_probes(f, err));
    if (f->profiles != NULL)
        TRY(fit_profiles(f, err));
    if (f->sensors != NULL)
        TRY(join_sensors(f, err));
    note(f);
    return write_all(f, err);
}

static void fitting_free(struct fitting *f)
{
    fit_file_free(&f->file);
    for (int32_t i = 0; i < f->n_plans; i++)
        score_plan_free(&f->plan[i]);
    queueing_free(&f->q);
    samples_free(&f->samples);
    kernel_pairs_free(&f->kernels);
    free(f->slope);
    solo_rates_free(&f->rates);
    free(f->saturation);
    free(f);
}

int calib_fit(int argc, char **argv)
{
    struct error err = {""};
    struct fitting *f = calloc(1, sizeof *f);
    if (f == NULL)
        return report_error(fail_memory(&err), &err);
    f->n_folds = f->n_repeats = 5;
    f->gpu = f->driver = "";
    measured_init(&f->measured);
    f->measured.pairs_optional = true;
    enum status status = parse_command(&argp, argc, argv, f, &err);
    if (status == ST_OK)
        status = fit(f, &err);
    fitting_free(f);
    return report_error(status, &err);
}
