#include "core/cluster/job.h"

#include "core/base/arena.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Every column once; the lists drive growing, regrouping and freeing. */
#define JOB_COLUMNS(X)                                                                             \
    X(submit_us)                                                                                   \
    X(user)                                                                                        \
    X(group)                                                                                       \
    X(queue)                                                                                       \
    X(workload) X(config) X(priority) X(gpu_min) X(gpu_max) X(kind) X(min_rate_frac) X(hint_us)
#define TASK_COLUMNS(X)                                                                            \
    X(task_job)                                                                                    \
    X(task_name)                                                                                   \
    X(n_inst) X(gpu_milli) X(cpu_milli) X(mem_mib) X(gpu_mem_mib) X(gpu_type) X(duration_us)
#define NEED_COLUMNS(X) X(card_mem_mib) X(nic_mbps) X(storage_mbps)
#define ENGINE_COLUMNS(X)                                                                          \
    X(status)                                                                                      \
    X(start_us) X(finish_us) X(attained_milli_us) X(done_us) X(run_us) X(alone_us) X(n_evicted)

struct job_row job_row_empty(void)
{
    struct job_row row = {.n_inst = 1,
                          .gpu_type = -1,
                          .task = -1,
                          .user = -1,
                          .group = -1,
                          .queue = -1,
                          .workload = -1,
                          .config = -1,
                          .min_rate_frac = NAN};
    for (int h = 0; h < N_HINTS; h++)
        row.hint_us[h] = -1;
    return row;
}

/* realloc that leaves the array as it was when memory is out. */
static bool resize(void **array, size_t n, size_t size)
{
    void *p = realloc(*array, n > 0 ? n * size : 1);
    if (p == NULL)
        return false;
    *array = p;
    return true;
}
#define RESIZE(column)      &&resize((void **)&t->column, n, sizeof *t->column)
#define RESIZE_NEED(column) &&resize((void **)&t->column, n_tasks, sizeof *t->column)

static bool room_for_job(struct job_table *t)
{
    if ((size_t)t->n_jobs < t->job_capacity)
        return true;
    size_t n = t->job_capacity == 0 ? 64 : t->job_capacity * 2;
    if (!(true JOB_COLUMNS(RESIZE)))
        return false;
    t->job_capacity = n;
    return true;
}

static bool room_for_task(struct job_table *t)
{
    if ((size_t)t->n_tasks < t->task_capacity)
        return true;
    size_t n = t->task_capacity == 0 ? 64 : t->task_capacity * 2;
    if (!(true TASK_COLUMNS(RESIZE)))
        return false;
    t->task_capacity = n;
    return true;
}

int32_t jobs_add(struct job_table *t, const struct job_row *row)
{
    if (t->n_jobs == INT32_MAX || t->n_tasks == INT32_MAX || !room_for_job(t) || !room_for_task(t))
        return -1;
    int32_t job = names_add(&t->job_names, row->name, row->name_length);
    if (job < 0)
        return -1;
    if (job == t->n_jobs) {
        t->n_jobs++;
        t->submit_us[job] = row->submit_us;
        t->user[job] = row->user;
        t->group[job] = row->group;
        t->queue[job] = row->queue;
        t->workload[job] = row->workload;
        t->config[job] = row->config;
        t->priority[job] = row->priority;
        t->gpu_min[job] = row->gpu_min;
        t->gpu_max[job] = row->gpu_max;
        t->kind[job] = (uint8_t)row->kind;
        t->min_rate_frac[job] = row->min_rate_frac;
        memcpy(t->hint_us[job], row->hint_us, sizeof row->hint_us);
    } else if (row->submit_us < t->submit_us[job]) {
        t->submit_us[job] = row->submit_us;
    }
    int32_t task = t->n_tasks++;
    t->task_job[task] = job;
    t->task_name[task] = row->task;
    t->n_inst[task] = row->n_inst;
    t->gpu_milli[task] = row->gpu_milli;
    t->cpu_milli[task] = row->cpu_milli;
    t->mem_mib[task] = row->mem_mib;
    t->gpu_mem_mib[task] = row->gpu_mem_mib;
    t->gpu_type[task] = row->gpu_type;
    t->duration_us[task] = row->duration_us;
    return job;
}

/* By duration, then file order. */
static int by_duration(const void *a, const void *b, void *table)
{
    const struct job_table *t = table;
    int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
    if (t->duration_us[x] != t->duration_us[y])
        return t->duration_us[x] < t->duration_us[y] ? -1 : 1;
    return x < y ? -1 : 1;
}

/* (n_tasks) the old row of each new row: by job, then duration, then file order. A counting sort
 * by job, then a sort of the few tasks of each. */
static void task_order(struct job_table *t, int32_t *order)
{
    int32_t *next = t->task_begin;
    memset(next, 0, ((size_t)t->n_jobs + 1) * sizeof *next);
    for (int32_t i = 0; i < t->n_tasks; i++)
        next[t->task_job[i] + 1]++;
    for (int32_t j = 0; j < t->n_jobs; j++)
        next[j + 1] += next[j];
    for (int32_t i = 0; i < t->n_tasks; i++)
        order[next[t->task_job[i]]++] = i;
    for (int32_t j = t->n_jobs; j > 0; j--)
        next[j] = next[j - 1];
    next[0] = 0;
    for (int32_t j = 0; j < t->n_jobs; j++)
        if (next[j + 1] - next[j] > 1)
            qsort_r(order + next[j], (size_t)(next[j + 1] - next[j]), sizeof *order, by_duration,
                    t);
}

