#include "sim/run/rates.h"

#include <math.h>

static double slowed_by(const struct plan *p, int32_t job, int32_t other)
{
    int32_t w = p->jobs->workload[job], v = p->jobs->workload[other];
    if (w < 0 || v < 0)
        return 1;
    double speed = pairs_speed(p->rules.pairs, p->rules.pair_id[w], p->rules.pair_id[v]);
    return isnan(speed) ? 1 : speed;
}

double kept_speed(const struct plan *p, int32_t job)
{
    const struct job_table *t = p->jobs;
    const struct cluster *c = p->cluster;
    double slowest = INFINITY;
    for (int32_t k = t->task_begin[job] + p->n_ended[job]; k < t->task_begin[job + 1]; k++)
        for (int32_t i = 0; i < p->at[k].n; i++) {
            double kept = 1;
            int32_t where = c->seats[p->at[k].first + i].where;
            for (int32_t s = where >= 0 ? c->card_seat[where] : -1; s >= 0; s = c->seats[s].next)
                if (t->task_job[c->seats[s].task] != job)
                    kept *= slowed_by(p, job, t->task_job[c->seats[s].task]);
            slowest = kept < slowest ? kept : slowest;
        }
    return isfinite(slowest) ? slowest : 1;
}

int64_t time_for(double left_us, double speed)
{
    double us = ceil(left_us / speed - 1e-3);
    return us > 0 ? (int64_t)us : 0;
}

double ticks_advance(double left, double speed, int64_t n)
{
    if (speed == 1) /* one by one gives the same bits: 1 is on the grid of any larger double */
        return left - (double)n;
    for (int64_t i = 0; i < n && left > 0; i++)
        left -= speed;
    return left;
}

int64_t ticks_to_end(double left, double speed)
{
    int64_t n = 1;
    if (speed == 1)
        return left > 0 ? (int64_t)ceil(left) + 1 : 1;
    for (; left > 0; n++)
        left -= speed;
    return n;
}
