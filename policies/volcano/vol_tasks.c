#include "policies/volcano/vol_tasks.h"

#include <assert.h>
#include <stddef.h>

static struct vol_queue *queue_of(struct vol_state *s, int32_t job)
{
    return &s->queue[s->shape[s->job_shape[job]].queue];
}

static bool holds_cards(enum vol_status status)
{
    return status == VOL_ALLOCATED || status == VOL_PIPELINED || status == VOL_BOUND;
}

/* The task as it is, added to (sign 1) or taken out of (-1) the books of its job, queue and node.
 */
static void book(struct vol_state *s, int32_t task, int sign)
{
    int32_t job = s->task_job[task], node = s->task_node[task];
    const struct vol_ask *ask = &s->ask[s->task_ask[task]];
    struct vol_queue *queue = queue_of(s, job);
    enum vol_status status = (enum vol_status)s->status[task];
    s->n_pods[job] += status == VOL_NONE ? 0 : sign;
    switch (status) {
    case VOL_NONE: break;
    case VOL_WAITING:
        s->n_waiting[job] += sign;
        s->n_empty[job] += ask->empty ? sign : 0;
        amounts_add(&queue->pending, &ask->amounts, sign);
        break;
    case VOL_ALLOCATED:
    case VOL_BOUND:
        s->n_ready[job] += sign;
        s->n_held[job] += sign;
        amounts_add(&s->held[job], &ask->amounts, sign);
        amounts_add(&queue->allocated, &ask->amounts, sign);
        vol_nodes_take(&s->nodes, node, &ask->amounts, sign);
        break;
    case VOL_PIPELINED:
        s->n_pipelined[job] += sign;
        amounts_add(&queue->allocated, &ask->amounts, sign);
        vol_nodes_promise(&s->nodes, node, &ask->amounts, sign);
        break;
    case VOL_RELEASING:
        vol_nodes_take(&s->nodes, node, &ask->amounts, sign);
        vol_nodes_release(&s->nodes, node, &ask->amounts, sign);
        break;
    case VOL_SUCCEEDED: s->n_ready[job] += sign; break;
    }
}

static void take_cards(struct vol_state *s, int32_t task, int sign)
{
    const struct vgpu_ask *ask = &s->ask[s->task_ask[task]].cards;
    for (int32_t i = 0; i < ask->n; i++)
        vgpu_take(&s->nodes.card[s->task_card[s->card_begin[task] + i]], ask, sign);
}

/* Bars the cards that members of the job sit on, or no longer. */
static void bar_members(struct vol_state *s, int32_t job, bool barred)
{
    for (int32_t k = s->task_begin[job]; k < s->task_begin[job + 1]; k++)
        for (int32_t i = 0;
             holds_cards((enum vol_status)s->status[k]) && i < s->ask[s->task_ask[k]].cards.n; i++)
            s->barred[s->task_card[s->card_begin[k] + i]] = barred;
}

/* Which cards of the node a task that has none yet gets. */
static void pick_cards(struct vol_state *s, int32_t task, int32_t node)
{
    const struct vgpu_ask *ask = &s->ask[s->task_ask[task]].cards;
    int32_t first = s->nodes.card_begin[node], n = s->nodes.card_begin[node + 1] - first;
    int32_t *card = &s->task_card[s->card_begin[task]];
    bool spread = s->config->spread_members;
    if (spread)
        bar_members(s, s->task_job[task], true);
    bool fits = vgpu_pick(s->config->card_order, s->nodes.card + first, n, ask,
                          spread ? s->barred + first : NULL, card);
    assert(fits);
    if (spread)
        bar_members(s, s->task_job[task], false);
    for (int32_t i = 0; i < ask->n; i++)
        card[i] += first;
}

static void link_to_node(struct vol_state *s, int32_t task)
{
    int32_t node = s->task_node[task], head = s->on_node[node];
    s->prev_on_node[task] = -1;
    s->next_on_node[task] = head;
    if (head >= 0)
        s->prev_on_node[head] = task;
    s->on_node[node] = task;
}

