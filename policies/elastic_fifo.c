/* elastic-fifo - first come, first served, where elastic jobs make room down to their minimum.
 *
 * A small elastic baseline of the project's own, not a model of a published system. The head of the
 * queue starts as soon as it fits with every running elastic job at gpu_min: itself at gpu_min
 * where it is elastic, else as asked. The GPUs above the minima are then handed out in order of
 * start, newcomers last, each job up to gpu_max: so the youngest gives way first, by no more than
 * is needed, and all grow again, oldest first, when GPUs are free. A head that does not fit even
 * so holds up the rest.
 *
 * Transitions are free and instant, and a job that shrinks keeps its first cards: nothing moves.
 * What transitions cost, and what a width is worth beyond elastic.scale_exp, is not modelled; nor
 * is fairness among elastic jobs. A newcomer that needs cards of one node can make others give way
 * by more than it takes; they grow again a microsecond later, as a job is resized once in a pass.
 * Jobs without gpu_min and gpu_max, of several tasks or of parts of a card start as asked. */
#include "core/cluster/policy.h"
#include "core/cluster/waitq.h"

struct elastic {
    struct waitq queue;
    bool stuck; /* the head did not fit since the last release */
};

/* Running elastic jobs in order of start, then the jobs admitted in this pass: the order in which
 * GPUs above the minima are handed out. */
struct crowd {
    struct member {
        int32_t job;
        int32_t width;  /* now; 0 for one that does not run yet */
        int32_t target; /* 0 for one that is not elastic */
        bool moved;     /* started or resized in this pass */
    } * member;         /* (n) */
    int32_t n_running, n;
    int32_t free; /* cards nobody sat on when the pass began */
};

static bool is_elastic(const struct plan *p, int32_t job) { return job_is_elastic(p->jobs, job); }
static int32_t least(const struct plan *p, int32_t job) { return p->jobs->gpu_min[job]; }
static int32_t most(const struct plan *p, int32_t job) { return p->jobs->gpu_max[job]; }
static int32_t width_of(const struct plan *p, int32_t job)
{
    return plan_width(p, p->jobs->task_begin[job]);
}

static int32_t free_cards(const struct cluster *c)
{
    int64_t n = c->gpu_idle_milli / 1000;
    if (c->share == SHARE_NODE_SUM)
        return (int32_t)n;
    n = 0;
    for (int32_t node = 0; node < c->n_nodes; node++)
        n += c->cards_free[node];
    return (int32_t)n;
}

/* Room for every waiting job as well. False when memory is out. */
static bool gather(const struct view *v, const struct plan *p, int32_t n_waiting, struct crowd *c)
{
    int32_t n = n_waiting;
    for (int32_t j = v->running_first; j >= 0; j = v->stay[j].next)
        n += is_elastic(p, j);
    *c = (struct crowd){.free = free_cards(p->cluster),
                        .member = arena_alloc(v->scratch, (size_t)n, sizeof *c->member)};
    for (int32_t j = v->running_first; c->member != NULL && j >= 0; j = v->stay[j].next)
        if (is_elastic(p, j))
            c->member[c->n++] = (struct member){.job = j, .width = width_of(p, j)};
    c->n_running = c->n;
    return c->member != NULL;
}

/* plan_start_width or plan_resize with the largest width from lo to hi that fits. What fits at one
 * width fits at every smaller one. */
static bool widest(struct plan *p, int32_t job, int32_t lo, int32_t hi,
                   bool (*set)(struct plan *p, int32_t job, int32_t n_inst))
{
    if (set(p, job, hi))
        return true;
    const size_t mark = plan_mark(p);
    int32_t fits = lo - 1;
    while (hi - fits > 1) {
        int32_t middle = fits + (hi - fits) / 2;
        *(set(p, job, middle) ? &fits : &hi) = middle;
        plan_undo(p, mark);
    }
    return fits >= lo && set(p, job, fits);
}

static bool start(struct plan *p, int32_t job, int32_t width)
{
    return is_elastic(p, job) ? widest(p, job, least(p, job), width, plan_start_width)
                              : plan_start(p, job);
}

/* Everybody at the minimum, then the heads of the queue as far as they fit: these leave it. */
static void admit_at_minimum(struct elastic *e, struct plan *p, struct crowd *c)
{
    for (int32_t i = 0; i < c->n_running; i++) {
        struct member *m = &c->member[i];
        m->target = least(p, m->job);
        m->moved = m->width > m->target && plan_resize(p, m->job, m->target);
    }
    for (int32_t job; (job = waitq_head(&e->queue)) >= 0;) {
        int32_t target = is_elastic(p, job) ? least(p, job) : 0;
        e->stuck = !start(p, job, target);
        if (e->stuck)
            return;
        waitq_take(&e->queue);
        c->member[c->n++] = (struct member){.job = job, .target = target, .moved = true};
    }
}

/* Cards that a job which is not elastic takes for itself. */
static int64_t whole_cards(const struct job_table *t, int32_t job)
{
    int64_t n = 0;
    for (int32_t k = t->task_begin[job]; k < t->task_begin[job + 1]; k++)
        n += (int64_t)t->n_inst[k] * (t->gpu_milli[k] / 1000);
    return n;
}

