#include "core/elastico/dense.h"

#include <assert.h>
#include <cblas.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* Not in cblas.h, and absent from builds of OpenBLAS without threads. */
extern int blas_thread_shutdown_(void) __attribute__((weak));

/* OpenBLAS starts a thread a core when it is loaded, and each spins for 2^26 cycles before it
 * sleeps: up to 45 ms of CPU time apiece in every run. */
void dense_one_thread(void)
{
    openblas_set_num_threads(1);
    if (blas_thread_shutdown_ != NULL)
        blas_thread_shutdown_();
}

/* A layer has its weights and bias, a hidden one gamma and beta besides. */
static size_t layer_params(const int32_t width[], int32_t layer)
{
    size_t n_in = (size_t)width[layer], n_out = (size_t)width[layer + 1];
    return n_out * (n_in + (layer < DENSE_HIDDEN ? 3 : 1));
}

enum status dense_init(struct dense_net *net, int32_t n_in, int32_t n_hidden_1, int32_t n_hidden_2,
                       struct error *err)
{
    assert(n_in >= 1 && n_hidden_1 >= 1 && n_hidden_2 >= 1);
    *net = (struct dense_net){.width = {n_in, n_hidden_1, n_hidden_2, 1}};
    for (int32_t l = 0; l < DENSE_LAYERS; l++)
        net->n_params += layer_params(net->width, l);
    net->n_stats = 2 * ((size_t)n_hidden_1 + (size_t)n_hidden_2);
    net->param = calloc(net->n_params + net->n_stats, sizeof *net->param);
    if (net->param == NULL)
        return fail_memory(err);
    net->stat = net->param + net->n_params;
    for (int32_t l = 0; l < DENSE_HIDDEN; l++) {
        struct dense_layer layer = dense_layer(net, l);
        for (int32_t k = 0; k < layer.n_out; k++)
            layer.gamma[k] = layer.var[k] = 1;
    }
    return ST_OK;
}

enum status dense_copy(struct dense_net *to, const struct dense_net *from, struct error *err)
{
    TRY(dense_init(to, from->width[0], from->width[1], from->width[2], err));
    memcpy(to->param, from->param, (from->n_params + from->n_stats) * sizeof *to->param);
    return ST_OK;
}

void dense_free(struct dense_net *net)
{
    free(net->param);
    *net = (struct dense_net){0};
}

struct dense_layer dense_layer(const struct dense_net *net, int32_t layer)
{
    double *param = net->param, *stat = net->stat;
    for (int32_t l = 0; l < layer; l++) {
        param += layer_params(net->width, l);
        stat += 2 * net->width[l + 1];
    }
    struct dense_layer out = {.n_in = net->width[layer], .n_out = net->width[layer + 1]};
    out.weight = param;
    out.bias = out.weight + (size_t)out.n_out * (size_t)out.n_in;
    if (layer == DENSE_HIDDEN)
        return out;
    out.gamma = out.bias + out.n_out;
    out.beta = out.gamma + out.n_out;
    out.mean = stat;
    out.var = stat + out.n_out;
    return out;
}

/* gamma (W x + b - mean) / sd + beta is affine in x. */
static void fold_layer(const struct dense_layer *layer, double *weight, double *bias)
{
    for (int32_t k = 0; k < layer->n_out; k++) {
        bool normed = layer->gamma != NULL;
        double scale = normed ? layer->gamma[k] / sqrt(layer->var[k] + DENSE_BN_EPS) : 1;
        size_t row = (size_t)k * (size_t)layer->n_in;
        for (int32_t i = 0; i < layer->n_in; i++)
            weight[row + (size_t)i] = scale * layer->weight[row + (size_t)i];
        bias[k] =
            normed ? scale * (layer->bias[k] - layer->mean[k]) + layer->beta[k] : layer->bias[k];
    }
}

