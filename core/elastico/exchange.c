#include "core/elastico/exchange.h"

#include <math.h>

enum { OPTIONS_MAX = 1000 }; /* half a million pairs: some milliseconds */
#define GAIN_LEAST 1e-12     /* of overuse; less is rounding */

struct pair {
    double over;
    int32_t job[2], option[2];
};

/* What is used when a job changes from one option to another. */
static void after(const struct choice_set *s, const double *usage, int32_t job, int32_t from,
                  int32_t to, double *out)
{
    const double size = choice_size(s, job);
    for (int32_t r = 0; r < s->p->n_res; r++)
        out[r] = usage[r] + size * (choice_demand(s, to)[r] - choice_demand(s, from)[r]);
}

/* The best of the later jobs' moves beside a move of this one. */
static void try_beside(const struct choice_set *s, const struct choice *c, const double *usage,
                       int32_t job, int32_t option, struct pair *best)
{
    for (int32_t k = job + 1; k < s->p->n_jobs; k++)
        for (int32_t o = s->p->begin[k]; o < s->p->begin[k + 1]; o++) {
            double both[CHOICE_RES_MAX];
            after(s, usage, k, c->option[k], o, both);
            const double over = choice_over(s, both);
            if (over < best->over - GAIN_LEAST && !isinf(s->cost[o]))
                *best = (struct pair){over, {job, k}, {option, o}};
        }
}

static struct pair best_pair(const struct choice_set *s, const struct choice *c)
{
    struct pair best = {.over = choice_over(s, c->usage), .job = {-1, -1}};
    for (int32_t j = 0; j < s->p->n_jobs; j++)
        for (int32_t o = s->p->begin[j]; o < s->p->begin[j + 1]; o++) {
            double usage[CHOICE_RES_MAX];
            if (isinf(s->cost[o]))
                continue;
            after(s, c->usage, j, c->option[j], o, usage);
            try_beside(s, c, usage, j, o, &best);
        }
    return best;
}

bool exchange_run(const struct choice_set *s, struct choice *c)
{
    if (s->p->begin[s->p->n_jobs] - s->p->begin[0] > OPTIONS_MAX)
        return false;
    while (choice_over(s, c->usage) > 0) {
        const struct pair pair = best_pair(s, c);
        if (pair.job[0] < 0)
            return false;
        for (int i = 0; i < 2; i++)
            c->option[pair.job[i]] = pair.option[i];
        choice_measure(s, c);
    }
    return true;
}
