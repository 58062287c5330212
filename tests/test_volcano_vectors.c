/* Volcano's own tests, as scenarios: see design/systems.md of the reference data, section 2. */
#include "policies/volcano/vol_allocate.h"
#include "policies/volcano/vol_enqueue.h"
#include "tests/leak.h"
#include "tests/shared.h"
#include "tests/vol_world.h"

#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

TestSuite(volcano_vectors, .fini = abort_on_leak);

static double number(const json_t *object, const char *key)
{
    return json_number_value(json_object_get(object, key));
}

static const char *text(const json_t *object, const char *key)
{
    return json_string_value(json_object_get(object, key));
}

static struct amounts cpu_mem(const json_t *object)
{
    return (struct amounts){
        {[AMOUNT_CPU] = number(object, "cpu_m"), [AMOUNT_MEM] = number(object, "mem_B")}};
}

/* Two sessions with the same state: what the first binds is on its node in the second. */
static void run_two_cycles(const json_t *v, char why[512])
{
    struct vol_world w;
    const json_t *one = json_object_get(v, "cycle1"), *two = json_object_get(v, "cycle2");
    json_t *jobs = json_copy(json_object_get(one, "jobs"));
    int n = (int)json_array_size(jobs);
    json_array_extend(jobs, json_object_get(two, "add_jobs"));
    vol_world_load(&w, v, jobs);
    vol_world_come(&w, jobs, 0, n);
    const json_t *cycle[] = {one, two};
    int32_t bound = 0;
    why[0] = '\0';
    for (int i = 0; i < 2 && why[0] == '\0'; i++) {
        const json_t *expect = json_object_get(json_object_get(cycle[i], "expect"), "binds");
        bound += (int32_t)json_array_size(expect);
        if (i == 1)
            vol_world_come(&w, jobs, n, (int)json_array_size(jobs));
        vol_world_run(&w, json_object_get(cycle[i], "actions"), NULL, why);
        int32_t found = 0;
        for (int32_t k = 0; k < w.s.size.n_tasks; k++)
            found += w.s.status[k] == VOL_BOUND;
        for (size_t e = 0; e < json_array_size(expect); e++)
            for (int32_t k = 0; k < w.s.size.n_tasks; k++)
                if (strcmp(w.task[k], json_string_value(json_array_get(expect, e))) == 0 &&
                    w.s.status[k] != VOL_BOUND)
                    snprintf(why, 512, "cycle %d does not bind %s", i + 1, w.task[k]);
        if (found != bound)
            snprintf(why, 512, "cycle %d: %d bound in all, expected %d", i + 1, found, bound);
    }
    vol_world_free(&w);
    json_decref(jobs);
}

/* Asked once more after its minimum was counted one time less than that. */
static void run_enqueue_check(const json_t *v, char why[512])
{
    const json_t *asked = json_object_get(v, "min_resources");
    struct amounts total = cpu_mem(json_object_get(v, "total"));
    struct amounts used = cpu_mem(json_object_get(v, "used")), inqueue = {{0}};
    bool expected = json_is_true(json_object_get(v, "expect")), admits = true;
    struct amounts min = cpu_mem(asked);
    for (int i = 1; json_is_object(asked) && i < (int)number(v, "times_counted"); i++)
        amounts_add(&inqueue, &min, 1);
    admits = vol_overcommit_admits(number(v, "factor"), &total, &used, &inqueue, &min);
    if (admits != expected)
        snprintf(why, 512, "admits: %d", admits);
}

static struct amounts by_name(const json_t *object)
{
    return (struct amounts){{[AMOUNT_CPU] = number(object, "cpu"),
                             [AMOUNT_MEM] = number(object, "mem"),
                             [AMOUNT_GPU] = number(object, "gpu"),
                             [AMOUNT_OTHER] = number(object, "foo")}};
}

static void run_node_score(const json_t *v, char why[512])
{
    const json_t *weights = json_object_get(v, "weights"), *nodes = json_object_get(v, "nodes");
    struct amounts pack = by_name(weights);
    const char *name;
    json_t *task, *node;
    size_t i;
    json_object_foreach(json_object_get(v, "tasks"), name, task)
    {
        json_array_foreach(nodes, i, node)
        {
            struct amounts size = by_name(json_object_get(node, "alloc"));
            struct amounts used = by_name(json_object_get(node, "used")), ask = by_name(task);
            double score =
                number(weights, "plugin") * vol_score_binpack(pack.of, &size, &used, &ask);
            double expected =
                number(json_object_get(json_object_get(v, "expect"), name), text(node, "name"));
            if (fabs(score - expected) > number(v, "tolerance"))
                snprintf(why, 512, "%s on %s: %.9f, expected %.9f", name, text(node, "name"), score,
                         expected);
        }
    }
}

