#include "tests/elastico_lab.h"

#include "core/base/rng.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>

static const char *const trainers[] = {"ResNet-50", "BERT", "PPO", "NCF-NeuMF", "DCGAN", "LSTM"};

void open_lab(struct lab *l, enum submitted submitted, struct pds_config *config)
{
    *l = (struct lab){.catalog = EMBEDDED_CATALOG,
                      .submitted = submitted,
                      .truth = TRUTH_CONTENTION,
                      .mps = 1,
                      .rates = {.scale_exp = 0.9},
                      .config = config};
    param_defaults(&(struct param_group){"elastico", pds_params, config});
}

void draw_day(struct lab *l, uint64_t seed)
{
    char text[16384], *at = text;
    gsl_rng *rng = rng_stream(seed, "test_elastico");
    double t = 0;
    for (int i = 0; i < 120; i++) {
        int gpus = 1 << gsl_rng_uniform_int(rng, 3);
        t += gsl_rng_uniform(rng) * 200;
        at += sprintf(at, "j%d %.3f %.3f %d 1 %s 0 a100-40g %s\n", i, t,
                      20 + 3000 * pow(gsl_rng_uniform(rng), 3), gpus,
                      trainers[gsl_rng_uniform_int(rng, 6)],
                      gpus > 1 && gsl_rng_uniform_int(rng, 2) ? gpus > 2 ? "1 4" : "1 2" : "0 0");
    }
    gsl_rng_free(rng);
    lab_jobs(l, text);
    lab_nodes(l, "4x40960MiB:a100-40g+4x40960MiB:a100-40g+4x40960MiB:a100-40g");
}
