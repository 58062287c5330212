/* belief.h - what a policy thinks that sharing a card costs, as opposed to what it does cost.
 *
 * One interface for every predictor: a function answers for pairs that were not asked before, a
 * cache for those that were, and an error may be laid over either (D5). Sides are the caller's row
 * numbers; a pair is asked in one direction: the slowdown of one side beside another. Answers are
 * >= 1, or INFINITY where nothing is known (never to be shared), and rounded to 1e-6.
 *
 * All memory is had in belief_init. One belief belongs to one thread. */
#ifndef COLOSIM_BELIEF_H
#define COLOSIM_BELIEF_H

#include "core/cluster/pairs.h"
#include "core/elastico/contention.h"
#include "core/elastico/iac.h"

/* Answers n pairs: s (n) out, and spread (n) out, its standard deviation, 0 where it has none. */
typedef void (*belief_fn)(void *context, const struct iac_side *side, int32_t n,
                          const struct iac_pair *pair, double *s, double *spread);

/* A trained model (iac, gbdt, linear); the context is a struct iac_reader. */
void belief_of_model(void *context, const struct iac_side *side, int32_t n,
                     const struct iac_pair *pair, double *s, double *spread);

/* Measured pairs; the context is a struct belief_table. What was not measured is INFINITY. */
struct belief_table {
    const struct pairs *pairs;
    const int32_t *workload; /* of each side, id in pairs->workloads; -1: not among them */
};
void belief_of_table(void *context, const struct iac_side *side, int32_t n,
                     const struct iac_pair *pair, double *s, double *spread);

/* The physics itself, an oracle under it; the context is a struct contention. */
void belief_of_contention(void *context, const struct iac_side *side, int32_t n,
                          const struct iac_pair *pair, double *s, double *spread);

struct belief_options {
    double error_frac; /* mean absolute error laid over the answers, as a fraction; 0: none */
    uint64_t seed;     /* of that error */
    int32_t n_slots;   /* of the cache; rounded up to a power of two, 1024 at least */
    double caution;    /* standard deviations added to an answer: who takes the best of many pairs
                          takes those that are thought too well of */
};

struct belief {
    belief_fn ask;
    void *context; /* borrowed */
    struct belief_options options;
    struct belief_slot {
        int32_t of, beside; /* of == -1: free */
        double s;           /* < 0: being asked, -1 - its place among those asked */
    } * slot;               /* (n_slots) */
    int32_t n_used;
    int64_t n_hits, n_misses, n_emptied; /* outcomes: pairs known, pairs asked, full caches */
    int32_t n_asked;                     /* pairs being asked */
    struct iac_pair *asked;              /* (IAC_BATCH) */
    struct belief_slot **asked_slot;     /* (IAC_BATCH) */
    double *asked_s, *asked_spread;      /* (IAC_BATCH) */
};

/* An oracle is a belief whose function is the truth. The caller frees in any case. */
enum status belief_init(struct belief *b, belief_fn ask, void *context,
                        const struct belief_options *options, struct error *err) MUST_USE;
void belief_free(struct belief *b);

/* Answers n pairs, those not yet known in batches of IAC_BATCH. s (n) out. What a number stands for
 * must not change while the belief is in use; belief_forget starts anew. A full cache is emptied.
 * Cost: a look-up for each pair, and the predictor for new ones. */
void belief_ask(struct belief *b, const struct iac_side *side, int32_t n,
                const struct iac_pair *pair, double *s);
void belief_forget(struct belief *b);

/* s with the error of this pair laid over it: a function of the seed and the pair alone, however
 * often and in whatever order it is asked. The relative error is normal with mean absolute value
 * error_frac where nothing stands in its way; no answer is below 1, so downward errors end there
 * and upward ones are longer by as much as makes the mean absolute error error_frac again, whatever
 * s is. INFINITY stays. */
double belief_err(const struct belief_options *o, struct iac_pair pair, double s);

#endif
