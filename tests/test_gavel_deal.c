/* Who is dealt what: classes, their limit, and finish times with pairs against a bisection. */
#include "policies/peers/gavel_deal.h"
#include "tests/lab.h"
#include "tests/leak.h"

#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

TestSuite(gavel_deal, .fini = abort_on_leak, .timeout = 120);

enum { N = 5 };

struct world {
    struct lab lab;
    struct plan plan;
    struct view view;
    struct stay stay[N];
    struct arena arena, scratch;
    struct gavel_deal deal;
    int32_t pair_id[16], job[N];
};

/* N waiting one-GPU jobs of workloads w0, w1, ... on a few GPUs, now = 100 s. */
static void open_world(struct world *w, const char *jobs, const char *nodes,
                       enum gavel_objective objective, int classes, gsl_rng *rng)
{
    memset(w, 0, sizeof *w);
    lab_jobs(&w->lab, jobs);
    lab_nodes(&w->lab, nodes);
    for (int a = 0; a < N; a++)
        for (int b = a; b < N; b++) {
            char x[4] = {'w', (char)('0' + a), 0}, y[4] = {'w', (char)('0' + b), 0};
            double keeps = rng == NULL ? .75 : .3 + .7 * gsl_rng_uniform(rng);
            double other = rng == NULL || a == b ? keeps : .3 + .7 * gsl_rng_uniform(rng);
            cr_assert_eq(pairs_add(&w->lab.pairs, x, 2, y, 2, keeps, other, NULL), ST_OK);
        }
    for (int32_t i = 0; i < w->lab.jobs.names.n; i++)
        w->pair_id[i] = names_find(&w->lab.pairs.workloads, names_text(&w->lab.jobs.names, i),
                                   names_length(&w->lab.jobs.names, i));
    struct place_rules rules = {
        .pool = -1, .share_max = 1, .pairs = &w->lab.pairs, .pair_id = w->pair_id};
    cr_assert_eq(plan_init(&w->plan, &w->lab.cluster, &w->lab.jobs, rules, NULL), ST_OK);
    w->view = (struct view){.now_us = 100 * US_PER_S,
                            .jobs = &w->lab.jobs,
                            .cluster = &w->lab.cluster,
                            .running_first = -1,
                            .stay = w->stay,
                            .scratch = &w->scratch};
    for (int32_t j = 0; j < w->lab.jobs.n_jobs; j++)
        w->job[j] = j;
    cr_assert(gavel_deal_init(&w->deal, objective, classes, &w->view, &rules, &w->arena));
    cr_assert(gavel_deal(&w->deal, &w->view, &w->plan, w->job, w->lab.jobs.n_jobs));
}

static void close_world(struct world *w)
{
    plan_free(&w->plan);
    arena_free(&w->arena);
    arena_free(&w->scratch);
    lab_free(&w->lab);
}

Test(gavel_deal, like_jobs_are_one_class_and_the_most_numerous_share)
{
    /* Two GPUs, max-min: x alone is .4. One class may share: the three w0, which keep .75 each. */
    static struct world w;
    open_world(&w, "a 0 9 1 1 w1 1\nb 0 9 1 1 w0 1\nc 0 9 1 1 w0 1\nd 0 9 1 1 w0 1\ne 0 9 1 1 w1 1",
               "2", GAVEL_MAX_MIN, 1, NULL);
    cr_assert_eq(w.deal.n_classes, 1);
    cr_assert_eq(w.deal.class[1], 0);
    cr_assert_eq(w.deal.class[0], -1);
    cr_assert_float_eq(w.deal.x[0], .4, 1e-9, "what it has without pairs");
    /* 1.2 GPUs are left to three jobs: pairs p and turns a with p + a = 1.2, 2 p + a <= 3. */
    cr_assert_float_eq(w.deal.x[1], 2 * 1.2 / 3, 1e-7, "all of it as pairs: %g", w.deal.x[1]);
    close_world(&w);
}

