#include "sim/cmd/commands.h"

#include "sim/cmd/options.h"
#include "sim/cmd/watch.h"
#include "sim/results/grid_table.h"
#include "sim/results/output.h"
#include "sim/results/report.h"
#include "sim/results/resume.h"
#include "sim/run/crew.h"
#include "sim/run/sources.h"
#include "sim/run/study.h"

#include <inttypes.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

static const char sweep_doc[] =
    "Runs every combination of some settings and seeds, stores each as a run, and prints a table "
    "of "
    "means over seeds with their 95 % intervals. What the database holds already is not run again: "
    "a sweep that was stopped goes on when it is started again."
    "\v"
    "  colosim sweep --grid policy=fifo,srtf --grid load=0.8,1.2,1.6 --seeds 1..5 -j 2 --db s.db\n"
    "  colosim sweep study.json --db s.db\n"
    "  mpirun -n 4 colosim sweep study.json --db s.db\n\n"
    "A study file is JSON: {\"name\", \"settings\": {…}, \"variants\": {\"NAME\": {…}},\n"
    "\"grid\": {\"KEY\": […]}, \"seeds\": \"1..5\"}; the command line overrides it.\n"
    "Results do not depend on the number of threads or ranks. A point that fails is stored as a\n"
    "failed run with its reason and the others go on; exit code 1 says that there is one.";

enum { KEY_GRID = 1, KEY_SEEDS, KEY_METRICS, KEY_RETRY };

static const struct argp_option sweep_options[] = {
    {"grid", KEY_GRID, "KEY=A,B,C", 0, "vary a setting; repeatable, every combination is run", 0},
    {"seeds", KEY_SEEDS, "LIST", 0, "1..5 or 1,2,7; default: the study's, else --seed", 0},
    {"metrics", KEY_METRICS, "LIST", 0, "columns of the table", 0},
    {"retry-failed", KEY_RETRY, NULL, 0, "run points again that failed before", 0},
    {0},
};

static const enum metric table_metrics[] = {METRIC_jct_mean_s, METRIC_jct_p99_s, METRIC_wait_mean_s,
                                            METRIC_gpu_alloc_mean, METRIC_throughput_gpus};

struct point {
    struct stored_point there;
    int32_t source; /* what it reads */
};

struct sweep {
    struct options options;
    const char *file, *seeds, *metrics;
    const char **grid;
    size_t n_grids, grid_capacity;
    bool retry;

    struct study study;
    int n_groups, n_points;
    struct sources sources;
    struct point *point; /* (n_points) */
    int *todo;           /* (n_todo) those that are not there yet */
    int n_todo, n_failed;
    struct store store;
    struct watcher watcher;
    struct run_watch watch;
};

/* One run on its way from the thread that made it to deliver. */
struct product {
    struct run_request request;
    struct run_result result;
    struct error why; /* it failed */
    bool failed;
};

static error_t parse_sweep(int key, char *arg, struct argp_state *state)
{
    struct sweep *s = state->input;
    switch (key) {
    case ARGP_KEY_INIT: state->child_inputs[0] = &s->options; return 0;
    case KEY_SEEDS: s->seeds = arg; return 0;
    case KEY_METRICS: s->metrics = arg; return 0;
    case KEY_RETRY: s->retry = true; return 0;
    case KEY_GRID:
        if (!ARRAY_GROW(s->grid, s->grid_capacity, s->n_grids + 1))
            return ENOMEM;
        s->grid[s->n_grids++] = arg;
        return 0;
    case ARGP_KEY_ARG:
        if (s->file != NULL)
            argp_error(state, "'%s' is one study too many", arg);
        s->file = arg;
        return 0;
    case ARGP_KEY_END:
        if (s->file == NULL && s->n_grids == 0 && s->seeds == NULL)
            argp_error(state, "what varies? a study file, --grid KEY=a,b or --seeds 1..5");
        if (s->options.db == NULL)
            argp_error(state, "which database? --db FILE");
        return 0;
    default: return ARGP_ERR_UNKNOWN;
    }
}

/* Point i of the study; the caller frees the request in any case. */
static enum status request_for(const struct sweep *s, int i, struct run_request *q,
                               struct error *err)
{
    TRY(run_request_init(q, err));
    TRY(study_set_base(&s->study, q, err));
    TRY(options_resolve(&s->options, q, err));
    return study_set_point(&s->study, i, q, err);
}

