#include "tests/vol_world.h"

#include "policies/volcano/vol_allocate.h"
#include "policies/volcano/vol_enqueue.h"
#include "policies/volcano/vol_evict.h"
#include "policies/volcano/vol_session.h"
#include "policies/volcano/vol_tasks.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static double number(const json_t *object, const char *key, double otherwise)
{
    const json_t *value = json_object_get(object, key);
    return json_is_number(value) ? json_number_value(value) : otherwise;
}

static const char *text(const json_t *object, const char *key, const char *otherwise)
{
    const json_t *value = json_object_get(object, key);
    return json_is_string(value) ? json_string_value(value) : otherwise;
}

static bool truth(const json_t *object, const char *key, bool otherwise)
{
    const json_t *value = json_object_get(object, key);
    return json_is_boolean(value) ? json_is_true(value) : otherwise;
}

/* cpu_m, mem_B and GPUs, in "scalars" or beside them; the rest as given. */
static struct amounts amounts_of(const json_t *object, double otherwise, double pods)
{
    const json_t *scalars = json_object_get(object, "scalars");
    return (struct amounts){{[AMOUNT_CPU] = number(object, "cpu_m", otherwise),
                             [AMOUNT_MEM] = number(object, "mem_B", otherwise),
                             [AMOUNT_GPU] = number(scalars ? scalars : object, "gpu", otherwise),
                             [AMOUNT_OTHER] = otherwise,
                             [AMOUNT_PODS] = pods}};
}

static enum vol_plugin plugin_of(struct vol_world *w, const char *name)
{
    static const char *const names[] = {"priority",   "gang",      "conformance",
                                        "overcommit", "drf",       "predicates",
                                        "proportion", "nodeorder", "binpack"};
    for (int i = 0; i < 9; i++)
        if (strcmp(name, names[i]) == 0)
            return (enum vol_plugin)i;
    cr_assert_eq(strncmp(name, "rejecter:", 9), 0, "plug-in %s", name);
    w->vetoed = name + 9;
    return VOL_EXTENDER;
}

static int callback_of(const char *name)
{
    static const char *const names[] = {"queueOrder",   "jobOrder",    "taskOrder",   "jobReady",
                                        "jobPipelined", "jobStarving", "jobEnqueued", "allocatable",
                                        "overused",     "preemptable", "reclaimable", "preemptive",
                                        "predicate",    "nodeOrder"};
    for (int i = 0; i < 14; i++)
        if (strcmp(name, names[i]) == 0)
            return 1 << i;
    cr_assert_fail("callback %s", name);
    return 0;
}

static bool vetoed(const void *context, int32_t job)
{
    const struct vol_world *w = context;
    return strcmp(strchr(w->job[job], '/') + 1, w->vetoed) == 0;
}

static void load_config(struct vol_world *w, const json_t *scenario)
{
    size_t t, p, c;
    json_t *tier, *plugin, *callback;
    const json_t *weights = json_object_get(scenario, "nodeorder_weights");
    w->config = (struct vol_config){.weights = {.least = number(weights, "least", 1),
                                                .most = number(weights, "most", 0),
                                                .balanced = number(weights, "balanced", 1)},
                                    .overcommit_factor = 1.2,
                                    .veto = vetoed,
                                    .veto_context = w};
    json_array_foreach(json_object_get(scenario, "tiers"), t, tier)
    {
        json_array_foreach(tier, p, plugin)
        {
            struct vol_use *use = &w->config.use[w->config.n_uses++];
            *use = (struct vol_use){plugin_of(w, text(plugin, "plugin", "?")), (int)t, 0};
            json_array_foreach(json_object_get(plugin, "enabled"), c, callback)
            {
                use->on |= callback_of(json_string_value(callback));
            }
        }
    }
}

