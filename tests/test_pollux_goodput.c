/* Pollux's goodput: hand values of the formulas, measured steps, the best batch against all. */
#include "policies/peers/pollux_goodput.h"
#include "tests/leak.h"

#include <criterion/criterion.h>
#include <math.h>

TestSuite(pollux_goodput, .fini = abort_on_leak, .timeout = 60);

static const struct goodput job = {.alpha_c = .1,
                                   .beta_c = .01,
                                   .alpha_r = .15,
                                   .beta_r = .02,
                                   .alpha_n = .3,
                                   .beta_n = .05,
                                   .gamma = 1,
                                   .noise = 300,
                                   .batch_0 = 100,
                                   .batch_max = 1000,
                                   .card_min = 10,
                                   .card_max = 100};

Test(pollux_goodput, a_sample_is_worth_less_in_a_larger_batch)
{
    cr_assert_float_eq(goodput_efficiency(&job, 100), 1, 1e-12);
    cr_assert_float_eq(goodput_efficiency(&job, 300), 400. / 600, 1e-12);
    cr_assert_float_eq(goodput_efficiency(&job, 700), 400. / 1000, 1e-12);
}

/* nodes, GPUs, micro-batch, accumulation steps, gamma; seconds. */
static const struct {
    int32_t nodes, gpus;
    double micro_batch;
    int32_t accum;
    double gamma, step_s;
} steps[] = {
    {1, 1, 10, 0, 1, .2},  {1, 1, 10, 2, 1, .6},  {1, 2, 10, 0, 1, .2 + .15},
    {1, 4, 10, 0, 1, .39}, {2, 2, 10, 0, 1, .5},  {2, 6, 10, 0, 1, .2 + .3 + .2},
    {1, 2, 10, 0, 2, .25}, {1, 2, 10, 1, 2, .45}, {2, 2, 30, 0, 2, .5},
};

Test(pollux_goodput, a_step_is_computing_and_synchronising_partly_at_once)
{
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
        struct goodput g = job;
        g.gamma = steps[i].gamma;
        double s =
            goodput_step_s(&g, steps[i].nodes, steps[i].gpus, steps[i].micro_batch, steps[i].accum);
        cr_expect_float_eq(s, steps[i].step_s, 1e-12, "row %zu: %g", i, s);
    }
}

/* Measured on T4s: rows of the artifact's placements.csv and scalability.csv. */
static const struct {
    const char *model;
    int32_t nodes, gpus;
    double micro_batch, step_s;
} measured[] = {
    {"cifar10", 1, 1, 32, .0428}, {"imagenet", 1, 1, 20, .1474},    {"bert", 1, 1, 4, .4553},
    {"cifar10", 6, 6, 32, .1409}, {"imagenet", 6, 6, 20, .3874},    {"bert", 6, 6, 4, 1.4923},
    {"ncf", 1, 1, 32, .00731},    {"deepspeech2", 6, 6, 10, .8356}, {"yolov3", 1, 1, 4, .2669},
};

Test(pollux_goodput, the_fits_meet_measured_steps)
{
    for (size_t i = 0; i < sizeof measured / sizeof *measured; i++) {
        double s = goodput_step_s(goodput_model(measured[i].model), measured[i].nodes,
                                  measured[i].gpus, measured[i].micro_batch, 0);
        cr_expect_float_eq(s / measured[i].step_s, 1, .25, "%s: %g, measured %g", measured[i].model,
                           s, measured[i].step_s);
    }
}

Test(pollux_goodput, fifty_batches_come_close_to_trying_every_one)
{
    for (int32_t gpus = 1; gpus <= 12; gpus++) {
        double best = 0;
        for (int32_t micro = 10; micro <= 100; micro++)
            for (int32_t accum = 0; accum < 10; accum++) {
                double batch = gpus * micro * (accum + 1);
                bool fair = gpus > 1 || batch <= 100 || accum > 0;
                if (batch >= 100 && batch <= 1000 && fair)
                    best = fmax(best, batch / goodput_step_s(&job, 1, gpus, micro, accum) *
                                          goodput_efficiency(&job, batch));
            }
        double ours = goodput_best(&job, 1, gpus);
        cr_expect_leq(ours, best * 1.05, "rounding up may pass the largest batch a little");
        cr_expect_geq(ours, best * .97, "%d GPUs: %g of %g", gpus, ours, best);
    }
}

Test(pollux_goodput, gpus_that_cannot_be_fed_are_worth_nothing)
{
    cr_assert_gt(goodput_best(&job, 1, 100), 0, "10 samples each");
    cr_assert_eq(goodput_best(&job, 1, 101), 0);
}

Test(pollux_goodput, replicas_of_offline_inference_add_up)
{
    const struct goodput *g = goodput_model("inference");
    for (int32_t gpus = 2; gpus <= 64; gpus *= 2)
        cr_assert_float_eq(goodput_best(g, 2, gpus) / goodput_best(g, 1, 1), gpus, 1e-6);
}

Test(pollux_goodput, workloads_are_known_by_several_names)
{
    cr_assert_eq(goodput_model("BERT"), goodput_model("bert"));
    cr_assert_eq(goodput_model("ResNet-50"), goodput_model("imagenet"));
    cr_assert_eq(goodput_model("NCF-NeuMF"), goodput_model("ncf"));
    cr_assert_eq(goodput_model("something else"), goodput_model("imagenet"), "the default");
}