/* The study from its file, then what the command line adds and overrides. */
static enum status read_study(struct sweep *s, struct error *err)
{
    struct run_request first = {0};
    if (s->file != NULL)
        TRY(study_load(&s->study, s->file, err));
    for (size_t i = 0; i < s->n_grids; i++)
        TRY(study_grid(&s->study, s->grid[i], err));
    if (s->seeds != NULL)
        TRY(study_seeds(&s->study, s->seeds, err));
    enum status status = run_request_init(&first, err);
    if (status == ST_OK)
        status = study_set_base(&s->study, &first, err);
    if (status == ST_OK)
        status = options_resolve(&s->options, &first, err);
    if (status == ST_OK && s->study.n_seeds == 0)
        status = study_seed(&s->study, first.run.seed, err);
    run_request_free(&first);
    if (status == ST_OK)
        status = study_count(&s->study, &s->n_groups, err);
    s->n_points = s->n_groups * s->study.n_seeds;
    return status;
}

/* Whether point i is still to be run; what is misspelt fails here, before the first run. */
static enum status look_at(struct sweep *s, int i, struct run_request *q, struct error *err)
{
    const struct policy *policy;
    struct point *p = &s->point[i];
    TRY(request_for(s, i, q, err));
    TRY(run_policy(q, &policy, err));
    TRY(resume_find(&s->store, q, &p->there, err));
    bool todo = p->there.run == 0 || (p->there.failed && s->retry);
    if (todo)
        s->todo[s->n_todo++] = i;
    if (todo && p->there.run != 0)
        TRY(resume_drop(&s->store, p->there.run, err));
    if (!todo && strcmp(p->there.program, COLOSIM_VERSION) != 0)
        fprintf(stderr, "colosim: %s: made by version %s, this is %s\n", q->run.label,
                p->there.program, COLOSIM_VERSION);
    return sources_add(&s->sources, q, &p->source, err);
}

/* A point that is there must have read the trace that is there now. */
static enum status same_trace(struct sweep *s, int i, struct run_request *q, struct error *err)
{
    const struct point *p = &s->point[i];
    const struct trace *trace;
    char hash[17] = "";
    TRY(request_for(s, i, q, err));
    enum status status = sources_take(&s->sources, p->source, q, &trace, err);
    if (status == ST_OK)
        snprintf(hash, sizeof hash, "%016" PRIx64, trace->hash);
    sources_leave(&s->sources, p->source);
    if (status == ST_OK && strcmp(hash, p->there.trace_hash) != 0)
        return fail(err, ST_INPUT,
                    "%s: the trace has changed since it was run; give the study another --label "
                    "or --db",
                    q->run.label);
    if (status != ST_OK)
        fprintf(stderr, "colosim: %s: %s; its result is taken as it is\n", q->run.label, err->text);
    return ST_OK;
}

static enum status plan(struct sweep *s, struct error *err)
{
    s->todo = calloc((size_t)s->n_points, sizeof *s->todo);
    s->point = calloc((size_t)s->n_points, sizeof *s->point);
    if (s->todo == NULL || s->point == NULL)
        return fail_memory(err);
    for (int i = 0; i < s->n_points; i++) {
        struct run_request q;
        enum status status = look_at(s, i, &q, err);
        run_request_free(&q);
        TRY(status);
    }
    for (int i = 0, k = 0; i < s->n_points; i++) {
        struct run_request q = {0};
        if (k < s->n_todo && s->todo[k] == i) {
            k++;
            continue;
        }
        enum status status = s->point[i].there.failed ? ST_OK : same_trace(s, i, &q, err);
        run_request_free(&q);
        TRY(status);
    }
    if (s->n_todo < s->n_points && !s->options.quiet)
        fprintf(stderr, "colosim: %d of %d points are in %s already\n", s->n_points - s->n_todo,
                s->n_points, s->store.path);
    return ST_OK;
}

static void product_free(struct product *p)
{
    run_result_free(&p->result);
    run_request_free(&p->request);
    free(p);
}

static enum status run_point(struct sweep *s, int i, struct product *p, struct error *err)
{
    int32_t source = s->point[s->todo[i]].source;
    TRY(request_for(s, s->todo[i], &p->request, err));
    enum status status = sources_take(&s->sources, source, &p->request, &p->request.source, err);
    if (status == ST_OK)
        status = run_execute(&p->request, &s->watch, &p->result, err);
    sources_leave(&s->sources, source);
    if (*s->watch.stop)
        return fail(err, ST_INTERRUPTED,
                    "interrupted; points that ended before are stored, the "
                    "same command goes on with the rest");
    return status;
}

