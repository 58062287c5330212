#include "core/cluster/peaks.h"
#include "tests/leak.h"

#include <criterion/criterion.h>
#include <gsl/gsl_rng.h>

TestSuite(peaks, .fini = abort_on_leak);

Test(peaks, the_first_entry_of_a_value_agrees_with_a_scan)
{
    gsl_rng *rng = gsl_rng_alloc(gsl_rng_mt19937);
    for (int32_t n = 1; n < 40; n++) {
        struct peaks p;
        int32_t value[40];
        cr_assert(peaks_init(&p, n));
        cr_assert_eq(peaks_first(&p, 0, 0), -1, "nothing is there yet");
        for (int32_t i = 0; i < n; i++)
            peaks_set(&p, i, value[i] = (int32_t)gsl_rng_uniform_int(rng, 10));
        for (int step = 0; step < 500; step++) {
            int32_t i = (int32_t)gsl_rng_uniform_int(rng, (unsigned long)n), expected = -1;
            peaks_set(&p, i, value[i] = (int32_t)gsl_rng_uniform_int(rng, 10));
            int32_t from = (int32_t)gsl_rng_uniform_int(rng, (unsigned long)n + 2);
            int32_t least = (int32_t)gsl_rng_uniform_int(rng, 12);
            for (int32_t k = n - 1; k >= from; k--)
                expected = value[k] >= least ? k : expected;
            cr_assert_eq(peaks_first(&p, from, least), expected);
        }
        peaks_free(&p);
    }
    gsl_rng_free(rng);
}
