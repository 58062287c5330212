/* pairs.h - measured speeds of two workloads on one card.
 *
 * speed(a, b) is what a keeps of its speed alone while b runs beside it (time alone / time
 * together): 1 is undisturbed, above 1 is legal in measured data. Symmetric storage: one row gives
 * both directions. */
#ifndef COLOSIM_PAIRS_H
#define COLOSIM_PAIRS_H

#include "core/base/names.h"
#include "core/base/status.h"

#include <stdbool.h>

struct pairs {
    struct names workloads;
    int32_t n_slots;
    struct pair_slot {
        int32_t a, b; /* workload ids, a <= b; a == -1 empty */
        double speed_a, speed_b;
    } * slot; /* (n_slots) open addressing */
    int32_t n;
};

/* ST_INPUT when the pair is there already with other speeds or a speed is not in (0, 10]. */
enum status pairs_add(struct pairs *p, const char *a, size_t a_length, const char *b,
                      size_t b_length, double speed_a, double speed_b, struct error *err) MUST_USE;
/* The speed of a beside b, or NAN when the pair was not measured. Ids are the table's own. */
double pairs_speed(const struct pairs *p, int32_t a, int32_t b);
void pairs_free(struct pairs *p);

#endif
