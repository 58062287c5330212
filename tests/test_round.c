/* round.c: who keeps its cards, who moves, who pairs, for hand-made rounds. */
#include "policies/peers/round.h"
#include "tests/lab.h"
#include "tests/leak.h"

#include <criterion/criterion.h>
#include <string.h>

TestSuite(round, .fini = abort_on_leak, .timeout = 60);

enum { JOBS_MAX = 8 };

struct world {
    struct lab lab;
    struct plan plan;
    struct view view;
    struct stay stay[JOBS_MAX];
    struct arena arena, scratch;
    struct round round;
};

static void open_world(struct world *w, const char *jobs, const char *nodes)
{
    memset(w, 0, sizeof *w);
    lab_jobs(&w->lab, jobs);
    lab_nodes(&w->lab, nodes);
    struct place_rules rules = {.mode = PLACE_FIRST_FIT, .pool = -1, .share_max = 1};
    cr_assert_eq(plan_init(&w->plan, &w->lab.cluster, &w->lab.jobs, rules, NULL), ST_OK);
    w->view = (struct view){.jobs = &w->lab.jobs,
                            .cluster = &w->lab.cluster,
                            .running_first = -1,
                            .stay = w->stay,
                            .scratch = &w->scratch};
    cr_assert(round_init(&w->round, &w->lab.jobs, 0, &w->arena));
    for (int32_t j = 0; j < w->lab.jobs.n_jobs; j++)
        w->lab.jobs.status[j] = JOB_WAITING;
}

static void close_world(struct world *w)
{
    cr_assert(cluster_valid(&w->lab.cluster, &w->lab.jobs));
    plan_free(&w->plan);
    arena_free(&w->arena);
    arena_free(&w->scratch);
    lab_free(&w->lab);
}

/* A pair as "ab", a job alone as "c", in order of rank; names are one letter from a on. */
static int32_t picks_of(const char *text, struct pick *pick)
{
    int32_t n = 0;
    for (const char *p = text; *p != '\0'; p += strspn(p, " "), n++) {
        pick[n] = (struct pick){.job = *p++ - 'a', .mate = -1};
        if (*p >= 'a')
            pick[n].mate = *p++ - 'a';
    }
    return n;
}

/* What the engine does with the plan, as far as the next round can see. */
static void apply(struct world *w)
{
    int32_t last = -1;
    plan_clear(&w->plan);
    w->view.running_first = -1;
    for (int32_t j = 0; j < w->lab.jobs.n_jobs; j++) {
        bool runs = round_has_place(&w->plan, j);
        w->lab.jobs.status[j] = runs ? JOB_RUNNING : JOB_WAITING;
        if (!runs)
            continue;
        w->stay[j].next = -1;
        *(last < 0 ? &w->view.running_first : &w->stay[last].next) = j;
        last = j;
    }
}

static int32_t n_evicted(const struct world *w)
{
    int32_t n = 0;
    for (size_t i = 0; i < w->plan.n; i++)
        n += w->plan.entry[i].kind == PLAN_EVICT;
    return n;
}

/* The first card of every job, "-" where it has none. */
static const char *cards(const struct world *w, char *text)
{
    text[0] = '\0';
    for (int32_t j = 0; j < w->lab.jobs.n_jobs; j++) {
        struct seats at = w->plan.at[w->lab.jobs.task_begin[j]];
        if (at.first < 0)
            strcat(text, "-");
        else
            sprintf(text + strlen(text), "%d", w->lab.cluster.seats[at.first].where);
    }
    return text;
}

/* Two rounds one after the other: who sits where after each, and how many were evicted for the
 * second. Jobs are a, b, c ... of the widths given, on nodes. */