enum status dense_fold(struct dense_fold *fold, const struct dense_net *net, struct error *err)
{
    *fold = (struct dense_fold){0};
    double *at = malloc(net->n_params * sizeof *at);
    if (at == NULL)
        return fail_memory(err);
    memcpy(fold->width, net->width, sizeof fold->width);
    for (int32_t l = 0; l < DENSE_LAYERS; l++) {
        struct dense_layer layer = dense_layer(net, l);
        fold->weight[l] = at;
        fold->bias[l] = at + (size_t)layer.n_out * (size_t)layer.n_in;
        at = fold->bias[l] + layer.n_out;
        fold_layer(&layer, fold->weight[l], fold->bias[l]);
    }
    return ST_OK;
}

void dense_fold_free(struct dense_fold *fold)
{
    free(fold->weight[0]);
    *fold = (struct dense_fold){0};
}

/* out (n x n_out) = x weight^T + bias */
static void affine(int32_t n, int32_t n_in, int32_t n_out, const double *x, const double *weight,
                   const double *bias, double *out)
{
    for (int32_t i = 0; i < n; i++)
        memcpy(out + (size_t)i * (size_t)n_out, bias, (size_t)n_out * sizeof *out);
    cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasTrans, n, n_out, n_in, 1, x, n_in, weight, n_in,
                1, out, n_out);
}

static void relu(size_t n, double *x)
{
    for (size_t i = 0; i < n; i++)
        x[i] = x[i] > 0 ? x[i] : 0;
}

/* The output layer: last (n) = h2 w3 + b3 */
static void to_one(int32_t n, int32_t n_in, const double *x, const double *weight, double bias,
                   double *last)
{
    for (int32_t i = 0; i < n; i++)
        last[i] = bias;
    cblas_dgemv(CblasRowMajor, CblasNoTrans, n, n_in, 1, x, n_in, weight, 1, 1, last, 1);
}

void dense_predict(const struct dense_fold *fold, int32_t n, const double *x, double *scratch,
                   double *y)
{
    for (int32_t l = 0; l < DENSE_HIDDEN; l++) {
        affine(n, fold->width[l], fold->width[l + 1], x, fold->weight[l], fold->bias[l], scratch);
        relu((size_t)n * (size_t)fold->width[l + 1], scratch);
        x = scratch;
        scratch += (size_t)n * (size_t)fold->width[l + 1];
    }
    to_one(n, fold->width[DENSE_HIDDEN], x, fold->weight[DENSE_HIDDEN], fold->bias[DENSE_HIDDEN][0],
           y);
    for (int32_t i = 0; i < n; i++)
        y[i] = y[i] > 0 ? 1 + y[i] : 1;
}

enum status dense_work_init(struct dense_work *work, const struct dense_net *net, int32_t n_max,
                            struct error *err)
{
    size_t n = (size_t)n_max, h1 = (size_t)net->width[1], h2 = (size_t)net->width[2];
    size_t widest = h1 > h2 ? h1 : h2;
    *work = (struct dense_work){.n_max = n_max};
    double *at = calloc(4 * n * (h1 + h2) + (h1 + h2) + n + 2 * widest + net->n_params, sizeof *at);
    if (at == NULL)
        return fail_memory(err);
    work->memory = at;
    for (int32_t l = 0; l < DENSE_HIDDEN; l++) {
        size_t width = (size_t)net->width[l + 1];
        work->normal[l] = at;
        work->out[l] = work->normal[l] + n * width;
        work->back[l] = work->out[l] + n * width;
        work->inv_sd[l] = work->back[l] + n * width;
        at = work->inv_sd[l] + width;
    }
    work->mask = at;
    work->last = work->mask + n * (h1 + h2);
    work->column = work->last + n;
    work->grad = work->column + 2 * widest;
    return ST_OK;
}

void dense_work_free(struct dense_work *work)
{
    free(work->memory);
    *work = (struct dense_work){0};
}

