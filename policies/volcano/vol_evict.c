#include "policies/volcano/vol_evict.h"

#include "policies/volcano/vol_order.h"
#include "policies/volcano/vol_tasks.h"
#include "policies/volcano/vol_victims.h"
#include "policies/volcano/vol_walk.h"

#include <stdlib.h>

static int32_t queue_of(const struct vol_state *s, int32_t job)
{
    return s->shape[s->job_shape[job]].queue;
}

static const struct amounts *asked(const struct vol_state *s, int32_t task)
{
    return &s->ask[s->task_ask[task]].amounts;
}

/* Would the task fit if all victims went? */
static bool worth_it(const struct vol_state *s, int32_t node, int32_t n, int32_t preemptor)
{
    struct amounts room = vol_future_idle(&s->nodes, node);
    for (int32_t i = 0; i < n; i++)
        if (s->evicting.victim[i])
            amounts_add(&room, asked(s, s->evicting.task[i]), 1);
    return amounts_within(asked(s, preemptor), &room);
}

/* reclaim asks about the queue once, before it looks for victims. */
static bool fits(struct vol_state *s, int32_t task, int32_t node, enum vol_expense expense)
{
    return (expense == VOL_OF_OTHER_QUEUES ||
            vol_may_allocate(s, queue_of(s, s->task_job[task]), asked(s, task))) &&
           vol_fit(&s->nodes, &s->liking, &s->ask[s->task_ask[task]], node, NULL) != VOL_FITS_NOT;
}

/* Evicts from the node, the worst first, until the task fits; promises it the node, or leaves
 * everything as it was. */
static bool make_room(struct vol_state *s, int32_t task, int32_t node, enum vol_expense expense)
{
    int32_t n = vol_candidates(s, node, task, expense), mark = s->n_undo;
    bool reclaims = expense == VOL_OF_OTHER_QUEUES;
    if (reclaims && n == 0)
        return false;
    vol_agree(s, reclaims ? VOL_ON_RECLAIMABLE : VOL_ON_PREEMPTABLE, n, task);
    if (!worth_it(s, node, n, task))
        return false;
    bool fit = fits(s, task, node, expense);
    for (int32_t i = 0; i < n && !fit; i++) {
        if (!s->evicting.victim[i])
            continue;
        vol_change(s, s->evicting.task[i], VOL_RELEASING, node);
        fit = fits(s, task, node, expense);
    }
    if (fit)
        vol_change(s, task, VOL_PIPELINED, node);
    else
        vol_undo_to(s, mark);
    return fit;
}

static int by_score(const void *a, const void *b, void *score_)
{
    const double *score = score_;
    int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
    if (score[x] > score[y] || score[x] < score[y])
        return score[x] > score[y] ? -1 : 1;
    return x < y ? -1 : 1;
}

static void shuffle(int32_t *node, int32_t n, gsl_rng *rng)
{
    for (int32_t i = 0; i + 1 < n; i++) {
        int32_t k = i + (int32_t)gsl_rng_uniform_int(rng, (unsigned long)(n - i)), swap = node[i];
        node[i] = node[k];
        node[k] = swap;
    }
}

/* The nodes with the label asked for, the best first where scores decide; equally good ones in
 * random order where ties are drawn. Returns how many. */
static int32_t nodes_for(struct vol_state *s, int32_t task, bool scored)
{
    const struct vol_ask *ask = &s->ask[s->task_ask[task]];
    struct vol_evicting *e = &s->evicting;
    int32_t n = 0;
    for (int32_t i = 0; i < s->nodes.n; i++)
        if (vol_label_fits(&s->nodes, &s->liking, ask, i))
            e->node[n++] = i;
    if (!scored)
        return n;
    for (int32_t i = 0; i < n; i++)
        e->score[e->node[i]] = vol_liked(&s->nodes, &s->liking, ask, e->node[i]);
    qsort_r(e->node, (size_t)n, sizeof *e->node, by_score, e->score);
    for (int32_t i = 0, end; i < n && s->config->rng != NULL; i = end) {
        for (end = i + 1; end < n && !(e->score[e->node[end]] < e->score[e->node[i]]);)
            end++;
        shuffle(e->node + i, end - i, s->config->rng);
    }
    return n;
}

static bool evict_for(struct vol_state *s, int32_t task, enum vol_expense expense)
{
    if (s->task_meek != NULL && s->task_meek[task])
        return false;
    if (expense == VOL_OF_OTHER_QUEUES && (s->on[VOL_PROPORTION] & VOL_ON_PREEMPTIVE) &&
        !vol_allocatable(&s->queue[queue_of(s, s->task_job[task])], asked(s, task)))
        return false;
    int32_t n = nodes_for(s, task, expense != VOL_OF_OTHER_QUEUES);
    for (int32_t i = 0; i < n; i++)
        if (make_room(s, task, s->evicting.node[i], expense))
            return true;
    return false;
}

