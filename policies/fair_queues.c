/* fair-queues - weighted queues: each deserves its part of the GPUs, never more than it asks for.
 *
 * The rules of the project's own cases, not those of a system: in every pass the cluster's GPUs are
 * shared out by water-filling over what each queue asks (GPUs held plus GPUs waited for); what a
 * queue leaves goes to the others by their weights, and queues of weight 0 get what is left after
 * all others. Queues take turns, the one with the least held / deserved first; in a queue jobs
 * go by submission, and one that does not fit lets others pass. A job starts where its queue stays
 * within what it deserves. Where no GPU is held and nothing may start by that, the job submitted
 * first starts: a job wider than its queue's part never stops the cluster.
 *
 * No admission gate, no latency, no preemption and no reclaim: that is volcano. So GPUs may idle
 * while a job waits whose queue holds its part: that is the definition. */
#include "core/base/units.h"
#include "core/cluster/policy.h"
#include "core/cluster/waitq.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct fair_config {
    const char *weights;
};

static const struct param fair_params[] = {
    PARAM_TEXT(struct fair_config, weights, NULL,
               "NAME:WEIGHT,... of queues, before those of the cluster's file; others have 1"),
    PARAM_END,
};

/* A millionth of a GPU: what rounding may cost a queue is not held against it. */
static const double SLACK_MILLI = 1e-3;

struct fair {
    int32_t n_queues, n_waiting;
    struct waitq *queue;   /* (n_queues) */
    double *weight;        /* (n_queues) */
    double *deserved;      /* (n_queues) milli-GPUs */
    int64_t *held, *asked; /* (n_queues) milli-GPUs of running jobs; of waiting ones */
    int32_t *queue_of;     /* (n_jobs) */
    int64_t *held_of;      /* (n_jobs) what the job adds to held */
    int32_t *shape;        /* (n_jobs) what placement depends on */
    bool *no_fit;          /* (shapes) did not fit since the last release */
    int32_t n_shapes;
};

/* Entry i of "NAME:WEIGHT,..."; false behind the last. The name ends at the last colon. */
static bool next_entry(const char **at, const char **name, size_t *length, const char **weight,
                       size_t *weight_length)
{
    if (*at == NULL || **at == '\0')
        return false;
    size_t n = strcspn(*at, ",");
    const char *colon = memrchr(*at, ':', n);
    *name = *at;
    *length = colon != NULL ? (size_t)(colon - *at) : 0;
    *weight = colon != NULL ? colon + 1 : *at + n;
    *weight_length = (size_t)(*at + n - *weight);
    *at += n + ((*at)[n] == ',');
    return true;
}

/* What the settings say of a queue; NAN where they do not name it. */
static double weight_set(const char *weights, const char *name, size_t length)
{
    const char *entry, *text;
    size_t n, text_length;
    double weight = NAN, found = NAN;
    while (next_entry(&weights, &entry, &n, &text, &text_length))
        if (n == length && memcmp(entry, name, n) == 0 && parse_real(text, text_length, &weight))
            found = weight;
    return found;
}

/* Every weight that somebody gave, as text for a message; their sum. Names in the settings come
 * before the cluster's of the same name. */
static double list_weights(const char *weights, const struct cluster *c, char *list, size_t size)
{
    const char *name, *text;
    size_t n, text_length, used = 0;
    double sum = 0, weight = 0;
    for (const char *at = weights; next_entry(&at, &name, &n, &text, &text_length);) {
        parse_real(text, text_length, &weight);
        sum += weight;
        if (used < size)
            used += (size_t)snprintf(list + used, size - used, "%s%.*s %g", used > 0 ? ", " : "",
                                     (int)n, name, weight);
    }
    for (int32_t i = 0; i < c->queues.n; i++) {
        name = names_text(&c->queues, i);
        if (!isnan(weight_set(weights, name, names_length(&c->queues, i))))
            continue;
        sum += c->queue_weight[i];
        if (used < size)
            used += (size_t)snprintf(list + used, size - used, "%s%s %g", used > 0 ? ", " : "",
                                     name, c->queue_weight[i]);
    }
    return used > 0 ? sum : 1; /* nothing was given: every weight is 1 */
}

static enum status check_weights(const char *weights, const struct cluster *c, struct error *err)
{
    const char *name, *text;
    size_t n, text_length;
    double weight;
    for (const char *at = weights; next_entry(&at, &name, &n, &text, &text_length);) {
        if (n == 0 || !parse_real(text, text_length, &weight))
            return fail(err, ST_USAGE, "fair-queues.weights: want NAME:WEIGHT,..., not '%s'",
                        weights);
        if (weight < 0 || weight > CLUSTER_WEIGHT_MAX)
            return fail(err, ST_USAGE,
                        "fair-queues.weights: the weight of queue %.*s is %g, want 0 to %g", (int)n,
                        name, weight, CLUSTER_WEIGHT_MAX);
    }
    char list[256] = "";
    if (!(list_weights(weights, c, list, sizeof list) > 0))
        return fail(err, ST_USAGE, "fair-queues: the weights of the queues add up to zero: %s",
                    list);
    return ST_OK;
}

