/* pairing.h - in which configurations two jobs may share a card, and what each then does.
 *
 * For two menus on one kind of card: the pairs of options whose memory fits the card together,
 * whose believed slowdowns are within a limit and keep both promises. Of these only what nobody
 * beats on both speeds is kept: for each option of the host (who may stay as he is), and over all.
 * Computed when first asked for, then looked up. */
#ifndef COLOSIM_PAIRING_H
#define COLOSIM_PAIRING_H

#include "core/elastico/belief.h"
#include "core/elastico/menu.h"
#include "core/elastico/seen.h"

struct pair_point {
    int16_t guest, host; /* options */
    bool front;          /* no other point is better for both */
    double s_guest, s_host;
    double v_guest, v_host; /* speed / s, at the widths asked for */
};
struct pair_list {
    int32_t guest, host;      /* menus; guest -1: a free slot */
    int32_t n;                /* -1: to be made again */
    struct pair_point *point; /* by host, then guest */
};

struct pairing {
    const struct menus *menus;
    struct belief *belief; /* NULL: nobody slows anybody */
    const struct iac_side *side;
    const struct seen *seen; /* corrects the belief; NULL: nothing does */
    double s_max;            /* no tolerance is higher */
    struct pair_list *list;
    int32_t n_lists, n_slots;
    struct iac_pair *question;
    double *answer;
    size_t question_capacity, answer_capacity;
};

/* Everything is borrowed. The caller frees in any case. */
enum status pairing_init(struct pairing *p, const struct menus *menus, struct belief *belief,
                         const struct iac_side *side, const struct seen *seen, double s_max,
                         struct error *err) MUST_USE;
void pairing_free(struct pairing *p);

/* What is believed of n pairs of rows, corrected; 1 where one of them is -1. s (n) out. */
void pairing_ask(struct pairing *p, int32_t n, const struct iac_pair *pair, double *s);
/* Other things are seen of two workloads: what was computed of them is computed anew. Cost O(pairs
 * of menus). */
void pairing_forget(struct pairing *p, int32_t workload_a, int32_t workload_b);

/* Valid until the next call. NULL when memory is out. The first time costs a question for each pair
 * of options and direction, then O(1). */
const struct pair_list *pairing_of(struct pairing *p, int32_t guest, int32_t host);

#endif
