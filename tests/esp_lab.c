#include "tests/esp_lab.h"

#include "core/elastico/pds.h"

#include <gsl/gsl_randist.h>
#include <math.h>
#include <string.h>

struct esp_config lab_esp_config(void)
{
    struct pds_config config;
    param_defaults(&(struct param_group){"elastico", pds_params, &config});
    return config.esp;
}

static double between(gsl_rng *rng, double low, double high)
{
    return low + (high - low) * gsl_rng_uniform(rng);
}

static double soft_floor(double x, double floor) { return floor + log1p(exp(x - floor)); }

/* A rate that saturates with the batch; memory linear in it above a floor. */
static void make_training(struct lab_family *f, gsl_rng *rng)
{
    const double batch_half = exp(between(rng, log(3), log(600))), amp = between(rng, 1, 2.8);
    const double ck = between(rng, .1, .27), sm = between(rng, .1, .95);
    const double mem = between(rng, 8, 32), mem_amp = between(rng, .5, .75);
    const double mem_ck = between(rng, .5, .8), floor = between(rng, 4, 24);
    const double cpu = between(rng, 1, 2), cpu_most = between(rng, 0, 9);
    const double ram = between(rng, 6, 24), ram_most = between(rng, 0, 6);
    f->n = 0;
    for (int bs = 32; bs <= 512; bs *= 2)
        for (int i = 0; i < 4; i++) {
            bool with_ck = i / 2, with_amp = i % 2;
            double most = (with_amp ? amp : 1) * (with_ck ? 1 - ck : 1);
            double busy = bs / (bs + batch_half * (with_amp ? 1.25 * amp : 1));
            f->rate[f->n] = most * busy;
            double *need = f->need[f->n++];
            need[0] = soft_floor(
                4 + mem * bs / 512 * (with_amp ? mem_amp : 1) * (with_ck ? mem_ck : 1), floor);
            need[1] = cpu + cpu_most * most * busy / amp;
            need[2] = ram + ram_most * bs / 512;
            need[3] = sm * (busy + .5 * (1 - busy));
        }
}

/* A rate almost linear in the batch; memory is what the engine may take. */
static void make_inference(struct lab_family *f, gsl_rng *rng)
{
    const double low = between(rng, .4, .7), cached = between(rng, .02, .3);
    const double sm = between(rng, .5, .75), ram = between(rng, 6, 22);
    f->n = 0;
    for (int i = 0; i < 20; i++) {
        double mu = low + (.9 - low) * (i % 5) / 4;
        double hit = i / 5 % 2 * cached * (1 - exp(-8 * (mu - low + .05)));
        double batch = i / 10 ? 4 : 2;
        f->rate[f->n] = pow(batch, .97) * (1 + hit);
        double *need = f->need[f->n++];
        need[0] = 40 * mu;
        need[1] = 1.5;
        need[2] = ram;
        need[3] = sm * (1 + .01 * batch);
    }
}

void lab_families_make(struct lab_families *f, gsl_rng *rng)
{
    f->n = LAB_FAMILIES;
    for (int i = 0; i < f->n; i++) {
        (i < 8 ? make_training : make_inference)(&f->family[i], rng);
    }
}

/* A workload's configurations at the length it has by default that run, and are not dominated. */
static void take_workload(struct lab_family *f, const struct profiles *p, int32_t workload)
{
    const struct workloads *w = p->w;
    const int32_t length = config_index(w, w->initial[workload], KNOB_SL);
    int32_t config[LAB_CONFIGS], n = 0;
    for (int32_t c = w->config_begin[workload]; c < w->config_begin[workload + 1]; c++)
        if (config_index(w, c, KNOB_SL) == length && p->m.rate[c] > 0)
            config[n++] = c;
    f->n = profile_frontier(p, CARD_REFERENCE, config, n, -1);
    for (int i = 0; i < f->n; i++) {
        const int32_t row = profile_row(p, config[i], CARD_REFERENCE);
        f->rate[i] = p->m.rate[row];
        f->need[i][0] = p->fb_mib[config[i]] / 1024.;
        f->need[i][1] = p->m.cpu[row];
        f->need[i][2] = p->m.ram_mib[row] / 1024;
        f->need[i][3] = p->m.sm[row];
    }
}

void lab_families_take(struct lab_families *f, const struct profiles *p)
{
    f->n = p->w->n < LAB_FAMILIES ? p->w->n : LAB_FAMILIES;
    for (int i = 0; i < f->n; i++)
        take_workload(&f->family[i], p, i);
}

