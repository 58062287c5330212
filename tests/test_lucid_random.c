/* The policies of Lucid's artifact against a second model that ticks by the second, on small random
 * traces: start, end and queue of every job. */
#include "tests/leak.h"
#include "tests/lucid_lab.h"
#include "tests/ref_lucid_tick.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

TestSuite(lucid_random, .fini = abort_on_leak, .timeout = 280);

enum {
    N_JOBS_MAX = 90,
    N_KINDS = 6,
    N_SOON = 12,
    N_VCS = 3,
    LENDER = 2,
    BEGIN_S = 6000,
    POOL_MAX = 3
};

static const char *const pool_names[N_VCS] = {"a", "b", "c"};

struct world {
    struct ref_lucid_job job[N_JOBS_MAX];
    int n_jobs, nodes[N_VCS];
    struct ref_rates rates[N_KINDS * N_KINDS];
    double soon_jobs[N_SOON], soon_gpus[N_SOON];
    int mem_mib[N_KINDS], score[N_KINDS];
};

static int below(gsl_rng *rng, int n) { return (int)gsl_rng_uniform_int(rng, (unsigned long)n); }

static int width(gsl_rng *rng, int nodes)
{
    static const int narrow[] = {1, 1, 1, 2, 2, 3, 4, 5, 8};
    if (nodes < 2 || below(rng, 5) > 0)
        return narrow[below(rng, 9)];
    return below(rng, 2) ? 8 * nodes : 9 + below(rng, 8 * nodes - 8);
}

/* What is lent can stay away for ever: the lender's jobs do without it. Bursts of short jobs, so
 * that the profiler's queue grows beyond ten, and quiet times. */
static void draw_jobs(struct world *w, gsl_rng *rng)
{
    int64_t t = BEGIN_S + below(rng, 50);
    w->n_jobs = 30 + below(rng, N_JOBS_MAX - 30);
    for (int i = 0; i < w->n_jobs; i++) {
        int vc = below(rng, N_VCS);
        if (below(rng, 3) == 0)
            t += below(rng, below(rng, 12) == 0 ? 700 : 60);
        w->job[i] = (struct ref_lucid_job){
            .vc = vc,
            .gpus = width(rng, w->nodes[vc] - (vc == LENDER)),
            .submit_s = t,
            .duration_s = below(rng, 3) > 0 ? 1 + below(rng, 260) : 1 + below(rng, 2000),
            .estimate_s = below(rng, 4) > 0 ? 100 * below(rng, 20) : -1 - below(rng, 9),
            .config = below(rng, N_KINDS)};
        w->job[i].mem_mib = w->mem_mib[w->job[i].config];
        w->job[i].score = w->score[w->job[i].config];
    }
}

static void draw_world(struct world *w, gsl_rng *rng)
{
    for (int i = 0; i < N_VCS; i++)
        w->nodes[i] = 1 + below(rng, POOL_MAX) + (i == LENDER ? 1 + below(rng, 3) : 0);
    for (int a = 0; a < N_KINDS; a++) {
        w->mem_mib[a] = 2000 + 576 * below(rng, 30);
        w->score[a] = below(rng, 3);
        for (int b = 0; b <= a; b++) {
            double x = (400 + below(rng, 1100)) / 1000.0, y = (400 + below(rng, 1100)) / 1000.0;
            w->rates[b * N_KINDS + a] = (struct ref_rates){y, x};
            w->rates[a * N_KINDS + b] = (struct ref_rates){x, y};
        }
    }
    for (int i = 0; i < N_SOON; i++) {
        w->soon_jobs[i] = (below(rng, 50) - 2) / 10.0;
        w->soon_gpus[i] = below(rng, 800) / 10.0;
    }
    draw_jobs(w, rng);
}

