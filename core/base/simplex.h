/* simplex.h - small dense linear programmes: maximise, subject to rows that the origin satisfies.
 *
 *     max  c_0 . x,  then among its maxima  max  c_1 . x, ...
 *     s.t. A x <= b,  x >= 0,  b >= 0
 *
 * Objectives are lexicographic: a later one never costs an earlier one anything. Made for a few
 * hundred rows and columns; a tableau of doubles, no sparsity, no presolve. */
#ifndef COLOSIM_SIMPLEX_H
#define COLOSIM_SIMPLEX_H

#include "core/base/arena.h"

#include <stdbool.h>
#include <stdint.h>

enum simplex_end {
    SIMPLEX_OPTIMAL,
    SIMPLEX_UNBOUNDED,
    SIMPLEX_GAVE_UP /* out of memory, or more steps than 50 (rows + columns) */
};

/* What counts as zero: of a reduced cost, of a pivot, of a right-hand side. */
#define SIMPLEX_EPS 1e-9

/* a      (n_rows x n_columns) row by row
 * b      (n_rows) 0 or more
 * cost   (n_costs x n_columns) objectives, the first is the most important
 * x      (n_columns) out; the origin unless optimal
 *
 * Largest reduced cost first; the lowest index (Bland) after a run of steps that gained nothing, so
 * that it ends. Entries of a about 1 in size keep the answer within 1e-7 of the exact one. Cost of
 * a step O(rows x (rows + columns)); scratch is given back. */
enum simplex_end simplex_max(int32_t n_rows, int32_t n_columns, const double *a, const double *b,
                             int32_t n_costs, const double *cost, double *x, struct arena *scratch);

#endif
