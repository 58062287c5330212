#include "core/elastico/esp.h"

#include <math.h>
#include <string.h>

/* Polyak steps that gain less than GAIN_FRAC of the gap are failures; after so many in a row theta
 * shrinks and the search goes on from the best prices. */
#define GAIN_FRAC    1e-3
#define THETA_SHRINK 0.6
enum { FAILURES = 5 };

#define OVERUSE_FRAC 0.01 /* what a choice may overuse and still count as settled */

static const char *const step_names[] = {"polyak", "sqrt", NULL};
// clang-format off
const struct param esp_params[] = {
    PARAM_REAL(struct esp_config, gap_frac, "1", 0.01, 0, 1,
               "stop when the score is this near its bound, as a part of the score"),
    PARAM_INT(struct esp_config, iterations_cold, "iterations", 50, 0, 1e6,
              "price updates at most, without prices to start from"),
    PARAM_INT(struct esp_config, iterations_warm, "iterations", 5, 0, 1e6,
              "price updates at most, from the last pass's prices"),
    PARAM_CHOICE(struct esp_config, step, step_names, ESP_STEP_POLYAK,
                 "length of a price update; sqrt is eta_0/sqrt(t) [paper, (8)]"),
    PARAM_REAL(struct esp_config, step_first, "1", 1, 1e-9, 1e9,
               "eta_0 of sqrt, on the price of one GPU per overuse of the whole cluster"),
    PARAM_REAL(struct esp_config, theta, "1", 1.5, 0.01, 2,
               "part of the way to the estimated optimum that a polyak step takes"),
    PARAM_END,
};
// clang-format on

/* The state of one solve. */
struct ascent {
    struct esp *e;
    const struct esp_config *config;
    int32_t n_res;
    double n_gpus;
    double price[CHOICE_RES_MAX], slope[CHOICE_RES_MAX]; /* where the search is */
    double dual;
    double best_price[CHOICE_RES_MAX], best_slope[CHOICE_RES_MAX]; /* of the bound */
    double direction[CHOICE_RES_MAX];                              /* of the last step */
    double theta;
    int32_t n_failures;
    double repaired_bound; /* the bound when the choice at its prices was repaired */
    struct esp_result *result;
};

bool esp_init(struct esp *e, int32_t n_jobs, int32_t n_options, int32_t n_rows, struct arena *a)
{
    return choice_set_init(&e->set, n_jobs, n_options, n_rows, a) &&
           repair_init(&e->repair, n_jobs, a) && choice_init(&e->now, n_jobs, a) &&
           choice_init(&e->tried, n_jobs, a) && choice_init(&e->best, n_jobs, a);
}

static void begin(struct ascent *a, struct esp *e, const struct choice_problem *p,
                  struct esp_result *result)
{
    choice_set_load(&e->set, p);
    *result = (struct esp_result){.score = INFINITY, .bound = -INFINITY};
    *a = (struct ascent){
        .e = e, .n_res = p->n_res, .result = result, .repaired_bound = -INFINITY};
}

static double score_or_most(const struct ascent *a)
{
    return a->result->feasible ? a->result->score : a->e->set.score_max;
}

/* No choice scores more than score_max, so nothing fits where the bound is above it. */
static bool impossible(const struct ascent *a)
{
    double most = a->e->set.score_max;
    return !a->result->feasible && a->result->bound > most + CHOICE_SLACK * (1 + most);
}

static bool close_enough(const struct ascent *a)
{
    const struct esp_result *result = a->result;
    return result->feasible ? result->score - result->bound <= a->config->gap_frac * result->score
                            : impossible(a);
}

/* What jobs choose at the prices of a; keeps the bound. */
static void look(struct ascent *a)
{
    struct esp *e = a->e;
    a->dual = choice_at_prices(&e->set, a->price, &e->now);
    for (int32_t r = 0; r < a->n_res; r++)
        a->slope[r] = e->now.usage[r] - e->set.capacity[r];
    double gap = score_or_most(a) - a->result->bound;
    bool gained = a->dual > a->result->bound + GAIN_FRAC * gap;
    a->n_failures = gained || isinf(gap) ? 0 : a->n_failures + 1;
    if (a->dual <= a->result->bound)
        return;
    a->result->bound = a->dual;
    memcpy(a->best_price, a->price, sizeof a->price);
    memcpy(a->best_slope, a->slope, sizeof a->slope);
}

/* Keeps what was tried if it is the best: the least score, or the least overuse while nothing
 * fits. */
static void keep_better(struct ascent *a, bool fits)
{
    struct esp *e = a->e;
    struct esp_result *result = a->result;
    bool better = fits ? e->tried.score < result->score
                       : !result->feasible &&
                             (result->n_repairs == 0 || choice_over(&e->set, e->tried.usage) <
                                                            choice_over(&e->set, e->best.usage));
    result->n_repairs++;
    if (!better)
        return;
    choice_copy(&e->best, &e->tried, e->set.p->n_jobs);
    result->feasible = fits;
    result->score = fits ? e->best.score : INFINITY;
}

/* Repairs what jobs choose at some prices. */
static void repair(struct ascent *a, const double *price)
{
    struct esp *e = a->e;
    choice_at_prices(&e->set, price, &e->tried);
    keep_better(a, repair_run(&e->repair, &e->set, price, &e->tried));
}

/* At the prices of the bound: the nearer it is to the optimum, the less there is to repair. */
static void repair_best(struct ascent *a)
{
    if (a->repaired_bound >= a->result->bound)
        return;
    a->repaired_bound = a->result->bound;
    repair(a, a->best_price);
}

