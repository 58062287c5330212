/* pai_sim.c - the official PAI simulator's rules (Alibaba cluster-trace-gpu-v2020, simulator/).
 *
 * Kept, because it decides results: the whole queue is walked in order and whatever fits starts,
 * FIFO included, so wide jobs starve; an estimate is a median over the whole trace, the future
 * included; node order 0 packs and 3 spreads, whatever the README there says; means count each
 * instance of a gang as a job; the makespan is the last end + 1 s; the clock starts at 0, so a job
 * submitted before that waits.
 *
 * Left out, because it decides nothing: the one-second tick (a pass can start something only after
 * an arrival or a release), its two shortcuts past hopeless passes, and preemption, whose guard is
 * always true. Left out, because no published run uses it: capacity patterns, spare nodes and
 * repeats. A job that can never be placed keeps the official loop alive until its time limit; here
 * it is rejected on arrival when no empty cluster could hold it, and else unfinished when the run
 * stalls. */
#include "policies/pai_place.h"
#include "policies/pai_workload.h"

#include "core/cluster/waitq.h"

#include <math.h>
#include <string.h>

enum pai_order { PAI_FIFO, PAI_SJF, PAI_SJU, PAI_SJG, PAI_SJGG };
static const char *const order_names[] = {"fifo", "sjf", "sju", "sjg", "sjgg", NULL};

static const char *const node_order_names[] = {"id", "fewest_idle", "most_idle", "least_util",
                                               NULL};

enum pai_type_match { PAI_MATCH_OFF, PAI_MATCH_EXACT, PAI_MATCH_V100 };
static const char *const type_match_names[] = {"off", "exact", "v100", NULL};

struct pai_config {
    int64_t arrival_rate, num_jobs, sample_seed;
    int node_order, order, type_match;
};

static const struct param pai_params[] = {
    PARAM_INT(
        struct pai_config, arrival_rate, "jobs/min", -1, -1, 1e9,
        "jobs that arrive together each minute; -1 keeps the submission times [arrival_rate]"),
    PARAM_CHOICE(
        struct pai_config, node_order, node_order_names, PAI_NODES_LEAST_UTIL,
        "which nodes are filled first; id packs, least_util spreads [sort_node_policy 0-3]"),
    PARAM_INT(struct pai_config, num_jobs, "jobs", 0, 0, 1e8,
              "size of the random sample of the trace; 0 takes all [num_jobs]"),
    PARAM_CHOICE(struct pai_config, order, order_names, PAI_FIFO,
                 "whose turn it is; by submission, duration, or its estimate from the user, group, "
                 "group and GPU [alloc_policy 8, 0, 1, 2, 4]"),
    PARAM_INT(struct pai_config, sample_seed, "1", 42, 0, 9007199254740992,
              "seed of the sample [random_seed]"),
    PARAM_CHOICE(struct pai_config, type_match, type_match_names, PAI_MATCH_OFF,
                 "whether a job needs nodes of its type; v100 binds V100 jobs alone "
                 "[gpu_type_matching 0-2]"),
    PARAM_END,
};

struct pai_state {
    struct waitq queue;
    struct pai_ask *ask; /* (n_shapes) */
    bool *failed;        /* (n_shapes) did not fit, and nothing was released since */
    int32_t n_inst_max;
    enum pai_order order;
    enum pai_node_order node_order;
};

static enum status pai_prepare(const void *config_, struct preparation *p, struct error *err)
{
    const struct pai_config *config = config_;
    struct pai_sampling sampling = {config->num_jobs, config->sample_seed, config->arrival_rate};

    return pai_workload(p, &sampling, err);
}

static bool named(const struct job_table *t, int32_t type, const char *name)
{
    return names_length(&t->names, type) == strlen(name) &&
           memcmp(names_text(&t->names, type), name, strlen(name)) == 0;
}

