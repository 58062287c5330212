/* Which counters are used, and what they give: against stubs of NVML and DCGM (tests/stubs). */
#include "calib/measure/counters.h"

#include "tests/leak.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define UUID "GPU-00010203-0405-0607-0809-0a0b0c0d0e0f"

TestSuite(counters, .fini = abort_on_leak);

Test(counters, dcgm_comes_first)
{
    struct counters c;
    struct counter_reading r;
    setenv("STUB_DCGM", "0", 1);
    counters_open(&c, UUID);
    cr_assert(eq(int, c.source, COUNTERS_DCGM));
    counters_read(&c, &r);
    cr_expect(eq(dbl, r.sm, 62.5));
    cr_expect(eq(dbl, r.occ, 50));
    cr_expect(eq(dbl, r.tensor, 12.5));
    cr_expect(isnan(r.dram)); /* DCGM had none: unknown, not 0 */
    cr_expect(eq(dbl, r.fb_mib, 512));
    cr_expect(eq(dbl, r.sm_mhz, 1980));
    counters_close(&c);
}

Test(counters, gpm_takes_its_place_and_the_reason_is_kept)
{
    struct counters c;
    struct counter_reading r;
    setenv("STUB_DCGM", "-33", 1);
    counters_open(&c, UUID);
    cr_assert(eq(int, c.source, COUNTERS_GPM));
    cr_expect(strstr(c.why_not, "profiling module is not loaded") != NULL, "%s", c.why_not);
    cr_expect(eq(str, c.driver, "580.00"));
    cr_expect(eq(int, c.compute_mode, 0));
    counters_read(&c, &r);
    cr_expect(isnan(r.sm)); /* one sample is no interval */
    for (int i = 0; i < 2; i++) {
        counters_read(&c, &r);
        cr_expect(eq(dbl, r.sm, 75.5));
        cr_expect(eq(dbl, r.occ, 35.25));
        cr_expect(eq(dbl, r.tensor, 10.5));
        cr_expect(eq(dbl, r.dram, 40.125));
    }
    counters_close(&c);
}

Test(counters, nvml_alone_has_no_sm_activity)
{
    struct counters c;
    struct counter_reading r;
    setenv("STUB_DCGM", "-33", 1);
    setenv("STUB_GPM", "0", 1);
    counters_open(&c, UUID);
    cr_assert(eq(int, c.source, COUNTERS_NVML));
    counters_read(&c, &r);
    counters_read(&c, &r);
    cr_expect(isnan(r.sm) && isnan(r.occ) && isnan(r.tensor) && isnan(r.dram));
    cr_expect(eq(dbl, r.gpu_util, 99));
    counters_close(&c);
}

Test(counters, an_unknown_card_has_none)
{
    struct counters c;
    struct counter_reading r;
    counters_open(&c, "GPU-other");
    cr_assert(eq(int, c.source, COUNTERS_NONE));
    counters_read(&c, &r);
    cr_expect(isnan(r.sm) && isnan(r.fb_mib) && isnan(r.sm_mhz));
    counters_close(&c);
}

Test(counters, a_dcgm_that_watches_and_has_nothing_leaves_it_to_gpm)
{
    struct counters c;
    struct counter_reading r;
    setenv("STUB_DCGM", "0", 1);
    setenv("STUB_DCGM_BLANK", "1", 1);
    counters_open(&c, UUID);
    counters_read(&c, &r);
    cr_expect(r.source == NULL);
    counters_read(&c, &r);
    cr_expect(eq(dbl, r.sm, 75.5));
    cr_assert(r.source != NULL);
    cr_expect(eq(str, (char *)r.source, "gpm"));
    counters_close(&c);
}

Test(counters, values_of_two_sources_do_not_stand_beside_each_other)
{
    struct counters c;
    struct counter_reading r;
    setenv("STUB_DCGM", "0", 1);
    counters_open(&c, UUID);
    for (int i = 0; i < 2; i++)
        counters_read(&c, &r);
    cr_expect(eq(dbl, r.sm, 62.5));
    cr_expect(isnan(r.dram)); /* GPM has one by now */
    cr_expect(eq(str, (char *)r.source, "dcgm"));
    counters_close(&c);
}

Test(counters, gpm_that_is_not_for_us_is_told)
{
    struct counters c;
    setenv("STUB_DCGM", "-33", 1);
    setenv("STUB_GPM_ERROR", "4", 1);
    counters_open(&c, UUID);
    cr_expect(eq(int, c.source, COUNTERS_NVML));
    cr_expect(strstr(c.why_not, "NVML error 4, no permission") != NULL, "%s", c.why_not);
    counters_close(&c);
}

/* Bits of nvmlDeviceGetCurrentClocksThrottleReasons: idle and what was asked for are no throttling,
 * nor is the power cap, which the load itself brings about. */
Test(counters, heat_is_throttling_and_idling_and_the_power_cap_are_not)
{
    static const struct {
        const char *bits;
        bool throttled;
    } cases[] = {{"0x1", false}, {"0x2", false}, {"0x100", false}, {"0x4", false},
                 {"0x8", true},  {"0x20", true}, {"0x40", true},   {"0x80", true}};
    char path[] = "/tmp/colosim-bits-XXXXXX";
    int fd = mkstemp(path);
    cr_assert(ge(int, fd, 0));
    setenv("STUB_THROTTLE", path, 1);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct counters c;
        struct counter_reading r;
        FILE *file = fopen(path, "w");
        cr_assert(file != NULL);
        fputs(cases[i].bits, file);
        fclose(file);
        counters_open(&c, UUID);
        counters_read(&c, &r);
        cr_expect(eq(int, r.throttled, cases[i].throttled), "%s", cases[i].bits);
        cr_expect(eq(int, r.power_capped, strcmp(cases[i].bits, "0x4") == 0), "%s", cases[i].bits);
        counters_close(&c);
    }
    remove(path);
}
