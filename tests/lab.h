/* lab.h - small worlds for tests: a job table from a few words, a cluster, a run of one policy. */
#ifndef COLOSIM_TESTS_LAB_H
#define COLOSIM_TESTS_LAB_H

#include "core/elastico/catalog_file.h"
#include "sim/run/engine.h"
#include "sim/run/metrics.h"

#include <gsl/gsl_rng.h>

struct lab {
    struct job_table jobs;
    struct cluster cluster;
    struct run_log log;
    struct pairs pairs;
    gsl_rng *rng;
    struct place_rules rules;
    enum truth truth;
    double restart_s;
    bool unchecked;         /* leave out the walk over every invariant: for long runs */
    const void *config;     /* of the policy; NULL: its defaults */
    struct table tables[8]; /* as policy.tables names them */
    const char *catalog;    /* NULL: none */
    enum submitted submitted;
    enum contention_set set;
    double mps;         /* m of the contention; must be set with a catalog */
    struct rates rates; /* the rest is filled in by the run */
    struct workloads workloads;
    struct profiles profiles;
    struct contention contention;
    struct rst rst;
    struct belief belief; /* an oracle, with a catalog */
    struct belief_options belief_options;
    struct arena arena;
};

/* Lines "name submit_s duration_s gpus [instances [workload gpu_mem_mib [type [gpu_min gpu_max
 * [queue]]]]]"; a name seen before is a further task. */
void lab_jobs(struct lab *l, const char *text);
/* "4+2+2" or "1x32768MiB" or "2:T4+1:V100" or "1x40960MiB:a100-40g": nodes by their GPUs. */
void lab_nodes(struct lab *l, const char *text);
/* Runs with every invariant checked after every pass. */
void lab_run(struct lab *l, const char *policy);
void lab_run_policy(struct lab *l, const struct policy *policy);
void lab_free(struct lab *l);

int32_t lab_job(const struct lab *l, const char *name);
double lab_jct_s(const struct lab *l, const char *name);
double lab_start_s(const struct lab *l, const char *name);
double lab_metric(const struct lab *l, enum metric m);
/* Every job starts and ends as this row of a table says; columns by job. */
void lab_expect(const struct lab *l, size_t row, const char *why, const double *start_s,
                const double *end_s, double within_s);

/* A random table: n jobs with gaps and durations up to the given seconds, GPUs of any size up to
 * gpus_max (fractions too), instances up to 3. */
void lab_random(struct lab *l, gsl_rng *rng, int n, int gap_s_max, int duration_s_max,
                int gpus_max);

#endif