/* What the type of the job, an id in the table's names, asks of a node. */
static int32_t type_asked(const struct view *v, enum pai_type_match match, int32_t type)
{
    if (match == PAI_MATCH_OFF || type < 0 || named(v->jobs, type, "CPU") ||
        (match == PAI_MATCH_V100 && !named(v->jobs, type, "V100")))
        return PAI_TYPE_ANY;
    int32_t found = names_find(&v->cluster->gpu_types, names_text(&v->jobs->names, type),
                               names_length(&v->jobs->names, type));
    return found >= 0 ? found : PAI_TYPE_NOWHERE;
}

static int hint_of_order(enum pai_order order)
{
    switch (order) {
    case PAI_FIFO:
    case PAI_SJF: break;
    case PAI_SJU: return HINT_USER;
    case PAI_SJG: return HINT_GROUP;
    case PAI_SJGG: return HINT_GROUP_GPU;
    }
    return -1;
}

static enum status check_hints(const struct job_table *t, enum pai_order order, struct error *err)
{
    static const char *const columns[N_HINTS] = {"user_dur", "group_dur", "group_gpu_dur"};
    int hint = hint_of_order(order);

    for (int32_t job = 0; job < t->n_jobs && hint >= 0; job++)
        if (t->hint_us[job][hint] < 0)
            return fail(err, ST_INPUT, "pai-sim.order = %s: job %s has no %s", order_names[order],
                        names_text(&t->job_names, job), columns[hint]);
    return ST_OK;
}

static enum status pai_init(void *state, const void *config_, const struct view *v,
                            const struct place_rules *rules, struct arena *arena, struct error *err)
{
    (void)rules;
    const struct pai_config *config = config_;
    struct pai_state *s = state;
    const struct job_table *t = v->jobs;

    s->order = (enum pai_order)config->order;
    s->node_order = (enum pai_node_order)config->node_order;
    TRY(check_hints(t, s->order, err));
    if (!waitq_init(&s->queue, t, false, arena))
        return fail_memory(err);
    s->ask = arena_alloc(arena, (size_t)s->queue.n_shapes, sizeof *s->ask);
    s->failed = arena_alloc(arena, (size_t)s->queue.n_shapes, sizeof *s->failed);
    if (s->ask == NULL || s->failed == NULL)
        return fail_memory(err);
    for (int32_t job = 0; job < t->n_jobs; job++) {
        int32_t task = t->task_begin[job];
        s->ask[s->queue.shape[job]] = (struct pai_ask){
            t->n_inst[task], t->gpu_milli[task], t->cpu_milli[task],
            type_asked(v, (enum pai_type_match)config->type_match, t->gpu_type[task])};
        if (t->n_inst[task] > s->n_inst_max)
            s->n_inst_max = t->n_inst[task];
    }
    waitq_block_all(&s->queue);
    return ST_OK;
}

static int64_t key_of(const struct pai_state *s, const struct job_table *t, int32_t job)
{
    switch (s->order) {
    case PAI_FIFO: return t->submit_us[job];
    case PAI_SJF: return job_duration_us(t, job);
    case PAI_SJU:
    case PAI_SJG:
    case PAI_SJGG: break;
    }
    return t->hint_us[job][hint_of_order(s->order)];
}

/* The shapes with jobs waiting that may fit, written to shape (n_shapes). */
static int32_t shapes_to_try(const struct pai_state *s, const struct cluster *c, int32_t *shape)
{
    int32_t n = 0;

    for (int32_t i = 0; i < s->queue.n_shapes; i++)
        if (s->queue.root[i] >= 0 && !s->failed[i] && pai_enough_idle(c, &s->ask[i]))
            shape[n++] = i;
    return n;
}

/* Puts the shape whose head comes first last in the list of n, from which those for which no
 * longer enough is idle are dropped; returns how many are left. Few shapes are left after a start,
 * so looking at all of them beats keeping them in order. */
static int32_t first_to_end(const struct pai_state *s, const struct cluster *c, int32_t *shape,
                            int32_t n)
{
    const struct waitq *q = &s->queue;
    int32_t n_left = 0, first = -1;

    for (int32_t i = 0; i < n; i++) {
        if (!pai_enough_idle(c, &s->ask[shape[i]]))
            continue;
        shape[n_left] = shape[i];
        if (first < 0 || waitq_before(q, q->root[shape[i]], q->root[shape[first]]))
            first = n_left;
        n_left++;
    }
    if (n_left > 0) {
        int32_t last = shape[n_left - 1];
        shape[n_left - 1] = shape[first];
        shape[first] = last;
    }
    return n_left;
}

