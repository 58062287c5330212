/* transition.h - what it costs a job to go on differently (§5.7 of the paper).
 *
 * A flag of a running engine (prefix caching) costs nothing. Another batch, length or memory of an
 * inference engine is a restart: 5 to 15 s. Another configuration of a training job, another number
 * of cards or other cards are a checkpoint and a resume: 15 to 45 s; an engine that moves restarts.
 * "By model size" is taken as linear in log10 of the parameters, from 1e6 to 1e10 (ours). */
#ifndef COLOSIM_TRANSITION_H
#define COLOSIM_TRANSITION_H

#include "core/elastico/rst.h"

struct transition_costs {
    double engine_least_s, engine_most_s, resume_least_s, resume_most_s;
};

/* Seconds without progress, from one configuration of a job's workload to another on the same
 * cards; 0 where they are the same. */
double transition_config_s(const struct transition_costs *t, const struct rst *r, int32_t job,
                           int32_t from, int32_t to);
/* The same to other cards, or to more or fewer. */
double transition_move_s(const struct transition_costs *t, const struct rst *r, int32_t job);

#endif
