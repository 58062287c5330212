#include "policies/pai_workload.h"

#include "policies/pai_sample.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* One job of the sample. */
struct pick {
    const char *name;
    size_t name_length;
    int64_t id; /* -1 where the name is no whole number of up to 18 digits */
    int64_t submit_us;
    int32_t job; /* row of the table read */
};

static int64_t id_of_name(const char *name, size_t length)
{
    int64_t id = 0;

    if (length < 1 || length > 18)
        return -1;
    for (size_t i = 0; i < length; i++) {
        if (name[i] < '0' || name[i] > '9')
            return -1;
        id = id * 10 + (name[i] - '0');
    }
    return id;
}

/* Names are unique, so two different jobs are never equal. */
static int compare_id(const void *a_, const void *b_)
{
    const struct pick *a = a_, *b = b_;

    if (a->id != b->id) {
        if (a->id < 0 || b->id < 0)
            return a->id < 0 ? 1 : -1;
        return a->id < b->id ? -1 : 1;
    }
    size_t shorter = a->name_length < b->name_length ? a->name_length : b->name_length;
    int order = memcmp(a->name, b->name, shorter);
    if (order != 0)
        return order;
    return (a->name_length > b->name_length) - (a->name_length < b->name_length);
}

static int compare_submission(const void *a_, const void *b_)
{
    const struct pick *a = a_, *b = b_;

    if (a->submit_us != b->submit_us)
        return a->submit_us < b->submit_us ? -1 : 1;
    return compare_id(a, b);
}

static int64_t whole_seconds(int64_t us)
{
    return (int64_t)rint((double)us / (double)US_PER_S) * US_PER_S;
}

/* Hundredths by the official double product, so that 0.285 goes where it goes there. */
static int32_t rounded_request(int32_t milli, int64_t cluster_milli)
{
    int64_t rounded = (int64_t)rint(100 * ((double)milli / 1000)) * 10;
    int64_t most = cluster_milli < INT32_MAX ? cluster_milli : INT32_MAX;

    return (int32_t)(rounded < most ? rounded : most);
}

/* Which rows of the first n_read are in the sample; they are then taken in the order of the file,
 * since everything after the shuffle sorts them anyway. */
static enum status choose(const struct pai_sampling *sampling, int32_t n_read, bool *chosen,
                          int32_t *n_chosen, struct error *err)
{
    if (sampling->num_jobs == 0 || sampling->num_jobs > n_read) {
        memset(chosen, true, (size_t)n_read);
        *n_chosen = n_read;
        return ST_OK;
    }
    int32_t *rows = malloc((size_t)n_read * sizeof *rows);
    if (rows == NULL)
        return fail_memory(err);
    struct pai_rng rng;
    pai_rng_seed(&rng, (uint64_t)sampling->seed);
    for (int32_t i = 0; i < n_read; i++)
        rows[i] = i;
    pai_rng_shuffle(&rng, rows, n_read);
    *n_chosen = (int32_t)sampling->num_jobs;
    for (int32_t i = 0; i < *n_chosen; i++)
        chosen[rows[i]] = true;
    free(rows);
    return ST_OK;
}

static int32_t rows_read(const struct job_table *t, int64_t num_jobs)
{
    if (num_jobs == 0 || num_jobs > t->n_jobs / 10)
        return t->n_jobs;
    int64_t limit = 10 * num_jobs + 1;
    return limit < t->n_jobs ? (int32_t)limit : t->n_jobs;
}

/* A new array of the sample in order of id, which the caller frees. */
static enum status sample(const struct job_table *t, const struct pai_sampling *sampling,
                          struct pick **out, int32_t *n_out, struct error *err)
{
    enum status status = ST_OK;
    struct pick *picks = NULL;
    int32_t n_read = rows_read(t, sampling->num_jobs), n = 0, n_chosen = 0;
    bool *chosen = calloc((size_t)n_read + 1, sizeof *chosen);

