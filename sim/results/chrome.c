#include "sim/results/chrome.h"

#include "core/base/arena.h"
#include "core/base/units.h"
#include "sim/results/quote.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

/* A row on the screen: bars on it follow each other. */
struct lane {
    int64_t end_us; /* of its last bar */
    int32_t next;   /* of the same card, -1 ends */
};

struct chrome {
    struct output *to;
    const char *comma; /* before the next event */
    int64_t shift_us;
    int32_t *card; /* (n_nodes + 1) first card of a node; its last stands for "no card" */
    size_t n_nodes, node_capacity;
    int32_t *first; /* (n_cards) first lane, -1 for none yet */
    size_t n_cards, card_capacity;
    struct lane *lane;
    size_t n_lanes, lane_capacity;
};

static void event_open(struct chrome *c, const char *phase, const char *name, size_t n)
{
    FILE *f = c->to->file;
    fprintf(f, "%s\n{\"ph\":\"%s\",\"name\":", c->comma, phase);
    quote_json_name(f, name, n);
    c->comma = ",";
}

static bool add_node(struct chrome *c, sqlite3_stmt *row)
{
    FILE *f = c->to->file;
    int32_t n_cards = (int32_t)ceil(sqlite3_column_double(row, 1)) + 1;
    if (!ARRAY_GROW(c->card, c->node_capacity, c->n_nodes + 2) ||
        !ARRAY_GROW(c->first, c->card_capacity, c->n_cards + (size_t)n_cards))
        return false;
    for (int32_t i = 0; i < n_cards; i++)
        c->first[c->n_cards++] = -1;
    c->card[c->n_nodes + 1] = (int32_t)c->n_cards;
    event_open(c, "M", "process_name", 12);
    fprintf(f, ",\"pid\":%zu,\"args\":{\"name\":", c->n_nodes);
    quote_json_name(f, sqlite3_column_blob(row, 0), (size_t)sqlite3_column_bytes(row, 0));
    fputs("}}", f);
    c->n_nodes++;
    return true;
}

/* A new row below the others of the card, with its title. */
static int32_t add_lane(struct chrome *c, int32_t node, int32_t gpu, int32_t index)
{
    FILE *f = c->to->file;
    int32_t lane = (int32_t)c->n_lanes;
    if (!ARRAY_GROW(c->lane, c->lane_capacity, c->n_lanes + 1))
        return -1;
    c->lane[c->n_lanes++] = (struct lane){0, -1};
    event_open(c, "M", "thread_name", 11);
    fprintf(f, ",\"pid\":%d,\"tid\":%d,\"args\":{\"name\":\"", node, lane);
    if (gpu >= 0)
        fprintf(f, "GPU %d", gpu);
    else
        fputs("node", f);
    if (index > 0)
        fprintf(f, " (%d)", index + 1);
    fputs("\"}}", f);
    event_open(c, "M", "thread_sort_index", 17);
    fprintf(f, ",\"pid\":%d,\"tid\":%d,\"args\":{\"sort_index\":%d}}", node, lane,
            (gpu + 1) * 1000 + index);
    return lane;
}

/* The first row of the card that is free at the start, -1 when memory is out. gpu -1: no card. */
static int32_t find_lane(struct chrome *c, int32_t node, int32_t gpu, int64_t start_us,
                         int64_t end_us)
{
    int32_t card = gpu >= 0 ? c->card[node] + gpu : c->card[node + 1] - 1;
    int32_t lane = c->first[card], last = -1, index = 0;
    while (lane >= 0 && c->lane[lane].end_us > start_us) {
        last = lane;
        lane = c->lane[lane].next;
        index++;
    }
    if (lane < 0) {
        lane = add_lane(c, node, gpu, index);
        if (lane < 0)
            return -1;
        if (last < 0)
            c->first[card] = lane;
        else
            c->lane[last].next = lane;
    }
    c->lane[lane].end_us = end_us;
    return lane;
}

