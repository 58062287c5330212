#include "sim/results/why.h"

#include "core/base/units.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const char *const block_names[N_BLOCKS] = {"full", "scattered", "held back"};

enum { SHORT_PART = 100 };

/* A bar of the Gantt, and the two moments at which it matters. */
struct bar {
    int64_t start_us, end_us;
    int32_t job, node, gpu, n_gpus, n_inst, share_milli; /* gpu -1: of the node as a whole */
};
struct moment {
    int64_t time_us;
    int32_t bar;
    bool begins;
};

/* The cluster at one time, as the job sees it. */
struct scene {
    struct bar *bar;
    size_t n_bars, bar_capacity;
    struct moment *moment;
    int32_t n_nodes, n_cards;
    size_t card_capacity, use_capacity, room_capacity;
    int32_t *first_card; /* (n_nodes + 1) */
    int32_t *use_milli;  /* (n_cards + n_nodes): of each card, then of each node as a whole */
    int32_t *room;       /* (n_nodes) instances of the job that fit there */
    int64_t free_milli, n_room;
    int32_t need_milli; /* of one instance */
};

void why_free(struct why *w)
{
    names_free(&w->names);
    free(w->jobs);
    free(w->blocked);
    *w = (struct why){0};
}

static void scene_free(struct scene *s)
{
    free(s->bar);
    free(s->moment);
    free(s->first_card);
    free(s->use_milli);
    free(s->room);
}

static int64_t time_at(sqlite3_stmt *row, int column)
{
    return sqlite3_column_type(row, column) == SQLITE_NULL ? TIME_NEVER
                                                           : sqlite3_column_int64(row, column);
}

/* Calls take for every row of a query over the run; false from it is memory that ran out. */
static enum status each_row(struct store *s, const char *sql, int64_t run,
                            bool (*take)(void *, sqlite3_stmt *), void *context, struct error *err)
{
    sqlite3_stmt *rows;
    bool row = false;
    TRY(store_select(s, sql, run, &rows, err));
    enum status status = store_step(s, rows, &row, err);
    while (status == ST_OK && row)
        status = take(context, rows) ? store_step(s, rows, &row, err) : fail_memory(err);
    sqlite3_finalize(rows);
    return status;
}

/* job, name, submit, start, finish, gpu in order of job. */
static bool take_job(void *context, sqlite3_stmt *row)
{
    struct why *w = context;
    int32_t job = sqlite3_column_int(row, 0);
    const char *name = sqlite3_column_blob(row, 1);
    if (!ARRAY_GROW(w->jobs, w->capacity, job + 1))
        return false;
    while (w->n_jobs < job)
        w->jobs[w->n_jobs++] = (struct why_job){-1, TIME_NEVER, TIME_NEVER, TIME_NEVER, 0};
    w->jobs[w->n_jobs++] = (struct why_job){
        names_add(&w->names, name != NULL ? name : "", (size_t)sqlite3_column_bytes(row, 1)),
        sqlite3_column_int64(row, 2), time_at(row, 3), time_at(row, 4),
        sqlite3_column_double(row, 5)};
    return w->jobs[job].name >= 0;
}

static bool take_node(void *context, sqlite3_stmt *row)
{
    struct scene *s = context;
    if (!ARRAY_GROW(s->first_card, s->card_capacity, s->n_nodes + 2) ||
        !ARRAY_GROW(s->room, s->room_capacity, s->n_nodes + 1))
        return false;
    s->n_cards += (int32_t)ceil(sqlite3_column_double(row, 0));
    s->first_card[++s->n_nodes] = s->n_cards;
    return true;
}

static bool take_bar(void *context, sqlite3_stmt *row)
{
    struct scene *s = context;
    if (!ARRAY_GROW(s->bar, s->bar_capacity, s->n_bars + 1))
        return false;
    bool card = sqlite3_column_type(row, 4) != SQLITE_NULL;
    s->bar[s->n_bars++] = (struct bar){sqlite3_column_int64(row, 0),
                                       sqlite3_column_int64(row, 1),
                                       sqlite3_column_int(row, 2),
                                       sqlite3_column_int(row, 3),
                                       card ? sqlite3_column_int(row, 4) : -1,
                                       sqlite3_column_int(row, 5),
                                       sqlite3_column_int(row, 6),
                                       sqlite3_column_int(row, 7)};
    return true;
}

