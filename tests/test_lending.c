/* The node that is lent: which one goes, where it comes back to, and what serves when none can. */
#include "policies/lucid/lending.h"
#include "tests/leak.h"
#include "tests/lucid_lab.h"

#include <criterion/criterion.h>
#include <string.h>

TestSuite(lending, .fini = abort_on_leak);

struct world {
    struct lab l;
    struct view view;
    struct arena scratch;
    struct plan plan;
    struct vcs vcs;
    struct lending lending;
};

/* Pool p is nodes 0 to 2, pool spare node 3. */
static void open_world(struct world *w, const char *spare)
{
    lab_jobs(&w->l, "a 0 1 8\nb 0 1 8\nc 0 1 8");
    lab_pools(&w->l, "p:3 spare:1");
    w->view = (struct view){.jobs = &w->l.jobs, .cluster = &w->l.cluster, .scratch = &w->scratch};
    struct place_rules rules = {.pool = -1, .share_max = 1};
    cr_assert_eq(plan_init(&w->plan, &w->l.cluster, &w->l.jobs, rules, NULL), ST_OK);
    cr_assert(vcs_init(&w->vcs, &w->view, &w->l.arena));
    cr_assert_eq(lending_init(&w->lending, "p", spare, &w->vcs, &w->view, &w->l.arena, NULL),
                 ST_OK);
}

static void close_world(struct world *w)
{
    plan_free(&w->plan);
    arena_free(&w->scratch);
    lab_free(&w->l);
}

/* The job sits on all of the node. */
static void occupy(struct world *w, int32_t job, int32_t node)
{
    int32_t where[8];
    for (int32_t i = 0; i < 8; i++)
        where[i] = 8 * node + i;
    cr_assert(plan_start_at(&w->plan, job, where, 8));
}

/* A list of nodes as text: that of a pool, or (pool -1) that of jobs without one. */
static const char *nodes_of(const struct world *w, int32_t pool, char text[64])
{
    const struct vc *vc = &w->vcs.vc[pool < 0 ? w->vcs.n - 1 : pool];
    text[0] = '\0';
    for (int32_t i = 0; i < vc->n_nodes; i++)
        sprintf(text + strlen(text), "%s%d", i > 0 ? " " : "", vc->node[i]);
    return text;
}

static int32_t take(struct world *w) { return lending_take(&w->lending, &w->vcs, &w->plan); }

static void give_back(struct world *w, int32_t node)
{
    lending_return(&w->lending, &w->vcs, &w->plan, node);
}

Test(lending, the_idle_node_of_the_highest_name_goes_and_comes_back_last)
{
    struct world w = {0};
    char text[64];
    open_world(&w, NULL);
    cr_assert_str_eq(nodes_of(&w, -1, text), "0 1 2 3");
    cr_assert_eq(take(&w), 2);
    cr_assert_str_eq(nodes_of(&w, 0, text), "0 1");
    cr_assert_str_eq(nodes_of(&w, -1, text), "0 1 3");
    cr_assert(w.l.cluster.node_pool[2] == -1 && w.vcs.vc[0].away == 2);
    give_back(&w, 2);
    cr_assert_str_eq(nodes_of(&w, 0, text), "0 1 2");
    cr_assert_str_eq(nodes_of(&w, -1, text), "0 1 3 2");
    cr_assert(w.l.cluster.node_pool[2] == 0 && w.vcs.vc[0].away == -1 && w.vcs.vc[0].due);
    /* 1 goes and 2, busy, is called 1 from then on; back comes 1 as the highest. */
    occupy(&w, 0, 2);
    cr_assert_eq(take(&w), 1);
    give_back(&w, 1);
    cr_assert_str_eq(nodes_of(&w, 0, text), "0 2 1");
    occupy(&w, 1, 1);
    plan_undo(&w.plan, 0); /* takes the pools back as well, which nobody asks here */
    cr_assert_eq(take(&w), 1, "the highest name is that of the one that came back last");
    cr_assert_eq(take(&w), 2, "then 2, which is called 1");
    cr_assert_eq(take(&w), 0);
    cr_assert_eq(take(&w), -1);
    close_world(&w);
}

Test(lending, where_none_is_idle_a_spare_one_serves_and_goes_back)
{
    struct world w = {0};
    char text[64];
    open_world(&w, "spare");
    cr_assert_str_eq(nodes_of(&w, -1, text), "0 1 2", "spare ones are nobody's");
    cr_assert_eq(take(&w), 2);
    give_back(&w, 2);
    for (int32_t node = 0; node < 3; node++)
        occupy(&w, node, node);
    cr_assert_eq(take(&w), 3);
    cr_assert_str_eq(nodes_of(&w, 0, text), "0 1 2", "the lender keeps its own");
    cr_assert_str_eq(nodes_of(&w, 1, text), "");
    cr_assert_eq(take(&w), -1, "there is no other");
    give_back(&w, 3);
    cr_assert_str_eq(nodes_of(&w, 0, text), "0 1 2", "it has a node of that name");
    cr_assert_str_eq(nodes_of(&w, 1, text), "3");
    close_world(&w);
}

Test(lending, a_spare_node_stays_with_a_lender_that_never_lent_one)
{
    struct world w = {0};
    char text[64];
    open_world(&w, "spare");
    for (int32_t node = 0; node < 3; node++)
        occupy(&w, node, node);
    cr_assert_eq(take(&w), 3);
    give_back(&w, 3);
    cr_assert_str_eq(nodes_of(&w, 0, text), "0 1 2 3", "the artifact's, one too large from now on");
    cr_assert_eq(w.l.cluster.node_pool[3], 0);
    close_world(&w);
}
