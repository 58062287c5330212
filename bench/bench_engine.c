/* bench_engine - what an event costs: a whole FIFO replay at a given number of pending events,
 * beside a bare heap of the same size (the floor) in the same run.
 *
 *   bench_engine [JOBS]        default 1,000,000
 *
 * The replay keeps PENDING one-GPU jobs running on as many GPUs with a short queue behind them; an
 * event is an arrival or a completion. Reading the trace and storing the run are not in it. The
 * bare heap pops its first event and pushes it again at a later time, and does nothing else. */
#include "bench/tools.h"
#include "policies/registry.h"
#include "sim/run/engine.h"
#include "sim/run/eventq.h"

#include <gsl/gsl_randist.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const int pending[] = {100, 1000, 10000, 100000};

static double heap_ns(int n, int n_events, gsl_rng *rng)
{
    struct eventq q;
    struct error err = {{0}};
    must(eventq_init(&q, n, &err), &err);
    for (int i = 0; i < n; i++)
        eventq_set(&q, i, (int64_t)gsl_ran_exponential(rng, 1e9), EV_FINISH);
    enum { GAPS = 1 << 16 };
    static int64_t gap[GAPS];
    for (int i = 0; i < GAPS; i++)
        gap[i] = (int64_t)gsl_ran_exponential(rng, 1e9);
    double begin_s = cpu_now_s();
    for (int i = 0; i < n_events; i++) {
        struct event e = *eventq_first(&q);
        eventq_pop(&q);
        eventq_set(&q, e.owner, e.time_us + gap[i % GAPS], EV_FINISH);
    }
    double ns = (cpu_now_s() - begin_s) * 1e9 / n_events;
    eventq_free(&q);
    return ns;
}

/* n_jobs one-GPU jobs that keep n GPUs busy. */
static void make_jobs(struct job_table *t, int n_jobs, int n, gsl_rng *rng)
{
    struct error err = {{0}};
    double submit_us = 0;
    for (int i = 0; i < n_jobs; i++) {
        char name[16];
        struct job_row row = job_row_empty();
        row.name = name;
        row.name_length = (size_t)snprintf(name, sizeof name, "%d", i);
        submit_us += i < n ? 0 : gsl_ran_exponential(rng, 1e9 / n);
        row.submit_us = (int64_t)submit_us;
        row.duration_us = (int64_t)gsl_ran_exponential(rng, 1e9);
        row.gpu_milli = 1000;
        if (jobs_add(t, &row) < 0)
            must(fail_memory(&err), &err);
    }
    must(jobs_close(t, &err), &err);
}

static double replay_ns(int n, int n_jobs, gsl_rng *rng)
{
    struct job_table jobs = {0};
    struct cluster cluster;
    struct run_log log;
    struct error err = {{0}};
    struct node_spec spec = {.count = (n + 7) / 8, .n_gpus = 8, .cpu_milli = -1, .mem_mib = -1};
    must(cluster_init(&cluster, &spec, 1, SHARE_CARD, &err), &err);
    make_jobs(&jobs, n_jobs, n, rng);
    struct engine_setup setup = {.policy = policy_find("fifo"),
                                 .jobs = &jobs,
                                 .cluster = &cluster,
                                 .rules = {.pool = -1, .share_max = 1}};
    double begin_s = cpu_now_s();
    must(engine_run(&setup, &log, &err), &err);
    double ns = (cpu_now_s() - begin_s) * 1e9 / (double)log.n_events;
    run_log_free(&log);
    jobs_free(&jobs);
    cluster_free(&cluster);
    return ns;
}

int main(int argc, char **argv)
{
    int n_jobs = argc > 1 ? atoi(argv[1]) : 1000000;
    gsl_rng *rng = gsl_rng_alloc(gsl_rng_mt19937);
    printf("%10s %16s %18s %8s\n", "pending", "bare heap ns", "fifo replay ns", "ratio");
    for (size_t i = 0; i < sizeof pending / sizeof *pending; i++) {
        double floor = heap_ns(pending[i], 2000000, rng), ns = replay_ns(pending[i], n_jobs, rng);
        printf("%10d %16.0f %18.0f %8.1f\n", pending[i], floor, ns, ns / floor);
    }
    gsl_rng_free(rng);
    return 0;
}
