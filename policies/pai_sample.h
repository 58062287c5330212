/* pai_sample.h - the official PAI simulator's random sample, draw for draw.
 *
 * MT19937 seeded by init_by_array with the 32-bit words of the seed, lowest first; integers below a
 * bound by rejection on the top bits; a shuffle that walks down from the end. This is what CPython
 * does for random.seed(seed) and random.shuffle. GSL's MT19937 has the other seeding (one word), so
 * rng.h cannot give these numbers. */
#ifndef COLOSIM_PAI_SAMPLE_H
#define COLOSIM_PAI_SAMPLE_H

#include <stdint.h>

enum { PAI_RNG_WORDS = 624 };

struct pai_rng {
    uint32_t word[PAI_RNG_WORDS];
    int32_t used; /* words handed out since the last refill */
};

void pai_rng_seed(struct pai_rng *r, uint64_t seed);
uint32_t pai_rng_next(struct pai_rng *r);
/* 0 .. n - 1, each as likely; n is 1 or more. */
uint32_t pai_rng_below(struct pai_rng *r, uint32_t n);
void pai_rng_shuffle(struct pai_rng *r, int32_t *items, int32_t n_items);

#endif
