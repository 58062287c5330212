#include "sim/run/sampler.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void sampler_init(struct sampler *s, int64_t first_us, int64_t last_us, int64_t lo_us,
                  int64_t hi_us)
{
    bool window = lo_us != hi_us;
    *s = (struct sampler){.origin_us = first_us,
                          .now_us = first_us,
                          .stretch_us = US_PER_S,
                          .at_end_us = first_us + US_PER_S,
                          .held_lo_us = window ? lo_us : INT64_MIN,
                          .held_hi_us = window ? hi_us : INT64_MAX,
                          .done_lo_us = window ? lo_us : first_us,
                          .done_hi_us = window ? hi_us : last_us};
}

static void double_stretch(struct sampler *s)
{
    for (int k = 0; k < SAMPLER_SERIES; k++) {
        for (int i = 0; i < SAMPLER_STRETCHES / 2; i++)
            s->sum[k][i] = s->sum[k][2 * i] + s->sum[k][2 * i + 1];
        memset(&s->sum[k][SAMPLER_STRETCHES / 2], 0, sizeof s->sum[k] / 2);
    }
    s->stretch_us *= 2;
    s->at /= 2;
    s->at_end_us = s->origin_us + (s->at + 1) * s->stretch_us;
}

static double overlap_us(int64_t from_us, int64_t to_us, int64_t lo_us, int64_t hi_us)
{
    int64_t lo = from_us > lo_us ? from_us : lo_us, hi = to_us < hi_us ? to_us : hi_us;
    return hi > lo ? (double)(hi - lo) : 0;
}

void sampler_advance(struct sampler *s, int64_t time_us, const struct cluster *c, int32_t n_waiting,
                     int32_t n_running, double sm)
{
    double value[SAMPLER_SERIES] = {(double)c->gpu_held_milli / 1e3, n_waiting, n_running, sm};
    int64_t from_us = s->now_us;
    s->now_us = time_us;
    if (time_us == from_us)
        return;
    double held_us = overlap_us(from_us, time_us, s->held_lo_us, s->held_hi_us);
    s->held_milli_us += (double)c->gpu_held_milli * held_us;
    s->held_mib_us += (double)c->gpu_mem_held_mib * held_us;
    s->sm_us += sm * held_us;
    while (time_us - s->origin_us > s->stretch_us * SAMPLER_STRETCHES)
        double_stretch(s);
    while (from_us < time_us) {
        int64_t end_us = s->at_end_us < time_us ? s->at_end_us : time_us;
        for (int k = 0; k < SAMPLER_SERIES; k++)
            s->sum[k][s->at] += value[k] * (double)(end_us - from_us);
        if (end_us == s->at_end_us) {
            s->at++;
            s->at_end_us += s->stretch_us;
        }
        from_us = end_us;
    }
}

void sampler_done(struct sampler *s, int64_t from_us, int64_t to_us, double rate_milli)
{
    s->done_milli_us += rate_milli * overlap_us(from_us, to_us, s->done_lo_us, s->done_hi_us);
}

void sampler_decided(struct sampler *s, double seconds)
{
    s->n_passes++;
    if (seconds < 0)
        return;
    double ns = seconds * 1e9;
    int bucket = ns <= 1 ? 0 : (int)(16 * log2(ns));
    s->decide_bucket[bucket < DECIDE_BUCKETS ? bucket : DECIDE_BUCKETS - 1]++;
    s->decide_s += seconds;
    s->n_decided++;
}

static double decide_p99_s(const struct sampler *s)
{
    int64_t seen = 0;
    for (int i = 0; i < DECIDE_BUCKETS; i++) {
        seen += s->decide_bucket[i];
        if ((double)seen >= 0.99 * (double)s->n_decided)
            return exp2((i + 1) / 16.0) * 1e-9;
    }
    return NAN;
}

enum status sampler_close(const struct sampler *s, struct run_log *out, struct error *err)
{
    int64_t span_us = s->now_us - s->origin_us;
    size_t n = span_us > 0 ? (size_t)((span_us - 1) / s->stretch_us + 1) : 0;
    out->sample = malloc((n + 1) * sizeof *out->sample);
    if (out->sample == NULL)
        return fail_memory(err);
    for (size_t i = 0; i < n; i++) {
        int64_t start_us = s->origin_us + (int64_t)i * s->stretch_us;
        int64_t end_us =
            start_us + s->stretch_us < s->now_us ? start_us + s->stretch_us : s->now_us;
        double length_us = (double)(end_us - start_us);
        out->sample[i] =
            (struct sample){start_us, s->sum[0][i] / length_us, s->sum[1][i] / length_us,
                            s->sum[2][i] / length_us, s->sum[3][i] / length_us};
    }
    out->n_samples = n;
    out->sample_us = s->stretch_us;
    out->held_gpu_s = s->held_milli_us / 1e9;
    out->held_mib_s = s->held_mib_us / 1e6;
    out->sm_gpu_s = s->sm_us / 1e6;
    out->done_gpu_s = s->done_milli_us / 1e9;
    out->decide_s_mean = s->n_decided > 0 ? s->decide_s / (double)s->n_decided : NAN;
    out->decide_s_p99 = s->n_decided > 0 ? decide_p99_s(s) : NAN;
    return ST_OK;
}
