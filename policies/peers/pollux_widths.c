#include "policies/peers/pollux_widths.h"

#include <stdlib.h>
#include <string.h>

enum { EXCHANGE_MAX = 32 };

int64_t pollux_milli(const struct width_choice *choice, int32_t option)
{
    return option == 0 ? 0 : (int64_t)(choice->lowest + option - 1) * choice->unit_milli;
}

double pollux_cost(int32_t n, const struct width_choice *choice, const int32_t *option)
{
    double sum = 0;
    for (int32_t j = 0; j < n; j++)
        sum += choice[j].cost[option[j]];
    return sum;
}

static int64_t held_milli(int32_t n, const struct width_choice *choice, const int32_t *option)
{
    int64_t sum = 0;
    for (int32_t j = 0; j < n; j++)
        sum += pollux_milli(&choice[j], option[j]);
    return sum;
}

/* A step along a job's hull. */
struct step {
    double gain; /* cost saved per milli-GPU */
    int32_t job, from, to;
};

static int steepest_first(const void *a, const void *b)
{
    const struct step *x = a, *y = b;
    if (x->gain != y->gain)
        return x->gain > y->gain ? -1 : 1;
    if (x->job != y->job)
        return x->job < y->job ? -1 : 1;
    return x->from < y->from ? -1 : x->from > y->from;
}

static double gain_of(const struct width_choice *c, int32_t from, int32_t to)
{
    return (c->cost[from] - c->cost[to]) / (double)(pollux_milli(c, to) - pollux_milli(c, from));
}

/* The steps along the lower convex hull, from nothing to the best width. O(options). */
static int32_t hull_of(const struct width_choice *c, int32_t job, struct step *step)
{
    int32_t n = 0; /* corners after 0 are the ends of steps */
    for (int32_t k = 1; k < c->n; k++) {
        if (c->cost[k] >= c->cost[n > 0 ? step[n - 1].to : 0])
            continue;
        while (n > 0 && gain_of(c, step[n - 1].from, k) >= step[n - 1].gain)
            n--;
        int32_t from = n > 0 ? step[n - 1].to : 0;
        step[n++] = (struct step){gain_of(c, from, k), job, from, k};
    }
    return n;
}

static bool greedy(int32_t n, const struct width_choice *choice, int64_t room_milli,
                   int32_t *option, struct arena *scratch)
{
    size_t n_options = 0;
    int32_t n_steps = 0;
    for (int32_t j = 0; j < n; j++)
        n_options += (size_t)choice[j].n;
    struct step *step = arena_alloc(scratch, n_options, sizeof *step);
    if (step == NULL)
        return false;
    for (int32_t j = 0; j < n; j++) {
        option[j] = 0;
        n_steps += hull_of(&choice[j], j, step + n_steps);
    }
    qsort(step, (size_t)n_steps, sizeof *step, steepest_first);
    for (int32_t i = 0; i < n_steps; i++) {
        const struct width_choice *c = &choice[step[i].job];
        int64_t more = pollux_milli(c, step[i].to) - pollux_milli(c, step[i].from);
        if (option[step[i].job] != step[i].from || more > room_milli)
            continue;
        option[step[i].job] = step[i].to;
        room_milli -= more;
    }
    return true;
}

/* The cheapest option of at most so many milli-GPUs. */
static int32_t cheapest_within(const struct width_choice *c, int64_t milli)
{
    int32_t best = 0;
    for (int32_t k = 1; k < c->n && pollux_milli(c, k) <= milli; k++)
        if (c->cost[k] < c->cost[best])
            best = k;
    return best;
}

/* Whoever is better off alone with what is left, until nobody is. */
static void fill(int32_t n, const struct width_choice *choice, int64_t *room_milli, int32_t *option)
{
    for (bool better = true; better;) {
        better = false;
        for (int32_t j = 0; j < n; j++) {
            int64_t all = pollux_milli(&choice[j], option[j]) + *room_milli;
            int32_t best = cheapest_within(&choice[j], all);
            if (choice[j].cost[best] >= choice[j].cost[option[j]])
                continue;
            *room_milli = all - pollux_milli(&choice[j], best);
            option[j] = best;
            better = true;
        }
    }
}

/* The best that one giver can do for one taker; false where it makes nothing cheaper. */
static bool exchange(const struct width_choice *giver, const struct width_choice *taker,
                     int64_t *room_milli, int32_t *give, int32_t *take)
{
    int64_t all = *room_milli + pollux_milli(giver, *give) + pollux_milli(taker, *take);
    double least = giver->cost[*give] + taker->cost[*take];
    int32_t best_give = *give, best_take = *take;
    for (int32_t k = 0; k < taker->n && pollux_milli(taker, k) <= all; k++) {
        int32_t left = cheapest_within(giver, all - pollux_milli(taker, k));
        double cost = giver->cost[left] + taker->cost[k];
        if (cost < least - 1e-12 * least) {
            least = cost;
            best_give = left;
            best_take = k;
        }
    }
    bool better = best_give != *give || best_take != *take;
    *give = best_give;
    *take = best_take;
    *room_milli = all - pollux_milli(giver, best_give) - pollux_milli(taker, best_take);
    return better;
}

static void improve(int32_t n, const struct width_choice *choice, int64_t room_milli,
                    int32_t *option)
{
    room_milli -= held_milli(n, choice, option);
    fill(n, choice, &room_milli, option);
    for (bool better = n <= EXCHANGE_MAX; better;) {
        better = false;
        for (int32_t a = 0; a < n; a++)
            for (int32_t b = a + 1; b < n; b++)
                better =
                    exchange(&choice[a], &choice[b], &room_milli, &option[a], &option[b]) || better;
    }
}

bool pollux_widths(int32_t n, const struct width_choice *choice, int64_t room_milli,
                   int32_t *option, struct arena *scratch)
{
    struct arena_mark mark = arena_mark(scratch);
    int32_t *walked = arena_alloc(scratch, (size_t)n, sizeof *walked);
    bool done = walked != NULL && greedy(n, choice, room_milli, walked, scratch);
    if (done) {
        improve(n, choice, room_milli, walked);
        improve(n, choice, room_milli, option);
        if (pollux_cost(n, choice, walked) < pollux_cost(n, choice, option))
            memcpy(option, walked, (size_t)n * sizeof *option);
    }
    arena_reset(scratch, mark);
    return done;
}
