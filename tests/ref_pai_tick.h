/* ref_pai_tick.h - the official PAI simulator one second at a time, as slow as it is plain.
 *
 * Written from the description of its behaviour alone; it shares no code with policies/ or the
 * engine, so that the two can be held against each other. Everything is a whole number: seconds,
 * hundredths of a GPU and of a core. */
#ifndef COLOSIM_TESTS_REF_PAI_TICK_H
#define COLOSIM_TESTS_REF_PAI_TICK_H

#include <stdint.h>

enum { REF_MAX_JOBS = 64, REF_MAX_NODES = 16, REF_MAX_INST = 16 };

enum ref_state { REF_PENDING, REF_QUEUED, REF_RUNNING, REF_DONE };

struct ref_job {
    int64_t id, submit_s, duration_s; /* submit_s is rewritten where arrivals come in batches */
    int64_t gpu_pct, cpu_pct, n_inst; /* requests per instance, cut to the cluster's totals */
    int64_t estimate_s[3];            /* user, group, group and GPU */
    char type;                        /* 'C' CPU, 'V' V100, any other letter another type */
    enum ref_state state;
    int64_t age_s, start_s, end_s; /* the last two -1 until they happen */
    int node[REF_MAX_INST];        /* place in the list of nodes, instance by instance */
};

struct ref_node {
    int64_t gpu_pct, cpu_pct; /* capacity; cpu_pct > 0 */
    char type;
    int64_t idle_gpu, idle_cpu;
};

struct ref_pai {
    struct ref_job job[REF_MAX_JOBS];
    int n_jobs;
    struct ref_node node[REF_MAX_NODES];
    int n_nodes;
    int alloc_policy;         /* 0 SJF, 1 SJU, 2 SJG, 4 SJGG, 8 FIFO */
    int sort_node_policy;     /* 0 .. 3 */
    int gpu_type_matching;    /* 0 .. 2 */
    int64_t arrival_rate;     /* jobs a minute, negative for none */
    int64_t clock_s, limit_s; /* the clock stops at the limit at the latest */
};

void ref_pai_run(struct ref_pai *r);

#endif