/* Numbers the queues of the jobs in order of first sight. Jobs without one have one in common. */
static bool number_queues(struct fair *f, const struct view *v, struct arena *arena)
{
    const struct job_table *t = v->jobs;
    int32_t *number = arena_alloc(arena, (size_t)t->names.n + 1, sizeof *number);
    f->queue_of = arena_alloc(arena, (size_t)t->n_jobs, sizeof *f->queue_of);
    if (number == NULL || f->queue_of == NULL)
        return false;
    for (int32_t j = 0; j < t->n_jobs; j++) {
        int32_t *of_name = &number[t->queue[j] + 1]; /* 0 until it is seen */
        if (*of_name == 0)
            *of_name = ++f->n_queues;
        f->queue_of[j] = *of_name - 1;
    }
    return true;
}

static void set_weights(struct fair *f, const struct view *v, const char *weights)
{
    const struct job_table *t = v->jobs;
    const struct cluster *c = v->cluster;
    for (int32_t j = t->n_jobs - 1; j >= 0; j--) {
        double *weight = &f->weight[f->queue_of[j]];
        if (!isnan(*weight))
            continue;
        const char *name = t->queue[j] >= 0 ? names_text(&t->names, t->queue[j]) : "";
        size_t length = t->queue[j] >= 0 ? names_length(&t->names, t->queue[j]) : 0;
        int32_t known = names_find(&c->queues, name, length);
        *weight = weight_set(weights, name, length);
        if (isnan(*weight))
            *weight = known >= 0 ? c->queue_weight[known] : 1;
    }
}

static enum status fair_init(void *state, const void *config, const struct view *v,
                             const struct place_rules *rules, struct arena *arena,
                             struct error *err)
{
    struct fair *f = state;
    const char *weights = ((const struct fair_config *)config)->weights;
    const bool workload_counts = rules->share_max > 1;
    size_t n_jobs = (size_t)v->jobs->n_jobs;
    TRY(check_weights(weights, v->cluster, err));
    if (!number_queues(f, v, arena))
        return fail_memory(err);
    size_t n = (size_t)f->n_queues;
    f->queue = arena_alloc(arena, n, sizeof *f->queue);
    f->weight = arena_alloc(arena, n, sizeof *f->weight);
    f->deserved = arena_alloc(arena, n, sizeof *f->deserved);
    f->held = arena_alloc(arena, n, sizeof *f->held);
    f->asked = arena_alloc(arena, n, sizeof *f->asked);
    f->held_of = arena_alloc(arena, n_jobs, sizeof *f->held_of);
    f->shape = arena_alloc(arena, n_jobs, sizeof *f->shape);
    if (f->queue == NULL || f->weight == NULL || f->deserved == NULL || f->held == NULL ||
        f->asked == NULL || f->held_of == NULL || f->shape == NULL)
        return fail_memory(err);
    f->n_shapes = shapes_of(v->jobs, workload_counts, f->shape);
    f->no_fit = f->n_shapes < 0 ? NULL : arena_alloc(arena, (size_t)f->n_shapes, sizeof *f->no_fit);
    if (f->no_fit == NULL ||
        !waitq_init_many(f->queue, f->n_queues, v->jobs, f->queue_of, workload_counts, arena))
        return fail_memory(err);
    for (size_t q = 0; q < n; q++)
        f->weight[q] = NAN;
    set_weights(f, v, weights);
    return ST_OK;
}

/* What arrived waits; what ended a task holds less. */
static void take_news(struct fair *f, const struct view *v)
{
    for (int32_t i = 0; i < v->n_arrived; i++) {
        int32_t job = v->arrived[i], q = f->queue_of[job];
        waitq_push(&f->queue[q], job, v->jobs->submit_us[job]);
        f->asked[q] += job_gpu_milli(v->jobs, job);
        f->n_waiting++;
    }
    for (int32_t i = 0; i < v->n_finished; i++) {
        int32_t job = v->finished[i];
        int64_t now = v->jobs->status[job] == JOB_RUNNING ? v->stay[job].held_milli : 0;
        f->held[f->queue_of[job]] += now - f->held_of[job];
        f->held_of[job] = now;
    }
    if (v->n_finished > 0)
        memset(f->no_fit, false, (size_t)f->n_shapes * sizeof *f->no_fit);
}

/* A queue in the order in which water-filling comes to the end of what they ask. */
struct filling {
    double level, want, weight; /* level: want / weight */
    double weight_from_here;    /* of this and all after it */
    int32_t queue;
};

