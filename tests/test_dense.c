#include "core/elastico/dense.h"

#include "tests/leak.h"
#include "tests/nets.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

TestSuite(dense, .init = dense_one_thread, .fini = abort_on_leak);

Test(dense, the_blas_in_use_is_openblas_and_not_the_one_that_comes_with_gsl)
{
    Dl_info info;
    cr_assert_neq(dladdr(dlsym(RTLD_DEFAULT, "cblas_dgemm"), &info), 0);
    cr_assert(strstr(info.dli_fname, "openblas") != NULL, "%s", info.dli_fname);
}

Test(dense, a_folded_network_answers_as_the_formula_with_bn_unfolded)
{
    static const int32_t width[][3] = {{36, 64, 64}, {40, 17, 3}, {1, 1, 1}, {5, 2, 9}};
    enum { N = 200 };
    struct error err;
    gsl_rng *rng = gsl_rng_alloc(gsl_rng_mt19937);
    for (size_t w = 0; w < sizeof width / sizeof *width; w++) {
        struct dense_net net = random_net(rng, width[w][0], width[w][1], width[w][2]);
        struct dense_fold fold;
        static double x[N * 40], scratch[N * 128], y[N];
        int n_above = 0;
        for (int i = 0; i < N * width[w][0]; i++)
            x[i] = gsl_ran_gaussian(rng, 1);
        cr_assert_eq(dense_fold(&fold, &net, &err), ST_OK);
        dense_predict(&fold, N, x, scratch, y);
        for (int i = 0; i < N; i++) {
            double want = plain_answer(&net, x + i * width[w][0]);
            cr_assert_float_eq(y[i], want, 1e-9 * want, "row %d: %.12g, want %.12g", i, y[i], want);
            cr_assert(y[i] >= 1);
            n_above += y[i] > 1;
        }
        cr_assert(width[w][0] < 36 || n_above > N / 10, "%d", n_above);
        dense_fold_free(&fold);
        dense_free(&net);
    }
    gsl_rng_free(rng);
}

Test(dense, rows_do_not_depend_on_what_is_asked_with_them)
{
    struct error err;
    gsl_rng *rng = gsl_rng_alloc(gsl_rng_mt19937);
    struct dense_net net = random_net(rng, 36, 64, 64);
    struct dense_fold fold;
    static double x[130 * 36], scratch[130 * 128], all[130], one;
    for (int i = 0; i < 130 * 36; i++)
        x[i] = gsl_ran_gaussian(rng, 1);
    cr_assert_eq(dense_fold(&fold, &net, &err), ST_OK);
    dense_predict(&fold, 130, x, scratch, all);
    for (int i = 0; i < 130; i++) {
        dense_predict(&fold, 1, x + i * 36, scratch, &one);
        cr_assert_float_eq(one, all[i], 1e-10 * one);
    }
    dense_fold_free(&fold);
    dense_free(&net);
    gsl_rng_free(rng);
}

/* The loss (10) of one batch, for finite differences. */
static double loss_of(struct dense_net *net, struct dense_work *work, int32_t n, const double *x,
                      const double *target)
{
    double y[8], loss = 0;
    dense_forward(net, work, n, x, y);
    for (int32_t i = 0; i < n; i++)
        loss += pow(log(y[i]) - target[i], 2) / n;
    return loss;
}