/* Whatever goes wrong with a point, short of being interrupted, is a result too. */
static enum status work(void *context, int worker, int i, void **product, struct error *err)
{
    struct sweep *s = context;
    struct product *p = calloc(1, sizeof *p);
    (void)worker;
    if (p == NULL)
        return fail_memory(err);
    enum status status = run_point(s, i, p, &p->why);
    if (status != ST_OK && status != ST_INTERRUPTED) {
        p->failed = true;
        run_result_free(&p->result);
        status = run_result_failed(&p->request, p->why.text, &p->result, err);
    }
    if (status != ST_OK) {
        if (status == ST_INTERRUPTED)
            *err = p->why;
        product_free(p);
        return status;
    }
    *product = p;
    return ST_OK;
}

static enum status deliver(void *context, int i, void *product, struct error *err)
{
    struct sweep *s = context;
    struct product *p = product;
    char name[128];
    enum status status = i >= 0 ? store_run(&s->store, &p->request, &p->result, name, err) : ST_OK;
    if (i >= 0 && status == ST_OK) {
        s->n_failed += p->result.nothing_ran;
        if (p->failed) {
            watch_end(&s->watcher);
            fprintf(stderr, "colosim: %s failed: %s\n", p->request.run.label, p->why.text);
        }
        watch_points(&s->watcher, i + 1, s->n_todo, s->n_failed);
    }
    product_free(p);
    return status;
}

/* The runs of one row of the table, in order of seeds; those that are missing are left out. The
 * caller frees runs[0 .. *n - 1]. */
static enum status read_row(struct sweep *s, int group, struct summary *runs, int *n,
                            struct error *err)
{
    for (int k = 0; k < s->study.n_seeds; k++) {
        struct run_request q;
        int64_t run = 0;
        enum status status = request_for(s, group * s->study.n_seeds + k, &q, err);
        if (status == ST_OK)
            status = resume_run(&s->store, q.run.label, &run, err);
        run_request_free(&q);
        if (status == ST_OK && run != 0)
            status = summary_read(&runs[*n], &s->store, run, err);
        TRY(status);
        *n += run != 0;
    }
    return ST_OK;
}

static enum status print_row(struct sweep *s, int group, const struct summary *runs, int n,
                             struct grid_table *t, struct error *err)
{
    const char *value[STUDY_AXES_MAX];
    for (int i = 0; i < n && s->options.json; i++)
        report_json(t->to, &runs[i]);
    if (s->options.json)
        return ST_OK;
    for (int a = 0; a < s->study.n_axes; a++)
        value[a] = s->study.axis[a].value[study_value(&s->study, group, a)];
    return grid_table_row(t, value, runs, n, err);
}

static enum status print_rows(struct sweep *s, struct grid_table *t, struct error *err)
{
    enum status status = ST_OK;
    struct summary *runs = calloc((size_t)s->study.n_seeds, sizeof *runs);
    if (runs == NULL)
        return fail_memory(err);
    for (int g = 0; g < s->n_groups && status == ST_OK; g++) {
        int n = 0;
        status = read_row(s, g, runs, &n, err);
        if (status == ST_OK)
            status = print_row(s, g, runs, n, t, err);
        for (int i = 0; i < n; i++)
            summary_free(&runs[i]);
    }
    free(runs);
    return status;
}

/* One line each. */
static enum status print_failed(struct sweep *s, FILE *to, struct error *err)
{
    struct arena arena = {0};
    enum status status = ST_OK;
    s->n_failed = 0;
    for (int i = 0; i < s->n_points && status == ST_OK; i++) {
        struct run_request q;
        struct stored_point there = {0};
        const char *why;
        status = request_for(s, i, &q, err);
        if (status == ST_OK)
            status = resume_find(&s->store, &q, &there, err);
        if (status == ST_OK && there.failed)
            status = resume_why(&s->store, there.run, &arena, &why, err);
        if (status == ST_OK && there.failed && !s->options.json)
            fprintf(to, "failed: %s: %s\n", q.run.label, why);
        s->n_failed += there.failed;
        run_request_free(&q);
    }
    arena_free(&arena);
    return status;
}

