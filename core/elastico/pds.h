/* pds.h - Phase-Aware Disaggregated Scheduling: the cycle that joins configurations, prices and
 * interference (§3.4, Algorithm 1 of the ElastiCo paper, read as docs/elastico.md says).
 *
 * At every epoch boundary after something happened: up to M rounds of prices -> configurations ->
 * check of pairs -> penalties; then running jobs switch, waiting ones are admitted (on free cards,
 * on fewer of them, or beside somebody who may change his configuration for it), and when nobody
 * waits pairs part and jobs grow back. A running job stays on its cards unless moving pays.
 *
 * Running jobs that somebody else started (view.memory) are taken over in the configuration and
 * width they have; one that has a configuration or width that its menu lacks stays as it is.
 *
 * A pass is a function of the view and of what was stored at the last event: what work was left,
 * and the prices. So a boundary at which nothing has happened since the last pass, which changed
 * nothing, can be left out: no event, no profile that has ended, nobody who has waited for too
 * long. No clock, no files; what it allocates it gives back in pds_free. */
#ifndef COLOSIM_PDS_H
#define COLOSIM_PDS_H

#include "core/elastico/pds_state.h"

extern const struct param pds_params[];
extern const char *const pds_tables[]; /* policy.tables */

/* config must outlive it. The caller frees in any case. */
enum status pds_init(struct pds *s, const struct pds_config *config, const struct view *v,
                     struct arena *arena, struct error *err) MUST_USE;
void pds_free(struct pds *s);

/* policy.decide. Cost of a pass: that of the prices; O(residents log residents + cards); for each
 * shape of waiting job that is tried, O(kinds of host + nodes); O(waiting). */
enum status pds_decide(struct pds *s, const struct view *v, struct plan *p,
                       struct error *err) MUST_USE;
/* policy.recall: the prices, what was agreed, who suffered, and how much came. */
void pds_recall(const struct pds *s, struct memory *out);

#endif
