#include "traces/dates.h"

#include "core/base/units.h"

/* n digits as a number; -1 where they are no digits. */
static int digits(const char *text, int n)
{
    int value = 0;
    for (int i = 0; i < n; i++) {
        if (text[i] < '0' || text[i] > '9')
            return -1;
        value = 10 * value + (text[i] - '0');
    }
    return value;
}

static bool leap(int year) { return year % 4 == 0 && (year % 100 != 0 || year % 400 == 0); }

static int days_in_month(int year, int month)
{
    static const int days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    return days[month - 1] + (month == 2 && leap(year));
}

/* Days from 1970-01-01. */
static int64_t day_number(int year, int month, int day)
{
    int64_t before = year - 1, n = before * 365 + before / 4 - before / 100 + before / 400;
    for (int m = 1; m < month; m++)
        n += days_in_month(year, m);
    return n + day - 719163; /* the number of 1970-01-01 itself */
}

/* What follows the seconds: nothing, or a point and digits. */
static bool read_fraction(const char *text, size_t length, int64_t *us)
{
    *us = 0;
    if (length == 0)
        return true;
    for (size_t i = 1; i < length; i++)
        if (text[i] < '0' || text[i] > '9')
            return false;
    return text[0] == '.' && length > 1 && parse_scaled(text, length, 6, us);
}

bool parse_date(const char *text, size_t length, int64_t *us)
{
    int64_t fraction_us;
    if (length < 19 || text[4] != '-' || text[7] != '-' || (text[10] != ' ' && text[10] != 'T') ||
        text[13] != ':' || text[16] != ':' || !read_fraction(text + 19, length - 19, &fraction_us))
        return false;
    int year = digits(text, 4), month = digits(text + 5, 2), day = digits(text + 8, 2);
    int hour = digits(text + 11, 2), minute = digits(text + 14, 2), second = digits(text + 17, 2);
    if (year < 1 || month < 1 || month > 12 || day < 1 || day > days_in_month(year, month) ||
        hour < 0 || hour > 23 || minute < 0 || minute > 59 || second < 0 || second > 59)
        return false;
    int64_t s = day_number(year, month, day) * 86400 + hour * 3600 + minute * 60 + second;
    *us = s * US_PER_S + fraction_us;
    return true;
}
