/* plan.c, place.c and cluster.c together: what is taken, what fits where, what undo gives back. */
#include "core/cluster/plan.h"
#include "tests/lab.h"
#include "tests/leak.h"

#include <criterion/criterion.h>
#include <string.h>

TestSuite(plan, .fini = abort_on_leak);

static struct plan plan_of(struct lab *l, enum place_mode mode, int share_max)
{
    struct plan p;
    l->rng = gsl_rng_alloc(gsl_rng_mt19937);
    struct place_rules rules = {.mode = mode, .pool = -1, .share_max = share_max, .rng = l->rng};
    cr_assert_eq(plan_init(&p, &l->cluster, &l->jobs, rules, NULL), ST_OK);
    return p;
}

static void done(struct lab *l, struct plan *p)
{
    cr_assert(cluster_valid(&l->cluster, &l->jobs));
    gsl_rng_free(l->rng);
    plan_free(p);
    lab_free(l);
}

/* Nodes of a job's seats as text, "0 0 2". */
static const char *nodes_of(const struct lab *l, const struct plan *p, const char *job, char *text)
{
    int32_t task = l->jobs.task_begin[lab_job(l, job)];
    text[0] = '\0';
    for (int32_t i = 0; i < p->at[task].n; i++)
        sprintf(text + strlen(text), i > 0 ? " %d" : "%d",
                seat_node(&l->cluster, l->cluster.seats[p->at[task].first + i].where));
    return text;
}

/* Nodes of 4 GPUs: a takes 3 of the first, b 1 of the second; then c asks for one instance of 1
 * GPU and d for two instances of 2. */
static const struct {
    enum place_mode mode;
    const char *c, *d;
} modes[] = {
    {PLACE_FIRST_FIT, "0", "1 1 2 2"},
    {PLACE_BEST_FIT, "0", "1 1 2 2"},    /* 1 has 3 left, the least that is enough; then 2 */
    {PLACE_SPREAD, "2", "1 1 2 2"},      /* after c both have 3: the lower first, then the other */
    {PLACE_CONSOLIDATE, "0", "2 2 2 2"}, /* only 2 can hold both instances */
};

Test(plan, each_mode_tries_nodes_in_its_order)
{
    for (size_t i = 0; i < sizeof modes / sizeof *modes; i++) {
        struct lab l = {0};
        char text[64];
        lab_jobs(&l, "a 0 1 3\nb 0 1 1\nc 0 1 1\nd 0 1 2 2");
        lab_nodes(&l, "4+4+4");
        struct plan p = plan_of(&l, PLACE_FIRST_FIT, 1);
        cr_assert(plan_start(&p, 0));
        p.rules.mode = PLACE_SPREAD;
        cr_assert(plan_start(&p, 1));
        cr_assert_str_eq(nodes_of(&l, &p, "b", text), "1");
        p.rules.mode = modes[i].mode;
        cr_assert(plan_start(&p, 2));
        cr_expect_str_eq(nodes_of(&l, &p, "c", text), modes[i].c, "mode %zu: c on %s", i, text);
        cr_assert(plan_start(&p, 3));
        cr_expect_str_eq(nodes_of(&l, &p, "d", text), modes[i].d, "mode %zu: d on %s", i, text);
        done(&l, &p);
    }
}

Test(plan, a_fraction_never_straddles_two_cards)
{
    struct lab l = {0};
    lab_jobs(&l, "a 0 1 0.6\nb 0 1 0.6\nc 0 1 0.8\nd 0 1 0.4");
    lab_nodes(&l, "2");
    struct plan p = plan_of(&l, PLACE_FIRST_FIT, 1);
    cr_assert(plan_start(&p, 0));
    cr_assert(plan_start(&p, 1));
    cr_assert_not(plan_start(&p, 2), "0.8 GPUs are free, but 0.4 on each card");
    cr_assert(plan_start(&p, 3));
    cr_assert_eq(l.cluster.gpu_held_milli, 1600);
    done(&l, &p);
}

Test(plan, a_gang_takes_all_its_instances_or_none)
{
    struct lab l = {0};
    lab_jobs(&l, "a 0 1 2 2\nb 0 1 3 2");
    lab_nodes(&l, "4+3");
    struct plan p = plan_of(&l, PLACE_FIRST_FIT, 1);
    cr_assert(plan_start(&p, 0));
    cr_assert_not(plan_start(&p, 1));
    cr_assert_eq(l.cluster.gpu_held_milli, 4000);
    plan_undo(&p, 0);
    cr_assert_eq(l.cluster.gpu_held_milli, 0);
    cr_assert(plan_start(&p, 1));
    done(&l, &p);
}

