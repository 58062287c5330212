#include "tests/ref_lucid_tick.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

enum {
    NODE_GPUS = 8,
    MAX_NODES = 64,
    ELASTIC = 9999,
    PROFILE_S = 200,
    MEMORY_MIB = 24576,
    FORECAST_S = 600,
    LAS_LIMIT_GPU_S = 18000
};

struct node {
    int name, n;
    struct {
        int job;
        unsigned gpus;   /* a bit each */
    } at[2 * NODE_GPUS]; /* (n) in order of allocation */
};

struct nodes {
    struct node node[MAX_NODES];
    int n;
};

struct list {
    int *job, n;
};

struct state {
    double remain, rate, priority, attained;
    int64_t profile_queue_s, preempted_at;
    bool exclusive, skip;
};

struct model {
    struct ref_lucid *r;
    struct ref_lucid_job *job; /* of r */
    struct state *state;       /* (n_jobs) */
    struct list profiled;      /* in order of their start there */
    struct move {
        int64_t time_s;
        int by;
    } * move; /* (n_moves) nodes the profiler got and gave back */
    int n_moves;
};

/* One virtual cluster, or the profiler, while it runs. */
struct site {
    struct model *m;
    int vc; /* -1: the profiler */
    struct nodes nodes;
    struct list waiting, running;
    int n_arrived, n_profiled, n_moved, n_left;
    bool sharing;
};

static void append(struct list *l, int job) { l->job[l->n++] = job; }

static void take_out(struct list *l, int job)
{
    int at = 0;

    while (l->job[at] != job)
        at++;
    memmove(l->job + at, l->job + at + 1, (size_t)(--l->n - at) * sizeof *l->job);
}

/* Stable: a later one goes before an earlier one only where its key is smaller. */
static void sort(struct list *l, double (*key)(const struct model *m, int job),
                 const struct model *m)
{
    for (int i = 1; i < l->n; i++) {
        int job = l->job[i], at = i;
        for (; at > 0 && key(m, job) < key(m, l->job[at - 1]); at--)
            l->job[at] = l->job[at - 1];
        l->job[at] = job;
    }
}

static double submit_of(const struct model *m, int job) { return (double)m->job[job].submit_s; }
static double duration_of(const struct model *m, int job) { return (double)m->job[job].duration_s; }
static double gpus_of(const struct model *m, int job) { return m->job[job].gpus; }
static double priority_of(const struct model *m, int job) { return m->state[job].priority; }
static double number_of(const struct model *m, int job) { return (void)m, job; }
static double remain_of(const struct model *m, int job) { return m->state[job].remain; }

static unsigned used_gpus(const struct node *n)
{
    unsigned used = 0;

    for (int i = 0; i < n->n; i++)
        used |= n->at[i].gpus;
    return used;
}

static int free_gpus(const struct node *n) { return NODE_GPUS - __builtin_popcount(used_gpus(n)); }

static void seat(struct node *n, int job, unsigned gpus)
{
    n->at[n->n].job = job;
    n->at[n->n++].gpus = gpus;
}

static void seat_lowest(struct node *n, int job, int g)
{
    unsigned used = used_gpus(n), gpus = 0;

    for (int k = 0; g > 0; k++)
        if ((used & 1u << k) == 0) {
            gpus |= 1u << k;
            g--;
        }
    seat(n, job, gpus);
}

static void leave(struct nodes *l, int job)
{
    for (int i = 0; i < l->n; i++)
        for (int k = 0; k < l->node[i].n; k++)
            if (l->node[i].at[k].job == job) {
                memmove(&l->node[i].at[k], &l->node[i].at[k + 1],
                        (size_t)(--l->node[i].n - k) * sizeof l->node[i].at[k]);
                break;
            }
}

static bool place_narrow(struct nodes *l, int job, int g)
{
    struct node *best = NULL;

    for (int i = 0; i < l->n; i++)
        if (free_gpus(&l->node[i]) >= g &&
            (best == NULL || free_gpus(&l->node[i]) < free_gpus(best)))
            best = &l->node[i];
    if (best == NULL)
        return false;
    seat_lowest(best, job, g);
    return true;
}

