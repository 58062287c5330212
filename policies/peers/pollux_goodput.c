#include "policies/peers/pollux_goodput.h"

#include <math.h>
#include <stddef.h>
#include <strings.h>

/* Fits: least squares of the logarithms of computing and of step times over all placements and
 * batch sizes of the artifact, with its regularisation; step times are met within 10 to 13 % (rms).
 * noise is the median over training at the first batch. */
const struct goodput goodput_models[] = {
    {"bert", .172, .0586, .284, .00962, 1.39, .00943, 1.90, 1124, 12, 384, 4, 12},
    {"cifar10", .0174, .000701, .0329, .000875, .122, .00264, 2.07, 4944, 128, 4096, 32, 1024},
    {"deepspeech2", .311, .0238, .0840, .00136, .487, .00982, 1.41, 21225, 20, 640, 10, 80},
    {"imagenet", .0641, .00448, .0769, .000519, .300, .00664, 2.47, 11397, 200, 12800, 20, 200},
    {"ncf", .00696, 6.34e-7, .00388, .000425, .0146, .000541, 1.00, 1.83e7, 256, 32768, 32, 32768},
    {"yolov3", .187, .0254, .128, .0174, .749, .0107, 1.11, 559, 8, 512, 4, 8},
    {"inference", 0, 1, 0, 0, 0, 0, 1, 1e30, 1, 1e9, 1, 1},
    {.name = NULL},
};

const struct goodput *goodput_model(const char *workload)
{
    static const struct {
        const char *workload, *model;
    } other_names[] = {{"resnet-50", "imagenet"}, {"ncf-neumf", "ncf"}, {"resnet-18", "cifar10"}};
    for (size_t i = 0; i < sizeof other_names / sizeof *other_names; i++)
        if (strcasecmp(workload, other_names[i].workload) == 0)
            workload = other_names[i].model;
    const struct goodput *standard = NULL;
    for (const struct goodput *g = goodput_models; g->name != NULL; g++) {
        if (strcasecmp(workload, g->name) == 0)
            return g;
        if (strcasecmp("imagenet", g->name) == 0)
            standard = g;
    }
    return standard;
}

double goodput_efficiency(const struct goodput *g, double batch)
{
    return (g->noise + g->batch_0) / (g->noise + batch);
}

double goodput_step_s(const struct goodput *g, int32_t nodes, int32_t gpus, double micro_batch,
                      int32_t accum)
{
    double compute_s = g->alpha_c + g->beta_c * micro_batch, sync_s = 0, beyond = gpus - 2;
    if (nodes > 1)
        sync_s = g->alpha_n + g->beta_n * fmax(beyond, 0);
    else if (gpus > 1)
        sync_s = g->alpha_r + g->beta_r * fmax(beyond, 0);
    double last_s = pow(pow(compute_s, g->gamma) + pow(sync_s, g->gamma), 1 / g->gamma);
    return accum * compute_s + last_s;
}

/* Goodput with the total batch nearest to this one that can be cut evenly; 0 where none can. */
static double goodput_of_batch(const struct goodput *g, int32_t nodes, int32_t gpus, double batch)
{
    const double slack = 1e-8; /* of rounding */
    double of_card = batch / gpus, accum = ceil(of_card / g->card_max - slack) - 1;
    if (gpus == 1 && of_card > g->batch_0 + slack) /* the noise of one micro-batch is not known */
        accum = fmax(accum, 1);
    double micro_batch = ceil(of_card / (accum + 1) - slack);
    if (micro_batch < g->card_min || micro_batch > g->card_max)
        return 0;
    double whole = gpus * micro_batch * (accum + 1);
    return whole / goodput_step_s(g, nodes, gpus, micro_batch, (int32_t)accum) *
           goodput_efficiency(g, whole);
}

double goodput_best(const struct goodput *g, int32_t nodes, int32_t gpus)
{
    enum { BATCHES = 50 };
    double first = fmax(g->batch_0, g->card_min * gpus), best = 0;
    if (first > g->batch_max)
        return 0;
    for (int i = 0; i < BATCHES; i++) {
        double batch = first * pow(g->batch_max / first, (double)i / (BATCHES - 1));
        best = fmax(best, goodput_of_batch(g, nodes, gpus, batch));
    }
    return best;
}
