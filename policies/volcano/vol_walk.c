#include "policies/volcano/vol_walk.h"

#include "policies/volcano/vol_order.h"

static bool before(const struct vol_state *s, enum vol_line line, int32_t a, int32_t b)
{
    return vol_job_before(s, vol_lines_head(&s->lines, line, a),
                          vol_lines_head(&s->lines, line, b));
}

static void sift_down(const struct vol_state *s, enum vol_line line, int32_t *heap, int32_t n,
                      int32_t at)
{
    int32_t shape = heap[at];
    for (int32_t kid; (kid = 2 * at + 1) < n; at = kid) {
        if (kid + 1 < n && before(s, line, heap[kid + 1], heap[kid]))
            kid++;
        if (!before(s, line, heap[kid], shape))
            break;
        heap[at] = heap[kid];
    }
    heap[at] = shape;
}

void vol_walk_begin(struct vol_state *s, enum vol_line line)
{
    s->n_actions++;
    for (int32_t q = 0; q < s->size.n_queues; q++) {
        int32_t first = s->lines.begin[q], n = s->lines.line[line].n[q];
        for (int32_t i = first; i < first + n; i++)
            s->heap[i] = s->lines.line[line].shapes[i];
        for (int32_t i = n / 2 - 1; i >= 0; i--)
            sift_down(s, line, s->heap + first, n, i);
        s->n_heap[q] = n;
    }
}

bool vol_walk_empty(const struct vol_state *s, int32_t queue) { return s->n_heap[queue] == 0; }

int32_t vol_walk_next(struct vol_state *s, enum vol_line line, int32_t queue)
{
    int32_t *heap = s->heap + s->lines.begin[queue];
    if (s->n_heap[queue] == 0)
        return -1;
    int32_t shape = heap[0];
    heap[0] = heap[--s->n_heap[queue]];
    if (s->n_heap[queue] > 0)
        sift_down(s, line, heap, s->n_heap[queue], 0);
    return shape;
}

void vol_walk_add(struct vol_state *s, enum vol_line line, int32_t shape)
{
    int32_t queue = s->shape[shape].queue, *heap = s->heap + s->lines.begin[queue];
    int32_t at = s->n_heap[queue]++;
    while (at > 0 && before(s, line, shape, heap[(at - 1) / 2])) {
        heap[at] = heap[(at - 1) / 2];
        at = (at - 1) / 2;
    }
    heap[at] = shape;
}