static bool place_wide(struct nodes *l, int job, int g)
{
    struct node *order[MAX_NODES];
    int n = 0, full = g / NODE_GPUS, rest = g % NODE_GPUS;

    for (int i = 0; i < l->n; i++) {
        int at = n++;
        for (; at > 0 && free_gpus(order[at - 1]) < free_gpus(&l->node[i]); at--)
            order[at] = order[at - 1];
        order[at] = &l->node[i];
    }
    if (full + (rest > 0) > n || free_gpus(order[full - 1]) < NODE_GPUS ||
        (rest > 0 && free_gpus(order[full]) < rest))
        return false;
    for (int i = 0; i < full; i++)
        seat_lowest(order[i], job, NODE_GPUS);
    if (rest > 0)
        seat_lowest(order[full], job, rest);
    return true;
}

static bool place(struct site *s, int job)
{
    int g = s->m->job[job].gpus;
    return g <= NODE_GPUS ? place_narrow(&s->nodes, job, g) : place_wide(&s->nodes, job, g);
}

static void add_node(struct nodes *l, int name)
{
    cr_assert_lt(l->n, MAX_NODES);
    l->node[l->n++] = (struct node){.name = name};
}

static void remove_node(struct nodes *l, int at)
{
    memmove(&l->node[at], &l->node[at + 1], (size_t)(--l->n - at) * sizeof l->node[at]);
}

static int find_name(const struct nodes *l, int name)
{
    for (int i = 0; i < l->n; i++)
        if (l->node[i].name == name)
            return i;
    return -1;
}

static void end_job(struct site *s, int job, int64_t t)
{
    s->m->job[job].end_s = t;
    leave(&s->nodes, job);
    take_out(&s->running, job);
    s->n_left--;
}

/* FIFO, SJF, QSSF and the profiler: a job ends after its duration. */
static void end_by_clock(struct site *s, int64_t t)
{
    for (int i = s->running.n - 1; i >= 0; i--)
        if (s->m->job[s->running.job[i]].end_s == t)
            end_job(s, s->running.job[i], t);
}

static void order_queue(struct site *s, int n_new)
{
    enum ref_order order = s->m->r->order;

    if (order != REF_QSSF) {
        sort(&s->waiting, order == REF_FIFO ? submit_of : duration_of, s->m);
        return;
    }
    sort(&s->waiting, gpus_of, s->m);
    if (s->waiting.n > n_new)
        sort(&s->waiting, priority_of, s->m);
}

static void start_in_order(struct site *s, int64_t t)
{
    while (s->waiting.n > 0 && place(s, s->waiting.job[0])) {
        int job = s->waiting.job[0];
        struct ref_lucid_job *j = &s->m->job[job];
        j->start_s = t;
        j->end_s = t + j->duration_s;
        j->queue_s = t - j->submit_s;
        take_out(&s->waiting, job);
        append(&s->running, job);
    }
}

/* SRTF, Tiresias: a job ends at the second after the one that left nothing. */
static void advance(struct site *s, int64_t t)
{
    for (int i = 0; i < s->running.n;) {
        int job = s->running.job[i];
        if (s->m->state[job].remain == 0) {
            end_job(s, job, t);
            continue;
        }
        s->m->state[job].remain--;
        s->m->state[job].attained += s->m->job[job].gpus;
        i++;
    }
}

static void concat(struct list *to, const struct list *a, const struct list *b)
{
    for (int i = 0; i < a->n; i++)
        append(to, a->job[i]);
    for (int i = 0; i < b->n; i++)
        append(to, b->job[i]);
}

/* SRTF: by what remains; Tiresias: by submission, those above the limit behind the others. */
static void selection_order(struct site *s, struct list *order)
{
    int high = 0;

    if (s->m->r->order == REF_SRTF) {
        concat(order, &s->waiting, &s->running);
        sort(order, remain_of, s->m);
        return;
    }
    concat(order, &s->running, &s->waiting);
    sort(order, submit_of, s->m);
    for (int i = 0; i < order->n; i++) {
        int job = order->job[i], at = i;
        if (s->m->state[job].attained > LAS_LIMIT_GPU_S)
            continue;
        for (; at > high; at--)
            order->job[at] = order->job[at - 1];
        order->job[high++] = job;
    }
}

