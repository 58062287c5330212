#include "core/elastico/esp.h"

#include "core/elastico/exchange.h"

#include <math.h>
#include <string.h>

/* Steps of ESP_STEP_MIX end this part of the way from the prices of the bound to the mixture's. */
#define MIX_WAY 0.7
/* Prices are settled when the mixture is nearer to the bound than this part of gap_frac. */
#define SETTLED 0.4

/* Polyak steps that gain less than GAIN_FRAC of the gap are failures; after so many in a row theta
 * shrinks and the search goes on from the best prices. */
#define GAIN_FRAC    1e-3
#define THETA_SHRINK 0.6
enum { FAILURES = 5 };

enum { FEW = 64 }; /* jobs; another repair costs little */

enum { REPAIR_FIRST = 8 }; /* the iteration of the first repair; later ones at twice the last */

#define NO_WAY 1e-18 /* squared length of a step; less is none */

const char *const esp_step_names[] = {"mix", "polyak", "sqrt", NULL};

/* The state of one solve. */
struct search {
    struct esp *e;
    const struct esp_config *config;
    int32_t n_res;
    double price[CHOICE_RES_MAX], slope[CHOICE_RES_MAX]; /* where the search is */
    double dual;
    double best_price[CHOICE_RES_MAX], best_slope[CHOICE_RES_MAX]; /* of the bound */
    double last_way[CHOICE_RES_MAX], theta;                        /* polyak */
    int32_t n_failures;
    struct esp_result *result;
};

bool esp_init(struct esp *e, int32_t n_jobs, int32_t n_options, int32_t n_rows, struct arena *a)
{
    return choice_set_init(&e->set, n_jobs, n_options, n_rows, a) && mix_init(&e->mix, n_jobs, a) &&
           repair_init(&e->repair, n_jobs, a) && choice_init(&e->now, n_jobs, a) &&
           choice_init(&e->tried, n_jobs, a) && choice_init(&e->best, n_jobs, a);
}

static void begin(struct search *a, struct esp *e, const struct choice_problem *p,
                  struct esp_result *result)
{
    choice_set_load(&e->set, p);
    mix_reset(&e->mix);
    *result = (struct esp_result){.score = INFINITY, .bound = -INFINITY};
    *a = (struct search){.e = e, .n_res = p->n_res, .result = result};
}

/* Above every bound that prices can give, if anything fits. */
static double aim(const struct search *a)
{
    return a->e->mix.full ? a->e->mix.value : a->e->set.score_max;
}

/* No choice scores more than score_max, so nothing fits where the bound is above it. */
static bool impossible(const struct search *a)
{
    double most = a->e->set.score_max;
    return !a->result->feasible && a->result->bound > most + CHOICE_SLACK * (1 + most);
}

static bool close_enough(const struct search *a)
{
    const struct esp_result *result = a->result;
    return result->feasible && result->score - result->bound <= a->config->gap_frac * result->score;
}

/* The mixture fits and is paid for: no prices tell more. */
static bool settled(const struct search *a)
{
    const struct mix *m = &a->e->mix;
    return m->full && m->value - a->result->bound <= SETTLED * a->config->gap_frac * m->value;
}

/* What jobs choose at the prices of a: keeps the bound, adds it to the mixture. */
static void look(struct search *a)
{
    struct esp *e = a->e;
    struct esp_result *result = a->result;
    a->dual = choice_at_prices(&e->set, a->price, &e->now);
    for (int32_t r = 0; r < a->n_res; r++)
        a->slope[r] = e->now.usage[r] - e->set.capacity[r];
    bool gained =
        isinf(result->bound) || a->dual > result->bound + GAIN_FRAC * (aim(a) - result->bound);
    a->n_failures = gained ? 0 : a->n_failures + 1;
    if (a->dual > result->bound) {
        result->bound = a->dual;
        memcpy(a->best_price, a->price, sizeof a->price);
        memcpy(a->best_slope, a->slope, sizeof a->slope);
    }
    mix_add(&e->mix, &e->set, &e->now);
}

/* Keeps what was tried if it is the best: the least score, or the least overuse while nothing
 * fits. */