/* "namespace/name". */
static const char *full_name(struct vol_world *w, const json_t *job, const json_t *named)
{
    char name[128];
    snprintf(name, sizeof name, "%s/%s", text(job, "namespace", "ns"), text(named, "name", "?"));
    return arena_text(&w->arena, name, strlen(name));
}

/* The only label, or selector, as text; NULL for none. */
static const char *label_of(const json_t *labels)
{
    void *at = json_object_iter((json_t *)(uintptr_t)labels);
    return at == NULL ? NULL : json_string_value(json_object_iter_value(at));
}

/* Nodes with the same label have one number, the first such node's. */
static int32_t label_id(const json_t *nodes, const char *label)
{
    size_t i;
    json_t *node;
    json_array_foreach(nodes, i, node)
    {
        const char *its = label_of(json_object_get(node, "labels"));
        if (its == NULL ? label == NULL : label != NULL && strcmp(its, label) == 0)
            break;
    }
    return (int32_t)i;
}

static void load_nodes(struct vol_world *w, const json_t *nodes)
{
    size_t i;
    json_t *node;
    w->node = arena_alloc(&w->arena, json_array_size(nodes), sizeof *w->node);
    json_array_foreach(nodes, i, node)
    {
        struct amounts size = amounts_of(node, 0, number(node, "pods", 10));
        const char *label = label_of(json_object_get(node, "labels"));
        w->node[i] = text(node, "name", "?");
        vol_nodes_size(&w->s.nodes, (int32_t)i, &size, label_id(nodes, label));
    }
}

static void load_queues(struct vol_world *w, const json_t *queues)
{
    size_t i;
    json_t *queue;
    w->queue = arena_alloc(&w->arena, json_array_size(queues), sizeof *w->queue);
    json_array_foreach(queues, i, queue)
    {
        w->queue[i] = text(queue, "name", "?");
        cr_assert(i == 0 || strcmp(w->queue[i - 1], w->queue[i]) < 0, "queues in order of name");
        const json_t *capability = json_object_get(queue, "capability");
        w->s.queue[i] = (struct vol_queue){
            .weight = number(queue, "weight", 1),
            .priority = (int32_t)number(queue, "priority", 0),
            .open = strcmp(text(queue, "state", "Open"), "Open") == 0,
            .reclaimable = truth(queue, "reclaimable", true),
            .capability = amounts_of(capability, INFINITY, number(capability, "pods", INFINITY)),
            .guarantee = amounts_of(json_object_get(queue, "guarantee"), 0, 0)};
    }
}

static int32_t find(const char *const *names, int32_t n, const char *name)
{
    for (int32_t i = 0; i < n; i++)
        if (strcmp(names[i], name) == 0)
            return i;
    cr_assert_fail("no %s", name);
    return -1;
}

/* In the order of placement: by priority where it orders, then name. */
static int by_order(const void *a, const void *b, void *with_priority)
{
    const json_t *x = *(json_t *const *)a, *y = *(json_t *const *)b;
    double p = number(x, "priority", 0), q = number(y, "priority", 0);
    if (*(const bool *)with_priority && (p < q || q < p))
        return p > q ? -1 : 1;
    return strcmp(text(x, "name", "?"), text(y, "name", "?"));
}

/* The task rows of a job from row on; returns the row after them. */
static int32_t load_tasks(struct vol_world *w, const json_t *scenario, const json_t *job,
                          int32_t row)
{
    const json_t *tasks = json_object_get(job, "tasks");
    bool priority = vol_on(&w->config, VOL_PRIORITY) & VOL_ON_TASK_ORDER;
    int32_t n = (int32_t)json_array_size(tasks);
    int32_t *its_priority = (int32_t *)(uintptr_t)w->s.task_priority;
    bool *kept = (bool *)(uintptr_t)w->s.task_kept, *meek = (bool *)(uintptr_t)w->s.task_meek;
    for (int32_t i = 0; i < n; i++)
        w->from[row + i] = json_array_get(tasks, (size_t)i);
    qsort_r(w->from + row, (size_t)n, sizeof *w->from, by_order, &priority);
    for (int32_t end = row + n; row < end; row++) {
        const json_t *task = w->from[row];
        w->task[row] = full_name(w, job, task);
        w->s.task_ask[row] = row;
        const char *selects = label_of(json_object_get(task, "node_selector"));
        int32_t label = label_id(json_object_get(scenario, "nodes"), selects);
        w->s.ask[row] =
            (struct vol_ask){.amounts = amounts_of(task, 0, 1),
                             .labels = selects == NULL ? VOL_ANY_LABEL : UINT64_C(1) << label};
        its_priority[row] = (int32_t)number(task, "priority", 0);
        kept[row] = !truth(task, "preemptable", true);
        meek[row] = truth(task, "preemption_never", false);
    }
    return row;
}

