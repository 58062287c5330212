/* rate_line.h - the rate in a line that a job printed. */
#ifndef COLOSIM_RATE_LINE_H
#define COLOSIM_RATE_LINE_H

#include "calib/measure/measurement.h"
#include "core/base/status.h"

#include <regex.h>
#include <stdbool.h>

struct rate_reader {
    regex_t regex;
    bool has_regex;
};
/* pattern as in joblist.h, checked there; NULL for "rate NUMBER". */
enum status rate_reader_init(struct rate_reader *r, const char *pattern,
                             struct error *err) MUST_USE;
void rate_reader_free(struct rate_reader *r);

/* Is there one, finite and above 0? What else the line of the default form says goes into side and
 * joint (N_SIDE_NUMBERS, N_JOINT_NUMBERS), the rate included; the rest becomes NAN. */
bool rate_read(const struct rate_reader *r, const char *line, double *side, double *joint);

#endif