/* Cards above the minima that there are to hand out; negative where jobs share cards. */
static int64_t spare_cards(const struct plan *p, const struct crowd *c)
{
    int64_t spare = c->free;
    for (int32_t i = 0; i < c->n; i++) {
        const struct member *m = &c->member[i];
        spare += m->width;
        spare -= is_elastic(p, m->job) ? least(p, m->job) : whole_cards(p->jobs, m->job);
    }
    return spare;
}

static void set_targets(const struct plan *p, struct crowd *c, int64_t spare)
{
    for (int32_t i = 0; i < c->n; i++) {
        struct member *m = &c->member[i];
        if (!is_elastic(p, m->job))
            continue;
        int64_t more = most(p, m->job) - least(p, m->job);
        more = spare < more ? spare : more;
        more = more > 0 ? more : 0;
        m->target = least(p, m->job) + (int32_t)more;
        spare -= more;
    }
}

/* Shrinks to the targets and starts the admitted ones; false where one does not fit. */
static bool realise(struct plan *p, struct crowd *c)
{
    for (int32_t i = 0; i < c->n_running; i++) {
        struct member *m = &c->member[i];
        m->moved = m->target < m->width && plan_resize(p, m->job, m->target);
    }
    for (int32_t i = c->n_running; i < c->n; i++)
        if (!start(p, c->member[i].job, c->member[i].target))
            return false;
    return true;
}

/* The targets that leave the running jobs as many cards as the newcomers allow: all spare ones,
 * else the most by bisection, since cards kept back are not always where they are needed. */
static bool realise_best(struct plan *p, struct crowd *c)
{
    const size_t mark = plan_mark(p);
    int64_t spare = spare_cards(p, c);
    int64_t fits = spare < 0 ? spare : 0, fails = spare;
    set_targets(p, c, spare);
    if (realise(p, c))
        return true;
    while (fails - fits > 1) {
        int64_t middle = fits + (fails - fits) / 2;
        plan_undo(p, mark);
        set_targets(p, c, middle);
        *(realise(p, c) ? &fits : &fails) = middle;
    }
    plan_undo(p, mark);
    set_targets(p, c, fits);
    return realise(p, c);
}

static void admit(struct elastic *e, const struct view *v, struct plan *p, struct crowd *c)
{
    const size_t mark = plan_mark(p);
    bool elastic = false;
    admit_at_minimum(e, p, c);
    for (int32_t i = 0; i < c->n; i++)
        elastic = elastic || (c->member[i].moved && c->member[i].target > 0);
    if (c->n > c->n_running && !elastic)
        return; /* nobody gave way, and the newcomers take what they asked for */
    plan_undo(p, mark);
    if (c->n > c->n_running && realise_best(p, c))
        return;
    plan_undo(p, mark);
    for (int32_t i = 0; i < c->n_running; i++)
        c->member[i].moved = false;
    if (c->n == c->n_running)
        return;
    /* With random places they did not fit as they had before: they try again. */
    for (int32_t i = c->n_running; i < c->n; i++)
        waitq_push(&e->queue, c->member[i].job, v->jobs->submit_us[c->member[i].job]);
    c->n = c->n_running;
    e->stuck = false;
    plan_wake(p, v->now_us + 1);
}

/* Free cards go to those below their maximum, oldest first. */
static void grow(const struct view *v, struct plan *p, struct crowd *c)
{
    int32_t free = free_cards(p->cluster);
    bool again = false;
    for (int32_t i = 0; i < c->n && free > 0; i++) {
        const struct member *m = &c->member[i];
        int32_t want = is_elastic(p, m->job) ? most(p, m->job) : 0;
        int32_t width = width_of(p, m->job);
        want = want - width > free ? width + free : want;
        if (want <= width)
            continue;
        if (m->moved)
            again = true;
        else if (widest(p, m->job, width + 1, want, plan_resize))
            free -= width_of(p, m->job) - width;
    }
    if (again && free > 0)
        plan_wake(p, v->now_us + 1);
}

static enum status elastic_init(void *state, const void *config, const struct view *v,
                                const struct place_rules *rules, struct arena *arena,
                                struct error *err)
{
    (void)config;
    struct elastic *e = state;
    return waitq_init(&e->queue, v->jobs, rules->share_max > 1, arena) ? ST_OK : fail_memory(err);
}

/* Cost O(jobs admitted + running jobs + cards), a factor log(cards) more where the newcomers' cards
 * have to be looked for. */
static enum status elastic_decide(void *state, const struct view *v, struct plan *plan,
                                  struct error *err)
{
    struct elastic *e = state;
    struct crowd crowd;
    for (int32_t i = 0; i < v->n_arrived; i++)
        waitq_push(&e->queue, v->arrived[i], v->jobs->submit_us[v->arrived[i]]);
    e->stuck = e->stuck && v->n_finished == 0;
    if (!gather(v, plan, e->stuck ? 0 : e->queue.n, &crowd))
        return fail_memory(err);
    if (!e->stuck && e->queue.n > 0)
        admit(e, v, plan, &crowd);
    grow(v, plan, &crowd);
    return ST_OK;
}

const struct policy policy_elastic_fifo = {
    .abi = POLICY_ABI,
    .name = "elastic-fifo",
    .summary = "first come, first served; elastic jobs shrink to let others in and grow again",
    .source = "the project's case 44",
    .elastic = true,
    .state_size = sizeof(struct elastic),
    .init = elastic_init,
    .decide = elastic_decide,
};