static const struct {
    const char *jobs, *nodes, *first, *then, *first_cards, *then_cards;
    int32_t n_evicted;
    const char *why;
} rows[] = {
    {"a 0 9 1\nb 0 9 1\nc 0 9 1", "2", "a b", "c b", "01-", "-10", 1, "who goes on keeps its card"},
    {"a 0 9 1\nb 0 9 1\nc 0 9 1", "2", "a b", "a b", "01-", "01-", 0, "the same round again"},
    {"a 0 9 1\nb 0 9 1\nc 0 9 1", "2", "ab c", "ab c", "001", "001", 0, "a pair stays together"},
    {"a 0 9 1\nb 0 9 1\nc 0 9 1", "2", "ab c", "a c", "001", "0-1", 1, "a loses its mate"},
    {"a 0 9 1\nb 0 9 1\nc 0 9 1", "2", "ab c", "ac b", "001", "010", 2, "mates change cards"},
    {"a 0 9 1\nb 0 9 1\nc 0 9 1", "2", "a b", "ac b", "01-", "010", 0, "a mate comes"},
    {"a 0 9 1\nb 0 9 1\nc 0 9 1", "2", "a b", "ba c", "01-", "110", 1, "a moves to its mate"},
    {"a 0 9 1\nb 0 9 2\nc 0 9 1", "2+2", "a b c", "a b c", "203", "203", 0,
     "the widest goes first"},
    {"a 0 9 1\nb 0 9 1\nc 0 9 2", "2+2", "a b", "c a b", "01-", "012", 0, "there is room beside"},
    {"a 0 9 1\nb 0 9 1\nc 0 9 3", "3+1", "a b", "c a", "01-", "3-0", 2, "a makes room for c"},
    {"a 0 9 1\nb 0 9 1\nc 0 9 3", "3+1", "ab", "c ab", "00-", "330", 2, "a pair moves as a pair"},
    {"a 0 9 1\nb 0 9 1\nc 0 9 3", "3+1", "a b", "a c", "01-", "0--", 1, "nobody moves for less"},
};

Test(round, each_row_of_the_table_holds)
{
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        static struct world w;
        struct pick pick[JOBS_MAX];
        char text[64];
        open_world(&w, rows[i].jobs, rows[i].nodes);
        round_apply(&w.round, &w.view, &w.plan, pick, picks_of(rows[i].first, pick));
        cr_expect_str_eq(cards(&w, text), rows[i].first_cards, "row %zu, %s: %s", i, rows[i].why,
                         text);
        apply(&w);
        round_apply(&w.round, &w.view, &w.plan, pick, picks_of(rows[i].then, pick));
        cr_expect_str_eq(cards(&w, text), rows[i].then_cards, "row %zu, %s: %s", i, rows[i].why,
                         text);
        cr_expect_eq(n_evicted(&w), rows[i].n_evicted, "row %zu, %s: %d evicted", i, rows[i].why,
                     n_evicted(&w));
        apply(&w);
        close_world(&w);
    }
}

Test(round, a_job_of_another_width_starts_anew)
{
    static struct world w;
    struct pick two = {.job = 0, .mate = -1, .n_inst = 2},
                three = {.job = 0, .mate = -1, .n_inst = 3};
    open_world(&w, "a 0 9 1 4", "4");
    round_apply(&w.round, &w.view, &w.plan, &two, 1);
    cr_assert_eq(plan_width(&w.plan, 0), 2);
    apply(&w);
    round_apply(&w.round, &w.view, &w.plan, &two, 1);
    cr_assert_eq(n_evicted(&w), 0);
    apply(&w);
    round_apply(&w.round, &w.view, &w.plan, &three, 1);
    cr_assert_eq(n_evicted(&w), 1);
    cr_assert_eq(plan_width(&w.plan, 0), 3);
    apply(&w);
    close_world(&w);
}

Test(round, a_mate_that_finds_no_memory_does_not_run)
{
    static struct world w;
    struct pick pick = {.job = 0, .mate = 1};
    open_world(&w, "a 0 9 1 1 x 600\nb 0 9 1 1 y 600", "1x1000MiB");
    round_apply(&w.round, &w.view, &w.plan, &pick, 1);
    cr_assert(round_has_place(&w.plan, 0));
    cr_assert_not(round_has_place(&w.plan, 1));
    apply(&w);
    close_world(&w);
}

Test(round, what_is_left_is_filled_in_order)
{
    static struct world w;
    const int32_t order[] = {2, 0, 1, 3};
    char text[64];
    open_world(&w, "a 0 9 1\nb 0 9 3\nc 0 9 2\nd 0 9 1", "4");
    round_fill(&w.round, &w.plan, order, 4);
    cr_assert_str_eq(cards(&w, text), "2-03", "%s", text);
    apply(&w);
    close_world(&w);
}

Test(round, who_is_done_leaves_its_mate_alone)
{
    static struct world w;
    struct pick pick = {.job = 0, .mate = 1};
    int32_t finished = 0;
    open_world(&w, "a 0 9 1\nb 0 9 1", "1");
    round_apply(&w.round, &w.view, &w.plan, &pick, 1);
    apply(&w);
    cr_assert_eq(w.round.mate[1], 0);
    plan_end_task(&w.plan, 0);
    w.lab.jobs.status[0] = JOB_DONE;
    w.view.finished = &finished;
    w.view.n_finished = 1;
    round_begin(&w.round, &w.view);
    cr_assert_eq(w.round.mate[1], -1);
    close_world(&w);
}
