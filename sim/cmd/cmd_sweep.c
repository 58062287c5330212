#include "sim/cmd/commands.h"

#include "sim/cmd/sweep.h"
#include "sim/results/image.h"
#include "sim/run/crew.h"

#include <sched.h>
#include <stdlib.h>

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

static error_t parse_sweep(int key, char *arg, struct argp_state *state)
{
    struct sweep *s = state->input;
    switch (key) {
    case ARGP_KEY_INIT: state->child_inputs[0] = state->child_inputs[1] = &s->options; return 0;
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

/* A point on its way from whoever ran it to deliver: as it is, or as the bytes that another rank
 * sent. */
struct product {
    struct run_request request;
    struct run_result result;
    struct error why; /* it failed */
    unsigned char *bytes;
    size_t n_bytes;
};

static void product_free(struct product *p)
{
    run_result_free(&p->result);
    run_request_free(&p->request);
    free(p->bytes);
    free(p);
}

static enum status fail_interrupted(struct error *err)
{
    return fail(err, ST_INTERRUPTED,
                "interrupted; the points that had ended are stored, and the "
                "same command goes on with the rest");
}

static enum status run_point(struct sweep *s, int point, struct product *p, struct error *err)
{
    int32_t source = s->point[point].source;
    TRY(sweep_request(s, point, &p->request, err));
    enum status status = sources_take(&s->sources, source, &p->request, &p->request.source, err);
    if (status == ST_OK)
        status = run_execute(&p->request, &s->watch, &p->result, err);
    sources_leave(&s->sources, source);
    return *s->watch.stop ? fail_interrupted(err) : status;
}

/* Whatever goes wrong with a point, short of being interrupted, is a result too. */
static enum status make_point(struct sweep *s, int point, struct product *p, struct error *err)
{
    enum status status = run_point(s, point, p, &p->why);
    if (status == ST_OK)
        return ST_OK;
    *err = p->why;
    if (status == ST_INTERRUPTED)
        return status;
    run_result_free(&p->result);
    return run_result_failed(&p->request, p->why.text, &p->result, err);
}

static enum status ask_for_point(struct sweep *s, int helper, int point, struct product *p,
                                 struct error *err)
{
    TRY(ranks_ask(&s->ranks, 1 + helper / s->n_threads, helper % s->n_threads, point, &p->bytes,
                  &p->n_bytes, err));
    return p->bytes != NULL ? ST_OK : fail_interrupted(err);
}

/* The first workers are threads here, the others stand for those of other ranks. */
static enum status work(void *context, int worker, int i, void **product, struct error *err)
{
    struct sweep *s = context;
    struct product *p = calloc(1, sizeof *p);
    if (p == NULL)
        return fail_memory(err);
    enum status status = worker < s->n_threads
                             ? make_point(s, s->todo[i], p, err)
                             : ask_for_point(s, worker - s->n_threads, s->todo[i], p, err);
    if (status == ST_OK)
        *product = p;
    else
        product_free(p);
    return status;
}

/* What of its trace was dropped or assumed is said once. */
static void tell_import(struct sweep *s, int point, const struct product *p)
{
    bool *said = &s->said[s->point[point].source];
    const struct import_report *report = &p->result.trace.report;
    if (s->options.quiet || *said || p->request.run.trace == NULL || report->n_rows == 0)
        return;
    *said = true;
    watch_end(&s->watcher);
    import_report_print(report, stderr);
}

static enum status tell_failure(struct sweep *s, const char *name, struct error *err)
{
    struct arena arena = {0};
    const char *why;
    int64_t run;
    TRY(store_find(&s->store, name, &run, err));
    enum status status = resume_why(&s->store, run, &arena, &why, err);
    if (status == ST_OK && why != NULL) {
        s->n_failed++;
        watch_end(&s->watcher);
        if (!s->options.quiet)
            fprintf(stderr, "colosim: %s failed: %s\n", name, why);
    }
    arena_free(&arena);
    return status;
}

static enum status keep(struct sweep *s, int point, struct product *p, struct error *err)
{
    char name[128];
    if (p->bytes != NULL)
        TRY(image_store(&s->store, p->bytes, p->n_bytes, name, err));
    else
        TRY(store_point(&s->store, &p->request, &p->result, name, err));
    tell_import(s, point, p);
    return name[0] != '\0' ? tell_failure(s, name, err) : ST_OK; /* else another process had it */
}

static enum status deliver(void *context, int i, void *product, struct error *err)
{
    struct sweep *s = context;
    struct product *p = product;
    enum status status = ST_OK;
    if (i >= 0) {
        status = batch_enter(&s->batch, err);
        if (status == ST_OK)
            status = keep(s, s->todo[i], p, err);
        batch_leave(&s->batch);
        watch_points(&s->watcher, i + 1, s->n_todo, s->n_failed);
    }
    product_free(p);
    return status;
}

struct channel {
    struct sweep *sweep;
    int number;
    pthread_t thread;
};

/* Another rank's side of ask_for_point. */
static void *serve(void *arg)
{
    struct channel *c = arg;
    struct sweep *s = c->sweep;
    for (int point; (point = ranks_next(&s->ranks, c->number)) >= 0;) {
        struct product p = {0};
        struct error err = {{0}};
        unsigned char *bytes = NULL;
        size_t n = 0;
        enum status status = make_point(s, point, &p, &err);
        if (status == ST_OK)
            status = image_make(&p.request, &p.result, &bytes, &n, &err);
        if (status != ST_OK && status != ST_INTERRUPTED)
            report_error(status, &err);
        ranks_answer(&s->ranks, c->number, bytes, n);
        image_free(bytes);
        run_result_free(&p.result);
        run_request_free(&p.request);
    }
    return NULL;
}

static enum status serve_all(struct sweep *s, struct error *err)
{
    int started = 1;
    struct channel *channel = calloc((size_t)s->n_threads, sizeof *channel);
    if (channel == NULL)
        return fail_memory(err);
    for (int i = 0; i < s->n_threads; i++)
        channel[i] = (struct channel){.sweep = s, .number = i};
    while (started < s->n_threads &&
           pthread_create(&channel[started].thread, NULL, serve, &channel[started]) == 0)
        started++;
    serve(&channel[0]);
    for (int i = started; i < s->n_threads; i++) /* nobody else would answer there */
        serve(&channel[i]);
    for (int i = 1; i < started; i++)
        pthread_join(channel[i].thread, NULL);
    free(channel);
    return ST_OK;
}

static void dismiss_all(struct sweep *s)
{
    for (int rank = 1; rank < s->ranks.n; rank++)
        for (int i = 0; i < s->n_threads; i++)
            ranks_dismiss(&s->ranks, rank, i);
}

/* Without -j every processor this process may use; one a rank where there are several. */
static int thread_count(const struct sweep *s)
{
    cpu_set_t set;
    if (s->options.n_threads > 0)
        return s->options.n_threads;
    return s->ranks.n == 1 && sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;
}

static enum status prepare(struct sweep *s, struct error *err)
{
    TRY(sweep_check_metrics(s, err)); /* before the work, not after it */
    TRY(sweep_read(s, err));
    if (s->ranks.rank == 0)
        TRY(store_open(&s->store, s->options.db, err));
    return sweep_plan(s, err);
}

/* Rank 0. */
static enum status conduct(struct sweep *s, struct error *err)
{
    struct crew_job job = {s, work, deliver};
    struct error late;
    enum status status = batch_begin(&s->batch, &s->store, err);
    if (status == ST_OK)
        status = crew_run(&job, s->n_todo, s->n_threads * s->ranks.n, err);
    enum status ended = batch_end(&s->batch, &late); /* what was done is kept in any case */
    if (status == ST_OK && ended != ST_OK) {
        status = ended;
        *err = late;
    }
    dismiss_all(s);
    watch_end(&s->watcher);
    if (s->store.note != NULL)
        fprintf(stderr, "colosim: %s\n", s->store.note);
    TRY(status);
    TRY(sweep_print(s, err));
    if (s->n_failed == s->n_points)
        return fail(err, ST_NOTHING, "all of %d points failed", s->n_points);
    if (s->n_failed > 0)
        return fail(err, ST_CHECK, "%d of %d points failed; --retry-failed runs them again",
                    s->n_failed, s->n_points);
    return ST_OK;
}

static enum status sweep(struct sweep *s, struct error *err)
{
    s->n_threads = thread_count(s);
    s->watch.stop = s->sources.stop = watch_begin(&s->watcher, s->options.quiet).stop;
    TRY(ranks_agree(&s->ranks, prepare(s, err), s->meaning, err));
    return s->ranks.rank == 0 ? conduct(s, err) : serve_all(s, err);
}

static void sweep_free(struct sweep *s)
{
    store_close(&s->store);
    sources_free(&s->sources);
    study_free(&s->study);
    options_free(&s->options);
    free(s->todo);
    free(s->said);
    free(s->point);
    free(s->grid);
}

int cmd_sweep(int argc, char **argv)
{
    static const struct argp_child children[] = {
        {&options_argp, 0, NULL, 0}, {&policy_argp, 0, NULL, 0}, {0}};
    static const struct argp argp = {.options = sweep_options,
                                     .parser = parse_sweep,
                                     .args_doc = "[STUDY.json]",
                                     .doc = sweep_doc,
                                     .children = children};
    struct sweep s = {0};
    struct error err = {{0}};
    bool first = ranks_expected() == 0; /* what is wrong for all is said once */
    error_t error = argp_parse(&argp, argc, argv, first ? 0 : ARGP_SILENT, NULL, &s);
    if (error != 0 && error != ENOMEM)
        return (int)ST_USAGE;
    enum status status = error == ENOMEM ? fail_memory(&err) : ranks_open(&s.ranks, &err);
    watch_signals();
    if (status == ST_OK)
        status = sweep(&s, &err);
    status = ranks_close(&s.ranks, status);
    sweep_free(&s);
    if (first)
        report_error(status, &err);
    if (status == ST_INTERRUPTED && watch_exit_code() != 0)
        return watch_exit_code();
    return (int)status;
}
