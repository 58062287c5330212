#include "traces/import.h"

#include "core/base/units.h"
#include "traces/account.h"
#include "traces/assign.h"
#include "traces/openb.h"
#include "traces/pai.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A file without a row that could be used is refused; the first reason says why. */
static enum status some_rows(const struct importer *im, struct error *err)
{
    const struct import_report *r = &im->trace->report;
    const char *first = im->inputs.input[0].name;
    if (r->n_kept > 0)
        return ST_OK;
    if (r->n_rows == 0)
        return fail(err, ST_INPUT, "%s: no rows", first);
    if (r->n_reasons == 0)
        return fail(err, ST_INPUT, "%s: no row is left of %" PRId64, first, r->n_rows);
    const struct import_reason *why = &r->reason[0];
    return fail(err, ST_INPUT, "%s: no row is left of %" PRId64 " (%s:%" PRId64 ": %s)", first,
                r->n_rows, r->file[why->at[0].file], why->at[0].line, why->text);
}

static enum status note_cut(const struct importer *im, struct error *err)
{
    int32_t node = im->options->node_gpus > 0 ? im->options->node_gpus : NODE_GPUS;
    if (im->n_cut == 0)
        return ST_OK;
    return account_note(&im->trace->report, err,
                        "jobs of more than %" PRId32 " GPUs, cut into instances of %" PRId32
                        " and what is left (trace.node_gpus): %" PRId64,
                        node, node, im->n_cut);
}

static enum status note_renamed(const struct importer *im, struct error *err)
{
    if (im->n_renamed == 0)
        return ST_OK;
    return account_note(
        &im->trace->report, err,
        "rows whose job has the name of another format's job, called NAME@FORMAT here: "
        "%" PRId64,
        im->n_renamed);
}

/* Counts the submissions of the jobs from first on from the earliest of them. */
static void count_from_first(struct job_table *t, int32_t first)
{
    int64_t earliest_us = TIME_NEVER;
    for (int32_t j = first; j < t->n_jobs; j++)
        earliest_us = t->submit_us[j] < earliest_us ? t->submit_us[j] : earliest_us;
    for (int32_t j = first; j < t->n_jobs; j++)
        t->submit_us[j] -= earliest_us;
}

/* Reads one format's files. */
static enum status read_group(struct importer *im, const struct format *format, struct error *err)
{
    struct trace *trace = im->trace;
    char *names = trace->report.format;
    size_t n = strlen(names);
    im->first_job = trace->jobs.n_jobs;
    im->format = format->about.name;
    TRY(format->read(im, err));
    snprintf(names + n, sizeof trace->report.format - n, "%s%s", n > 0 ? "+" : "", im->format);
    im->unlabelled = im->unlabelled || format->unlabelled;
    return ST_OK;
}

/* Reads the files of several formats, each format's as if it were alone. */
static enum status read_groups(struct importer *im, struct error *err)
{
    struct inputs all = im->inputs, *group = &im->inputs;
    enum status status = ST_OK;
    for (size_t from = 0, to; from < all.n && status == ST_OK; from = to) {
        for (to = from + 1; to < all.n && all.input[to].format == all.input[from].format; to++)
            ;
        *group = (struct inputs){.input = all.input + from, .n = to - from};
        status = read_group(im, all.input[from].format, err);
        if (im->options->align == ALIGN_START)
            count_from_first(&im->trace->jobs, im->first_job);
    }
    im->inputs = all;
    im->trace->clock_hour_at_0 = NAN; /* each had its own */
    im->trace->zone = NULL;
    TRY(status);
    return account_note(&im->trace->report, err, "several formats: %s",
                        im->options->align == ALIGN_START
                            ? "the submissions of each are counted from its first (trace.align)"
                            : "times are taken as of one clock (trace.align)");
}

/* Puts the files of one format next to each other, formats in order of first sight. */
static bool gather(struct inputs *in)
{
    struct input *sorted = malloc(in->n * sizeof *sorted);
    size_t n = 0;
    if (sorted == NULL)
        return false;
    for (size_t i = 0; i < in->n; i++) {
        bool placed = false;
        for (size_t k = 0; k < n && !placed; k++)
            placed = sorted[k].format == in->input[i].format;
        for (size_t k = i; k < in->n && !placed; k++)
            if (in->input[k].format == in->input[i].format)
                sorted[n++] = in->input[k];
    }
    free(in->input);
    in->input = sorted;
    in->capacity = in->n;
    return true;
}

