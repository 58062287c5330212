/* NIC and storage as resources of nodes: by hand, and as laws. */
#include "policies/registry.h"
#include "tests/catalog_world.h"
#include "tests/leak.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

TestSuite(bandwidth, .fini = abort_on_leak, .timeout = 120);

/* 8 Gbit/s at bs=2, 4 at bs=1 for three fifths of the speed. Two of either fit a card's memory. */
#define CATALOG(what)                                                                              \
    "{\"name\": \"mine\", \"workloads\": [{\"name\": \"x\", \"kind\": \"train\", \"model\": "      \
    "\"measured\", \"unit\": \"s\", \"card\": \"a100-40g\", \"knobs\": {\"bs\": [1, 2]}, "         \
    "\"default\": {\"bs\": 2}, \"" what "\": 8, \"profiles\": [{\"bs\": 1, \"rate\": 12, \"sm\": " \
    "0.5, \"fb_mib\": 9000, \"" what "\": 4}, {\"bs\": 2, \"rate\": 20, \"sm\": 0.5, \"fb_mib\": " \
    "9000}]}]}"
#define CARD "x40960MiB:a100-40g"

static void open_world(struct world *w, bool storage, int32_t gbps, const char *jobs,
                       const char *nodes)
{
    world_open(w, storage ? CATALOG("storage_gbps") : CATALOG("nic_gbps"), SUBMITTED_DEFAULT, jobs,
               nodes);
    struct cluster *c = &w->l.cluster;
    for (int32_t node = 0; gbps > 0 && node < c->n_nodes; node++) {
        *(storage ? &c->node_storage_mbps[node] : &c->node_nic_mbps[node]) = 1000 * gbps;
        *(storage ? &c->storage_free_mbps[node] : &c->nic_free_mbps[node]) = 1000 * gbps;
    }
}

Test(bandwidth, two_jobs_that_one_node_has_no_bandwidth_for_wait_or_are_parted)
{
    static const struct {
        int32_t gbps;
        const char *jobs, *nodes;
        double start_s; /* of b; a starts at 0 and takes 100 s */
    } rows[] = {
        {0, "a 0 100 1 1 x\nb 0 100 1 1 x", "2" CARD, 0},            /* not declared */
        {16, "a 0 100 1 1 x\nb 0 100 1 1 x", "2" CARD, 0},           /* 8 + 8 */
        {15, "a 0 100 1 1 x\nb 0 100 1 1 x", "2" CARD, 100},         /* waits */
        {15, "a 0 100 1 1 x\nb 0 100 1 1 x", "2" CARD "+2" CARD, 0}, /* parted */
        {15, "a 0 100 1 1 x\nb 0 100 1 1", "2" CARD, 0},             /* outside the catalog */
        {8, "a 0 100 0.5 1 x\nb 0 100 0.5 1 x", "1" CARD, 0},        /* parts of a card: 4 + 4 */
        {7, "a 0 100 0.5 1 x\nb 0 100 0.5 1 x", "1" CARD, 100},      /* 4 + 4 */
        {32, "a 0 100 2 1 x\nb 0 100 1 2 x", "4" CARD, 0},           /* 16 for each */
        {31, "a 0 100 2 1 x\nb 0 100 1 2 x", "4" CARD, 100},         /* one instance lacks it */
        {31, "a 0 100 2 1 x\nb 0 100 1 2 x", "4" CARD "+1" CARD, 0}, /* it goes elsewhere */
    };
    for (int storage = 0; storage < 2; storage++)
        for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
            struct world w;
            open_world(&w, storage == 1, rows[i].gbps, rows[i].jobs, rows[i].nodes);
            world_run(&w, "fifo");
            cr_assert_eq(lab_start_s(&w.l, "a"), 0);
            cr_assert_eq(lab_start_s(&w.l, "b"), rows[i].start_s, "row %zu", i);
            world_close(&w);
        }
}

