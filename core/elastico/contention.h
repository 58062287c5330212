/* contention.h - the physics of sharing a card: weighted queueing.
 *
 *   S_i = m (1 + sum_j (w_j / w_i) min(1, sum_r alpha_r C(u_ir, u_jr; kappa)))
 *
 * u is the part of the time that a job alone keeps a resource busy; C the overlap of two such parts
 * (kappa 0: u v, as independent; towards -inf: max(0, u + v - 1), as if they kept out of each
 * other's way; towards +inf: min(u, v)); w how long the others wait for a job's kernels; m the MPS
 * overhead. Rows are those of profile.h. Utilisations that are not known count as 0. */
#ifndef COLOSIM_CONTENTION_H
#define COLOSIM_CONTENTION_H

#include "core/elastico/contention_sets.h"
#include "core/elastico/profile.h"

struct contention {
    double alpha[N_CONTENDED], kappa;
    double m;                 /* multiplies S of a job that is not alone */
    double (*u)[N_CONTENDED]; /* (N_CARDS x n_configs) */
    double *weight;           /* (N_CARDS x n_configs) w */
    struct arena arena;       /* owns it all */
};

/* numbers: of contention_sets, or of a file (physics_file.h); not kept. The caller frees in any
 * case. Cost O(cards x configurations). */
enum status contention_init(struct contention *c, const struct profiles *p,
                            const struct set_numbers *numbers, double m,
                            struct error *err) MUST_USE;
void contention_free(struct contention *c);

/* The Frank copula of u and v in 0..1, kappa finite; within 1e-11 of exact. */
double frank_overlap(double u, double v, double kappa);
/* S >= 1 of a row beside another. O(resources). */
double contention_pair(const struct contention *c, int32_t row, int32_t beside);
/* S of row[i] of n rows on one card: the sum over the others, and with kappa < 0 and more than two
 * the bound in contention.c. n = 2 is contention_pair, n = 1 is 1. O(n resources). */
double contention_among(const struct contention *c, const int32_t *row, int32_t n, int32_t i);

#endif