Test(gavel_deal, who_has_all_it_asks_for_does_not_share)
{
    static struct world w;
    open_world(&w, "a 0 9 1 1 w0 1\nb 0 9 4 1 w1 1\nc 0 9 4 1 w2 1", "4", GAVEL_MAX_MIN, 8, NULL);
    /* a has one GPU all the time; b and c share the other four at .75, three quarters of the time.
     */
    cr_assert_float_eq(w.deal.x[0], 1, 1e-9);
    cr_assert_eq(w.deal.class[0], -1);
    cr_assert_eq(w.deal.n_units, 1);
    cr_assert_float_eq(w.deal.unit[0].runs, .75, 1e-7);
    close_world(&w);
}

/* The smallest largest rho by bisection: is the programme of the demands at this rho solvable? */
static double rho_by_bisection(const struct world *w)
{
    double ones[N], gpus[N], keeps[N * N], need[N], low = 0, high = 1e6;
    int32_t pool[N];
    struct gavel_unit unit[N * (N + 3) / 2];
    struct arena scratch = {0};
    const struct job_table *t = &w->lab.jobs;
    for (int a = 0; a < N; a++) {
        ones[a] = gpus[a] = 1;
        pool[a] = -1;
        for (int b = 0; b < N; b++)
            keeps[a * N + b] =
                pairs_speed(&w->lab.pairs, w->pair_id[t->workload[a]], w->pair_id[t->workload[b]]);
    }
    struct gavel_classes classes = {N, 0, ones, gpus, pool, keeps, need, NULL, 2};
    while (high - low > 1e-9 * high) {
        double rho = (low + high) / 2, level = 0;
        bool possible = true;
        for (int j = 0; j < N; j++) {
            double left_s = s_of_us(t->duration_us[j]), alone_s = left_s / (2. / N);
            double time_s = rho * alone_s - (100 - s_of_us(t->submit_us[j]));
            possible = possible && time_s >= left_s;
            need[j] = left_s / time_s;
        }
        if (possible)
            cr_assert_geq(gavel_pair_units(&classes, unit, &level, &scratch), 0);
        *(possible && level >= 1 ? &high : &low) = rho;
    }
    arena_free(&scratch);
    return high;
}

Test(gavel_deal, finish_times_with_pairs_are_as_fair_as_a_bisection_finds)
{
    gsl_rng *rng = gsl_rng_alloc(gsl_rng_mt19937);
    int n_paired = 0;
    for (int round = 0; round < 200; round++) {
        static struct world w;
        char jobs[256] = "";
        for (int j = 0; j < N; j++)
            sprintf(jobs + strlen(jobs), "j%d %d %d 1 1 w%d 1\n", j,
                    (int)gsl_rng_uniform_int(rng, 100), 50 + (int)gsl_rng_uniform_int(rng, 400),
                    (int)gsl_rng_uniform_int(rng, N));
        open_world(&w, jobs, "2", GAVEL_FINISH_TIME, N, rng);
        if (w.deal.n_classes == N) {
            double ones[N], gpus[N], keeps[N * N], rho = 0;
            const struct job_table *t = &w.lab.jobs;
            for (int a = 0; a < N; a++) {
                ones[a] = gpus[a] = 1;
                for (int b = 0; b < N; b++)
                    keeps[a * N + b] = pairs_speed(&w.lab.pairs, w.pair_id[t->workload[a]],
                                                   w.pair_id[t->workload[b]]);
            }
            struct gavel_classes classes = {.n = N, .n_jobs = ones, .gpus = gpus, .keeps = keeps};
            for (int j = 0; j < N; j++) {
                double left_s = s_of_us(t->duration_us[j]);
                double rate =
                    gavel_throughput(&classes, w.deal.unit, w.deal.n_units, w.deal.class[j]);
                double age_s = 100 - s_of_us(t->submit_us[j]);
                rho = fmax(rho, (age_s + left_s / rate) / (left_s / (2. / N)));
            }
            double best = rho_by_bisection(&w);
            cr_assert_float_eq(rho, best, 1e-5 * best, "round %d: %g, bisection %g", round, rho,
                               best);
            n_paired++;
        }
        close_world(&w);
    }
    cr_assert_gt(n_paired, 100, "%d", n_paired);
    gsl_rng_free(rng);
}
