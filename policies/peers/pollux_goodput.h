/* pollux_goodput.h - how fast a training job learns on so many GPUs, at its best batch (Pollux).
 *
 * Goodput is samples a second times what a sample of so large a batch is worth against one of the
 * batch the job was written for. Formulas as in the simulator of adaptdl's osdi21-artifact
 * (Apache-2.0), read and restated. */
#ifndef COLOSIM_POLLUX_GOODPUT_H
#define COLOSIM_POLLUX_GOODPUT_H

#include <stdint.h>

struct goodput {
    const char *name;
    double alpha_c, beta_c; /* s, s per sample: computing a micro-batch on one GPU */
    double alpha_r, beta_r; /* s, s per GPU beyond two: synchronising inside a node */
    double alpha_n, beta_n; /* the same across nodes */
    double gamma;           /* 1..10: how far computing and synchronising overlap */
    double noise;           /* samples, the gradient noise scale phi = B0 var / sqr */
    double batch_0;         /* samples, the batch it was written for */
    double batch_max;
    double card_min, card_max; /* samples of a micro-batch on one GPU */
};

/* Parameters of Pollux's six models, fitted by us to the artifact's measurements on T4s; the last
 * is for offline inference: replicas that need not talk. Ends with a NULL name. */
extern const struct goodput goodput_models[];
/* Whose workload is called so, without regard to case; "imagenet" where no model is: the stated
 * default. */
const struct goodput *goodput_model(const char *workload);

/* What one more sample in a batch of this size is worth: (phi + B0) / (phi + B). */
double goodput_efficiency(const struct goodput *g, double batch);
/* Seconds of a step: accum micro-batches that are not synchronised, then one that is.
 *     T_c = alpha_c + beta_c m,  T_n = 0 on one GPU, else alpha + beta max(gpus - 2, 0),
 *     T = accum T_c + (T_c^gamma + T_n^gamma)^(1 / gamma) */
double goodput_step_s(const struct goodput *g, int32_t nodes, int32_t gpus, double micro_batch,
                      int32_t accum);
/* Worth of samples per second at the best of 50 batches, evenly spaced in the logarithm, from the
 * first that gives every GPU enough to the largest; 0 where so many GPUs cannot be fed. */
double goodput_best(const struct goodput *g, int32_t nodes, int32_t gpus);

#endif