enum span_column {
    SPAN_JOB,
    SPAN_START,
    SPAN_END,
    SPAN_NODE,
    SPAN_GPU,
    SPAN_GPUS,
    SPAN_INST,
    SPAN_SHARE
};

static bool add_span(struct chrome *c, sqlite3_stmt *row)
{
    FILE *f = c->to->file;
    int64_t start_us = sqlite3_column_int64(row, SPAN_START);
    int64_t end_us = sqlite3_column_int64(row, SPAN_END);
    int32_t node = sqlite3_column_int(row, SPAN_NODE), gpu = sqlite3_column_int(row, SPAN_GPU);
    int32_t n_gpus = gpu >= 0 ? sqlite3_column_int(row, SPAN_GPUS) : 1;
    char share[32];
    for (int32_t i = 0; i < n_gpus; i++) {
        int32_t lane = find_lane(c, node, gpu >= 0 ? gpu + i : -1, start_us, end_us);
        if (lane < 0)
            return false;
        event_open(c, "X", sqlite3_column_blob(row, SPAN_JOB),
                   (size_t)sqlite3_column_bytes(row, SPAN_JOB));
        fprintf(f, ",\"pid\":%d,\"tid\":%d,\"ts\":%" PRId64 ",\"dur\":%" PRId64, node, lane,
                start_us + c->shift_us, end_us - start_us);
        fprintf(f, ",\"args\":{\"instances\":%d,\"share\":%s}}", sqlite3_column_int(row, SPAN_INST),
                format_real(sqlite3_column_double(row, SPAN_SHARE), share));
    }
    return true;
}

static enum status each_row(struct chrome *c, struct store *s, int64_t run, const char *sql,
                            bool (*take)(struct chrome *, sqlite3_stmt *), struct error *err)
{
    sqlite3_stmt *statement;
    bool row = false;
    TRY(store_select(s, sql, run, &statement, err));
    enum status status = store_step(s, statement, &row, err);
    while (status == ST_OK && row && !output_broken(c->to))
        status = take(c, statement) ? store_step(s, statement, &row, err) : fail_memory(err);
    sqlite3_finalize(statement);
    return status;
}

static bool take_start(struct chrome *c, sqlite3_stmt *row)
{
    int64_t start_us = sqlite3_column_int64(row, 0);
    c->shift_us = start_us < 0 ? -start_us : 0;
    return true;
}

enum status chrome_export(struct store *s, int64_t run, struct output *to, struct error *err)
{
    struct chrome c = {.to = to, .comma = ""};
    enum status status = ST_OK;
    char shift[32];
    TRY_OUT(each_row(&c, s, run, "SELECT min(start_us) FROM span WHERE run = ?1", take_start, err));
    fputs("{\"traceEvents\":[", to->file);
    if (!ARRAY_GROW(c.card, c.node_capacity, 1)) {
        status = fail_memory(err);
        goto out;
    }
    TRY_OUT(each_row(&c, s, run,
                     "SELECT 'node ' || name, gpu FROM node WHERE run = ?1 ORDER BY node", add_node,
                     err));
    TRY_OUT(each_row(&c, s, run,
                     "SELECT job.name, span.start_us, span.end_us, span.node,"
                     " coalesce(span.gpu, -1), span.n_gpus, span.n_inst, span.share_milli / 1000.0"
                     " FROM span JOIN job ON job.run = ?1 AND job.job = span.job"
                     " JOIN node ON node.run = ?1 AND node.node = span.node"
                     " WHERE span.run = ?1 AND coalesce(span.gpu + span.n_gpus, 0) <= node.gpu"
                     " ORDER BY span.start_us, span.id",
                     add_span, err));
    fprintf(to->file, "\n],\"displayTimeUnit\":\"ms\",\"otherData\":{\"shift_s\":%s}}\n",
            format_us(c.shift_us, shift));
out:
    free(c.card);
    free(c.first);
    free(c.lane);
    return status;
}
