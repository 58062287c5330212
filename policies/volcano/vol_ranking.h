/* vol_ranking.h - the best node for a request, kept as nodes change.
 *
 * One tree of nodes per request, with the better of two at every fork and how many are as good, so
 * that the best is found, and one of the equally good drawn, in O(log nodes). Trees are kept for a
 * limited number of requests, those last used; another one is built anew in O(nodes). */
#ifndef COLOSIM_VOL_RANKING_H
#define COLOSIM_VOL_RANKING_H

#include "core/cluster/place.h"
#include "policies/volcano/vol_nodes.h"

struct vol_rank {
    double score;
    int32_t fit; /* enum vol_fit: one that fits now beats any that will fit later */
    int32_t n;   /* nodes below that are as good */
};

struct vol_ranking {
    int32_t width; /* the power of two that holds all nodes */
    int32_t n_trees, n_built;
    struct vol_rank *rank; /* (n_trees x 2 width) leaves begin at width */
    int64_t *seen;         /* (n_trees) changes of nodes looked at */
    int64_t *used;         /* (n_trees) when it was last asked */
    int32_t *ask_of;       /* (n_trees) */
    int32_t *tree_of;      /* (n_asks) -1 none */
    int64_t now;
    gsl_rng *rng; /* draws among the best; NULL: the lowest number wins */
};

/* At most n_trees trees at once, fewer where nodes are many. False when memory is out. */
bool vol_ranking_init(struct vol_ranking *r, const struct vol_nodes *v, int32_t n_asks,
                      int32_t n_trees, gsl_rng *rng, struct arena *arena);
/* The best node for asks[ask] and how it fits; -1 where it fits nowhere. */
int32_t vol_ranking_best(struct vol_ranking *r, struct vol_nodes *v, const struct vol_liking *how,
                         const struct vol_ask *asks, int32_t ask, enum vol_fit *fit);
/* The same by looking at every node. barred (all cards) may not be taken; NULL for none. */
int32_t vol_best_by_scan(struct vol_nodes *v, const struct vol_liking *how,
                         const struct vol_ask *ask, const bool *barred, gsl_rng *rng,
                         enum vol_fit *fit);

#endif
