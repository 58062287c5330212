/* rates.h - how fast a job advances beside its neighbours, and how long what is left takes. */
#ifndef COLOSIM_RATES_H
#define COLOSIM_RATES_H

#include "core/cluster/plan.h"

/* Truth table: what a job keeps of its speed by the measured pairs of plan->rules. Each neighbour
 * on a card slows it in turn; a gang runs at the speed of its slowest member; a pair not measured
 * does not slow. */
double kept_speed(const struct plan *plan, int32_t job);

/* Microseconds until that much reference work is done. Rounded up to the next microsecond; a
 * nanosecond of slack keeps the rounding of doubles from costing one. */
int64_t time_for(double left_us, double speed);

/* Progress of a simulator that ticks: what is left after n more ticks of repeated subtraction, and
 * the ticks until the one that finds nothing left (it looks before it subtracts). */
double ticks_advance(double left, double speed, int64_t n);
int64_t ticks_to_end(double left, double speed);

#endif
