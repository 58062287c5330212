#include "core/cluster/place.h"

#include <assert.h>
#include <math.h>

const char *const place_mode_names[] = {"first-fit",   "best-fit", "spread",
                                        "consolidate", "random",   NULL};

/* One placement: what is asked, under which rules, and whether cards may be shared by jobs. */
struct asking {
    struct cluster *c;
    const struct job_table *t;
    const struct place_rules *rules;
    int32_t task, n_inst, gpu,
        cards; /* cards per instance; 0 for a fraction, no GPU, or node-sum */
    bool shared;
};

/* Was every pair of the newcomer with somebody on the card measured? */
static bool known_beside(const struct asking *a, int32_t card)
{
    const struct job_table *t = a->t;
    int32_t job = t->task_job[a->task];
    for (int32_t s = a->c->card_seat[card]; s >= 0; s = a->c->seats[s].next) {
        int32_t other = t->task_job[a->c->seats[s].task];
        if (other == job)
            return false;
        if (a->rules->pairs == NULL)
            continue;
        int32_t w = t->workload[job], v = t->workload[other];
        if (w < 0 || v < 0 || a->rules->pair_id[w] < 0 || a->rules->pair_id[v] < 0 ||
            isnan(pairs_speed(a->rules->pairs, a->rules->pair_id[w], a->rules->pair_id[v])))
            return false;
    }
    return true;
}

static bool shareable(const struct asking *a, int32_t card)
{
    const struct cluster *c = a->c;
    return a->shared && c->card_n_jobs[card] > 0 && c->card_n_jobs[card] < a->rules->share_max &&
           c->card_mem_free_mib[card] >= a->t->card_mem_mib[a->task] && known_beside(a, card);
}

static bool card_takes(const struct asking *a, int32_t card)
{
    const struct cluster *c = a->c;
    if (c->card_mem_free_mib[card] < a->t->card_mem_mib[a->task])
        return false;
    bool own = a->cards > 0 ? c->card_n_jobs[card] == 0 : c->card_free_milli[card] >= a->gpu;
    return own || shareable(a, card);
}

/* Instances by GPU alone. */
static int32_t room_gpu(const struct asking *a, int32_t node)
{
    const struct cluster *c = a->c;
    if (a->gpu == 0)
        return INT32_MAX;
    if (c->share == SHARE_NODE_SUM)
        return c->gpu_free_milli[node] / a->gpu;
    int32_t first = c->node_card[node], end = c->node_card[node + 1];
    if (a->cards > 0 && !a->shared) {
        bool memory = first < end && c->card_gpu_mem_mib[first] >= a->t->card_mem_mib[a->task];
        return memory ? c->cards_free[node] / a->cards : 0;
    }
    if (!a->shared && c->gpu_free_milli[node] < a->gpu)
        return 0;
    int32_t n = 0;
    for (int32_t card = first; card < end; card++)
        if (card_takes(a, card))
            n += a->cards > 0 || c->card_free_milli[card] < a->gpu
                     ? 1
                     : c->card_free_milli[card] / a->gpu;
    return a->cards > 0 ? n / a->cards : n;
}

bool place_node_suits(const struct cluster *c, const struct job_table *t, int32_t task,
                      const struct place_rules *rules, int32_t node)
{
    int32_t asked = t->gpu_type[task], type = c->node_type[node];
    if (rules->pool >= 0 && c->node_pool[node] != rules->pool)
        return false;
    if (!rules->type_strict || asked < 0)
        return true;
    uint64_t set = rules->type_set != NULL ? rules->type_set[asked] : 0;
    return set == 0 ? type == rules->type_id[asked]
                    : type >= 0 && type < 64 && (set >> type & 1) != 0;
}

