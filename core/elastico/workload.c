#include "core/elastico/workload.h"

#include "core/base/units.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

const char *const knob_names[N_KNOBS + 1] = {"bs", "sl", "ck", "amp", "pc", "mu", "tp", "pp", NULL};

void workloads_free(struct workloads *w)
{
    names_free(&w->names);
    arena_free(&w->arena);
    *w = (struct workloads){0};
}

int32_t workload_find(const struct workloads *w, const char *name, size_t length)
{
    return names_find(&w->names, name, length);
}

static int find_knob(const char *text, size_t length)
{
    for (int k = 0; k < N_KNOBS; k++)
        if (strlen(knob_names[k]) == length && memcmp(knob_names[k], text, length) == 0)
            return k;
    return -1;
}

static int32_t nearest_index(const double *value, int32_t n, double wanted)
{
    int32_t best = 0;
    for (int32_t i = 1; i < n; i++)
        if (fabs(value[i] - wanted) < fabs(value[best] - wanted))
            best = i;
    return best;
}

int32_t config_parse(const struct workloads *w, int32_t workload, const char *text, size_t length,
                     bool *exact)
{
    const char *end = text + length;
    int32_t config = w->initial[workload];
    *exact = true;
    for (const char *p = text; p < end;) {
        size_t n = 0, name = 0;
        while (p + n < end && strchr(" ,;", p[n]) == NULL)
            n++;
        while (name < n && p[name] != '=')
            name++;
        double wanted;
        int knob = n > 0 ? find_knob(p, name) : -1;
        const double *value = knob < 0 ? NULL : w->values[workload][knob];
        if (n > 0 &&
            (value == NULL || name == n || !parse_real(p + name + 1, n - name - 1, &wanted)))
            return -1;
        if (n > 0) {
            int32_t i = nearest_index(value, w->n_values[workload][knob], wanted);
            *exact = *exact && value[i] == wanted;
            config = config_with(w, config, (enum knob)knob, i);
        }
        p += n + 1;
    }
    return config;
}

const char *config_text(const struct workloads *w, int32_t config, char buffer[96])
{
    size_t n = 0;
    buffer[0] = '\0';
    for (int k = 0; k < N_KNOBS; k++)
        if (!isnan(w->value[config][k]) && n < 96)
            n += (size_t)snprintf(buffer + n, 96 - n, "%s%s=%.10g", n > 0 ? " " : "", knob_names[k],
                                  w->value[config][k]);
    return buffer;
}

static double log_speed(const struct scaling *s, double gpus)
{
    int32_t i = 1;
    while (i < s->n - 1 && s->gpus[i] < gpus)
        i++;
    double slope = log(s->speed[i] / s->speed[i - 1]) / log(s->gpus[i] / s->gpus[i - 1]);
    return log(s->speed[i]) + slope * log(gpus / s->gpus[i]);
}

double workload_scaling(const struct workloads *w, int32_t workload, double n, double n0)
{
    const struct scaling *s = &w->scaling[workload];
    return s->n < 2 ? NAN : exp(log_speed(s, n) - log_speed(s, n0));
}

/* 0..1 over the knob's values. */
static double normalised(const struct workloads *w, int32_t config, int knob)
{
    int32_t wl = w->workload[config], n = w->n_values[wl][knob];
    const double *value = w->values[wl][knob];
    if (value == NULL || n < 2)
        return 0;
    double x = w->value[config][knob], lo = value[0], hi = value[n - 1];
    bool by_ratio = knob == KNOB_BS || knob == KNOB_SL;
    return by_ratio ? log(x / lo) / log(hi / lo) : (x - lo) / (hi - lo);
}

int32_t config_nearest(const struct workloads *w, int32_t config, const bool *profiled)
{
    int32_t wl = w->workload[config], best = -1;
    double best_distance = INFINITY, at[N_KNOBS];
    for (int k = 0; k < N_KNOBS; k++)
        at[k] = normalised(w, config, k);
    for (int32_t c = w->config_begin[wl]; c < w->config_begin[wl + 1]; c++) {
        double distance = 0;
        if (!profiled[c])
            continue;
        for (int k = 0; k < N_KNOBS; k++)
            distance += (normalised(w, c, k) - at[k]) * (normalised(w, c, k) - at[k]);
        if (!(distance < best_distance))
            continue;
        best = c;
        best_distance = distance;
    }
    return best;
}
