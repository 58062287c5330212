/* Jobs with layouts through the engine: what is true of a gang that lies so, and what elastico
 * makes of it. Times are by hand. */
#include "tests/catalog_world.h"
#include "tests/leak.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>

TestSuite(layouts, .fini = abort_on_leak, .timeout = 120);

/* "net": 16 samples a step of 1 s each on one card, four layers, 60,000 MiB, of these 40,000 state:
 * 30,000 with tp = 2, 40,000 with pp = 2, 20,000 with both. "small" fits one card. */
#define NETWORK(name, initial, fb, state, act, grad, spans)                                        \
    "{\"name\": \"" name "\", \"kind\": \"train\", \"model\": \"measured\", \"unit\": \"s\", "     \
    "\"card\": \"a100-40g\", \"knobs\": {\"bs\": [1], \"tp\": [1, 2], \"pp\": [1, 2]}, "           \
    "\"default\": {" initial "}, \"profiles\": [{\"rate\": 1, \"sm\": 0.5, \"fb_mib\": " fb "}], " \
    "\"parallel\": {\"batch\": [16, \"A\"], \"layers\": [4, \"A\"], \"grad_bytes\": [" grad        \
    ", \"A\"], \"act_bytes\": [" act ", \"A\"], \"state_bytes\": [" state                          \
    ", \"A\"], \"dp_exposed\": [1, \"A\"], \"tp_spans\": [" spans ", \"A\"]}}"
#define SPANNING(initial, act, spans)                                                              \
    "{\"name\": \"mine\", \"workloads\": [" NETWORK(                                               \
        "net", initial, "60000", "41943040000", act, "0.15e9",                                     \
        spans) ", " NETWORK("small", "", "10000", "5e9", act, "0.75e9", spans) "]}"
#define CATALOG(initial, act) SPANNING(initial, act, "0")

/* Links of 10 Gbit/s x .6 = .75 GB/s, a NIC of 1 Gbit/s x .9 = .1125 GB/s for each card of a node.
 */
static void open_world(struct world *w, const char *catalog, enum submitted submitted,
                       const char *jobs, const char *nodes)
{
    world_open(w, catalog, submitted, jobs, nodes);
    for (int32_t node = 0; node < w->l.cluster.n_nodes; node++) {
        w->l.cluster.node_link_mbps[node] = 10000;
        w->l.cluster.node_nic_mbps[node] = w->l.cluster.node_gpu_milli[node];
    }
}

#define CARD "x40960MiB:a100-40g"

/* .01 s for 7.5 MB over the link. tp = 2: 16 (.5 + 4 x 4 x .01) = 10.56 s; pp = 2: 17 (.5 + 2 x
 * .01) = 8.84. With a tenth of it 16 x .516 = 8.256 and 17 x .502 = 8.534. */
Test(layouts, elastico_takes_the_layout_that_is_faster_by_hand)
{
    static const struct {
        const char *catalog;
        double jct_s;
    } rows[] = {{CATALOG("\"tp\": 2", "7.5e6"), 1000 * 8.84 / 10.56},
                {CATALOG("\"pp\": 2", "7.5e6"), 1000},
                {CATALOG("\"tp\": 2", "7.5e5"), 1000},
                {CATALOG("\"pp\": 2", "7.5e5"), 1000 * 8.256 / 8.534}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct world w;
        open_world(&w, rows[i].catalog, SUBMITTED_DEFAULT, "a 0 1000 2 1 net", "2" CARD);
        world_run(&w, "elastico");
        cr_assert_float_eq(lab_jct_s(&w.l, "a"), rows[i].jct_s, 1e-5, "row %zu", i);
        world_close(&w);
        open_world(&w, rows[i].catalog, SUBMITTED_DEFAULT, "a 0 1000 2 1 net", "2" CARD);
        world_run(&w, "fifo");
        cr_assert_float_eq(lab_jct_s(&w.l, "a"), 1000, 1e-5, "as submitted it takes its time");
        world_close(&w);
    }
}