/* Evictions since the mark are final; promises are taken back when the session closes. */
static void commit(struct vol_state *s, int32_t mark)
{
    int32_t promised = mark;
    s->evicting.n_moves += s->n_undo > mark;
    for (int32_t i = mark; i < s->n_undo; i++) {
        if (s->status[s->undo[i].task] == VOL_RELEASING)
            s->evicted[s->n_evicted++] = s->undo[i].task;
        else
            s->undo[promised++] = s->undo[i];
    }
    vol_keep(s, promised);
}

/* Has a job of this shape just failed, with everything as it is now? */
static bool hopeless(const struct vol_state *s, int32_t job)
{
    int32_t shape = s->job_shape[job];
    return s->shape[shape].uniform && s->evicting.failed[shape] == s->evicting.n_moves;
}

static void evict_for_job(struct vol_state *s, int32_t job, enum vol_expense expense)
{
    int32_t mark = s->n_undo;
    if (!vol_job_starving(s, job) || hopeless(s, job))
        return;
    for (int32_t k = s->task_begin[job]; k < s->task_begin[job + 1] && vol_job_starving(s, job);
         k++)
        if (s->status[k] == VOL_WAITING)
            evict_for(s, k, expense);
    if (vol_job_pipelined(s, job)) {
        commit(s, mark);
        return;
    }
    vol_undo_to(s, mark);
    s->evicting.failed[s->job_shape[job]] = s->evicting.n_moves;
}

/* All jobs of the queue that wait for nodes, in order, written to job; they are out of the line.
 * Returns how many. */
static int32_t take_jobs(struct vol_state *s, int32_t queue, int32_t *job)
{
    int32_t n = 0;
    for (int32_t shape; (shape = vol_walk_next(s, VOL_LINE_NODES, queue)) >= 0;) {
        job[n++] = vol_lines_pop(&s->lines, VOL_LINE_NODES, shape);
        if (vol_lines_head(&s->lines, VOL_LINE_NODES, shape) >= 0)
            vol_walk_add(s, VOL_LINE_NODES, shape);
    }
    return n;
}

/* What tasks of one job do to each other. */
static void evict_inside(struct vol_state *s, int32_t job)
{
    for (int32_t k = s->task_begin[job]; k < s->task_begin[job + 1]; k++) {
        int32_t mark = s->n_undo;
        if (s->status[k] != VOL_WAITING)
            continue;
        if (hopeless(s, job))
            return;
        if (!evict_for(s, k, VOL_OF_ITSELF)) {
            s->evicting.failed[s->job_shape[job]] = s->evicting.n_moves;
            return;
        }
        commit(s, mark);
    }
}

static void evict_in_queue(struct vol_state *s, int32_t queue, enum vol_expense expense)
{
    struct vol_evicting *e = &s->evicting;
    int32_t n = take_jobs(s, queue, e->job);
    for (int32_t i = 0; i < n; i++)
        e->starves[i] = vol_job_starving(s, e->job[i]);
    e->n_moves++; /* what failed before may not fail now */
    for (int32_t i = 0; i < n; i++)
        evict_for_job(s, e->job[i], expense);
    e->n_moves++;
    for (int32_t i = 0; i < n && expense == VOL_OF_OTHER_JOBS; i++)
        if (e->starves[i])
            evict_inside(s, e->job[i]);
    for (int32_t i = 0; i < n; i++)
        vol_lines_push(&s->lines, VOL_LINE_NODES, e->job[i]);
}

static void evict(struct vol_state *s, enum vol_expense expense)
{
    vol_walk_begin(s, VOL_LINE_NODES);
    for (int32_t q = 0; q < s->size.n_queues; q++)
        s->queue_done[q] = vol_walk_empty(s, q);
    for (int32_t q; (q = vol_first_queue(s, s->queue_done)) >= 0;) {
        s->queue_done[q] = true;
        if (expense == VOL_OF_OTHER_QUEUES && (s->on[VOL_PROPORTION] & VOL_ON_OVERUSED) &&
            vol_overused(&s->queue[q]))
            continue;
        evict_in_queue(s, q, expense);
    }
}

void vol_preempt(struct vol_state *s) { evict(s, VOL_OF_OTHER_JOBS); }

void vol_reclaim(struct vol_state *s) { evict(s, VOL_OF_OTHER_QUEUES); }
