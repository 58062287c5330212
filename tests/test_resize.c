/* Elastic jobs in plans: widths, places, and that whatever was tried is taken back exactly. */
#include "tests/lab.h"
#include "tests/leak.h"

#include <criterion/criterion.h>
#include <string.h>

TestSuite(resize, .fini = abort_on_leak);

static struct plan plan_of(struct lab *l, enum place_mode mode)
{
    struct plan p;
    l->rng = gsl_rng_alloc(gsl_rng_mt19937);
    struct place_rules rules = {.mode = mode, .pool = -1, .share_max = 1, .rng = l->rng};
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

/* The cards a job sits on, as text in the order of its seats. */
static const char *cards_of(const struct lab *l, const struct plan *p, int32_t job, char *text)
{
    struct seats at = p->at[l->jobs.task_begin[job]];
    text[0] = '\0';
    for (int32_t i = 0; i < at.n; i++)
        sprintf(text + strlen(text), i > 0 ? " %d" : "%d", l->cluster.seats[at.first + i].where);
    return text;
}

Test(resize, an_elastic_job_of_whole_gpus_is_cut_into_single_cards)
{
    struct lab l = {0};
    lab_jobs(&l, "a 0 1 4 1 - 0 - 1 8\nb 0 1 2 3 - 0 - 1 6\nc 0 1 4\nd 0 1 1 1 - 0 - 1 4\n"
                 "e 0 1 0.5 2 - 0 - 1 1");
    const struct job_table *t = &l.jobs;
    cr_assert(t->n_inst[0] == 4 && t->gpu_milli[0] == 1000 && job_is_elastic(t, 0));
    cr_assert(t->n_inst[1] == 6 && t->gpu_milli[1] == 1000 && job_is_elastic(t, 1));
    cr_assert(t->n_inst[2] == 1 && t->gpu_milli[2] == 4000 && !job_is_elastic(t, 2));
    cr_assert(t->n_inst[3] == 1 && job_is_elastic(t, 3));
    cr_assert_not(job_is_elastic(t, 4), "parts of cards do not grow");
    lab_free(&l);
    lab_jobs(&l, "a 0 1 2 1 - 0 - 1 8\na 0 2 2 1 - 0 - 1 8");
    cr_assert_not(job_is_elastic(&l.jobs, 0), "nor do several tasks");
    lab_free(&l);
}

Test(resize, the_first_cards_stay_and_growing_takes_what_is_free)
{
    struct lab l = {0};
    char text[128];
    lab_jobs(&l, "a 0 1 4 1 - 0 - 1 8\nb 0 1 2 1 - 0 - 1 8");
    lab_nodes(&l, "4+4");
    struct plan p = plan_of(&l, PLACE_FIRST_FIT);
    cr_assert(plan_start_width(&p, 0, 6));
    cr_assert_str_eq(cards_of(&l, &p, 0, text), "0 1 2 3 4 5");
    plan_clear(&p);
    cr_assert(plan_resize(&p, 0, 3));
    cr_assert_str_eq(cards_of(&l, &p, 0, text), "0 1 2");
    cr_assert_eq(plan_width(&p, 0), 3);
    cr_assert(plan_start_width(&p, 1, 2));
    cr_assert_str_eq(cards_of(&l, &p, 1, text), "3 4");
    plan_clear(&p);
    cr_assert_not(plan_resize(&p, 0, 7), "three are free");
    cr_assert_str_eq(cards_of(&l, &p, 0, text), "0 1 2");
    cr_assert(plan_resize(&p, 0, 6));
    cr_assert_str_eq(cards_of(&l, &p, 0, text), "0 1 2 5 6 7");
    cr_assert(cluster_valid(&l.cluster, &l.jobs));
    plan_undo(&p, 0);
    cr_assert_str_eq(cards_of(&l, &p, 0, text), "0 1 2");
    done(&l, &p);
}

Test(resize, a_failed_growth_changes_nothing)
{
    struct lab l = {0};
    char text[128];
    lab_jobs(&l, "a 0 1 2 1 - 0 - 1 8\nb 0 1 1");
    lab_nodes(&l, "4");
    struct plan p = plan_of(&l, PLACE_FIRST_FIT);
    cr_assert(plan_start(&p, 0) && plan_start(&p, 1));
    plan_clear(&p);
    size_t n = p.n;
    cr_assert_not(plan_resize(&p, 0, 4));
    cr_assert_eq(p.n, n);
    cr_assert_eq(l.cluster.gpu_idle_milli, 1000);
    cr_assert_str_eq(cards_of(&l, &p, 0, text), "0 1");
    cr_assert(plan_resize(&p, 0, 3), "and may be tried again in the same pass");
    done(&l, &p);
}

/* What can be seen of a world: what is free everywhere and who sits where. */
static char *picture(const struct lab *l, const struct plan *p)
{
    char *text;
    size_t n;
    FILE *to = open_memstream(&text, &n);
    const struct cluster *c = &l->cluster;
    for (int32_t node = 0; node < c->n_nodes; node++)
        fprintf(to, "%d %d;", c->gpu_free_milli[node], c->cards_free[node]);
    for (int32_t card = 0; card < c->n_cards; card++)
        fprintf(to, "%d %d;", c->card_free_milli[card], c->card_n_jobs[card]);
    for (int32_t k = 0; k < l->jobs.n_tasks; k++) {
        fprintf(to, "\n%d:", k);
        for (int32_t i = 0; i < p->at[k].n && p->at[k].first >= 0; i++)
            fprintf(to, " %d", c->seats[p->at[k].first + i].where);
    }
    fprintf(to, "\n%ld %ld", (long)c->gpu_held_milli, (long)c->gpu_idle_milli);
    fclose(to);
    return text;
}

enum { N_JOBS = 12 };

/* Starts, resizes or evicts a job at random, as far as one pass allows. */
static void something(struct plan *p, gsl_rng *rng, bool *touched)
{
    int32_t job = (int32_t)gsl_rng_uniform_int(rng, N_JOBS);
    int32_t width = 1 + (int32_t)gsl_rng_uniform_int(rng, 9);
    if (touched[job])
        return;
    if (p->at[job].first < 0)
        touched[job] = job % 3 > 0 ? plan_start_width(p, job, width) : plan_start(p, job);
    else if (job % 3 > 0 && gsl_rng_uniform_int(rng, 3) > 0)
        touched[job] = plan_resize(p, job, width);
    else {
        plan_evict(p, job, 0);
        touched[job] = true;
    }
}

/* Several passes; in each a part is tried and taken back before the rest is kept. */
Test(resize, undo_gives_back_exactly_what_was_there)
{
    gsl_rng *rng = gsl_rng_alloc(gsl_rng_mt19937);
    for (int round = 0; round < 300; round++) {
        struct lab l = {0};
        char jobs[1024] = "";
        for (int i = 0; i < N_JOBS; i++)
            sprintf(jobs + strlen(jobs), "j%d 0 1 %d 1 - 0 -%s\n", i, 1 + i % 4,
                    i % 3 > 0 ? " 1 9" : "");
        lab_jobs(&l, jobs);
        lab_nodes(&l, round % 2 ? "4+8+2" : "3+3+3+3");
        struct plan p = plan_of(&l, (enum place_mode)(round % 5));
        for (int pass = 0; pass < 20; pass++) {
            bool touched[N_JOBS] = {false}, before[N_JOBS];
            for (int i = 0; i < 5; i++)
                something(&p, rng, touched);
            memcpy(before, touched, sizeof before);
            size_t mark = plan_mark(&p);
            char *seen = picture(&l, &p);
            for (int i = 0; i < 8; i++)
                something(&p, rng, touched);
            cr_assert(cluster_valid(&l.cluster, &l.jobs));
            plan_undo(&p, mark);
            char *again = picture(&l, &p);
            cr_assert_str_eq(again, seen);
            free(seen);
            free(again);
            for (int i = 0; i < 5; i++)
                something(&p, rng, before);
            cr_assert(cluster_valid(&l.cluster, &l.jobs));
            plan_clear(&p);
        }
        done(&l, &p);
    }
    gsl_rng_free(rng);
}