/* b is meant for one node of two cards; a sits on it, so that b's cards are on two others. */
Test(layouts, a_gang_over_several_nodes_is_as_slow_as_its_links)
{
    static const struct {
        const char *workload, *initial, *policy;
        double jct_s;
    } rows[] = {
        /* 17 (.5 + 2 x 7.5 MB / .1125 GB/s) */
        {"net", "\"pp\": 2", "fifo", 1000 * 17 * (0.5 + 2 / 15.0) / 8.84},
        /* 16 (.5 + 16 / 15) */
        {"net", "\"tp\": 2", "fifo", 1000 * 16 * (0.5 + 16 / 15.0) / 10.56},
        /* a tensor group must not: stages, at the pace of row 0 */
        {"net", "\"tp\": 2", "elastico", 1000 * 17 * (0.5 + 2 / 15.0) / 10.56},
        /* 8 + .75 / .1125, for 8 + .75 / .75 */
        {"small", "", "fifo", 1000 * (8 + 0.75 / 0.1125) / 9},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char jobs[96];
        struct world w;
        const char *catalog = strcmp(rows[i].initial, "\"tp\": 2") == 0
                                  ? CATALOG("\"tp\": 2", "7.5e6")
                                  : CATALOG("\"pp\": 2", "7.5e6");
        snprintf(jobs, sizeof jobs, "a 0 5000 2 1\nb 5 1000 1 2 %s", rows[i].workload);
        open_world(&w, catalog, SUBMITTED_DEFAULT, jobs, "2" CARD "+1" CARD "+1" CARD);
        world_run(&w, rows[i].policy);
        cr_assert_float_eq(lab_jct_s(&w.l, "b"), rows[i].jct_s, 1e-5, "row %zu: %g", i,
                           lab_jct_s(&w.l, "b"));
        world_close(&w);
    }
}

/* 7.5 kB over the NIC take 1/15 ms: slices over both nodes 16 (.5 + 16/15000), stages 17 (.5 +
 * 2/15000), of a reference of 16 (.5 + 16 x 7.5e3 / .75e9). */
Test(layouts, a_tensor_group_spans_nodes_only_where_it_may)
{
    static const struct {
        const char *catalog;
        double step_s;
    } rows[] = {{SPANNING("\"tp\": 2", "7.5e3", "0"), 17 * (0.5 + 2 / 15000.0)},
                {SPANNING("\"tp\": 2", "7.5e3", "1"), 16 * (0.5 + 16 / 15000.0)}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct world w;
        open_world(&w, rows[i].catalog, SUBMITTED_DEFAULT, "a 0 5000 2 1\nb 5 1000 1 2 net",
                   "2" CARD "+1" CARD "+1" CARD);
        world_run(&w, "elastico");
        cr_assert_float_eq(lab_jct_s(&w.l, "b"), 1000 * rows[i].step_s / (16 * (0.5 + 16e-5)), 1e-5,
                           "row %zu: %g", i, lab_jct_s(&w.l, "b"));
        world_close(&w);
    }
}

/* Four cards do (8 + 1) (.5 + 2 x .01) + .1 = 4.78 s with dp = pp = 2 (tp = pp = 2: 5.78, dp = tp =
 * 2: 5.38), two 8.84. a leaves at 500 s. Three replicas on six would not divide the batch. */
Test(layouts, a_job_starts_narrower_in_a_layout_that_fits_and_grows)
{
    static const char jobs[] = "a 0 500 1 4\nb 0 1000 1 4 net 0 - 1 6";
    struct world w;
    open_world(&w, CATALOG("", "7.5e6"), SUBMITTED_PEAK, jobs, "6" CARD);
    w.config.min_rate_frac = 0.3;
    world_run(&w, "elastico");
    cr_assert_eq(lab_start_s(&w.l, "b"), 0);
    cr_assert_float_eq(lab_jct_s(&w.l, "b"), 500 + (1000 - 500 * 4.78 / 8.84), 1e-5);
    world_close(&w);
}

Test(layouts, where_no_layout_fits_a_job_waits)
{
    struct world w;
    open_world(&w, CATALOG("", "7.5e6"), SUBMITTED_PEAK,
               "a 0 500 1 3\nb 0 1000 1 4 net 0 - 1 4\nc 0 10 1 4 net 0 - 1 4", "4" CARD);
    w.config.min_rate_frac = 0.3;
    world_run(&w, "elastico");
    cr_assert_geq(lab_start_s(&w.l, "b"), 500, "60,000 MiB on the one card that is free");
    cr_assert_eq(w.l.log.stalled, false);
    world_close(&w);
    open_world(&w, CATALOG("", "7.5e6"), SUBMITTED_PEAK, "b 0 1000 1 2 net 0 - 1 2", "1" CARD);
    world_run(&w, "elastico");
    cr_assert_eq(w.l.jobs.status[0], JOB_REJECTED, "nor on any cluster of one");
    world_close(&w);
}