static void fill_jobs(struct lab *l, const struct world *w)
{
    for (int i = 0; i < w->n_jobs; i++) {
        const struct ref_lucid_job *j = &w->job[i];
        struct job_row row = job_row_empty();
        char name[16], kind[16];
        int full = j->gpus / 8, rest = j->gpus % 8;
        row.name = name;
        row.name_length = (size_t)snprintf(name, sizeof name, "j%d", i);
        row.submit_us = j->submit_s * US_PER_S;
        row.duration_us = j->duration_s * US_PER_S;
        row.gpu_mem_mib = j->mem_mib;
        row.queue = names_add(&l->jobs.names, pool_names[j->vc], 1);
        row.workload =
            names_add(&l->jobs.names, kind, (size_t)snprintf(kind, sizeof kind, "k%d", j->config));
        row.n_inst = j->gpus > 8 ? full : 1;
        row.gpu_milli = 1000 * (j->gpus > 8 ? 8 : j->gpus);
        cr_assert_geq(jobs_add(&l->jobs, &row), 0);
        row.n_inst = 1;
        row.gpu_milli = 1000 * rest;
        if (j->gpus > 8 && rest > 0)
            cr_assert_geq(jobs_add(&l->jobs, &row), 0);
    }
    cr_assert_eq(jobs_close(&l->jobs, NULL), ST_OK);
}

static void fill_tables(struct lab *l, const struct world *w)
{
    char text[8192];
    int n = sprintf(text, "job_id,priority\n");
    for (int i = 0; i < w->n_jobs; i++)
        n += sprintf(text + n, "j%d,%.0f\n", i, w->job[i].estimate_s);
    lab_table(l, LUCID_ESTIMATES, text);
    n = sprintf(text, "time,pred_gpu_job,pred_gpu_num\n");
    for (int i = 0; i < N_SOON; i++)
        n += sprintf(text + n, "%d,%.1f,%.1f\n", i, w->soon_jobs[i], w->soon_gpus[i]);
    lab_table(l, LUCID_FORECAST, text);
    n = sprintf(text, "workload,label\n");
    for (int i = 0; i < N_KINDS; i++)
        n += sprintf(text + n, "k%d,%d\n", i, w->score[i]);
    lab_table(l, LUCID_LABELS, text);
    n = sprintf(text, "workload1,workload2,speed1,speed2\n");
    for (int a = 0; a < N_KINDS; a++)
        for (int b = 0; b <= a; b++)
            n += sprintf(text + n, "k%d,k%d,%.3f,%.3f\n", a, b, w->rates[a * N_KINDS + b].joins,
                         w->rates[a * N_KINDS + b].joined);
    lab_table(l, LUCID_RATES, text);
}

static void compare(const struct lab *l, const struct world *w, int round, const char *what)
{
    double *queue_s = lab_queue_s(l);
    for (int i = 0; i < w->n_jobs; i++) {
        const struct ref_lucid_job *j = &w->job[i];
        cr_assert_eq(l->jobs.start_us[i], j->start_s * US_PER_S,
                     "%s, round %d, job %d: starts at %.6f, not %ld", what, round, i,
                     s_of_us(l->jobs.start_us[i]), (long)j->start_s);
        cr_assert_eq(l->jobs.finish_us[i], j->end_s * US_PER_S,
                     "%s, round %d, job %d: ends at %.6f, not %ld", what, round, i,
                     s_of_us(l->jobs.finish_us[i]), (long)j->end_s);
        cr_assert_float_eq(queue_s[i], (double)j->queue_s, 1e-9,
                           "%s, round %d, job %d: queue %.6f, not %ld", what, round, i, queue_s[i],
                           (long)j->queue_s);
    }
    free(queue_s);
}

struct count {
    long n_preempted, n_paired, n_profiled, n_moves, n_refused;
};

static void count(struct count *c, const struct ref_lucid *r)
{
    c->n_moves += r->n_moves;
    c->n_refused += r->n_refused;
    for (int i = 0; i < r->n_jobs; i++) {
        c->n_preempted += r->job[i].n_preempted;
        c->n_paired += r->job[i].n_paired;
        c->n_profiled += r->job[i].profile_s >= 0;
    }
}

/* Both models on one world. With a profiler the last pool lends, and two pools of one node each
 * have nodes for the profiler alone. */
