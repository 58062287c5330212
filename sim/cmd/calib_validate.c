/* colosim calib validate: a testbed's recorded day beside its replay. */
#include "sim/cmd/calib_commands.h"

#include "calib/recording.h"
#include "sim/cmd/options.h"
#include "sim/cmd/reading.h"
#include "sim/cmd/watch.h"
#include "sim/results/output.h"
#include "sim/results/store.h"
#include "traces/table_file.h"

#include <math.h>
#include <stdio.h>

enum { KEY_RECORDED = 512, KEY_TOLERANCE };
static const double PAPER_PCT = 7;

struct validation {
    struct options options;
    const char *recorded;
    double tolerance_pct; /* infinite: nothing is checked */
    struct comparison found;
    int32_t n_unknown;
};

// clang-format off
static const struct argp_option own_options[] = {
    {"recorded", KEY_RECORDED, "FILE", 0, "what the testbed did: job,start_s,end_s on the clock of the trace, one row a job", 0},
    {"tolerance", KEY_TOLERANCE, "PCT", 0, "exit 1 where mean JCT or throughput is off by more", 0},
    {0},
};
static const char doc[] =
    "Replays the trace of a day that a testbed ran, and prints how far JCT and throughput of the "
    "replay are off what was recorded. All options of colosim run say what is replayed: the "
    "testbed's cluster, policy and physics."
    "\v"
    "duration_s of the trace is what a job takes alone; with the durations recorded under sharing "
    "the comparison is circular.\n\n"
    "Example:\n"
    "  colosim calib validate --trace day.csv --recorded day_recorded.csv --cluster 8x8:a100-40g \\\n"
    "      --policy fifo-skip --set share.max_jobs=2 --truth contention --model a100.json\n\n"
    "Exit codes: those of colosim run, and 1 where --tolerance is exceeded.";
