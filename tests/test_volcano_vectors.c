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