/* A tensor group of two is not cut where single cards of two nodes are free beside a whole node. */
Test(layouts, tensor_groups_stay_on_their_nodes)
{
    struct world w;
    open_world(&w, CATALOG("\"tp\": 2", "7.5e5"), SUBMITTED_DEFAULT,
               "a 0 5000 1 1\nb 0 1000 1 4 net 0 - 4 4", "3" CARD "+3" CARD);
    world_run(&w, "elastico");
    /* On 2 + 2 of the 5 left, as dp = tp = 2: 8 (.5 + .016) + .15 / 2 / (2 / 2 x .1125) = 4.795
     * over both nodes; tp = pp = 2: 17 (.25 + .008 + 7.5e5 / .1125e9) = 4.4993. The reference has
     * nodes of 3, so two groups of two are on two nodes there too: 4.795. */
    cr_assert_float_eq(lab_jct_s(&w.l, "b"),
                       1000 * 17 * (0.258 + 1 / 150.0) / (8 * 0.516 + 2 / 3.0), 1e-5, "%g",
                       lab_jct_s(&w.l, "b"));
    world_close(&w);
}

/* The same catalog with and without what layouts need. */
Test(layouts, on_one_card_nothing_changes)
{
    static const char jobs[] = "a 0 1000 1 1 x\nb 10 500 1 1 x\nc 20 900 1 1 x\nd 30 70 1 1 x";
#define PLAIN(more)                                                                                \
    "{\"name\": \"mine\", \"workloads\": [{\"name\": \"x\", \"kind\": \"train\", \"model\": "      \
    "\"measured\", \"unit\": \"s\", \"card\": \"a100-40g\", \"knobs\": {\"bs\": [1, 2]}, "         \
    "\"profiles\": [{\"rate\": 1, \"sm\": 0.5, \"fb_mib\": 10000}, {\"bs\": 2, \"rate\": 1.7, "    \
    "\"sm\": 0.7, \"fb_mib\": 22000}]" more "}]}"
    static const char *const policy[] = {"fifo", "elastico", "elastic-fifo"};
    for (int i = 0; i < 3; i++) {
        struct world w, plain;
        open_world(&plain, PLAIN(""), SUBMITTED_PEAK, jobs, "2" CARD "+1" CARD);
        open_world(&w,
                   PLAIN(", \"parallel\": {\"batch\": [8, \"A\"], \"layers\": [4, \"A\"], "
                         "\"grad_bytes\": [1e9, \"A\"], \"act_bytes\": [1e9, \"A\"], "
                         "\"state_bytes\": [1e9, \"A\"], \"dp_exposed\": [1, \"A\"], "
                         "\"tp_spans\": [0, \"A\"]}"),
                   SUBMITTED_PEAK, jobs, "2" CARD "+1" CARD);
        w.l.truth = plain.l.truth = TRUTH_CONTENTION;
        plain.config.without = w.config.without = PDS_NO_IAC;
        world_run(&plain, policy[i]);
        world_run(&w, policy[i]);
        for (int32_t j = 0; j < 3; j++)
            cr_assert_eq(w.l.jobs.finish_us[j], plain.l.jobs.finish_us[j], "%s: job %d", policy[i],
                         j);
        world_close(&w);
        world_close(&plain);
    }
}

Test(layouts, jobs_are_bound_to_layouts_of_the_cards_they_ask_for)
{
    struct world w;
    char text[96];
    open_world(&w, CATALOG("\"tp\": 2", "7.5e6"), SUBMITTED_PEAK,
               "two 0 10 2 1 net\nfour 0 10 2 2 net\nthree 0 10 1 3 small\npart 0 10 0.5 1 small\n"
               "mixed 0 10 1 1 small\nmixed 0 5 1 1 small",
               "4" CARD);
    world_run(&w, "fifo");
    const struct rst *r = &w.l.rst;
    cr_assert_str_eq(config_text(r->w, r->submitted[0], text), "bs=1 tp=1 pp=2");
    cr_assert_str_eq(config_text(r->w, r->submitted[1], text), "bs=1 tp=1 pp=2", "dp = 2");
    cr_assert_eq(r->asked[1], 4);
    cr_assert_eq(r->workload[2], -1, "three replicas do not share 16 samples");
    cr_assert_eq(r->workload[3], -1, "a part of a card has no layout");
    cr_assert_eq(r->workload[4], -1, "nor have several tasks");
    cr_assert_eq(r->n_outside, 3);
    world_close(&w);
}