Test(plan, a_card_is_shared_only_when_none_is_free_and_memory_allows)
{
    struct lab l = {0};
    lab_jobs(&l, "a 0 1 1 1 x 20000\nb 0 1 1 1 y 20000\nc 0 1 1 1 z 10000\nd 0 1 1 1 z 10000");
    lab_nodes(&l, "2x32768MiB");
    struct plan p = plan_of(&l, PLACE_FIRST_FIT, 2);
    cr_assert(plan_start(&p, 0));
    cr_assert(plan_start(&p, 1));
    cr_assert_eq(l.cluster.cards_free[0], 0, "two free cards, two jobs: nobody shares");
    cr_assert(plan_start(&p, 2));
    cr_assert(plan_start(&p, 3));
    cr_assert_eq(l.cluster.card_n_jobs[0], 2);
    cr_assert_eq(l.cluster.card_n_jobs[1], 2, "at most two jobs on a card");
    cr_assert_eq(l.cluster.gpu_held_milli, 2000, "a shared card is in use once");
    plan_undo(&p, 1);
    cr_assert(plan_start(&p, 2));
    cr_assert_eq(l.cluster.card_n_jobs[1], 1);
    done(&l, &p);
}

Test(plan, eviction_and_release_are_undone_to_the_same_cards)
{
    struct lab l = {0};
    lab_jobs(&l, "a 0 1 1\nb 0 1 2\nc 0 1 4");
    lab_nodes(&l, "4");
    struct plan p = plan_of(&l, PLACE_FIRST_FIT, 1);
    cr_assert(plan_start(&p, 0));
    cr_assert(plan_start(&p, 1));
    size_t mark = plan_mark(&p);
    int32_t before[4];
    for (int i = 0; i < 4; i++)
        before[i] = l.cluster.card_n_jobs[i];
    plan_release(&p, 0);
    plan_evict(&p, 1, 0);
    cr_assert(plan_start(&p, 2));
    plan_undo(&p, mark);
    cr_assert_arr_eq(l.cluster.card_n_jobs, before, sizeof before);
    plan_evict(&p, 0, 0);
    cr_assert(plan_start(&p, 0), "moved in one pass");
    plan_clear(&p);
    done(&l, &p);
}

/* Whatever is tried and undone in whatever order, the books add up and end where they began. */
Test(plan, random_plans_keep_every_invariant)
{
    gsl_rng *rng = gsl_rng_alloc(gsl_rng_mt19937);
    for (int round = 0; round < 60; round++) {
        struct lab l = {0};
        enum { N = 60 };
        bool on[N] = {false}, out[N] = {false};
        lab_random(&l, rng, N, 1, 1, 4);
        lab_nodes(&l, "4+8+1+2");
        struct plan p = plan_of(&l, (enum place_mode)(round % 5), 1 + round % 3);
        for (int step = 0; step < 200; step++) {
            int32_t job = (int32_t)gsl_rng_uniform_int(rng, N);
            if (on[job] && !out[job] && gsl_rng_uniform_int(rng, 2) == 0) {
                plan_evict(&p, job, 0);
                on[job] = false;
                out[job] = true;
            } else if (!on[job]) {
                on[job] = plan_start(&p, job);
            }
            cr_assert(cluster_valid(&l.cluster, &l.jobs));
        }
        plan_undo(&p, 0);
        cr_assert_eq(l.cluster.gpu_held_milli, 0);
        cr_assert_eq(l.cluster.gpu_idle_milli, l.cluster.gpu_milli);
        done(&l, &p);
    }
    gsl_rng_free(rng);
}

/* Does any assignment of the instances to nodes work? Whole cards of one node each, by enumeration.
 */
static bool fits_somehow(int free_gpus[3], int inst, int gpus)
{
    if (inst == 0)
        return true;
    for (int node = 0; node < 3; node++)
        if (free_gpus[node] >= gpus) {
            free_gpus[node] -= gpus;
            bool fits = fits_somehow(free_gpus, inst - 1, gpus);
            free_gpus[node] += gpus;
            if (fits)
                return true;
        }
    return false;
}

Test(plan, every_mode_finds_a_place_for_a_gang_exactly_when_there_is_one)
{
    gsl_rng *rng = gsl_rng_alloc(gsl_rng_mt19937);
    for (int round = 0; round < 500; round++) {
        struct lab l = {0};
        int nodes[3], gpus = 1 + (int)gsl_rng_uniform_int(rng, 4),
                      inst = 1 + (int)gsl_rng_uniform_int(rng, 5);
        char text[64];
        for (int i = 0; i < 3; i++)
            nodes[i] = (int)gsl_rng_uniform_int(rng, 9);
        snprintf(text, sizeof text, "a 0 1 %d %d", gpus, inst);
        lab_jobs(&l, text);
        snprintf(text, sizeof text, "%d+%d+%d", nodes[0], nodes[1], nodes[2]);
        lab_nodes(&l, text);
        struct plan p = plan_of(&l, (enum place_mode)(round % 5), 1);
        cr_assert_eq(plan_start(&p, 0), fits_somehow(nodes, inst, gpus), "%s: %d x %d, mode %d",
                     text, inst, gpus, round % 5);
        done(&l, &p);
    }
    gsl_rng_free(rng);
}
