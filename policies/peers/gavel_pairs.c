#include "policies/peers/gavel_pairs.h"

#include "core/base/simplex.h"

#include <string.h>

static double kept(const struct gavel_classes *c, int32_t a, int32_t b)
{
    return c->keeps[(int64_t)a * c->n + b];
}

static bool may_pair(const struct gavel_classes *c, int32_t a, int32_t b)
{
    bool types = c->pool[a] == c->pool[b] || c->pool[a] < 0 || c->pool[b] < 0;
    return types && c->gpus[a] == c->gpus[b] && kept(c, a, b) > 0 && kept(c, b, a) > 0 &&
           kept(c, a, b) + kept(c, b, a) > 1 && (a != b || c->n_jobs[a] >= 2);
}

static int32_t list_units(const struct gavel_classes *c, struct gavel_unit *unit)
{
    int32_t n = 0;
    for (int32_t a = 0; a < c->n; a++)
        unit[n++] = (struct gavel_unit){a, -1, 0};
    for (int32_t a = 0; a < c->n; a++)
        for (int32_t b = a; b < c->n; b++)
            if (may_pair(c, a, b))
                unit[n++] = (struct gavel_unit){a, b, 0};
    return n;
}

/* Of one unit running all the time: throughput that the class has of it, and its jobs at work. */
static double gain_of(const struct gavel_classes *c, const struct gavel_unit *u, int32_t class)
{
    if (u->b < 0)
        return u->a == class;
    return (u->a == class ? kept(c, u->a, u->b) : 0) + (u->b == class ? kept(c, u->b, u->a) : 0);
}

static double jobs_of(const struct gavel_unit *u, int32_t class)
{
    return (u->a == class) + (u->b == class);
}

static int32_t pool_of(const struct gavel_classes *c, const struct gavel_unit *u)
{
    return c->pool[u->a] >= 0 || u->b < 0 ? c->pool[u->a] : c->pool[u->b];
}

/* Rows: throughput of each class, time of each class, GPUs of each type, GPUs of all. Columns: the
 * units, then the level. */
static void fill_rows(const struct gavel_classes *c, const struct gavel_unit *unit, int32_t n_units,
                      double *a, double *b, double *cost)
{
    int32_t width = n_units + 1, time = c->n, types = 2 * c->n, all = types + c->n_pools;
    for (int32_t i = 0; i < c->n; i++) {
        a[(int64_t)i * width + n_units] = c->need[i];
        b[time + i] = c->n_jobs[i];
    }
    for (int32_t pool = 0; pool < c->n_pools; pool++)
        b[types + pool] = c->room[pool];
    b[all] = c->room_all;
    cost[n_units] = 1;
    for (int32_t u = 0; u < n_units; u++) {
        const struct gavel_unit *one = &unit[u];
        for (int side = 0; side < (one->b < 0 || one->a == one->b ? 1 : 2); side++) {
            int32_t class = side == 0 ? one->a : one->b;
            a[(int64_t) class * width + u] = -gain_of(c, one, class);
            a[(int64_t)(time + class) * width + u] = jobs_of(one, class);
            cost[width + u] += gain_of(c, one, class) * c->gpus[class];
        }
        if (pool_of(c, one) >= 0 && c->n_pools > 0)
            a[(int64_t)(types + pool_of(c, one)) * width + u] = c->gpus[one->a];
        a[(int64_t)all * width + u] = c->gpus[one->a];
    }
}

int32_t gavel_pair_units(const struct gavel_classes *c, struct gavel_unit *unit, double *level,
                         struct arena *scratch)
{
    struct arena_mark mark = arena_mark(scratch);
    int32_t n_units = list_units(c, unit), rows = 2 * c->n + c->n_pools + 1, n = -1;
    size_t width = (size_t)n_units + 1;
    double *a = arena_alloc(scratch, (size_t)rows * width, sizeof *a);
    double *b = arena_alloc(scratch, (size_t)rows, sizeof *b);
    double *cost = arena_alloc(scratch, 2 * width, sizeof *cost);
    double *x = arena_alloc(scratch, width, sizeof *x);
    if (a != NULL && b != NULL && cost != NULL && x != NULL) {
        fill_rows(c, unit, n_units, a, b, cost);
        if (simplex_max(rows, n_units + 1, a, b, 2, cost, x, scratch) == SIMPLEX_OPTIMAL) {
            *level = x[n_units];
            n = 0;
            for (int32_t u = 0; u < n_units; u++)
                if (x[u] > SIMPLEX_EPS)
                    unit[n++] = (struct gavel_unit){unit[u].a, unit[u].b, x[u]};
        }
    }
    arena_reset(scratch, mark);
    return n;
}

double gavel_throughput(const struct gavel_classes *c, const struct gavel_unit *unit,
                        int32_t n_units, int32_t class)
{
    double sum = 0;
    for (int32_t u = 0; u < n_units; u++)
        sum += unit[u].runs * gain_of(c, &unit[u], class);
    return sum;
}