int32_t place_node_most(const struct cluster *c, const struct job_table *t, int32_t task,
                        const struct place_rules *rules, int32_t node)
{
    int32_t cpu = t->cpu_milli[task], mem = t->mem_mib[task], n = INT32_MAX;
    if (!place_node_suits(c, t, task, rules, node))
        return 0;
    if (cpu > 0)
        n = c->cpu_free_milli[node] / cpu;
    if (mem > 0 && c->mem_free_mib[node] / mem < n)
        n = c->mem_free_mib[node] / mem;
    int32_t nic = t->nic_mbps[task], storage = t->storage_mbps[task];
    if (nic > 0 && c->nic_free_mbps[node] / nic < n)
        n = c->nic_free_mbps[node] / nic;
    if (storage > 0 && c->storage_free_mbps[node] / storage < n)
        n = c->storage_free_mbps[node] / storage;
    return n;
}

/* How many instances the node can take: 0 is none. For fractions limited by card memory it may
 * count too many; seat_instance has the last word. */
static int32_t room(const struct asking *a, int32_t node)
{
    int32_t most = place_node_most(a->c, a->t, a->task, a->rules, node);
    int32_t n = most > 0 ? room_gpu(a, node) : 0;
    return n < most ? n : most;
}

/* The card for a fraction: lowest that fits, or by what is left on it. */
static int32_t card_for_share(const struct asking *a, int32_t node)
{
    const struct cluster *c = a->c;
    int32_t best = -1;
    for (int32_t card = c->node_card[node]; card < c->node_card[node + 1]; card++) {
        if (!card_takes(a, card))
            continue;
        bool better = best < 0 ||
                      (a->rules->mode == PLACE_SPREAD &&
                       c->card_free_milli[card] > c->card_free_milli[best]) ||
                      ((a->rules->mode == PLACE_BEST_FIT || a->rules->mode == PLACE_CONSOLIDATE) &&
                       c->card_free_milli[card] < c->card_free_milli[best]);
        if (better)
            best = card;
        if (a->rules->mode == PLACE_FIRST_FIT)
            break;
    }
    return best;
}

/* Writes the cards of one instance to seats first ..; false when the node lacks them. Free cards
 * go first, so that a card is shared only where that is needed. */
static bool seat_instance(const struct asking *a, int32_t node, int32_t first)
{
    struct cluster *c = a->c;
    if (a->gpu == 0 || c->share == SHARE_NODE_SUM) {
        c->seats[first].where = ~node;
        return true;
    }
    if (a->cards == 0) {
        c->seats[first].where = card_for_share(a, node);
        return c->seats[first].where >= 0;
    }
    int32_t n = 0;
    for (int32_t card = c->node_card[node]; card < c->node_card[node + 1] && n < a->cards; card++)
        if (c->card_n_jobs[card] == 0)
            c->seats[first + n++].where = card;
    for (int32_t card = c->node_card[node];
         a->shared && card < c->node_card[node + 1] && n < a->cards; card++)
        if (shareable(a, card))
            c->seats[first + n++].where = card;
    return n == a->cards;
}

/* Nodes to be tried, in turn. */
static int32_t n_candidates(const struct asking *a)
{
    return a->rules->nodes != NULL ? a->rules->n_nodes : a->c->n_nodes;
}

static int32_t candidate(const struct asking *a, int32_t i)
{
    return a->rules->nodes != NULL ? a->rules->nodes[i] : i;
}

/* Among nodes with room for at least want: the least (sign +1) or most (-1) free. */
static int32_t extreme_node(const struct asking *a, int32_t want, int sign)
{
    int32_t best = -1, n = n_candidates(a);
    int64_t best_free = 0;
    for (int32_t i = 0; i < n; i++) {
        int32_t node = candidate(a, i);
        int64_t free_milli = (int64_t)sign * a->c->gpu_free_milli[node];
        if ((best < 0 || free_milli < best_free) && room(a, node) >= want) {
            best = node;
            best_free = free_milli;
        }
    }
    return best;
}

/* What an instance needs of its node's free GPUs at the least: shared cards count as taken. */
static int32_t need_milli(const struct asking *a) { return a->shared ? 0 : a->gpu; }

static int32_t first_listed(const struct asking *a)
{
    for (int32_t i = 0; i < a->rules->n_nodes; i++)
        if (room(a, a->rules->nodes[i]) > 0)
            return a->rules->nodes[i];
    return -1;
}