static void run_device_pick(const json_t *v, char why[512])
{
    const json_t *request = json_object_get(v, "request"), *card = json_object_get(v, "card");
    struct vgpu_ask ask = {.n = (int32_t)number(request, "count"),
                           .mem = (int32_t)number(request, "mem_MiB"),
                           .cores = (int32_t)number(request, "cores")};
    size_t i, c;
    json_t *one, *used;
    json_array_foreach(json_object_get(v, "cases"), i, one)
    {
        struct vgpu_card cards[8] = {{0}};
        int32_t n = 0, picked = -1;
        json_array_foreach(json_object_get(one, "cards"), c, used)
        {
            cards[n++] = (struct vgpu_card){.mem = (int32_t)number(card, "mem_MiB"),
                                            .max_shares = (int32_t)number(card, "max_shares"),
                                            .used_mem = (int32_t)number(used, "used_mem"),
                                            .shares = (int32_t)number(used, "shares")};
        }
        const char *policy = text(one, "policy");
        bool found = vgpu_pick(policy[0] == 'b'   ? VGPU_BINPACK
                               : policy[0] == 's' ? VGPU_SPREAD
                                                  : VGPU_UNSET,
                               cards, n, &ask, NULL, &picked);
        if (!found || picked != (int32_t)number(one, "expect"))
            snprintf(why, 512, "%s: card %d", policy, picked);
    }
}

/* Pods of the given groups one after another on so many cards of a node; the cards they get, -1 for
 * none, written to got. */
static void put_pods(const json_t *card, int n_cards, const char *const *group, int n_pods,
                     bool spread, int32_t *got)
{
    struct vgpu_card cards[8] = {{0}};
    const struct vgpu_ask ask = {.n = 1, .mem = 4096, .cores = 25};
    for (int c = 0; c < n_cards; c++)
        cards[c] = (struct vgpu_card){.mem = (int32_t)number(card, "mem_MiB"),
                                      .max_shares = (int32_t)number(card, "max_shares")};
    for (int i = 0; i < n_pods; i++) {
        bool barred[8] = {false};
        for (int k = 0; k < i; k++)
            if (spread && strcmp(group[k], group[i]) == 0)
                barred[got[k]] = true;
        if (vgpu_pick(VGPU_BINPACK, cards, n_cards, &ask, barred, &got[i]))
            vgpu_take(&cards[got[i]], &ask, 1);
        else
            got[i] = -1;
    }
}

static void run_device_sequence(const json_t *v, char why[512])
{
    static const char *const alone[] = {"a", "b", "c"};
    const json_t *card = json_object_get(v, "card");
    int32_t got[4];
    size_t i;
    json_t *one;
    if (json_object_get(v, "requests") != NULL) {
        put_pods(card, (int)number(v, "cards"), alone, 3, false, got);
        if (got[0] != got[1] || got[1] != got[2])
            snprintf(why, 512, "cards %d %d %d", got[0], got[1], got[2]);
    }
    json_array_foreach(json_object_get(v, "cases"), i, one)
    {
        const json_t *groups = json_object_get(one, "groups");
        const char *group[] = {json_string_value(json_array_get(groups, 0)),
                               json_string_value(json_array_get(groups, 1))};
        put_pods(card, (int)number(one, "cards"), group, 2, true, got);
        const char *is = got[1] < 0         ? "second rejected"
                         : got[0] == got[1] ? "same card"
                                            : "different cards";
        if (strcmp(is, text(one, "expect")) != 0)
            snprintf(why, 512, "%s, expected %s", is, text(one, "expect"));
    }
}

static void run_device_score(const json_t *v, char why[512])
{
    size_t i;
    json_t *one;
    json_array_foreach(json_object_get(v, "cases"), i, one)
    {
        struct vgpu_card card = {.mem = (int32_t)number(one, "mem"),
                                 .used_mem = (int32_t)number(one, "used"),
                                 .shares = (int32_t)number(one, "shares")};
        const char *policy = text(one, "policy");
        double score = vgpu_score(policy[0] == 'b'   ? VGPU_BINPACK
                                  : policy[0] == 's' ? VGPU_SPREAD
                                                     : VGPU_UNSET,
                                  &card);
        if (fabs(score - number(one, "expect")) > 1e-9)
            snprintf(why, 512, "case %zu: %g", i, score);
    }
}