/* The way up: the slope, without the part that would push a price out of its range, and turned so
 * that it does not lead back against the last step (Camerini, Fratta and Maffioli 1975). */
static double way_up(struct ascent *a, double *way)
{
    double back = 0, last = 0, length = 0;
    for (int32_t r = 0; r < a->n_res; r++) {
        bool at_floor = a->price[r] <= 0 && a->slope[r] < 0;
        bool at_ceiling = a->price[r] >= a->e->set.ceiling[r] && a->slope[r] > 0;
        way[r] = at_floor || at_ceiling ? 0 : a->slope[r];
        back += way[r] * a->direction[r];
        last += a->direction[r] * a->direction[r];
    }
    for (int32_t r = 0; r < a->n_res; r++) {
        way[r] -= back < 0 ? back / last * a->direction[r] : 0;
        length += way[r] * way[r];
    }
    return length;
}

static void go(struct ascent *a, const double *way, double step)
{
    for (int32_t r = 0; r < a->n_res; r++) {
        double price = a->price[r] + step * way[r];
        price = price < a->e->set.ceiling[r] ? price : a->e->set.ceiling[r];
        a->price[r] = price > 0 ? price : 0;
    }
}

/* False where there is no way up: the prices are optimal. */
static bool step_polyak(struct ascent *a)
{
    if (a->n_failures >= FAILURES) {
        a->n_failures = 0;
        a->theta *= THETA_SHRINK;
        a->dual = a->result->bound;
        memcpy(a->price, a->best_price, sizeof a->price);
        memcpy(a->slope, a->best_slope, sizeof a->slope);
        memset(a->direction, 0, sizeof a->direction);
    }
    double way[CHOICE_RES_MAX] = {0}, length = way_up(a, way);
    if (length < CHOICE_SLACK * CHOICE_SLACK)
        return false;
    memcpy(a->direction, way, sizeof way);
    go(a, way, a->theta * (score_or_most(a) - a->dual) / length);
    return true;
}

static bool step_sqrt(struct ascent *a)
{
    double t = a->result->iterations + 1.0;
    go(a, a->slope, a->config->step_first * a->n_gpus / sqrt(t));
    return true;
}

static bool step(struct ascent *a)
{
    bool moved = a->config->step == ESP_STEP_POLYAK ? step_polyak(a) : step_sqrt(a);
    a->result->iterations += moved;
    return moved;
}

/* Almost fits, and what is paid for is used: no prices tell more. */
static bool settled(const struct ascent *a)
{
    double unpaid = 0;
    for (int32_t r = 0; r < a->n_res; r++) {
        if (a->slope[r] > OVERUSE_FRAC * a->e->set.capacity[r] && isinf(a->e->set.ceiling[r]))
            return false;
        unpaid += a->price[r] * fabs(a->slope[r]);
    }
    return unpaid <= a->config->gap_frac * score_or_most(a);
}

/* While nothing fits, at each look; then now and then. */
static void repair_in_time(struct ascent *a)
{
    int32_t t = a->result->iterations;
    if (!a->result->feasible)
        repair(a, a->price);
    else if (t >= 8 && (t & (t - 1)) == 0)
        repair_best(a);
}

static void ascend(struct ascent *a, int64_t iterations_max)
{
    bool stop = false;
    while (!stop && a->result->iterations < iterations_max && !close_enough(a) && step(a)) {
        look(a);
        stop = settled(a);
        if (stop)
            repair(a, a->price);
        else
            repair_in_time(a);
    }
    if (!close_enough(a))
        repair_best(a);
}

/* The last resort where no choice was found that fits. */
static void repair_footprint(struct ascent *a)
{
    struct esp *e = a->e;
    if (!a->result->feasible && !impossible(a))
        keep_better(a, repair_from_footprint(&e->repair, &e->set, a->best_price, &e->tried));
}

static void finish(struct ascent *a)
{
    struct esp_result *result = a->result;
    const struct choice *best = &a->e->best;
    result->option = best->option;
    memcpy(result->usage, best->usage, sizeof best->usage);
    result->impossible = impossible(a);
    double gap = result->score - result->bound;
    result->gap_frac = !result->feasible ? INFINITY : gap > 0 ? gap / result->score : 0;
}

/* A start at no prices; true where it is already the answer. */
static bool start_free(struct ascent *a)
{
    look(a);
    if (choice_over(&a->e->set, a->e->now.usage) > 0)
        return false;
    choice_copy(&a->e->best, &a->e->now, a->e->set.p->n_jobs);
    a->result->feasible = true;
    a->result->score = a->e->best.score;
    return close_enough(a);
}

void esp_solve(struct esp *e, const struct choice_problem *p, const struct esp_config *config,
               bool warm, double n_gpus, double *price, struct esp_result *result)
{
    struct ascent a;
    begin(&a, e, p, result);
    a.config = config;
    a.theta = config->theta;
    a.n_gpus = n_gpus;
    if (!start_free(&a)) {
        if (warm) {
            for (int32_t r = 0; r < p->n_res; r++)
                a.price[r] = price[r] > 0 && price[r] < 1e300 ? price[r] : 0;
            look(&a);
        }
        repair_best(&a);
        ascend(&a, warm ? config->iterations_warm : config->iterations_cold);
        repair_footprint(&a);
    }
    memcpy(price, a.best_price, (size_t)p->n_res * sizeof *price);
    finish(&a);
}

void esp_greedy(struct esp *e, const struct choice_problem *p, struct esp_result *result)
{
    struct ascent a;
    begin(&a, e, p, result);
    look(&a);
    repair_best(&a);
    repair_footprint(&a);
    finish(&a);
}
