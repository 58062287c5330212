#include "calib/measure/pair_plan.h"

#include "core/base/names.h"
#include "core/base/rng.h"
#include "core/cluster/job.h"

#include <gsl/gsl_randist.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { N_STRATA = 3 };

struct candidate {
    struct job_pair pair;
    int32_t stratum;   /* how many of the two are inference jobs */
    int32_t workloads; /* the pair of workloads, one number */
    int32_t turn;      /* how many of the same stratum and workloads come before it */
    int32_t order;     /* at random */
};

/* All pairs, in random order. */
static enum status list_pairs(struct candidate *c, const struct joblist *jobs,
                              struct names *workloads, gsl_rng *rng, struct error *err)
{
    int32_t k = 0;
    for (int32_t i = 0; i < jobs->n; i++)
        if (names_add(workloads, jobs->job[i].workload, strlen(jobs->job[i].workload)) < 0)
            return fail_memory(err);
    for (int32_t i = 0; i < jobs->n; i++)
        for (int32_t j = i; j < jobs->n; j++) {
            const struct measured_job *a = &jobs->job[i], *b = &jobs->job[j];
            int32_t x = names_find(workloads, a->workload, strlen(a->workload));
            int32_t y = names_find(workloads, b->workload, strlen(b->workload));
            c[k++] = (struct candidate){
                .pair = {{i, j}},
                .stratum = (a->kind == KIND_INFER) + (b->kind == KIND_INFER),
                .workloads = x < y ? x * workloads->n + y : y * workloads->n + x};
        }
    if (k > 1)
        gsl_ran_shuffle(rng, c, (size_t)k, sizeof *c);
    for (int32_t i = 0; i < k; i++)
        c[i].order = i;
    return ST_OK;
}

static int compare(int32_t a, int32_t b) { return (a > b) - (a < b); }

static int by_workloads(const void *a, const void *b)
{
    const struct candidate *x = a, *y = b;
    int order = compare(x->stratum, y->stratum);
    order = order != 0 ? order : compare(x->workloads, y->workloads);
    return order != 0 ? order : compare(x->order, y->order);
}

static int by_turn(const void *a, const void *b)
{
    const struct candidate *x = a, *y = b;
    int order = compare(x->stratum, y->stratum);
    order = order != 0 ? order : compare(x->turn, y->turn);
    return order != 0 ? order : compare(x->order, y->order);
}

/* Numbers the pairs of equal workloads in their random order, and counts the workloads' pairs. */
static int32_t number_turns(struct candidate *c, int32_t n)
{
    int32_t n_groups = 0;
    qsort(c, (size_t)n, sizeof *c, by_workloads);
    for (int32_t i = 0; i < n; i++) {
        bool same =
            i > 0 && c[i].stratum == c[i - 1].stratum && c[i].workloads == c[i - 1].workloads;
        c[i].turn = same ? c[i - 1].turn + 1 : 0;
        n_groups += !same;
    }
    return n_groups;
}

enum status pair_plan_make(struct pair_plan *p, const struct joblist *jobs, double fraction,
                           uint64_t seed, struct error *err)
{
    enum status status = ST_OK;
    struct names workloads = {0};
    int32_t n = jobs->n * (jobs->n + 1) / 2, n_in[N_STRATA] = {0}, taken[N_STRATA] = {0};
    gsl_rng *rng = rng_stream(seed, "pairs");
    struct candidate *c = calloc((size_t)n + 1, sizeof *c);
    *p = (struct pair_plan){.n_all = n, .pair = calloc((size_t)n + 1, sizeof *p->pair)};
    if (rng == NULL || c == NULL || p->pair == NULL) {
        status = fail_memory(err);
        goto out;
    }
    TRY_OUT(list_pairs(c, jobs, &workloads, rng, err));
    p->n_workload_pairs = number_turns(c, n);
    qsort(c, (size_t)n, sizeof *c, by_turn);
    for (int32_t i = 0; i < n; i++)
        n_in[c[i].stratum]++;
    for (int32_t i = 0; i < n; i++) {
        int32_t s = c[i].stratum;
        if (taken[s] < (int32_t)ceil(fraction * n_in[s] - 1e-9)) {
            taken[s]++;
            p->n_seen += c[i].turn == 0;
            p->pair[p->n++] = c[i].pair;
        }
    }
    if (p->n > 1) /* GSL does not take 0 */
        gsl_ran_shuffle(rng, p->pair, (size_t)p->n, sizeof *p->pair);
out:
    if (rng != NULL)
        gsl_rng_free(rng);
    free(c);
    names_free(&workloads);
    return status;
}

void pair_plan_free(struct pair_plan *p)
{
    free(p->pair);
    *p = (struct pair_plan){0};
}
