#include "sim/run/state_carry.h"

#include "core/elastico/arrivals.h"

#include <math.h>
#include <string.h>

/* One pair as a row of the table. */
static enum status read_pair(const struct carry *in, const json_t *pair, size_t row,
                             struct error *err)
{
    struct table *t = in->profiled;
    static const char *const key[] = {"workload", "config"};
    const struct spot at = {"profiled", NULL, (int64_t)row};
    for (int c = 0; c < 2; c++) {
        const json_t *text = json_object_get(pair, key[c]);
        if (!json_is_string(text) || json_object_size(pair) != 2)
            return spot_wrong(&in->text, &at,
                              fail(err, ST_INPUT, "want {\"workload\": …, \"config\": …}"), err);
        t->cell[2 * row + (size_t)c] =
            arena_text(&t->arena, json_string_value(text), json_string_length(text));
        if (t->cell[2 * row + (size_t)c] == NULL)
            return fail_memory(err);
    }
    t->line[row] = spot_line(&in->text, &at);
    return ST_OK;
}

/* What was profiled, where it says so. */
static enum status read_profiled(const struct carry *in, struct error *err)
{
    const struct spot at = {"profiled", NULL, -1};
    const json_t *list = json_object_get(in->root, at.section);
    struct table *t = in->profiled;
    size_t n = json_array_size(list);
    if (list == NULL)
        return ST_OK;
    if (!json_is_array(list))
        return spot_wrong(&in->text, &at, fail(err, ST_INPUT, "want \"profiled\": a list of pairs"),
                          err);
    t->column = arena_alloc(&t->arena, 2, sizeof *t->column);
    t->cell = arena_alloc(&t->arena, 2 * n, sizeof *t->cell);
    t->line = arena_alloc(&t->arena, n, sizeof *t->line);
    if (t->column == NULL || t->cell == NULL || t->line == NULL)
        return fail_memory(err);
    t->column[0] = "workload";
    t->column[1] = "config";
    t->n_columns = 2;
    t->n_rows = (int32_t)n;
    t->path = in->text.name;
    for (size_t row = 0; row < n; row++)
        TRY(read_pair(in, json_array_get(list, row), row, err));
    return ST_OK;
}

static bool is_time(const json_t *value)
{
    return json_is_number(value) && fabs(json_number_value(value)) <= 1e12;
}

/* arrivals: how much came, as a plan said; times on the clock of now_s. */
static enum status read_arrivals(const struct carry *in, struct error *err)
{
    const json_t *given = json_object_get(in->root, "arrivals");
    const json_t *from = json_object_get(given, "from_s"), *gpu_s = json_object_get(given, "gpu_s"),
                 *until = json_object_get(given, "until_s");
    size_t n = json_array_size(gpu_s);
    bool good = json_is_array(gpu_s) && n <= ARRIVAL_CLASSES && is_time(from) && is_time(until) &&
                json_number_value(from) <= json_number_value(until);
    if (given == NULL)
        return ST_OK;
    struct arrivals *a = arena_alloc(in->arena, 1, sizeof *a);
    if (a == NULL)
        return fail_memory(err);
    for (size_t i = 0; i < n && good; i++) {
        a->gpu_s[i] = json_number_value(json_array_get(gpu_s, i));
        good = json_is_number(json_array_get(gpu_s, i)) && a->gpu_s[i] >= 0;
    }
    if (!good)
        return spot_wrong(&in->text, &(struct spot){"arrivals", NULL, -1},
                          fail(err, ST_INPUT, "want \"arrivals\": those of a plan"), err);
    a->from_us = us_of_s(json_number_value(from) - *in->now_s);
    a->until_us = us_of_s(json_number_value(until) - *in->now_s);
    in->memory->arrivals = a;
    return ST_OK;
}

static enum status read_prices(const struct carry *in, struct error *err)
{
    struct memory *m = in->memory;
    const struct spot at = {"prices", NULL, -1};
    const json_t *list = json_object_get(in->root, at.section);
    if (list != NULL && (!json_is_array(list) || json_array_size(list) > EPOCH_PRICES_MAX))
        return spot_wrong(&in->text, &at, fail(err, ST_INPUT, "want \"prices\": those of a plan"),
                          err);
    for (size_t r = 0; r < json_array_size(list); r++) {
        const json_t *price = json_array_get(list, r);
        if (!json_is_number(price) || !(json_number_value(price) >= 0))
            return spot_wrong(&in->text, &at, fail(err, ST_INPUT, "want \"prices\" of 0 or more"),
                              err);
        m->price[m->n_prices++] = json_number_value(price);
    }
    return ST_OK;
}

/* There is no other key. */
static enum status known_only(const struct carry *in, struct error *err)
{
    static const char *const known[] = {"arrivals", "cluster", "now_s",  "prices",
                                        "profiled", "running", "waiting"};
    for (void *i = json_object_iter(in->root); i != NULL; i = json_object_iter_next(in->root, i)) {
        const char *key = json_object_iter_key(i);
        bool is_known = false;
        for (size_t k = 0; k < sizeof known / sizeof *known; k++)
            is_known = is_known || strcmp(key, known[k]) == 0;
        if (!is_known)
            return spot_wrong(&in->text, &(struct spot){key, NULL, -1},
                              fail(err, ST_INPUT,
                                   "unknown key '%s', want arrivals, cluster, now_s, prices, "
                                   "profiled, running and waiting",
                                   key),
                              err);
    }
    return ST_OK;
}

enum status carry_read(const struct carry *in, struct error *err)
{
    const json_t *now_s = json_object_get(in->root, "now_s");
    TRY(known_only(in, err));
    if (now_s != NULL && !is_time(now_s))
        return spot_wrong(&in->text, &(struct spot){"now_s", NULL, -1},
                          fail(err, ST_INPUT, "want \"now_s\": seconds, up to 1e12"), err);
    *in->now_s = json_number_value(now_s);
    TRY(read_prices(in, err));
    TRY(read_arrivals(in, err));
    return read_profiled(in, err);
}
