#include "tests/ref_volcano.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>

enum { MAX_JOBS = 512, MAX_NODES = 64, N_KINDS = 3 }; /* CPU cores, GiB, GPUs */

struct ref {
    const struct ref_volcano *how;
    const struct job_table *t;
    int n_nodes, n_jobs, n_ended;
    double size[MAX_NODES][N_KINDS], used[MAX_NODES][N_KINDS], total[N_KINDS], total_used[N_KINDS];
    enum { NOT_YET, PENDING, ADMITTED, BOUND, ENDED } state[MAX_JOBS];
    int64_t since_us[MAX_JOBS]; /* when it came into this state */
    int node[MAX_JOBS][8];
    int order[MAX_JOBS]; /* by priority, submission, row */
};

static void ask_of(const struct ref *r, int job, double ask[N_KINDS])
{
    double gpus = r->t->gpu_milli[job] / 1000;
    ask[0] = 8 * gpus;
    ask[1] = 64 * gpus;
    ask[2] = gpus;
}

static double balance(const struct ref *r, int node, const double ask[N_KINDS], bool with)
{
    double share[N_KINDS], mean = 0, square = 0;
    for (int k = 0; k < N_KINDS; k++) {
        share[k] = (r->used[node][k] + (with ? ask[k] : 0)) / r->size[node][k];
        mean += share[k] / N_KINDS;
    }
    for (int k = 0; k < N_KINDS; k++)
        square += (share[k] - mean) * (share[k] - mean) / N_KINDS;
    return floor((1 - sqrt(square)) * 100);
}

static double score(const struct ref *r, int node, const double ask[N_KINDS])
{
    double left = 0, pack = 0, weight[N_KINDS] = {1, 1, r->how->gpus ? 10 : 0};
    for (int k = 0; k < 2; k++)
        left += floor(100 * (r->size[node][k] - r->used[node][k] - ask[k]) / r->size[node][k]);
    for (int k = 0; k < N_KINDS; k++)
        pack += 100 * weight[k] * (r->used[node][k] + ask[k]) / r->size[node][k] /
                (weight[0] + weight[1] + weight[2]);
    double after = balance(r, node, ask, true), before = balance(r, node, ask, false);
    double even = r->how->from_1_36 ? 50 + floor((50 + after - before) / 2) : after;
    return floor(left / 2) + even + (r->how->helm || r->how->gpus ? pack : 0);
}

static void use(struct ref *r, int node, const double ask[N_KINDS], int times)
{
    for (int k = 0; k < N_KINDS; k++) {
        r->used[node][k] += times * ask[k];
        r->total_used[k] += times * ask[k];
    }
}

static bool place(struct ref *r, int job)
{
    double ask[N_KINDS];
    ask_of(r, job, ask);
    for (int i = 0; i < r->t->n_inst[job]; i++) {
        int best = -1;
        for (int n = 0; n < r->n_nodes; n++) {
            bool fits = true;
            for (int k = 0; k < N_KINDS; k++)
                fits = fits && r->used[n][k] + ask[k] <= r->size[n][k];
            if (fits && (best < 0 || score(r, n, ask) > score(r, best, ask) + 1e-9))
                best = n;
        }
        if (best < 0) {
            while (i-- > 0)
                use(r, r->node[job][i], ask, -1);
            return false;
        }
        r->node[job][i] = best;
        use(r, best, ask, 1);
    }
    return true;
}

