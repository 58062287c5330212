/* beside.c: on exactly the cards of another, or on those a policy is gladdest of. */
#include "core/cluster/beside.h"
#include "tests/lab.h"
#include "tests/leak.h"

#include <criterion/criterion.h>
#include <string.h>

TestSuite(beside, .fini = abort_on_leak, .timeout = 60);

static struct plan plan_of(struct lab *l)
{
    struct plan p;
    struct place_rules rules = {.mode = PLACE_FIRST_FIT, .pool = -1, .share_max = 1};
    cr_assert_eq(plan_init(&p, &l->cluster, &l->jobs, rules, NULL), ST_OK);
    return p;
}

static void done(struct lab *l, struct plan *p)
{
    cr_assert(cluster_valid(&l->cluster, &l->jobs));
    plan_free(p);
    lab_free(l);
}

/* Cards of a job as text, "0 1". */
static const char *cards_of(const struct lab *l, const struct plan *p, int32_t job, char *text)
{
    int32_t task = l->jobs.task_begin[job];
    text[0] = '\0';
    for (int32_t i = 0; i < p->at[task].n; i++)
        sprintf(text + strlen(text), i > 0 ? " %d" : "%d",
                l->cluster.seats[p->at[task].first + i].where);
    return text;
}

/* host, guest, nodes: may the guest sit on the host's cards? */
static const struct {
    const char *jobs, *nodes, *why;
    bool fits;
} rows[] = {
    {"h 0 9 2 1 x 100\ng 0 9 2 1 y 100", "4x1000MiB", "as wide, and there is memory", true},
    {"h 0 9 2 1 x 600\ng 0 9 2 1 y 500", "4x1000MiB", "1100 MiB do not fit 1000", false},
    {"h 0 9 2\ng 0 9 1", "4", "not as wide", false},
    {"h 0 9 2 2\ng 0 9 4", "4", "two instances of two are not one of four", false},
    {"h 0 9 0.5\ng 0 9 0.5", "4", "fractions share by their shares", false},
    {"h 0 9 1\ng 0 9 1\ng 0 5 1", "4", "a guest of two tasks", false},
    {"h 0 9 1 1 - 0 T4\ng 0 9 1 1 - 0 V100", "2:T4+2:V100", "the host's type is not the guest's",
     false},
    {"h 0 9 1 1 - 0 T4\ng 0 9 1 1 - 0 -", "2:T4+2:V100", "the guest takes any type", true},
};

Test(beside, each_row_of_the_table_holds)
{
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct lab l = {0};
        struct arena scratch = {0};
        char host[32], guest[32];
        lab_jobs(&l, rows[i].jobs);
        lab_nodes(&l, rows[i].nodes);
        struct plan p = plan_of(&l);
        int32_t type_id[8];
        for (int32_t n = 0; n < l.jobs.names.n; n++)
            type_id[n] = names_find(&l.cluster.gpu_types, names_text(&l.jobs.names, n),
                                    names_length(&l.jobs.names, n));
        p.rules.type_id = type_id;
        p.rules.type_strict = l.cluster.gpu_types.n > 1;
        cr_assert(plan_start(&p, 0));
        cr_expect_eq(beside_start(&p, 1, 0, &scratch), rows[i].fits, "%s", rows[i].why);
        if (rows[i].fits)
            cr_expect_str_eq(cards_of(&l, &p, 0, host), cards_of(&l, &p, 1, guest));
        plan_undo(&p, 0);
        cr_assert_eq(l.cluster.gpu_held_milli, 0);
        arena_free(&scratch);
        done(&l, &p);
    }
}

Test(beside, host_cpu_and_memory_limit_a_guest_too)
{
    struct lab l = {0};
    struct arena scratch = {0};
    lab_jobs(&l, "h 0 9 1\ng 0 9 1");
    lab_nodes(&l, "4");
    l.jobs.cpu_milli[0] = l.jobs.cpu_milli[1] = 3000;
    l.cluster.node_cpu_milli[0] = l.cluster.cpu_free_milli[0] = 5000;
    struct plan p = plan_of(&l);
    cr_assert(plan_start(&p, 0));
    cr_assert_not(beside_start(&p, 1, 0, &scratch), "2 cores are left, 3 are asked for");
    l.jobs.cpu_milli[1] = 2000;
    cr_assert(beside_start(&p, 1, 0, &scratch));
    cr_assert_eq(l.cluster.cpu_free_milli[0], 0);
    arena_free(&scratch);
    done(&l, &p);
}

