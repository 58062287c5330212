#include "tests/ref_pai_tick.h"

#include <math.h>
#include <stdbool.h>

static int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }

/* Capacity when idle is false. */
static void totals(const struct ref_pai *r, bool idle, int64_t *gpu, int64_t *cpu)
{
    *gpu = *cpu = 0;
    for (int i = 0; i < r->n_nodes; i++) {
        *gpu += idle ? r->node[i].idle_gpu : r->node[i].gpu_pct;
        *cpu += idle ? r->node[i].idle_cpu : r->node[i].cpu_pct;
    }
}

static void batch_arrivals(struct ref_pai *r)
{
    int place[REF_MAX_JOBS];

    if (r->arrival_rate < 0)
        return;
    for (int i = 0; i < r->n_jobs; i++) {
        place[i] = 0;
        for (int k = 0; k < r->n_jobs; k++)
            if (r->job[k].submit_s < r->job[i].submit_s ||
                (r->job[k].submit_s == r->job[i].submit_s && r->job[k].id < r->job[i].id))
                place[i]++;
    }
    for (int i = 0; i < r->n_jobs; i++)
        r->job[i].submit_s = place[i] / r->arrival_rate * 60;
}

static void begin(struct ref_pai *r)
{
    int64_t gpu, cpu;

    batch_arrivals(r);
    totals(r, false, &gpu, &cpu);
    for (int i = 0; i < r->n_jobs; i++) {
        struct ref_job *j = &r->job[i];
        j->gpu_pct = least(j->gpu_pct, gpu);
        j->cpu_pct = least(j->cpu_pct, cpu);
        j->state = REF_PENDING;
        j->age_s = 0;
        j->start_s = j->end_s = -1;
    }
    for (int i = 0; i < r->n_nodes; i++) {
        r->node[i].idle_gpu = r->node[i].gpu_pct;
        r->node[i].idle_cpu = r->node[i].cpu_pct;
    }
    r->clock_s = 0;
}

static void join_queue(struct ref_pai *r)
{
    for (int i = 0; i < r->n_jobs; i++)
        if (r->job[i].state == REF_PENDING && r->job[i].submit_s <= r->clock_s)
            r->job[i].state = REF_QUEUED;
}

static int64_t turn(const struct ref_pai *r, const struct ref_job *j)
{
    switch (r->alloc_policy) {
    case 0: return j->duration_s;
    case 1: return j->estimate_s[0];
    case 2: return j->estimate_s[1];
    case 4: return j->estimate_s[2];
    default: return j->submit_s;
    }
}

static bool earlier(const struct ref_pai *r, const struct ref_job *a, const struct ref_job *b)
{
    if (turn(r, a) != turn(r, b))
        return turn(r, a) < turn(r, b);
    return a->id < b->id;
}

static int sorted_queue(struct ref_pai *r, struct ref_job *queue[REF_MAX_JOBS])
{
    int n = 0;

    for (int i = 0; i < r->n_jobs; i++) {
        if (r->job[i].state != REF_QUEUED)
            continue;
        int at = n++;
        for (; at > 0 && earlier(r, &r->job[i], queue[at - 1]); at--)
            queue[at] = queue[at - 1];
        queue[at] = &r->job[i];
    }
    return n;
}

static double util_rate(const struct ref_node *n)
{
    double cpu_util = 1 - (double)n->idle_cpu / (double)n->cpu_pct;

    if (n->gpu_pct == 0)
        return nearbyint(100 * cpu_util);
    double gpu_util = 1 - (double)n->idle_gpu / (double)n->gpu_pct;
    return nearbyint(100 * (gpu_util + cpu_util) / 2);
}

static double node_key(const struct ref_pai *r, const struct ref_node *n)
{
    switch (r->sort_node_policy) {
    case 1: return (double)n->idle_gpu;
    case 2: return -(double)n->idle_gpu;
    case 3: return util_rate(n);
    default: return 0;
    }
}

static void sorted_nodes(const struct ref_pai *r, int order[REF_MAX_NODES])
{
    for (int i = 0; i < r->n_nodes; i++) {
        int at = i;
        for (; at > 0 && node_key(r, &r->node[i]) < node_key(r, &r->node[order[at - 1]]); at--)
            order[at] = order[at - 1];
        order[at] = i;
    }
}

static bool type_allowed(const struct ref_pai *r, const struct ref_job *j, const struct ref_node *n)
{
    if (r->gpu_type_matching == 1 && j->type != 'C')
        return j->type == n->type;
    if (r->gpu_type_matching == 2 && j->type == 'V')
        return n->type == 'V';
    return true;
}

/* Fills nodes in order, one instance after the other, and takes it all back when some are left. */
static bool try_to_start(struct ref_pai *r, struct ref_job *j)
{
    int order[REF_MAX_NODES];
    int64_t idle_gpu, idle_cpu, n = 0;

    totals(r, true, &idle_gpu, &idle_cpu);
    if (j->n_inst * j->gpu_pct > idle_gpu || j->n_inst * j->cpu_pct > idle_cpu)
        return false;
    sorted_nodes(r, order);
    for (int i = 0; i < r->n_nodes; i++) {
        struct ref_node *node = &r->node[order[i]];
        while (n < j->n_inst && type_allowed(r, j, node) && node->idle_gpu >= j->gpu_pct &&
               node->idle_cpu >= j->cpu_pct) {
            node->idle_gpu -= j->gpu_pct;
            node->idle_cpu -= j->cpu_pct;
            j->node[n++] = order[i];
        }
    }
    if (n == j->n_inst)
        return true;
    while (n > 0) {
        struct ref_node *node = &r->node[j->node[--n]];
        node->idle_gpu += j->gpu_pct;
        node->idle_cpu += j->cpu_pct;
    }
    return false;
}

static void allocation_pass(struct ref_pai *r)
{
    struct ref_job *queue[REF_MAX_JOBS];
    int n = sorted_queue(r, queue);

    for (int i = 0; i < n; i++) {
        int64_t idle_gpu, idle_cpu;
        totals(r, true, &idle_gpu, &idle_cpu);
        if (idle_gpu <= 0 && idle_cpu <= 0)
            return;
        if (!try_to_start(r, queue[i]))
            continue;
        queue[i]->state = REF_RUNNING;
        queue[i]->start_s = r->clock_s;
    }
}

static void age_running(struct ref_pai *r)
{
    for (int i = 0; i < r->n_jobs; i++) {
        struct ref_job *j = &r->job[i];
        if (j->state != REF_RUNNING || ++j->age_s < j->duration_s)
            continue;
        j->state = REF_DONE;
        j->end_s = r->clock_s;
        for (int k = 0; k < j->n_inst; k++) {
            r->node[j->node[k]].idle_gpu += j->gpu_pct;
            r->node[j->node[k]].idle_cpu += j->cpu_pct;
        }
    }
}

static bool all_done(const struct ref_pai *r)
{
    for (int i = 0; i < r->n_jobs; i++)
        if (r->job[i].state != REF_DONE)
            return false;
    return true;
}

void ref_pai_run(struct ref_pai *r)
{
    begin(r);
    join_queue(r);
    while (!all_done(r) && r->clock_s < r->limit_s) {
        allocation_pass(r);
        r->clock_s++;
        join_queue(r);
        age_running(r);
    }
}