/* Both gates; a group that was bound in the last session still counts in full for overcommit. */
static bool admitted(const struct ref *r, int job, int64_t now_us)
{
    double min[N_KINDS], own[N_KINDS], reserved[N_KINDS] = {0}, counted[N_KINDS] = {0};
    ask_of(r, job, min);
    for (int j = 0; j < r->n_jobs; j++) {
        bool bound_lately = r->state[j] == BOUND && now_us - r->since_us[j] < 2 * US_PER_S;
        ask_of(r, j, own);
        for (int k = 0; k < N_KINDS; k++) {
            reserved[k] += r->state[j] == ADMITTED ? r->t->n_inst[j] * own[k] : 0;
            counted[k] += r->state[j] == ADMITTED || bound_lately ? r->t->n_inst[j] * own[k] : 0;
        }
    }
    for (int k = 0; k < N_KINDS; k++) {
        double want = r->t->n_inst[job] * min[k];
        if (want > 0 && r->how->overcommit &&
            counted[k] + want > 1.2 * r->total[k] - r->total_used[k] + 1e-9)
            return false;
        if (want > 0 && r->how->proportion &&
            reserved[k] + want + r->total_used[k] > r->total[k] + 1e-9)
            return false;
    }
    return true;
}

static void move_to(struct ref *r, int job, int state, int64_t now_us)
{
    r->state[job] = state;
    r->since_us[job] = now_us;
}

static void end_jobs(struct ref *r, int64_t now_us)
{
    double ask[N_KINDS];
    for (int j = 0; j < r->n_jobs; j++) {
        if (r->state[j] != BOUND || r->since_us[j] + r->t->duration_us[j] > now_us)
            continue;
        ask_of(r, j, ask);
        for (int i = 0; i < r->t->n_inst[j]; i++)
            use(r, r->node[j][i], ask, -1);
        move_to(r, j, ENDED, now_us);
        r->n_ended++;
    }
}

static void session(struct ref *r, int64_t now_us, double *start_s)
{
    end_jobs(r, now_us);
    for (int i = 0; i < r->n_jobs; i++) {
        int j = r->order[i];
        if (r->state[j] == NOT_YET && r->t->submit_us[j] < now_us)
            move_to(r, j, PENDING, now_us);
        if (r->state[j] == PENDING && admitted(r, j, now_us))
            move_to(r, j, ADMITTED, now_us);
    }
    for (int i = 0; i < r->n_jobs; i++) {
        int j = r->order[i];
        if (r->state[j] != ADMITTED || r->since_us[j] == now_us || !place(r, j))
            continue;
        move_to(r, j, BOUND, now_us);
        start_s[j] = s_of_us(now_us);
    }
}

static int by_order(const void *a, const void *b, void *table)
{
    const struct job_table *t = table;
    int x = *(const int *)a, y = *(const int *)b;
    if (t->priority[x] != t->priority[y])
        return t->priority[x] > t->priority[y] ? -1 : 1;
    if (t->submit_us[x] != t->submit_us[y])
        return t->submit_us[x] < t->submit_us[y] ? -1 : 1;
    return x < y ? -1 : 1;
}

void ref_volcano_run(const struct ref_volcano *how, const struct job_table *t,
                     const struct cluster *c, double *start_s)
{
    struct ref *r = calloc(1, sizeof *r);
    int64_t last_us = 0;
    cr_assert(t->n_jobs <= MAX_JOBS && c->n_nodes <= MAX_NODES);
    *r = (struct ref){.how = how, .t = t, .n_nodes = c->n_nodes, .n_jobs = t->n_jobs};
    for (int n = 0; n < c->n_nodes; n++)
        for (int k = 0; k < N_KINDS; k++) {
            double gpus = c->node_gpu_milli[n] / 1000;
            r->size[n][k] = gpus * (k == 0 ? 16 : k == 1 ? 128 : 1);
            r->total[k] += r->size[n][k];
        }
    for (int j = 0; j < t->n_jobs; j++) {
        r->order[j] = j;
        start_s[j] = -1;
        last_us += t->duration_us[j] + 3 * US_PER_S;
        last_us = t->submit_us[j] > last_us ? t->submit_us[j] : last_us;
    }
    qsort_r(r->order, (size_t)t->n_jobs, sizeof *r->order, by_order, (void *)(uintptr_t)t);
    for (int64_t now_us = -10 * US_PER_S; now_us <= last_us && r->n_ended < r->n_jobs;
         now_us += US_PER_S)
        session(r, now_us, start_s);
    free(r);
}
