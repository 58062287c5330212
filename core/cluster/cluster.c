#include "core/cluster/cluster.h"

#include "core/base/arena.h"

#include <assert.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_NODES = 1 << 24, MAX_CARDS = 1 << 26 };

// clang-format off
#define NODE_COLUMNS(X)                                                                            \
    X(node_type)                                                                                   \
    X(node_pool)                                                                                   \
    X(node_link_mbps)                                                                              \
    X(node_nic_mbps)                                                                               \
    X(node_storage_mbps)                                                                           \
    X(nic_free_mbps)                                                                               \
    X(storage_free_mbps)                                                                           \
    X(node_gpu_milli)                                                                              \
    X(node_cpu_milli)                                                                              \
    X(node_mem_mib)                                                                                \
    X(gpu_free_milli)                                                                              \
    X(cpu_free_milli)                                                                              \
    X(mem_free_mib)                                                                                \
    X(cards_free)
#define CARD_COLUMNS(X)                                                                            \
    X(card_node)                                                                                   \
    X(card_gpu_mem_mib)                                                                            \
    X(card_free_milli)                                                                             \
    X(card_mem_free_mib)                                                                           \
    X(card_n_jobs)                                                                                 \
    X(card_seat)
// clang-format on

void node_specs_free(struct node_spec *nodes, int32_t n)
{
    for (int32_t i = 0; nodes != NULL && i < n; i++) {
        free((void *)(uintptr_t)nodes[i].name);
        free((void *)(uintptr_t)nodes[i].gpu_type);
        free((void *)(uintptr_t)nodes[i].pool);
    }
    free(nodes);
}

static bool columns_new(struct cluster *c, size_t n_nodes, size_t n_cards)
{
#define NODE(column) &&(c->column = calloc(n_nodes + 1, sizeof *c->column)) != NULL
#define CARD(column) &&(c->column = calloc(n_cards + 1, sizeof *c->column)) != NULL
    return (c->node_card = calloc(n_nodes + 1, sizeof *c->node_card)) != NULL NODE_COLUMNS(NODE)
                                                                             CARD_COLUMNS(CARD) &&
           peaks_init(&c->gpu_free_peaks, (int32_t)n_nodes);
#undef NODE
#undef CARD
}

/* A bandwidth of which jobs can have parts. */
static int32_t declared(int32_t mbps) { return mbps > 0 ? mbps : INT32_MAX; }

/* What is free is everything. */
static void empty(struct cluster *c)
{
    for (int32_t node = 0; node < c->n_nodes; node++) {
        c->gpu_free_milli[node] = c->node_gpu_milli[node];
        peaks_set(&c->gpu_free_peaks, node, c->gpu_free_milli[node]);
        c->cpu_free_milli[node] = c->node_cpu_milli[node];
        c->mem_free_mib[node] = c->node_mem_mib[node];
        c->nic_free_mbps[node] = declared(c->node_nic_mbps[node]);
        c->storage_free_mbps[node] = declared(c->node_storage_mbps[node]);
        c->cards_free[node] = c->node_card[node + 1] - c->node_card[node];
    }
    for (int32_t card = 0; card < c->n_cards; card++) {
        c->card_free_milli[card] = 1000;
        c->card_mem_free_mib[card] = c->card_gpu_mem_mib[card];
        c->card_n_jobs[card] = 0;
        c->card_seat[card] = -1;
    }
    c->gpu_held_milli = c->gpu_mem_held_mib = 0;
    c->gpu_idle_milli = c->gpu_milli;
    c->cpu_idle_milli = c->cpu_milli;
    c->n_cards_free = c->n_cards;
    for (int k = 0; k < 32; k++)
        c->free_list[k] = -1;
}

static int32_t capped(int64_t value)
{
    return value < 0 || value > INT32_MAX ? INT32_MAX : (int32_t)value;
}

/* The id of a text that may be missing, -1 then; false when memory is out. */
static bool name_id(struct names *names, const char *text, int32_t *id)
{
    *id = -1;
    if (text == NULL || text[0] == '\0')
        return true;
    *id = names_add(names, text, strlen(text));
    return *id >= 0;
}