static void unlink_from_node(struct vol_state *s, int32_t task)
{
    int32_t next = s->next_on_node[task], prev = s->prev_on_node[task];
    if (next >= 0)
        s->prev_on_node[next] = prev;
    *(prev >= 0 ? &s->next_on_node[prev] : &s->on_node[s->task_node[task]]) = next;
}

static bool on_a_node(enum vol_status status)
{
    return holds_cards(status) || status == VOL_RELEASING;
}

/* What a group holds back: by its queue's books, and by overcommit's, which count all that was
 * asked for until the group runs; and what it has beyond its minimum. */
struct reservation {
    struct amounts in_queue, in_all, beyond;
};

static struct reservation reservation_of(const struct vol_state *s, int32_t job)
{
    const struct vol_shape *shape = &s->shape[s->job_shape[job]];
    struct reservation r = {.beyond = amounts_beyond(&s->held[job], &shape->min_resources)};
    struct amounts lacking = amounts_beyond(&shape->min_resources, &s->held[job]);
    switch ((enum vol_phase)s->phase[job]) {
    case VOL_ABSENT:
    case VOL_PENDING: break;
    case VOL_INQUEUE:
        r.in_queue = lacking;
        r.in_all = shape->min_resources;
        break;
    case VOL_RUNNING:
        if (s->n_held[job] >= shape->min_available)
            r.in_queue = r.in_all = lacking;
        break;
    }
    return r;
}

void vol_reserve(struct vol_state *s, int32_t job, double times)
{
    struct reservation r = reservation_of(s, job);
    struct vol_queue *queue = queue_of(s, job);
    amounts_add(&queue->inqueue, &r.in_queue, times);
    amounts_add(&queue->elastic, &r.beyond, times);
    amounts_add(&s->inqueue, &r.in_all, times);
}

static bool holds(enum vol_status status) { return status == VOL_ALLOCATED || status == VOL_BOUND; }

void vol_set(struct vol_state *s, int32_t task, enum vol_status status, int32_t node)
{
    enum vol_status before = (enum vol_status)s->status[task];
    bool cards = s->ask[s->task_ask[task]].cards.n > 0;
    bool held_changes = holds(before) != holds(status);
    if (held_changes)
        vol_reserve(s, s->task_job[task], -1);
    book(s, task, -1);
    if (cards && holds_cards(before))
        take_cards(s, task, -1);
    if (on_a_node(before) && !(on_a_node(status) && node == s->task_node[task]))
        unlink_from_node(s, task);
    if (cards && holds_cards(status) && !on_a_node(before))
        pick_cards(s, task, node);
    bool linked = on_a_node(before) && on_a_node(status) && node == s->task_node[task];
    s->status[task] = (uint8_t)status;
    s->task_node[task] = node;
    if (cards && holds_cards(status))
        take_cards(s, task, 1);
    if (on_a_node(status) && !linked)
        link_to_node(s, task);
    book(s, task, 1);
    if (held_changes)
        vol_reserve(s, s->task_job[task], 1);
}

int32_t vol_place(struct vol_state *s, int32_t task, enum vol_fit *fit)
{
    int32_t job = s->task_job[task];
    const struct vol_ask *ask = &s->ask[s->task_ask[task]];
    if (!s->config->spread_members || ask->cards.n == 0)
        return vol_ranking_best(&s->ranking, &s->nodes, &s->liking, s->ask, s->task_ask[task], fit);
    bar_members(s, job, true);
    int32_t node = vol_best_by_scan(&s->nodes, &s->liking, ask, s->barred, s->config->rng, fit);
    bar_members(s, job, false);
    return node;
}

void vol_change(struct vol_state *s, int32_t task, enum vol_status status, int32_t node)
{
    assert(s->n_undo < s->size.n_tasks);
    s->undo[s->n_undo++] =
        (struct vol_undo){task, s->task_node[task], (enum vol_status)s->status[task]};
    vol_set(s, task, status, node);
}

void vol_undo_to(struct vol_state *s, int32_t mark)
{
    while (s->n_undo > mark) {
        const struct vol_undo *u = &s->undo[--s->n_undo];
        vol_set(s, u->task, u->status, u->node);
    }
}

