/* peaks.h - a column of numbers with its maxima over ever larger stretches, so that the first entry
 * of at least some value is found in O(log n) instead of by a scan. */
#ifndef COLOSIM_PEAKS_H
#define COLOSIM_PEAKS_H

#include <stdbool.h>
#include <stdint.h>

struct peaks {
    int32_t n, width; /* entries; the power of two that holds them */
    int32_t *max;     /* (2 width) max[1] is the maximum of all; leaves begin at width */
};

/* n entries of INT32_MIN. False when memory is out. */
bool peaks_init(struct peaks *p, int32_t n);
void peaks_free(struct peaks *p);
/* O(log n), less where the maxima above do not change. */
void peaks_set(struct peaks *p, int32_t i, int32_t value);
static inline int32_t peaks_max(const struct peaks *p) { return p->max[1]; }
/* The first entry from the given one on that is at least value; -1 for none. O(log n). */
int32_t peaks_first(const struct peaks *p, int32_t from, int32_t value);

#endif
