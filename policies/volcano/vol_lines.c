#include "policies/volcano/vol_lines.h"

#include <assert.h>

bool vol_lines_init(struct vol_lines *l, int32_t n_jobs, const int32_t *shape, const int32_t *rank,
                    int32_t n_shapes, const int32_t *queue, int32_t n_queues, struct arena *arena)
{
    *l = (struct vol_lines){.shape = shape, .rank = rank, .queue = queue};
    l->child = arena_alloc(arena, (size_t)n_jobs, sizeof *l->child);
    l->sibling = arena_alloc(arena, (size_t)n_jobs, sizeof *l->sibling);
    l->begin = arena_alloc(arena, (size_t)n_queues + 1, sizeof *l->begin);
    if (l->child == NULL || l->sibling == NULL || l->begin == NULL)
        return false;
    for (int32_t s = 0; s < n_shapes; s++)
        l->begin[queue[s] + 1]++;
    for (int32_t q = 0; q < n_queues; q++)
        l->begin[q + 1] += l->begin[q];
    for (int i = 0; i < N_VOL_LINES; i++) {
        l->line[i].head = arena_alloc(arena, (size_t)n_shapes, sizeof *l->line[i].head);
        l->line[i].shapes = arena_alloc(arena, (size_t)n_shapes, sizeof *l->line[i].shapes);
        l->line[i].at = arena_alloc(arena, (size_t)n_shapes, sizeof *l->line[i].at);
        l->line[i].n = arena_alloc(arena, (size_t)n_queues, sizeof *l->line[i].n);
        if (l->line[i].head == NULL || l->line[i].shapes == NULL || l->line[i].at == NULL ||
            l->line[i].n == NULL)
            return false;
        for (int32_t s = 0; s < n_shapes; s++)
            l->line[i].head[s] = l->line[i].at[s] = -1;
    }
    return true;
}

static int32_t meld(struct vol_lines *l, int32_t a, int32_t b)
{
    if (a < 0 || b < 0)
        return a < 0 ? b : a;
    int32_t first = l->rank[a] < l->rank[b] ? a : b, then = first == a ? b : a;
    l->sibling[then] = l->child[first];
    l->child[first] = then;
    return first;
}

/* Two passes over the children of a job that leaves: pairs left to right, then back. */
static int32_t meld_children(struct vol_lines *l, int32_t first)
{
    int32_t done = -1, root = -1;
    while (first >= 0) {
        int32_t second = l->sibling[first];
        int32_t rest = second >= 0 ? l->sibling[second] : -1;
        int32_t pair = meld(l, first, second);
        l->sibling[pair] = done;
        done = pair;
        first = rest;
    }
    while (done >= 0) {
        int32_t next = l->sibling[done];
        root = meld(l, root, done);
        done = next;
    }
    return root;
}

void vol_lines_push(struct vol_lines *l, enum vol_line line, int32_t job)
{
    int32_t shape = l->shape[job], queue = l->queue[shape];
    l->child[job] = l->sibling[job] = -1;
    l->line[line].head[shape] = meld(l, l->line[line].head[shape], job);
    if (l->line[line].at[shape] >= 0)
        return;
    int32_t at = l->begin[queue] + l->line[line].n[queue]++;
    l->line[line].at[shape] = at;
    l->line[line].shapes[at] = shape;
}

int32_t vol_lines_pop(struct vol_lines *l, enum vol_line line, int32_t shape)
{
    int32_t job = l->line[line].head[shape], queue = l->queue[shape];
    assert(job >= 0);
    l->line[line].head[shape] = meld_children(l, l->child[job]);
    if (l->line[line].head[shape] >= 0)
        return job;
    int32_t at = l->line[line].at[shape];
    int32_t last = l->line[line].shapes[l->begin[queue] + --l->line[line].n[queue]];
    l->line[line].shapes[at] = last;
    l->line[line].at[last] = at;
    l->line[line].at[shape] = -1;
    return job;
}
