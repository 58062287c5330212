#include "core/elastico/repair.h"

#include "core/elastico/undecided.h"

#include <assert.h>
#include <math.h>
#include <string.h>

/* Usage is kept by adding differences here, so a move must stay well inside CHOICE_SLACK. */
#define SLACK        (CHOICE_SLACK / 2)
#define GAIN_LEAST   1e-12 /* of a score or of overuse: less is rounding */
#define REGRET_LEAST 1e-9  /* less counts as this much: the larger relief is then the better */
#define LEFT_LEAST   1e-12 /* of a capacity; less left counts as this much */
#define SHARE_LEAST  1e-3  /* of what is left; a move that takes less counts as taking this much */
#define KEY_NEAR     1e-9  /* of a key; worked out anew it is no worse if it is as near */
#define NO_CAPACITY  1e30  /* above any usage; finite, so that differences are numbers */

/* How many jobs are looked at, and how many more for each job's worth of usage over or left. */
enum { LOOKED_LEAST = 64, LOOKED_PER_JOB = 8 };

enum { RESTARTS = 30, FILL_PASSES = 2 };

/* The best of the options from first to end - 1 instead of that now. */
typedef struct repair_move (*best_move_fn)(const struct repair *w, int32_t job, int32_t now,
                                           int32_t first, int32_t end);

bool repair_init(struct repair *w, int32_t n_jobs, struct arena *a)
{
    *w = (struct repair){.heap = arena_alloc(a, (size_t)n_jobs, sizeof *w->heap),
                         .behind = arena_alloc(a, 2 * (size_t)n_jobs, sizeof *w->behind),
                         .job = arena_alloc(a, (size_t)n_jobs, sizeof *w->job)};
    return w->heap != NULL && w->behind != NULL && w->job != NULL;
}

/* x where it is above 0, else 0: exact, and no branch. */
static double positive(double x) { return 0.5 * (x + fabs(x)); }

static double larger(double x, double y) { return x > y ? x : y; }

/* Without a branch: which it is cannot be foreseen. */
static bool before(struct repair_move a, struct repair_move b)
{
    return (a.key < b.key) | ((a.key == b.key) & (a.job < b.job));
}

static void sink(struct repair *w, int32_t i)
{
    struct repair_move e = w->heap[i];
    for (;;) {
        int32_t kid = 2 * i + 1;
        if (kid >= w->n_heap)
            break;
        kid += kid + 1 < w->n_heap && before(w->heap[kid + 1], w->heap[kid]);
        if (!before(w->heap[kid], e))
            break;
        w->heap[i] = w->heap[kid];
        i = kid;
    }
    w->heap[i] = e;
}

static void look_at_all(struct repair *w)
{
    w->n_looked = w->s->p->n_jobs;
    for (int32_t j = 0; j < w->n_looked; j++)
        w->job[j] = j;
}

/* At the undecided: more of them, the more is over or left. At no prices, at all. */
static void look_at_some(struct repair *w, const double *price, const struct choice *c)
{
    const struct choice_set *s = w->s;
    const int32_t n_jobs = s->p->n_jobs;
    double share = w->over;
    bool priced = false;
    for (int32_t r = 0; r < s->p->n_res; r++)
        if (price[r] > 0) {
            share += positive(w->capacity[r] - w->usage[r]) / s->capacity[r];
            priced = true;
        }
    double n = LOOKED_LEAST + LOOKED_PER_JOB * share * n_jobs;
    if (priced && n < n_jobs)
        w->n_looked = undecided_find(s, c, (int32_t)n, w->behind, w->job);
    else
        look_at_all(w);
}

/* Of least regret per overuse taken away. The rent counts in full while a resource is overused and
 * by half below that: what is given up there helps only if the fill finds a use for it. */
