/* arrivals.h - how much longer a job waits because of those who come after it and start before it.
 *
 * Jobs wait in order of the GPU time that they have left. Who would have cards in w seconds if
 * nobody came has them in w / (1 - rho) seconds, rho being the part of the cluster that newcomers
 * with less to do ask for: a delay busy period (Conway, Maxwell and Miller, Theory of Scheduling,
 * 1967, §8.6; the work that is found, and all that comes first while it is done). rho is that of
 * the arrivals so far, by classes of GPU time, four to an octave; those of a job's own class do not
 * overtake it. */
#ifndef COLOSIM_ARRIVALS_H
#define COLOSIM_ARRIVALS_H

#include <stdint.h>

enum { ARRIVAL_CLASSES = 128 }; /* from 2^-2 to 2^30 GPU-seconds */

struct arrivals {
    int64_t from_us, until_us; /* first arrival, whose work does not count, and last look */
    double gpu_s[ARRIVAL_CLASSES];
};

/* Nobody came. */
void arrivals_init(struct arrivals *a);
/* A job of so many GPU-seconds came at this time. O(1). */
void arrivals_add(struct arrivals *a, int64_t at_us, double gpu_s);
/* The part of n GPUs that jobs of less than so many GPU-seconds asked for until now. O(classes). */
double arrivals_load(const struct arrivals *a, int64_t now_us, double n_gpus, double gpu_s);
/* How long to wait for what would be there in wait_s if nobody came; INFINITY where newcomers alone
 * are more than there is room for. */
double arrivals_wait_s(const struct arrivals *a, int64_t now_us, double n_gpus, double gpu_s,
                       double wait_s);

#endif
