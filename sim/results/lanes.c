#include "sim/results/lanes.h"

#include "core/base/arena.h"

#include <stdint.h>
#include <stdlib.h>

struct lanes {
    int64_t (*end_us)[LANES_MAX]; /* (n_cards) until when a lane is taken */
    size_t n_cards, capacity;
};

/* New cards are free at any time, before zero too. */
static bool reach(struct lanes *l, size_t n_cards)
{
    if (!ARRAY_GROW(l->end_us, l->capacity, n_cards))
        return false;
    for (; l->n_cards < n_cards; l->n_cards++)
        for (int k = 0; k < LANES_MAX; k++)
            l->end_us[l->n_cards][k] = INT64_MIN;
    return true;
}

static bool is_free(const struct lanes *l, size_t card, size_t n, int lane, int64_t start_us)
{
    for (size_t i = card; i < card + n; i++)
        if (l->end_us[i][lane] > start_us)
            return false;
    return true;
}

static void lane_of(sqlite3_context *context, int argc, sqlite3_value **argv)
{
    (void)argc;
    struct lanes *l = sqlite3_user_data(context);
    size_t card = (size_t)sqlite3_value_int64(argv[0]), n = (size_t)sqlite3_value_int64(argv[1]);
    int64_t start_us = sqlite3_value_int64(argv[2]), end_us = sqlite3_value_int64(argv[3]);
    int lane = 0;
    if (!reach(l, card + n)) {
        sqlite3_result_error_nomem(context);
        return;
    }
    while (lane < LANES_MAX - 1 && !is_free(l, card, n, lane, start_us))
        lane++;
    for (size_t i = card; i < card + n; i++)
        l->end_us[i][lane] = end_us;
    sqlite3_result_int(context, lane);
}

static void forget(void *data)
{
    struct lanes *l = data;
    free(l->end_us);
    free(l);
}

int lanes_register(sqlite3 *db)
{
    struct lanes *l = calloc(1, sizeof *l);
    if (l == NULL)
        return SQLITE_NOMEM;
    return sqlite3_create_function_v2(db, "lane", 4, SQLITE_UTF8, l, lane_of, NULL, NULL, forget);
}
