#include "core/elastico/belief.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>

enum { SLOTS_MIN = 1024 };

void belief_of_model(void *context, const struct iac_side *side, int32_t n,
                     const struct iac_pair *pair, double *s, double *spread)
{
    iac_predict(context, side, n, pair, s, spread);
}

void belief_of_table(void *context, const struct iac_side *side, int32_t n,
                     const struct iac_pair *pair, double *s, double *spread)
{
    const struct belief_table *t = context;
    (void)side;
    for (int32_t i = 0; i < n; i++) {
        int32_t of = t->workload[pair[i].of], beside = t->workload[pair[i].beside];
        double speed = of >= 0 && beside >= 0 ? pairs_speed(t->pairs, of, beside) : NAN;
        s[i] = isnan(speed) ? INFINITY : fmax(1, 1 / speed);
        spread[i] = 0;
    }
}

void belief_of_contention(void *context, const struct iac_side *side, int32_t n,
                          const struct iac_pair *pair, double *s, double *spread)
{
    (void)side;
    for (int32_t i = 0; i < n; i++) {
        s[i] = contention_pair(context, pair[i].of, pair[i].beside);
        spread[i] = 0;
    }
}

enum status belief_init(struct belief *b, belief_fn ask, void *context,
                        const struct belief_options *options, struct error *err)
{
    int32_t n_slots = SLOTS_MIN;
    while (n_slots < options->n_slots && n_slots < 1 << 30)
        n_slots *= 2;
    *b = (struct belief){.ask = ask, .context = context, .options = *options};
    b->options.n_slots = n_slots;
    b->slot = malloc((size_t)n_slots * sizeof *b->slot);
    b->asked = malloc(IAC_BATCH * sizeof *b->asked);
    b->asked_slot = malloc(IAC_BATCH * sizeof(struct belief_slot *));
    b->asked_s = malloc(2 * IAC_BATCH * sizeof *b->asked_s);
    if (b->slot == NULL || b->asked == NULL || b->asked_slot == NULL || b->asked_s == NULL)
        return fail_memory(err);
    b->asked_spread = b->asked_s + IAC_BATCH;
    belief_forget(b);
    return ST_OK;
}

void belief_free(struct belief *b)
{
    free(b->slot);
    free(b->asked);
    free(b->asked_slot);
    free(b->asked_s);
    *b = (struct belief){0};
}

void belief_forget(struct belief *b)
{
    for (int32_t i = 0; i < b->options.n_slots; i++)
        b->slot[i].of = -1;
    b->n_used = 0;
}

/* SplitMix64's finish: every bit of the key moves every bit of the result. */
static uint64_t mix(uint64_t key)
{
    key = (key ^ key >> 30) * 0xbf58476d1ce4e5b9u;
    key = (key ^ key >> 27) * 0x94d049bb133111ebu;
    return key ^ key >> 31;
}

static uint64_t key_of(struct iac_pair pair)
{
    return (uint64_t)(uint32_t)pair.of << 32 | (uint32_t)pair.beside;
}

/* 0 < u < 1, the n-th of this key. */
static double uniform(uint64_t key, uint64_t n)
{
    return ((double)(mix(key + n * 0x9e3779b97f4a7c15u) >> 11) + .5) * 0x1p-53;
}

/* r = sigma |z| has mean m = error_frac. Down: min(r, d), d = 1 - 1/s what leads to 1. Its mean is
 * sigma sqrt(2/pi) (1 - e^(-d^2 / 2 sigma^2)) + d erfc(d / sigma sqrt 2). Up: r stretched so that
 * both halves together have the mean m. */
double belief_err(const struct belief_options *o, struct iac_pair pair, double s)
{
    double m = o->error_frac;
    if (!(m > 0) || isinf(s))
        return s;
    uint64_t key = mix(o->seed + 0x9e3779b97f4a7c15u) ^ mix(key_of(pair));
    double sigma = m * sqrt(M_PI / 2), d = 1 - 1 / s;
    double r = sigma * sqrt(-2 * log(uniform(key, 1))) * fabs(cos(2 * M_PI * uniform(key, 2)));
    if (uniform(key, 3) < .5)
        return fmax(1, s * (1 - fmin(r, d)));
    double down = m * (1 - exp(-d * d / (2 * sigma * sigma))) + d * erfc(d / (sigma * M_SQRT2));
    return s * (1 + r * (2 - down / m));
}

/* The slot of a pair, or the free one where it goes. */
static struct belief_slot *slot_of(const struct belief *b, struct iac_pair pair)
{
    uint64_t last = (uint64_t)b->options.n_slots - 1, at = mix(key_of(pair)) & last;
    while (b->slot[at].of >= 0 && (b->slot[at].of != pair.of || b->slot[at].beside != pair.beside))
        at = (at + 1) & last;
    return &b->slot[at];
}

/* Asks what waits to be asked. */
static void settle(struct belief *b, const struct iac_side *side)
{
    if (b->n_asked == 0)
        return;
    b->ask(b->context, side, b->n_asked, b->asked, b->asked_s, b->asked_spread);
    for (int32_t i = 0; i < b->n_asked; i++) {
        struct belief_slot *slot = b->asked_slot[i];
        slot->s = iac_round(belief_err(&b->options, b->asked[i], b->asked_s[i]) +
                            b->options.caution * b->asked_spread[i]);
    }
    b->n_misses += b->n_asked;
    b->n_asked = 0;
}

/* Puts a pair among those asked. There is room for it in both. */
static void enlist(struct belief *b, struct belief_slot *slot, struct iac_pair pair)
{
    *slot = (struct belief_slot){pair.of, pair.beside, -1 - b->n_asked};
    b->asked[b->n_asked] = pair;
    b->asked_slot[b->n_asked++] = slot;
    b->n_used++;
}

/* Looks pairs up from one on until one finds no room in the batch or the cache; those that wait for
 * their answer have s < 0. Returns where it stopped. */
static int32_t look_up(struct belief *b, int32_t n, const struct iac_pair *pair, int32_t from,
                       double *s)
{
    for (int32_t i = from; i < n; i++) {
        assert(pair[i].of >= 0 && pair[i].beside >= 0);
        struct belief_slot *slot = slot_of(b, pair[i]);
        if (slot->of < 0) {
            if (b->n_asked == IAC_BATCH || b->n_used >= b->options.n_slots / 4 * 3)
                return i;
            enlist(b, slot, pair[i]);
        } else {
            b->n_hits += slot->s >= 1;
        }
        s[i] = slot->s;
    }
    return n;
}

static void fill_in(const struct belief *b, int32_t from, int32_t to, double *s)
{
    for (int32_t i = from; i < to; i++)
        if (s[i] < 0)
            s[i] = b->asked_slot[(int32_t)(-1 - s[i])]->s;
}

void belief_ask(struct belief *b, const struct iac_side *side, int32_t n,
                const struct iac_pair *pair, double *s)
{
    for (int32_t from = 0; from < n;) {
        int32_t to = look_up(b, n, pair, from, s);
        if (b->n_asked > 0) {
            settle(b, side);
            fill_in(b, from, to, s);
        }
        if (to < n && b->n_used >= b->options.n_slots / 4 * 3) {
            belief_forget(b);
            b->n_emptied++;
        }
        from = to;
    }
}
