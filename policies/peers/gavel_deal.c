#include "policies/peers/gavel_deal.h"

#include "core/cluster/beside.h"
#include "policies/peers/gavel_share.h"
#include "policies/peers/round.h"

#include <math.h>
#include <stdlib.h>

/* The type every task of the job asks for; -1 where they ask for none, or for several. */
static int32_t pool_of_job(const struct job_table *t, const struct place_rules *rules, int32_t job)
{
    int32_t pool = -2;
    for (int32_t k = t->task_begin[job]; k < t->task_begin[job + 1]; k++) {
        int32_t type =
            rules->type_strict && t->gpu_type[k] >= 0 ? rules->type_id[t->gpu_type[k]] : -1;
        pool = pool == -2 || pool == type ? type : -1;
    }
    return pool;
}

static void measure_cluster(struct gavel_deal *d, const struct cluster *c)
{
    d->room_all = (double)c->gpu_milli / 1e3;
    d->card_mem_mib = INT32_MAX;
    for (int32_t node = 0; node < c->n_nodes; node++)
        if (d->n_pools > 0 && c->node_type[node] >= 0)
            d->room[c->node_type[node]] += c->node_gpu_milli[node] / 1e3;
    for (int32_t card = 0; card < c->n_cards; card++)
        if (c->card_gpu_mem_mib[card] < d->card_mem_mib)
            d->card_mem_mib = c->card_gpu_mem_mib[card];
}

bool gavel_deal_init(struct gavel_deal *d, enum gavel_objective objective, int32_t classes_max,
                     const struct view *v, const struct place_rules *rules, struct arena *arena)
{
    size_t n = (size_t)v->jobs->n_jobs, k = (size_t)classes_max;
    *d = (struct gavel_deal){.objective = objective, .classes_max = classes_max};
    d->n_pools = rules->type_strict ? v->cluster->gpu_types.n : 0;
    d->x = arena_alloc(arena, n, sizeof *d->x);
    d->class = arena_alloc(arena, n, sizeof *d->class);
    d->alone_s = arena_alloc(arena, n, sizeof *d->alone_s);
    d->alone_rate = arena_alloc(arena, n, sizeof *d->alone_rate);
    d->left_s = arena_alloc(arena, n, sizeof *d->left_s);
    d->unit = arena_alloc(arena, k * (k + 3) / 2, sizeof *d->unit);
    d->pool = arena_alloc(arena, n, sizeof *d->pool);
    d->room = arena_alloc(arena, (size_t)d->n_pools, sizeof *d->room);
    if (d->x == NULL || d->class == NULL || d->alone_s == NULL || d->alone_rate == NULL ||
        d->left_s == NULL || d->unit == NULL || d->pool == NULL || d->room == NULL)
        return false;
    for (int32_t j = 0; j < v->jobs->n_jobs; j++) {
        d->pool[j] = pool_of_job(v->jobs, rules, j);
        d->class[j] = -1;
    }
    measure_cluster(d, v->cluster);
    return true;
}

/* The jobs being dealt to that ask for GPUs, as columns. */
struct hand {
    const struct view *v;
    const struct plan *plan;
    int32_t n, *job, *pool;
    double *gpus, *age_s, *left_s, *alone_s, *x;
};

static bool hand_new(struct hand *h, const struct view *v, const struct plan *plan, int32_t n)
{
    size_t size = (size_t)n;
    *h = (struct hand){.v = v, .plan = plan};
    h->job = arena_alloc(v->scratch, size, sizeof *h->job);
    h->pool = arena_alloc(v->scratch, size, sizeof *h->pool);
    h->gpus = arena_alloc(v->scratch, size, sizeof *h->gpus);
    h->age_s = arena_alloc(v->scratch, size, sizeof *h->age_s);
    h->left_s = arena_alloc(v->scratch, size, sizeof *h->left_s);
    h->alone_s = arena_alloc(v->scratch, size, sizeof *h->alone_s);
    h->x = arena_alloc(v->scratch, size, sizeof *h->x);
    return h->job != NULL && h->pool != NULL && h->gpus != NULL && h->age_s != NULL &&
           h->left_s != NULL && h->alone_s != NULL && h->x != NULL;
}