static int fastest(const struct lab_family *f)
{
    int best = 0;
    for (int i = 1; i < f->n; i++)
        best = f->rate[i] > f->rate[best] ? i : best;
    return best;
}

struct bounds {
    double least[LAB_RES], peak[LAB_RES];
};

/* Options of one job, ascending; returns how many. Adds its least and peak demand to the sums. */
static int draw_options(const struct lab_family *f, int first_row, int n_max, double size,
                        gsl_rng *rng, int32_t *row, struct bounds *sum)
{
    int other[LAB_CONFIGS], top = fastest(f), n_others = 0;
    for (int i = 0; i < f->n; i++)
        if (i != top)
            other[n_others++] = i;
    int n = n_others < n_max - 1 ? n_others : n_max - 1, picked[LAB_CONFIGS];
    if (n > 0)
        gsl_ran_choose(rng, picked, (size_t)n, other, (size_t)n_others, sizeof *other);
    int at = 0;
    while (at < n && picked[at] < top)
        at++;
    memmove(picked + at + 1, picked + at, (size_t)(n - at) * sizeof *picked);
    picked[at] = top;
    n++;
    for (int r = 0; r < LAB_RES; r++) {
        double least = INFINITY;
        for (int i = 0; i < n; i++)
            least = fmin(least, f->need[picked[i]][r]);
        sum->least[r] += size * least;
        sum->peak[r] += size * f->need[top][r];
    }
    for (int i = 0; i < n; i++)
        row[i] = first_row + picked[i];
    return n;
}

/* The families' rows as one table, demands over the capacity. */
static void fill_tables(const struct lab_families *f, const double *capacity, double *loss,
                        double *demand)
{
    for (int i = 0; i < f->n; i++) {
        const struct lab_family *family = &f->family[i];
        double rate_max = family->rate[fastest(family)];
        for (int k = 0; k < family->n; k++) {
            *loss++ = 1 - family->rate[k] / rate_max;
            for (int r = 0; r < LAB_RES; r++)
                *demand++ = family->need[k][r] / capacity[r];
        }
    }
}

struct choice_problem lab_draw(const struct lab_families *f, const struct lab_shape *shape,
                               gsl_rng *rng, struct arena *a)
{
    int first_row[LAB_FAMILIES + 1] = {0};
    for (int i = 0; i < f->n; i++)
        first_row[i + 1] = first_row[i] + f->family[i].n;
    const size_t n_jobs = (size_t)shape->n_jobs, n_rows = (size_t)first_row[f->n];
    int32_t *begin = arena_alloc(a, n_jobs + 1, sizeof *begin);
    int32_t *row = arena_alloc(a, n_jobs * (size_t)shape->n_options, sizeof *row);
    double *size = arena_alloc(a, n_jobs, sizeof *size);
    double *weight = arena_alloc(a, n_jobs, sizeof *weight);
    double *loss = arena_alloc(a, n_rows, sizeof *loss);
    double *demand = arena_alloc(a, n_rows * LAB_RES, sizeof *demand);
    struct bounds sum = {{0}, {0}};
    for (size_t j = 0; j < n_jobs; j++) {
        size_t family = gsl_rng_uniform_int(rng, (unsigned long)f->n);
        size[j] = shape->gangs ? (double)(1 << gsl_rng_uniform_int(rng, 4)) : 1;
        weight[j] = shape->weights ? between(rng, .5, 2) : 1;
        begin[j + 1] =
            begin[j] + draw_options(&f->family[family], first_row[family], shape->n_options,
                                    size[j], rng, row + begin[j], &sum);
    }
    double capacity[LAB_RES], part = between(rng, shape->least, shape->most);
    for (int r = 0; r < LAB_RES; r++) {
        capacity[r] = sum.least[r] + part * (sum.peak[r] - sum.least[r]);
        part = shape->one_fraction ? part : between(rng, shape->least, shape->most);
    }
    fill_tables(f, capacity, loss, demand);
    return (struct choice_problem){.n_jobs = shape->n_jobs,
                                   .n_rows = (int32_t)n_rows,
                                   .n_res = LAB_RES,
                                   .begin = begin,
                                   .row = row,
                                   .demand = demand,
                                   .loss = loss,
                                   .weight = weight,
                                   .size = size};
}
