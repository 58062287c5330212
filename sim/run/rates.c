#include "sim/run/rates.h"

#include <assert.h>
#include <math.h>

enum { RESIDENTS_MAX = 64 }; /* of one card that are looked at */

static double slowed_by(const struct plan *p, int32_t job, int32_t other)
{
    int32_t w = p->jobs->workload[job], v = p->jobs->workload[other];
    if (w < 0 || v < 0)
        return 1;
    double speed = pairs_speed(p->rules.pairs, p->rules.pair_id[w], p->rules.pair_id[v]);
    return isnan(speed) ? 1 : speed;
}

static double kept_by_table(const struct plan *p, int32_t job, int32_t card)
{
    const struct cluster *c = p->cluster;
    double kept = 1;
    for (int32_t s = c->card_seat[card]; s >= 0; s = c->seats[s].next)
        if (p->jobs->task_job[c->seats[s].task] != job)
            kept *= slowed_by(p, job, p->jobs->task_job[c->seats[s].task]);
    return kept;
}

int32_t row_on_card(const struct rates *r, const struct plan *p, int32_t job, int32_t card)
{
    if (r->rst == NULL || p->config[job] < 0)
        return -1;
    int32_t type = rst_card(r->rst, p->cluster, job, p->cluster->card_node[card]);
    return rst_row(r->rst, job, p->config[job], type);
}

static double kept_by_predictor(const struct rates *r, const struct plan *p, int32_t job,
                                int32_t card)
{
    const struct cluster *c = p->cluster;
    int32_t row = row_on_card(r, p, job, card);
    double kept = 1, s;
    for (int32_t seat = c->card_seat[card]; row >= 0 && seat >= 0; seat = c->seats[seat].next) {
        int32_t other = p->jobs->task_job[c->seats[seat].task];
        int32_t beside = other == job ? -1 : row_on_card(r, p, other, card);
        if (beside < 0)
            continue;
        belief_ask(r->predictor, r->side, 1, &(struct iac_pair){row, beside}, &s);
        kept /= s;
    }
    return kept;
}

static double kept_by_contention(const struct rates *r, const struct plan *p, int32_t job,
                                 int32_t card)
{
    const struct cluster *c = p->cluster;
    int32_t row[RESIDENTS_MAX], n = 1;
    row[0] = row_on_card(r, p, job, card);
    if (row[0] < 0)
        return 1;
    for (int32_t s = c->card_seat[card]; s >= 0 && n < RESIDENTS_MAX; s = c->seats[s].next) {
        int32_t other = p->jobs->task_job[c->seats[s].task];
        row[n] = other == job ? -1 : row_on_card(r, p, other, card);
        n += row[n] >= 0;
    }
    return 1 / contention_among(r->contention, row, n, 0);
}

static double kept_on_card(const struct rates *r, const struct plan *p, int32_t job, int32_t card)
{
    switch (r->truth) {
    case TRUTH_NONE: return 1;
    case TRUTH_TABLE: return kept_by_table(p, job, card);
    case TRUTH_CONTENTION: return kept_by_contention(r, p, job, card);
    case TRUTH_IAC: return r->predictor != NULL ? kept_by_predictor(r, p, job, card) : 1;
    }
    assert(false);
    return 1;
}

double kept_speed(const struct rates *r, const struct plan *p, int32_t job)
{
    const struct job_table *t = p->jobs;
    double slowest = INFINITY;
    if (r->truth == TRUTH_NONE)
        return 1;
    for (int32_t k = t->task_begin[job] + p->n_ended[job]; k < t->task_begin[job + 1]; k++)
        for (int32_t i = 0; i < p->at[k].n; i++) {
            int32_t card = p->cluster->seats[p->at[k].first + i].where;
            double kept = card < 0 ? 1 : kept_on_card(r, p, job, card);
            slowest = kept < slowest ? kept : slowest;
        }
    return isfinite(slowest) ? slowest : 1;
}

/* In its configuration on the slowest type of card among its own. */
static double speed_configured(const struct rates *r, const struct plan *p, int32_t job)
{
    const struct job_table *t = p->jobs;
    double slowest = INFINITY;
    int32_t seen = -1;
    if (r->rst == NULL || p->config[job] < 0)
        return 1;
    for (int32_t k = t->task_begin[job] + p->n_ended[job]; k < t->task_begin[job + 1]; k++)
        for (int32_t i = 0; t->gpu_milli[k] > 0 && i < p->at[k].n; i++) {
            int32_t node = seat_node(p->cluster, p->cluster->seats[p->at[k].first + i].where);
            int32_t type = rst_card(r->rst, p->cluster, job, node);
            double speed = type == seen ? slowest : rst_speed(r->rst, job, p->config[job], type);
            seen = type;
            slowest = speed < slowest ? speed : slowest;
        }
    return isfinite(slowest) ? slowest : 1;
}

double speed_alone(const struct rates *r, const struct plan *p, int32_t job)
{
    if (r->rst != NULL && p->config[job] >= 0 && r->rst->asked[job] > 0) {
        struct seats at = p->at[p->jobs->task_begin[job]];
        bool proper;
        return rst_placed_speed(r->rst, p->cluster, p->jobs, job, p->config[job], at.first, at.n,
                                &proper);
    }
    double speed = speed_configured(r, p, job);
    if (!job_is_elastic(p->jobs, job))
        return speed;
    int32_t task = p->jobs->task_begin[job], n = plan_width(p, task), n0 = p->jobs->n_inst[task];
    return speed * (r->rst != NULL ? rst_width_speed(r->rst, job, n, n0, r->scale_exp)
                                   : pow((double)n / n0, r->scale_exp));
}

int64_t time_for(double left_us, double speed)
{
    double us = ceil(left_us / speed - 1e-3);
    return us > 0 ? (int64_t)us : 0;
}

/* How many equal steps lead down from left without passing the power of two below it. */
static int64_t equal_steps(double left, double step)
{
    int exponent;
    frexp(left, &exponent);
    return (int64_t)((left - ldexp(0.5, exponent)) / step) - 1;
}

/* Takes speed off what is left, most times at the most and until nothing is; returns how often.
 * Between two powers of two all doubles are equally far apart, so a difference is rounded alike
 * every time (after one step also where it lies halfway): steps seen twice to be equal are taken
 * at once, with the bits that one by one would have. O(log(left / speed)). */
static int64_t take_off(double *left, double speed, int64_t most)
{
    int64_t n = 0;
    while (n<most && * left> 0) {
        double once = *left - speed, step = *left - once;
        assert(step > 0); /* a speed that doubles of this size can feel */
        int64_t k = once > 0 && once - (once - speed) == step ? equal_steps(*left, step) : 0;
        k = k < most - n ? k : most - n;
        *left = k > 1 ? *left - (double)k * step : once;
        n += k > 1 ? k : 1;
    }
    return n;
}

double ticks_advance(double left, double speed, int64_t n)
{
    take_off(&left, speed, n);
    return left;
}

int64_t ticks_to_end(double left, double speed) { return take_off(&left, speed, INT64_MAX) + 1; }