/* Tasks named "JOB:PRIORITY" of every job, those that ask for nothing and those that do not. */
static json_t *jobs_in_order(const json_t *input)
{
    json_t *jobs = json_array(), *job, *priority;
    size_t i, k;
    json_array_foreach(input, i, job)
    {
        const char *name = text(job, "job");
        json_t *tasks = json_array();
        json_array_foreach(json_object_get(job, "task_priorities_best_effort"), k, priority)
        {
            int p = (int)json_integer_value(priority);
            json_array_append_new(tasks, json_pack("{s:o, s:i}", "name",
                                                   json_sprintf("%s:%d", name, p), "priority", p));
        }
        json_array_foreach(json_object_get(job, "task_priorities_with_request"), k, priority)
        {
            int p = (int)json_integer_value(priority);
            json_array_append_new(tasks, json_pack("{s:o, s:i, s:i}", "name",
                                                   json_sprintf("%s-asks:%d", name, p), "priority",
                                                   p, "cpu_m", 1));
        }
        json_array_append_new(jobs,
                              json_pack("{s:s, s:s, s:s, s:i, s:i, s:o}", "name", name, "queue",
                                        "q", "phase", "Inqueue", "min_available", 0, "priority",
                                        (int)number(job, "job_priority"), "tasks", tasks));
    }
    return jobs;
}

/* With so many slots for pods, backfill places exactly the first so many. */
static void run_order(const json_t *v, char why[512])
{
    const json_t *expect = json_object_get(v, "expect");
    json_t *jobs = jobs_in_order(json_object_get(v, "input")), *binds = json_object();
    int n = (int)json_array_size(expect);
    why[0] = '\0';
    for (int slots = 1; slots <= n && why[0] == '\0'; slots++) {
        char name[32];
        snprintf(name, sizeof name, "ns/%s",
                 json_string_value(json_array_get(expect, (size_t)slots - 1)));
        json_object_set_new(binds, name, json_string("n"));
        json_t *scenario = json_pack(
            "{s:[[{s:s, s:[s, s]}]], s:[s], s:[{s:s, s:i, s:i}], s:[{s:s}], s:O, s:{s:O}}", "tiers",
            "plugin", "priority", "enabled", "jobOrder", "taskOrder", "actions", "backfill",
            "nodes", "name", "n", "pods", slots, "cpu_m", 1000, "queues", "name", "q", "jobs", jobs,
            "expect", "binds", binds);
        cr_assert_not_null(scenario);
        vol_scenario_run(scenario, why);
        json_decref(scenario);
    }
    json_decref(jobs);
    json_decref(binds);
}

/* The score of a node with so many GPUs in use by pods like the one to come. */
static double node_total(const json_t *v, enum vol_profile profile, enum vol_balanced how, int used)
{
    struct vol_config config;
    struct vol_nodes nodes;
    struct arena arena = {0};
    const json_t *node = json_object_get(v, "node"), *pod = json_object_get(v, "pod");
    struct amounts size = cpu_mem(node);
    struct vol_ask ask = {.amounts = cpu_mem(pod), .labels = VOL_ANY_LABEL};
    size.of[AMOUNT_GPU] = number(node, "gpu");
    ask.amounts.of[AMOUNT_GPU] = number(pod, "gpu");
    vol_profile(profile, 0, &config);
    struct vol_liking liking = {.weights = config.weights};
    liking.weights.how = how;
    if (!(vol_on(&config, VOL_BINPACK) & VOL_ON_NODE_ORDER))
        liking.weights.binpack = 0;
    cr_assert(vol_nodes_init(&nodes, 1, NULL, &arena));
    vol_nodes_size(&nodes, 0, &size, 0);
    vol_nodes_take(&nodes, 0, &ask.amounts, used);
    double score = vol_liked(&nodes, &liking, &ask, 0);
    arena_free(&arena);
    return score;
}

