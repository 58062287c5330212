#include "core/elastico/transition.h"

#include <math.h>

static double by_size(const struct rst *r, int32_t job, double least_s, double most_s)
{
    double params = r->w->params[r->workload[job]];
    double part = params > 0 ? (log10(params) - 6) / 4 : 0;
    part = part < 0 ? 0 : part > 1 ? 1 : part;
    return least_s + part * (most_s - least_s);
}

double transition_move_s(const struct transition_costs *t, const struct rst *r, int32_t job)
{
    if (r->w->kind[r->workload[job]] == KIND_INFER)
        return by_size(r, job, t->engine_least_s, t->engine_most_s);
    return by_size(r, job, t->resume_least_s, t->resume_most_s);
}

double transition_config_s(const struct transition_costs *t, const struct rst *r, int32_t job,
                           int32_t from, int32_t to)
{
    const struct workloads *w = r->w;
    for (int knob = 0; knob < N_KNOBS; knob++)
        if (knob != KNOB_PC &&
            config_index(w, from, (enum knob)knob) != config_index(w, to, (enum knob)knob))
            return transition_move_s(t, r, job);
    return 0;
}
