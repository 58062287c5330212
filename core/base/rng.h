/* rng.h - one random stream per run and named purpose, never per thread.
 *
 * Equal (seed, purpose) give equal streams on every machine (MT19937, seeded by a hash of both).
 * Adding a purpose changes no other stream. */
#ifndef COLOSIM_RNG_H
#define COLOSIM_RNG_H

#include <gsl/gsl_rng.h>
#include <stdint.h>

/* The caller frees it with gsl_rng_free. NULL when memory is out. */
gsl_rng *rng_stream(uint64_t seed, const char *purpose);

#endif
