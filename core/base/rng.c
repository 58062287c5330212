#include "core/base/rng.h"

#include "core/base/names.h"

#include <string.h>

gsl_rng *rng_stream(uint64_t seed, const char *purpose)
{
    gsl_rng *rng = gsl_rng_alloc(gsl_rng_mt19937);
    if (rng != NULL)
        gsl_rng_set(rng,
                    (uint32_t)bytes_hash(purpose, strlen(purpose), seed * 0x9e3779b97f4a7c15u));
    return rng;
}