/* Role names of all jobs' minima, as numbers. */
static void load_roles(struct vol_world *w, const json_t *jobs, int32_t n_tasks)
{
    enum { ROLES_MAX = 8 };
    const char *name[ROLES_MAX], *key;
    int32_t n = 0;
    size_t j;
    json_t *job, *min;
    json_array_foreach(jobs, j, job)
    {
        json_object_foreach(json_object_get(job, "min_task_member"), key, min)
        {
            cr_assert_lt(n, ROLES_MAX);
            name[n++] = key;
        }
    }
    if (n == 0)
        return;
    int32_t *role = arena_alloc(&w->arena, (size_t)n_tasks, sizeof *role);
    int32_t *least = arena_alloc(&w->arena, json_array_size(jobs) * (size_t)n, sizeof *least);
    json_array_foreach(jobs, j, job)
    {
        json_object_foreach(json_object_get(job, "min_task_member"), key, min)
        {
            least[(int32_t)j * n + find(name, n, key)] = (int32_t)json_integer_value(min);
        }
    }
    for (int32_t k = 0; k < n_tasks; k++) {
        const char *its = text(w->from[k], "role", "");
        role[k] = its[0] == '\0' ? -1 : find(name, n, its);
    }
    w->roles = (struct vol_roles){n, role, least};
    w->s.roles = &w->roles;
}

static int32_t count_tasks(const json_t *jobs)
{
    size_t j, n = 0;
    json_t *job;
    json_array_foreach(jobs, j, job) { n += json_array_size(json_object_get(job, "tasks")); }
    return (int32_t)n;
}

/* Each job is a shape of its own. */
static void load_jobs(struct vol_world *w, const json_t *scenario, const json_t *jobs)
{
    size_t j;
    json_t *job;
    int32_t row = 0;
    json_array_foreach(jobs, j, job)
    {
        const json_t *min = json_object_get(job, "min_resources");
        w->job[j] = full_name(w, job, job);
        w->s.job_shape[j] = (int32_t)j;
        w->s.shape[j] =
            (struct vol_shape){.queue = find(w->queue, w->s.size.n_queues, text(job, "queue", "?")),
                               .priority = (int32_t)number(job, "priority", 0),
                               .min_available = (int32_t)number(job, "min_available", 1),
                               .has_min = json_is_object(min)};
        if (json_is_object(min))
            w->s.shape[j].min_resources = amounts_of(min, 0, 0);
        w->s.task_begin[j] = row;
        row = load_tasks(w, scenario, job, row);
        w->s.task_begin[j + 1] = row;
    }
    /* creation is the same second for all: the order is that of the names */
    for (int32_t a = 0; a < w->s.size.n_jobs; a++) {
        w->s.job_rank[a] = 0;
        for (int32_t b = 0; b < w->s.size.n_jobs; b++)
            w->s.job_rank[a] += strcmp(w->job[b], w->job[a]) < 0;
    }
}

