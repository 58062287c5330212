#include "policies/pai_sample.h"

#include <assert.h>

enum { N = PAI_RNG_WORDS, MIDDLE = 397 }; /* MT19937's n and m */

static void fill_from_word(uint32_t word[N], uint32_t seed)
{
    word[0] = seed;
    for (uint32_t i = 1; i < N; i++)
        word[i] = UINT32_C(1812433253) * (word[i - 1] ^ (word[i - 1] >> 30)) + i;
}

/* Both passes of init_by_array walk round words 1 .. n - 1, carrying the last one over in word 0.
 */
static int32_t next_index(uint32_t word[N], int32_t i)
{
    if (i + 1 < N)
        return i + 1;
    word[0] = word[N - 1];
    return 1;
}

void pai_rng_seed(struct pai_rng *r, uint64_t seed)
{
    const uint32_t key[2] = {(uint32_t)seed, (uint32_t)(seed >> 32)};
    uint32_t n_keys = key[1] != 0 ? 2 : 1;
    uint32_t *word = r->word;
    int32_t i = 1;

    fill_from_word(word, UINT32_C(19650218));
    for (uint32_t k = 0; k < N; k++) {
        uint32_t mixed = (word[i - 1] ^ (word[i - 1] >> 30)) * UINT32_C(1664525);
        word[i] = (word[i] ^ mixed) + key[k % n_keys] + k % n_keys;
        i = next_index(word, i);
    }
    for (uint32_t k = 1; k < N; k++) {
        uint32_t mixed = (word[i - 1] ^ (word[i - 1] >> 30)) * UINT32_C(1566083941);
        word[i] = (word[i] ^ mixed) - (uint32_t)i;
        i = next_index(word, i);
    }
    word[0] = UINT32_C(0x80000000);
    r->used = N;
}

static void refill(uint32_t word[N])
{
    for (int32_t i = 0; i < N; i++) {
        uint32_t joined =
            (word[i] & UINT32_C(0x80000000)) | (word[(i + 1) % N] & UINT32_C(0x7fffffff));
        word[i] = word[(i + MIDDLE) % N] ^ (joined >> 1) ^ ((joined & 1) * UINT32_C(0x9908b0df));
    }
}

uint32_t pai_rng_next(struct pai_rng *r)
{
    if (r->used == N) {
        refill(r->word);
        r->used = 0;
    }
    uint32_t x = r->word[r->used++];

    x ^= x >> 11;
    x ^= (x << 7) & UINT32_C(0x9d2c5680);
    x ^= (x << 15) & UINT32_C(0xefc60000);
    return x ^ (x >> 18);
}

uint32_t pai_rng_below(struct pai_rng *r, uint32_t n)
{
    assert(n >= 1);
    int unused_bits = __builtin_clz(n);
    uint32_t draw = pai_rng_next(r) >> unused_bits;

    while (draw >= n)
        draw = pai_rng_next(r) >> unused_bits;
    return draw;
}

void pai_rng_shuffle(struct pai_rng *r, int32_t *items, int32_t n_items)
{
    for (int32_t i = n_items - 1; i >= 1; i--) {
        uint32_t other = pai_rng_below(r, (uint32_t)i + 1);
        int32_t item = items[i];

        items[i] = items[other];
        items[other] = item;
    }
}
