/* round.h - one round of a scheduler that deals out time in rounds: who runs from now on.
 *
 * The policy ranks; this keeps running jobs on their cards where it can, starts the others, widest
 * first, and pairs jobs on the same cards. A ranked job that finds no place although there are GPUs
 * enough (they lie scattered) moves lower-ranked jobs that were to stay: they restart elsewhere. */
#ifndef COLOSIM_ROUND_H
#define COLOSIM_ROUND_H

#include "core/cluster/policy.h"

/* One entry of a round: a job, alone or with another on the same cards. */
struct pick {
    int32_t job, mate; /* mate -1: alone */
    int32_t n_inst;    /* 0: as many as it asks for; else an elastic job's width */
};

struct round {
    int32_t *mate;        /* (n_jobs) who shares its cards now, -1 */
    bool *keeps;          /* (n_jobs) in the round being made it stays on its cards */
    const int32_t *shape; /* (n_jobs) what its placement asks for */
    int64_t *no_fit;      /* (n_shapes) the last walk in which this shape found no place */
    int64_t stamp;        /* of the walk */
    int64_t restart_us;   /* what a job pays that stops in one round and goes on in another */
};

bool round_init(struct round *r, const struct job_table *t, int64_t restart_us,
                struct arena *arena);

/* To be called first in every pass: those that are done leave their mates alone. */
void round_begin(struct round *r, const struct view *v);

/* The first boundary at or after now of rounds of this length, but after the beginning of the
 * present one: where nothing can change rounds are not made, and this catches up with those left
 * out. */
static inline int64_t round_boundary_us(int64_t begun_us, int64_t length_us, int64_t now_us)
{
    int64_t n = (now_us - begun_us + length_us - 1) / length_us;
    return begun_us + (n > 1 ? n : 1) * length_us;
}

/* Milli-GPUs that the tasks of a job that have not ended ask for. */
int64_t round_width_milli(const struct plan *plan, int32_t job);

/* In the plan as it is now. */
static inline bool round_has_place(const struct plan *plan, int32_t job)
{
    return plan->at[plan->jobs->task_begin[job] + plan->n_ended[job]].first >= 0;
}

/* Nobody runs but the picks, the first being the most important. Every job at most once. Sets
 * plan->failed when memory is out. Cost O(picks log picks + running), and for each shape that finds
 * no place at first O(lower picks). */
void round_apply(struct round *r, const struct view *v, struct plan *plan, const struct pick *pick,
                 int32_t n);

/* Starts those of the jobs that have no place and fit on what is left, in this order. O(n). */
void round_fill(struct round *r, struct plan *plan, const int32_t *job, int32_t n);

#endif
