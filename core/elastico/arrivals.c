#include "core/elastico/arrivals.h"

#include "core/base/units.h"

#include <math.h>

enum { OCTAVE = 4, FIRST = -2 }; /* classes, and the exponent of the first */

static int class_of(double gpu_s)
{
    double at = gpu_s > 0 ? floor(OCTAVE * (log2(gpu_s) - FIRST)) : 0;
    return at < 0 ? 0 : at < ARRIVAL_CLASSES ? (int)at : ARRIVAL_CLASSES - 1;
}

void arrivals_init(struct arrivals *a)
{
    *a = (struct arrivals){.from_us = TIME_NEVER, .until_us = -TIME_NEVER};
}

void arrivals_add(struct arrivals *a, int64_t at_us, double gpu_s)
{
    if (a->from_us == TIME_NEVER)
        a->from_us = at_us;
    else if (at_us > a->from_us)
        a->gpu_s[class_of(gpu_s)] += gpu_s;
}

double arrivals_load(const struct arrivals *a, int64_t now_us, double n_gpus, double gpu_s)
{
    double sum = 0;
    int end = class_of(gpu_s);
    if (now_us <= a->from_us || !(n_gpus > 0))
        return 0;
    for (int i = 0; i < end; i++)
        sum += a->gpu_s[i];
    return sum / (n_gpus * s_of_us(now_us - a->from_us));
}

double arrivals_wait_s(const struct arrivals *a, int64_t now_us, double n_gpus, double gpu_s,
                       double wait_s)
{
    double left = 1 - arrivals_load(a, now_us, n_gpus, gpu_s);
    return wait_s == 0 ? 0 : left > 0 ? wait_s / left : INFINITY;
}
