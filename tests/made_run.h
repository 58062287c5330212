/* made_run.h - a small run written down by hand, for what stores and prints runs.
 *
 * Two nodes of two GPUs. Times in seconds, waits and JCTs by subtraction:
 *
 *   job        GPUs      submit  start  finish   wait    jct
 *   a          1         0       0      10       0       10
 *   b,"2"      4 (2x2)   1       10     20.5     9       19.5
 *   n\xff      0.5       -2      -2     3.25     0       5.25
 *   n\xfe      0.5       -1      -1     4        0       5
 *   big        16        5       rejected
 *   late       1         6       waits when the run ends
 *
 * So wait_max_s is 9 (b,"2"), the mean JCT of the four is 39.75 / 4 = 9.9375, and no metric but
 * those set below is known. */
#ifndef COLOSIM_TESTS_MADE_RUN_H
#define COLOSIM_TESTS_MADE_RUN_H

#include "sim/run/run.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

struct made_run {
    struct run_request request;
    struct run_result result;
    struct error err;
};

static const struct policy made_policy = {.abi = POLICY_ABI, .name = "made", .summary = "a test"};

static inline void made_job(struct job_table *t, const char *name, double submit_s,
                            double duration_s, int32_t n_inst, int32_t gpu_milli)
{
    struct job_row row = job_row_empty();
    row.name = name;
    row.name_length = strlen(name);
    row.submit_us = us_of_s(submit_s);
    row.duration_us = us_of_s(duration_s);
    row.n_inst = n_inst;
    row.gpu_milli = gpu_milli;
    cr_assert(jobs_add(t, &row) >= 0);
}

static inline void made_outcome(struct job_table *t, int32_t job, enum job_status status,
                                double start_s, double finish_s)
{
    t->status[job] = (uint8_t)status;
    if (!isnan(start_s))
        t->start_us[job] = us_of_s(start_s);
    if (!isnan(finish_s))
        t->finish_us[job] = us_of_s(finish_s);
}

static inline void made_jobs(struct job_table *t, struct error *err)
{
    struct job_row row = job_row_empty();
    row.name = "a";
    row.name_length = 1;
    row.duration_us = us_of_s(10);
    row.n_inst = 1;
    row.gpu_milli = 1000;
    row.kind = KIND_TRAIN;
    row.user = names_add(&t->names, "u1", 2);
    row.group = names_add(&t->names, "g,1", 3);
    row.gpu_type = names_add(&t->names, "A100", 4);
    cr_assert(jobs_add(t, &row) == 0);
    made_job(t, "b,\"2\"", 1, 10.5, 2, 2000);
    made_job(t, "n\xff", -2, 5.25, 1, 500);
    made_job(t, "n\xfe", -1, 5, 1, 500);
    made_job(t, "big", 5, 1, 1, 16000);
    made_job(t, "late", 6, 1, 1, 1000);
    cr_assert_eq(jobs_close(t, err), ST_OK);
    made_outcome(t, 0, JOB_DONE, 0, 10);
    made_outcome(t, 1, JOB_DONE, 10, 20.5);
    made_outcome(t, 2, JOB_DONE, -2, 3.25);
    made_outcome(t, 3, JOB_DONE, -1, 4);
    made_outcome(t, 4, JOB_REJECTED, NAN, NAN);
    made_outcome(t, 5, JOB_UNFINISHED, NAN, NAN);
}

/* A copy on the heap, as the engine's arrays are. */
static inline void *made_copy(const void *rows, size_t n, size_t size)
{
    void *copy = malloc(n * size);
    cr_assert_not_null(copy);
    return memcpy(copy, rows, n * size);
}

static inline void made_log(struct run_log *l)
{
    /* a on node 0 card 0; b on all four cards; the two fractions beside each other on one card */
    const struct span span[] = {
        {us_of_s(-2), 3250000, 2, 1, 0, 1, 1, SPAN_RUN},
        {us_of_s(-1), 4000000, 3, 1, 0, 1, 1, SPAN_RUN},
        {0, 10000000, 0, 0, 0, 1, 1, SPAN_RUN},
        {10000000, 20500000, 1, 0, 0, 2, 1, SPAN_RUN},
        {10000000, 20500000, 1, 1, 0, 2, 1, SPAN_RUN},
    };
    const struct sample sample[] = {{-2000000, 1.5, 0, 2, 0.75}, {9250000, 4, 1, 1, 2.5}};
    const struct happening_row happening[] = {
        {5000000, HAP_REJECT, 4, "too wide"},
        {20500000, HAP_STALL, -1, "nothing moves"},
    };
    l->n_spans = sizeof span / sizeof *span;
    l->span = made_copy(span, l->n_spans, sizeof *span);
    l->n_samples = 2;
    l->sample = made_copy(sample, 2, sizeof *sample);
    l->sample_us = 11250000;
    l->n_happenings = 2;
    l->happening = made_copy(happening, 2, sizeof *happening);
    l->end_us = 20500000;
    l->decide_s_mean = 0.001;
    l->decide_s_p99 = 0.25;
}

static inline void made_run(struct made_run *m)
{
    static const struct node_spec node = {
        .count = 2, .n_gpus = 2, .gpu_type = "A100", .cpu_milli = -1, .mem_mib = -1};
    struct run_result *r = &m->result;
    memset(m, 0, sizeof *m);
    cr_assert_eq(run_request_init(&m->request, &m->err), ST_OK);
    m->request.run.seed = 7;
    m->request.run.cluster = "2x2:A100";
    made_jobs(&r->trace.jobs, &m->err);
    cr_assert_eq(cluster_init(&r->cluster, &node, 1, SHARE_CARD, &m->err), ST_OK);
    made_log(&r->log);
    r->trace.hash = 0xabcdef;
    r->policy = &made_policy;
    for (int i = 0; i < N_METRICS; i++)
        r->metric[i] = NAN;
    r->metric[METRIC_jobs_completed] = 4;
    r->metric[METRIC_jobs_rejected] = 1;
    r->metric[METRIC_jobs_unfinished] = 1;
    r->metric[METRIC_jct_mean_s] = 9.9375;
    r->metric[METRIC_wait_max_s] = 9;
    r->metric[METRIC_throughput_gpus] = 2;
    r->n_extra = 1;
    r->extra_name[0] = "made_up";
    r->extra[0] = 0.1;
    r->wall_s = 0.5;
    r->cpu_s = 0.25;
    r->peak_rss_mib = 12;
}

static inline void made_run_free(struct made_run *m)
{
    run_result_free(&m->result);
    run_request_free(&m->request);
}

#endif
