/* pds.h - Phase-Aware Disaggregated Scheduling: the cycle that joins configurations, prices and
 * interference (§3.4, Algorithm 1 of the ElastiCo paper, read as docs/elastico.md says).
 *
 * At every epoch boundary after something happened: up to M rounds of prices -> configurations ->
 * check of pairs -> penalties; then running jobs switch, waiting ones are admitted (on free cards,
 * on fewer of them, or beside somebody who may change his configuration for it), and when nobody
 * waits pairs part and jobs grow back. A running job stays on its cards unless moving pays.
 *
 * A pass is a function of the view and of what was stored at the last event: what work was left, and
 * the prices. So a boundary at which nothing has happened since the last pass, which changed
 * nothing, can be left out. No clock, no files; what it allocates it gives back in pds_free. */
#ifndef COLOSIM_PDS_H
#define COLOSIM_PDS_H

#include "core/cluster/policy.h"
#include "core/elastico/esp.h"
#include "core/elastico/pairing.h"
#include "core/elastico/transition.h"

enum pds_without { PDS_WHOLE, PDS_NO_RST, PDS_NO_ESP, PDS_NO_IAC, PDS_NO_PDS };
enum pds_weight { PDS_REMAINING, PDS_ARRIVAL };

struct pds_config {
    double alpha, beta, beta_max, epoch_s, gamma, gamma0, horizon_s, margin, min_rate_frac,
        sm_overcommit, tau_base, u_target;
    int64_t queue_depth, rounds;
    int tau;     /* enum iac_tau_form */
    int weight;  /* enum pds_weight */
    int without; /* enum pds_without */
    bool skip_idle, watch;
    struct transition_costs cost;
    struct esp_config esp;
};
extern const struct param pds_params[];

/* A waiting job in its place: least key first, then the lower number. */
struct pds_waiting {
    double key;
    int32_t job, shape;
};

struct pds {
    const struct pds_config *config;
    struct menus menus;
    struct pairing pairing;
    struct esp esp;
    bool has_menus;
    int32_t n_jobs, most_options; /* of a menu, at all widths */

    /* (n_jobs) */
    int32_t *kind, *option, *width; /* of running jobs: kind of card, place in the menu */
    int32_t *resident;              /* place in the pass's list, -1 */
    int32_t *shape;                 /* alike in all that decides whether they can start */
    double *left_s;                 /* reference seconds of work left at the last event */
    double *tau;                    /* what was agreed when it came to share a card; INFINITY */
    bool *alone;                    /* was seen to suffer: shares no more */

    struct pds_waiting *queue; /* (n_waiting of n_jobs) */
    int32_t n_waiting;
    int64_t asked_milli; /* by them together */
    bool *blocked; /* (n_shapes) in this walk */
    int32_t n_shapes;
    int32_t *card; /* (n_cards) 0, 1, 2, … */
    int32_t *row_of_menu;
    double price[CHOICE_RES_MAX], price_before[CHOICE_RES_MAX];
    bool priced;  /* price_before means something */
    bool changed; /* something happened, or the last pass changed something */
    bool ran;     /* the last decide was a pass */
    struct epoch epoch;
};

/* config must outlive it. The caller frees in any case. */
enum status pds_init(struct pds *s, const struct pds_config *config, const struct view *v,
                     struct arena *arena, struct error *err) MUST_USE;
void pds_free(struct pds *s);

/* policy.decide. Cost of a pass: that of the prices; O(residents log residents + cards); for each
 * shape of waiting job that is tried, O(kinds of host + nodes); O(waiting). */
enum status pds_decide(struct pds *s, const struct view *v, struct plan *p,
                       struct error *err) MUST_USE;

#endif