static int32_t first_node(const struct asking *a, int32_t from)
{
    if (a->rules->nodes != NULL)
        return first_listed(a);
    const struct peaks *free_milli = &a->c->gpu_free_peaks;
    int32_t node = peaks_first(free_milli, from, need_milli(a));
    while (node >= 0 && room(a, node) == 0)
        node = peaks_first(free_milli, node + 1, need_milli(a));
    return node;
}

/* The lowest of the emptiest nodes with room; the very emptiest usually has it. */
static int32_t emptiest_node(const struct asking *a)
{
    if (a->rules->nodes != NULL)
        return extreme_node(a, 1, -1);
    int32_t node = peaks_first(&a->c->gpu_free_peaks, 0, peaks_max(&a->c->gpu_free_peaks));
    return room(a, node) > 0 ? node : extreme_node(a, 1, -1);
}

static int32_t random_node(const struct asking *a)
{
    int32_t best = -1, n = n_candidates(a);
    unsigned long seen = 0;
    for (int32_t i = 0; i < n; i++)
        if (room(a, candidate(a, i)) > 0 && gsl_rng_uniform_int(a->rules->rng, ++seen) == 0)
            best = candidate(a, i);
    return best;
}

/* The node for the next instances of which left are to go; -1 for none. last is the node before. */
static int32_t pick_node(const struct asking *a, int32_t left, int32_t last)
{
    switch (a->rules->mode) {
    case PLACE_FIRST_FIT: return first_node(a, last < 0 ? 0 : last);
    case PLACE_BEST_FIT: return extreme_node(a, 1, 1);
    case PLACE_SPREAD: return emptiest_node(a);
    case PLACE_CONSOLIDATE: {
        int32_t whole = last < 0 ? extreme_node(a, left, 1) : -1;
        return whole >= 0 ? whole : emptiest_node(a);
    }
    case PLACE_RANDOM: return random_node(a);
    }
    return -1;
}

/* Fills seats first ..; returns how many instances found a place. */
static int32_t place_all(const struct asking *a, int32_t first, int32_t per_inst)
{
    bool one_each = a->rules->mode == PLACE_SPREAD || a->rules->mode == PLACE_RANDOM;
    int32_t n_inst = a->n_inst, n = 0, node = -1;
    while (n < n_inst) {
        node = pick_node(a, n_inst - n, node);
        if (node < 0)
            break;
        int32_t before = n, take = one_each ? 1 : room(a, node);
        while (n < n_inst && n < before + take && seat_instance(a, node, first + n * per_inst)) {
            cluster_take(a->c, a->t, a->task, first + n * per_inst, per_inst);
            n++;
        }
        if (n == before)
            break;
    }
    return n;
}

int32_t place_task(struct cluster *c, const struct job_table *t, int32_t task, int32_t n_inst,
                   const struct place_rules *rules, int32_t *n_seats, bool *out_of_memory)
{
    int32_t gpu = t->gpu_milli[task], per_inst = cluster_seats_of_instance(c, gpu);
    int64_t n = (int64_t)n_inst * per_inst;
    *out_of_memory = false;
    if ((c->share == SHARE_CARD && gpu > 1000 && gpu % 1000 != 0) || n > INT32_MAX / 2 ||
        (rules->share_max <= 1 && (int64_t)n_inst * gpu > c->gpu_idle_milli))
        return -1;
    struct asking a = {
        c,    t, rules, task, n_inst, gpu, gpu >= 1000 && c->share == SHARE_CARD ? per_inst : 0,
        false};
    int32_t first = cluster_seats_new(c, (int32_t)n);
    if (first < 0) {
        *out_of_memory = true;
        return -1;
    }
    *n_seats = (int32_t)n;
    for (int attempt = 0; attempt < (rules->share_max > 1 && gpu > 0 ? 2 : 1); attempt++) {
        a.shared = attempt == 1;
        int32_t placed = place_all(&a, first, per_inst);
        if (placed == n_inst)
            return first;
        cluster_release(c, t, task, first, placed * per_inst);
    }
    cluster_seats_drop(c, first, (int32_t)n);
    return -1;
}
