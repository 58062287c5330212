#include "traces/assign.h"

#include "core/base/arena.h"
#include "traces/account.h"
#include "traces/workloads.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

struct assigning {
    struct job_table *jobs;
    const struct trace_options *options;
    struct names group; /* what makes a group, as bytes */
    int32_t *of;        /* (n_jobs) id in group */
    bool *wide;         /* (group.n) one of its jobs asks for more than one GPU */
    int64_t n_kind, n_infer, n_workload, n_rate;
};

/* The bytes that make a group: what kind of key it is, then the name, then the GPUs where they
 * count. */
static int32_t group_of(struct assigning *a, int32_t job, char **key, size_t *capacity)
{
    const struct job_table *t = a->jobs;
    bool grouped = t->group[job] >= 0, by_user = !grouped && t->user[job] >= 0;
    int32_t id = grouped ? t->group[job] : t->user[job];
    const struct names *names = grouped || by_user ? &t->names : &t->job_names;
    const char *text = names_text(names, grouped || by_user ? id : job);
    size_t n = names_length(names, grouped || by_user ? id : job), used = 0;
    int64_t milli = by_user ? job_gpu_milli(t, job) : 0;
    if (!ARRAY_GROW(*key, *capacity, n + 1 + sizeof milli))
        return -1;
    (*key)[used++] = grouped ? 'g' : by_user ? 'u' : 'j';
    memcpy(*key + used, text, n);
    memcpy(*key + used + n, &milli, sizeof milli);
    return names_add(&a->group, *key, used + n + sizeof milli);
}

static enum status find_groups(struct assigning *a, struct error *err)
{
    const struct job_table *t = a->jobs;
    char *key = NULL;
    size_t capacity = 0;
    enum status status = ST_OK;
    a->of = malloc(((size_t)t->n_jobs + 1) * sizeof *a->of);
    if (a->of == NULL)
        return fail_memory(err);
    for (int32_t j = 0; j < t->n_jobs && status == ST_OK; j++) {
        a->of[j] = group_of(a, j, &key, &capacity);
        if (a->of[j] < 0)
            status = fail_memory(err);
    }
    free(key);
    TRY(status);
    a->wide = calloc((size_t)a->group.n + 1, sizeof *a->wide);
    if (a->wide == NULL)
        return fail_memory(err);
    for (int32_t j = 0; j < t->n_jobs; j++)
        a->wide[a->of[j]] = a->wide[a->of[j]] || job_gpu_milli(t, j) > 1000;
    return ST_OK;
}

/* A number in [0, 1) that the seed, the purpose and the group's name make. */
static double chance(const struct assigning *a, int32_t group, const char *purpose)
{
    uint64_t seed = bytes_hash(purpose, strlen(purpose), a->options->assign_seed);
    uint64_t x = bytes_hash(names_text(&a->group, group), names_length(&a->group, group), seed);
    x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9); /* the finish of splitmix64 */
    x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
    return (double)((x ^ (x >> 31)) >> 11) * 0x1p-53;
}

static enum job_kind kind_of(const struct assigning *a, int32_t group)
{
    bool infer = !a->wide[group] && chance(a, group, "assign.kind") < a->options->infer_frac;
    return infer ? KIND_INFER : KIND_TRAIN;
}

static enum status give_workload(struct assigning *a, int32_t job, struct error *err)
{
    bool infer = a->jobs->kind[job] == KIND_INFER;
    int n = infer ? N_INFER_WORKLOADS : N_TRAIN_WORKLOADS;
    int i = (int)(chance(a, a->of[job], "assign.workload") * n);
    const char *name = workload_names[infer ? N_TRAIN_WORKLOADS + i : i];
    int32_t id = names_add(&a->jobs->names, name, strlen(name));
    if (id < 0)
        return fail_memory(err);
    a->jobs->workload[job] = id;
    a->n_workload++;
    return ST_OK;
}

static enum status fill_in(struct assigning *a, struct error *err)
{
    struct job_table *t = a->jobs;
    for (int32_t j = 0; j < t->n_jobs; j++) {
        if (job_gpu_milli(t, j) == 0)
            continue;
        if (t->kind[j] == KIND_UNKNOWN) {
            t->kind[j] = (uint8_t)kind_of(a, a->of[j]);
            a->n_kind++;
            a->n_infer += t->kind[j] == KIND_INFER;
        }
        if (t->workload[j] < 0)
            TRY(give_workload(a, j, err));
        if (isnan(t->min_rate_frac[j])) {
            t->min_rate_frac[j] = a->options->min_rate_frac;
            a->n_rate++;
        }
    }
    return ST_OK;
}

static enum status note_assumed(const struct assigning *a, struct import_report *r,
                                struct error *err)
{
    if (a->n_kind > 0)
        TRY(account_note(r, err,
                         "assumed: kind of %" PRId64 " jobs, %" PRId64 " of them inference "
                         "(infer for %g of the groups without a job of several GPUs)",
                         a->n_kind, a->n_infer, a->options->infer_frac));
    if (a->n_workload > 0)
        TRY(account_note(r, err,
                         "assumed: workload of %" PRId64 " jobs, one for each of %" PRId32
                         " recurring groups, seed %" PRIu64,
                         a->n_workload, a->group.n, a->options->assign_seed));
    if (a->n_rate > 0)
        TRY(account_note(r, err, "assumed: min_rate_frac %g of %" PRId64 " jobs",
                         a->options->min_rate_frac, a->n_rate));
    return ST_OK;
}

enum status assign_missing(struct trace *trace, const struct trace_options *o, struct error *err)
{
    struct assigning a = {.jobs = &trace->jobs, .options = o};
    enum status status = ST_OK;
    TRY_OUT(find_groups(&a, err));
    TRY_OUT(fill_in(&a, err));
    status = note_assumed(&a, &trace->report, err);
out:
    names_free(&a.group);
    free(a.of);
    free(a.wide);
    return status;
}
