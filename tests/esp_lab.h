/* esp_lab.h - choice problems for tests and benchmarks: jobs of random workloads.
 *
 * A workload is a family of configurations: a rate, and four demands (GPU memory GiB, cores, host
 * memory GiB, SM active). Families are made up from ranges like those of the paper's Table 2, or
 * are those of a catalog. */
#ifndef COLOSIM_TESTS_ESP_LAB_H
#define COLOSIM_TESTS_ESP_LAB_H

#include "core/elastico/esp.h"
#include "core/elastico/profile.h"

#include <gsl/gsl_rng.h>

enum { LAB_RES = 4, LAB_FAMILIES = 12, LAB_CONFIGS = 200 };

struct lab_families {
    int n;
    struct lab_family {
        int n;
        double rate[LAB_CONFIGS], need[LAB_CONFIGS][LAB_RES];
    } family[LAB_FAMILIES];
};

/* Twelve families, eight like training (5 batch sizes x CK x AMP) and four like inference (2 batch
 * sizes x PC x 5 MU). */
void lab_families_make(struct lab_families *f, gsl_rng *rng);
/* A catalog's first workloads, each at one length: the non-dominated configurations. */
void lab_families_take(struct lab_families *f, const struct profiles *p);

/* elastico's defaults. */
struct esp_config lab_esp_config(void);

struct lab_shape {
    int n_jobs, n_options; /* a job has its workload's fastest configuration, and at most
                              n_options - 1 others, at random */
    bool gangs;            /* jobs of 1, 2, 4 or 8 GPUs */
    bool weights;          /* omega from 0.5 to 2 */
    bool one_fraction;     /* the same of all resources: a cluster of one shape, too small */
    double least, most;    /* capacity: how far from the minimum (0) to the peak demand (1) */
};

/* Arrays from the arena. Capacity: at least the sum of each resource's least demands; peak is what
 * the fastest configurations use. */
struct choice_problem lab_draw(const struct lab_families *f, const struct lab_shape *shape,
                               gsl_rng *rng, struct arena *a);

#endif