/* What the isolated part of the finish-time ratio has come to; n is how many jobs divide the
 * cluster equally. */
static void age_job(struct gavel_deal *d, struct hand *h, int32_t i, int32_t n)
{
    int32_t job = h->job[i];
    double left_s = view_left_us(h->v, job) / 1e6;
    double room = h->pool[i] >= 0 ? d->room[h->pool[i]] : d->room_all;
    if (d->alone_rate[job] > 0)
        d->alone_s[job] += (d->left_s[job] - left_s) / d->alone_rate[job];
    d->alone_rate[job] = fmin(1, room / (n * h->gpus[i]));
    d->left_s[job] = left_s;
    h->age_s[i] = s_of_us(h->v->now_us - h->v->jobs->submit_us[job]);
    h->left_s[i] = left_s;
    h->alone_s[i] = d->alone_s[job] + left_s / d->alone_rate[job];
}

static void fill_hand(struct gavel_deal *d, struct hand *h, const int32_t *job, int32_t n)
{
    for (int32_t i = 0; i < n; i++) {
        d->class[job[i]] = -1;
        double gpus = (double)round_width_milli(h->plan, job[i]) / 1e3;
        d->x[job[i]] = 1;
        if (gpus <= 0)
            continue;
        h->job[h->n] = job[i];
        h->pool[h->n] = d->pool[job[i]];
        h->gpus[h->n++] = gpus;
    }
    for (int32_t i = 0; d->objective == GAVEL_FINISH_TIME && i < h->n; i++)
        age_job(d, h, i, h->n);
}

/* May it take part in the programme of pairs? Not if it has all it asks for already. */
static bool may_share(const struct hand *h, int32_t i)
{
    int32_t workload = h->v->jobs->workload[h->job[i]];
    return h->x[i] < 1 - 1e-9 && workload >= 0 && h->plan->rules.pair_id[workload] >= 0 &&
           beside_whole(h->plan, h->job[i]);
}

/* What jobs of one class have in common. */
struct alike {
    int32_t pair_id, n_inst, gpu_milli, mem_mib, pool;
    int32_t first, n; /* place in the hand: of one, or of the first; how many */
};

static int by_likeness(const void *a, const void *b)
{
    const struct alike *x = a, *y = b;
    int32_t d[] = {x->pair_id - y->pair_id, x->n_inst - y->n_inst, x->gpu_milli - y->gpu_milli,
                   x->mem_mib - y->mem_mib, x->pool - y->pool};
    for (int i = 0; i < 5; i++)
        if (d[i] != 0)
            return d[i];
    return 0;
}

static int by_likeness_then_order(const void *a, const void *b)
{
    int d = by_likeness(a, b);
    return d != 0 ? d : ((const struct alike *)a)->first - ((const struct alike *)b)->first;
}

static int most_jobs_first(const void *a, const void *b)
{
    const struct alike *x = a, *y = b;
    return x->n != y->n ? y->n - x->n : x->first - y->first;
}

/* Sorts jobs that may share into classes, the largest first (finish-time: every job is one, the
 * oldest first), and writes those that have a number below classes_max to class. Returns how many.
 */