static enum status import(struct importer *im, struct error *err)
{
    struct trace *trace = im->trace;
    TRY(inputs_find(&im->inputs, im->options->paths, im->options->n_paths, &trace->report, err));
    TRY(formats_pick(im, err));
    if (!gather(&im->inputs))
        return fail_memory(err);
    const struct format *first = im->inputs.input[0].format;
    TRY(im->inputs.input[im->inputs.n - 1].format == first ? read_group(im, first, err)
                                                           : read_groups(im, err));
    trace->report.n_jobs = trace->jobs.n_jobs;
    TRY(some_rows(im, err));
    TRY(note_cut(im, err));
    TRY(note_renamed(im, err));
    TRY(jobs_close(&trace->jobs, err));
    if (im->options->assign)
        return assign_missing(trace, im->options, err);
    if (!im->unlabelled)
        return ST_OK;
    return account_note(
        &trace->report, err,
        "nothing says which workloads ran: trace.assign=on gives jobs a workload, a "
        "kind and a min_rate_frac");
}

enum status trace_read(const struct trace_options *o, struct trace *out, struct error *err)
{
    struct importer im = {.options = o, .trace = out};
    *out = (struct trace){.clock_hour_at_0 = NAN};
    enum status status = import(&im, err);
    importer_free(&im);
    return status;
}

/* NULL where memory is out. */
static struct node_spec *copy_nodes(const struct node_spec *from, int32_t n)
{
    struct node_spec *to = calloc((size_t)n + 1, sizeof *to);
    bool ok = to != NULL;
    for (int32_t i = 0; ok && i < n; i++) {
        to[i] = from[i];
        to[i].name = from[i].name != NULL ? strdup(from[i].name) : NULL;
        to[i].gpu_type = from[i].gpu_type != NULL ? strdup(from[i].gpu_type) : NULL;
        to[i].pool = from[i].pool != NULL ? strdup(from[i].pool) : NULL;
        ok = (from[i].name == NULL || to[i].name != NULL) &&
             (from[i].gpu_type == NULL || to[i].gpu_type != NULL) &&
             (from[i].pool == NULL || to[i].pool != NULL);
    }
    if (!ok)
        node_specs_free(to, n);
    return ok ? to : NULL;
}

enum status trace_copy(const struct trace *from, struct trace *to, struct error *err)
{
    *to = (struct trace){.hash = from->hash,
                         .n_nodes = from->n_nodes,
                         .clock_hour_at_0 = from->clock_hour_at_0,
                         .zone = from->zone};
    TRY(jobs_clone(&from->jobs, &to->jobs, err));
    TRY(account_copy(&from->report, &to->report, err));
    to->nodes = from->n_nodes > 0 ? copy_nodes(from->nodes, from->n_nodes) : NULL;
    return from->n_nodes == 0 || to->nodes != NULL ? ST_OK : fail_memory(err);
}

void trace_free(struct trace *t)
{
    jobs_free(&t->jobs);
    account_free(&t->report);
    node_specs_free(t->nodes, t->n_nodes);
    *t = (struct trace){0};
}

static enum status read_machines(struct importer *im, const char *path, struct error *err)
{
    TRY(inputs_find(&im->inputs, &path, 1, &im->trace->report, err));
    for (size_t i = 0; i < im->inputs.n; i++) {
        struct input *in = &im->inputs.input[i];
        if (openb_is_nodes(in))
            TRY(openb_read_nodes(im, in, err));
        else if (pai_by_name(in->base) == PAI_MACHINE || pai_by_content(in, false) == PAI_MACHINE)
            TRY(pai_read_machines(im, in, &im->trace->nodes, &im->trace->n_nodes, err));
    }
    if (im->trace->n_nodes == 0)
        return fail(err, ST_INPUT,
                    "%s: no machine table (machine,gpu_type,cap_cpu,cap_mem,cap_gpu or openb's "
                    "sn,cpu_milli,memory_mib,gpu,model)",
                    path);
    return ST_OK;
}

enum status trace_read_machines(const char *path, struct node_spec **nodes, int32_t *n_nodes,
                                struct error *err)
{
    const struct trace_options options = {0};
    struct trace trace = {0};
    struct importer im = {.options = &options, .trace = &trace};
    enum status status = read_machines(&im, path, err);
    if (status == ST_OK) {
        *nodes = trace.nodes;
        *n_nodes = trace.n_nodes;
        trace.nodes = NULL;
    }
    importer_free(&im);
    trace_free(&trace);
    return status;
}