/* Ends before beginnings: a card freed at t can be used at t. */
static int by_time(const void *a, const void *b)
{
    const struct moment *x = a, *y = b;
    if (x->time_us != y->time_us)
        return x->time_us < y->time_us ? -1 : 1;
    if (x->begins != y->begins)
        return x->begins ? 1 : -1;
    return (x->bar > y->bar) - (x->bar < y->bar);
}

static enum status read_scene(struct scene *s, struct store *store, int64_t run, struct error *err)
{
    TRY(each_row(store, "SELECT gpu FROM node WHERE run = ?1 ORDER BY node", run, take_node, s,
                 err));
    TRY(each_row(store,
                 "SELECT start_us, end_us, job, node, gpu, n_gpus, n_inst, share_milli FROM span"
                 " WHERE run = ?1 ORDER BY id",
                 run, take_bar, s, err));
    s->moment = calloc(2 * s->n_bars + 1, sizeof *s->moment);
    if (s->moment == NULL ||
        !ARRAY_GROW(s->use_milli, s->use_capacity, s->n_cards + s->n_nodes + 1))
        return fail_memory(err);
    for (size_t i = 0; i < s->n_bars; i++) {
        s->moment[2 * i] = (struct moment){s->bar[i].start_us, (int32_t)i, true};
        s->moment[2 * i + 1] = (struct moment){s->bar[i].end_us, (int32_t)i, false};
    }
    qsort(s->moment, 2 * s->n_bars, sizeof *s->moment, by_time);
    return ST_OK;
}

static int32_t left_of(int32_t use_milli) { return use_milli < 1000 ? 1000 - use_milli : 0; }

/* Counts a node anew: what is free of it, and how many instances of the job it could take. */
static void recount(struct scene *s, int32_t node, int sign)
{
    int32_t cards = s->first_card[node + 1] - s->first_card[node], free_milli = 0, whole = 0;
    int32_t parts = 0;
    for (int32_t card = s->first_card[node]; card < s->first_card[node + 1]; card++) {
        int32_t left = left_of(s->use_milli[card]);
        free_milli += left;
        whole += left == 1000;
        parts += s->need_milli > 0 && s->need_milli < 1000 ? left / s->need_milli : 0;
    }
    int32_t taken = s->use_milli[s->n_cards + node]; /* without cards only the sum counts */
    if (taken > 0) {
        free_milli = cards * 1000 > taken ? cards * 1000 - taken : 0;
        whole = parts = 0;
    }
    s->room[node] = s->need_milli == 0     ? INT32_MAX / s->n_nodes
                    : taken > 0            ? free_milli / s->need_milli
                    : s->need_milli < 1000 ? parts
                                           : whole / ((s->need_milli + 999) / 1000);
    s->free_milli += sign * (int64_t)free_milli;
    s->n_room += sign * (int64_t)s->room[node];
}

static void apply(struct scene *s, const struct moment *m)
{
    const struct bar *b = &s->bar[m->bar];
    int32_t sign = m->begins ? 1 : -1;
    recount(s, b->node, -1);
    if (b->gpu < 0)
        s->use_milli[s->n_cards + b->node] += sign * b->share_milli * b->n_inst;
    for (int32_t i = 0; b->gpu >= 0 && i < b->n_gpus; i++)
        s->use_milli[s->first_card[b->node] + b->gpu + i] +=
            sign * (b->share_milli < 1000 ? b->share_milli * b->n_inst : 1000);
    recount(s, b->node, 1);
}

static enum block block_of(const struct scene *s, const struct why *w)
{
    if ((double)s->free_milli < w->jobs[w->job].gpu * 1e3 - 0.5)
        return BLOCK_FULL;
    return s->n_room < w->n_inst ? BLOCK_SCATTERED : BLOCK_HELD;
}

/* Who stood before it in the order of submission. */
static void look_ahead(const struct why *w, struct blocked *b)
{
    b->n_ahead = 0;
    b->ahead = -1;
    for (int32_t j = 0; j < w->n_jobs; j++) {
        bool earlier = w->jobs[j].submit_us < w->jobs[w->job].submit_us ||
                       (w->jobs[j].submit_us == w->jobs[w->job].submit_us && j < w->job);
        if (!earlier || w->jobs[j].start_us <= b->from_us || w->jobs[j].finish_us <= b->from_us)
            continue;
        b->n_ahead++;
        if (b->ahead < 0 || w->jobs[j].submit_us < w->jobs[b->ahead].submit_us)
            b->ahead = j;
    }
}