static int32_t sort_into_classes(struct gavel_deal *d, const struct hand *h, struct alike *alike)
{
    const struct job_table *t = h->v->jobs;
    int32_t n = 0, n_classes = 0;
    for (int32_t i = 0; i < h->n; i++) {
        int32_t job = h->job[i], task = t->task_begin[job + 1] - 1;
        if (may_share(h, i))
            alike[n++] = (struct alike){h->plan->rules.pair_id[t->workload[job]],
                                        t->n_inst[task],
                                        t->gpu_milli[task],
                                        t->card_mem_mib[task],
                                        h->pool[i],
                                        i,
                                        1};
    }
    if (d->objective == GAVEL_FINISH_TIME)
        return n < d->classes_max ? n : d->classes_max;
    qsort(alike, (size_t)n, sizeof *alike, by_likeness_then_order);
    for (int32_t i = 0; i < n; i++) {
        if (n_classes > 0 && by_likeness(&alike[n_classes - 1], &alike[i]) == 0)
            alike[n_classes - 1].n++;
        else
            alike[n_classes++] = alike[i];
    }
    qsort(alike, (size_t)n_classes, sizeof *alike, most_jobs_first);
    return n_classes < d->classes_max ? n_classes : d->classes_max;
}

/* Which class each job of the hand is in; -1 for none. */
static void number_jobs(const struct gavel_deal *d, const struct hand *h, const struct alike *alike,
                        int32_t n_classes, int32_t *class)
{
    const struct job_table *t = h->v->jobs;
    for (int32_t i = 0; i < h->n; i++) {
        class[i] = -1;
        if (!may_share(h, i))
            continue;
        int32_t job = h->job[i], task = t->task_begin[job + 1] - 1;
        struct alike one = {h->plan->rules.pair_id[t->workload[job]],
                            t->n_inst[task],
                            t->gpu_milli[task],
                            t->card_mem_mib[task],
                            h->pool[i],
                            i,
                            1};
        for (int32_t c = 0; c < n_classes && class[i] < 0; c++)
            if (d->objective == GAVEL_FINISH_TIME ? alike[c].first == i
                                                  : by_likeness(&alike[c], &one) == 0)
                class[i] = c;
    }
}

static double keeps_beside(const struct gavel_deal *d, const struct hand *h, const struct alike *a,
                           const struct alike *b)
{
    double speed = pairs_speed(h->plan->rules.pairs, a->pair_id, b->pair_id);
    bool fits = a->n_inst == b->n_inst && a->gpu_milli == b->gpu_milli &&
                (int64_t)a->mem_mib + b->mem_mib <= d->card_mem_mib;
    return fits && !isnan(speed) ? speed : 0;
}

/* The columns of the programme, and what it may use: all that others do not. */
static bool fill_classes(const struct gavel_deal *d, const struct hand *h,
                         const struct alike *alike, const int32_t *class, int32_t n,
                         struct gavel_classes *out)
{
    struct arena *scratch = h->v->scratch;
    double *n_jobs = arena_alloc(scratch, (size_t)n, sizeof *n_jobs);
    double *gpus = arena_alloc(scratch, (size_t)n, sizeof *gpus);
    int32_t *pool = arena_alloc(scratch, (size_t)n, sizeof *pool);
    double *keeps = arena_alloc(scratch, (size_t)n * (size_t)n, sizeof *keeps);
    double *need = arena_alloc(scratch, (size_t)n, sizeof *need);
    double *room = arena_alloc(scratch, (size_t)d->n_pools, sizeof *room);
    if (n_jobs == NULL || gpus == NULL || pool == NULL || keeps == NULL || need == NULL ||
        room == NULL)
        return false;
    for (int32_t c = 0; c < n; c++) {
        n_jobs[c] = alike[c].n;
        gpus[c] = h->gpus[alike[c].first];
        pool[c] = alike[c].pool;
        need[c] = n_jobs[c] / gpus[c];
        for (int32_t o = 0; o < n; o++)
            keeps[(int64_t)c * n + o] = keeps_beside(d, h, &alike[c], &alike[o]);
    }
    double room_all = d->room_all;
    for (int32_t p = 0; p < d->n_pools; p++)
        room[p] = d->room[p];
    for (int32_t i = 0; i < h->n; i++) {
        if (class[i] >= 0)
            continue;
        room_all -= h->x[i] * h->gpus[i];
        if (h->pool[i] >= 0)
            room[h->pool[i]] -= h->x[i] * h->gpus[i];
    }
    for (int32_t p = 0; p < d->n_pools; p++)
        room[p] = fmax(room[p], 0);
    *out = (struct gavel_classes){n,    d->n_pools, n_jobs,           gpus, pool, keeps,
                                  need, room,       fmax(room_all, 0)};
    return true;
}