static void permute(void *column, size_t size, const int32_t *order, int32_t n, void *scratch)
{
    unsigned char *to = scratch;
    for (int32_t i = 0; i < n; i++)
        memcpy(to + (size_t)i * size, (unsigned char *)column + (size_t)order[i] * size, size);
    memcpy(column, scratch, (size_t)n * size);
}

static bool in_order(const int32_t *order, int32_t n)
{
    for (int32_t i = 0; i < n; i++)
        if (order[i] != i)
            return false;
    return true;
}

/* An elastic job's GPUs come and go one by one, each with its part of the CPU and host memory. */
static void cut_elastic(struct job_table *t)
{
    for (int32_t k = 0; k < t->n_tasks; k++) {
        int32_t cards = t->gpu_milli[k] / 1000;
        if (t->gpu_max[t->task_job[k]] == 0 || cards < 2 || t->gpu_milli[k] % 1000 != 0)
            continue;
        t->n_inst[k] *= cards;
        t->gpu_milli[k] = 1000;
        t->cpu_milli[k] /= cards;
        t->mem_mib[k] /= cards;
    }
}

enum status jobs_close(struct job_table *t, struct error *err)
{
    enum status status = ST_OK;
    size_t n = (size_t)t->n_jobs, n_tasks = (size_t)t->n_tasks;
    int32_t *order = malloc((n_tasks + 1) * sizeof *order);
    int64_t *scratch = malloc((n_tasks + 1) * sizeof *scratch);
    if (order == NULL || scratch == NULL ||
        !resize((void **)&t->task_begin, n + 1, sizeof *t->task_begin) ||
        !(true NEED_COLUMNS(RESIZE_NEED)) || !(true JOB_COLUMNS(RESIZE) ENGINE_COLUMNS(RESIZE))) {
        status = fail_memory(err);
        goto out;
    }
    t->job_capacity = n;
    cut_elastic(t);
    task_order(t, order);
    if (!in_order(order, t->n_tasks)) {
#define PERMUTE(column) permute(t->column, sizeof *t->column, order, t->n_tasks, scratch);
        TASK_COLUMNS(PERMUTE)
#undef PERMUTE
    }
    jobs_reset(t);
out:
    free(order);
    free(scratch);
    return status;
}

void jobs_reset(struct job_table *t)
{
    for (int32_t j = 0; j < t->n_jobs; j++) {
        t->status[j] = JOB_PENDING;
        t->start_us[j] = TIME_NEVER;
        t->finish_us[j] = TIME_NEVER;
        t->attained_milli_us[j] = 0;
        t->done_us[j] = 0;
        t->run_us[j] = 0;
        t->alone_us[j] = 0;
        t->n_evicted[j] = 0;
    }
    for (int32_t k = 0; k < t->n_tasks; k++) {
        t->card_mem_mib[k] = t->gpu_mem_mib[k];
        t->nic_mbps[k] = t->storage_mbps[k] = 0;
    }
}

static bool copy_column(void **to, const void *from, size_t n, size_t size)
{
    *to = malloc(n > 0 ? n * size : 1);
    if (*to == NULL)
        return false;
    if (n > 0)
        memcpy(*to, from, n * size);
    return true;
}

enum status jobs_clone(const struct job_table *from, struct job_table *to, struct error *err)
{
    *to = (struct job_table){.n_jobs = from->n_jobs,
                             .n_tasks = from->n_tasks,
                             .job_capacity = (size_t)from->n_jobs,
                             .task_capacity = (size_t)from->n_tasks};
    size_t n = (size_t)from->n_jobs;
#define COPY(column) &&copy_column((void **)&to->column, from->column, n, sizeof *from->column)
    bool ok = true JOB_COLUMNS(COPY) ENGINE_COLUMNS(COPY);
    n++;
    ok = ok COPY(task_begin);
    n = (size_t)from->n_tasks;
    ok = ok TASK_COLUMNS(COPY) NEED_COLUMNS(COPY);
#undef COPY
    ok = ok && names_copy(&from->job_names, &to->job_names) && names_copy(&from->names, &to->names);
    return ok ? ST_OK : fail_memory(err);
}

bool job_is_elastic(const struct job_table *t, int32_t job)
{
    int32_t task = t->task_begin[job];
    return t->gpu_max[job] > 0 && task + 1 == t->task_begin[job + 1] && t->gpu_milli[task] == 1000;
}

int64_t job_gpu_milli(const struct job_table *t, int32_t job)
{
    int64_t sum = 0;
    for (int32_t k = t->task_begin[job]; k < t->task_begin[job + 1]; k++)
        sum += (int64_t)t->n_inst[k] * t->gpu_milli[k];
    return sum;
}

int32_t job_n_inst(const struct job_table *t, int32_t job)
{
    int32_t sum = 0;
    for (int32_t k = t->task_begin[job]; k < t->task_begin[job + 1]; k++)
        sum += t->n_inst[k];
    return sum;
}

int64_t job_duration_us(const struct job_table *t, int32_t job)
{
    return t->duration_us[t->task_begin[job + 1] - 1];
}

double job_work_gpu_s(const struct job_table *t, int32_t job)
{
    double sum = 0;
    for (int32_t k = t->task_begin[job]; k < t->task_begin[job + 1]; k++)
        sum += (double)t->n_inst[k] * t->gpu_milli[k] / 1e3 * s_of_us(t->duration_us[k]);
    return sum;
}

void jobs_free(struct job_table *t)
{
#define FREE(column) free(t->column);
    JOB_COLUMNS(FREE)
    TASK_COLUMNS(FREE)
    ENGINE_COLUMNS(FREE)
    NEED_COLUMNS(FREE)
#undef FREE
    free(t->task_begin);
    names_free(&t->job_names);
    names_free(&t->names);
    *t = (struct job_table){0};
}
