/* mix.h - the best mixture of choices: what linear programming makes of them.
 *
 * Parts α_i of the choices seen so far, all hard resources held on average, at the least cost: the
 * master problem of Dantzig and Wolfe (1960). Its value lies above every bound by prices, its dual
 * prices are where the choices seen say the best ones are, and rounded to one option a job it is
 * nearly a choice that fits, as no single choice at prices is where many jobs are alike. */
#ifndef COLOSIM_MIX_H
#define COLOSIM_MIX_H

#include "core/elastico/choice.h"

enum { MIX_CHOICES = 16 }; /* kept; more than can have a part at once */

struct mix {
    int32_t n;                /* choices */
    int64_t n_added;          /* since mix_reset */
    double part[MIX_CHOICES]; /* α; sums up to 1 if full */
    double cost[MIX_CHOICES]; /* without excess of soft resources */
    double usage[MIX_CHOICES][CHOICE_RES_MAX];
    int64_t added[MIX_CHOICES];   /* when */
    int32_t *option[MIX_CHOICES]; /* (n_jobs) */
    bool full;                    /* a mixture fits; else value says nothing */
    double value;                 /* score of the mixture */
    double price[CHOICE_RES_MAX]; /* dual prices, >= 0 */
};

/* Room from the arena. False when memory is out. */
bool mix_init(struct mix *m, int32_t n_jobs, struct arena *a);
void mix_reset(struct mix *m);
/* Copies c, in place of the oldest without a part where there is no room, and mixes anew.
 * Cost O(n_jobs), and some steps of O(n_res (MIX_CHOICES + n_res)). */
void mix_add(struct mix *m, const struct choice_set *s, const struct choice *c);
/* Writes the choice whose usage follows the mixture's from job to job, and measures it: it is off
 * by a few jobs' demand. Cost O(n_jobs n_res^2). */
void mix_round(const struct mix *m, const struct choice_set *s, struct choice *c);

#endif