static enum status add_nodes(struct cluster *c, const struct node_spec *spec, int32_t *node,
                             int32_t *card, struct error *err)
{
    int32_t type, pool;
    if (!name_id(&c->gpu_types, spec->gpu_type, &type) || !name_id(&c->pools, spec->pool, &pool))
        return fail_memory(err);
    for (int32_t i = 0; i < spec->count; i++, (*node)++) {
        char number[16];
        snprintf(number, sizeof number, "%d", *node);
        const char *name = spec->name != NULL ? spec->name : number;
        int32_t id = names_add(&c->names, name, strlen(name));
        if (id < 0)
            return fail_memory(err);
        if (id != *node)
            return fail(err, ST_INPUT, "cluster: two nodes are named %s", name);
        c->node_card[*node] = *card;
        c->node_type[*node] = type;
        c->node_pool[*node] = pool;
        c->node_link_mbps[*node] = spec->link_mbps;
        c->node_nic_mbps[*node] = spec->nic_mbps;
        c->node_storage_mbps[*node] = spec->storage_mbps;
        c->node_gpu_milli[*node] = spec->n_gpus * 1000;
        c->node_cpu_milli[*node] = capped(spec->cpu_milli);
        c->node_mem_mib[*node] = capped(spec->mem_mib);
        c->gpu_milli += c->node_gpu_milli[*node];
        c->cpu_milli += c->node_cpu_milli[*node];
        c->mem_mib += c->node_mem_mib[*node];
        for (int32_t g = 0; c->share == SHARE_CARD && g < spec->n_gpus; g++, (*card)++) {
            c->card_node[*card] = *node;
            c->card_gpu_mem_mib[*card] = spec->gpu_mem_mib > 0 ? spec->gpu_mem_mib : INT32_MAX;
            c->gpu_mem_mib += spec->gpu_mem_mib;
        }
    }
    return ST_OK;
}

enum status cluster_init(struct cluster *c, const struct node_spec *specs, int32_t n_specs,
                         enum share_mode share, struct error *err)
{
    int64_t n_nodes = 0, n_cards = 0;
    for (int32_t i = 0; i < n_specs; i++) {
        if (specs[i].count < 1 || specs[i].n_gpus < 0 || specs[i].n_gpus > INT32_MAX / 1000)
            return fail(err, ST_USAGE, "cluster: %d nodes of %d GPUs is no node kind",
                        specs[i].count, specs[i].n_gpus);
        n_nodes += specs[i].count;
        n_cards += share == SHARE_CARD ? (int64_t)specs[i].count * specs[i].n_gpus : 0;
    }
    if (n_nodes < 1 || n_nodes > MAX_NODES || n_cards > MAX_CARDS)
        return fail(err, ST_USAGE, "cluster: %lld nodes with %lld GPUs, want 1 to %d nodes",
                    (long long)n_nodes, (long long)n_cards, MAX_NODES);
    *c = (struct cluster){.n_nodes = (int32_t)n_nodes, .n_cards = (int32_t)n_cards, .share = share};
    enum status status = ST_OK;
    if (!columns_new(c, (size_t)n_nodes, (size_t)n_cards)) {
        status = fail_memory(err);
        goto out;
    }
    int32_t node = 0, card = 0;
    for (int32_t i = 0; i < n_specs; i++)
        TRY_OUT(add_nodes(c, &specs[i], &node, &card, err));
    c->node_card[node] = card;
    empty(c);
out:
    if (status != ST_OK)
        cluster_free(c);
    return status;
}

void cluster_free(struct cluster *c)
{
#define FREE(column) free(c->column);
    NODE_COLUMNS(FREE)
    CARD_COLUMNS(FREE)
#undef FREE
    peaks_free(&c->gpu_free_peaks);
    free(c->node_card);
    free(c->seats);
    names_free(&c->names);
    names_free(&c->gpu_types);
    names_free(&c->pools);
    names_free(&c->queues);
    free(c->queue_weight);
    *c = (struct cluster){0};
}

enum status cluster_add_queue(struct cluster *c, const char *name, double weight, struct error *err)
{
    if (!(weight >= 0 && weight <= CLUSTER_WEIGHT_MAX))
        return fail(err, ST_USAGE, "the weight of queue %s is %g, want 0 to %g", name, weight,
                    CLUSTER_WEIGHT_MAX);
    if (names_find(&c->queues, name, strlen(name)) >= 0)
        return fail(err, ST_USAGE, "queue %s is there twice", name);
    if (!ARRAY_GROW(c->queue_weight, c->queue_capacity, c->queues.n + 1))
        return fail_memory(err);
    int32_t id = names_add(&c->queues, name, strlen(name));
    if (id < 0)
        return fail_memory(err);
    c->queue_weight[id] = weight;
    return ST_OK;
}