static struct repair_move best_shed(const struct repair *w, int32_t job, int32_t now, int32_t first,
                                    int32_t end)
{
    const struct choice_set *s = w->s;
    const double *demand_now = choice_demand(s, now), size = choice_size(s, job);
    const double score_now = s->cost[now] + 0.5 * (size * s->rent[s->row[now]] + w->over_rent);
    double rest[CHOICE_RES_MAX]; /* over, without this job */
    for (int32_t r = 0; r < s->width; r++)
        rest[r] = w->usage[r] - size * demand_now[r] - w->capacity[r];
    double best_regret = INFINITY, best_freed = 1;
    int32_t best = -1;
    for (int32_t o = first; o < end; o++) {
        const double *demand = choice_demand(s, o);
        double freed = w->over, rent = size * s->rent[s->row[o]];
        for (int32_t r = 0; r < s->width; r += CHOICE_LANES) {
            const double *d = demand + r, *price = w->price + r;
            const double over_0 = positive(rest[r] + size * d[0]);
            const double over_1 = positive(rest[r + 1] + size * d[1]);
            const double over_2 = positive(rest[r + 2] + size * d[2]);
            const double over_3 = positive(rest[r + 3] + size * d[3]);
            freed -= (over_0 + over_1) + (over_2 + over_3);
            rent +=
                (price[0] * over_0 + price[1] * over_1) + (price[2] * over_2 + price[3] * over_3);
        }
        const double score = s->cost[o] + 0.5 * rent - score_now;
        const double regret = w->at_any_cost ? 1 : larger(score, REGRET_LEAST);
        const bool better = (freed > GAIN_LEAST) & (regret * best_freed < best_regret * freed);
        best_regret = better ? regret : best_regret;
        best_freed = better ? freed : best_freed;
        best = better ? o : best;
    }
    return (struct repair_move){best_regret / best_freed, job, best};
}

/* What a move adds to the cost of soft resources. */
static double excess_added(const struct repair *w, const double *from, const double *to,
                           double size)
{
    double usage[CHOICE_RES_MAX];
    for (int32_t r = 0; r < w->s->p->n_res; r++)
        usage[r] = w->usage[r] + size * (to[r] - from[r]);
    return choice_excess_cost(w->s, usage) - w->excess_cost;
}

/* Of most gain for its share of what was left when the heap was built. */
static struct repair_move best_fill(const struct repair *w, int32_t job, int32_t now, int32_t first,
                                    int32_t end)
{
    const struct choice_set *s = w->s;
    const double *demand_now = choice_demand(s, now), size = choice_size(s, job);
    struct repair_move best = {INFINITY, job, -1};
    for (int32_t o = first; o < end; o++) {
        double change = s->cost[o] - s->cost[now];
        if (change - w->excess_cost >= -GAIN_LEAST)
            continue;
        const double *demand = choice_demand(s, o);
        double part = 0, share = SHARE_LEAST; /* of what is left, of what was */
        for (int32_t r = 0; r < s->p->n_res; r++) {
            double more = size * (demand[r] - demand_now[r]);
            part = larger(part, more * w->per_left[r]);
            share = larger(share, more * w->per_left_built[r]);
        }
        if (part > 1)
            continue;
        change += w->any_soft ? excess_added(w, demand_now, demand, size) : 0;
        if (change < -GAIN_LEAST && change < best.key * share)
            best = (struct repair_move){change / share, job, o};
    }
    return best;
}

static void look(struct repair *w)
{
    w->over = 0;
    w->over_rent = 0;
    for (int32_t r = 0; r < w->s->width; r++) {
        double over = positive(w->usage[r] - w->capacity[r]);
        w->over += over;
        w->over_rent += w->price[r] * over;
        w->per_left[r] = 1 / larger(w->capacity[r] + SLACK - w->usage[r], LEFT_LEAST);
    }
    w->excess_cost = w->any_soft ? choice_excess_cost(w->s, w->usage) : 0;
}

static unsigned overused(const struct repair *w)
{
    unsigned bits = 0;
    for (int32_t r = 0; r < w->s->width; r++)
        bits |= (unsigned)(w->usage[r] > w->capacity[r] + SLACK) << r;
    return bits;
}

static struct repair_move best_of_all(const struct repair *w, const struct choice *c, int32_t job,
                                      best_move_fn best_move)
{
    const int32_t *begin = w->s->p->begin;
    return best_move(w, job, c->option[job], begin[job], begin[job + 1]);
}

static void build(struct repair *w, const struct choice *c, best_move_fn best_move)
{
    memcpy(w->per_left_built, w->per_left, sizeof w->per_left);
    w->n_heap = 0;
    for (int32_t i = 0; i < w->n_looked; i++) {
        struct repair_move m = best_of_all(w, c, w->job[i], best_move);
        if (m.option >= 0)
            w->heap[w->n_heap++] = m;
    }
    for (int32_t i = w->n_heap / 2 - 1; i >= 0; i--)
        sink(w, i);
}

