/* sampler.h - what is integrated while a run goes by: GPUs in use, work done, queue lengths.
 *
 * The time series keeps a fixed number of equal stretches; when the run outgrows them, pairs are
 * merged and the stretch doubles. So every mean is exact, at any length of run. */
#ifndef COLOSIM_SAMPLER_H
#define COLOSIM_SAMPLER_H

#include "core/cluster/cluster.h"
#include "sim/run/run_log.h"

enum { SAMPLER_STRETCHES = 512, SAMPLER_SERIES = 4, DECIDE_BUCKETS = 512 };

struct sampler {
    int64_t origin_us, now_us, stretch_us;
    int64_t at, at_end_us; /* the stretch that now_us is in or begins, and its end: a division less
                              for every event */
    double sum[SAMPLER_SERIES][SAMPLER_STRETCHES]; /* value x microseconds */
    int64_t held_lo_us, held_hi_us, done_lo_us, done_hi_us;
    double held_milli_us, held_mib_us, sm_us, done_milli_us;
    double decide_s;
    int64_t n_passes, n_decided,
        decide_bucket[DECIDE_BUCKETS]; /* 16 to the octave, from a nanosecond */
};

/* first and last submission; lo == hi: no window. */
void sampler_init(struct sampler *s, int64_t first_us, int64_t last_us, int64_t lo_us,
                  int64_t hi_us);
/* The state of things lasted until time_us. sm: SM activity summed over all cards. */
void sampler_advance(struct sampler *s, int64_t time_us, const struct cluster *c, int32_t n_waiting,
                     int32_t n_running, double sm);
/* Work was done from-to: reference milli-GPU microseconds per microsecond. */
void sampler_done(struct sampler *s, int64_t from_us, int64_t to_us, double rate_milli);
/* Is the next pass one to be timed? The first thousand are, then every sixteenth: reading the clock
 * costs as much as many a pass. */
static inline bool sampler_times(const struct sampler *s)
{
    return s->n_passes < 1024 || s->n_passes % 16 == 0;
}
/* One pass took this long; negative where it was not timed. */
void sampler_decided(struct sampler *s, double seconds);
/* Writes the series and the integrals to the log. */
enum status sampler_close(const struct sampler *s, struct run_log *out, struct error *err) MUST_USE;

#endif
