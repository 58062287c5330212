/* nets.h - random networks, predictors and sides for tests, and the straightforward way to ask a
 * network. */
#ifndef COLOSIM_TESTS_NETS_H
#define COLOSIM_TESTS_NETS_H

#include "core/elastico/iac.h"

#include <criterion/criterion.h>
#include <gsl/gsl_randist.h>
#include <gsl/gsl_rng.h>
#include <math.h>
#include <stdlib.h>

/* Everything random: weights, biases, BN and its running statistics. */
static inline struct dense_net random_net(gsl_rng *rng, int32_t n_in, int32_t h1, int32_t h2)
{
    struct dense_net net;
    struct error err;
    cr_assert_eq(dense_init(&net, n_in, h1, h2, &err), ST_OK);
    for (int32_t l = 0; l < DENSE_LAYERS; l++) {
        struct dense_layer layer = dense_layer(&net, l);
        for (int32_t i = 0; i < layer.n_out * layer.n_in; i++)
            layer.weight[i] = gsl_ran_gaussian(rng, 1.5 / sqrt(layer.n_in));
        for (int32_t k = 0; k < layer.n_out; k++) {
            layer.bias[k] = gsl_ran_gaussian(rng, .5);
            if (layer.gamma == NULL)
                continue;
            layer.gamma[k] = gsl_ran_gaussian(rng, 1);
            layer.beta[k] = gsl_ran_gaussian(rng, .5);
            layer.mean[k] = gsl_ran_gaussian(rng, 1);
            layer.var[k] = .01 + gsl_rng_uniform(rng) * 3;
        }
    }
    return net;
}

/* 1 + ReLU(w3 ReLU(BN(W2 ReLU(BN(W1 x + b1)) + b2)) + b3), as (9) is written, with the running
 * mean and variance. */
static inline double plain_answer(const struct dense_net *net, const double *x)
{
    double in[64], out[64];
    for (int32_t i = 0; i < net->width[0]; i++)
        in[i] = x[i];
    for (int32_t l = 0; l < DENSE_LAYERS; l++) {
        struct dense_layer layer = dense_layer(net, l);
        for (int32_t k = 0; k < layer.n_out; k++) {
            double z = layer.bias[k];
            for (int32_t i = 0; i < layer.n_in; i++)
                z += layer.weight[k * layer.n_in + i] * in[i];
            if (layer.gamma != NULL)
                z = layer.gamma[k] * (z - layer.mean[k]) / sqrt(layer.var[k] + 1e-5) +
                    layer.beta[k];
            out[k] = z > 0 ? z : 0;
        }
        for (int32_t k = 0; k < layer.n_out; k++)
            in[k] = out[k];
    }
    return 1 + in[0];
}

/* A side with everything set, whatever its kind; kernel and step unknown every other time. */
static inline struct iac_side random_side(gsl_rng *rng)
{
    bool known = gsl_rng_uniform(rng) < .5;
    return (struct iac_side){
        .sm = gsl_rng_uniform(rng),
        .occ = gsl_rng_uniform(rng),
        .dram = gsl_rng_uniform(rng),
        .tensor = gsl_rng_uniform(rng),
        .fb_mib = 40000 * gsl_rng_uniform(rng),
        .card_mib = 40960,
        .kind = gsl_rng_uniform(rng) < .5 ? KIND_TRAIN : KIND_INFER,
        .log10_params = 5 + 5 * gsl_rng_uniform(rng),
        .rate = exp(12 * gsl_rng_uniform(rng)),
        .bs = 1 << gsl_rng_uniform_int(rng, 10),
        .ck = (double)gsl_rng_uniform_int(rng, 2),
        .amp = (double)gsl_rng_uniform_int(rng, 2),
        .isl = 8192 * gsl_rng_uniform(rng),
        .osl = 4096 * gsl_rng_uniform(rng),
        .rho = .5 * gsl_rng_uniform(rng),
        .kernel_s = known ? 1e-4 * gsl_rng_uniform(rng) : 0,
        .step_s = known ? gsl_rng_uniform(rng) : 0,
    };
}

/* n_nets random networks behind maps that fit random sides. */
static inline struct iac_model random_model(gsl_rng *rng, bool extras, int32_t n_nets)
{
    struct iac_model m = {.form = IAC_DNN, .extras = extras, .n_nets = n_nets};
    struct error err;
    for (int32_t i = 0; i < IAC_MAPS; i++) {
        struct iac_map *map = &m.map[i];
        map->kind = iac_map_kind_of(i);
        map->mean = map->kind == IAC_MAP_LOG1P ? 5 : map->kind == IAC_MAP_LOG ? -5 : .5;
        map->sd = .2 + gsl_rng_uniform(rng);
        if (map->kind != IAC_MAP_RANK)
            continue;
        map->n_knots = 20;
        map->knot = malloc(20 * sizeof *map->knot);
        for (int k = 0; k < 20; k++)
            map->knot[k] = i == 6 ? 5 + k * .25 : exp(12 * k / 20.0);
    }
    for (int32_t k = 0; k < n_nets; k++)
        m.net[k] = random_net(rng, extras ? IAC_FEATURES_MAX : IAC_FEATURES, 64, 32);
    cr_assert_eq(iac_fold(&m, &err), ST_OK);
    return m;
}

#endif
