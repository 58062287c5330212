#include "policies/lucid/line.h"

bool line_init(struct line *l, const struct view *v, struct arena *arena)
{
    if (!vcs_init(&l->vcs, v, arena))
        return false;
    l->queue = arena_alloc(arena, (size_t)l->vcs.n, sizeof *l->queue);
    return l->queue != NULL &&
           waitq_init_many(l->queue, l->vcs.n, v->jobs, l->vcs.of, false, arena);
}

void line_push(struct line *l, const struct job_table *t, int32_t job, int64_t key)
{
    if (vcs_hold(&l->vcs, t, job))
        waitq_push(&l->queue[l->vcs.of[job]], job, key);
}

void line_walk(struct line *l, struct plan *plan, int32_t vc)
{
    for (int32_t job; (job = waitq_head(&l->queue[vc])) >= 0 && vcs_start(&l->vcs, plan, job);)
        waitq_take(&l->queue[vc]);
    l->vcs.vc[vc].due = false;
}

void line_decide(struct line *l, const struct view *v, struct plan *plan, line_key_fn key)
{
    vcs_begin(&l->vcs, v);
    for (int32_t i = 0; i < v->n_arrived; i++)
        line_push(l, v->jobs, v->arrived[i], key(v->jobs, v->arrived[i]));
    for (int32_t i = 0; i < l->vcs.n; i++)
        if (l->vcs.vc[i].due)
            line_walk(l, plan, i);
}