static enum status start_what_fits(struct pai_state *s, struct plan *plan, struct arena *scratch,
                                   struct error *err)
{
    const struct cluster *c = plan->cluster;
    int32_t *shape = arena_alloc(scratch, (size_t)s->queue.n_shapes, sizeof *shape);
    uint64_t *ranks = arena_alloc(scratch, (size_t)c->n_nodes, sizeof *ranks);
    int32_t *node = arena_alloc(scratch, (size_t)s->n_inst_max, sizeof *node);

    if (shape == NULL || ranks == NULL || node == NULL)
        return fail_memory(err);
    int32_t n = shapes_to_try(s, c, shape);
    while ((c->gpu_idle_milli > 0 || c->cpu_idle_milli > 0) &&
           (n = first_to_end(s, c, shape, n)) > 0) {
        int32_t first = shape[n - 1];
        if (!pai_place(c, s->node_order, &s->ask[first], ranks, node)) {
            s->failed[first] = true;
            n--;
            continue;
        }
        int32_t n_inst = s->ask[first].n_inst;
        for (int32_t i = 0; i < n_inst; i++)
            node[i] = ~node[i]; /* a node, not a card */
        if (!plan_start_at(plan, s->queue.root[first], node, n_inst))
            return fail_memory(err);
        waitq_take_of(&s->queue, first);
        n -= s->queue.root[first] < 0;
    }
    return ST_OK;
}

static enum status pai_decide(void *state, const struct view *v, struct plan *plan,
                              struct error *err)
{
    struct pai_state *s = state;

    for (int32_t i = 0; i < v->n_arrived; i++)
        waitq_push(&s->queue, v->arrived[i], key_of(s, v->jobs, v->arrived[i]));
    if (v->n_finished > 0)
        memset(s->failed, false, (size_t)s->queue.n_shapes * sizeof *s->failed);
    if (v->now_us < 0) {
        plan_wake(plan, 0);
        return ST_OK;
    }
    return start_what_fits(s, plan, v->scratch, err);
}

/* Means over instances of jobs that ended, as the official summary prints them. */
static int pai_metrics(const struct job_table *t, const char **name, double *value, int max)
{
    static const char *const names[] = {"pai_jobs_done", "pai_avg_jct_s", "pai_wait_s",
                                        "pai_makespan_s"};
    double n_done = 0, jct_s = 0, wait_s = 0, makespan_s = NAN;
    int n = 0;

    for (int32_t job = 0; job < t->n_jobs; job++) {
        if (t->status[job] != JOB_DONE)
            continue;
        double n_inst = job_n_inst(t, job);
        n_done += n_inst;
        jct_s += n_inst * s_of_us(t->finish_us[job] - t->submit_us[job]);
        wait_s += n_inst * s_of_us(t->start_us[job] - t->submit_us[job]);
        makespan_s = fmax(makespan_s, s_of_us(t->finish_us[job]) + 1);
    }
    const double values[] = {n_done, jct_s / n_done, wait_s / n_done, makespan_s};
    for (; n < 4 && n < max; n++) {
        name[n] = names[n];
        value[n] = values[n];
    }
    return n;
}

const struct policy policy_pai_sim = {
    .abi = POLICY_ABI,
    .name = "pai-sim",
    .summary = "the official PAI simulator: walks the queue, starts what fits, sums per node",
    .source = "Alibaba cluster-trace-gpu-v2020, simulator",
    .params = pai_params,
    .config_size = sizeof(struct pai_config),
    .state_size = sizeof(struct pai_state),
    .own_books = true,
    .node_sum = true,
    .prepare = pai_prepare,
    .init = pai_init,
    .decide = pai_decide,
    .metrics = pai_metrics,
};