/* sum (width) += x times, element by element, over the rows of both (n x width), in row order. */
static void add_rows(int32_t n, int32_t width, const double *x, const double *times, double *sum)
{
    for (int32_t i = 0; i < n; i++) {
        const double *row = x + (size_t)i * (size_t)width;
        const double *by = times + (size_t)i * (size_t)width;
        for (int32_t k = 0; k < width; k++)
            sum[k] += row[k] * by[k];
    }
}

/* x (n x width) becomes mean 0 and variance 1 in each column; the layer's running statistics move
 * towards the batch's, with the unbiased variance. */
static void normalise(const struct dense_layer *layer, int32_t n, double *x, double *inv_sd,
                      double *column)
{
    int32_t width = layer->n_out;
    double *mean = column, *var = column + width;
    memset(column, 0, 2 * (size_t)width * sizeof *column);
    for (int32_t i = 0; i < n; i++)
        for (int32_t k = 0; k < width; k++)
            mean[k] += x[(size_t)i * (size_t)width + (size_t)k];
    for (int32_t k = 0; k < width; k++)
        mean[k] /= n;
    for (int32_t i = 0; i < n; i++)
        for (int32_t k = 0; k < width; k++)
            x[(size_t)i * (size_t)width + (size_t)k] -= mean[k];
    add_rows(n, width, x, x, var);
    for (int32_t k = 0; k < width; k++) {
        inv_sd[k] = 1 / sqrt(var[k] / n + DENSE_BN_EPS);
        layer->mean[k] += DENSE_BN_MOMENTUM * (mean[k] - layer->mean[k]);
        layer->var[k] += DENSE_BN_MOMENTUM * (var[k] / (n - 1) - layer->var[k]);
    }
    for (int32_t i = 0; i < n; i++)
        for (int32_t k = 0; k < width; k++)
            x[(size_t)i * (size_t)width + (size_t)k] *= inv_sd[k];
}

void dense_forward(struct dense_net *net, struct dense_work *work, int32_t n, const double *x,
                   double *y)
{
    assert(n >= 2 && n <= work->n_max);
    const double *mask = work->mask;
    for (int32_t l = 0; l < DENSE_HIDDEN; l++) {
        struct dense_layer layer = dense_layer(net, l);
        affine(n, layer.n_in, layer.n_out, x, layer.weight, layer.bias, work->normal[l]);
        normalise(&layer, n, work->normal[l], work->inv_sd[l], work->column);
        for (int32_t i = 0; i < n; i++)
            for (int32_t k = 0; k < layer.n_out; k++) {
                size_t at = (size_t)i * (size_t)layer.n_out + (size_t)k;
                double value = layer.gamma[k] * work->normal[l][at] + layer.beta[k];
                work->out[l][at] = value > 0 ? value * mask[at] : 0;
            }
        mask += (size_t)n * (size_t)layer.n_out;
        x = work->out[l];
    }
    struct dense_layer last = dense_layer(net, DENSE_HIDDEN);
    to_one(n, last.n_in, x, last.weight, last.bias[0], work->last);
    for (int32_t i = 0; i < n; i++)
        y[i] = work->last[i] > 0 ? 1 + work->last[i] : 1;
}

/* Derivatives at a hidden layer. back (n x n_out) comes in as d loss / d out and leaves as
 * d loss / d (W x + b): through mask and ReLU, then through BN, whose mean and variance depend on
 * every row: dz = inv_sd gamma (d - mean(d) - normal mean(d normal)). */
static void back_through_norm(const struct dense_layer *layer, const struct dense_layer *grad,
                              int32_t n, const double *mask, const double *normal,
                              const double *inv_sd, double *back)
{
    int32_t width = layer->n_out;
    for (int32_t i = 0; i < n; i++)
        for (int32_t k = 0; k < width; k++) {
            size_t at = (size_t)i * (size_t)width + (size_t)k;
            bool on = layer->gamma[k] * normal[at] + layer->beta[k] > 0;
            back[at] = on ? back[at] * mask[at] : 0;
            grad->beta[k] += back[at];
        }
    add_rows(n, width, back, normal, grad->gamma);
    for (int32_t i = 0; i < n; i++)
        for (int32_t k = 0; k < width; k++) {
            size_t at = (size_t)i * (size_t)width + (size_t)k;
            back[at] = inv_sd[k] * layer->gamma[k] *
                       (back[at] - grad->beta[k] / n - normal[at] * grad->gamma[k] / n);
        }
}

