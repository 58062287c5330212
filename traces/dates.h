/* dates.h - "2017-10-10 01:00:30" as microseconds since 1970-01-01 00:00:00 of the same clock.
 *
 * Logs write the time of day where they stood and seldom say which zone that was, so no zone is
 * read and none is assumed: the trace's own clock. */
#ifndef COLOSIM_DATES_H
#define COLOSIM_DATES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* 1970-01-01 was a Thursday: the hour of the week (Monday 00:00 is 0) at which dates count from. */
enum { DATE_HOUR_AT_0 = 3 * 24 };

/* YYYY-MM-DD, a blank or T, hh:mm:ss and perhaps a fraction, in the Gregorian calendar of all
 * years from 1 to 9999. False when it is anything else, a leap second included. */
bool parse_date(const char *text, size_t length, int64_t *us);

#endif