static void both(struct world *w, enum ref_order order, const char *policy, const char *settings,
                 struct ref_lucid r, int round, struct count *c)
{
    struct lab l = {.unchecked = round % 8 > 0};
    char pools[64];
    r.job = w->job;
    r.n_jobs = w->n_jobs;
    r.vc_nodes = w->nodes;
    r.n_vcs = N_VCS;
    r.order = order;
    r.begin_s = BEGIN_S;
    r.rates = w->rates;
    r.n_configs = N_KINDS;
    r.soon_jobs = w->soon_jobs;
    r.soon_gpus = w->soon_gpus;
    r.n_soon = N_SOON;
    ref_lucid_run(&r);
    fill_jobs(&l, w);
    snprintf(pools, sizeof pools, "a:%d b:%d c:%d p:1 q:1 spare:2", w->nodes[0], w->nodes[1],
             w->nodes[2]);
    lab_pools(&l, pools);
    fill_tables(&l, w);
    if (settings != NULL)
        lab_settings(&l, policy, settings);
    lab_run(&l, policy);
    compare(&l, w, round, settings != NULL ? settings : policy);
    count(c, &r);
    lab_free(&l);
}

static void many(enum ref_order order, const char *policy, const char *settings,
                 struct ref_lucid how, int n_rounds, struct count *c)
{
    gsl_rng *rng = gsl_rng_alloc(gsl_rng_mt19937);
    how.lender = order == REF_LUCID ? LENDER : -1;
    *c = (struct count){0};
    for (int round = 0; round < n_rounds; round++) {
        struct world w = {0};
        draw_world(&w, rng);
        both(&w, order, policy, settings, how, round, c);
    }
    gsl_rng_free(rng);
}

#define LUCID                                                                                      \
    "semantics=artifact rates=given forecast_from_s=6000 profiler=p,q lender=c estimate=auto "

Test(lucid_random, lucid_agrees_second_by_second)
{
    struct count c;
    many(REF_LUCID, "lucid", LUCID, (struct ref_lucid){0}, 300, &c);
    cr_assert(c.n_paired > 500 && c.n_profiled > 5000 && c.n_moves > 100 && c.n_refused > 30,
              "%ld pairs, %ld profiled, %ld moves, %ld refused: too easy", c.n_paired, c.n_profiled,
              c.n_moves, c.n_refused);
}

Test(lucid_random, lucid_with_one_mistake_put_right_agrees)
{
    struct count c;
    many(REF_LUCID, "lucid", LUCID "recovery=repaired", (struct ref_lucid){.recover_partner = true},
         100, &c);
    many(REF_LUCID, "lucid", LUCID "free_gpus=repaired", (struct ref_lucid){.free_first = true},
         100, &c);
    many(REF_LUCID, "lucid", LUCID "sharing=off", (struct ref_lucid){.never_share = true}, 100, &c);
    cr_assert_eq(c.n_paired, 0);
    many(REF_LUCID, "lucid", LUCID "profiling=repaired",
         (struct ref_lucid){.wait_for_profile = true}, 100, &c);
}

Test(lucid_random, tiresias_agrees_second_by_second)
{
    struct count c;
    many(REF_TIRESIAS, "tiresias", "semantics=artifact", (struct ref_lucid){0}, 300, &c);
    cr_assert_gt(c.n_preempted, 300, "%ld preemptions: too easy", c.n_preempted);
}

Test(lucid_random, srtf_agrees_second_by_second)
{
    struct count c;
    many(REF_SRTF, "vc-srtf", "semantics=artifact", (struct ref_lucid){0}, 300, &c);
    cr_assert_gt(c.n_preempted, 1000, "%ld preemptions: too easy", c.n_preempted);
}

Test(lucid_random, the_orders_that_preempt_nobody_agree_second_by_second)
{
    struct count c;
    many(REF_FIFO, "vc-fifo", NULL, (struct ref_lucid){0}, 100, &c);
    many(REF_SJF, "vc-sjf", NULL, (struct ref_lucid){0}, 100, &c);
    many(REF_QSSF, "qssf", "semantics=artifact", (struct ref_lucid){0}, 300, &c);
}
