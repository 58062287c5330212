#include "sim/cmd/commands.h"

#include "sim/cmd/options.h"
#include "sim/results/check.h"

#include <string.h>

enum { KEY_DB = 256, KEY_RUN, KEY_BASELINE, KEY_SAVE, KEY_TOL, KEY_JUNIT, KEY_INTERRUPTED };
enum { TOLERANCES_MAX = 128 };

struct check_options {
    const char *db, *run, *baseline, *save, *junit;
    const char *tolerance[TOLERANCES_MAX];
    int n_tolerances;
    bool interrupted;
};

static const struct argp_option options[] = {
    {"db", KEY_DB, "FILE", 0, "the results database", 1},
    {"run", KEY_RUN, "NAME", 0, "a name from colosim ls; the newest run without it", 1},
    {"baseline", KEY_BASELINE, "FILE", 0, "compare with this baseline", 2},
    {"save", KEY_SAVE, "FILE", 0, "write the run as a baseline instead", 2},
    {"tol", KEY_TOL, "METRIC=AMOUNT", 0,
     "what METRIC may lose, over what the baseline says: 3% of its old value, 5 in its unit, "
     "\xc2\xb1"
     "3% either way; without METRIC= for every metric that is checked",
     3},
    {"junit", KEY_JUNIT, "FILE", 0, "also write JUnit XML, one test case a checked metric", 3},
    {"interrupted", KEY_INTERRUPTED, NULL, 0, "take a run that is not complete", 3},
    {0},
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
    struct check_options *o = state->input;
    switch (key) {
    case KEY_DB: o->db = arg; return 0;
    case KEY_RUN: o->run = arg; return 0;
    case KEY_BASELINE: o->baseline = arg; return 0;
    case KEY_SAVE: o->save = arg; return 0;
    case KEY_JUNIT: o->junit = arg; return 0;
    case KEY_INTERRUPTED: o->interrupted = true; return 0;
    case KEY_TOL:
        if (o->n_tolerances == TOLERANCES_MAX)
            argp_error(state, "more than %d tolerances", TOLERANCES_MAX);
        o->tolerance[o->n_tolerances++] = arg;
        return 0;
    case ARGP_KEY_ARG: argp_error(state, "'%s' is one argument too many", arg); return 0;
    case ARGP_KEY_END:
        if (o->db == NULL)
            argp_error(state, "which database? --db FILE");
        if ((o->baseline != NULL) == (o->save != NULL))
            argp_error(state, "either --baseline FILE, to compare, or --save FILE, to write one");
        if (o->save != NULL && o->junit != NULL)
            argp_error(state, "--junit goes with --baseline");
        return 0;
    default: return ARGP_ERR_UNKNOWN;
    }
}

static enum status read_run(const struct check_options *o, struct summary *s, struct error *err)
{
    struct store store;
    int64_t run;
    TRY(store_open_read(&store, o->db, err));
    enum status status = store_find(&store, o->run != NULL ? o->run : "last", &run, err);
    if (status == ST_OK)
        status = summary_read(s, &store, run, err);
    store_close(&store);
    if (status == ST_OK && !summary_complete(s) && !o->interrupted) {
        status = fail(err, ST_CHECK,
                      "run %s is %s; a check wants a complete one (--interrupted "
                      "takes it as it is)",
                      s->name, s->status);
        summary_free(s);
    }
    return status;
}

static enum status tolerate_all(const struct check_options *o, struct baseline *b,
                                struct error *err)
{
    for (int i = 0; i < o->n_tolerances; i++)
        TRY(baseline_tolerate(b, o->tolerance[i], err));
    return ST_OK;
}

static enum status save(const struct check_options *o, const struct summary *s, struct error *err)
{
    enum status status = ST_OK;
    struct baseline b;
    struct output out;
    TRY(baseline_of(&b, s, err));
    TRY_OUT(tolerate_all(o, &b, err));
    TRY_OUT(output_open(&out, o->save, err));
    baseline_write(&b, out.file);
    status = output_close(&out, ST_OK, err);
out:
    baseline_free(&b);
    return status;
}

static bool differs(const char *a, const char *b)
{
    return a != NULL && b != NULL && strcmp(a, b) != 0;
}

/* A changed question is worth a word; it is no failure, since that may be what is compared. */
static void note_differences(const struct baseline *b, const struct summary *s)
{
    if (differs(b->trace_hash, s->trace_hash))
        fputs("note: the baseline was made from another trace\n", stderr);
    if (differs(b->cluster, s->cluster))
        fprintf(stderr, "note: the baseline's cluster is %s, this run's %s\n", b->cluster,
                s->cluster);
    if (differs(b->policy, s->policy))
        fprintf(stderr, "note: the baseline's policy is %s, this run's %s\n", b->policy, s->policy);
    if (b->seed != s->seed)
        fprintf(stderr, "note: the baseline's seed is %lld, this run's %lld\n", (long long)b->seed,
                (long long)s->seed);
}

static enum status print_check(const struct check_options *o, const struct check *c,
                               const struct summary *s, struct error *err)
{
    struct output out;
    if (o->junit != NULL) {
        TRY(output_open(&out, o->junit, err));
        check_junit(c, s, out.file);
        TRY(output_close(&out, ST_OK, err));
    }
    TRY(output_open(&out, "-", err));
    check_print(c, out.file);
    return output_close(&out, ST_OK, err);
}

static enum status compare(const struct check_options *o, const struct summary *s,
                           struct error *err)
{
    enum status status = ST_OK;
    struct baseline b;
    struct check c = {0};
    TRY(baseline_load(&b, o->baseline, err));
    TRY_OUT(tolerate_all(o, &b, err));
    note_differences(&b, s);
    TRY_OUT(check_make(&c, &b, s, err));
    TRY_OUT(print_check(o, &c, s, err));
    if (c.n_failed > 0)
        status = fail(err, ST_CHECK, "run %s: %d of %d checked metrics fail against %s", s->name,
                      c.n_failed, c.n_checked, o->baseline);
out:
    check_free(&c);
    baseline_free(&b);
    return status;
}

int cmd_check(int argc, char **argv)
{
    static const struct argp argp = {
        options,
        parse,
        NULL,
        "Compares a stored run with a baseline and exits with 1 where a metric is worse than its "
        "tolerance, for CI. --save writes the baseline: a JSON file with every metric and its "
        "tolerance, " BASELINE_TOLERANCE " in the worse direction for every metric that has one; "
        "edit it or use --tol. A metric known on one side only fails; a missing baseline exits "
        "with 3.\v"
        "Examples:\n"
        "  colosim check --db r.db --run base --save base.json\n"
        "  colosim check --db r.db --run new --baseline base.json --junit out.xml\n"
        "  colosim check --db r.db --baseline base.json --tol jct_mean_s=3%",
        NULL,
        NULL,
        NULL};
    struct check_options o = {0};
    struct summary s;
    struct error err;
    enum status status = ST_OK;
    if (argp_parse(&argp, argc, argv, 0, NULL, &o) != 0)
        status = fail_memory(&err); /* argp ends the program for a usage error itself */
    if (status == ST_OK)
        status = read_run(&o, &s, &err);
    if (status == ST_OK) {
        status = o.save != NULL ? save(&o, &s, &err) : compare(&o, &s, &err);
        summary_free(&s);
    }
    return status == ST_OK ? 0 : report_error(status, &err);
}