/* The state of things lasted from-to. */
static bool add_stretch(struct why *w, const struct scene *s, int64_t from_us, int64_t to_us)
{
    enum block why = block_of(s, w);
    double gpus = (double)s->free_milli / 1e3;
    struct blocked *last = w->n_blocked > 0 ? &w->blocked[w->n_blocked - 1] : NULL;
    w->total_us[why] += to_us - from_us;
    if (last == NULL || last->to_us != from_us || last->why != why) {
        if (!ARRAY_GROW(w->blocked, w->blocked_capacity, w->n_blocked + 1))
            return false;
        last = &w->blocked[w->n_blocked++];
        *last =
            (struct blocked){.from_us = from_us, .why = why, .free_min = gpus, .free_max = gpus};
    }
    last->to_us = to_us;
    last->free_min = gpus < last->free_min ? gpus : last->free_min;
    last->free_max = gpus > last->free_max ? gpus : last->free_max;
    return true;
}

/* Walks through the run; a stretch counts while the job is submitted and holds nothing. */
static enum status walk(struct why *w, struct scene *s, int64_t end_us, struct error *err)
{
    int64_t now_us = INT64_MIN, submit_us = w->jobs[w->job].submit_us;
    int64_t until_us = w->jobs[w->job].finish_us < end_us ? w->jobs[w->job].finish_us : end_us;
    int32_t holds = 0;
    for (int32_t node = 0; node < s->n_nodes; node++)
        recount(s, node, 1);
    for (size_t i = 0; i <= 2 * s->n_bars; i++) {
        int64_t next_us = i < 2 * s->n_bars ? s->moment[i].time_us : INT64_MAX;
        int64_t from_us = now_us > submit_us ? now_us : submit_us;
        int64_t to_us = next_us < until_us ? next_us : until_us;
        if (holds == 0 && from_us < to_us && !add_stretch(w, s, from_us, to_us))
            return fail_memory(err);
        if (i == 2 * s->n_bars)
            break;
        const struct moment *m = &s->moment[i];
        if (s->bar[m->bar].job == w->job)
            holds += m->begins ? 1 : -1;
        apply(s, m);
        now_us = next_us;
    }
    return ST_OK;
}

/* What is too short to be told becomes part of what was before it. */
static void smooth(struct why *w)
{
    int64_t all_us = 0;
    size_t n = 0;
    for (int k = 0; k < N_BLOCKS; k++)
        all_us += w->total_us[k];
    for (size_t i = 0; i < w->n_blocked; i++) {
        struct blocked *b = &w->blocked[i], *last = n > 0 ? &w->blocked[n - 1] : NULL;
        bool joins = last != NULL && last->to_us == b->from_us;
        if (joins && (last->why == b->why || b->to_us - b->from_us < all_us / SHORT_PART)) {
            last->to_us = b->to_us;
            last->mixed = last->mixed || last->why != b->why;
            last->free_min = b->free_min < last->free_min ? b->free_min : last->free_min;
            last->free_max = b->free_max > last->free_max ? b->free_max : last->free_max;
        } else {
            w->blocked[n++] = *b;
        }
    }
    w->n_blocked = n;
    for (size_t i = 0; i < n; i++)
        look_ahead(w, &w->blocked[i]);
}

static void find_overtakers(struct why *w, const struct scene *s, int64_t end_us)
{
    int64_t submit_us = w->jobs[w->job].submit_us, start_us = w->jobs[w->job].start_us;
    start_us = start_us < end_us ? start_us : end_us;
    for (int32_t j = 0; j < w->n_jobs; j++)
        w->n_overtook += (w->jobs[j].submit_us > submit_us ||
                          (w->jobs[j].submit_us == submit_us && j > w->job)) &&
                         w->jobs[j].start_us < start_us && w->jobs[j].start_us >= submit_us;
    for (size_t i = 0; i < s->n_bars; i++) {
        const struct bar *b = &s->bar[i];
        int64_t to_us = b->end_us < start_us ? b->end_us : start_us;
        if (w->jobs[b->job].submit_us > submit_us && to_us > b->start_us)
            w->overtook_gpu_s += s_of_us(to_us - b->start_us) * b->n_inst * b->share_milli / 1e3;
    }
}

/* Who ended, at the moment it started, on a node that it started on. */
static void find_freer(struct why *w, const struct scene *s)
{
    int64_t start_us = w->jobs[w->job].start_us;
    w->freed_by = -1;
    for (size_t i = 0; i < s->n_bars && w->freed_by < 0; i++)
        for (size_t k = 0; k < s->n_bars && s->bar[i].job == w->job; k++)
            if (s->bar[i].start_us == start_us && s->bar[k].end_us == start_us &&
                s->bar[k].node == s->bar[i].node && s->bar[k].job != w->job)
                w->freed_by = s->bar[k].job;
}