static void run_node_total(const json_t *v, char why[512])
{
    const char *name;
    json_t *row;
    json_object_foreach(json_object_get(v, "expect"), name, row)
    {
        enum vol_balanced how =
            strncmp(name, "k8s1.36", 7) == 0 ? VOL_BALANCED_1_36 : VOL_BALANCED_OLD;
        enum vol_profile profile = strstr(name, "gpu10") != NULL  ? VOL_HELM_GPUBINPACK
                                   : strstr(name, "helm") != NULL ? VOL_HELM
                                                                  : VOL_COMPILED;
        cr_assert_eq(json_array_size(row), 8);
        for (int used = 0; used < 8; used++) {
            double score = node_total(v, profile, how, used);
            double expected = json_number_value(json_array_get(row, (size_t)used));
            if (fabs(score - expected) > 5e-4)
                snprintf(why, 512, "%s, %d used: %.4f, expected %.4f", name, used, score, expected);
        }
    }
}

static const struct {
    const char *kind;
    void (*run)(const json_t *v, char why[512]);
} kinds[] = {
    {"session", vol_scenario_run},
    {"two_cycle", run_two_cycles},
    {"enqueue_check", run_enqueue_check},
    {"node_score", run_node_score},
    {"order", run_order},
    {"device_pick", run_device_pick},
    {"device_sequence", run_device_sequence},
    {"device_score", run_device_score},
    {"node_total", run_node_total},
};

/* A few of them written out, for where the file is not there. What is left out is as in
 * vol_world.h. */
