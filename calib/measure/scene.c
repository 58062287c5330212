#include "calib/measure/scene.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>

void scene_outcome(struct scene *c, enum outcome what, const char *format, ...)
{
    va_list list;
    if (c->m->outcome != OUTCOME_OK)
        return; /* the first reason is the one */
    c->m->outcome = what;
    va_start(list, format);
    vsnprintf(c->m->error, sizeof c->m->error, format, list);
    va_end(list);
    for (char *p = c->m->error; *p != '\0'; p++) /* it will stand in a table */
        if ((unsigned char)*p < ' ' || *p == ',' || *p == '"')
            *p = ' ';
}

static double lowest(const struct series *s)
{
    double low = NAN;
    for (int32_t i = 0; i < s->n; i++)
        low = fmin(low, s->value[i]);
    return low;
}

static double highest(const struct series *s)
{
    double high = NAN;
    for (int32_t i = 0; i < s->n; i++)
        high = fmax(high, s->value[i]);
    return high;
}

static void sum_up_rings(const struct runner *r, double window_s, double *side)
{
    uint64_t n[N_RING_COUNTS];
    for (int i = 0; i < N_RING_COUNTS; i++)
        n[i] = r->end.count[i] - r->begin.count[i];
    uint64_t gaps = r->end.n_gaps - r->begin.n_gaps, gap_ns = r->end.gap_ns - r->begin.gap_ns;
    side[SIDE_LAUNCH_PER_S] = (double)(n[RING_LAUNCHES] + n[RING_GRAPHS]) / window_s;
    side[SIDE_ALLOCS] = (double)n[RING_ALLOCS];
    side[SIDE_FREES] = (double)n[RING_FREES];
    side[SIDE_NCCL_PER_S] = (double)n[RING_NCCL] / window_s;
    side[SIDE_LOST] = (double)(r->end.n_lost - r->begin.n_lost);
    if (gaps > 0)
        side[SIDE_GAP_US] = (double)gap_ns / (double)gaps / 1000;
    if (n[RING_TIMED] > 0)
        side[SIDE_KERNEL_US] = (double)n[RING_TIMED_NS] / (double)n[RING_TIMED] / 1000;
    if (r->end.count[RING_PEAK_BYTES] > 0)
        side[SIDE_PEAK_MIB] = (double)r->end.count[RING_PEAK_BYTES] / 1048576;
}

static void sum_up_job(struct scene *c, int i)
{
    struct runner *r = &c->runner[i];
    double *side = c->m->side[i], mps = side[SIDE_MPS];
    for (int k = 0; k < N_SIDE_NUMBERS; k++)
        side[k] = series_trimmed_mean(&r->side[k]);
    side[SIDE_MPS] = mps;
    side[SIDE_CV] = series_trimmed_cv(&r->side[SIDE_RATE]);
    side[SIDE_N] = r->side[SIDE_RATE].n;
    side[SIDE_LEFT_OUT] = r->n_left_out;
    if (isnan(side[SIDE_SAMPLES]))
        side[SIDE_SAMPLES] = r->job->samples_per_step;
    if (c->s->profiler != NULL && r->end.n_processes > 0)
        sum_up_rings(r, c->s->options.window_s, side);
    if (isnan(side[SIDE_PEAK_MIB]))
        side[SIDE_PEAK_MIB] = r->job->given[GIVEN_PEAK_MIB];
    if (side[SIDE_N] == 0 && r->n_left_out > 0)
        scene_outcome(c, OUTCOME_THROTTLED, "%s: all %d rates came while the card was throttled",
                      r->job->name, r->n_left_out);
    else if (side[SIDE_N] < (double)c->s->options.min_rates)
        scene_outcome(c, OUTCOME_FEW_RATES,
                      "%s printed %g rates in %g s; want %lld: print more often, or lengthen "
                      "measure.window_s",
                      r->job->name, side[SIDE_N], c->s->options.window_s,
                      (long long)c->s->options.min_rates);
}

/* sm .. dram: the card's, else what the job alone says, else what the user knows. */
static void sum_up_sources(struct scene *c)
{
    static const int given[] = {GIVEN_SM, GIVEN_OCC, GIVEN_TENSOR, GIVEN_DRAM};
    struct measurement *m = c->m;
    const char *source = c->source;
    for (int pass = 0; pass < 3; pass++) {
        bool any = false;
        for (int i = JOINT_SM; i <= JOINT_DRAM; i++)
            any = any || !isnan(m->joint[i]);
        if (any && source != NULL) {
            snprintf(m->counter_source, sizeof m->counter_source, "%s", source);
            return;
        }
        source = pass == 0 ? "job" : "given";
        for (int i = JOINT_SM; c->n == 1 && i <= JOINT_DRAM; i++)
            m->joint[i] = pass == 0 ? series_trimmed_mean(&c->runner[0].joint[i])
                                    : c->runner[0].job->given[given[i]];
    }
}

void scene_sum_up(struct scene *c)
{
    struct measurement *m = c->m;
    for (int i = 0; i < N_JOINT_NUMBERS; i++)
        m->joint[i] = series_trimmed_mean(&c->joint[i]);
    m->joint[JOINT_FB_MIB] = highest(&c->joint[JOINT_FB_MIB]);
    m->joint[JOINT_MHZ_MIN] = lowest(&c->joint[JOINT_MHZ_MIN]);
    m->joint[JOINT_MHZ_MAX] = highest(&c->joint[JOINT_MHZ_MAX]);
    for (int i = 0; i < c->n; i++)
        sum_up_job(c, i);
    if (c->n == 1 && isnan(m->side[0][SIDE_PEAK_MIB]) && m->joint[JOINT_FB_MIB] >= 0)
        m->side[0][SIDE_PEAK_MIB] = m->joint[JOINT_FB_MIB];
    sum_up_sources(c);
    double low = m->joint[JOINT_MHZ_MIN], high = m->joint[JOINT_MHZ_MAX];
    if (high > low * (1 + c->s->options.clock_change_frac) && !c->power_capped)
        scene_outcome(c, OUTCOME_CLOCKS, "the SM clock went from %g to %g MHz in the window", low,
                      high);
}
