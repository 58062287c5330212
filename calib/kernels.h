/* kernels.h - what a weight is made of: how the slowdown of one probe beside another grows with the
 * ratio of their kernels' lengths.
 *
 * Of a table of probe pairs (probe_a, blocks_a, work_a, gap_a, the same with _b, solo_a, solo_b in
 * kernels/s, retain_a, retain_b) those rows count in which both sides run the same probe on the
 * same grid, kernel after kernel without gaps, of lengths that differ by a tenth or more. L is a
 * side's time of a kernel alone. If saturating kernels share by their lengths alone,
 * S_a - 1 = L_b / L_a: slope 1 of ln(S_a - 1) over ln(L_b / L_a). */
#ifndef COLOSIM_CALIB_KERNELS_H
#define COLOSIM_CALIB_KERNELS_H

#include "calib/estimate.h"
#include "core/base/names.h"
#include "core/base/status.h"
#include "core/base/table.h"

struct kernel_pair { /* [0] has the shorter kernels */
    int32_t group;   /* id of the groups: probe and grid */
    double length_s[2], slowdown[2];
};

/* All-zero is a valid empty set. */
struct kernel_pairs {
    int32_t n, n_unslowed; /* pairs left out because a side was not slowed: no logarithm */
    struct kernel_pair *at;
    struct names groups;
    size_t capacity;
};

/* Adds those of a table. ST_INPUT names line and column. The caller frees in any case. */
enum status kernel_pairs_read(struct kernel_pairs *k, const struct table *t,
                              struct error *err) MUST_USE;
void kernel_pairs_free(struct kernel_pairs *k);

/* The slope of a group over the sides with the shorter kernels, or both directions; its error from
 * 1,000 samples of pairs with replacement, both sides of one together. NAN of fewer than 3 pairs.
 */
enum status kernel_slope(const struct kernel_pairs *k, int32_t group, bool both,
                         struct estimate *out, struct error *err) MUST_USE;

#endif
