#include "traces/choose.h"

#include "core/base/rng.h"

#include <string.h>

/* Selection sampling: one draw per candidate decides on it for good. */
enum status choose_jobs(bool *keep, int32_t n_jobs, int32_t n_wanted, uint64_t seed,
                        struct error *err)
{
    int32_t n_left = 0;
    gsl_rng *rng = rng_stream(seed, "sample");
    if (rng == NULL)
        return fail_memory(err);
    for (int32_t j = 0; j < n_jobs; j++)
        n_left += keep[j];
    for (int32_t j = 0; j < n_jobs; j++) {
        if (!keep[j])
            continue;
        keep[j] = gsl_rng_uniform(rng) * n_left < n_wanted;
        n_wanted -= keep[j];
        n_left--;
    }
    gsl_rng_free(rng);
    return ST_OK;
}

/* The same name in another table, -1 for none. False when memory is out. */
static bool copy_name(const struct job_table *from, int32_t id, struct job_table *to, int32_t *out)
{
    *out = -1;
    if (id < 0)
        return true;
    *out = names_add(&to->names, names_text(&from->names, id), names_length(&from->names, id));
    return *out >= 0;
}

static bool copy_names(const struct job_table *from, int32_t job, int32_t task,
                       struct job_table *to, struct job_row *row)
{
    return copy_name(from, from->gpu_type[task], to, &row->gpu_type) &&
           copy_name(from, from->task_name[task], to, &row->task) &&
           copy_name(from, from->user[job], to, &row->user) &&
           copy_name(from, from->group[job], to, &row->group) &&
           copy_name(from, from->queue[job], to, &row->queue) &&
           copy_name(from, from->workload[job], to, &row->workload) &&
           copy_name(from, from->config[job], to, &row->config);
}

static bool copy_task(const struct job_table *from, int32_t job, int32_t task, struct job_table *to)
{
    struct job_row row = {.name = names_text(&from->job_names, job),
                          .name_length = names_length(&from->job_names, job),
                          .submit_us = from->submit_us[job],
                          .duration_us = from->duration_us[task],
                          .n_inst = from->n_inst[task],
                          .gpu_milli = from->gpu_milli[task],
                          .cpu_milli = from->cpu_milli[task],
                          .mem_mib = from->mem_mib[task],
                          .gpu_mem_mib = from->gpu_mem_mib[task],
                          .gpu_min = from->gpu_min[job],
                          .gpu_max = from->gpu_max[job],
                          .priority = from->priority[job],
                          .kind = (enum job_kind)from->kind[job],
                          .min_rate_frac = from->min_rate_frac[job]};
    memcpy(row.hint_us, from->hint_us[job], sizeof row.hint_us);
    return copy_names(from, job, task, to, &row) && jobs_add(to, &row) >= 0;
}

enum status jobs_copy(const struct job_table *from, const bool *keep, struct job_table *out,
                      struct error *err)
{
    *out = (struct job_table){0};
    for (int32_t j = 0; j < from->n_jobs; j++)
        for (int32_t k = from->task_begin[j]; keep[j] && k < from->task_begin[j + 1]; k++)
            if (!copy_task(from, j, k, out))
                return fail_memory(err);
    return jobs_close(out, err);
}