static enum status choose_metrics(const struct sweep *s, struct grid_table *t, struct error *err)
{
    t->n_metrics = sizeof table_metrics / sizeof *table_metrics;
    memcpy(t->metric, table_metrics, sizeof table_metrics);
    if (s->metrics == NULL)
        return ST_OK;
    t->n_metrics = 0;
    for (const char *p = s->metrics; *p != '\0';) {
        char name[64];
        size_t length = strcspn(p, ",");
        snprintf(name, sizeof name, "%.*s", (int)length, p);
        int metric = metric_find(name);
        if (metric < 0 || t->n_metrics == GRID_METRICS_MAX)
            return fail(err, ST_USAGE, "--metrics: '%s' is no metric, or one too many", name);
        t->metric[t->n_metrics++] = (enum metric)metric;
        p += length + (p[length] == ',');
    }
    return ST_OK;
}

static enum status print(struct sweep *s, struct error *err)
{
    struct output out;
    const char *name[STUDY_AXES_MAX];
    int width[STUDY_AXES_MAX];
    for (int a = 0; a < s->study.n_axes; a++) {
        const struct axis *axis = &s->study.axis[a];
        name[a] = axis->name;
        width[a] = (int)strlen(axis->name);
        for (int i = 0; i < axis->n; i++)
            width[a] =
                width[a] > (int)strlen(axis->value[i]) ? width[a] : (int)strlen(axis->value[i]);
    }
    TRY(output_open(&out, "-", err));
    struct grid_table t = {.to = out.file, .axis = name, .width = width, .n_axes = s->study.n_axes};
    enum status status = choose_metrics(s, &t, err);
    if (status == ST_OK && !s->options.json)
        grid_table_head(&t);
    if (status == ST_OK)
        status = print_rows(s, &t, err);
    if (status == ST_OK && !s->options.json)
        grid_table_end(&t);
    if (status == ST_OK)
        status = print_failed(s, out.file, err);
    return output_close(&out, status, err);
}

/* Without -j every processor this process may use. */
static int thread_count(const struct sweep *s)
{
    cpu_set_t set;
    if (s->options.n_threads > 0)
        return s->options.n_threads;
    return sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;
}

static enum status sweep(struct sweep *s, struct error *err)
{
    struct grid_table unused;
    TRY(choose_metrics(s, &unused, err)); /* before the work, not after it */
    TRY(read_study(s, err));
    TRY(store_open(&s->store, s->options.db, err));
    TRY(plan(s, err));
    s->watch = watch_begin(&s->watcher, s->options.quiet);
    struct run_watch shown = s->watch;
    s->watch = (struct run_watch){.stop = shown.stop};
    enum status status =
        crew_run(&(struct crew_job){s, work, deliver}, s->n_todo, thread_count(s), err);
    watch_end(&s->watcher);
    if (s->store.note != NULL)
        fprintf(stderr, "colosim: %s\n", s->store.note);
    TRY(status);
    TRY(print(s, err));
    if (s->n_failed == s->n_points)
        return fail(err, ST_NOTHING, "all of %d points failed", s->n_points);
    if (s->n_failed > 0)
        return fail(err, ST_CHECK, "%d of %d points failed; --retry-failed runs them again",
                    s->n_failed, s->n_points);
    return ST_OK;
}

static void sweep_free(struct sweep *s)
{
    store_close(&s->store);
    sources_free(&s->sources);
    study_free(&s->study);
    options_free(&s->options);
    free(s->todo);
    free(s->point);
    free(s->grid);
}

int cmd_sweep(int argc, char **argv)
{
    static const struct argp_child children[] = {{&options_argp, 0, NULL, 0}, {0}};
    static const struct argp argp = {.options = sweep_options,
                                     .parser = parse_sweep,
                                     .args_doc = "[STUDY.json]",
                                     .doc = sweep_doc,
                                     .children = children};
    struct sweep s = {0};
    struct error err = {{0}};
    enum status status = ST_OK;
    if (argp_parse(&argp, argc, argv, 0, NULL, &s) != 0)
        status = fail_memory(&err);
    watch_signals();
    if (status == ST_OK)
        status = sweep(&s, &err);
    sweep_free(&s);
    int code = report_error(status, &err);
    return status == ST_INTERRUPTED ? watch_exit_code() : code;
}
