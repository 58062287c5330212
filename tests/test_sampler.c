#include "sim/run/sampler.h"

#include "tests/leak.h"

#include <criterion/criterion.h>
#include <stdlib.h>

TestSuite(sampler, .fini = abort_on_leak);

/* Second i is spent with i jobs waiting; the means of the stretches, from 0 on. */
static struct run_log staircase(int n_seconds)
{
    static const struct cluster idle;
    struct sampler s;
    struct run_log log = {0};
    struct error err;
    sampler_init(&s, 0, 0, 0, 0);
    for (int i = 0; i < n_seconds; i++)
        sampler_advance(&s, (i + 1) * US_PER_S, &idle, i, 0, 0);
    cr_assert_eq(sampler_close(&s, &log, &err), ST_OK);
    return log;
}

/* The mean of first .. first + n - 1. */
static void assert_stretch(const struct run_log *log, size_t i, int first, int n)
{
    cr_assert_eq(log->sample[i].start_us, first * US_PER_S);
    cr_assert_float_eq(log->sample[i].jobs_waiting, first + (n - 1) / 2.0, 1e-9);
}

Test(sampler, as_many_seconds_as_there_are_stretches_have_one_each)
{
    struct run_log log = staircase(SAMPLER_STRETCHES);
    cr_assert_eq(log.n_samples, SAMPLER_STRETCHES);
    for (int i = 0; i < SAMPLER_STRETCHES; i++)
        assert_stretch(&log, (size_t)i, i, 1);
    free(log.sample);
}

Test(sampler, one_second_more_and_stretches_are_twice_as_long)
{
    struct run_log log = staircase(SAMPLER_STRETCHES + 1);
    cr_assert_eq(log.n_samples, SAMPLER_STRETCHES / 2 + 1);
    for (int i = 0; i < SAMPLER_STRETCHES / 2; i++)
        assert_stretch(&log, (size_t)i, 2 * i, 2);
    assert_stretch(&log, SAMPLER_STRETCHES / 2, SAMPLER_STRETCHES, 1);
    free(log.sample);
}

Test(sampler, a_long_step_is_spread_over_all_stretches_that_it_lasts)
{
    static const struct cluster idle;
    struct sampler s;
    struct run_log log = {0};
    struct error err;
    sampler_init(&s, 0, 0, 0, 0);
    sampler_advance(&s, US_PER_S / 2, &idle, 4, 0, 0);
    sampler_advance(&s, 1000 * US_PER_S, &idle, 2, 0, 0); /* stretches of 2 s from now on */
    cr_assert_eq(sampler_close(&s, &log, &err), ST_OK);
    cr_assert_eq(log.n_samples, 500);
    cr_assert_float_eq(log.sample[0].jobs_waiting, (4 * .5 + 2 * 1.5) / 2, 1e-9);
    for (size_t i = 1; i < 500; i++)
        cr_assert_float_eq(log.sample[i].jobs_waiting, 2, 1e-9);
    free(log.sample);
}
