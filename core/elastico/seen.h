/* seen.h - what was seen of pairs on shared cards, which then stands for what was believed of them
 * (the ElastiCo paper's future work iv).
 *
 * The correction of a pair is the mean of what was observed less what is believed, added to the
 * belief: so the mean itself, of the observations that there were. A pair in one direction is of
 * two rows of profiles, as in belief.h; of a pair that was not seen nothing is learnt. */
#ifndef COLOSIM_SEEN_H
#define COLOSIM_SEEN_H

#include "core/elastico/iac.h"

struct seen {
    struct seen_pair {
        struct iac_pair pair; /* of -1: free */
        int64_t n;
        double mean; /* slowdown, >= 1 */
    } * slot;        /* (n_slots) */
    int32_t n, n_slots;
};

void seen_free(struct seen *s);
/* One more observation, rounded as a belief is. *news: the mean is another now. False when memory
 * is out. O(1) but for growth. */
bool seen_add(struct seen *s, struct iac_pair pair, double slowdown, bool *news);
/* The mean, or what is believed where nothing was seen. */
double seen_or(const struct seen *s, struct iac_pair pair, double believed);

#endif
