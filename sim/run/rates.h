/* rates.h - how fast a job advances in its configuration, on its cards and beside its neighbours,
 * and how long what is left takes. */
#ifndef COLOSIM_RATES_H
#define COLOSIM_RATES_H

#include "core/cluster/plan.h"
#include "core/elastico/belief.h"
#include "core/elastico/contention.h"
#include "core/elastico/rst.h"

/* The physics of sharing a card. */
enum truth {
    TRUTH_NONE,       /* nobody slows anybody */
    TRUTH_TABLE,      /* measured pairs, plan->rules.pairs */
    TRUTH_CONTENTION, /* core/elastico/contention.h */
    TRUTH_IAC         /* a predictor, as the paper's own simulator has it */
};

struct rates {
    enum truth truth;
    const struct rst *rst;               /* NULL without a catalog */
    const struct contention *contention; /* TRUTH_CONTENTION */
    struct belief *predictor;            /* TRUTH_IAC */
    const struct iac_side *side;         /* (rows of profiles) likewise */
    double scale_exp; /* an elastic job on n of its n0 instances runs at (n / n0)^scale_exp, where
                         its workload has no measured scaling */
};

/* 1 / S: what a job keeps of its speed alone. A gang runs at the speed of its slowest member. By
 * the table each neighbour on a card slows it in turn and a pair not measured does not; under
 * contention, and by a predictor,
 * jobs outside the catalog neither slow nor are slowed; a predictor's pairs count in turn. */
double kept_speed(const struct rates *r, const struct plan *plan, int32_t job);

/* Its speed alone: T(c, card, n) / T(submitted, reference, n0), of its slowest member; where its
 * workload has layouts (core/elastico/parallel.h), of the gang as it lies on its nodes. */
double speed_alone(const struct rates *r, const struct plan *plan, int32_t job);

/* The profile row of a job on one of its cards; -1 for jobs outside the catalog. */
int32_t row_on_card(const struct rates *r, const struct plan *plan, int32_t job, int32_t card);

/* Microseconds until that much reference work is done. Rounded up to the next microsecond; a
 * nanosecond of slack keeps the rounding of doubles from costing one. */
int64_t time_for(double left_us, double speed);

/* Progress of a simulator that ticks: what is left after n more ticks of repeated subtraction, and
 * the ticks until the one that finds nothing left (it looks before it subtracts). */
double ticks_advance(double left, double speed, int64_t n);
int64_t ticks_to_end(double left, double speed);

#endif
