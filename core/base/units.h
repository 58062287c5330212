/* units.h - numbers as people write them, and time as we keep it.
 *
 * Model time is int64_t microseconds on the trace's own clock; negative is legal. Reading and
 * writing never look at the locale: the point is the point. Text that C's strtod would take but
 * a table never means (nan, inf, hexadecimal, trailing text, overflow) is refused. */
#ifndef COLOSIM_UNITS_H
#define COLOSIM_UNITS_H

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define US_PER_S   INT64_C(1000000)
#define TIME_NEVER INT64_MAX
/* Times beyond this (about 31,700 years) are refused when read, so that sums cannot overflow. */
#define TIME_LIMIT_US INT64_C(1000000000000000000)

static inline double s_of_us(int64_t us) { return (double)us / 1e6; }

static inline int64_t us_of_s(double s) { return llround(s * 1e6); }

/* A decimal number (sign, digits, point, exponent; blanks around it allowed) times 10^shift as an
 * integer, rounded half away from zero: shift 6 reads seconds as microseconds exactly. False when
 * it is no number or its magnitude exceeds TIME_LIMIT_US. */
bool parse_scaled(const char *text, size_t length, int shift, int64_t *out);
/* The same as a double; false when no number or not finite. */
bool parse_real(const char *text, size_t length, double *out);

/* Seconds without trailing zeros: 1500.25, -3, 0.000001. buffer holds 32 bytes; returns it. */
const char *format_us(int64_t us, char buffer[32]);
/* A whole number below 1e15 as such, else the shortest %.Ng that reads back as the same double;
 * "null" when not finite. */
const char *format_real(double value, char buffer[32]);

#endif