/* Finish times: the largest rho falls from what it is without pairs to what the programme for its
 * demands reaches, until that is no more than it asked for. */
static int32_t deal_in_time(struct gavel_deal *d, const struct hand *h, const struct alike *alike,
                            const struct gavel_classes *classes)
{
    double rho = 0, level = 2;
    int32_t n_units = 0;
    for (int32_t c = 0; c < classes->n; c++) {
        int32_t i = alike[c].first;
        rho = fmax(rho, (h->age_s[i] + h->left_s[i] / h->x[i]) / h->alone_s[i]);
    }
    for (int step = 0; step < 20 && level > 1 + 1e-6; step++) {
        for (int32_t c = 0; c < classes->n; c++) {
            int32_t i = alike[c].first;
            classes->need[c] = h->left_s[i] / (rho * h->alone_s[i] - h->age_s[i]);
        }
        n_units = gavel_pair_units(classes, d->unit, &level, h->v->scratch);
        rho = 0;
        for (int32_t c = 0; n_units >= 0 && c < classes->n; c++) {
            int32_t i = alike[c].first;
            double rate = gavel_throughput(classes, d->unit, n_units, c);
            rho = fmax(rho, (h->age_s[i] + h->left_s[i] / rate) / h->alone_s[i]);
        }
    }
    return n_units;
}

static bool deal_pairs(struct gavel_deal *d, struct hand *h)
{
    struct alike *alike = arena_alloc(h->v->scratch, (size_t)h->n, sizeof *alike);
    int32_t *class = arena_alloc(h->v->scratch, (size_t)h->n, sizeof *class);
    struct gavel_classes classes;
    if (alike == NULL || class == NULL)
        return false;
    int32_t n = sort_into_classes(d, h, alike);
    number_jobs(d, h, alike, n, class);
    if (n == 0)
        return true;
    if (!fill_classes(d, h, alike, class, n, &classes))
        return false;
    double level;
    int32_t n_units = d->objective == GAVEL_FINISH_TIME
                          ? deal_in_time(d, h, alike, &classes)
                          : gavel_pair_units(&classes, d->unit, &level, h->v->scratch);
    bool paired = false;
    for (int32_t u = 0; u < n_units; u++)
        paired = paired || d->unit[u].b >= 0;
    if (!paired) /* or no answer: they take turns as without pairs */
        return true;
    d->n_units = n_units;
    d->n_classes = n;
    for (int32_t i = 0; i < h->n; i++) {
        if (class[i] < 0)
            continue;
        d->class[h->job[i]] = class[i];
        h->x[i] = 0;
        for (int32_t u = 0; u < n_units; u++)
            h->x[i] += d->unit[u].runs * ((d->unit[u].a == class[i]) + (d->unit[u].b == class[i])) /
                       classes.n_jobs[class[i]];
    }
    return true;
}

bool gavel_deal(struct gavel_deal *d, const struct view *v, const struct plan *plan,
                const int32_t *job, int32_t n)
{
    struct hand h;
    if (!hand_new(&h, v, plan, n))
        return false;
    fill_hand(d, &h, job, n);
    struct gavel_jobs jobs = {h.n, h.gpus, h.pool, d->n_pools, d->room, d->room_all};
    bool dealt = d->objective == GAVEL_FINISH_TIME
                     ? gavel_finish_time(&jobs, h.age_s, h.left_s, h.alone_s, h.x, v->scratch)
                     : gavel_max_min(&jobs, h.x, v->scratch);
    d->n_units = d->n_classes = 0;
    if (!dealt || (d->classes_max > 0 && !deal_pairs(d, &h)))
        return false;
    for (int32_t i = 0; i < h.n; i++)
        d->x[h.job[i]] = h.x[i];
    return true;
}