// clang-format on

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
    struct validation *v = state->input;
    switch (key) {
    case ARGP_KEY_INIT: state->child_inputs[0] = state->child_inputs[1] = &v->options; return 0;
    case KEY_RECORDED: v->recorded = arg; return 0;
    case KEY_TOLERANCE: v->tolerance_pct = option_real(state, "--tolerance", arg, 0, 1e6); return 0;
    case ARGP_KEY_ARG: argp_error(state, "'%s' is one argument too many", arg); return 0;
    case ARGP_KEY_END:
        if (v->recorded == NULL)
            argp_error(state, "what did the testbed do? --recorded FILE");
        return 0;
    default: return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp_child children[] = {
    {&options_argp, 0, NULL, 0}, {&policy_argp, 0, NULL, 0}, {0}};
static const struct argp argp = {own_options, parse_option, NULL, doc, children, NULL, NULL};

static enum status compare(struct validation *v, const struct job_table *jobs, struct error *err)
{
    struct table table;
    struct recording recording = {0};
    enum status status = table_read(v->recorded, &table, err);
    if (status == ST_OK) {
        status = recording_read(&recording, &table, jobs, err);
        if (status != ST_OK)
            fail_in(err, "%s", v->recorded);
    }
    if (status == ST_OK)
        status = recording_compare(&recording, jobs, &v->found, err);
    v->n_unknown = recording.n_unknown;
    if (status == ST_OK && v->found.n == 0)
        status = fail(err, ST_INPUT, "%s: no job of it ended in the replay as well", v->recorded);
    recording_free(&recording);
    table_free(&table);
    return status;
}

static void print_table(const struct validation *v, FILE *file)
{
    const struct comparison *c = &v->found;
    fprintf(file,
            "%d jobs ended in both; in the recording only %d, in the replay only %d; recorded and "
            "not in the trace %d\n\n%-22s %12s %12s %9s\n",
            c->n, c->n_only_recorded, c->n_only_simulated, v->n_unknown, "", "recorded", "replayed",
            "error %");
    for (int f = 0; f < N_FIDELITIES; f++) {
        double off_pct = comparison_error_pct(c, (enum fidelity)f);
        fprintf(file, "%-22s %12.6g %12.6g ", fidelity_name[f], c->recorded[f], c->simulated[f]);
        fprintf(file, isfinite(off_pct) ? "%+9.2f\n" : "        -\n", off_pct);
    }
    fprintf(file,
            "\nJCT job by job: off by %.2f %% in the mean, %.2f %% in the median\n"
            "The paper says of its simulator, for 24 hours of its 64-GPU testbed: JCT and "
            "throughput within %g %%;\nneither that trace nor its record is public, so this is "
            "beside it and no comparison.\n",
            c->job_error_mean_pct, c->job_error_p50_pct, PAPER_PCT);
}

static void print_number(FILE *file, const char *name, double value)
{
    char text[32];
    fprintf(file, "\"%s\": %s", name, format_real(value, text));
}

static void print_json(const struct validation *v, FILE *file)
{
    const struct comparison *c = &v->found;
    fprintf(file,
            "{\"jobs\": %d, \"only_recorded\": %d, \"only_replayed\": %d, \"not_in_trace\": %d, "
            "\"metrics\": {",
            c->n, c->n_only_recorded, c->n_only_simulated, v->n_unknown);
    for (int f = 0; f < N_FIDELITIES; f++) {
        fprintf(file, "%s\n \"%s\": {", f > 0 ? "," : "", fidelity_name[f]);
        print_number(file, "recorded", c->recorded[f]);
        fputs(", ", file);
        print_number(file, "replayed", c->simulated[f]);
        fputs(", ", file);
        print_number(file, "error_pct", comparison_error_pct(c, (enum fidelity)f));
        putc('}', file);
    }
    fputs("},\n ", file);
    print_number(file, "job_error_mean_pct", c->job_error_mean_pct);
    fputs(", ", file);
    print_number(file, "job_error_p50_pct", c->job_error_p50_pct);
    fputs(", ", file);
    print_number(file, "paper_pct", PAPER_PCT);
    fputs("}\n", file);
}

static enum status check(const struct validation *v, struct error *err)
{
    static const enum fidelity checked[] = {FIDELITY_JCT_MEAN_S, FIDELITY_THROUGHPUT_ENDED_GPUS};
    for (int i = 0; i < 2; i++) {
        double off_pct = comparison_error_pct(&v->found, checked[i]);
        if (isinf(v->tolerance_pct))
            continue;
        if (!isfinite(off_pct))
            return fail(err, ST_CHECK, "%s cannot be told: 0 was recorded",
                        fidelity_name[checked[i]]);
        if (!(fabs(off_pct) <= v->tolerance_pct))
            return fail(err, ST_CHECK, "%s is off by %+.2f %%, more than %g %%",
                        fidelity_name[checked[i]], off_pct, v->tolerance_pct);
    }
    return ST_OK;
}

/* Runs as colosim run does, stored where that is asked for. */
static enum status replay(struct validation *v, struct run_request *q, struct error *err)
{
    struct store store = {0};
    struct run_result result = {0};
    struct watcher watcher;
    struct output out;
    char name[128];
    enum status status = ST_OK;
    TRY_OUT(options_resolve(&v->options, q, err));
    if (v->options.db != NULL)
        TRY_OUT(store_open(&store, v->options.db, err));
    struct run_watch watch = watch_begin(&watcher, v->options.quiet);
    status = run_execute(q, &watch, &result, err);
    watch_end(&watcher);
    if (status == ST_OK && v->options.db != NULL)
        status = store_run(&store, q, &result, name, err);
    if (status == ST_OK && result.log.interrupted)
        status = fail(err, ST_INTERRUPTED, "interrupted: nothing was compared");
    if (status == ST_OK)
        status = compare(v, &result.trace.jobs, err);
    if (status != ST_OK)
        goto out;
    TRY_OUT(output_open(&out, "-", err));
    if (v->options.json)
        print_json(v, out.file);
    else
        print_table(v, out.file);
    status = output_close(&out, ST_OK, err);
out:
    store_close(&store);
    run_result_free(&result);
    return status;
}

int calib_validate(int argc, char **argv)
{
    struct validation v = {.tolerance_pct = INFINITY};
    struct run_request request = {0};
    struct error err = {""};
    enum status status = parse_command(&argp, argc, argv, &v, &err);
    watch_signals();
    if (status == ST_OK)
        status = run_request_init(&request, &err);
    if (status == ST_OK)
        status = replay(&v, &request, &err);
    if (status == ST_OK)
        status = check(&v, &err);
    run_request_free(&request);
    options_free(&v.options);
    int code = report_error(status, &err);
    return status == ST_INTERRUPTED ? watch_exit_code() : code;
}