int32_t cluster_seats_of_instance(const struct cluster *c, int32_t gpu_milli)
{
    return c->share == SHARE_NODE_SUM || gpu_milli < 1000 ? 1 : gpu_milli / 1000;
}

/* Runs come in powers of two; the smallest k with 2^k >= n. */
static int size_class(int32_t n)
{
    int k = 0;
    while ((INT64_C(1) << k) < n)
        k++;
    return k;
}

int32_t cluster_seats_new(struct cluster *c, int32_t n)
{
    int k = size_class(n);
    int32_t first = c->free_list[k];
    if (first >= 0) {
        c->free_list[k] = c->seats[first].next;
        return first;
    }
    size_t run = (size_t)1 << k;
    if (c->n_seats + run > INT32_MAX || !ARRAY_GROW(c->seats, c->seat_capacity, c->n_seats + run))
        return -1;
    first = (int32_t)c->n_seats;
    c->n_seats += run;
    return first;
}

void cluster_seats_drop(struct cluster *c, int32_t first, int32_t n)
{
    int k = size_class(n);
    c->seats[first].next = c->free_list[k];
    c->free_list[k] = first;
}

static void link_seat(struct cluster *c, int32_t seat, int32_t card)
{
    int32_t head = c->card_seat[card];
    c->seats[seat].prev = -1;
    c->seats[seat].next = head;
    if (head >= 0)
        c->seats[head].prev = seat;
    c->card_seat[card] = seat;
}

static void unlink_seat(struct cluster *c, int32_t seat, int32_t card)
{
    int32_t next = c->seats[seat].next, prev = c->seats[seat].prev;
    if (next >= 0)
        c->seats[next].prev = prev;
    if (prev >= 0)
        c->seats[prev].next = next;
    else
        c->card_seat[card] = next;
}

static void free_changes(struct cluster *c, int32_t node, int32_t gpu_milli)
{
    if (gpu_milli == 0)
        return;
    c->gpu_free_milli[node] += gpu_milli;
    c->gpu_held_milli -= gpu_milli;
    c->gpu_idle_milli += gpu_milli;
    peaks_set(&c->gpu_free_peaks, node, c->gpu_free_milli[node]);
}

/* One card: shares are what is left of 1000, whole-card jobs beyond the first hold no more. What
 * the card holds, min(1000, sum of shares), is 1000 - max(free, 0); and so with its memory. */
static void card_change(struct cluster *c, int32_t card, int32_t share_milli, int32_t mem_mib,
                        int32_t jobs)
{
    int32_t node = c->card_node[card];
    int32_t before = c->card_free_milli[card] > 0 ? c->card_free_milli[card] : 0;
    c->card_free_milli[card] -= share_milli;
    int32_t after = c->card_free_milli[card] > 0 ? c->card_free_milli[card] : 0;
    if (c->card_gpu_mem_mib[card] != INT32_MAX) {
        int32_t had_mib = c->card_mem_free_mib[card], has_mib = had_mib - mem_mib;
        c->card_mem_free_mib[card] = has_mib;
        c->gpu_mem_held_mib += (had_mib > 0 ? had_mib : 0) - (has_mib > 0 ? has_mib : 0);
    }
    int32_t freed = -(c->card_n_jobs[card] == 0);
    c->card_n_jobs[card] += jobs;
    freed += c->card_n_jobs[card] == 0;
    c->cards_free[node] += freed;
    c->n_cards_free += freed;
    free_changes(c, node, after - before);
}

static void node_change(struct cluster *c, int32_t node, int32_t gpu, int32_t cpu, int32_t mem)
{
    free_changes(c, node, -gpu);
    c->cpu_idle_milli -= cpu;
    if (c->node_cpu_milli[node] != INT32_MAX)
        c->cpu_free_milli[node] -= cpu;
    if (c->node_mem_mib[node] != INT32_MAX)
        c->mem_free_mib[node] -= mem;
}

static void bandwidth_change(struct cluster *c, int32_t node, int32_t nic_mbps,
                             int32_t storage_mbps)
{
    if (c->node_nic_mbps[node] > 0)
        c->nic_free_mbps[node] -= nic_mbps;
    if (c->node_storage_mbps[node] > 0)
        c->storage_free_mbps[node] -= storage_mbps;
}

