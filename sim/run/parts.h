/* parts.h - what settings mean for given jobs and a cluster: models, rules of placement, streams of
 * chance, the policy's tables. For a run, and for one decision (decide.h). */
#ifndef COLOSIM_PARTS_H
#define COLOSIM_PARTS_H

#include "sim/run/exec_policy.h"
#include "sim/run/metrics.h"
#include "sim/run/models.h"
#include "sim/run/request.h"

/* All-zero before the first call; must not move after it. */
struct run_parts {
    struct table tables[POLICY_TABLES_MAX]; /* the CSV files the policy asks for */
    struct pairs pairs;
    struct models models;
    struct talker child; /* the policy exec:PROGRAM */
    struct exec_config exec;
    struct param_group groups[GROUPS_MAX];
    struct window window;
    gsl_rng *rng, *policy_rng;
    struct arena arena;
};

/* The settings of the request's policy; NULL without. */
const void *parts_config(const struct run_request *q, const struct policy *policy);
/* Opens the models for these jobs, and says in the trace's report who is outside them. */
enum status parts_models(struct run_parts *parts, const struct run_request *q,
                         const struct policy *policy, struct trace *trace, const struct cluster *c,
                         struct error *err) MUST_USE;
/* After the models. The rules borrow from parts. */
enum status parts_rules(struct run_parts *parts, const struct run_request *q,
                        const struct policy *policy, const struct job_table *t,
                        const struct cluster *c, struct place_rules *out,
                        struct error *err) MUST_USE;
/* Reads the files that settings of the policy name; an empty setting is an empty table. */
enum status parts_tables(struct run_parts *parts, const struct run_request *q,
                         const struct policy *policy, struct error *err) MUST_USE;
void parts_close(struct run_parts *parts);

#endif
