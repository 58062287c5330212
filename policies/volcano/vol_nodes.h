/* vol_nodes.h - nodes as a Volcano session sees them, what tasks ask of one, and how one is liked.
 *
 * idle is free now; evicted tasks still hold their node (releasing), and tasks promised to what
 * they will leave hold no more than that (promised). Changes are noted in a ring, so that whoever
 * has looked at all nodes once need only look again at those that changed. */
#ifndef COLOSIM_VOL_NODES_H
#define COLOSIM_VOL_NODES_H

#include "core/base/arena.h"
#include "policies/volcano/vgpu.h"
#include "policies/volcano/vol_score.h"

#include <stdint.h>

enum { VOL_LABELS_MAX = 64 };
#define VOL_ANY_LABEL UINT64_MAX

struct vol_ask {
    struct amounts amounts;
    uint64_t labels;       /* of the nodes that will do, bit l for label l */
    struct vgpu_ask cards; /* n 0: none, or cards are not told apart */
    bool empty;            /* asks for nothing but a pod slot; set by the session */
};

struct vol_nodes {
    int32_t n;
    struct amounts *size, *idle, *releasing, *promised; /* (n) */
    int32_t *label;             /* (n) 0 to VOL_LABELS_MAX - 1: what selectors tell apart */
    struct vgpu_card *card;     /* cards that are shared; NULL where cards are not told apart */
    int32_t *card_begin;        /* (n + 1) first card of a node */
    int32_t *picked;            /* (cards of a node) scratch */
    struct amounts total, used; /* of all sizes; of size - idle */
    int32_t *changed;           /* (n_ring) nodes that changed, newest at n_changed - 1 */
    int64_t n_ring, n_changed;
};

/* How nodes are told apart. */
struct vol_liking {
    struct vol_weights weights;
    bool predicates; /* labels count */
    enum vgpu_order card_order;
    double card_weight;
};

/* n nodes of nothing, the nodes' cards given by card_begin (n + 1) or NULL; sizes are filled in by
 * vol_nodes_size. False when memory is out. */
bool vol_nodes_init(struct vol_nodes *v, int32_t n, const int32_t *card_begin, struct arena *arena);
void vol_nodes_size(struct vol_nodes *v, int32_t node, const struct amounts *size, int32_t label);

/* idle and the totals change by times the amounts; so do what is releasing and promised. */
void vol_nodes_take(struct vol_nodes *v, int32_t node, const struct amounts *amounts, double times);
void vol_nodes_release(struct vol_nodes *v, int32_t node, const struct amounts *amounts,
                       double times);
void vol_nodes_promise(struct vol_nodes *v, int32_t node, const struct amounts *amounts,
                       double times);

/* idle + releasing - promised. */
struct amounts vol_future_idle(const struct vol_nodes *v, int32_t node);

enum vol_fit { VOL_FITS_NOT, VOL_FITS_LATER, VOL_FITS_NOW };
/* Does the node have the label asked for? */
bool vol_label_fits(const struct vol_nodes *v, const struct vol_liking *how,
                    const struct vol_ask *ask, int32_t node);
/* barred (cards of the node) may not be taken; NULL for none. */
enum vol_fit vol_fit(struct vol_nodes *v, const struct vol_liking *how, const struct vol_ask *ask,
                     int32_t node, const bool *barred);
double vol_liked(struct vol_nodes *v, const struct vol_liking *how, const struct vol_ask *ask,
                 int32_t node);

#endif
