/* job.h - the job table: what a trace says, and what became of it.
 *
 * A job is a row number; its tasks are the rows task_begin[job] .. task_begin[job + 1] - 1 of the
 * task columns, shortest first. All instances of all tasks of a job start together; each task
 * frees its GPUs when it ends, and the job ends with its last. Most jobs have one task.
 *
 * Rows are added one task at a time in file order (jobs_add); jobs_close groups tasks by job and
 * gives every column its final size, after which the trace columns are read-only. */
#ifndef COLOSIM_JOB_H
#define COLOSIM_JOB_H

#include "core/base/names.h"
#include "core/base/status.h"
#include "core/base/units.h"

#include <stdbool.h>
#include <stdint.h>

enum job_kind { KIND_UNKNOWN, KIND_TRAIN, KIND_INFER };

enum job_status {
    JOB_PENDING, /* not yet submitted */
    JOB_WAITING, /* submitted, or evicted */
    JOB_RUNNING,
    JOB_DONE,
    JOB_REJECTED,  /* no empty cluster could hold it */
    JOB_UNFINISHED /* the run ended before it did */
};

enum { HINT_USER, HINT_GROUP, HINT_GROUP_GPU, N_HINTS }; /* PAI's three duration estimates */

/* One row of a trace: one task of one job. Ids of names are -1 for none. */
struct job_row {
    const char *name; /* of the job; opaque bytes */
    size_t name_length;
    int64_t submit_us;
    int64_t duration_us;      /* alone, as submitted, on its reference GPUs: the reference work */
    int64_t hint_us[N_HINTS]; /* -1 for none */
    int32_t n_inst;
    int32_t gpu_milli; /* thousandths of a GPU per instance */
    int32_t cpu_milli, mem_mib,
        gpu_mem_mib; /* per instance, the last per GPU; 0 asks for nothing */
    int32_t gpu_type, task, user, group, queue, workload, config; /* ids in names */
    int32_t gpu_min, gpu_max; /* GPUs of an elastic job; 0 where it is not elastic */
    int32_t priority;
    enum job_kind kind;
    double min_rate_frac; /* NAN where the trace has none */
};

/* An empty row: one instance, nothing asked, no names. */
struct job_row job_row_empty(void);

struct job_table {
    int32_t n_jobs, n_tasks;
    size_t job_capacity, task_capacity;
    struct names job_names; /* a job's row number is the id of its name */
    struct names names;     /* every other name: types, users, groups, queues, workloads, tasks */

    /* (n_jobs) traces */
    int32_t *task_begin; /* (n_jobs + 1) after jobs_close */
    int64_t *submit_us;
    int32_t *user, *group, *queue, *workload, *config, *priority, *gpu_min, *gpu_max;
    uint8_t *kind;               /* enum job_kind */
    double *min_rate_frac;       /* NAN for none */
    int64_t (*hint_us)[N_HINTS]; /* -1 for none */

    /* (n_tasks) traces */
    int32_t *task_job, *task_name, *n_inst, *gpu_milli, *cpu_milli, *mem_mib, *gpu_mem_mib,
        *gpu_type;
    int64_t *duration_us;

    /* (n_jobs) engine */
    uint8_t *status;            /* enum job_status */
    int64_t *start_us;          /* first start; TIME_NEVER until then */
    int64_t *finish_us;         /* TIME_NEVER until done */
    int64_t *attained_milli_us; /* milli-GPUs held x microseconds, up to the last change */
    double *done_us;            /* reference work done, up to the last change */
    int64_t *run_us;            /* time in which it made progress, up to the last change */
    double *alone_us;           /* what that progress would have taken without neighbours */
    int32_t *n_evicted;

    /* (n_tasks) engine and plan */
    int32_t *card_mem_mib; /* what it takes of each card's memory: gpu_mem_mib, or where its job has
                              a configuration what that reserves (plan_config) */
    int32_t *nic_mbps, *storage_mbps; /* what each instance takes of its node's bandwidths in its
                                         job's configuration; 0 */
};

/* Adds a row; rows with a job name seen before are further tasks of that job (its submission is
 * the earliest, its names and kind the first row's). Returns the job, or -1 when memory is out. */
int32_t jobs_add(struct job_table *t, const struct job_row *row);

/* Cuts the tasks of elastic jobs into instances of one GPU each (they may sit anywhere and change
 * in number), groups tasks by job, sorts a job's tasks by duration and clears the engine's columns.
 */
enum status jobs_close(struct job_table *t, struct error *err) MUST_USE;

/* Puts the engine's columns back to "not yet submitted". */
void jobs_reset(struct job_table *t);

/* A second table with the same rows. The caller frees to in any case. */
enum status jobs_clone(const struct job_table *from, struct job_table *to,
                       struct error *err) MUST_USE;

/* May it run on any number of cards from gpu_min to gpu_max? One task of one-GPU instances. */
bool job_is_elastic(const struct job_table *t, int32_t job);

/* Sums over all instances of all tasks. */
int64_t job_gpu_milli(const struct job_table *t, int32_t job);
int32_t job_n_inst(const struct job_table *t, int32_t job);
/* The longest task. */
int64_t job_duration_us(const struct job_table *t, int32_t job);
/* Sum over tasks of milli-GPUs x duration, in reference GPU-seconds. */
double job_work_gpu_s(const struct job_table *t, int32_t job);

void jobs_free(struct job_table *t);

#endif