static void keep_better(struct search *a, bool fits)
{
    struct esp *e = a->e;
    struct esp_result *result = a->result;
    bool first = result->n_repairs++ == 0;
    bool better = fits ? e->tried.score < result->score
                       : !result->feasible && (first || choice_over(&e->set, e->tried.usage) <
                                                            choice_over(&e->set, e->best.usage));
    if (!better)
        return;
    choice_copy(&e->best, &e->tried, e->set.p->n_jobs);
    result->feasible = fits;
    if (fits) {
        result->score = e->best.score;
        mix_add(&e->mix, &e->set, &e->best);
    }
}

/* Repairs what is in tried, at the prices of the bound. */
static void repair(struct search *a)
{
    struct esp *e = a->e;
    keep_better(a, repair_run(&e->repair, &e->set, a->best_price, &e->tried));
}

static void repair_best(struct search *a)
{
    choice_at_prices(&a->e->set, a->best_price, &a->e->tried);
    repair(a);
}

/* What jobs would choose for themselves: the greedy choice. Where jobs are few it may be better. */
static void repair_free(struct search *a)
{
    static const double none[CHOICE_RES_MAX] = {0};
    struct esp *e = a->e;
    choice_at_prices(&e->set, none, &e->tried);
    keep_better(a, repair_run(&e->repair, &e->set, none, &e->tried));
}

static void repair_mix(struct search *a)
{
    if (!a->e->mix.full) {
        repair_best(a);
        return;
    }
    mix_round(&a->e->mix, &a->e->set, &a->e->tried);
    repair(a);
}

/* What jobs have now; the new ones choose at the prices of the bound. */
static void repair_current(struct search *a)
{
    struct choice_set *s = &a->e->set;
    struct choice *c = &a->e->tried;
    const int32_t *current = s->p->current;
    choice_at_prices(s, a->best_price, c);
    for (int32_t j = 0; j < s->p->n_jobs; j++)
        if (current[j] >= 0 && !isinf(s->cost[current[j]]))
            c->option[j] = current[j];
    choice_measure(s, c);
    repair(a);
}

/* The last resorts where no choice was found that fits: each that is kept in the mixture, if need
 * be with pairs of moves, then the minimum footprint. */
static void repair_all(struct search *a)
{
    struct esp *e = a->e;
    for (int32_t i = 0; i < e->mix.n && !a->result->feasible; i++) {
        memcpy(e->tried.option, e->mix.option[i],
               (size_t)e->set.p->n_jobs * sizeof *e->tried.option);
        choice_measure(&e->set, &e->tried);
        repair(a);
        if (!a->result->feasible && !impossible(a) && exchange_run(&e->set, &e->tried))
            repair(a);
    }
    if (!a->result->feasible)
        keep_better(a, repair_from_footprint(&e->repair, &e->set, a->best_price, &e->tried));
}

static void go(struct search *a, const double *from, const double *way, double step)
{
    for (int32_t r = 0; r < a->n_res; r++) {
        double price = from[r] + step * way[r];
        price = price < a->e->set.ceiling[r] ? price : a->e->set.ceiling[r];
        a->price[r] = price > 0 ? price : 0;
    }
}

/* Stabilised column generation (Wentges 1997): the mixture's prices alone would jump about. */
static bool step_mix(struct search *a)
{
    double way[CHOICE_RES_MAX], length = 0;
    for (int32_t r = 0; r < a->n_res; r++) {
        way[r] = a->e->mix.price[r] - a->best_price[r];
        length += way[r] * way[r];
    }
    go(a, a->best_price, way, MIX_WAY);
    return length > NO_WAY;
}

/* The way up: the slope, without the part that would push a price out of its range, and turned so
 * that it does not lead back against the last step (Camerini, Fratta and Maffioli 1975). */
static double way_up(const struct search *a, double *way)
{
    double back = 0, last = 0, length = 0;
    for (int32_t r = 0; r < a->n_res; r++) {
        bool at_floor = a->price[r] <= 0 && a->slope[r] < 0;
        bool at_ceiling = a->price[r] >= a->e->set.ceiling[r] && a->slope[r] > 0;
        way[r] = at_floor || at_ceiling ? 0 : a->slope[r];
        back += way[r] * a->last_way[r];
        last += a->last_way[r] * a->last_way[r];
    }
    for (int32_t r = 0; r < a->n_res; r++) {
        way[r] -= back < 0 ? back / last * a->last_way[r] : 0;
        length += way[r] * way[r];
    }
    return length;
}

