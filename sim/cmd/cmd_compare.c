#include "sim/cmd/commands.h"

#include "sim/cmd/options.h"
#include "sim/cmd/watch.h"
#include "sim/results/output.h"
#include "sim/results/report.h"
#include "sim/run/crew.h"
#include "sim/run/sources.h"
#include "sim/run/study.h"

#include <stdlib.h>
#include <string.h>

static const char compare_doc[] =
    "Replays one trace under several policies (and seeds, with 95 % intervals) and prints a table, "
    "each "
    "row beside its ratio to the first policy."
    "\v"
    "  colosim compare --policy fifo,sjf,easy-backfill --load 1.2\n"
    "  colosim compare --policy fifo,srtf --set place=random --seeds 1..5 -j 2 --db r.db\n\n"
    "The rows are the same whatever the number of threads. Interrupted runs are named below the\n"
    "table and left out of it.";

enum { KEY_POLICIES = 1, KEY_SEEDS };

struct comparison {
    struct options options;
    char *policies; /* --policy as given: a list here */
    const char *seeds;

    char **policy; /* (n_policies) into policies */
    int64_t *seed; /* (n_seeds) */
    int n_policies, n_seeds;
    struct store store;
    struct output out;
    struct summary *summary; /* (n_policies x n_seeds) */
    int n_done;
    bool something_ran, interrupted;
    struct run_watch watch;
    struct sources sources; /* what the runs read, once */
    int32_t *source;        /* (n_policies x n_seeds) */
    struct arena arena;
};

/* One run with its request, on its way from the thread that made it to deliver. */
struct product {
    struct run_request request;
    struct run_result result;
};

static const struct argp_option compare_options[] = {
    {"policy", KEY_POLICIES, "LIST", 0, "policies, comma-separated; the first is the yardstick", 0},
    {"seeds", KEY_SEEDS, "LIST", 0, "1..5 or 1,2,7; default: --seed", 0},
    {0},
};

static error_t parse_compare(int key, char *arg, struct argp_state *state)
{
    struct comparison *c = state->input;
    switch (key) {
    case ARGP_KEY_INIT: state->child_inputs[0] = &c->options; return 0;
    case KEY_POLICIES: c->policies = arg; return 0;
    case KEY_SEEDS: c->seeds = arg; return 0;
    case ARGP_KEY_ARG:
        argp_error(state, "'%s': options begin with --; a trace is named by --trace", arg);
        return 0;
    case ARGP_KEY_END:
        if (c->policies == NULL)
            argp_error(state, "which policies? --policy fifo,sjf");
        return 0;
    default: return ARGP_ERR_UNKNOWN;
    }
}

static enum status split_policies(struct comparison *c, struct error *err)
{
    const char *given = c->policies == NULL ? "" : c->policies; /* argp saw to it */
    int n = 1;
    for (const char *p = given; *p != '\0'; p++)
        n += *p == ',';
    char *list = arena_text(&c->arena, given, strlen(given));
    c->policy = arena_alloc(&c->arena, (size_t)n, sizeof *c->policy);
    if (list == NULL || c->policy == NULL)
        return fail_memory(err);
    for (char *next = list; next != NULL;)
        c->policy[c->n_policies++] = strsep(&next, ",");
    return ST_OK;
}

static enum status request_for(const struct comparison *c, int i, struct run_request *q,
                               struct error *err)
{
    TRY(run_request_init(q, err));
    TRY(options_resolve(&c->options, q, err));
    TRY(run_choose_policy(q, c->policy[i / c->n_seeds], err));
    q->run.seed = c->seed[i % c->n_seeds];
    if (q->run.label != NULL) {
        size_t n = strlen(q->run.label) + strlen(q->run.policy) + 32;
        char *label = arena_alloc(&q->arena, n, 1);
        if (label == NULL)
            return fail_memory(err);
        snprintf(label, n, "%s-%s-%lld", q->run.label, q->run.policy, (long long)q->run.seed);
        q->run.label = label;
    }
    const struct policy *policy;
    return run_policy(q, &policy, err);
}

static void product_free(struct product *p)
{
    run_result_free(&p->result);
    run_request_free(&p->request);
    free(p);
}