    if (chosen == NULL) {
        status = fail_memory(err);
        goto out;
    }
    TRY_OUT(choose(sampling, n_read, chosen, &n_chosen, err));
    picks = malloc(((size_t)n_chosen + 1) * sizeof *picks);
    if (picks == NULL) {
        status = fail_memory(err);
        goto out;
    }
    for (int32_t job = 0; job < n_read; job++) {
        if (!chosen[job])
            continue;
        const char *name = names_text(&t->job_names, job);
        size_t length = names_length(&t->job_names, job);
        picks[n++] = (struct pick){name, length, id_of_name(name, length),
                                   whole_seconds(t->submit_us[job]), job};
    }
    assert(n == n_chosen);
    *out = picks;
    *n_out = n;
out:
    free(chosen);
    return status;
}

static void submit_in_batches(struct pick *picks, int32_t n, int64_t rate)
{
    qsort(picks, (size_t)n, sizeof *picks, compare_submission);
    for (int32_t i = 0; i < n; i++)
        picks[i].submit_us = i / rate * 60 * US_PER_S;
}

static struct job_row row_of(const struct job_table *t, const struct pick *pick,
                             const struct cluster *c)
{
    int32_t job = pick->job, task = t->task_begin[job];
    struct job_row row = {.name = pick->name,
                          .name_length = pick->name_length,
                          .submit_us = pick->submit_us,
                          .duration_us = t->duration_us[task] / US_PER_S * US_PER_S,
                          .n_inst = t->n_inst[task],
                          .gpu_milli = rounded_request(t->gpu_milli[task], c->gpu_milli),
                          .cpu_milli = rounded_request(t->cpu_milli[task], c->cpu_milli),
                          .gpu_type = t->gpu_type[task],
                          .task = t->task_name[task],
                          .user = t->user[job],
                          .group = t->group[job],
                          .queue = t->queue[job],
                          .workload = t->workload[job],
                          .config = t->config[job],
                          .gpu_min = t->gpu_min[job],
                          .gpu_max = t->gpu_max[job],
                          .priority = t->priority[job],
                          .kind = (enum job_kind)t->kind[job],
                          .min_rate_frac = t->min_rate_frac[job]};

    if (row.duration_us <= 0)
        row.duration_us = US_PER_S;
    memcpy(row.hint_us, t->hint_us[job], sizeof row.hint_us);
    return row;
}

static enum status one_task_each(const struct job_table *t, struct error *err)
{
    for (int32_t job = 0; job < t->n_jobs; job++) {
        int32_t n_tasks = t->task_begin[job + 1] - t->task_begin[job];
        if (n_tasks != 1)
            return fail(err, ST_INPUT, "pai-sim: job %s has %d tasks, want 1",
                        names_text(&t->job_names, job), n_tasks);
    }
    return ST_OK;
}

enum status pai_workload(struct preparation *p, const struct pai_sampling *sampling,
                         struct error *err)
{
    enum status status = ST_OK;
    struct job_table *t = p->jobs, made = {0};
    struct pick *picks = NULL;
    int32_t n = 0;

    if (sampling->arrival_rate == 0)
        return fail(err, ST_USAGE, "pai-sim.arrival_rate is 0, want -1 or at least 1");
    TRY(one_task_each(t, err));
    TRY(sample(t, sampling, &picks, &n, err));
    if (sampling->arrival_rate > 0)
        submit_in_batches(picks, n, sampling->arrival_rate);
    qsort(picks, (size_t)n, sizeof *picks, compare_id);
    for (int32_t i = 0; i < n; i++) {
        struct job_row row = row_of(t, &picks[i], p->cluster);
        if (jobs_add(&made, &row) < 0) {
            status = fail_memory(err);
            goto out;
        }
    }
    TRY_OUT(jobs_close(&made, err));
    made.names = t->names; /* ids of types, users and the rest stay what they were */
    t->names = (struct names){0};
    jobs_free(t);
    *t = made;
    made = (struct job_table){0};
out:
    free(picks);
    jobs_free(&made);
    return status;
}
