#include "sim/results/lanes.h"

#include "core/base/arena.h"

#include <stdint.h>
#include <stdlib.h>

struct bar {
    int64_t end_us;
    int lane, parts;
};

struct lanes {
    int n_users;     /* SQL functions that refer to it */
    struct bar *bar; /* (n) */
    size_t n, capacity;
    int64_t (*there)[LANES_MAX]; /* (n_cards) by lane: the bar on it just now, or -1 */
    size_t n_cards, card_capacity;
};

static bool reach(struct lanes *l, size_t n_cards)
{
    if (!ARRAY_GROW(l->there, l->card_capacity, n_cards))
        return false;
    for (; l->n_cards < n_cards; l->n_cards++)
        for (int k = 0; k < LANES_MAX; k++)
            l->there[l->n_cards][k] = -1;
    return true;
}

/* The lanes that are taken on any of the cards, as bits; bars that have ended leave. */
static unsigned taken_lanes(struct lanes *l, size_t card, size_t n, int64_t start_us)
{
    unsigned taken = 0;
    for (size_t i = card; i < card + n; i++)
        for (int k = 0; k < LANES_MAX; k++) {
            int64_t *there = &l->there[i][k];
            if (*there >= 0 && l->bar[*there].end_us <= start_us)
                *there = -1;
            taken |= *there >= 0 ? 1U << k : 0;
        }
    return taken;
}

/* The new bar, already there, and those that it meets part the height among them. */
static void part(struct lanes *l, size_t card, size_t n, struct bar *new)
{
    for (size_t i = card; i < card + n; i++)
        for (int k = 0; k < LANES_MAX; k++) {
            struct bar *other = l->there[i][k] >= 0 ? &l->bar[l->there[i][k]] : new;
            if (other == new)
                continue;
            int parts = (other->lane > new->lane ? other->lane : new->lane) + 1;
            other->parts = parts > other->parts ? parts : other->parts;
            new->parts = other->parts > new->parts ? other->parts : new->parts;
        }
}

static void place(sqlite3_context *context, int argc, sqlite3_value **argv)
{
    (void)argc;
    struct lanes *l = sqlite3_user_data(context);
    size_t card = (size_t)sqlite3_value_int64(argv[0]), n = (size_t)sqlite3_value_int64(argv[1]);
    int64_t start_us = sqlite3_value_int64(argv[2]), end_us = sqlite3_value_int64(argv[3]);
    if (!reach(l, card + n) || !ARRAY_GROW(l->bar, l->capacity, l->n + 1)) {
        sqlite3_result_error_nomem(context);
        return;
    }
    unsigned taken = taken_lanes(l, card, n, start_us);
    int lane = 0;
    while (lane < LANES_MAX - 1 && (taken & 1U << lane) != 0)
        lane++;
    l->bar[l->n] = (struct bar){end_us, lane, 1};
    for (size_t i = card; i < card + n; i++)
        l->there[i][lane] = (int64_t)l->n;
    part(l, card, n, &l->bar[l->n]);
    sqlite3_result_int64(context, (int64_t)l->n++);
}

static const struct bar *bar_of(sqlite3_context *context, sqlite3_value *number)
{
    const struct lanes *l = sqlite3_user_data(context);
    size_t i = (size_t)sqlite3_value_int64(number);
    return i < l->n ? &l->bar[i] : NULL;
}

static void lane_of(sqlite3_context *context, int argc, sqlite3_value **argv)
{
    (void)argc;
    const struct bar *bar = bar_of(context, argv[0]);
    if (bar != NULL)
        sqlite3_result_int(context, bar->lane);
}

static void parts_of(sqlite3_context *context, int argc, sqlite3_value **argv)
{
    (void)argc;
    const struct bar *bar = bar_of(context, argv[0]);
    if (bar != NULL)
        sqlite3_result_int(context, bar->parts);
}

static void forget(void *data)
{
    struct lanes *l = data;
    if (--l->n_users > 0)
        return;
    free(l->bar);
    free(l->there);
    free(l);
}

/* SQLite calls forget for each function, also where it cannot be made. */
int lanes_register(sqlite3 *db)
{
    static const struct {
        const char *name;
        int n_arguments;
        void (*call)(sqlite3_context *, int, sqlite3_value **);
    } function[] = {{"place", 4, place}, {"lane", 1, lane_of}, {"parts", 1, parts_of}};
    struct lanes *l = calloc(1, sizeof *l);
    int code = l != NULL ? SQLITE_OK : SQLITE_NOMEM;
    for (size_t i = 0; i < 3 && code == SQLITE_OK; i++) {
        l->n_users++;
        code = sqlite3_create_function_v2(db, function[i].name, function[i].n_arguments,
                                          SQLITE_UTF8, l, function[i].call, NULL, NULL, forget);
    }
    return code;
}