static const char *const written_out[] = {
    /* V02: each queue is due half, so one task of each */
    "{'tiers': [[{'plugin': 'gang', 'enabled': ['jobOrder', 'jobReady', 'jobPipelined']},"
    "  {'plugin': 'drf', 'enabled': ['jobOrder']},"
    "  {'plugin': 'proportion', 'enabled': ['queueOrder', 'allocatable']}]],"
    " 'actions': ['allocate'], 'nodes': [{'name': 'n', 'cpu_m': 2000, 'mem_B': 4e9}],"
    " 'queues': [{'name': 'c1'}, {'name': 'c2'}],"
    " 'jobs': [{'name': 'j1', 'queue': 'c1', 'min_available': 0, 'phase': 'Inqueue', 'tasks': ["
    "   {'name': 'a', 'cpu_m': 1000, 'mem_B': 1e9}, {'name': 'b', 'cpu_m': 1000, 'mem_B': 1e9}]},"
    "  {'name': 'j2', 'queue': 'c2', 'min_available': 0, 'phase': 'Inqueue', 'tasks': ["
    "   {'name': 'c', 'cpu_m': 1000, 'mem_B': 1e9}, {'name': 'd', 'cpu_m': 1000, 'mem_B': 1e9}]}],"
    " 'expect': {'binds': {'ns/a': 'n', 'ns/c': 'n'}}}",
    /* V04: two masters are needed and one finds a place: nothing is bound */
    "{'tiers': [[{'plugin': 'gang', 'enabled': ['jobReady', 'jobPipelined']},"
    "  {'plugin': 'predicates', 'enabled': ['predicate']}]], 'actions': ['allocate'],"
    " 'nodes': [{'name': 'm', 'cpu_m': 1000, 'labels': {'role': 'master'}},"
    "  {'name': 'w', 'cpu_m': 2000, 'labels': {'role': 'worker'}}], 'queues': [{'name': 'q'}],"
    " 'jobs': [{'name': 'j', 'queue': 'q', 'min_available': 2, 'phase': 'Inqueue',"
    "  'min_task_member': {'master': 2, 'worker': 0}, 'tasks': ["
    "   {'name': 'a', 'role': 'master', 'cpu_m': 1000, 'node_selector': {'role': 'master'}},"
    "   {'name': 'b', 'role': 'master', 'cpu_m': 1000, 'node_selector': {'role': 'master'}},"
    "   {'name': 'c', 'role': 'worker', 'cpu_m': 1000, 'node_selector': {'role': 'worker'}},"
    "   {'name': 'd', 'role': 'worker', 'cpu_m': 1000, 'node_selector': {'role': 'worker'}}]}],"
    " 'expect': {'binds': {}}}",
    /* D02: 9 GPUs are within 1.2 x 8, but one queue may have 8 */
    "{'tiers': [[{'plugin': 'overcommit', 'enabled': ['jobEnqueued']},"
    "  {'plugin': 'proportion', 'enabled': ['jobEnqueued']}]], 'actions': ['enqueue'],"
    " 'nodes': [{'name': 'n', 'cpu_m': 128000, 'mem_B': 1e12, 'scalars': {'gpu': 8}}],"
    " 'queues': [{'name': 'q'}],"
    " 'jobs': [{'name': 'a', 'queue': 'q', 'min_resources': {'gpu': 8}, 'tasks': ["
    "   {'name': 'a', 'scalars': {'gpu': 8}}]},"
    "  {'name': 'b', 'queue': 'q', 'min_resources': {'gpu': 1}, 'tasks': ["
    "   {'name': 'b', 'scalars': {'gpu': 1}}]}],"
    " 'expect': {'phases': {'ns/a': 'Inqueue', 'ns/b': 'Pending'}}}",
    /* V27: whatever is evicted, the queue may not have 4: nobody goes */
    "{'tiers': [[{'plugin': 'gang', 'enabled': ['preemptable', 'jobPipelined', 'jobStarving']},"
    "  {'plugin': 'priority', 'enabled': ['jobOrder', 'preemptable', 'jobStarving']},"
    "  {'plugin': 'proportion', 'enabled': ['allocatable', 'overused', 'queueOrder']}]],"
    " 'actions': ['preempt'], 'nodes': [{'name': 'n', 'cpu_m': 10000, 'mem_B': 1e10}],"
    " 'queues': [{'name': 'q', 'capability': {'cpu_m': 3000, 'mem_B': 3e9}}],"
    " 'jobs': [{'name': 'j1', 'queue': 'q', 'phase': 'Inqueue', 'priority': 10, 'tasks': ["
    "   {'name': 'a', 'cpu_m': 1000, 'mem_B': 1e9, 'status': 'Running', 'node': 'n'},"
    "   {'name': 'b', 'cpu_m': 1000, 'mem_B': 1e9, 'status': 'Running', 'node': 'n'}]},"
    "  {'name': 'j2', 'queue': 'q', 'phase': 'Inqueue', 'priority': 100, 'tasks': ["
    "   {'name': 'c', 'cpu_m': 4000, 'mem_B': 4e9}]}], 'expect': {'evicted': []}}",
    /* V31: of two queues beyond their due the one of lower priority loses */
    "{'tiers': [[{'plugin': 'conformance', 'enabled': ['reclaimable']},"
    "  {'plugin': 'gang', 'enabled': ['reclaimable', 'jobStarving']},"
    "  {'plugin': 'proportion', 'enabled': ['reclaimable', 'queueOrder', 'preemptive']}]],"
    " 'actions': ['reclaim'], 'nodes': [{'name': 'n', 'cpu_m': 4000, 'mem_B': 4294967296}],"
    " 'queues': [{'name': 'q1', 'priority': 5}, {'name': 'q2', 'priority': 10},"
    "  {'name': 'q3', 'priority': 1}],"
    " 'jobs': [{'name': 'j1', 'queue': 'q1', 'phase': 'Inqueue', 'tasks': ["
    "   {'name': 'a', 'cpu_m': 1000, 'mem_B': 1e9, 'status': 'Running', 'node': 'n'},"
    "   {'name': 'b', 'cpu_m': 1000, 'mem_B': 1e9, 'status': 'Running', 'node': 'n',"
    "    'preemptable': false}]},"
    "  {'name': 'j2', 'queue': 'q2', 'phase': 'Inqueue', 'tasks': ["
    "   {'name': 'c', 'cpu_m': 1000, 'mem_B': 1e9, 'status': 'Running', 'node': 'n'},"
    "   {'name': 'd', 'cpu_m': 1000, 'mem_B': 1e9, 'status': 'Running', 'node': 'n',"
    "    'preemptable': false}]},"
    "  {'name': 'j3', 'queue': 'q3', 'phase': 'Inqueue', 'tasks': ["
    "   {'name': 'e', 'cpu_m': 1000, 'mem_B': 1e9}]}], 'expect': {'evicted': ['ns/a']}}",
    /* V34: the task of lowest priority goes, and the newcomer is only promised its node */
    "{'tiers': [[{'plugin': 'priority', 'enabled': ['taskOrder', 'jobOrder', 'preemptable',"
    "   'jobStarving']}]], 'actions': ['allocate', 'preempt'],"
    " 'nodes': [{'name': 'n1', 'cpu_m': 6000, 'mem_B': 6e9},"
    "  {'name': 'n2', 'cpu_m': 2000, 'mem_B': 2e9}], 'queues': [{'name': 'q'}],"
    " 'jobs': [{'name': 'j1', 'queue': 'q', 'phase': 'Inqueue', 'priority': 100, 'tasks': ["
    "   {'name': 'a', 'cpu_m': 3000, 'mem_B': 3e9, 'status': 'Running', 'node': 'n1'},"
    "   {'name': 'b', 'cpu_m': 3000, 'mem_B': 3e9, 'status': 'Running', 'node': 'n1',"
    "    'priority': 1}]},"
    "  {'name': 'j2', 'queue': 'q', 'phase': 'Inqueue', 'priority': 1000, 'tasks': ["
    "   {'name': 'c', 'cpu_m': 3000, 'mem_B': 3e9}]}],"
    " 'expect': {'evicted': ['ns/a'], 'pipelined': {'ns/j2': ['n1']}}}",
    /* D15: what is left of two jobs is placed in turns */
    "{'tiers': [[{'plugin': 'gang', 'enabled': ['jobOrder', 'jobReady', 'jobPipelined']},"
    "  {'plugin': 'drf', 'enabled': ['jobOrder']}]], 'actions': ['allocate'],"
    " 'nodes': [{'name': 'n', 'cpu_m': 40000, 'scalars': {'gpu': 4}}], 'queues': [{'name': 'q'}],"
    " 'jobs': [{'name': 'j1', 'queue': 'q', 'phase': 'Inqueue', 'tasks': ["
    "   {'name': 'a1', 'scalars': {'gpu': 1}}, {'name': 'a2', 'scalars': {'gpu': 1}},"
    "   {'name': 'a3', 'scalars': {'gpu': 1}}, {'name': 'a4', 'scalars': {'gpu': 1}}]},"
    "  {'name': 'j2', 'queue': 'q', 'phase': 'Inqueue', 'tasks': ["
    "   {'name': 'b1', 'scalars': {'gpu': 1}}, {'name': 'b2', 'scalars': {'gpu': 1}},"
    "   {'name': 'b3', 'scalars': {'gpu': 1}}, {'name': 'b4', 'scalars': {'gpu': 1}}]}],"
    " 'expect': {'binds': {'ns/a1': 'n', 'ns/a2': 'n', 'ns/b1': 'n', 'ns/b2': 'n'}}}",
};

