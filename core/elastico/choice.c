#include "core/elastico/choice.h"

#include <assert.h>
#include <math.h>
#include <string.h>

bool choice_set_init(struct choice_set *s, int32_t n_jobs, int32_t n_options, int32_t n_rows,
                     struct arena *a)
{
    *s = (struct choice_set){
        .n_jobs_room = n_jobs, .n_options_room = n_options, .n_rows_room = n_rows};
    s->demand = arena_alloc(a, (size_t)n_rows * CHOICE_RES_MAX, sizeof *s->demand);
    s->row = arena_alloc(a, (size_t)n_options, sizeof *s->row);
    s->cost = arena_alloc(a, (size_t)n_options, sizeof *s->cost);
    s->rent = arena_alloc(a, (size_t)n_rows, sizeof *s->rent);
    return s->demand != NULL && s->row != NULL && s->cost != NULL && s->rent != NULL;
}

bool choice_init(struct choice *c, int32_t n_jobs, struct arena *a)
{
    *c = (struct choice){.option = arena_alloc(a, (size_t)n_jobs, sizeof *c->option)};
    return c->option != NULL;
}

/* The options of one job; returns the most that one of them costs. */
static double load_options(struct choice_set *s, int32_t job)
{
    const struct choice_problem *p = s->p;
    const double weight = p->weight == NULL ? 1 : p->weight[job];
    double most = -1;
    for (int32_t o = p->begin[job]; o < p->begin[job + 1]; o++) {
        int32_t row = p->row == NULL ? o : p->row[o];
        double cost = weight * p->loss[row] + (p->penalty == NULL ? 0 : p->penalty[o]);
        bool allowed = p->allowed == NULL || p->allowed[o];
        s->row[o] = row;
        s->cost[o] = allowed ? cost : INFINITY;
        most = allowed && cost > most ? cost : most;
    }
    assert(most >= 0); /* a job has an option */
    return most;
}

/* What soft resources are exceeded by where each job takes the most of each. */
static double excess_cost_most(const struct choice_set *s)
{
    double usage[CHOICE_RES_MAX] = {0};
    for (int32_t j = 0; j < s->p->n_jobs; j++)
        for (int32_t r = 0; r < s->p->n_res; r++) {
            if (isinf(s->ceiling[r]))
                continue; /* a hard resource has no excess */
            double most = 0;
            for (int32_t o = s->p->begin[j]; o < s->p->begin[j + 1]; o++)
                most = choice_demand(s, o)[r] > most ? choice_demand(s, o)[r] : most;
            usage[r] += choice_size(s, j) * most;
        }
    return choice_excess_cost(s, usage);
}

static void load_demand(struct choice_set *s)
{
    const int32_t n_res = s->p->n_res;
    s->width = (n_res + CHOICE_LANES - 1) / CHOICE_LANES * CHOICE_LANES;
    const double *from = s->p->demand;
    double *to = s->demand;
    for (int32_t i = 0; i < s->p->n_rows; i++, from += n_res, to += s->width)
        for (int32_t r = 0; r < s->width; r++)
            to[r] = r < n_res ? from[r] : 0;
}

void choice_set_load(struct choice_set *s, const struct choice_problem *p)
{
    assert(p->n_jobs <= s->n_jobs_room && p->begin[p->n_jobs] <= s->n_options_room &&
           p->n_rows <= s->n_rows_room && p->n_res <= CHOICE_RES_MAX);
    s->p = p;
    load_demand(s);
    for (int32_t r = 0; r < CHOICE_RES_MAX; r++) {
        bool known = r < p->n_res;
        s->capacity[r] = !known ? INFINITY : p->capacity == NULL ? 1 : p->capacity[r];
        s->ceiling[r] = !known || p->ceiling == NULL ? INFINITY : p->ceiling[r];
    }
    s->rent_price[0] = NAN;
    s->score_max = 0;
    for (int32_t j = 0; j < p->n_jobs; j++)
        s->score_max += load_options(s, j);
    if (p->ceiling != NULL)
        s->score_max += excess_cost_most(s);
}

void choice_rents(struct choice_set *s, const double *price)
{
    double padded[CHOICE_RES_MAX] = {0};
    memcpy(padded, price, (size_t)s->p->n_res * sizeof *price);
    bool same = true;
    for (int32_t r = 0; r < CHOICE_RES_MAX; r++)
        same = same && padded[r] == s->rent_price[r];
    if (same)
        return;
    memcpy(s->rent_price, padded, sizeof padded);
    const double *demand = s->demand;
    for (int32_t i = 0; i < s->p->n_rows; i++) {
        double rent = 0;
        for (int32_t r = 0; r < s->width; r += CHOICE_LANES, demand += CHOICE_LANES)
            rent += (padded[r] * demand[0] + padded[r + 1] * demand[1]) +
                    (padded[r + 2] * demand[2] + padded[r + 3] * demand[3]);
        s->rent[i] = rent;
    }
}

double choice_at_prices(struct choice_set *s, const double *price, struct choice *c)
{
    choice_rents(s, price);
    const int32_t *begin = s->p->begin, *row = s->row;
    const double *cost = s->cost, *rent = s->rent;
    double dual = 0;
    for (int32_t j = 0; j < s->p->n_jobs; j++) {
        const double size = choice_size(s, j);
        double least = INFINITY;
        int32_t at = -1;
        for (int32_t o = begin[j]; o < begin[j + 1]; o++) {
            double score = cost[o] + size * rent[row[o]];
            at = score < least ? o : at;
            least = score < least ? score : least;
        }
        c->option[j] = at;
        dual += least;
    }
    for (int32_t r = 0; r < s->p->n_res; r++)
        dual -= price[r] * s->capacity[r];
    choice_measure(s, c);
    return dual;
}

void choice_measure(const struct choice_set *s, struct choice *c)
{
    double usage[CHOICE_RES_MAX] = {0}, cost = 0;
    for (int32_t j = 0; j < s->p->n_jobs; j++) {
        const double *demand = choice_demand(s, c->option[j]);
        const double size = choice_size(s, j);
        for (int32_t r = 0; r < s->width; r += CHOICE_LANES)
            for (int32_t k = r; k < r + CHOICE_LANES; k++)
                usage[k] += size * demand[k];
        cost += s->cost[c->option[j]];
    }
    memcpy(c->usage, usage, sizeof usage);
    c->score = cost + choice_excess_cost(s, usage);
}

double choice_over(const struct choice_set *s, const double *usage)
{
    double over = 0;
    for (int32_t r = 0; r < s->p->n_res; r++)
        if (isinf(s->ceiling[r]) && usage[r] > s->capacity[r] + CHOICE_SLACK)
            over += usage[r] - s->capacity[r];
    return over;
}

double choice_excess_cost(const struct choice_set *s, const double *usage)
{
    double cost = 0;
    for (int32_t r = 0; r < s->p->n_res; r++)
        if (usage[r] > s->capacity[r] && !isinf(s->ceiling[r]))
            cost += s->ceiling[r] * (usage[r] - s->capacity[r]);
    return cost;
}

void choice_copy(struct choice *to, const struct choice *from, int32_t n_jobs)
{
    int32_t *option = to->option;
    memcpy(option, from->option, (size_t)n_jobs * sizeof *option);
    *to = *from;
    to->option = option;
}
