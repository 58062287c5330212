#include "core/base/units.h"

#include "tests/leak.h"

#include <criterion/criterion.h>
#include <float.h>
#include <string.h>

TestSuite(units, .fini = abort_on_leak);

Test(units, numbers_are_read_as_scaled_integers)
{
    static const struct {
        const char *text;
        int shift;
        int64_t value;
    } rows[] = {
        {"0", 6, 0},
        {"-0", 6, 0},
        {"7", 0, 7},
        {"+7", 6, 7000000},
        {"-3", 6, -3000000},
        {"1500.25", 6, 1500250000},
        {"1.5e3", 6, 1500000000},
        {"1.5E+3", 0, 1500},
        {"25e-2", 3, 250},
        {".5", 3, 500},
        {"5.", 3, 5000},
        {" \t12 ", 0, 12},
        {"0.0000004", 6, 0},
        {"0.0000005", 6, 1},
        {"-0.0000005", 6, -1},
        {"0.00000049999999999999", 6, 0},
        {"2.5", 0, 3},
        {"-2.5", 0, -3},
        {"2.4999999999999999999999", 0, 2},
        {"100", -2, 1},
        {"150", -2, 2},
        {"149", -2, 1},
        {"1e-400", 6, 0},
        {"0e400", 6, 0},
        {"1000000000000", 6, TIME_LIMIT_US},
        {"-1000000000000", 6, -TIME_LIMIT_US},
        {"1000000000000000000", 0, TIME_LIMIT_US},
        {"0.00000000000000000000000001e30", 0, 10000},
        {"12345678901234567890123456789e-19", 0, 1234567890},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        int64_t v = 99;
        cr_assert(parse_scaled(rows[i].text, strlen(rows[i].text), rows[i].shift, &v), "%s",
                  rows[i].text);
        cr_assert_eq(v, rows[i].value, "%s -> %ld", rows[i].text, (long)v);
    }
}

/* What no number is: the texts C's strtod takes that a table never means are among them. */
static const char *const no_numbers[] = {
    "",      " ",   "abc",  "nan",   "NaN", "inf", "-inf", "infinity", "0x10",  "0x1p3",
    "1e",    "1e+", "e5",   ".",     "-",   "+-1", "--1",  "1.2.3",    "1,5",   "1_000",
    "12abc", "1 2", "1e5x", "1e5.5", "1\n", "\v1", "1d3",  "1e5 x",    "\"1\"", "1-",
};

Test(units, what_is_no_number_is_refused_and_leaves_the_result_alone)
{
    for (size_t i = 0; i < sizeof no_numbers / sizeof *no_numbers; i++) {
        int64_t v = 99;
        double d = 99;
        cr_assert_not(parse_scaled(no_numbers[i], strlen(no_numbers[i]), 6, &v), "%s",
                      no_numbers[i]);
        cr_assert_not(parse_real(no_numbers[i], strlen(no_numbers[i]), &d), "%s", no_numbers[i]);
        cr_assert_eq(v, 99);
        cr_assert_float_eq(d, 99, 0);
    }
}

Test(units, a_number_may_end_before_the_text_does)
{
    int64_t v;
    double d;
    cr_assert(parse_scaled("12,34", 2, 0, &v));
    cr_assert_eq(v, 12);
    cr_assert(parse_real("1.5garbage", 3, &d));
    cr_assert_float_eq(d, 1.5, 0);
    cr_assert_not(parse_scaled("1\0002", 3, 0, &v), "a NUL is no digit");
}

Test(units, times_beyond_the_limit_are_refused)
{
    static const char *const rows[] = {"1000000000000.000001", "1e13", "-1e13", "1e400",
                                       "99999999999999999999999999"};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        int64_t v;
        cr_assert_not(parse_scaled(rows[i], strlen(rows[i]), 6, &v), "%s", rows[i]);
    }
}

