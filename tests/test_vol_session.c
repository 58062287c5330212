/* Sessions that the vectors do not tell apart, and what must hold between sessions. */
#include "core/base/rng.h"
#include "policies/volcano/vol_allocate.h"
#include "policies/volcano/vol_enqueue.h"
#include "policies/volcano/vol_session.h"
#include "policies/volcano/vol_tasks.h"
#include "tests/leak.h"
#include "tests/vol_world.h"

#include <criterion/criterion.h>
#include <gsl/gsl_rng.h>
#include <math.h>

TestSuite(vol_session, .fini = abort_on_leak);

#define GANG          "{'plugin': 'gang', 'enabled': ['jobOrder', 'jobReady', 'jobPipelined', 'jobStarving'"
#define ONE_NODE(cpu) "'nodes': [{'name': 'n', 'cpu_m': " #cpu ", 'mem_B': 1e9}]"
#define TASK(name)    "{'name': '" name "', 'cpu_m': 1000}"
#define RUNS(name)    "{'name': '" name "', 'cpu_m': 1000, 'status': 'Running', 'node': 'n'}"

static const char *const scenarios[] = {
    /* Both masters fit and make up the minimum of two, but a worker is needed as well. */
    "{'tiers': [[" GANG "]}]], 'actions': ['allocate'], " ONE_NODE(
        2000) ", "
              "'queues': [{'name': 'q'}], 'jobs': [{'name': 'j', 'queue': 'q', 'phase': 'Inqueue', "
              "'min_available': 2, 'min_task_member': {'master': 1, 'worker': 1}, 'tasks': ["
              "{'name': 'a', 'cpu_m': 1000, 'role': 'master'}, {'name': 'b', 'cpu_m': 1000, "
              "'role': "
              "'master'}, {'name': 'c', 'cpu_m': 1000, 'role': 'worker'}]}], 'expect': {'binds': "
              "{}}}",
    /* Role minima above the job's own do not count: any two will do. */
    "{'tiers': [[" GANG "]}]], 'actions': ['allocate'], " ONE_NODE(
        2000) ", "
              "'queues': [{'name': 'q'}], 'jobs': [{'name': 'j', 'queue': 'q', 'phase': 'Inqueue', "
              "'min_available': 2, 'min_task_member': {'master': 2, 'worker': 1}, 'tasks': ["
              "{'name': 'a', 'cpu_m': 1000, 'role': 'master'}, {'name': 'b', 'cpu_m': 9000, "
              "'role': "
              "'master'}, {'name': 'c', 'cpu_m': 1000, 'role': 'worker'}]}], "
              "'expect': {'binds': {'ns/a': 'n', 'ns/c': 'n'}}}",
    /* The older job has its minimum: the other comes first. */
    "{'tiers': [[" GANG "]}]], 'actions': ['allocate'], " ONE_NODE(
        2000) ", "
              "'queues': [{'name': 'q'}], 'jobs': [{'name': 'a', 'queue': 'q', 'phase': 'Running', "
              "'tasks': [" RUNS("a1") ", " TASK(
                  "a2") "]}, {'name': 'b', 'queue': 'q', 'phase': 'Inqueue', "
                        "'tasks': [" TASK("b1") "]}], 'expect': {'binds': {'ns/b1': 'n'}}}",
    /* A queue that has all it is due of everything is out of the action. */
    "{'tiers': [[" GANG "]}, {'plugin': 'proportion', 'enabled': ['overused']}]], "
    "'actions': ['allocate'], 'nodes': [{'name': 'n', 'cpu_m': 9000, 'mem_B': 1e9, 'pods': 9}], "
    "'queues': [{'name': 'q', 'capability': {'cpu_m': 1000, 'mem_B': 0, 'pods': 1}}], "
    "'jobs': [{'name': 'a', 'queue': 'q', 'phase': 'Running', 'tasks': [" RUNS(
        "a1") "]}, "
              "{'name': 'b', 'queue': 'q', 'phase': 'Inqueue', 'tasks': [" TASK(
                  "b1") "]}], "
                        "'expect': {'binds': {}}}",
    /* reclaim never takes from the own queue. */
    "{'tiers': [[" GANG ", 'reclaimable']}]], 'actions': ['reclaim'], " ONE_NODE(
        3000) ", "
              "'queues': [{'name': 'p'}, {'name': 'q'}], 'jobs': ["
              "{'name': 'a', 'queue': 'p', 'phase': 'Running', 'tasks': [" RUNS(
                  "a1") "]}, "
                        "{'name': 'b', 'queue': 'q', 'phase': 'Running', 'tasks': [" RUNS(
                            "b1") ", " RUNS("b2") "]}, "
                                                  "{'name': 'c', 'queue': 'q', 'phase': 'Inqueue', "
                                                  "'tasks': [" TASK(
                                                      "c1") "]}], "
                                                            "'expect': {'evicted': []}}",
    /* Nor does it take from a queue that cannot be reclaimed from. */
    "{'tiers': [[" GANG ", 'reclaimable']}]], 'actions': ['reclaim'], " ONE_NODE(
        2000) ", "
              "'queues': [{'name': 'p', 'reclaimable': false}, {'name': 'q'}], 'jobs': ["
              "{'name': 'a', 'queue': 'p', 'phase': 'Running', 'tasks': [" RUNS("a1") ", " RUNS(
                  "a2") "]}, "
                        "{'name': 'c', 'queue': 'q', 'phase': 'Inqueue', 'tasks': [" TASK(
                            "c1") "]}], "
                                  "'expect': {'evicted': []}}",
    /* A job of two is starving and one of it would fit by evicting: nobody goes for half a gang. */
    "{'tiers': [[" GANG ", 'preemptable']}]], 'actions': ['preempt'], " ONE_NODE(
        2000) ", "
              "'queues': [{'name': 'q'}], 'jobs': ["
              "{'name': 'a', 'queue': 'q', 'phase': 'Running', 'tasks': [" RUNS("a1") ", " RUNS(
                  "a2") "]}, "
                        "{'name': 'b', 'queue': 'q', 'phase': 'Inqueue', 'min_available': 2, "
                        "'tasks': [" TASK("b1") ", " TASK(
                            "b2") "]}], 'expect': {'evicted': [], 'pipelined': {'ns/b': []}}}",
    /* A task that never preempts does not, whoever could go. */
    "{'tiers': [[" GANG ", 'preemptable']}]], 'actions': ['preempt'], " ONE_NODE(
        2000) ", "
              "'queues': [{'name': 'q'}], 'jobs': ["
              "{'name': 'a', 'queue': 'q', 'phase': 'Running', 'tasks': [" RUNS("a1") ", " RUNS(
                  "a2") "]}, "
                        "{'name': 'b', 'queue': 'q', 'phase': 'Inqueue', 'tasks': [{'name': 'b1', "
                        "'cpu_m': 1000, "
                        "'preemption_never': true}]}], 'expect': {'evicted': []}}",
    /* The first tier names nobody (no lower priority), so the second decides: DRF lets go of a job
     * that keeps as much as the other will have. */
    "{'tiers': [[" GANG "]}, {'plugin': 'priority', 'enabled': ['preemptable']}], "
    "[{'plugin': 'drf', 'enabled': ['preemptable']}]], 'actions': ['preempt'], " ONE_NODE(
        3000) ", 'queues': [{'name': 'q'}], 'jobs': ["
              "{'name': 'a', 'queue': 'q', 'phase': 'Running', 'min_available': 3, 'tasks': [" RUNS(
                  "a1") ", " RUNS("a2") ", " RUNS("a3") "]}, {'name': 'b', 'queue': 'q', 'phase': "
                                                        "'Inqueue', "
                                                        "'tasks': [" TASK(
                                                            "b1") "]}], 'expect': {'evicted': "
                                                                  "['ns/a3']}}",
    /* It does not where the other would then have more. */
    "{'tiers': [[" GANG "]}], [{'plugin': 'drf', 'enabled': ['preemptable']}]], "
    "'actions': ['preempt'], " ONE_NODE(
        2000) ", 'queues': [{'name': 'q'}], 'jobs': ["
              "{'name': 'a', 'queue': 'q', 'phase': 'Running', 'tasks': [" RUNS(
                  "a1") "]}, "
                        "{'name': 'b', 'queue': 'q', 'phase': 'Inqueue', 'tasks': [{'name': 'b1', "
                        "'cpu_m': 2000}]}], "
                        "'expect': {'evicted': []}}",
    /* Inside one job a task of lower priority makes room for one of higher. */
    "{'tiers': [[{'plugin': 'priority', 'enabled': ['taskOrder', 'preemptable', 'jobStarving']}]], "
    "'actions': ['preempt'], " ONE_NODE(
        1000) ", 'queues': [{'name': 'q'}], 'jobs': [{'name': 'a', "
              "'queue': 'q', 'phase': 'Running', 'tasks': [" RUNS(
                  "a1") ", {'name': 'a2', 'cpu_m': 1000, 'priority': 5}]}], "
                        "'expect': {'evicted': ['ns/a1'], 'pipelined': {'ns/a': ['n']}}}",
    /* Of three queues that ask for the same the one with a guarantee is admitted up to the whole,
     * the others up to what is not guaranteed. */
    "{'tiers': [[{'plugin': 'proportion', 'enabled': ['jobEnqueued']}]], 'actions': ['enqueue'], "
    "'nodes': [{'name': 'n', 'cpu_m': 4000, 'mem_B': 1e9}], 'queues': ["
    "{'name': 'p', 'guarantee': {'cpu_m': 3000}}, {'name': 'q'}], 'jobs': ["
    "{'name': 'a', 'queue': 'p', 'min_resources': {'cpu_m': 4000}}, "
    "{'name': 'b', 'queue': 'q', 'min_resources': {'cpu_m': 2000}}, "
    "{'name': 'c', 'queue': 'q', 'min_resources': {'cpu_m': 1000}}], "
    "'expect': {'phases': {'ns/a': 'Inqueue', 'ns/b': 'Pending', 'ns/c': 'Inqueue'}}}",
    /* What a job has beyond its minimum does not count against its queue at the gate. */
    "{'tiers': [[{'plugin': 'proportion', 'enabled': ['jobEnqueued']}]], 'actions': ['enqueue'], "
    "'nodes': [{'name': 'n', 'cpu_m': 3000, 'mem_B': 1e9}], 'queues': [{'name': 'q'}], 'jobs': ["
    "{'name': 'a', 'queue': 'q', 'phase': 'Running', 'min_resources': {'cpu_m': 1000}, 'tasks': "
    "[" RUNS("a1") ", " RUNS("a2") ", " RUNS(
        "a3") "]}, "
              "{'name': 'b', 'queue': 'q', 'min_resources': {'cpu_m': 2000}}], "
              "'expect': {'phases': {'ns/b': 'Inqueue'}}}",
    /* A tier that permits is the last that is asked. */
    "{'tiers': [[{'plugin': 'overcommit', 'enabled': ['jobEnqueued']}], "
    "[{'plugin': 'rejecter:b', 'enabled': ['jobEnqueued']}]], 'actions': ['enqueue'], "
    "'nodes': [{'name': 'n', 'cpu_m': 3000, 'mem_B': 1e9}], 'queues': [{'name': 'q'}], 'jobs': ["
    "{'name': 'b', 'queue': 'q', 'min_resources': {'cpu_m': 2000}}], "
    "'expect': {'phases': {'ns/b': 'Inqueue'}}}",
};

