#include "sim/results/quantile.h"

#include "core/base/arena.h"

#include <stdlib.h>

struct sorting {
    double *value; /* (n) */
    size_t n, capacity;
    double share;
};

static void take(sqlite3_context *context, int argc, sqlite3_value **argv)
{
    (void)argc;
    struct sorting *s = sqlite3_aggregate_context(context, sizeof *s);
    if (s == NULL || sqlite3_value_type(argv[0]) == SQLITE_NULL)
        return;
    if (!ARRAY_GROW(s->value, s->capacity, s->n + 1)) {
        sqlite3_result_error_nomem(context);
        return;
    }
    s->value[s->n++] = sqlite3_value_double(argv[0]);
    s->share = sqlite3_value_double(argv[1]);
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void answer(sqlite3_context *context)
{
    struct sorting *s = sqlite3_aggregate_context(context, 0);
    if (s == NULL || s->n == 0)
        return;
    qsort(s->value, s->n, sizeof *s->value, by_value);
    double place = s->share * (double)(s->n - 1);
    size_t below = (size_t)place;
    double step = below + 1 < s->n ? s->value[below + 1] - s->value[below] : 0;
    sqlite3_result_double(context, s->value[below] + (place - (double)below) * step);
    free(s->value);
}

int quantile_register(sqlite3 *db)
{
    return sqlite3_create_function(db, "quantile", 2, SQLITE_UTF8 | SQLITE_DETERMINISTIC, NULL,
                                   NULL, take, answer);
}
