#include "calib/measure/rate_line.h"

#include "tests/leak.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <math.h>

TestSuite(rate_line, .fini = abort_on_leak);

static const struct reading {
    const char *pattern, *line;
    double rate; /* 0: none */
} cases[] = {
    {NULL, "rate 47.3", 47.3},
    {NULL, "rate: 47.3", 47.3},
    {NULL, "rate=1e3", 1000},
    {NULL, "rate 12 samples 64", 12},
    {NULL, "rates 47.3", 0},
    {NULL, " rate 47.3", 0},
    {NULL, "rate", 0},
    {NULL, "rate fast", 0},
    {NULL, "rate nan", 0},
    {NULL, "rate inf", 0},
    {NULL, "rate 0", 0}, /* nothing was done: no rate, and never a 0 in a table */
    {NULL, "rate -3", 0},
    {NULL, "rate 0x10", 0},
    {NULL, "rate 12 samples", 0}, /* cut short */
    {"generation throughput: ([0-9.]+) tokens/s",
     "INFO 12:00 Avg prompt throughput: 9.1 tokens/s, Avg generation throughput: 123.4 tokens/s, "
     "Running: 3 reqs",
     123.4},
    {"it/s=([0-9.]+)", "rate 5", 0},
    {"([0-9.]+)x?", "nothing", 0},
    {"(a)|([0-9]+)", "12", 0}, /* the group took no part */
};

Test(rate_line, a_line_is_a_rate_or_it_is_not)
{
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct rate_reader r;
        struct error err = {""};
        double side[N_SIDE_NUMBERS], joint[N_JOINT_NUMBERS];
        cr_assert(eq(int, rate_reader_init(&r, cases[i].pattern, &err), ST_OK));
        bool is = rate_read(&r, cases[i].line, side, joint);
        cr_expect(eq(int, is, cases[i].rate > 0), "%s", cases[i].line);
        if (is)
            cr_expect(eq(dbl, side[SIDE_RATE], cases[i].rate), "%s", cases[i].line);
        rate_reader_free(&r);
    }
}

Test(rate_line, words_behind_it_are_what_the_job_knows_of_itself)
{
    struct rate_reader r;
    struct error err = {""};
    double side[N_SIDE_NUMBERS], joint[N_JOINT_NUMBERS];
    cr_assert(eq(int, rate_reader_init(&r, NULL, &err), ST_OK));
    cr_assert(rate_read(&r, "rate 10 samples 64 kernel_us=250, sm 75.5 unheard_of 3", side, joint));
    cr_expect(eq(dbl, side[SIDE_SAMPLES], 64));
    cr_expect(eq(dbl, side[SIDE_KERNEL_US], 250));
    cr_expect(eq(dbl, joint[JOINT_SM], 75.5));
    cr_expect(isnan(joint[JOINT_DRAM]) && isnan(side[SIDE_PEAK_MIB]));
    rate_reader_free(&r);
}