Test(dense, gradients_agree_with_finite_differences_through_bn_and_dropout)
{
    enum { N = 8, IN = 5 };
    struct error err;
    gsl_rng *rng = gsl_rng_alloc(gsl_rng_mt19937);
    for (int seed = 0; seed < 20; seed++) {
        struct dense_net net = random_net(rng, IN, 7, 4);
        struct dense_work work;
        double x[N * IN], target[N], y[N], dy[N], largest = 0;
        cr_assert_eq(dense_work_init(&work, &net, N, &err), ST_OK);
        dense_layer(&net, 2).bias[0] = 2; /* so that most answers are above 1 */
        for (int i = 0; i < N * IN; i++)
            x[i] = gsl_ran_gaussian(rng, 1);
        for (int i = 0; i < N; i++)
            target[i] = gsl_rng_uniform(rng);
        for (int i = 0; i < N * (7 + 4); i++)
            work.mask[i] = gsl_rng_uniform(rng) < .8 ? 1 / .8 : 0;
        dense_forward(&net, &work, N, x, y);
        for (int i = 0; i < N; i++)
            dy[i] = 2 * (log(y[i]) - target[i]) / (y[i] * N);
        dense_backward(&net, &work, N, x, dy);
        for (size_t p = 0; p < net.n_params; p++)
            largest = fmax(largest, fabs(work.grad[p]));
        cr_assert(largest > 1e-3);
        for (size_t p = 0; p < net.n_params; p++) {
            double at = net.param[p], grad = work.grad[p], h = 1e-6;
            net.param[p] = at + h;
            double up = loss_of(&net, &work, N, x, target);
            net.param[p] = at - h;
            double down = loss_of(&net, &work, N, x, target);
            net.param[p] = at;
            double want = (up - down) / (2 * h);
            cr_assert_float_eq(grad, want, 1e-6 * fmax(1, largest), "seed %d, number %zu: %g, %g",
                               seed, p, grad, want);
        }
        dense_work_free(&work);
        dense_free(&net);
    }
    gsl_rng_free(rng);
}

Test(dense, running_statistics_move_a_tenth_of_the_way_to_the_batch)
{
    /* One input, first hidden number 2 x + 3 of x = 1, 2, 6: 5, 7, 15; mean 9, variance 28. */
    struct error err;
    struct dense_net net;
    struct dense_work work;
    double x[3] = {1, 2, 6}, y[3];
    cr_assert_eq(dense_init(&net, 1, 1, 1, &err), ST_OK);
    cr_assert_eq(dense_work_init(&work, &net, 3, &err), ST_OK);
    struct dense_layer first = dense_layer(&net, 0);
    first.weight[0] = 2;
    first.bias[0] = 3;
    for (int i = 0; i < 6; i++)
        work.mask[i] = 1;
    dense_forward(&net, &work, 3, x, y);
    cr_assert_float_eq(first.mean[0], .9, 1e-12);
    cr_assert_float_eq(first.var[0], .9 * 1 + .1 * 28, 1e-12);
    dense_work_free(&work);
    dense_free(&net);
}

Test(dense, decay_pulls_weights_and_nothing_else)
{
    struct error err;
    gsl_rng *rng = gsl_rng_alloc(gsl_rng_mt19937);
    struct dense_net net = random_net(rng, 3, 4, 2);
    double *grad = calloc(net.n_params, sizeof *grad);
    dense_decay(&net, .25, grad);
    for (int32_t l = 0; l < DENSE_LAYERS; l++) {
        struct dense_layer layer = dense_layer(&net, l);
        ptrdiff_t weight = layer.weight - net.param, bias = layer.bias - net.param;
        for (ptrdiff_t i = weight; i < bias; i++)
            cr_assert_float_eq(grad[i], .25 * net.param[i], 1e-15);
        for (ptrdiff_t i = bias; i < bias + layer.n_out * (l < DENSE_HIDDEN ? 3 : 1); i++)
            cr_assert_float_eq(grad[i], 0, 0);
    }
    (void)err;
    free(grad);
    dense_free(&net);
    gsl_rng_free(rng);
}

Test(dense, adam_takes_steps_of_the_rate_while_the_gradient_keeps_its_value)
{
    /* With a constant gradient g both moments are unbiased exactly: each step is rate g / |g|. */
    struct error err;
    struct dense_net net;
    struct dense_adam adam;
    cr_assert_eq(dense_init(&net, 1, 1, 1, &err), ST_OK);
    cr_assert_eq(dense_adam_init(&adam, &net, &err), ST_OK);
    double *grad = calloc(net.n_params, sizeof *grad), before = net.param[1];
    grad[0] = 3;
    grad[1] = -.01;
    for (int step = 1; step <= 5; step++) {
        dense_adam_step(&adam, &net, grad, .1);
        cr_assert_float_eq(net.param[0], -.1 * step, 1e-6);
        cr_assert_float_eq(net.param[1], before + .1 * step, 1e-6);
        cr_assert_float_eq(net.param[2], 1, 0, "gamma has no gradient");
    }
    free(grad);
    dense_adam_free(&adam);
    dense_free(&net);
}
