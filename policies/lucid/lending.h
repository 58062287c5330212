/* lending.h - the node that a virtual cluster lends the profiler.
 *
 * The lender gives the idle node with the highest name. A node that comes back goes to the end of
 * the lender's list under the name BORROWED, the highest; a node that goes takes that name with it,
 * from the node that has it if need be. Only the order of names is seen by this. Where the lender
 * has none idle, a node of the pool `spare` serves, and the lender keeps all of its own. */
#ifndef COLOSIM_LUCID_LENDING_H
#define COLOSIM_LUCID_LENDING_H

#include "policies/lucid/vc.h"

struct lending {
    int32_t lender, spare; /* pools, -1 none */
    int32_t *name;         /* (n_nodes) */
};

/* A pool by its name; ST_USAGE where there is none, with the setting that names it. */
enum status lending_pool(const struct vcs *s, const char *key, const char *name, size_t length,
                         int32_t *pool, struct error *err) MUST_USE;
/* lender NULL: nobody lends; spare NULL or no pool: none. Spare nodes are nobody else's. */
enum status lending_init(struct lending *l, const char *lender, const char *spare, struct vcs *s,
                         const struct view *v, struct arena *arena, struct error *err) MUST_USE;
/* The node that is lent from now on, in no pool; -1 where there is none to have. O(nodes). */
int32_t lending_take(struct lending *l, struct vcs *s, struct plan *plan);
/* It comes back: to the lender, which is due then, or to the spare ones. */
void lending_return(struct lending *l, struct vcs *s, struct plan *plan, int32_t node);

#endif
