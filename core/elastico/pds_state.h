/* pds_state.h - what pds.h keeps from pass to pass, and its settings. */
#ifndef COLOSIM_PDS_STATE_H
#define COLOSIM_PDS_STATE_H

#include "core/cluster/policy.h"
#include "core/elastico/arrivals.h"
#include "core/elastico/esp.h"
#include "core/elastico/lore.h"
#include "core/elastico/pairing.h"
#include "core/elastico/transition.h"

enum pds_without { PDS_WHOLE, PDS_NO_RST, PDS_NO_ESP, PDS_NO_IAC, PDS_NO_PDS };
enum pds_fixed { PDS_SUBMITTED, PDS_DEFAULT };
enum pds_greedy { PDS_PAIRS, PDS_FASTEST };
enum pds_weight { PDS_REMAINING, PDS_ARRIVAL };

struct pds_config {
    struct {
        bool online;
    } iac;
    double aging_s, alpha, beta, beta_max, epoch_s, gamma, gamma0, horizon_s, margin, min_rate_frac,
        sm_overcommit, tau_base, u_target;
    int64_t queue_depth, rounds;
    int fixed;   /* enum pds_fixed */
    int greedy;  /* enum pds_greedy */
    int tau;     /* enum iac_tau_form */
    int weight;  /* enum pds_weight */
    int without; /* enum pds_without */
    bool skip_idle, watch;
    struct transition_costs cost;
    struct esp_config esp;
    struct lore_config profiling;
};

/* A waiting job in its place: least key first, then the lower number. Those that have waited for
 * too long come before all others, in order of arrival. */
struct pds_waiting {
    double key;
    int64_t milli; /* asked for */
    int32_t job, shape;
};

struct pds {
    const struct pds_config *config;
    struct lore lore; /* where has_lore: else everything is known */
    bool has_lore;
    struct menus menus; /* of what is known */
    struct seen seen;
    struct pairing pairing;
    struct esp esp;
    struct arena by_menu; /* owns what has the size of menus: esp, blocked, row_of_menu */
    bool has_menus;
    int32_t n_jobs, n_rows; /* n_rows: of all menus, at all widths, and one to wait */

    /* (n_jobs) */
    int32_t *kind, *option, *width; /* of running jobs: kind of card, place in the menu */
    int32_t *resident;              /* place in the pass's list, -1 */
    int32_t *shape;                 /* alike in all that decides whether they can start */
    double *left_s;                 /* reference seconds of work left at the last event */
    double *tau;                    /* what was agreed when it came to share a card; INFINITY */
    bool *alone;                    /* was seen to suffer: shares no more */
    bool *aged;                     /* waits, and has for too long */

    struct pds_waiting *queue; /* (n_waiting of n_jobs) */
    int32_t n_waiting;
    int64_t asked_milli; /* by them together */
    bool *blocked;       /* (n_shapes) in this walk */
    int32_t n_shapes;
    int32_t *card; /* (n_cards) 0, 1, 2, … */
    int32_t *row_of_menu;
    bool *takes_bandwidth; /* (workloads) of nodes, where these declare it; NULL: none do */
    int64_t n_passes;
    struct pds_beside {
        int32_t other; /* option of menus.option */
        int64_t pass;  /* of n_passes, in which it was asked about */
        double s[2];   /* what the other suffers, and it itself */
    } * beside;        /* (options of all menus) the last one that was asked about beside it */
    double price[CHOICE_RES_MAX], price_before[CHOICE_RES_MAX];
    struct arrivals arrivals;
    bool priced;  /* price_before means something */
    bool changed; /* something happened, or the last pass changed something */
    bool ran;     /* the last decide was a pass */
    struct epoch epoch;
};

#endif