Test(vol_session, every_scenario_ends_as_expected)
{
    for (size_t i = 0; i < sizeof scenarios / sizeof *scenarios; i++) {
        char why[512] = "";
        json_t *scenario = vol_scenario_of(scenarios[i]);
        vol_scenario_run(scenario, why);
        cr_expect_str_empty(why, "%zu: %s", i, why);
        json_decref(scenario);
    }
}

Test(vol_session, a_promise_ends_with_its_session)
{
    char why[512] = "";
    struct vol_world w;
    json_t *scenario = vol_scenario_of(
        "{'tiers': [[{'plugin': 'priority', 'enabled': ['preemptable', 'jobStarving']}]], "
        "'actions': ['preempt'], " ONE_NODE(
            1000) ", 'queues': [{'name': 'q'}], 'jobs': ["
                  "{'name': 'a', 'queue': 'q', 'phase': 'Running', 'tasks': [" RUNS(
                      "a1") "]}, "
                            "{'name': 'b', 'queue': 'q', 'phase': 'Inqueue', 'priority': 1, "
                            "'tasks': [" TASK("b1") "]}], 'expect': {'evicted': ['ns/a1'], "
                                                    "'pipelined': {'ns/b': ['n']}}}");
    const json_t *jobs = json_object_get(scenario, "jobs");
    vol_world_load(&w, scenario, jobs);
    vol_world_come(&w, jobs, 0, 2);
    vol_world_run(&w, json_object_get(scenario, "actions"), json_object_get(scenario, "expect"),
                  why);
    cr_expect_str_empty(why, "%s", why);
    cr_assert_eq(w.s.status[0], VOL_RELEASING);
    cr_assert_eq(w.s.status[1], VOL_WAITING);
    cr_assert_eq(w.s.n_undo, 0);
    vol_job_restarts(&w.s, 0);
    cr_assert_eq(w.s.phase[0], VOL_PENDING);
    cr_assert(vol_state_valid(&w.s));
    /* In the next session it is there for the taking. */
    json_t *allocate = json_pack("[s]", "allocate"),
           *binds = json_pack("{s:{s:s}}", "binds", "ns/b1", "n");
    vol_world_run(&w, allocate, binds, why);
    cr_expect_str_empty(why, "%s", why);
    json_decref(allocate);
    json_decref(binds);
    json_decref(scenario);
    vol_world_free(&w);
}