static bool near(const struct amounts *a, const struct amounts *b)
{
    return amounts_within(a, b) && amounts_within(b, a);
}

static bool job_valid(const struct vol_state *s, int32_t job)
{
    int32_t n[VOL_SUCCEEDED + 1] = {0}, n_empty = 0;
    struct amounts held = {{0}};
    for (int32_t k = s->task_begin[job]; k < s->task_begin[job + 1]; k++) {
        n[s->status[k]]++;
        n_empty += s->status[k] == VOL_WAITING && s->ask[s->task_ask[k]].empty;
        if (holds((enum vol_status)s->status[k]))
            amounts_add(&held, &s->ask[s->task_ask[k]].amounts, 1);
    }
    int32_t n_tasks = s->task_begin[job + 1] - s->task_begin[job];
    int32_t n_held = n[VOL_ALLOCATED] + n[VOL_BOUND];
    return s->n_held[job] == n_held && s->n_ready[job] == n_held + n[VOL_SUCCEEDED] &&
           s->n_waiting[job] == n[VOL_WAITING] && s->n_pipelined[job] == n[VOL_PIPELINED] &&
           s->n_empty[job] == n_empty && s->n_pods[job] == n_tasks - n[VOL_NONE] &&
           near(&held, &s->held[job]);
}

static bool node_valid(const struct vol_state *s, int32_t node)
{
    struct amounts idle = s->nodes.size[node], releasing = {{0}}, promised = {{0}}, none = {{0}};
    for (int32_t k = s->on_node[node]; k >= 0; k = s->next_on_node[k]) {
        const struct amounts *asked = &s->ask[s->task_ask[k]].amounts;
        enum vol_status status = (enum vol_status)s->status[k];
        if (s->task_node[k] != node || !on_a_node(status))
            return false;
        amounts_add(&promised, asked, status == VOL_PIPELINED);
        amounts_add(&releasing, asked, status == VOL_RELEASING);
        amounts_add(&idle, asked, status == VOL_PIPELINED ? 0 : -1);
    }
    return near(&idle, &s->nodes.idle[node]) && near(&releasing, &s->nodes.releasing[node]) &&
           near(&promised, &s->nodes.promised[node]) && amounts_within(&none, &idle);
}

static bool queue_valid(const struct vol_state *s, int32_t queue)
{
    struct amounts allocated = {{0}}, pending = {{0}}, inqueue = {{0}}, elastic = {{0}};
    int32_t n_jobs = 0;
    for (int32_t j = 0; j < s->size.n_jobs; j++) {
        if (s->shape[s->job_shape[j]].queue != queue || s->phase[j] == VOL_ABSENT)
            continue;
        struct reservation r = reservation_of(s, j);
        n_jobs++;
        amounts_add(&inqueue, &r.in_queue, 1);
        amounts_add(&elastic, &r.beyond, 1);
        for (int32_t k = s->task_begin[j]; k < s->task_begin[j + 1]; k++) {
            const struct amounts *asked = &s->ask[s->task_ask[k]].amounts;
            amounts_add(&allocated, asked, holds_cards((enum vol_status)s->status[k]));
            amounts_add(&pending, asked, s->status[k] == VOL_WAITING);
        }
    }
    const struct vol_queue *q = &s->queue[queue];
    return n_jobs == q->n_jobs && near(&allocated, &q->allocated) && near(&pending, &q->pending) &&
           near(&inqueue, &q->inqueue) && near(&elastic, &q->elastic);
}

bool vol_state_valid(const struct vol_state *s)
{
    struct amounts inqueue = {{0}};
    for (int32_t j = 0; j < s->size.n_jobs; j++) {
        struct reservation r = reservation_of(s, j);
        amounts_add(&inqueue, &r.in_all, 1);
        if (!job_valid(s, j))
            return false;
    }
    for (int32_t i = 0; i < s->size.n_nodes; i++)
        if (!node_valid(s, i))
            return false;
    for (int32_t q = 0; q < s->size.n_queues; q++)
        if (!queue_valid(s, q))
            return false;
    return near(&inqueue, &s->inqueue);
}
