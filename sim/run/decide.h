/* decide.h - what a policy would do now, with a cluster that runs already: one pass of the same
 * code that a simulation runs. */
#ifndef COLOSIM_DECIDE_H
#define COLOSIM_DECIDE_H

#include "sim/run/parts.h"
#include "sim/run/state.h"

struct decision {
    const struct policy *policy;
    struct plan plan;        /* its log, on the state's cluster; times count from now */
    struct memory memory;    /* what the next decision is to be told */
    const struct lore *lore; /* what is profiled, and what is to be; NULL where all is known */
    struct run_parts parts;
    struct arena arena;
};

/* Seats the running jobs, asks the policy once, at a boundary of its epochs, and leaves its plan.
 * The state must outlive the decision and not move; the caller frees both in any case. ST_USAGE: a
 * policy that cannot take over; ST_INPUT: running jobs that cannot run so. */
enum status decide(const struct run_request *q, struct state *s, struct decision *out,
                   struct error *err) MUST_USE;
void decision_free(struct decision *d);

#endif
