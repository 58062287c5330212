#include "core/base/units.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A decimal number taken apart: value = (negative ? -1 : 1) * digits * 10^exponent. Digits beyond
 * the nineteenth only move the exponent; dropped says that one of them was not zero. */
struct decimal {
    bool negative, dropped;
    uint64_t digits;
    int exponent;
};

static bool is_blank(char c) { return c == ' ' || c == '\t'; }

static bool read_decimal(const char *text, size_t length, struct decimal *out)
{
    const char *p = text, *end = text + length;
    while (p < end && is_blank(*p))
        p++;
    while (end > p && is_blank(end[-1]))
        end--;
    *out = (struct decimal){0};
    if (p < end && (*p == '-' || *p == '+'))
        out->negative = *p++ == '-';
    uint64_t digits = 0; /* all in registers: text might point at out */
    int exponent = 0;
    bool any = false, point = false, dropped = false;
    for (; p < end; p++) {
        unsigned digit = (unsigned)*p - '0';
        if (digit > 9 && (*p != '.' || point))
            break;
        if (digit > 9) {
            point = true;
            continue;
        }
        any = true;
        if (digits < 1000000000000000000u) {
            digits = digits * 10 + digit;
            exponent -= point;
        } else {
            dropped = dropped || digit != 0;
            exponent += !point;
        }
    }
    out->digits = digits;
    out->exponent = exponent;
    out->dropped = dropped;
    if (!any)
        return false;
    if (p < end && (*p == 'e' || *p == 'E')) {
        bool minus = false;
        int e = 0;
        p++;
        if (p < end && (*p == '-' || *p == '+'))
            minus = *p++ == '-';
        if (p == end)
            return false;
        for (; p < end && *p >= '0' && *p <= '9'; p++)
            e = e < 100000 ? e * 10 + (*p - '0') : e;
        out->exponent += minus ? -e : e;
    }
    return p == end;
}

bool parse_scaled(const char *text, size_t length, int shift, int64_t *out)
{
    enum { TENS = 20 };
    static const uint64_t ten[TENS] = {1u,
                                       10u,
                                       100u,
                                       1000u,
                                       10000u,
                                       100000u,
                                       1000000u,
                                       10000000u,
                                       100000000u,
                                       1000000000u,
                                       10000000000u,
                                       100000000000u,
                                       1000000000000u,
                                       10000000000000u,
                                       100000000000000u,
                                       1000000000000000u,
                                       10000000000000000u,
                                       100000000000000000u,
                                       1000000000000000000u,
                                       10000000000000000000u};
    struct decimal d;
    if (!read_decimal(text, length, &d))
        return false;
    uint64_t v = d.digits;
    int e = v == 0 ? 0 : d.exponent + shift;
    if (e >= TENS || (e > 0 && v > (uint64_t)TIME_LIMIT_US / ten[e]))
        return false;
    if (e >= 0) {
        v *= ten[e];
    } else if (e <= -TENS) {
        v = 0;
    } else {
        uint64_t rest = v % ten[-e];
        v = v / ten[-e] + (rest >= ten[-e] - rest && rest > 0);
    }
    if (v > (uint64_t)TIME_LIMIT_US)
        return false;
    *out = d.negative ? -(int64_t)v : (int64_t)v;
    return true;
}

bool parse_real(const char *text, size_t length, double *out)
{
    static const double ten[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                 1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
    struct decimal d;
    if (!read_decimal(text, length, &d))
        return false;
    double v;
    if (!d.dropped && d.digits <= (UINT64_C(1) << 53) && d.exponent >= -22 && d.exponent <= 22) {
        v = d.exponent < 0 ? (double)d.digits / ten[-d.exponent]
                           : (double)d.digits * ten[d.exponent];
    } else {
        char plain[64];
        snprintf(plain, sizeof plain, "%" PRIu64 "e%d", d.digits, d.exponent);
        v = strtod(plain, NULL);
    }
    if (!isfinite(v))
        return false;
    *out = d.negative ? -v : v;
    return true;
}

const char *format_us(int64_t us, char buffer[32])
{
    uint64_t magnitude = us < 0 ? -(uint64_t)us : (uint64_t)us;
    int n = snprintf(buffer, 32, "%s%" PRIu64, us < 0 ? "-" : "", magnitude / 1000000);
    uint64_t rest = magnitude % 1000000;
    if (rest > 0) {
        n += snprintf(buffer + n, 32 - (size_t)n, ".%06" PRIu64, rest);
        while (buffer[n - 1] == '0')
            buffer[--n] = '\0';
    }
    return buffer;
}

const char *format_real(double value, char buffer[32])
{
    if (!isfinite(value))
        return strcpy(buffer, "null");
    if (fabs(value) < 1e15 && value == floor(value)) {
        snprintf(buffer, 32, "%.0f", value);
        return buffer;
    }
    for (int digits = 1; digits <= 17; digits++) {
        snprintf(buffer, 32, "%.*g", digits, value);
        if (strtod(buffer, NULL) == value)
            break;
    }
    return buffer;
}