Test(volcano_vectors, those_written_out_here_hold)
{
    for (size_t i = 0; i < sizeof written_out / sizeof *written_out; i++) {
        char why[512] = "";
        json_t *scenario = vol_scenario_of(written_out[i]);
        vol_scenario_run(scenario, why);
        cr_expect_str_empty(why, "%zu: %s", i, why);
        json_decref(scenario);
    }
}

/* Those of kind design_intent (V40, V41) are not run: they are about the hierarchical DRF, which is
 * not here, and upstream's own test of them cannot fail. */
Test(volcano_vectors, every_vector_that_upstream_enforces_and_every_derived_one_holds)
{
    char path[SHARED_PATH_MAX];
    if (!shared_path(path, "data/volcano/vectors.json"))
        cr_skip_test("no data/volcano/vectors.json: set COLOSIM_SHARED");
    json_error_t error;
    json_t *file = json_load_file(path, 0, &error), *v;
    cr_assert_not_null(file, "%s: %s", path, error.text);
    int n_enforced = 0, n_others = 0, n_intents = 0;
    size_t i;
    json_array_foreach(json_object_get(file, "vectors"), i, v)
    {
        char why[512] = "no such kind of vector";
        const char *kind = text(v, "kind");
        bool enforced = json_is_true(json_object_get(v, "enforced"));
        if (strcmp(kind, "design_intent") == 0) {
            cr_assert(!enforced);
            n_intents++;
            continue;
        }
        for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++)
            if (strcmp(kinds[k].kind, kind) == 0) {
                why[0] = '\0';
                kinds[k].run(v, why);
            }
        cr_expect_str_empty(why, "%s: %s", text(v, "id"), why);
        n_enforced += enforced;
        n_others += !enforced;
    }
    cr_assert_eq(n_enforced, 42);
    cr_assert_eq(n_others, 18); /* V42 and D01 .. D17 */
    cr_assert_eq(n_intents, 2);
    json_decref(file);
}