void vol_world_load(struct vol_world *w, const json_t *scenario, const json_t *jobs)
{
    *w = (struct vol_world){0};
    load_config(w, scenario);
    int32_t n_jobs = (int32_t)json_array_size(jobs), n_tasks = count_tasks(jobs);
    struct vol_sizes size = {
        .n_nodes = (int32_t)json_array_size(json_object_get(scenario, "nodes")),
        .n_queues = (int32_t)json_array_size(json_object_get(scenario, "queues")),
        .n_shapes = n_jobs,
        .n_jobs = n_jobs,
        .n_tasks = n_tasks,
        .n_asks = n_tasks};
    cr_assert(vol_state_init(&w->s, &w->config, &size, true, &w->arena));
    w->job = arena_alloc(&w->arena, (size_t)n_jobs, sizeof *w->job);
    w->task = arena_alloc(&w->arena, (size_t)n_tasks, sizeof *w->task);
    w->from = arena_alloc(&w->arena, (size_t)n_tasks, sizeof *w->from);
    w->s.task_priority = arena_alloc(&w->arena, (size_t)n_tasks, sizeof(int32_t));
    w->s.task_kept = arena_alloc(&w->arena, (size_t)n_tasks, sizeof(bool));
    w->s.task_meek = arena_alloc(&w->arena, (size_t)n_tasks, sizeof(bool));
    load_nodes(w, json_object_get(scenario, "nodes"));
    load_queues(w, json_object_get(scenario, "queues"));
    load_jobs(w, scenario, jobs);
    load_roles(w, jobs, n_tasks);
    cr_assert(vol_state_begin(&w->s, &w->arena));
}

static enum vol_phase phase_of(const char *name)
{
    static const char *const names[] = {"Pending", "Inqueue", "Running"};
    return (enum vol_phase)(VOL_PENDING + find(names, 3, name));
}

void vol_world_come(struct vol_world *w, const json_t *jobs, int first, int end)
{
    for (int32_t j = first; j < end; j++) {
        const json_t *job = json_array_get(jobs, (size_t)j);
        vol_job_comes(&w->s, j, phase_of(text(job, "phase", "Pending")));
        for (int32_t k = w->s.task_begin[j]; k < w->s.task_begin[j + 1]; k++) {
            const json_t *task = w->from[k];
            bool runs = strcmp(text(task, "status", "Pending"), "Running") == 0;
            vol_pod(&w->s, k, runs ? VOL_BOUND : VOL_WAITING,
                    runs ? find(w->node, w->s.size.n_nodes, text(task, "node", "?")) : -1);
        }
    }
    cr_assert(vol_state_valid(&w->s));
}

static void act(struct vol_state *s, const char *action)
{
    static const char *const names[] = {"enqueue", "allocate", "backfill", "preempt", "reclaim"};
    static void (*const actions[])(struct vol_state *) = {vol_enqueue, vol_allocate, vol_backfill,
                                                          vol_preempt, vol_reclaim};
    actions[find(names, 5, action)](s);
}

/* Every name of the expected list is among those found, and nothing else. */
static void compare(const char *what, const json_t *expected, json_t *found, char why[512])
{
    char *want = json_dumps(expected, JSON_SORT_KEYS | JSON_ENCODE_ANY);
    char *have = json_dumps(found, JSON_SORT_KEYS | JSON_ENCODE_ANY);
    if (why[0] == '\0' && strcmp(want, have) != 0)
        snprintf(why, 512, "%s: %s, expected %s", what, have, want);
    free(want);
    free(have);
    json_decref(found);
}

/* A list of names as an object, so that order does not count. */
static json_t *set_of(const json_t *list)
{
    json_t *set = json_object(), *name;
    size_t i;
    json_array_foreach(list, i, name)
    {
        json_object_set_new(set, json_string_value(name), json_true());
    }
    return set;
}

static json_t *evicted(const struct vol_world *w)
{
    json_t *set = json_object();
    for (int32_t i = 0; i < w->s.n_evicted; i++)
        json_object_set_new(set, w->task[w->s.evicted[i]], json_true());
    return set;
}