static bool is_in(const struct list *l, int job)
{
    for (int i = 0; i < l->n; i++)
        if (l->job[i] == job)
            return true;
    return false;
}

static void preempt(struct site *s, int job, int64_t t)
{
    struct ref_lucid_job *j = &s->m->job[job];

    j->n_preempted++;
    s->m->state[job].preempted_at = t;
    s->m->state[job].remain += j->gpus <= NODE_GPUS ? 40 : 60;
    leave(&s->nodes, job);
    take_out(&s->running, job);
    append(&s->waiting, job);
}

static void resume(struct site *s, int job, int64_t t)
{
    struct ref_lucid_job *j = &s->m->job[job];

    if (!place(s, job))
        return;
    if (j->n_preempted == 0)
        j->start_s = t;
    j->queue_s += t - (j->n_preempted == 0 ? j->submit_s : s->m->state[job].preempted_at);
    take_out(&s->waiting, job);
    append(&s->running, job);
}

/* By the number of GPUs alone; where they lie is not asked. */
static void select_jobs(struct site *s, int64_t t)
{
    int n = s->waiting.n + s->running.n, quota = NODE_GPUS * s->nodes.n;
    int *rows = calloc((size_t)n * 3 + 1, sizeof *rows);
    struct list order = {rows, 0}, run = {rows + n, 0}, out = {rows + 2 * n, 0};

    selection_order(s, &order);
    for (int i = 0; i < n; i++) {
        int job = order.job[i], g = s->m->job[job].gpus;
        bool runs = is_in(&s->running, job), wins = g <= quota;
        quota -= wins ? g : 0;
        if (wins != runs)
            append(wins ? &run : &out, job);
    }
    for (int i = 0; i < out.n; i++)
        preempt(s, out.job[i], t);
    for (int i = 0; i < run.n; i++)
        resume(s, run.job[i], t);
    free(rows);
}

/* The first on the job's first node that holds the same GPUs: it may be the job itself. */
static void recover(struct site *s, int job)
{
    for (int i = 0; i < s->nodes.n; i++) {
        const struct node *n = &s->nodes.node[i];
        unsigned gpus = 0;
        for (int k = 0; k < n->n; k++)
            gpus |= n->at[k].job == job ? n->at[k].gpus : 0;
        for (int k = 0; k < n->n && gpus != 0; k++) {
            if (n->at[k].gpus != gpus || (s->m->r->recover_partner && n->at[k].job == job))
                continue;
            s->m->state[n->at[k].job].exclusive = true;
            s->m->state[n->at[k].job].rate = 1;
            return;
        }
    }
}

/* Everybody is looked at before anybody gives way. */
static void advance_shared(struct site *s, int64_t t)
{
    int *ended = calloc((size_t)s->running.n + 1, sizeof *ended), n = 0;

    for (int i = 0; i < s->running.n; i++) {
        struct state *state = &s->m->state[s->running.job[i]];
        if (state->remain > 0)
            state->remain -= state->rate;
        else
            ended[n++] = s->running.job[i];
    }
    for (int i = 0; i < n; i++) {
        if (!s->m->state[ended[i]].exclusive)
            recover(s, ended[i]);
        end_job(s, ended[i], t);
    }
    free(ended);
}

static int target_of(const struct site *s, int job)
{
    const struct ref_lucid_job *j = &s->m->job[job];

    for (int i = 0; i < s->running.n && j->gpus <= NODE_GPUS; i++) {
        int other = s->running.job[i];
        const struct ref_lucid_job *o = &s->m->job[other];
        if (s->m->state[other].exclusive && o->gpus == j->gpus &&
            o->mem_mib < MEMORY_MIB - j->mem_mib && j->score + o->score <= 2 &&
            s->m->state[job].priority <= 2 * s->m->state[other].priority)
            return other;
    }
    return -1;
}

static void join(struct site *s, int job, int other)
{
    const struct ref_lucid *r = s->m->r;
    const struct ref_rates *rates =
        &r->rates[r->job[job].config * r->n_configs + r->job[other].config];

    for (int i = 0; i < s->nodes.n; i++) {
        struct node *n = &s->nodes.node[i];
        for (int k = 0; k < n->n; k++)
            if (n->at[k].job == other) {
                seat(n, job, n->at[k].gpus);
                break;
            }
    }
    s->m->state[job].exclusive = s->m->state[other].exclusive = false;
    s->m->state[job].rate = rates->joins;
    s->m->state[other].rate = rates->joined;
    r->job[job].n_paired++;
}