/* Another move for the job whose move is first, or none. */
static void replace_first(struct repair *w, struct repair_move m)
{
    w->heap[0] = m.option >= 0 ? m : w->heap[--w->n_heap];
    sink(w, 0);
}

static void make(struct repair *w, struct choice *c, int32_t job, int32_t option)
{
    const double *from = choice_demand(w->s, c->option[job]), *to = choice_demand(w->s, option);
    const double size = choice_size(w->s, job);
    for (int32_t r = 0; r < w->s->width; r++) {
        w->usage[r] += size * (to[r] - from[r]);
        w->freed = w->freed || to[r] < from[r];
    }
    c->option[job] = option;
    look(w);
}

/* Makes the best move of the jobs looked at; false where there is none. Keys mostly get worse as
 * moves are made: a move that is first and no worse than it was is the best. */
static bool make_best(struct repair *w, struct choice *c, best_move_fn best_move)
{
    while (w->n_heap > 0) {
        const struct repair_move first = w->heap[0];
        struct repair_move m =
            best_move(w, first.job, c->option[first.job], first.option, first.option + 1);
        bool good = m.option >= 0 && m.key <= first.key + KEY_NEAR * fabs(first.key);
        if (good)
            make(w, c, first.job, first.option);
        replace_first(w, best_of_all(w, c, first.job, best_move));
        if (good)
            return true;
    }
    return false;
}

/* Keys are worked out anew when another resource becomes overused, since moves that free it have
 * become better, and before giving up. */
static bool shed(struct repair *w, struct choice *c)
{
    unsigned bits = overused(w), bits_built = 0;
    bool moved = false; /* since keys were worked out */
    while (bits != 0) {
        if ((bits & ~bits_built) != 0) {
            build(w, c, best_shed);
            bits_built = bits;
            moved = false;
        }
        if (make_best(w, c, best_shed)) {
            moved = true;
            bits = overused(w);
            bits_built &= bits;
        } else if (moved || w->n_looked < w->s->p->n_jobs) {
            look_at_all(w);
            bits_built = 0;
        } else {
            return false;
        }
    }
    return true;
}

static void fill(struct repair *w, struct choice *c)
{
    w->freed = true;
    for (int pass = 0; pass < FILL_PASSES && w->freed; pass++) {
        w->freed = false;
        build(w, c, best_fill);
        while (make_best(w, c, best_fill))
            ;
    }
}

static void start(struct repair *w, const double *price, const struct choice *c)
{
    memcpy(w->usage, c->usage, sizeof w->usage);
    look(w);
    look_at_some(w, price, c);
}

static void load(struct repair *w, const struct choice_set *s, const double *price)
{
    w->s = s;
    memset(w->price, 0, sizeof w->price);
    memcpy(w->price, price, (size_t)s->p->n_res * sizeof *price);
    w->any_soft = false;
    for (int32_t r = 0; r < s->width; r++) {
        bool soft = !isinf(s->ceiling[r]);
        w->capacity[r] = soft || r >= s->p->n_res ? NO_CAPACITY : s->capacity[r];
        w->any_soft = w->any_soft || soft;
    }
}

static bool finish(struct repair *w, bool fits, struct choice *c)
{
    if (fits)
        fill(w, c);
    choice_measure(w->s, c);
    assert(!fits || choice_over(w->s, c->usage) <= 0);
    return fits;
}

bool repair_run(struct repair *w, struct choice_set *s, const double *price, struct choice *c)
{
    load(w, s, price);
    w->at_any_cost = false;
    choice_rents(s, price);
    start(w, price, c);
    return finish(w, shed(w, c), c);
}

bool repair_from_footprint(struct repair *w, struct choice_set *s, const double *price,
                           struct choice *c)
{
    load(w, s, price);
    w->at_any_cost = true;
    double high[CHOICE_RES_MAX]; /* so high that the cost only parts equals */
    for (int32_t r = 0; r < s->p->n_res; r++)
        high[r] = 1e6 * (s->score_max + 1) / w->capacity[r];
    bool fits = false;
    for (int i = 0; i < RESTARTS && !fits; i++) {
        choice_at_prices(s, high, c);
        choice_rents(s, price);
        start(w, price, c);
        look_at_all(w);
        fits = shed(w, c);
        for (int32_t r = 0; r < s->p->n_res; r++)
            high[r] *= w->usage[r] > w->capacity[r] + SLACK ? 1.5 : 1;
    }
    return finish(w, fits, c);
}
