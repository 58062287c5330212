/* tolerance.h - how far a metric may move: "3%", "5" (in its unit), "±3%" (either way; "+-3%" and
 * "+/-3%" are the same). Without a sign only the worse direction counts. */
#ifndef COLOSIM_TOLERANCE_H
#define COLOSIM_TOLERANCE_H

#include <stdbool.h>
#include <stddef.h>

struct tolerance {
    bool set; /* false: the metric is recorded, not checked */
    bool two_sided, percent;
    double amount; /* >= 0 */
};

/* False when the text is none. */
bool tolerance_parse(const char *text, size_t n, struct tolerance *out);
/* In the form tolerance_parse reads; "" when not set. Returns buffer. */
const char *tolerance_text(const struct tolerance *t, char buffer[48]);

/* Whether a move from base to now is worse than allowed. better: -1 lower, +1 higher, 0 neither,
 * which makes every tolerance two-sided. A billionth of the limit is forgiven, so that "4%" holds
 * for a change of 4 % however its last bit fell. A percentage of a base of 0 is 0. */
bool tolerance_exceeded(const struct tolerance *t, int better, double base, double now);

#endif
