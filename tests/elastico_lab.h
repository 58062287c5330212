/* elastico_lab.h - small worlds for the policy elastico. */
#ifndef COLOSIM_TESTS_ELASTICO_LAB_H
#define COLOSIM_TESTS_ELASTICO_LAB_H

#include "core/elastico/pds.h"
#include "tests/lab.h"

/* The embedded catalog under contention, an oracle's belief, default settings. */
void open_lab(struct lab *l, enum submitted submitted, struct pds_config *config);
/* A random day: catalog jobs of 1 to 4 GPUs, some elastic, on three nodes of four. */
void draw_day(struct lab *l, uint64_t seed);

#endif
