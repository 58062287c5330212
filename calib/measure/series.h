/* series.h - one number out of repeated readings of it. */
#ifndef COLOSIM_SERIES_H
#define COLOSIM_SERIES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Readings in the order they were made; all-zero is empty. Free value. */
struct series {
    int32_t n;
    double *value;
    size_t capacity;
};
/* NAN counts as no reading. False when memory is out. */
bool series_add(struct series *s, double value);
void series_free(struct series *s);

/* Mean of what lies between the 10th and 90th percentile: a tenth of the readings, rounded down, is
 * left out at each end. NAN of none. Sorts them. O(n log n). */
double series_trimmed_mean(struct series *s);
/* Standard deviation over mean of the same readings, 0 of one. */
double series_trimmed_cv(struct series *s);
/* NAN of none. Sorts them. */
double series_median(struct series *s);

#endif