Test(units, reals_are_the_nearest_double)
{
    static const struct {
        const char *text;
        double value;
    } rows[] = {
        {"0.1", 0.1},
        {"-0.1", -0.1},
        {"1e22", 1e22},
        {"1e23", 1e23},
        {"9007199254740993", 9007199254740993.0},
        {"123456789012345678", 123456789012345678.0},
        {"2.2250738585072014e-308", DBL_MIN},
        {"1.7976931348623157e308", DBL_MAX},
        {"3.141592653589793", 3.141592653589793},
        {"1e-400", 0},
        {"0.30000000000000004", 0.1 + 0.2},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        double v = 99;
        cr_assert(parse_real(rows[i].text, strlen(rows[i].text), &v), "%s", rows[i].text);
        cr_assert_float_eq(v, rows[i].value, 0, "%s -> %.17g", rows[i].text, v);
    }
    double v;
    cr_assert_not(parse_real("1e309", 5, &v));
    cr_assert_not(parse_real("-1e99999999999", 14, &v));
}

Test(units, seconds_are_written_without_trailing_zeros)
{
    static const struct {
        int64_t us;
        const char *text;
    } rows[] = {
        {0, "0"},
        {1, "0.000001"},
        {-1, "-0.000001"},
        {1500250000, "1500.25"},
        {-3000000, "-3"},
        {1000000, "1"},
        {10, "0.00001"},
        {INT64_MIN, "-9223372036854.775808"},
        {INT64_MAX, "9223372036854.775807"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char buffer[32];
        cr_assert_str_eq(format_us(rows[i].us, buffer), rows[i].text);
    }
}

Test(units, written_times_are_read_back_to_the_microsecond)
{
    uint64_t x = 88172645463325252u; /* xorshift: any fixed sequence will do */
    for (int i = 0; i < 10000; i++) {
        x ^= x << 13, x ^= x >> 7, x ^= x << 17;
        int64_t us = (int64_t)(x % (2 * (uint64_t)TIME_LIMIT_US)) - TIME_LIMIT_US, back;
        us >>= x % 60;
        char buffer[32];
        format_us(us, buffer);
        cr_assert(parse_scaled(buffer, strlen(buffer), 6, &back), "%s", buffer);
        cr_assert_eq(back, us, "%s", buffer);
    }
}

Test(units, reals_are_written_shortest)
{
    static const struct {
        double value;
        const char *text;
    } rows[] = {
        {0, "0"},
        {1, "1"},
        {100, "100"},
        {-2500000, "-2500000"},
        {0.1, "0.1"},
        {0.1 + 0.2, "0.30000000000000004"},
        {1.0 / 3, "0.3333333333333333"},
        {1e15, "1e+15"},
        {1e-7, "1e-07"},
        {NAN, "null"},
        {INFINITY, "null"},
        {-INFINITY, "null"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char buffer[32];
        cr_assert_str_eq(format_real(rows[i].value, buffer), rows[i].text);
    }
}

Test(units, written_reals_are_read_back_the_same)
{
    uint64_t x = 88172645463325252u;
    for (int i = 0; i < 10000; i++) {
        x ^= x << 13, x ^= x >> 7, x ^= x << 17;
        double value, back;
        memcpy(&value, &x, sizeof value);
        if (!isfinite(value))
            continue;
        char buffer[32];
        format_real(value, buffer);
        cr_assert(parse_real(buffer, strlen(buffer), &back), "%s", buffer);
        cr_assert_eq(memcmp(&value, &back, sizeof value), 0, "%s", buffer);
    }
}

Test(units, seconds_and_microseconds_turn_into_each_other)
{
    cr_assert_eq(us_of_s(1.5), 1500000);
    cr_assert_eq(us_of_s(-0.0000005), -1);
    cr_assert_float_eq(s_of_us(1500000), 1.5, 0);
    for (int64_t us = -1000003; us < 4000000000; us += 999983)
        cr_assert_eq(us_of_s(s_of_us(us)), us);
}
