/* colosim trace sample: some of a trace's jobs. */
#include "sim/cmd/reading.h"
#include "sim/cmd/trace_commands.h"

#include "traces/choose.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct sampling {
    struct reading reading;
    int64_t n;       /* 0: not asked for */
    double fraction; /* 0: not asked for */
    int64_t lo_us, hi_us;
    int64_t seed;
    const char *output;
};

enum { KEY_FRACTION = 512, KEY_SEED, KEY_WINDOW };

static const struct argp_option options[] = {
    {"number", 'n', "N", 0, "so many jobs, each set of N being equally likely", 1},
    {"fraction", KEY_FRACTION, "F", 0, "this share of the jobs, above 0 and up to 1", 1},
    {"window", KEY_WINDOW, "A..B", 0, "only jobs submitted at A <= t < B seconds", 1},
    {"seed", KEY_SEED, "N", 0, "of the sample; 1 unless given", 1},
    {"output", 'o', "FILE", 0, "where to write; gzip where it ends in .gz; - is stdout (default)",
     1},
    {0},
};

static const char doc[] =
    "Writes some of a trace's jobs as a native trace, whole (with all their tasks), in their order "
    "and at their times. A window is taken first, the sample from what it leaves."
    "\v"
    "Examples:\n"
    "  colosim trace sample -n 1000 --seed 3 big.csv.gz -o small.csv\n"
    "  colosim trace sample --window 86400..172800 big.csv.gz -o second-day.csv\n"
    "  colosim trace sample --fraction 0.1 big.csv.gz -o tenth.csv\n"
    "A sample asks for less: replay it on a smaller cluster, or with run --load.";

static void parse_window(const struct argp_state *state, const char *text, struct sampling *s)
{
    const char *dots = strstr(text, "..");
    if (dots == NULL || !parse_scaled(text, (size_t)(dots - text), 6, &s->lo_us) ||
        !parse_scaled(dots + 2, strlen(dots + 2), 6, &s->hi_us) || s->lo_us >= s->hi_us)
        argp_error(state, "--window %s: want A..B in seconds with A < B", text);
}

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
    struct sampling *s = state->input;
    switch (key) {
    case ARGP_KEY_INIT: state->child_inputs[0] = &s->reading; return 0;
    case 'n': s->n = option_whole(state, "-n", arg, 1, INT32_MAX); return 0;
    case KEY_FRACTION: s->fraction = option_real(state, "--fraction", arg, 1e-9, 1); return 0;
    case KEY_WINDOW: parse_window(state, arg, s); return 0;
    case KEY_SEED: s->seed = option_whole(state, "--seed", arg, 0, 9007199254740992); return 0;
    case 'o': s->output = arg; return 0;
    case ARGP_KEY_END:
        if (s->n > 0 && s->fraction > 0)
            argp_error(state, "-n and --fraction: give one of them");
        if (s->n == 0 && !(s->fraction > 0) && s->lo_us >= s->hi_us)
            argp_error(state, "say which jobs: -n, --fraction or --window");
        return 0;
    default: return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp_child children[] = {{&reading_argp, 0, NULL, 0}, {0}};
static const struct argp argp = {options, parse_option, "[FILE...]", doc, children, NULL, NULL};

/* keep (n_jobs) all true to begin with. */
static enum status choose(const struct sampling *s, const struct job_table *t, bool *keep,
                          struct error *err)
{
    int32_t n = 0;
    for (int32_t j = 0; j < t->n_jobs; j++) {
        keep[j] =
            s->lo_us >= s->hi_us || (t->submit_us[j] >= s->lo_us && t->submit_us[j] < s->hi_us);
        n += keep[j];
    }
    int64_t wanted = s->n > 0 ? s->n : s->fraction > 0 ? llround(s->fraction * n) : n;
    if (n == 0 || wanted == 0)
        return fail(err, ST_INPUT, "no job is left: the trace has %d, the window %d", t->n_jobs, n);
    if (wanted >= n)
        return ST_OK;
    return choose_jobs(keep, t->n_jobs, (int32_t)wanted, (uint64_t)s->seed, err);
}

static enum status write_sample(const struct sampling *s, const struct job_table *t,
                                struct error *err)
{
    enum status status = ST_OK;
    struct job_table chosen = {0};
    bool *keep = malloc((size_t)t->n_jobs * sizeof *keep);
    if (keep == NULL)
        return fail_memory(err);
    TRY_OUT(choose(s, t, keep, err));
    TRY_OUT(jobs_copy(t, keep, &chosen, err));
    TRY_OUT(trace_write(&chosen, s->output, err));
    if (!s->reading.options.quiet)
        fprintf(stderr, "%d of %d jobs\n", chosen.n_jobs, t->n_jobs);
out:
    jobs_free(&chosen);
    free(keep);
    return status;
}

int trace_sample(int argc, char **argv)
{
    struct sampling s = {.seed = 1, .output = "-"};
    struct trace trace = {0};
    struct error err = {""};
    enum status status = parse_command(&argp, argc, argv, &s, &err);
    if (status == ST_OK)
        status = reading_open(&s.reading, &trace, &err);
    if (status == ST_OK)
        status = write_sample(&s, &trace.jobs, &err);
    trace_free(&trace);
    reading_free(&s.reading);
    return report_error(status, &err);
}