/* A world of random gangs; with alike, jobs that are alike share a shape. Every pod asks for one
 * of a few sizes. */
struct gangs {
    struct vol_config config;
    struct vol_state s;
    struct arena arena;
};

enum { N_GANGS = 60, N_SIZES = 4, N_NODES = 6, N_QUEUES = 2 };

static void make_gangs(struct gangs *g, bool alike, unsigned long seed)
{
    gsl_rng *rng = rng_stream(seed, "gangs");
    int32_t n_tasks = 0, ask[N_GANGS], members[N_GANGS];
    for (int j = 0; j < N_GANGS; j++) {
        ask[j] = (int32_t)gsl_rng_uniform_int(rng, N_SIZES);
        members[j] = 1 + (int32_t)gsl_rng_uniform_int(rng, 2);
        n_tasks += members[j];
    }
    struct vol_sizes size = {.n_nodes = N_NODES,
                             .n_queues = N_QUEUES,
                             .n_shapes = alike ? N_SIZES * 2 * N_QUEUES : N_GANGS,
                             .n_jobs = N_GANGS,
                             .n_tasks = n_tasks,
                             .n_asks = N_SIZES};
    vol_profile(VOL_COMPILED, 1U << VOL_OVERCOMMIT | 1U << VOL_PROPORTION, &g->config);
    cr_assert(vol_state_init(&g->s, &g->config, &size, false, &g->arena));
    for (int a = 0; a < N_SIZES; a++)
        g->s.ask[a] = (struct vol_ask){.amounts = {{1000, 10, 1000 * (a + 1), 0, 1}},
                                       .labels = VOL_ANY_LABEL};
    for (int n = 0; n < N_NODES; n++)
        vol_nodes_size(&g->s.nodes, n, &(struct amounts){{9000, 99, 4000 + 1000 * (n % 3), 0, 99}},
                       0);
    for (int q = 0; q < N_QUEUES; q++)
        g->s.queue[q] =
            (struct vol_queue){.weight = 1 + q,
                               .open = true,
                               .capability = {{INFINITY, INFINITY, INFINITY, INFINITY, INFINITY}}};
    int32_t row = 0;
    for (int32_t j = 0; j < N_GANGS; j++) {
        int32_t queue = (int32_t)gsl_rng_uniform_int(rng, N_QUEUES);
        int32_t shape = alike ? (ask[j] * 2 + members[j] - 1) * N_QUEUES + queue : j;
        g->s.job_shape[j] = shape;
        g->s.job_rank[j] = j;
        g->s.shape[shape] = (struct vol_shape){
            .queue = queue, .min_available = members[j], .has_min = true, .uniform = true};
        g->s.task_begin[j] = row;
        for (int i = 0; i < members[j]; i++) {
            g->s.task_ask[row++] = ask[j];
            amounts_add(&g->s.shape[shape].min_resources, &g->s.ask[ask[j]].amounts, 1);
        }
    }
    g->s.task_begin[N_GANGS] = row;
    for (int q = 0; q < N_QUEUES * N_SIZES * 2 && alike; q++)
        g->s.shape[q].queue = q % N_QUEUES; /* also those without jobs */
    cr_assert(vol_state_begin(&g->s, &g->arena));
    gsl_rng_free(rng);
}