/* sign +1 takes, -1 gives back. */
static void change(struct cluster *c, const struct job_table *t, int32_t task, int32_t first,
                   int32_t n, int32_t sign)
{
    int32_t gpu = t->gpu_milli[task], per_inst = cluster_seats_of_instance(c, gpu);
    int32_t share = gpu < 1000 ? gpu : 1000, next_inst = 0;
    for (int32_t i = 0; i < n; i++) {
        int32_t where = c->seats[first + i].where;
        if (where >= 0)
            card_change(c, where, sign * share, sign * t->card_mem_mib[task], sign);
        if (i == next_inst) {
            int32_t node = seat_node(c, where);
            node_change(c, node, where >= 0 ? 0 : sign * gpu, sign * t->cpu_milli[task],
                        sign * t->mem_mib[task]);
            bandwidth_change(c, node, sign * t->nic_mbps[task], sign * t->storage_mbps[task]);
            next_inst += per_inst;
        }
    }
}

void cluster_take(struct cluster *c, const struct job_table *t, int32_t task, int32_t first,
                  int32_t n)
{
    change(c, t, task, first, n, 1);
    for (int32_t i = 0; i < n; i++) {
        c->seats[first + i].task = task;
        if (c->seats[first + i].where >= 0)
            link_seat(c, first + i, c->seats[first + i].where);
    }
}

void cluster_release(struct cluster *c, const struct job_table *t, int32_t task, int32_t first,
                     int32_t n)
{
    assert(n == 0 || c->seats[first].task == task);
    for (int32_t i = 0; i < n; i++) {
        c->seats[first + i].task = -1;
        if (c->seats[first + i].where >= 0)
            unlink_seat(c, first + i, c->seats[first + i].where);
    }
    change(c, t, task, first, n, -1);
}

bool cluster_has_bandwidth(const struct cluster *c)
{
    for (int32_t node = 0; node < c->n_nodes; node++)
        if (c->node_nic_mbps[node] > 0 || c->node_storage_mbps[node] > 0)
            return true;
    return false;
}

uint64_t cluster_types_of(const struct cluster *c, const char *text, size_t length)
{
    uint64_t set = 0;
    for (size_t from = 0, n; from < length; from += n + 1) {
        const char *bar = memchr(text + from, '|', length - from);
        n = bar != NULL ? (size_t)(bar - (text + from)) : length - from;
        int32_t type = names_find(&c->gpu_types, text + from, n);
        set |= type >= 0 && type < 64 ? UINT64_C(1) << type : 0;
    }
    return set;
}

static bool card_valid(const struct cluster *c, const struct job_table *t, int32_t card)
{
    int32_t n = 0, left = 1000;
    int64_t mem = c->card_gpu_mem_mib[card];
    for (int32_t s = c->card_seat[card]; s >= 0; s = c->seats[s].next, n++) {
        int32_t task = c->seats[s].task;
        if (c->seats[s].where != card || task < 0)
            return false;
        left -= t->gpu_milli[task] < 1000 ? t->gpu_milli[task] : 1000;
        mem -= mem == INT32_MAX ? 0 : t->card_mem_mib[task];
    }
    return n == c->card_n_jobs[card] && left == c->card_free_milli[card] &&
           (mem >= 0 || c->mem_gives_way) && mem == c->card_mem_free_mib[card];
}

bool cluster_valid(const struct cluster *c, const struct job_table *t)
{
    int64_t held = 0, idle = 0, n_free = 0;
    for (int32_t node = 0; node < c->n_nodes; node++) {
        int32_t free_cards = 0, free_milli = 0;
        for (int32_t card = c->node_card[node]; card < c->node_card[node + 1]; card++) {
            if (!card_valid(c, t, card))
                return false;
            free_cards += c->card_n_jobs[card] == 0;
            free_milli += c->card_free_milli[card] > 0 ? c->card_free_milli[card] : 0;
        }
        if (c->share == SHARE_CARD &&
            (free_cards != c->cards_free[node] || free_milli != c->gpu_free_milli[node]))
            return false;
        if (c->gpu_free_milli[node] < 0 || c->cpu_free_milli[node] < 0 ||
            c->mem_free_mib[node] < 0 || c->nic_free_mbps[node] < 0 ||
            c->storage_free_mbps[node] < 0)
            return false;
        held += c->node_gpu_milli[node] - c->gpu_free_milli[node];
        idle += c->gpu_free_milli[node];
        n_free += c->cards_free[node];
    }
    return held == c->gpu_held_milli && idle == c->gpu_idle_milli && n_free == c->n_cards_free;
}