static bool start_shared(struct site *s, int job)
{
    if (s->m->r->free_first && place(s, job))
        return true;
    int other = target_of(s, job);
    if (other >= 0)
        join(s, job, other);
    return other >= 0 || (!s->m->r->free_first && place(s, job));
}

/* Mean of the next five forecasts, of those that are left where they are fewer than six; -1 for
 * none. */
static double soon(const struct ref_lucid *r, const double *forecast, int64_t t)
{
    int first = 0, n;
    double sum = 0;

    while (first < r->n_soon && r->begin_s + (int64_t)first * FORECAST_S <= t)
        first++;
    n = r->n_soon - first;
    if (n == 0)
        return -1;
    n = n >= 6 ? 5 : n;
    for (int i = 0; i < n; i++)
        sum += forecast[first + i];
    return sum / n;
}

static void schedule_lucid(struct site *s, int64_t t)
{
    const struct ref_lucid *r = s->m->r;

    if (r->wait_for_profile) /* they come in another order; ties go by number all the same */
        sort(&s->waiting, number_of, s->m);
    sort(&s->waiting, priority_of, s->m);
    if (t % 100 == 0 && !r->never_share) {
        double m = soon(r, r->soon_jobs, t);
        s->sharing = m > 2 || m == -1;
    }
    for (int i = 0; i < s->waiting.n;) {
        int job = s->waiting.job[i];
        if (s->sharing ? start_shared(s, job) : place(s, job)) {
            r->job[job].start_s = t;
            r->job[job].queue_s = s->m->state[job].profile_queue_s + t - r->job[job].submit_s;
            take_out(&s->waiting, job);
            append(&s->running, job);
        } else if (s->sharing) {
            i++;
        } else {
            return;
        }
    }
}

/* The profiler got a node at this second: the idle one with the highest name goes, and with it the
 * name of the elastic node. Or it gave one back. */
static void move_node(struct site *s, int by)
{
    struct nodes *l = &s->nodes;
    int best = -1, elastic = find_name(l, ELASTIC);

    if (by < 0) {
        if (elastic < 0)
            add_node(l, ELASTIC);
        return;
    }
    for (int i = 0; i < l->n; i++)
        if (l->node[i].n == 0 && (best < 0 || l->node[i].name > l->node[best].name))
            best = i;
    s->m->r->n_refused += best < 0;
    if (best < 0)
        return;
    if (elastic >= 0)
        l->node[elastic].name = l->node[best].name;
    remove_node(l, best);
}

static void arrive(struct site *s, int64_t t)
{
    const struct ref_lucid *r = s->m->r;

    for (; s->n_arrived < r->n_jobs && r->job[s->n_arrived].submit_s == t; s->n_arrived++) {
        const struct ref_lucid_job *j = &r->job[s->n_arrived];
        bool here = s->vc >= 0 ? j->vc == s->vc && !s->m->state[s->n_arrived].skip &&
                                     !(r->wait_for_profile && j->profile_s >= 0)
                               : j->gpus <= NODE_GPUS;
        if (here)
            append(&s->waiting, s->n_arrived);
    }
    for (; r->wait_for_profile && s->n_profiled < s->m->profiled.n; s->n_profiled++) {
        int job = s->m->profiled.job[s->n_profiled];
        if (r->job[job].profile_s + PROFILE_S > t)
            break;
        if (s->vc == r->job[job].vc && !s->m->state[job].skip)
            append(&s->waiting, job);
    }
}