/* The worth of every card, by number. */
static double by_number(const void *context, const struct plan *p, int32_t job, int32_t card)
{
    (void)p;
    (void)job;
    return ((const double *)context)[card];
}

static const int32_t all[] = {0, 1, 2, 3, 4, 5};

/* Two nodes of three cards; what a job of so many GPUs and instances gets. */
static const struct {
    const char *job;
    double worth[6];
    const char *cards, *why;
} wishes[] = {
    {"a 0 9 1", {1, 3, 2, 2, 2, 2}, "1", "the gladdest card"},
    {"a 0 9 1", {1, 1, 1, 1, 1, 1}, "0", "the lowest of equals"},
    {"a 0 9 2", {9, 1, 1, 3, 2, 0}, "3 4", "the worst of its cards counts"},
    {"a 0 9 2", {9, -1, -1, 3, -1, 0}, "3 5", "never a card that must not be"},
    {"a 0 9 2", {9, -1, -1, 3, -1, -1}, NULL, "two cards, but not of one node"},
    {"a 0 9 1 3", {5, 1, 1, 4, 3, 0}, "0 3 4", "instances go anywhere"},
    {"a 0 9 1 3", {5, -1, -1, 4, -1, -1}, NULL, "all or none"},
    {"a 0 9 4", {1, 1, 1, 1, 1, 1}, NULL, "wider than a node"},
};

Test(beside, a_job_goes_where_it_is_gladdest)
{
    for (size_t i = 0; i < sizeof wishes / sizeof *wishes; i++) {
        struct lab l = {0};
        struct arena scratch = {0};
        char text[32];
        lab_jobs(&l, wishes[i].job);
        lab_nodes(&l, "3+3");
        struct plan p = plan_of(&l);
        bool starts = beside_start_best(&p, 0, all, 6, by_number, wishes[i].worth, &scratch);
        cr_expect_eq(starts, wishes[i].cards != NULL, "row %zu, %s", i, wishes[i].why);
        if (starts && wishes[i].cards != NULL)
            cr_expect_str_eq(cards_of(&l, &p, 0, text), wishes[i].cards, "row %zu, %s: %s", i,
                             wishes[i].why, text);
        plan_undo(&p, 0);
        arena_free(&scratch);
        done(&l, &p);
    }
}

Test(beside, cpu_limits_the_instances_of_a_node)
{
    struct lab l = {0};
    struct arena scratch = {0};
    char text[32];
    const double worth[] = {9, 9, 9, 1, 1, 1};
    lab_jobs(&l, "a 0 9 1 3");
    lab_nodes(&l, "3+3");
    l.jobs.cpu_milli[0] = 2000;
    l.cluster.node_cpu_milli[0] = l.cluster.cpu_free_milli[0] = 5000;
    struct plan p = plan_of(&l);
    cr_assert(beside_start_best(&p, 0, all, 6, by_number, worth, &scratch));
    cr_assert_str_eq(cards_of(&l, &p, 0, text), "0 1 3", "%s", text);
    arena_free(&scratch);
    done(&l, &p);
}

Test(beside, only_the_cards_named_are_looked_at)
{
    struct lab l = {0};
    struct arena scratch = {0};
    char text[32];
    const double worth[] = {9, 9, 9, 1, 1, 1};
    const int32_t some[] = {1, 3, 4};
    lab_jobs(&l, "a 0 9 2\nb 0 9 2 2");
    lab_nodes(&l, "3+3");
    struct plan p = plan_of(&l);
    cr_assert(beside_start_best(&p, 0, some, 3, by_number, worth, &scratch));
    cr_assert_str_eq(cards_of(&l, &p, 0, text), "3 4", "%s", text);
    cr_assert_not(beside_start_best(&p, 1, some, 3, by_number, worth, &scratch), "four are asked");
    arena_free(&scratch);
    done(&l, &p);
}