/* The nodes promised to tasks of the jobs that are expected to have been promised any. */
static json_t *pipelined(const struct vol_world *w, const json_t *expected)
{
    json_t *found = json_object();
    for (int32_t j = 0; j < w->s.size.n_jobs; j++) {
        json_t *nodes = json_array();
        for (int32_t k = w->s.task_begin[j]; k < w->s.task_begin[j + 1]; k++)
            if (w->s.status[k] == VOL_PIPELINED)
                json_array_append_new(nodes, json_string(w->node[w->s.task_node[k]]));
        if (json_array_size(nodes) > 0 || json_object_get(expected, w->job[j]) != NULL)
            json_object_set(found, w->job[j], nodes);
        json_decref(nodes);
    }
    return found;
}

/* Tasks bound by this session: on a node now, and waiting when it began. */
static json_t *binds(const struct vol_world *w, const bool *waited)
{
    json_t *found = json_object();
    for (int32_t k = 0; k < w->s.size.n_tasks; k++)
        if (waited[k] && w->s.status[k] == VOL_BOUND)
            json_object_set_new(found, w->task[k], json_string(w->node[w->s.task_node[k]]));
    return found;
}

static json_t *phases(const struct vol_world *w, const json_t *expected)
{
    static const char *const names[] = {"Absent", "Pending", "Inqueue", "Running"};
    json_t *found = json_object();
    for (int32_t j = 0; j < w->s.size.n_jobs; j++)
        if (json_object_get(expected, w->job[j]) != NULL)
            json_object_set_new(found, w->job[j], json_string(names[w->s.phase[j]]));
    return found;
}

void vol_world_run(struct vol_world *w, const json_t *actions, const json_t *expect, char why[512])
{
    size_t i;
    json_t *action;
    bool *waited = arena_alloc(&w->arena, (size_t)w->s.size.n_tasks, sizeof *waited);
    for (int32_t k = 0; k < w->s.size.n_tasks; k++)
        waited[k] = w->s.status[k] == VOL_WAITING;
    why[0] = '\0';
    vol_session_open(&w->s);
    json_array_foreach(actions, i, action)
    {
        act(&w->s, json_string_value(action));
        cr_assert(vol_state_valid(&w->s), "after %s", json_string_value(action));
    }
    const json_t *want;
    if ((want = json_object_get(expect, "evicted")) != NULL) {
        json_t *set = set_of(want);
        compare("evicted", set, evicted(w), why);
        json_decref(set);
    }
    if ((want = json_object_get(expect, "pipelined")) != NULL)
        compare("pipelined", want, pipelined(w, want), why);
    vol_session_close(&w->s);
    cr_assert(vol_state_valid(&w->s));
    if (json_is_object(want = json_object_get(expect, "binds")))
        compare("binds", want, binds(w, waited), why);
    if ((want = json_object_get(expect, "phases")) != NULL)
        compare("phases", want, phases(w, want), why);
}

void vol_world_free(struct vol_world *w) { arena_free(&w->arena); }

void vol_scenario_run(const json_t *scenario, char why[512])
{
    struct vol_world w;
    const json_t *jobs = json_object_get(scenario, "jobs");
    vol_world_load(&w, scenario, jobs);
    vol_world_come(&w, jobs, 0, (int)json_array_size(jobs));
    vol_world_run(&w, json_object_get(scenario, "actions"), json_object_get(scenario, "expect"),
                  why);
    vol_world_free(&w);
}

json_t *vol_scenario_of(const char *text_)
{
    json_error_t error;
    size_t n = strlen(text_);
    char *copy = malloc(n + 1);
    for (size_t i = 0; i <= n; i++)
        copy[i] = text_[i] == '\'' ? '"' : text_[i];
    json_t *scenario = json_loads(copy, 0, &error);
    cr_assert_not_null(scenario, "%s at %d of %s", error.text, error.position, copy);
    free(copy);
    return scenario;
}