static enum status work(void *context, int worker, int i, void **product, struct error *err)
{
    struct comparison *c = context;
    (void)worker;
    if (*c->watch.stop)
        return fail(err, ST_INTERRUPTED, "interrupted; runs that ended before are whole");
    struct product *p = calloc(1, sizeof *p);
    if (p == NULL)
        return fail_memory(err);
    enum status status = request_for(c, i, &p->request, err);
    if (status == ST_OK)
        status = sources_take(&c->sources, c->source[i], &p->request, &p->request.source, err);
    if (status == ST_OK)
        status = run_execute(&p->request, &c->watch, &p->result, err);
    sources_leave(&c->sources, c->source[i]);
    if (status != ST_OK) {
        product_free(p);
        return status;
    }
    *product = p;
    return ST_OK;
}

static enum status deliver(void *context, int i, void *product, struct error *err)
{
    struct comparison *c = context;
    struct product *p = product;
    char name[128];
    bool stored = c->options.db != NULL;
    enum status status = ST_OK;
    name[0] = '\0';
    if (i >= 0 && stored)
        status = store_run(&c->store, &p->request, &p->result, name, err);
    if (i >= 0 && status == ST_OK) {
        status = summary_of_result(&c->summary[i], &p->request, &p->result, stored ? name : NULL,
                                   c->options.db, err);
        c->n_done = i + 1;
        c->something_ran = c->something_ran || !p->result.nothing_ran;
        c->interrupted = c->interrupted || p->result.log.interrupted;
    }
    if (i >= 0 && status == ST_OK && c->options.json)
        report_json(c->out.file, &c->summary[i]);
    product_free(p);
    return status;
}

static enum status compare(struct comparison *c, struct error *err)
{
    struct watcher watcher;
    enum status status = ST_OK;
    struct run_request first = {0};
    TRY(split_policies(c, err));
    TRY_OUT(run_request_init(&first, err));
    TRY_OUT(options_resolve(&c->options, &first, err));
    char one[32];
    snprintf(one, sizeof one, "%lld", (long long)first.run.seed);
    TRY_OUT(seeds_parse(c->seeds != NULL ? c->seeds : one, &c->arena, &c->seed, &c->n_seeds, err));
    int n = c->n_policies * c->n_seeds;
    c->source = arena_alloc(&c->arena, (size_t)n, sizeof *c->source);
    if (c->source == NULL) {
        status = fail_memory(err);
        goto out;
    }
    for (int i = 0; i < n; i++) { /* a misspelt policy costs no simulation */
        run_request_free(&first);
        TRY_OUT(request_for(c, i, &first, err));
        TRY_OUT(sources_add(&c->sources, &first, &c->source[i], err));
    }
    c->summary = calloc((size_t)n, sizeof *c->summary);
    if (c->summary == NULL) {
        status = fail_memory(err);
        goto out;
    }
    if (c->options.db != NULL)
        TRY_OUT(store_open(&c->store, c->options.db, err));
    TRY_OUT(output_open(&c->out, "-", err));
    int n_threads = c->options.n_threads > 0 ? c->options.n_threads : 1;
    c->watch = watch_begin(&watcher, c->options.quiet || n_threads > 1);
    c->sources.stop = c->watch.stop;
    status = crew_run(&(struct crew_job){c, work, deliver}, n, n_threads, err);
    watch_end(&watcher);
    if (status == ST_OK && !c->options.json)
        status = report_compare(c->out.file, c->summary, c->n_done, err);
    if (status == ST_OK && c->interrupted)
        status = fail(err, ST_INTERRUPTED, "interrupted; runs that ended before are whole");
    else if (status == ST_OK && !c->something_ran)
        status = fail(err, ST_NOTHING, "no job of the trace could be placed");
out:
    run_request_free(&first);
    return output_close(&c->out, status, err);
}

int cmd_compare(int argc, char **argv)
{
    static const struct argp_child children[] = {{&options_argp, 0, NULL, 0}, {0}};
    static const struct argp argp = {.options = compare_options,
                                     .parser = parse_compare,
                                     .doc = compare_doc,
                                     .children = children};
    struct comparison c = {0};
    struct error err = {{0}};
    enum status status = ST_OK;
    if (argp_parse(&argp, argc, argv, 0, NULL, &c) != 0)
        status = fail_memory(&err);
    watch_signals();
    if (status == ST_OK)
        status = compare(&c, &err);
    for (int i = 0; i < c.n_policies * c.n_seeds && c.summary != NULL; i++)
        summary_free(&c.summary[i]);
    free(c.summary);
    store_close(&c.store);
    sources_free(&c.sources);
    options_free(&c.options);
    arena_free(&c.arena);
    int code = report_error(status, &err);
    return status == ST_INTERRUPTED ? watch_exit_code() : code;
}