static enum status find_holders(struct why *w, const struct scene *s, int64_t end_us,
                                struct error *err)
{
    int64_t from_us = w->jobs[w->job].submit_us;
    int64_t to_us = w->jobs[w->job].start_us < end_us ? w->jobs[w->job].start_us : end_us;
    double *held = calloc((size_t)w->n_jobs + 1, sizeof *held);
    if (held == NULL)
        return fail_memory(err);
    for (size_t i = 0; i < s->n_bars; i++) {
        const struct bar *b = &s->bar[i];
        int64_t lo = b->start_us > from_us ? b->start_us : from_us;
        int64_t hi = b->end_us < to_us ? b->end_us : to_us;
        if (lo < hi)
            held[b->job] += s_of_us(hi - lo) * b->n_inst * b->share_milli / 1e3;
    }
    for (size_t k = 0; k < sizeof w->holder / sizeof *w->holder; k++) {
        int32_t most = -1;
        for (int32_t j = 0; j < w->n_jobs; j++)
            if (held[j] > 0 && (most < 0 || held[j] > held[most]))
                most = j;
        w->holder[k] = most;
        if (most >= 0) {
            w->holder_gpu_s[k] = held[most];
            held[most] = 0;
        }
    }
    free(held);
    return ST_OK;
}

/* policy, end_us, and of the job: number, status, instances, and why it was rejected or stalled. */
static enum status find_job(struct why *w, struct store *s, int64_t run, const char *job,
                            int64_t *end_us, struct error *err)
{
    static const char sql[] =
        "SELECT policy, end_us, job.job, job.status, n_inst,"
        " (SELECT text FROM event WHERE event.run = ?1 AND (event.job = job.job OR"
        " (kind = 'stall' AND job.status = 'unfinished')) AND kind IN ('reject', 'stall'))"
        " FROM run LEFT JOIN job ON job.run = id AND CAST(job.name AS TEXT) = ?2 WHERE id = ?1";
    sqlite3_stmt *find;
    bool row = false;
    TRY(store_select(s, sql, run, &find, err));
    enum status status = ST_OK;
    if (sqlite3_bind_text(find, 2, job, -1, SQLITE_STATIC) != SQLITE_OK)
        status = store_fail(s, "cannot be read", err);
    else
        status = store_step(s, find, &row, err);
    if (status == ST_OK && (!row || sqlite3_column_type(find, 2) == SQLITE_NULL))
        status = fail(err, ST_USAGE, "%s: the run has no job '%s'", s->path, job);
    if (status == ST_OK) {
        const char *reason = (const char *)sqlite3_column_text(find, 5);
        snprintf(w->policy, sizeof w->policy, "%s", (const char *)sqlite3_column_text(find, 0));
        *end_us = sqlite3_column_int64(find, 1);
        w->job = sqlite3_column_int(find, 2);
        snprintf(w->status, sizeof w->status, "%s", (const char *)sqlite3_column_text(find, 3));
        w->n_inst = sqlite3_column_int(find, 4);
        snprintf(w->reason, sizeof w->reason, "%s", reason != NULL ? reason : "");
    }
    sqlite3_finalize(find);
    return status;
}

enum status why_read(struct why *w, struct store *s, int64_t run, const char *job,
                     struct error *err)
{
    struct scene scene = {0};
    int64_t end_us = 0;
    enum status status = ST_OK;
    *w = (struct why){0};
    TRY_OUT(find_job(w, s, run, job, &end_us, err));
    TRY_OUT(each_row(s,
                     "SELECT job, name, submit_us, start_us, finish_us, gpu FROM job WHERE run = ?1"
                     " ORDER BY job",
                     run, take_job, w, err));
    TRY_OUT(read_scene(&scene, s, run, err));
    scene.need_milli = w->n_inst > 0 ? (int32_t)llround(w->jobs[w->job].gpu * 1e3 / w->n_inst) : 0;
    if (strcmp(w->status, "rejected") != 0)
        TRY_OUT(walk(w, &scene, end_us, err));
    smooth(w);
    find_overtakers(w, &scene, end_us);
    find_freer(w, &scene);
    status = find_holders(w, &scene, end_us, err);
out:
    scene_free(&scene);
    return status;
}