/* grad of a layer's weights and bias from back (n x n_out) and what came in, x (n x n_in). */
static void weigh(const struct dense_layer *grad, int32_t n, const double *back, const double *x)
{
    cblas_dgemm(CblasRowMajor, CblasTrans, CblasNoTrans, grad->n_out, grad->n_in, n, 1, back,
                grad->n_out, x, grad->n_in, 0, grad->weight, grad->n_in);
    for (int32_t i = 0; i < n; i++)
        for (int32_t k = 0; k < grad->n_out; k++)
            grad->bias[k] += back[(size_t)i * (size_t)grad->n_out + (size_t)k];
}

void dense_backward(const struct dense_net *net, struct dense_work *work, int32_t n,
                    const double *x, const double *dy)
{
    struct dense_net as_net = *net; /* the gradient has the network's own layout */
    as_net.param = work->grad;
    memset(work->grad, 0, net->n_params * sizeof *work->grad);
    for (int32_t i = 0; i < n; i++)
        work->last[i] = work->last[i] > 0 ? dy[i] : 0;
    const double *back = work->last, *mask = work->mask + (size_t)n * (size_t)net->width[1];
    for (int32_t l = DENSE_HIDDEN; l > 0; l--) {
        struct dense_layer layer = dense_layer(net, l), grad = dense_layer(&as_net, l);
        struct dense_layer below = dense_layer(net, l - 1),
                           grad_below = dense_layer(&as_net, l - 1);
        weigh(&grad, n, back, work->out[l - 1]);
        cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, n, layer.n_in, layer.n_out, 1, back,
                    layer.n_out, layer.weight, layer.n_in, 0, work->back[l - 1], layer.n_in);
        back_through_norm(&below, &grad_below, n, mask, work->normal[l - 1], work->inv_sd[l - 1],
                          work->back[l - 1]);
        back = work->back[l - 1];
        mask = work->mask;
    }
    struct dense_layer grad = dense_layer(&as_net, 0);
    weigh(&grad, n, back, x);
}

void dense_decay(const struct dense_net *net, double decay, double *grad)
{
    for (int32_t l = 0; l < DENSE_LAYERS; l++) {
        struct dense_layer layer = dense_layer(net, l);
        double *at = grad + (layer.weight - net->param);
        for (size_t i = 0; i < (size_t)layer.n_out * (size_t)layer.n_in; i++)
            at[i] += decay * layer.weight[i];
    }
}

enum status dense_adam_init(struct dense_adam *adam, const struct dense_net *net, struct error *err)
{
    *adam = (struct dense_adam){.first = calloc(2 * net->n_params, sizeof *adam->first)};
    if (adam->first == NULL)
        return fail_memory(err);
    adam->second = adam->first + net->n_params;
    return ST_OK;
}

void dense_adam_free(struct dense_adam *adam)
{
    free(adam->first);
    *adam = (struct dense_adam){0};
}

void dense_adam_step(struct dense_adam *adam, struct dense_net *net, const double *grad,
                     double rate)
{
    static const double beta_1 = .9, beta_2 = .999, eps = 1e-8;
    adam->n_steps++;
    double unbias_1 = 1 - pow(beta_1, (double)adam->n_steps);
    double unbias_2 = 1 - pow(beta_2, (double)adam->n_steps);
    for (size_t i = 0; i < net->n_params; i++) {
        adam->first[i] += (1 - beta_1) * (grad[i] - adam->first[i]);
        adam->second[i] += (1 - beta_2) * (grad[i] * grad[i] - adam->second[i]);
        net->param[i] -=
            rate * (adam->first[i] / unbias_1) / (sqrt(adam->second[i] / unbias_2) + eps);
    }
}
