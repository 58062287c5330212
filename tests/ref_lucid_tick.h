/* ref_lucid_tick.h - the simulator of Lucid's artifact one second at a time, as slow as it is
 * plain.
 *
 * Written from the description of its behaviour alone; it shares no code with policies/ or the
 * engine, so that the two can be held against each other. Seconds are whole numbers, nodes have
 * eight GPUs, and every virtual cluster has a clock of its own. */
#ifndef COLOSIM_TESTS_REF_LUCID_TICK_H
#define COLOSIM_TESTS_REF_LUCID_TICK_H

#include <stdbool.h>
#include <stdint.h>

enum ref_order { REF_FIFO, REF_SJF, REF_SRTF, REF_QSSF, REF_TIRESIAS, REF_LUCID };

struct ref_lucid_job {
    int vc, gpus;
    int64_t submit_s, duration_s;
    double estimate_s; /* QSSF and Lucid; below 0: 1000 */
    int mem_mib, score, config;
    /* what became of it */
    int64_t start_s, end_s, queue_s; /* queue as the artifact counts it */
    int64_t profile_s;               /* when its time in the profiler began, -1 */
    int n_preempted, n_paired;       /* paired: times it joined another */
};

struct ref_lucid {
    struct ref_lucid_job *job; /* (n_jobs) in order of submission */
    int n_jobs;
    const int *vc_nodes; /* (n_vcs) */
    int n_vcs;
    enum ref_order order;
    int64_t begin_s; /* when all clocks start */
    /* REF_LUCID only */
    int lender; /* the VC that lends the profiler a node; -1: no profiler */
    const struct ref_rates {
        double joins, joined;
    } * rates; /* (n_configs x n_configs) when a job of the row joins one of the column */
    int n_configs;
    const double *soon_jobs, *soon_gpus; /* (n_soon) forecasts, ten minutes each, from begin_s */
    int n_soon;
    bool never_share;
    bool recover_partner, wait_for_profile, free_first; /* repairs */
    int n_moves, n_refused; /* times the profiler's nodes changed, and the lender had none idle */
};

void ref_lucid_run(struct ref_lucid *r);

#endif
