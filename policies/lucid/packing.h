/* packing.h - two jobs on the same GPUs: who may join whom, and how fast both are then.
 *
 * A job joins the longest-running job of its cluster that has its GPUs alone, has as many of them
 * (within one node), leaves memory enough, and whose sharing score goes with its own: 0 tiny,
 * 1 medium, 2 jumbo, together no more than score_max. Its priority (estimated GPU time; small is
 * urgent) must not be above priority_ratio times the other's: it should end first. There are never
 * more than two, and their sets of GPUs are the same.
 *
 * Scores come from the table of labels by workload; for jobs of a catalog without a label from
 * their SM activity in the submitted configuration (tiny_below, jumbo_from: the two limits on
 * gpu_util that agree with most of the artifact's labels, 53 of 66; SM activity lies below
 * gpu_util, so this packs more gladly); else unlabelled. Memory that nobody told (0) is not packed.
 *
 * Speeds come from the table of rates; without one they are the run's truth and not set here. */
#ifndef COLOSIM_LUCID_PACKING_H
#define COLOSIM_LUCID_PACKING_H

#include "policies/lucid/vc.h"

enum { SCORE_TINY, SCORE_MEDIUM, SCORE_JUMBO, SCORE_NEVER };

struct packing_config {
    /* the artifact's mistakes, or not: see lucid.c */
    bool unrecovered, unmeasured_at_1, gains;
    double gpu_mem_mib, jumbo_from, priority_ratio, tiny_below;
    int64_t score_max;
    int unlabelled;                     /* SCORE_… */
    const struct table *labels, *rates; /* no rows: none */
};

struct packing {
    const struct packing_config *config;
    const struct vcs *vcs;
    uint8_t *score; /* (n_jobs) */
    int32_t *mate;  /* (n_jobs) -1 */
    bool *shares;   /* (n_jobs) has or had a mate and was not put right since: nobody may join it */
    int64_t *order; /* (n_jobs) of start */
    int64_t n_started;

    /* jobs that others may join, by cluster and GPUs, in order of start */
    int32_t gpus_most;
    int32_t *first, *last; /* (vcs x (gpus_most + 1)) -1 */
    int32_t *next, *prev;  /* (n_jobs) */

    /* speeds by workload */
    int32_t n_kinds;
    int32_t *kind; /* (names of the job table) -1 without rates */
    struct pair_speeds {
        double joins, joined;
    } * speeds; /* (n_kinds x n_kinds) of the row joining the column; NAN not measured */
    bool *at_1; /* (names) artifact: never slowed, never slows */
    const struct pairs *pairs; /* the run's, where it has some */
    const int32_t *pair_id;
};

/* The config and the clusters must outlive it. */
enum status packing_init(struct packing *p, const struct packing_config *config,
                         const struct vcs *vcs, const struct view *v,
                         const struct place_rules *rules, struct arena *arena,
                         struct error *err) MUST_USE;
/* The job started alone: others may join it. */
void packing_alone(struct packing *p, const struct job_table *t, int32_t job);
/* Starts the job beside another; priority (n_jobs) is estimated GPU time. False where there is none
 * that it may join. Sets plan->failed when memory is out. O(running jobs of its cluster with as
 * many GPUs, alone on them). */
bool packing_join(struct packing *p, const struct view *v, struct plan *plan,
                  const int64_t *priority, int32_t job);
/* The job ended: its mate has the GPUs alone. */
void packing_end(struct packing *p, const struct view *v, struct plan *plan, int32_t job);

#endif