static void tick(struct site *s, int64_t t)
{
    const struct ref_lucid *r = s->m->r;
    int n_before = s->waiting.n;

    switch (r->order) {
    case REF_FIFO:
    case REF_SJF:
    case REF_QSSF:
        end_by_clock(s, t);
        arrive(s, t);
        order_queue(s, s->waiting.n - n_before);
        start_in_order(s, t);
        break;
    case REF_SRTF:
    case REF_TIRESIAS:
        advance(s, t);
        arrive(s, t);
        if (r->order == REF_SRTF || t % 60 == 0)
            select_jobs(s, t);
        break;
    case REF_LUCID:
        advance_shared(s, t);
        arrive(s, t);
        schedule_lucid(s, t);
        break;
    }
    for (; s->vc == r->lender && s->n_moved < s->m->n_moves; s->n_moved++) {
        if (s->m->move[s->n_moved].time_s > t)
            break;
        move_node(s, s->m->move[s->n_moved].by);
    }
}

static void start_profiles(struct site *s, int64_t t)
{
    while (s->waiting.n > 0 && place(s, s->waiting.job[0])) {
        int job = s->waiting.job[0];
        struct ref_lucid_job *j = &s->m->job[job];
        j->start_s = j->profile_s = t;
        j->queue_s = s->m->state[job].profile_queue_s = t - j->submit_s;
        s->m->state[job].skip = j->duration_s <= PROFILE_S;
        j->end_s = t + (s->m->state[job].skip ? j->duration_s : PROFILE_S);
        take_out(&s->waiting, job);
        append(&s->running, job);
        append(&s->m->profiled, job);
    }
}

static void scale_profiler(struct site *s, int64_t t)
{
    int elastic = find_name(&s->nodes, ELASTIC);
    struct move *move = &s->m->move[s->m->n_moves];

    if (t % 10 == 0 && s->waiting.n > 10 && elastic < 0) {
        add_node(&s->nodes, ELASTIC);
        *move = (struct move){t, 1};
        s->m->n_moves++;
    } else if (t % 100 == 0 && s->waiting.n < 5 && elastic >= 0 && s->nodes.node[elastic].n == 0 &&
               soon(s->m->r, s->m->r->soon_gpus, t) <= 40) {
        remove_node(&s->nodes, elastic);
        *move = (struct move){t, -1};
        s->m->n_moves++;
    }
}

static void profiler_tick(struct site *s, int64_t t)
{
    end_by_clock(s, t);
    arrive(s, t);
    sort(&s->waiting, gpus_of, s->m);
    start_profiles(s, t);
    scale_profiler(s, t);
}

static void run_site(struct model *m, int vc, int n_nodes)
{
    struct site s = {.m = m, .vc = vc};

    s.waiting.job = calloc((size_t)m->r->n_jobs + 1, sizeof *s.waiting.job);
    s.running.job = calloc((size_t)m->r->n_jobs + 1, sizeof *s.running.job);
    for (int i = 0; i < n_nodes; i++)
        add_node(&s.nodes, i);
    for (int i = 0; i < m->r->n_jobs; i++)
        s.n_left += vc < 0 ? m->job[i].gpus <= NODE_GPUS : m->job[i].vc == vc && !m->state[i].skip;
    for (int64_t t = m->r->begin_s; s.n_left > 0; t++)
        vc < 0 ? profiler_tick(&s, t) : tick(&s, t);
    free(s.waiting.job);
    free(s.running.job);
}

void ref_lucid_run(struct ref_lucid *r)
{
    struct model m = {.r = r, .job = r->job};
    size_t n = (size_t)r->n_jobs + 1;

    m.state = calloc(n, sizeof *m.state);
    m.profiled.job = calloc(n, sizeof *m.profiled.job);
    m.move = calloc(2 * n, sizeof *m.move);
    for (int i = 0; i < r->n_jobs; i++) {
        struct ref_lucid_job *j = &r->job[i];
        j->profile_s = -1;
        j->queue_s = j->n_preempted = j->n_paired = 0;
        m.state[i] = (struct state){.remain = (double)j->duration_s, .rate = 1, .exclusive = true};
        m.state[i].priority = (j->estimate_s < 0 ? 1000 : j->estimate_s) * j->gpus;
    }
    r->n_refused = 0;
    if (r->order == REF_LUCID && r->lender >= 0)
        run_site(&m, -1, 2);
    r->n_moves = m.n_moves;
    for (int vc = 0; vc < r->n_vcs; vc++)
        run_site(&m, vc, r->vc_nodes[vc]);
    free(m.state);
    free(m.profiled.job);
    free(m.move);
}