static int by_level(const void *a, const void *b)
{
    const struct filling *x = a, *y = b;
    if (x->level < y->level || x->level > y->level)
        return x->level < y->level ? -1 : 1;
    return x->queue < y->queue ? -1 : 1;
}

/* Shares capacity out over n queues by their weights, none more than it wants; returns what is
 * left. O(n log n). */
static double fill(struct filling *f, int32_t n, double capacity, double *deserved)
{
    double sum = 0;
    qsort(f, (size_t)n, sizeof *f, by_level);
    for (int32_t i = n - 1; i >= 0; i--)
        f[i].weight_from_here = sum += f[i].weight;
    for (int32_t i = 0; i < n; i++) {
        double part = capacity * (f[i].weight / f[i].weight_from_here);
        deserved[f[i].queue] = f[i].want < part ? f[i].want : part;
        capacity -= deserved[f[i].queue];
    }
    return capacity;
}

/* Queues with a weight first, those of weight 0 after them and alike. False when memory is out. */
static bool share_out(struct fair *f, const struct view *v)
{
    double left = (double)v->cluster->gpu_milli;
    struct filling *filling = arena_alloc(v->scratch, (size_t)f->n_queues, sizeof *filling);
    for (int weighted = 1; filling != NULL && weighted >= 0; weighted--) {
        int32_t n = 0;
        for (int32_t q = 0; q < f->n_queues; q++) {
            double weight = weighted ? f->weight[q] : 1, want = (double)(f->held[q] + f->asked[q]);
            if ((f->weight[q] > 0) == (weighted == 1))
                filling[n++] = (struct filling){want / weight, want, weight, 0, q};
        }
        left = fill(filling, n, left, f->deserved);
    }
    return filling != NULL;
}

/* held / deserved. A queue that deserves nothing can start nothing, whenever its turn is. */
static double share_of(const struct fair *f, int32_t q)
{
    return f->deserved[q] > 0 ? (double)f->held[q] / f->deserved[q] : 0;
}

/* The queue whose turn it is: the least share, or only the earliest head; -1 where none has a job
 * that may be tried. */
static int32_t next_queue(const struct fair *f, bool by_share)
{
    int32_t best = -1;
    double best_share = 0;
    for (int32_t q = 0; q < f->n_queues; q++) {
        int32_t head = waitq_head(&f->queue[q]);
        if (head < 0)
            continue;
        double share = by_share ? share_of(f, q) : 0;
        bool earlier = best >= 0 && share <= best_share &&
                       waitq_before(&f->queue[q], head, waitq_head(&f->queue[best]));
        if (best < 0 || share < best_share || earlier) {
            best = q;
            best_share = share;
        }
    }
    return best;
}

/* Starts the head of the queue or passes over it. */
static bool try_head(struct fair *f, struct plan *plan, int32_t q, bool within)
{
    int32_t job = waitq_head(&f->queue[q]);
    int64_t ask = job_gpu_milli(plan->jobs, job);
    bool may = !within || ask == 0 || (double)(f->held[q] + ask) <= f->deserved[q] + SLACK_MILLI;
    if (!may || f->no_fit[f->shape[job]] || !plan_start(plan, job)) {
        f->no_fit[f->shape[job]] = f->no_fit[f->shape[job]] || may;
        waitq_block(&f->queue[q]);
        return false;
    }
    waitq_take(&f->queue[q]);
    f->held_of[job] = ask;
    f->held[q] += ask;
    f->asked[q] -= ask;
    f->n_waiting--;
    return true;
}

static void reopen(struct fair *f)
{
    for (int32_t q = 0; q < f->n_queues; q++)
        waitq_reopen(&f->queue[q]);
}

/* Cost O((jobs started + shapes that wait) x queues) and the placements tried. */
static enum status fair_decide(void *state, const struct view *v, struct plan *plan,
                               struct error *err)
{
    struct fair *f = state;
    take_news(f, v);
    if (f->n_waiting == 0)
        return ST_OK;
    if (!share_out(f, v))
        return fail_memory(err);
    reopen(f);
    for (int32_t q; (q = next_queue(f, true)) >= 0;)
        try_head(f, plan, q, true);
    if (f->n_waiting == 0 || v->cluster->gpu_held_milli > 0)
        return ST_OK;
    reopen(f); /* nothing runs: somebody has to */
    for (int32_t q; (q = next_queue(f, false)) >= 0 && !try_head(f, plan, q, false);)
        ;
    return ST_OK;
}

const struct policy policy_fair_queues = {
    .abi = POLICY_ABI,
    .name = "fair-queues",
    .summary = "weighted queues: each up to its water-filled part of the GPUs, no reclaim",
    .source = "the project's cases 24, 45 and 51; water-filling as Volcano's proportion plugin",
    .params = fair_params,
    .config_size = sizeof(struct fair_config),
    .state_size = sizeof(struct fair),
    .init = fair_init,
    .decide = fair_decide,
};