/* Every invariant of the cluster is checked after every pass; and every job ends. */
Test(layouts, crowds_of_them_end_under_every_kind_of_policy)
{
    static const char *const policy[] = {"elastico", "fifo-skip", "elastic-fifo", "pollux"};
    gsl_rng *rng = gsl_rng_alloc(gsl_rng_mt19937);
    for (int trial = 0; trial < 12; trial++) {
        char jobs[8192] = "";
        for (size_t i = 0, n = 0; i < 60; i++) {
            int max = 1 << gsl_rng_uniform_int(rng, 4), min = 1 << gsl_rng_uniform_int(rng, 3);
            bool elastic = gsl_rng_uniform_int(rng, 2) == 0 && min <= max;
            const char *workload[] = {"net", "small", "small", "-"};
            const char *of = workload[gsl_rng_uniform_int(rng, 4)];
            n += (size_t)snprintf(jobs + n, sizeof jobs - n, "%sj%zu %lu %lu 1 %d %s 0 - %d %d",
                                  i > 0 ? "\n" : "", i, gsl_rng_uniform_int(rng, 3000),
                                  10 + gsl_rng_uniform_int(rng, 2000), max, of, elastic ? min : 0,
                                  elastic ? max : 0);
        }
        struct world w;
        open_world(&w, CATALOG("\"tp\": 2", "7.5e6"), (enum submitted)(trial % 3), jobs,
                   "4" CARD "+4" CARD "+2" CARD "+1" CARD);
        w.l.truth = TRUTH_CONTENTION;
        w.config.cost = (struct transition_costs){5, 15, 15, 45};
        world_run(&w, policy[trial % 4]);
        for (int32_t j = 0; j < w.l.jobs.n_jobs; j++)
            cr_assert(w.l.jobs.status[j] == JOB_DONE || w.l.jobs.status[j] == JOB_REJECTED,
                      "%s: job %d", policy[trial % 4], j);
        cr_assert(!w.l.log.stalled);
        world_close(&w);
    }
    gsl_rng_free(rng);
}

/* Cards of a task in the middle of one of its bars. */
static int32_t cards_during(const struct run_log *log, const struct span *bar)
{
    int64_t at_us = bar->start_us + (bar->end_us - bar->start_us) / 2;
    int32_t n = 0;
    for (size_t i = 0; i < log->n_spans; i++)
        if (log->span[i].task == bar->task && log->span[i].start_us <= at_us &&
            at_us < log->span[i].end_us)
            n += log->span[i].n_gpus;
    return n;
}

/* Without a promise, jobs of one card press b from four cards to two; none of its layouts has one.
 */
Test(layouts, a_job_makes_room_only_down_to_widths_that_have_layouts)
{
    char jobs[1024] = "b 0 3000 1 4 net 0 - 1 4";
    for (size_t i = 0, n = strlen(jobs); i < 20; i++)
        n += (size_t)snprintf(jobs + n, sizeof jobs - n, "\ns%zu 5 300 1 1 small", i);
    struct world w;
    open_world(&w, CATALOG("", "7.5e6"), SUBMITTED_PEAK, jobs, "4" CARD);
    w.config.min_rate_frac = 0;
    world_run(&w, "elastico");
    int32_t b = w.l.jobs.task_begin[lab_job(&w.l, "b")], fewest = 4;
    for (size_t i = 0; i < w.l.log.n_spans; i++)
        if (w.l.log.span[i].task == b)
            fewest = cards_during(&w.l.log, &w.l.log.span[i]) < fewest
                         ? cards_during(&w.l.log, &w.l.log.span[i])
                         : fewest;
    cr_assert_eq(fewest, 2);
    world_close(&w);
}