/* Jobs that share a shape are walked by their first; one by one is the same. */
Test(vol_session, jobs_that_are_alike_fare_as_if_each_were_looked_at)
{
    for (unsigned long seed = 0; seed < 200; seed++) {
        struct gangs g[2] = {{.arena = {0}}, {.arena = {0}}};
        gsl_rng *rng = rng_stream(seed, "events");
        for (int i = 0; i < 2; i++)
            make_gangs(&g[i], i == 1, seed);
        int32_t n_came = 0;
        for (int round = 0; round < 60; round++) {
            int32_t come = (int32_t)gsl_rng_uniform_int(rng, 4), ends = -1;
            for (int32_t j = 0; j < n_came; j++)
                if (g[0].s.n_held[j] > 0 && gsl_rng_uniform_int(rng, 3) == 0)
                    ends = j;
            for (int i = 0; i < 2; i++) {
                struct vol_state *s = &g[i].s;
                for (int32_t j = n_came; j < n_came + come && j < N_GANGS; j++)
                    vol_job_comes(s, j, VOL_PENDING);
                for (int32_t k = s->task_begin[ends < 0 ? 0 : ends];
                     ends >= 0 && k < s->task_begin[ends + 1]; k++)
                    vol_task_ends(s, k);
                if (ends >= 0)
                    vol_job_goes(s, ends);
                for (int32_t a = 0; a < s->n_admitted; a++)
                    vol_job_pods(s, s->admitted[a]);
                vol_session_open(s);
                vol_enqueue(s);
                vol_allocate(s);
                vol_session_close(s);
                cr_assert(vol_state_valid(s), "seed %lu", seed);
            }
            n_came = n_came + come < N_GANGS ? n_came + come : N_GANGS;
            for (int32_t k = 0; k < g[0].s.size.n_tasks; k++)
                cr_assert(g[0].s.status[k] == g[1].s.status[k] &&
                              (g[0].s.status[k] != VOL_BOUND ||
                               g[0].s.task_node[k] == g[1].s.task_node[k]),
                          "seed %lu, round %d: task %d", seed, round, k);
        }
        gsl_rng_free(rng);
        for (int i = 0; i < 2; i++)
            arena_free(&g[i].arena);
    }
}

