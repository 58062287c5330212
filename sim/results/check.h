/* check.h - a run against a baseline, metric by metric. */
#ifndef COLOSIM_CHECK_H
#define COLOSIM_CHECK_H

#include "sim/results/baseline.h"

enum verdict {
    VERDICT_SAME, /* no change */
    VERDICT_BETTER,
    VERDICT_ALLOWED,  /* moved within its tolerance */
    VERDICT_WORSE,    /* beyond it: a failure */
    VERDICT_ABSENT,   /* known on one side only: a failure */
    VERDICT_UNKNOWN,  /* null on both sides: nothing to check, no failure */
    VERDICT_UNCHECKED /* no tolerance */
};

struct check_row {
    const char *name, *unit; /* borrowed from the baseline and metric_infos; unit may be NULL */
    double base, now;        /* NAN for null */
    double change_percent;   /* NAN where it cannot be told */
    struct tolerance tolerance;
    enum verdict verdict;
};

/* One row per metric of the baseline, in its order. */
struct check {
    struct check_row *row; /* (n) */
    size_t n;
    int n_checked, n_failed;
};

enum status check_make(struct check *c, const struct baseline *b, const struct summary *s,
                       struct error *err) MUST_USE;
void check_free(struct check *c);
bool verdict_fails(enum verdict v);

/* Every metric that is checked or moved: base, new, change, tolerance, verdict. */
void check_print(const struct check *c, FILE *to);
/* JUnit XML: one testcase per metric with a tolerance. */
void check_junit(const struct check *c, const struct summary *s, FILE *to);

#endif