static bool step_polyak(struct search *a)
{
    if (a->n_failures >= FAILURES) {
        a->n_failures = 0;
        a->theta *= THETA_SHRINK;
        a->dual = a->result->bound;
        memcpy(a->price, a->best_price, sizeof a->price);
        memcpy(a->slope, a->best_slope, sizeof a->slope);
        memset(a->last_way, 0, sizeof a->last_way);
    }
    double way[CHOICE_RES_MAX] = {0}, length = way_up(a, way);
    if (length <= NO_WAY)
        return false;
    memcpy(a->last_way, way, sizeof way);
    go(a, a->price, way, a->theta * (aim(a) - a->dual) / length);
    return true;
}

static bool step_sqrt(struct search *a)
{
    double step = a->config->step_first * a->e->set.p->n_gpus / sqrt(a->result->iterations + 1.0);
    go(a, a->price, a->slope, step);
    return true;
}

/* False where there is nowhere to go: the prices are the best. */
static bool step(struct search *a)
{
    bool moved = false;
    switch ((enum esp_step)a->config->step) {
    case ESP_STEP_MIX: moved = step_mix(a); break;
    case ESP_STEP_POLYAK: moved = step_polyak(a); break;
    case ESP_STEP_SQRT: moved = step_sqrt(a); break;
    }
    a->result->iterations += moved;
    return moved;
}

static void climb(struct search *a, int64_t iterations_max)
{
    int32_t repair_next = REPAIR_FIRST;
    while (a->result->iterations < iterations_max && !close_enough(a) && !settled(a) &&
           !impossible(a) && step(a)) {
        look(a);
        if (a->result->iterations < repair_next)
            continue;
        repair_mix(a);
        repair_next *= 2;
    }
}

static void finish(struct search *a)
{
    struct esp_result *result = a->result;
    const struct choice *best = &a->e->best;
    result->option = best->option;
    memcpy(result->usage, best->usage, sizeof best->usage);
    result->impossible = impossible(a);
    double gap = result->score - result->bound;
    result->gap_frac = !result->feasible ? INFINITY : gap > 0 ? gap / result->score : 0;
}

/* At no prices; true where that is the answer. */
static bool start_free(struct search *a)
{
    look(a);
    if (choice_over(&a->e->set, a->e->now.usage) > 0)
        return false;
    choice_copy(&a->e->best, &a->e->now, a->e->set.p->n_jobs);
    a->result->feasible = true;
    a->result->score = a->e->best.score;
    return close_enough(a);
}

static void start_warm(struct search *a, const double *price)
{
    for (int32_t r = 0; r < a->n_res; r++) {
        double most = a->e->set.ceiling[r];
        bool known = price[r] > 0 && price[r] < 1e300;
        a->price[r] = !known ? 0 : price[r] < most ? price[r] : most;
    }
    look(a);
}

static void search(struct search *a, bool warm)
{
    const struct esp_config *config = a->config;
    if (a->e->set.p->current != NULL)
        repair_current(a);
    else if (warm)
        repair_best(a);
    climb(a, warm ? config->iterations_warm : config->iterations_cold);
    if (!close_enough(a))
        repair_mix(a);
    if (!close_enough(a))
        repair_best(a);
    if (!close_enough(a) && a->e->set.p->n_jobs <= FEW)
        repair_free(a);
    repair_all(a);
}

void esp_solve(struct esp *e, const struct choice_problem *p, const struct esp_config *config,
               bool warm, double *price, struct esp_result *result)
{
    struct search a;
    begin(&a, e, p, result);
    a.config = config;
    a.theta = config->theta;
    if (!start_free(&a)) {
        if (warm)
            start_warm(&a, price);
        search(&a, warm);
    }
    memcpy(price, a.best_price, (size_t)p->n_res * sizeof *price);
    finish(&a);
}

void esp_greedy(struct esp *e, const struct choice_problem *p, struct esp_result *result)
{
    struct search a;
    begin(&a, e, p, result);
    look(&a);
    repair_best(&a);
    repair_all(&a);
    finish(&a);
}