/* The kept trees say what a look at every node says, through changes of any node. */
Test(vol_session, the_ranking_finds_what_a_scan_finds)
{
    gsl_rng *rng = rng_stream(7, "ranking");
    static const enum vol_profile profiles[] = {VOL_COMPILED, VOL_HELM, VOL_HELM_GPUBINPACK};
    for (int round = 0; round < 60; round++) {
        enum { N_ASKS = 5 };
        struct arena arena = {0};
        struct vol_nodes nodes;
        struct vol_ranking ranking;
        struct vol_config config;
        struct vol_ask ask[N_ASKS];
        int32_t n = 1 + (int32_t)gsl_rng_uniform_int(rng, 40);
        vol_profile(profiles[round % 3], 0, &config);
        struct vol_liking how = {.weights = config.weights, .predicates = true};
        cr_assert(vol_nodes_init(&nodes, n, NULL, &arena));
        cr_assert(vol_ranking_init(&ranking, &nodes, N_ASKS, 1 + round % 5, NULL, &arena));
        for (int32_t i = 0; i < n; i++)
            vol_nodes_size(&nodes, i, &(struct amounts){{64000, 512, 8000, 0, 9}}, i % 3);
        for (int a = 0; a < N_ASKS; a++)
            ask[a] = (struct vol_ask){.amounts = {{4000 * (a + 1), 64, 1000 * (a % 3), 0, 1}},
                                      .labels = a % 2 ? VOL_ANY_LABEL : 3};
        for (int step = 0; step < 400; step++) {
            int32_t node = (int32_t)gsl_rng_uniform_int(rng, (unsigned long)n);
            int32_t a = (int32_t)gsl_rng_uniform_int(rng, N_ASKS);
            enum vol_fit fit[2];
            int32_t best = vol_ranking_best(&ranking, &nodes, &how, ask, a, &fit[0]);
            int32_t scan = vol_best_by_scan(&nodes, &how, &ask[a], NULL, NULL, &fit[1]);
            cr_assert(best == scan && fit[0] == fit[1], "round %d, step %d: %d, not %d", round,
                      step, best, scan);
            if (vol_fit(&nodes, &how, &ask[a], node, NULL) == VOL_FITS_NOW)
                vol_nodes_take(&nodes, node, &ask[a].amounts, 1);
            else if (nodes.releasing[node].of[AMOUNT_CPU] <= 0)
                vol_nodes_release(&nodes, node, &(struct amounts){{8000, 128, 1000, 0, 1}}, 1);
            else
                vol_nodes_promise(&nodes, node, &ask[a].amounts, step % 2 ? 1 : 0);
        }
        arena_free(&arena);
    }
    gsl_rng_free(rng);
}