/* Two at 8 need 16 of 12. At 8 and 4 they cost 0 + .4 by (1), one after the other 0 + 1. When a
 * ends at 1200 s, b has done 720 and goes on at its fastest. */
Test(bandwidth, elastico_prices_it_and_chooses_what_fits)
{
    static const char jobs[] = "a 0 1200 1 1 x\nb 0 1200 1 1 x";
    for (int storage = 0; storage < 2; storage++) {
        struct world w;
        open_world(&w, storage == 1, 12, jobs, "2" CARD);
        world_run(&w, "elastico");
        cr_assert_float_eq(lab_jct_s(&w.l, "a"), 1200, 1e-5);
        cr_assert_float_eq(lab_jct_s(&w.l, "b"), 1680, 1e-5);
        const struct epoch *e = &w.l.log.epoch[0].epoch;
        cr_assert_eq(e->n_prices, 6 + storage);
        cr_assert_gt(e->price[5 + storage], 0, "what two want and one can have");
        cr_assert_float_eq(e->score, 0.4, 1e-9);
        world_close(&w);
        open_world(&w, storage == 1, 0, jobs, "2" CARD);
        world_run(&w, "elastico");
        cr_assert_float_eq(lab_jct_s(&w.l, "b"), 1200, 1e-5, "not declared: both at their fastest");
        cr_assert_eq(w.l.log.epoch[0].epoch.n_prices, 3);
        world_close(&w);
    }
}

Test(bandwidth, a_job_that_no_node_has_enough_for_is_rejected_unless_it_can_ask_for_less)
{
    static const struct {
        int32_t gbps;
        const char *policy;
        enum job_status status;
    } rows[] = {{8, "fifo", JOB_DONE},
                {7, "fifo", JOB_REJECTED},
                {7, "elastico", JOB_DONE},
                {3, "elastico", JOB_REJECTED}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct world w;
        open_world(&w, false, rows[i].gbps, "a 0 100 1 1 x", "2" CARD);
        world_run(&w, rows[i].policy);
        cr_assert_eq((enum job_status)w.l.jobs.status[0], rows[i].status, "row %zu", i);
        world_close(&w);
    }
}

/* The walk over every invariant after every pass fails where a node is overbooked. */
Test(bandwidth, no_policy_overbooks_a_node)
{
    static const char *const policy[] = {
        "elastico", "fifo-skip", "easy-backfill", "srtf",   "las",   "elastic-fifo",
        "gandiva",  "antman",    "lucid",         "pollux", "gavel", "fair-queues"};
    gsl_rng *rng = gsl_rng_alloc(gsl_rng_mt19937);
    for (int trial = 0; trial < 24; trial++) {
        char jobs[8192] = "";
        for (size_t i = 0, n = 0; i < 50; i++) {
            int max = 1 << gsl_rng_uniform_int(rng, 3), min = gsl_rng_uniform_int(rng, 2) ? 1 : 0;
            n += (size_t)snprintf(jobs + n, sizeof jobs - n, "%sj%zu %lu %lu 1 %d %s 0 - %d %d",
                                  i > 0 ? "\n" : "", i, gsl_rng_uniform_int(rng, 3000),
                                  10 + gsl_rng_uniform_int(rng, 900), max,
                                  gsl_rng_uniform_int(rng, 4) == 0 ? "-" : "x", min, min * max);
        }
        struct world w;
        open_world(&w, trial % 2 == 1, 20, jobs, "4" CARD "+4" CARD "+2" CARD "+1" CARD);
        w.l.truth = TRUTH_CONTENTION;
        w.config.cost = (struct transition_costs){5, 15, 15, 45};
        world_run(&w, policy[trial / 2]);
        for (int32_t j = 0; j < w.l.jobs.n_jobs; j++)
            cr_assert(w.l.jobs.status[j] == JOB_DONE, "%s: job %d", policy[trial / 2], j);
        world_close(&w);
    }
    gsl_rng_free(rng);
}
