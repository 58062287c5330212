#include "traces/dates.h"

#include "core/base/rng.h"
#include "tests/leak.h"

#include <criterion/criterion.h>
#include <string.h>
#include <time.h>

TestSuite(dates, .fini = abort_on_leak);

Test(dates, count_microseconds_from_1970)
{
    static const struct {
        const char *text;
        int64_t us;
    } rows[] = {
        {"1970-01-01 00:00:00", 0},
        {"1970-01-01T00:00:01", 1000000},
        {"1969-12-31 23:59:59", -1000000},
        {"1969-12-31 23:59:59.5", -500000},
        {"2017-10-10 01:00:30", 1507597230000000},
        {"2000-02-29 12:00:00.000001", 951825600000001},
        {"2024-11-20 10:00:00.25", 1732096800250000},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        int64_t us = -1;
        cr_assert(parse_date(rows[i].text, strlen(rows[i].text), &us), "%s", rows[i].text);
        cr_assert_eq(us, rows[i].us, "%s: %lld", rows[i].text, (long long)us);
    }
}

Test(dates, what_is_no_date_is_refused)
{
    static const char *const rows[] = {
        "",
        "None",
        "2017-10-10",
        "2017-10-10 01:00",
        "2017-10-10 01:00:3",
        "2017/10/10 01:00:30",
        "2017-13-10 01:00:30",
        "2017-00-10 01:00:30",
        "2017-02-29 01:00:30",
        "1900-02-29 01:00:30",
        "2017-04-31 01:00:30",
        "2017-10-00 01:00:30",
        "2017-10-10 24:00:30",
        "2017-10-10 01:60:30",
        "2017-10-10 01:00:60",
        "2017-10-10 01:00:30.",
        "2017-10-10 01:00:30.5x",
        "2017-10-10 01:00:30Z",
        "2017-10-10 01:00:30+08:00",
        "0000-10-10 01:00:30",
        "2017-10-10 -1:00:30",
        " 2017-10-10 01:00:30",
    };
    int64_t us;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        cr_assert_not(parse_date(rows[i], strlen(rows[i]), &us), "%s", rows[i]);
}

/* The C library's calendar, which counts days in another way. */
Test(dates, agree_with_the_c_library)
{
    gsl_rng *rng = rng_stream(1, "dates");
    for (int i = 0; i < 20000; i++) {
        time_t s = (time_t)(gsl_rng_uniform(rng) * 300e9 - 60e9); /* years 68 to 9575 */
        struct tm t;
        char text[64];
        int64_t us;
        gmtime_r(&s, &t);
        snprintf(text, sizeof text, "%04d-%02d-%02d %02d:%02d:%02d", t.tm_year + 1900, t.tm_mon + 1,
                 t.tm_mday, t.tm_hour, t.tm_min, t.tm_sec);
        cr_assert(parse_date(text, strlen(text), &us), "%s", text);
        cr_assert_eq(us, (int64_t)s * 1000000, "%s", text);
    }
    gsl_rng_free(rng);
}

Test(dates, the_hour_of_the_week_at_zero_is_a_thursdays)
{
    struct tm t;
    time_t zero = 0;
    gmtime_r(&zero, &t);
    cr_assert_eq(DATE_HOUR_AT_0, (t.tm_wday + 6) % 7 * 24); /* tm_wday counts from Sunday */
}