/* Equally good nodes are drawn evenly. */
Test(vol_session, the_ranking_draws_among_the_best)
{
    struct arena arena = {0};
    struct vol_nodes nodes;
    struct vol_ranking ranking;
    gsl_rng *rng = rng_stream(1, "draw");
    struct vol_liking how = {.weights = {.least = 1}};
    struct vol_ask ask = {.amounts = {{1000, 1, 0, 0, 1}}, .labels = VOL_ANY_LABEL};
    int drawn[5] = {0};
    cr_assert(vol_nodes_init(&nodes, 5, NULL, &arena));
    cr_assert(vol_ranking_init(&ranking, &nodes, 1, 1, rng, &arena));
    for (int32_t i = 0; i < 5; i++)
        vol_nodes_size(&nodes, i, &(struct amounts){{i == 2 ? 2000 : 9000, 99, 0, 0, 9}}, 0);
    for (int i = 0; i < 4000; i++) {
        enum vol_fit fit;
        drawn[vol_ranking_best(&ranking, &nodes, &how, &ask, 0, &fit)]++;
    }
    cr_assert_eq(drawn[2], 0, "the small node is the worst");
    for (int i = 0; i < 5; i++)
        cr_assert(i == 2 || fabs(drawn[i] - 1000.) < 5 * sqrt(1000 * .75), "%d: %d", i, drawn[i]);
    gsl_rng_free(rng);
    arena_free(&arena);
}
